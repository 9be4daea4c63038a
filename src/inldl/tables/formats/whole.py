"""Tables that are read as one frame, and written as one: files of SPSS and Stata, databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from inldl.tables.formats.base import FrameFormat
from inldl.tables.numbers import format_numbers


class WholeFrame(FrameFormat):
    """A table that is held in memory.

    A format has `kind`; `load()`, which sets `_raw`, the rows as they stand in the file;
    `shown()`, the rows as they are read, if they are others; `save(frame, part, n_new)`, which
    writes them again with other cells and columns, and `n_new` more rows; and `write_new`.
    """

    converts = True
    _raw: pd.DataFrame
    save: Callable[[pd.DataFrame, Path, int], None]

    def open(self) -> None:
        """Load the table."""
        super().open()
        self.names, self.n_rows = list(self._raw), len(self._raw)

    def frames(self, names=None) -> Iterator[tuple[pd.DataFrame, None]]:
        """Yield one frame."""
        yield self.shown(), None

    def shown(self) -> pd.DataFrame:
        """Return the table as it is read."""
        return self._raw

    @contextmanager
    def writer(self, part, labels, filled, extra, added=()) -> Iterator[Callable]:
        """Give a function that puts cells into the frame, which is then written."""
        below, convert = pd.DataFrame(list(added), columns=[*self._raw, *extra]), self.convert
        frame = self._raw if convert is None else self.shown()
        out = {name: frame[name] for name in frame}

        def write(block, fills, values):
            for name in filled:
                out[name] = self._with_fills(out[name], fills[:, labels.index(name)])
            out.update(
                zip(extra, map(pd.Series, [] if values is None else values.T), strict=False)
            )

        yield write
        for name in labels if len(below) else ():
            some = out[name].iloc[[0] * len(below)].set_axis(range(len(below)))
            below[name] = self._with_fills(some, below[name].to_numpy(float))
        whole = pd.DataFrame(out)
        whole = (
            pd.concat([whole, below.astype(whole.dtypes)], ignore_index=True) if added else whole
        )
        if convert is not None:
            return convert(whole, part)
        try:
            self.save(whole, part, len(below))
        except Exception as error:
            if isinstance(error, OSError):
                raise
            raise ValueError(
                f"{self.path} cannot be written again as {self.path.suffix}: "
                f"{str(error).partition(chr(10))[0]}; write to a .csv file instead."
            ) from None

    def _with_fills(self, cells, fill):
        """Return a column with numbers in some cells, as text if the others are."""
        out, at = cells.astype(object), np.flatnonzero(~np.isnan(fill))
        words = not is_numeric_dtype(cells) and cells.dropna().map(type).eq(str).all()
        put = (
            format_numbers(fill[at], self.format, percent=self.format.percent)
            if words
            else fill[at]
        )
        out.iloc[at] = put
        return out.infer_objects() if len(at) else cells
