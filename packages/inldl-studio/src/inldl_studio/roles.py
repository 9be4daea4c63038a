"""Suggest what the columns of a table are: labels, units, times, ids or features."""

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from inldl.tables.columns import Cells
from inldl.tables.features import describe_features
from inldl.tables.numbers import parse_cells
from inldl.tables.structure import find_structure
from inldl.tables.table import read_bounds
from inldl.tables.table_rows import gather
from inldl.text import counted, listed

ROLE_ROWS = 50_000  # from which the kinds of columns are detected
MOST_SUMMED = 2_000  # rows that are summed
WIDEST_RUN = 150  # columns side by side that are tried as labels
NEAR_WHOLE = 0.02  # of the whole, by which rounded shares may miss it
COMPLETE = 2  # rows without a missing share, at least, that must sum to the whole
EXAMPLE_CELLS, FIRST_ROWS = 3, 10
MOST_WORDS = 20  # that stand among the shares of a column
PROSE = 4  # words of a cell, on average, from which on it does not name a row
_SAY_MISSING = (
    "Some cells of these columns are words: {}. If they mean missing, say so under “Cells that "
    "mean missing” below."
)


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
    names, numbers, words = _numbers(frame, file.format)
    labels, why = (file.labels, []) if file.labels else _labels(names, numbers)
    strange: Counter = sum((words.get(name, Counter()) for name in labels), Counter())
    if strange:
        why.append(_SAY_MISSING.format(listed(map(repr, strange))))
    role = np.where(found["column"].isin(labels), "label", "feature").astype(object)
    ids = (found["kind"] == "id") & (role != "label")
    text = found["column"].isin([each for each in found["column"][ids] if _is_prose(frame[each])])
    role[ids], role[text] = "id", "ignored"
    examples = [_examples(frame[name]) for name in found["column"]]
    found = found.assign(role=role, examples=examples)
    found.loc[text, "remark"] = "looks like free text, which names no row"
    panel, where = _panel(frame.drop(columns=labels), dates)
    for role, names in panel.items():
        found.loc[found["column"].isin(names), ["role", "remark"]] = (
            role,
            f"was found as the {role}",
        )
    found = found.assign(first=[_first(frame[name]) for name in found["column"]])
    return found, len(frame), [*file.notes, *why, *where]


def _first(column):
    """Return the cells of the first rows, as texts."""
    cells = column.iloc[:FIRST_ROWS]
    return ["" if pd.isna(cell) else _text(cell) for cell in cells]


def _text(cell):
    return f"{cell:.10g}" if isinstance(cell, float) else str(cell).strip()[:60]


def _is_prose(column):
    """Return whether cells are sentences."""
    cells = column.dropna().iloc[:200].astype(str)
    return bool(len(cells)) and cells.str.split().str.len().mean() >= PROSE


def _examples(column):
    """Return the first cells that differ, as texts."""
    cells = column.dropna().iloc[:200].unique()[:EXAMPLE_CELLS]
    return [_text(cell) for cell in cells]


def signs_in(file: Any) -> list[dict[str, Any]]:
    """Return the signs among the shares of a file: each with its cells, and what it is read as."""
    gather(file, ROLE_ROWS)
    seen: Counter = sum(file.source.seen.values(), Counter())
    return [
        {"sign": sign, "cells": n, "read": getattr(meaning, "text", meaning or "missing")}
        for (sign, meaning), n in seen.most_common(MOST_WORDS)
    ]


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


def _labels(names, values):
    """Return the columns that seem to hold shares, and sentences that say why."""
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


def _numbers(frame, form):
    """Return the names of all columns, some rows as numbers, and words among numbers by column.

    Columns of text are NaN, unless their cells are shares with bounds, signs or words in between.
    """
    values = np.full((min(len(frame), MOST_SUMMED), frame.shape[1]), np.nan)
    words = {}
    for j, (name, column) in enumerate(frame.iloc[:MOST_SUMMED].items()):
        numbers = Cells(name, column).stored
        if numbers is None:
            numbers, words[name] = _shares(column, form)
        values[:, j] = np.nan if numbers is None else numbers
    return list(frame), values, words


def _shares(column, form):
    """Return the shares in a column of text, or None, and how often it has each other word."""
    text = column.astype(object).map(str, na_action="ignore")
    numbers, rows, _ = parse_cells(text, form, form.percent, {})
    others = Counter(text.iloc[rows].str.strip())
    words = Counter({word: n for word, n in others.items() if not _is_bound(word, form)})
    known = np.count_nonzero(~np.isnan(numbers)) + len(rows) - words.total()
    if len(words) > MOST_WORDS or words.total() > known or not np.isfinite(numbers).any():
        return None, Counter()
    return numbers, words


def _is_bound(word, form):
    return isinstance(read_bounds(word, form), tuple)


def _longest(values, whole, fits):
    """Return the longest run of columns that fits, a slice, or None."""
    with np.errstate(invalid="ignore"):
        low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
        possible = (low >= 0) & (high <= whole * (1 + NEAR_WHOLE))
    edges = np.flatnonzero(np.diff(np.concatenate([[0], possible.astype(int), [0]]))).tolist()
    best, length = None, 1
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        for first in range(start, stop - 1):
            found = fits(values[:, first : min(stop, first + WIDEST_RUN)], whole)
            if found > length:
                best, length = slice(first, first + found), found
    return best


def _sums_to(values, whole):
    """Return how many of the first columns sum to the whole in complete rows, in no row to more.

    The sums grow with each column, so the rest is not looked at once they are too large.
    """
    sums, complete, found = np.zeros(len(values)), np.ones(len(values), bool), 0
    for width, column in enumerate(values.T, 1):
        sums, complete = sums + np.nan_to_num(column), complete & ~np.isnan(column)
        if np.nanmax(column) == 0 or np.mean(sums <= whole * (1 + NEAR_WHOLE)) < 0.99:
            break
        near = np.abs(sums[complete] / whole - 1) <= NEAR_WHOLE
        if len(near) >= COMPLETE and near.mean() >= 0.9:
            found = width
    return found


def _stays_below(values, whole):
    """Return how many of the first columns have missing cells, and sum to at most the whole."""
    sums = np.zeros(len(values))
    for width, column in enumerate(values.T):
        sums = sums + np.nan_to_num(column)
        if not np.isnan(column).any() or (sums > whole * 1.001).any():
            return width
    return values.shape[1]


_REASONS = {
    _sums_to: "side by side seem to hold the shares: in {rows}, they sum to about {whole}.",
    _stays_below: (
        "side by side may hold the shares: all have missing cells, and no row sums to more than "
        "{whole}."
    ),
}
