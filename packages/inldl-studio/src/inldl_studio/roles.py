"""Suggest what the columns of a table are: labels, units, times, ids or features."""

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from inldl.tables.columns import Cells
from inldl.tables.features import describe_features
from inldl.tables.marks import as_marks
from inldl.tables.numbers import as_words, parse_cells
from inldl.tables.options import FileOptions
from inldl.tables.reading import TableFile
from inldl.tables.structure import find_structure
from inldl.tables.table import read_bounds
from inldl.tables.table_rows import gather
from inldl.text import counted, listed

ROLE_ROWS = 50_000  # from which the kinds of columns are detected
MOST_SUMMED = 2_000  # rows that are summed
WIDEST_RUN = 150  # columns side by side that are tried as labels
NEAR_WHOLE = 0.02  # of the whole, by which rounded shares may miss it
COMPLETE = 2  # rows without a missing share, at least, that must sum to the whole
AS_COUNTS, SEVERAL_ROWS = 1e-6, 3  # how near counts must be to their total, in how many rows
MOST_TOTALS = 100  # columns that are tried as totals
EXAMPLE_CELLS, FIRST_ROWS = 3, 10
MOST_WORDS = 20  # that stand among the shares of a column
PROSE = 4  # words of a cell, on average, from which on it does not name a row
_SAY_MISSING = "Some cells of these columns are words: {}. Say below what each of them stands for."
WORD = "a word"  # what a word is read as that nobody has given a meaning to


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
    found, marks = describe_features(frame, file.source.where), file.source.marks
    names, numbers, words = _numbers(frame, file.format)
    labels, total, why = (file.labels, None, []) if file.labels else _labels(names, numbers)
    strange: Counter = sum((words.get(name, Counter()) for name in labels), Counter())
    strange = Counter({word: n for word, n in strange.items() if word.lower() not in marks})
    if strange:
        why.append(_SAY_MISSING.format(listed(map(repr, strange))))
    role = np.where(found["column"].isin(labels), "label", "feature").astype(object)
    ids = (found["kind"] == "id") & (role != "label")
    text = found["column"].isin([each for each in found["column"][ids] if _is_prose(frame[each])])
    role[ids], role[text] = "id", "ignored"
    examples = [_examples(frame[name]) for name in found["column"]]
    found = found.assign(role=role, examples=examples)
    found.loc[role == "label", ["kind", "remark"]] = ("share", "")
    found.loc[text, "remark"] = "looks like free text, which names no row"
    found.loc[found["column"] == total, ["role", "remark"]] = ("total", "")
    panel, where = _panel(
        frame.drop(columns=[*labels, *([] if total is None else [total])]), dates
    )
    for role, names in panel.items():
        found.loc[found["column"].isin(names), ["role", "remark"]] = (
            role,
            f"was found as the {role}",
        )
    block = next(iter(file.source.blocks()))
    cells = file.source.cells(block, found["column"].tolist())  # as they are written
    found = found.assign(first=[_first(cells[name]) for name in found["column"]])
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


def signs_in(path: Any, labels: list[str], how: FileOptions) -> list[dict[str, Any]]:
    """Return the signs and words among shares: each with its cells, and what it is read as."""
    plain = TableFile(path, None, replace(how, na=None))
    columns = gather(plain, ROLE_ROWS)[0].features
    missing, marks = as_words(how.na), as_marks(how.mark)
    words: Counter = Counter()
    for name in (each for each in labels if not is_numeric_dtype(columns[each])):
        words += _shares(columns[name], plain.format)[1]
    called = {word.lower() for word in missing}
    unknown = [word for word in words if word.lower() not in marks]
    file = TableFile(path, labels, replace(how, na=[*missing, *unknown]))
    found = []
    with suppress(ValueError):  # something else is wrong with the shares
        gather(file, ROLE_ROWS)
        seen: Counter = sum(file.source.seen.values(), Counter())
        found = [
            {"sign": sign, "cells": n, "read": getattr(meaning, "text", meaning or "missing")}
            for (sign, meaning), n in seen.most_common(MOST_WORDS)
        ]
    for word in unknown:
        read = "missing" if word.lower() in called else WORD
        found.append({"sign": word, "cells": words[word], "read": read})
    return sorted(found, key=lambda each: each["read"] != WORD)


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
    """Return the columns that seem to hold shares, that of their total, and why."""
    for fits, reason in _REASONS.items():
        for whole in (1.0, 100.0):
            run = _longest(values, whole, fits)
            if run is not None:
                facts = {"rows": _complete(values[:, run]), "whole": f"{whole:g}"}
                chosen = names[run]
                why = f"{counted(len(chosen), 'column')} {reason.format(**facts)}"
                return chosen, None, [why]
        counts = _counts(names, values) if fits is _sums_to else None
        if counts is not None:
            return counts
    return [], None, [
        "No columns were found whose rows sum to 1, to 100 or to another column; choose the "
        "columns with the shares."
    ]  # fmt: skip


def _complete(values):
    return counted(int((~np.isnan(values)).all(axis=1).sum()), "complete row")


def _counts(names, values):
    """Return columns side by side that sum to another column, that column, and why; or None."""
    best = None
    for at, total in enumerate(values.T[:MOST_TOTALS]):
        if not (np.fmin.reduce(total) > 0):
            continue
        others = np.arange(values.shape[1]) != at
        ratios, rest = values[:, others] / total[:, None], np.array(names)[others].tolist()
        run = _longest(ratios, 1.0, _sums_exactly)
        if run is not None and (best is None or len(rest[run]) > len(best[0])):
            found = rest[run]
            why = (
                f"{counted(len(found), 'column')} side by side seem to hold counts: in "
                f"{_complete(ratios[:, run])}, they sum to {names[at]!r}."
            )
            best = found, names[at], [why]
    return best


def _numbers(frame, form):
    """Return the names of all columns, some rows as numbers, and words among numbers by column.

    Columns of text are NaN, unless their cells are shares with bounds, signs or words in between.
    """
    values = np.full((min(len(frame), MOST_SUMMED), frame.shape[1]), np.nan)
    words: dict[Any, Counter] = {}
    for j, (name, column) in enumerate(frame.iloc[:MOST_SUMMED].items()):
        numbers = Cells(name, column).stored
        if numbers is None:
            numbers, words[name] = _shares(column, form)
        values[:, j] = np.nan if numbers is None else numbers
    return list(frame), values, words


def _shares(column, form):
    """Return the shares in a column of text, or None, and how often it has each other word."""
    text = column.astype(object).map(str, na_action="ignore")
    form = replace(form, na=())  # words that mean missing are told, too
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


def _sums_exactly(values, whole):
    """Return how many of the first columns sum to the whole, as counts do."""
    return _sums_to(values, whole, AS_COUNTS, SEVERAL_ROWS)


def _sums_to(values, whole, near_whole=NEAR_WHOLE, complete_rows=COMPLETE):
    """Return how many of the first columns sum to the whole in complete rows, in no row to more.

    The sums grow with each column, so the rest is not looked at once they are too large.
    """
    sums, complete, found = np.zeros(len(values)), np.ones(len(values), bool), 0
    for width, column in enumerate(values.T, 1):
        sums, complete = sums + np.nan_to_num(column), complete & ~np.isnan(column)
        if np.nanmax(column) == 0 or np.mean(sums <= whole * (1 + near_whole)) < 0.99:
            break
        near = np.abs(sums[complete] / whole - 1) <= near_whole
        if len(near) >= complete_rows and near.mean() >= 0.9:
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
