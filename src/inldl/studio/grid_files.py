"""Write the rows of a table so that any part of them can be shown at once.

`cells-<what>.bin` holds the label columns as rows of float64, as they stand in the files;
`texts.jsonl` has a line with the other columns for each row, and `texts.bin` where each line ends.
"""

import json
from contextlib import ExitStack

import numpy as np

from inldl.io._scale import WHOLE
from inldl.tables._cell_values import level_name
from inldl.tables._units import form_of

MOST_OTHERS = 40  # columns beside the labels
LONGEST = 120  # characters of a cell


def write_grid(folder, file, scale, *, completed=False, intervals=False, done=None):
    """Write the rows of a file.

    Parameters
    ----------
    folder : Path
        Where to write.
    file : TableFile
        The table, with its labels.
    scale : {"fraction", "percent", "count"}
        How the shares stand in the file.
    completed, intervals : bool
        Whether `CompletedCells` has written the filled ones there, and their intervals.
    done : callable, optional
        Called with the share of the rows that are done.
    """
    labels, others = list(file.labels), _others(file)
    n_rows = _write_pieces(folder, file, others, done)
    facts = {"labels": labels, "others": others, "ids": file.ids, "n_rows": n_rows}
    facts |= {"completed": completed, "intervals": intervals}
    facts |= {"whole": WHOLE.get(scale), "form": cell_form(scale)}
    (folder / "grid.json").write_text(json.dumps(facts), encoding="utf-8")


class CompletedCells:
    """Write the filled cells and the ends of their intervals, as `complete_table` tells them.

    `rescaled` says that the table gives ratios, of which rows with missing shares are scaled.
    """

    def __init__(self, folder, rescaled=False):
        self._stack, self._rescaled = ExitStack(), rescaled
        names = ("after", "low", "high")
        self._files = [
            self._stack.enter_context((folder / f"cells-{name}.bin").open("wb")) for name in names
        ]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._stack.close()

    def add(self, piece, filled, ends=None):
        """Write some rows; without `ends` there are no intervals."""
        new = np.isnan(piece.values)
        if self._rescaled:  # known shares of rows with missing ones are scaled, too
            new = np.broadcast_to(new.any(axis=1, keepdims=True), new.shape)
        parts = [np.where(new, filled, piece.values)]
        parts += [] if ends is None else [ends[:, 0::2], ends[:, 1::2]]
        for file, cells in zip(self._files, parts, strict=False):
            file.write(_bytes(cells))


def _bytes(cells):
    return np.ascontiguousarray(cells, dtype=np.float64).tobytes()


def cell_form(scale):
    """Return the format of shares as they stand in the file."""
    return ".6g" if scale == "count" else form_of(scale == "percent")


def _others(file):
    """Return the columns that are shown beside the labels, those that name the rows first."""
    rest = [name for name in file.source.names if name not in {*file.labels, *file.ids}]
    return [*file.ids, *rest][:MOST_OTHERS]


def _write_pieces(folder, file, others, done):
    """Write the cells and the texts of a file; return the number of rows."""
    n_rows, end, most = 0, 0, max(1, file.source.most_rows())
    with (
        (folder / "cells-before.bin").open("wb") as cells,
        (folder / "texts.jsonl").open("wb") as texts,
        (folder / "texts.bin").open("wb") as ends,
    ):
        for piece in file.pieces(others, set(others)):
            cells.write(_bytes(piece.values))
            frame = piece.features[others]
            known = frame.notna().to_numpy()
            # pandas before 3 has no tuples of a frame without columns.
            rows = frame.itertuples(index=False, name=None) if others else ((),) * len(frame)
            lines = [_line(row, seen) for row, seen in zip(rows, known, strict=True)]
            texts.write(b"".join(lines))
            stops = end + np.cumsum([len(line) for line in lines], dtype=np.int64)
            ends.write(stops.astype(np.int64).tobytes())
            end, n_rows = int(stops[-1]) if len(stops) else end, n_rows + piece.size
            if done is not None:
                done(min(1.0, n_rows / most))
    return n_rows


def _line(row, known):
    cells = [_text(cell)[:LONGEST] if seen else "" for cell, seen in zip(row, known, strict=True)]
    return json.dumps(cells, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _text(cell):
    return level_name(cell) if isinstance(cell, float) else str(cell)
