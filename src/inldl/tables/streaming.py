"""What is done while the pieces of a file pass by: some are shown, all are counted and drawn."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from inldl.completion.loose_sums import largest_sum
from inldl.progress import report
from inldl.rows.checks import check_number
from inldl.rows.partial import PartialRows, add_slack
from inldl.tables.formats.registry import plain_name
from inldl.tables.missingness import UNKNOWN_SCALES, UNKNOWN_TOTALS, size_test
from inldl.tables.row_columns import id_texts
from inldl.tables.scale import whole_of
from inldl.tables.table import Piece
from inldl.tables.writing import TableWriter

SHOWN_ROWS = 48  # rows of a picture
TALLIED_ROWS = 200_000  # that tell why degrees are missing


def pieces_for(model, file, others, step, text=None) -> Iterator[Piece]:
    """Yield the pieces of a file with the columns that a model needs, and some `others`.

    Those in `text` are read as text; by default the others that the model does not use. The name
    of the `step` and the share of the rows that came so far are reported.
    """
    columns = model.encoder_.columns_
    names = [column.name for column in columns if column.name in file.features]
    text = {*others} - {*names} if text is None else {*text}
    text |= {column.name for column in columns if column.as_text}
    bound = max(1, file.source.most_rows())
    for piece in file.pieces(list(dict.fromkeys([*names, *others])), text):
        yield piece
        report(step, min(1.0, piece.rows.stop / bound))


class ShownRows:
    """Keep some rows for a picture, evenly drawn from all pieces, in the units of the file."""

    def __init__(self, file, labels, whole, ids=()):
        self._labels, self._whole, self._ids = labels, whole, list(ids)
        self._step = max(1, -(-file.source.most_rows() // SHOWN_ROWS))
        self._rows = [], []
        self._ends = [], []

    def keep(self, piece, before, after, ends=()):
        """Keep the rows of a piece that are shown, and the `paired_ends` of their intervals."""
        chosen = np.arange(-piece.first % self._step, piece.size, self._step)
        names = self._names(piece, chosen)
        parts = [np.asarray(values) * self._whole for values in (before, after)]
        parts += [pairs[:, side::2] for pairs in ends for side in (0, 1)]
        for kept, values in zip((*self._rows, *self._ends), parts, strict=False):
            kept.append(pd.DataFrame(values[chosen], index=names, columns=self._labels))

    def _names(self, piece, chosen):
        """Return the ids of the rows, and the number of a row that has none."""
        numbers = piece.first + chosen + 1
        if not self._ids:
            return numbers
        texts = id_texts(piece.features.iloc[chosen], self._ids)
        names = [text or f"row {number}" for text, number in zip(texts, numbers, strict=True)]
        return pd.Index(names, name=", ".join(self._ids))

    def frames(self):
        """Return the rows before and after."""
        empty = pd.DataFrame(columns=self._labels, dtype=float)
        return [pd.concat(kept or [empty]) for kept in self._rows]

    def ends(self):
        """Return the lower and the upper ends of the intervals, or nothing without any."""
        return tuple(pd.concat(kept) for kept in self._ends if kept)


class Tally:
    """Count the degrees that a model fills in, and keep what tells why they were missing."""

    def __init__(self, file, model, scale):
        self._labels, self._scale, self._whole = file.labels, scale, whole_of(scale)
        self._step = max(1, -(-file.source.most_rows() // TALLIED_ROWS))
        self._loose = model.examples_ is not None and model.examples_.loose
        self._ratios = model.known == "ratios"
        self._completer = None if self._ratios else model.learn_completion()
        self._counts, self._most, self._rows = np.zeros(4, int), 0.0, []
        self._n_bounded = 0

    def add(self, piece, y, completed, rows=None):
        """Add a piece, of which `y` are the degrees as fractions."""
        missing = np.isnan(y)
        exact = (
            0
            if self._loose or self._ratios
            else missing.sum() - np.isnan(PartialRows(y).forced()).sum()
        )
        self._counts += piece.size, missing.sum(), exact, missing.any(axis=1).sum()
        self._n_bounded += 0 if piece.bounds is None else int(piece.bounds.given().sum())
        if self._completer is not None:
            self._most += _most_errors(self._completer, y, np.asarray(completed), rows)
        as_given = piece.values / self._whole if self._loose else y
        if rows is not None and rows.constrained:  # bounds say why these are missing
            as_given = np.where(rows.limited, completed, as_given)
        self._rows.append(as_given[-piece.first % self._step :: self._step])

    def counts(self):
        """Return how many rows, filled degrees, exact ones and filled rows there are."""
        return self._counts.tolist()

    def results(self):
        """Return what else is known of the filled degrees, by the names in `WriteResult`."""
        unsure, known = self._counts[1] - self._counts[2], self._completer is not None
        rows = np.concatenate(self._rows) if self._rows else np.empty((0, len(self._labels)))
        if self._ratios:  # sums of rows tell nothing then
            return {"ratios": True}
        return {
            "n_bounded": self._n_bounded,
            "below_recorded": known and self._completer.top_k_ is not None,
            "size": size_of_holes(rows, self._labels, self._scale, self._loose),
            "most_error": self._whole * self._most / unsure if unsure and known else np.nan,
        }


def _most_errors(completer, y, completed, rows):
    """Return the largest sum of absolute errors that filled degrees can have."""
    found = completer.most_errors(y, completed)
    if rows is not None and rows.constrained:
        low, high = rows.possible
        worst = np.where(np.isnan(y), np.maximum(completed - low, high - completed), 0)
        found = np.minimum(found, worst.sum(axis=1))
    return found.sum()


def size_of_holes(y, labels, scale, loose, ratios=False):
    """Return what the sums of rows tell about the sizes of missing degrees, a `SizeTest`."""
    y = np.asarray(y, dtype=np.float64)
    if loose:  # then a row hides what it lacks, too
        y, labels = add_slack(y / largest_sum(y)), [*labels, "what is lacking"]
    untestable = UNKNOWN_TOTALS if scale == "count" else UNKNOWN_SCALES if ratios else ""
    return size_test(y, labels, untestable=untestable)


def draw_paths(path, n_draws) -> list[Path]:
    """Return the files of the draws: beside the completed table, and named in their order."""
    check_number("n_draws", n_draws, low=0, integer=True)
    path, width = Path(path), len(str(n_draws))
    stem = plain_name(path).stem  # of survey.csv.gz, too
    ending = path.name.removeprefix(stem)
    return [path.with_name(f"{stem}-draw{i:0{width}}{ending}") for i in range(1, n_draws + 1)]


@contextmanager
def completed_files(file, path, plain, extra, *, n_draws, seed, **how) -> Iterator[Callable]:
    """Give a function that writes the next rows of a completed table, and of its draws.

    It takes a piece, the degrees that stay, the completed ones, their scale, values of the
    `extra` columns, and `RowsToFill`. The table also goes to the file `plain` without the extra
    columns, if that is not None. Each file is a `TableWriter`, made with `how`; the files appear
    when all pieces are there.
    """
    with ExitStack() as stack:
        writer = stack.enter_context(TableWriter(file, path, extra=extra, **how))
        paths = [*([] if plain is None else [plain]), *draw_paths(plain or path, n_draws)]
        others = [stack.enter_context(TableWriter(file, other, **how)) for other in paths]

        def write(piece, kept, completed, scale, added, rows):
            writer.write(piece, kept, completed, scale, added)
            tables = [*([] if plain is None else [completed])]
            tables += [*rows.draw(n_draws, seed, piece.first)] if n_draws else []
            for other, table in zip(others, tables, strict=True):
                other.write(piece, kept, table, scale)

        yield write


def paired_ends(lower, upper) -> np.ndarray:
    """Return the ends of the intervals, both of a label side by side."""
    return np.round(np.stack([lower, upper], axis=2), 6).reshape(len(lower), -1)


def rounded_rows(values) -> np.ndarray:
    """Return rows of nine decimals that keep their sum: the largest takes the rest."""
    rounded = np.round(values, 9)
    rows, largest = np.arange(len(values)), np.argmax(values, axis=1)
    rounded[rows, largest] += np.round(values.sum(axis=1) - rounded.sum(axis=1), 9)
    return rounded
