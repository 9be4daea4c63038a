"""Suggest what the columns of a table are: labels, units, times, ids or features."""

from typing import Any

import numpy as np
import pandas as pd

from inldl.tables.columns import Cells
from inldl.tables.features import describe_features
from inldl.tables.structure import find_structure
from inldl.tables.table_rows import gather
from inldl.text import counted

ROLE_ROWS = 50_000  # from which the kinds of columns are detected
MOST_SUMMED = 2_000  # rows that are summed
WIDEST_RUN = 150  # columns side by side that are tried as labels
NEAR_WHOLE = 0.02  # of the whole, by which rounded shares may miss it
COMPLETE = 2  # rows without a missing share, at least, that must sum to the whole
EXAMPLE_CELLS = 3


def suggest_roles(file: Any, dates: str = "auto") -> tuple[pd.DataFrame, int, list[str]]:
    """Look at all columns of a file, and suggest what they are.

    Columns side by side that sum to 1 or 100 in complete rows seem to hold shares. Columns of
    which a model would say that they are ids seem to name the rows. If the file has labels, these
    are the labels. Columns that `find_structure` finds are those of units and times; `dates` is
    as it takes it.

    Returns a frame with a row for each column (its name, kind, share of missing cells, number of
    distinct values, a remark, a role, and examples of its cells), the number of rows that were
    looked at, and sentences on what was detected and why.
    """
    piece, _ = gather(file, ROLE_ROWS)
    values, frame = piece.values, piece.features
    if file.labels:
        frame = pd.DataFrame(values, columns=file.labels).join(frame)
    if not len(frame):
        raise ValueError(f"{file.path} has a header but no rows; add rows.")
    found = describe_features(frame, file.source.where)
    labels, why = (file.labels, []) if file.labels else _labels(frame)
    ids = (found["kind"] == "id") & ~found["column"].isin(labels)
    role = np.where(found["column"].isin(labels), "label", np.where(ids, "id", "feature"))
    examples = [_examples(frame[name]) for name in found["column"]]
    found = found.assign(role=role, examples=examples)
    panel, where = _panel(frame.drop(columns=labels), dates)
    for role, names in panel.items():
        found.loc[found["column"].isin(names), ["role", "remark"]] = (
            role,
            f"was found as the {role}",
        )
    return found, len(frame), [*file.notes, *why, *where]


def _examples(column):
    """Return the first cells that differ, as texts."""
    cells = column.dropna().iloc[:200].unique()[:EXAMPLE_CELLS]
    return [f"{cell:g}" if isinstance(cell, float) else str(cell).strip()[:60] for cell in cells]


def _panel(columns, dates):
    """Return the columns of the unit and of the time, and sentences that say so."""
    found = find_structure(columns, dates=dates)
    facts = [
        note.rpartition("; ")[0].replace("are taken as", "seem to be", 1) for note in found.notes
    ]
    notes = [f"{fact}; give these columns another role if that is wrong." for fact in facts]
    if empty := [name for name in (*found.unit, *found.time) if columns[name].isna().any()]:
        where = " and ".join(map(repr, empty))
        notes[0] = f"{facts[0]}; fill in the empty cells of {where} to make use of that."
        return {}, notes
    return {"unit": found.unit, "time": found.time}, notes


def _labels(columns):
    """Return the columns that seem to hold shares, and sentences that say why."""
    names, values = _numbers(columns)
    for fits, reason in _REASONS.items():
        for whole in (1.0, 100.0):
            run = _longest(values, whole, fits)
            if run is not None:
                complete = int((~np.isnan(values[:, run])).all(axis=1).sum())
                facts = {"rows": counted(complete, "complete row"), "whole": f"{whole:g}"}
                chosen = names[run]
                return chosen, [f"{counted(len(chosen), 'column')} {reason.format(**facts)}"]
    return [], [
        "No columns were found whose rows sum to 1 or 100; choose the columns with the shares."
    ]


def _numbers(frame):
    """Return the names of all columns and some rows as numbers; NaN for columns of text."""
    values = np.full((min(len(frame), MOST_SUMMED), frame.shape[1]), np.nan)
    for j, (name, column) in enumerate(frame.iloc[:MOST_SUMMED].items()):
        numbers = Cells(name, column).stored
        values[:, j] = np.nan if numbers is None else numbers
    return list(frame), values


def _longest(values, whole, fits):
    """Return the longest run of columns that fits, a slice, or None."""
    with np.errstate(invalid="ignore"):
        low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
        possible = (low >= 0) & (high <= whole * (1 + NEAR_WHOLE))
    edges = np.flatnonzero(np.diff(np.concatenate([[0], possible.astype(int), [0]]))).tolist()
    best, length = None, 1
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        for first in range(start, stop - 1):
            for end in range(min(stop, first + WIDEST_RUN), first + length, -1):
                if fits(values[:, first:end], whole):
                    best, length = slice(first, end), end - first
                    break
    return best


def _sums_to(values, whole):
    """Return whether complete rows sum to the whole, and no row to more."""
    sums, complete = np.nansum(values, axis=1), ~np.isnan(values).any(axis=1)
    if complete.sum() < COMPLETE or np.any(np.fmax.reduce(values, axis=0) == 0):
        return False
    near = np.abs(sums[complete] / whole - 1) <= NEAR_WHOLE
    return near.mean() >= 0.9 and np.mean(sums <= whole * (1 + NEAR_WHOLE)) >= 0.99


def _stays_below(values, whole):
    """Return whether all columns have missing cells, and no row sums to more than the whole."""
    holes = np.isnan(values)
    return bool(holes.any(axis=0).all() and (np.nansum(values, axis=1) <= whole * 1.001).all())


_REASONS = {
    _sums_to: "side by side seem to hold the shares: in {rows}, they sum to about {whole}.",
    _stays_below: (
        "side by side may hold the shares: all have missing cells, and no row sums to more than "
        "{whole}."
    ),
}
