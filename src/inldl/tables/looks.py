"""Look at a table in a file: what its columns seem to be, what is missing, which method suits."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from inldl.tables.columns.values import Cells
from inldl.tables.comparison import compare
from inldl.tables.features import describe_features
from inldl.tables.gathering import gathered
from inldl.tables.inspection import inspect_table
from inldl.tables.rows import take_weights
from inldl.text import counted

MOST_ROWS = 50_000  # from which the kinds of columns are detected
MOST_SUMMED = 2_000  # rows that are summed
LONGEST = 150  # columns side by side that are tried as labels
NEAR = 0.02  # of the whole, by which rounded shares may miss it
COMPLETE = 2  # rows without a missing share, at least, that must sum to the whole
EXAMPLES = 3


def inspect_file(file, *, scale="auto", weight=None, dates="auto"):
    """Look at a table in a file.

    A column of weights is checked, and is no feature; the rows are looked at as they stand.
    Returns an `Inspection`, the `Table` that was read, and sentences on how it was understood.
    `scale` is as in `inldl.tables.read_table`, `weight` and `dates` as in `fit_table`.
    """
    read = file.read(scale=scale, check=False)
    take_weights(read.features, weight, file)
    how = {"totals": read.scale != "count" or read.totals is not None, "scale": read.scale}
    how |= {"lower": read.lower, "upper": read.upper, "dates": dates}
    found = inspect_table(read.features, read.degrees, file.source.where, **how)
    return found, read, [*read.notes, *_of_counts(read), *_of_weights(weight)]


def compare_file(
    file,
    methods=None,
    *,
    scale="auto",
    normalize=False,
    weight=None,
    dates="auto",
    max_rows=2000,
    done=None,
):
    """Compare methods on a table in a file.

    Returns a `Comparison`, and sentences on how the table was understood. `methods`, `max_rows`
    and `done` are as in `inldl.tables.compare`, the others as in `fit_table`.
    """
    read = file.read(scale=scale, normalize=normalize)
    weights = take_weights(read.features, weight, file)
    how = {"max_rows": max_rows, "scale": read.scale, "sums": read.sums, "dates": dates}
    how |= {"sample_weight": weights, "limits": read.known.limits}
    found = compare(read.features, read.degrees, methods, **how, done=done)
    return found, [*file.notes, *_of_counts(read), *_of_sums(read), *_of_limits(read)]


def _of_counts(read):
    """Return a note on the units of a table of counts."""
    whole = "sum" if read.totals is None else "total"
    return [f"Shares are fractions of the {whole} of their row."] if read.scale == "count" else []


def _of_weights(name):
    """Return a note on weights that looking at a table takes no account of."""
    if name is None:
        return []
    return [f"The column {name!r} can weigh rows, but here each row counts once."]


def _of_limits(read):
    """Return a note on bounds or sums of labels that comparing takes no account of."""
    what = [*(["bounds"] * (read.lower is not None or read.upper is not None))]
    what += ["sums of labels"] if read.groups else []
    if not what or read.sums is None:
        return []
    return [
        f"Methods are compared without the {' and '.join(what)} of missing shares; inldl complete "
        "takes them into account."
    ]


def _of_sums(read):
    """Return a note on methods that are compared on a table whose sums vary."""
    if read.sums is None:
        return []
    return [
        "Complete rows do not all have the same sum. Completing takes this into account, as inldl "
        "complete does; predictions are compared with rows that are divided by their sums."
    ]


@dataclass(frozen=True, eq=False)
class Understood:
    """What the columns of a table seem to be."""

    # For each one its name, kind, share of missing cells, number of distinct values, a remark, a
    # role, and examples of its cells
    columns: pd.DataFrame
    n_rows: int  # rows that were looked at
    notes: list  # what was detected, and why these columns are taken as labels

    @property
    def labels(self):
        """Return the columns that seem to hold shares."""
        return list(self.columns.loc[self.columns["role"] == "label", "column"])


def understand_file(file):
    """Look at all columns of a file, and suggest what they are.

    Columns side by side that sum to 1 or 100 in complete rows seem to hold shares. Columns of
    which a model would say that they are ids seem to name the rows. If the file has labels, these
    are the labels.
    """
    values, frame, _, _ = gathered(file, MOST_ROWS)
    if file.labels:
        frame = pd.DataFrame(values, columns=file.labels).join(frame)
    if not len(frame):
        raise ValueError(f"{file.path} has a header but no rows; add rows.")
    columns = {name: frame[name] for name in frame}
    found = describe_features(columns, file.source.where)
    labels, why = (file.labels, []) if file.labels else _labels(columns)
    ids = (found["kind"] == "id") & ~found["column"].isin(labels)
    role = np.where(found["column"].isin(labels), "label", np.where(ids, "id", "feature"))
    examples = [_examples(columns[name]) for name in found["column"]]
    table = found.assign(role=role, examples=examples)
    return Understood(table, len(frame), [*file.notes, *why])


def _examples(column):
    """Return the first cells that differ, as texts."""
    cells = column.dropna().iloc[:200].unique()[:EXAMPLES]
    return [f"{cell:g}" if isinstance(cell, float) else str(cell).strip()[:60] for cell in cells]


def _labels(columns):
    """Return the columns that seem to hold shares, and sentences that say why."""
    names, values = _numbers(columns)
    for whole in (1.0, 100.0):
        found = _longest(values, whole, _sums_to)
        if found:
            chosen = names[found[0] : found[1]]
            complete = int((~np.isnan(values[:, found[0] : found[1]])).all(axis=1).sum())
            rows = counted(complete, "complete row")
            return chosen, [
                f"{counted(len(chosen), 'column')} side by side seem to hold the shares: in "
                f"{rows}, they sum to about {whole:g}."
            ]
    for whole in (1.0, 100.0):
        found = _longest(values, whole, _stays_below)
        if found:
            chosen = names[found[0] : found[1]]
            return chosen, [
                f"{counted(len(chosen), 'column')} side by side may hold the shares: all have "
                f"missing cells, and no row sums to more than {whole:g}."
            ]
    return [], [
        "No columns were found whose rows sum to 1 or 100; choose the columns with the shares."
    ]


def _numbers(columns):
    """Return the names of all columns and some rows as numbers; NaN for columns of text."""
    values = []
    for name, column in columns.items():
        numbers = Cells(name, column.iloc[:MOST_SUMMED]).stored
        blank = np.full(min(len(column), MOST_SUMMED), np.nan)
        values.append(blank if numbers is None else np.asarray(numbers, dtype=float))
    return list(columns), np.column_stack(values)


def _longest(values, whole, fits):
    """Return the first and the end of the longest run of columns that fits, if there is one."""
    with np.errstate(invalid="ignore"):
        low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
        possible = (low >= 0) & (high <= whole * (1 + NEAR))
    best = None
    for start, stop in _runs(possible):
        for first in range(start, stop - 1):
            for end in range(min(stop, first + LONGEST), first + 1, -1):
                if best and end - first <= best[1] - best[0]:
                    break
                if fits(values[:, first:end], whole):
                    best = first, end
    return best


def _runs(possible):
    """Yield the first and the end of each run of columns that are possible."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], possible.astype(int), [0]])))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _sums_to(values, whole):
    """Return whether complete rows sum to the whole, and no row to more."""
    sums, complete = np.nansum(values, axis=1), ~np.isnan(values).any(axis=1)
    if complete.sum() < COMPLETE or np.any(np.fmax.reduce(values, axis=0) == 0):
        return False
    near = np.abs(sums[complete] / whole - 1) <= NEAR
    return near.mean() >= 0.9 and np.mean(sums <= whole * (1 + NEAR)) >= 0.99


def _stays_below(values, whole):
    """Return whether all columns have missing cells, and no row sums to more than the whole."""
    holes = np.isnan(values)
    return bool(holes.any(axis=0).all() and (np.nansum(values, axis=1) <= whole * 1.001).all())
