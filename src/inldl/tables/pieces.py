"""What is done while the pieces of a file pass by: some are shown, all are counted and drawn."""

from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from inldl.completion.loose_sums import largest_sum, with_lack
from inldl.rows.checks import check_number
from inldl.solvers.gaussian import fill_forced
from inldl.tables import TableWriter
from inldl.tables.columns.kinds import ID, NEARLY_ID, RUNNING
from inldl.tables.columns.values import level_name
from inldl.tables.formats.registry import plain_name
from inldl.tables.missingness import COUNTS, RATIOS, size_test
from inldl.tables.units import whole_of

SHOWN = 48  # rows of a picture
MOST_ROWS = 200_000  # that tell why degrees are missing


def pieces_for(model, file, others, done=None, text=None):
    """Yield the pieces of a file with the columns that a model needs, and some `others`.

    Those in `text` are read as text; by default the others that the model does not use. `done` is
    told the share of the rows that came so far.
    """
    columns = model.encoder_.columns_
    names = [column.name for column in columns if column.name in file.features]
    text = {*others} - {*names} if text is None else {*text}
    text |= {column.name for column in columns if column.as_text}
    bound = max(1, file.source.most_rows())
    for piece in file.pieces(list(dict.fromkeys([*names, *others])), text):
        yield piece
        if done is not None:
            done(min(1.0, piece.rows.stop / bound))


def id_columns(file, model):
    """Return the columns that name the rows of a file, if there are some.

    They are those that the user says, else the first that the model has left out as an id. An id
    of several columns of a long table consists of features, but names the rows as well.
    """
    if file.ids or file.things:
        return list(file.ids or file.things)
    left_out = model.encoder_.dropped_
    found = [
        name
        for choice in (ID, RUNNING, NEARLY_ID)
        for name in file.features
        if left_out.get(name) == choice.reason
    ]
    return found[:1]


class ShownRows:
    """Keep some rows for a picture, evenly drawn from all pieces, in the units of the file."""

    def __init__(self, file, labels, whole, ids=()):
        self._labels, self._whole, self._ids = labels, whole, list(ids)
        self._step = max(1, -(-file.source.most_rows() // SHOWN))
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


def id_texts(features, ids):
    """Return the ids of rows as texts, those of several columns with commas in between."""
    columns = (features[name] for name in ids)
    cells = zip(*columns, strict=True) if ids else [()] * len(features)
    return [", ".join(filter(None, map(_text, row))) for row in cells]


def _text(cell):
    if pd.isna(cell):
        return ""
    return level_name(cell) if isinstance(cell, float) else str(cell).strip()


class Tally:
    """Count the degrees that a model fills in, and keep what tells why they were missing."""

    def __init__(self, file, model, scale):
        self._labels, self._scale, self._whole = file.labels, scale, whole_of(scale)
        self._step = max(1, -(-file.source.most_rows() // MOST_ROWS))
        self._loose = model.examples_ is not None and model.examples_.loose
        self._ratios = model.known == "ratios"
        self._completer = None if self._ratios else model._completer()
        self._counts, self._most, self._rows = np.zeros(4, int), 0.0, []
        self._n_bounded = 0

    def add(self, piece, y, completed, limits=None):
        """Add a piece, of which `y` are the degrees as fractions."""
        missing = np.isnan(y)
        exact = (
            0 if self._loose or self._ratios else missing.sum() - np.isnan(fill_forced(y)).sum()
        )
        self._counts += piece.size, missing.sum(), exact, missing.any(axis=1).sum()
        self._n_bounded += 0 if piece.bounds is None else int(piece.bounds.given().sum())
        if self._completer is not None:
            self._most += _most_errors(self._completer, y, np.asarray(completed), limits)
        as_given = piece.values / self._whole if self._loose else y
        if limits is not None:  # bounds say why these are missing
            as_given = np.where(limits.told, completed, as_given)
        self._rows.append(as_given[-piece.first % self._step :: self._step])

    def counts(self):
        """Return how many rows, filled degrees, exact ones and filled rows there are."""
        return self._counts.tolist()

    def results(self):
        """Return what else is known of the filled degrees, by the names in `Written`."""
        unsure, known = self._counts[1] - self._counts[2], self._completer is not None
        rows = np.concatenate(self._rows) if self._rows else np.empty((0, len(self._labels)))
        if self._ratios:  # sums of rows tell nothing then
            return {"ratios": True}
        return {
            "n_bounded": self._n_bounded,
            "below_recorded": known and self._completer.largest_ is not None,
            "size": size_of_holes(rows, self._labels, self._scale, self._loose),
            "most_error": self._whole * self._most / unsure if unsure and known else np.nan,
        }


def _most_errors(completer, y, completed, limits):
    """Return the largest sum of absolute errors that filled degrees can have."""
    found = completer.most_errors(y, completed)
    if limits is not None:
        low, high = limits.possible
        worst = np.where(np.isnan(y), np.maximum(completed - low, high - completed), 0)
        found = np.minimum(found, worst.sum(axis=1))
    return found.sum()


def size_of_holes(y, labels, scale, loose, ratios=False):
    """Return what the sums of rows tell about the sizes of missing degrees, a `SizeTest`."""
    y = np.asarray(y, dtype=np.float64)
    if loose:  # then a row hides what it lacks, too
        y, labels = with_lack(y / largest_sum(y)), [*labels, "what is lacking"]
    untold = COUNTS if scale == "count" else RATIOS if ratios else ""
    return size_test(y, labels, untold=untold)


def draw_paths(path, n_draws):
    """Return the files of the draws: beside the completed table, and named in their order."""
    check_number("n_draws", n_draws, low=0, integer=True)
    path, width = Path(path), len(str(n_draws))
    stem = plain_name(path).stem  # of survey.csv.gz, too
    ending = path.name.removeprefix(stem)
    return [path.with_name(f"{stem}-draw{i:0{width}}{ending}") for i in range(1, n_draws + 1)]


@contextmanager
def draw_files(file, paths, model, seed, **how):
    """Give a function that writes the next rows of each draw of a completed table.

    It takes a piece, its degrees as fractions, their scale, and what
    `TableModel._to_complete` returns. Each file is a `TableWriter`, made with
    `how`; the files appear when all pieces are there.
    """
    if paths:
        model._check_draws(len(paths))
    with ExitStack() as stack:
        files = [stack.enter_context(TableWriter(file, path, **how)) for path in paths]

        def write(piece, y, scale, known):
            encoded, given, predicted, limits = known
            about = {"first": piece.first, "limits": limits}
            draws = model._draw(encoded, given, predicted, len(files), seed, **about)
            for each, completed in zip(files, draws, strict=True):
                each.write(piece, y, completed, scale)

        yield write if files else lambda *_: None
