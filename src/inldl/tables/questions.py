"""A file with questions about the missing shares of a table, and the answers in it."""

import re
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from inldl.files.replacing import goes_with
from inldl.tables.ask import Suggestion, check_asked, suggestion
from inldl.tables.audit import error_unit
from inldl.tables.options import AskOptions
from inldl.tables.reading import TableFile
from inldl.tables.results import pieces_for
from inldl.tables.table import Piece, whole_of
from inldl.tables.table_rows import checked_numbers, id_columns, id_texts, take_column
from inldl.tables.writing import row_wholes, write_edited, write_frame
from inldl.text import inert

NEEDED_COLUMNS = ("row", "label", "left", "answer")  # of a file with answers, at least
OURS = {*NEEDED_COLUMNS, "rank", "estimate", "low", "high", "gain", "expected_error", "cost"}
FILE_ROUNDING = 1e-6  # of the whole, by which numbers in files are rounded
ANSWER_ROUNDING = 0.01  # of the whole, by which rounded answers may exceed what a row leaves


@dataclass(frozen=True, eq=False)
class Asked:
    """What to ask about a table in a file."""

    table: pd.DataFrame  # the questions as they stand in their file, in the units of the table
    suggestion: Suggestion  # the same, as fractions
    n_rows: int  # rows of the table
    whole: float  # what shares sum to in the units of errors: 1, or 100 for percentages

    @property
    def unit(self) -> str:
        """Return the unit of errors: "percentage points", or nothing for fractions."""
        return error_unit(self.whole)


def ask_table(
    file,
    model,
    path=None,
    options=None,
    *,
    scale,
    normalize=False,
    coverage=0.9,
    overwrite=False,
    **keywords,
) -> Asked:
    """Rank the missing shares of a file by what their answers are worth, and write a list of them.

    Parameters
    ----------
    path : str or path, optional
        The file to write: questions with an empty column for the answers.
    options : AskOptions, optional
        How much to ask for, and what answers cost.
    file, model, scale, normalize, overwrite
        As in `complete_table`.
    coverage
        As in `inldl.suggest`.
    **keywords
        Fields of `AskOptions`, such as ``budget=20``, in place of those of `options`.

    Returns
    -------
    Asked
    """
    options = AskOptions.of(options, **keywords)
    by, cost = options.by, options.cost
    ids = [name for name in id_columns(file, model) if name not in OURS]
    others = ids if cost is None else [*ids, cost]
    piece = _joined(pieces_for(model, file, others, "reading rows", text=ids), file.path)
    features = piece.features
    whole = np.broadcast_to(row_wholes(piece, scale), piece.size)
    price = options.row_cost
    if cost is not None:
        what = "price; give a number above 0 in each row"
        price = checked_numbers(features[cost], file.place_of(), lambda price: price > 0, what)
    prices = check_asked(options.budget, by, price, options.cell_cost, piece.size)
    rows = model.rows_to_fill(features, file.known(piece, scale, normalize=normalize))
    found = suggestion(rows, file.labels, options.budget, by, prices, coverage)
    facts = {"left": _left(piece, whole)} | {name: id_texts(features, [name]) for name in ids}
    table = _questions(found.table, pd.DataFrame(facts), whole, whole_of(scale))
    asked = Asked(table, found, piece.size, whole_of(scale))
    if path is not None:
        listed = asked.table.rename(columns=inert).map(inert)
        write_frame(listed, path, like=file.format, overwrite=overwrite)
    return asked


def without_prices(file, cost) -> TableFile:
    """Return the file without the column of prices among its features, or refuse that column."""
    if cost is not None:
        features = dict.fromkeys(file.features)
        take_column(features, cost, file, "--cost")
        file.features = list(features)
    return file


def _questions(found, rows, row_whole, whole):
    """Return the table of questions, in the units of the file.

    `rows` have the ids of all rows, and what their known shares leave of `row_whole`; errors are
    in units of a table whose rows sum to `whole`.
    """
    at = found["row"].to_numpy()
    left, ids = rows["left"].to_numpy()[at], rows.iloc[at].drop(columns="left")
    out = {"rank": found["rank"], "row": at + 1, **ids.reset_index(drop=True)}
    out |= {"label": found["label"], "left": left.round(9)}
    shares = ("estimate", "low", "high")
    out |= {name: (found[name] * row_whole[at]).round(6) for name in shares}
    out |= {"gain": found["gain"] * whole**2, "expected_error": found["rmse"] * whole}
    return pd.DataFrame({**out, "cost": found["cost"], "answer": np.nan})


def _joined(pieces, path):
    """Return all rows of a table as one piece; refuse a table without any."""
    parts = [replace(piece, raw=None) for piece in pieces]
    if not parts:
        raise ValueError(f"{path} has a header but no rows; add rows.")
    return Piece.joined(parts)


def _left(piece, whole):
    """Return what the known shares of rows leave to the missing ones, in units of the file."""
    return np.maximum(whole - np.nansum(piece.values, axis=1), 0)


def with_answers(file, path, *, scale="auto") -> tuple[TableFile, int]:
    """Return a table like that of a file, with the answers of another file put in; and how many.

    The file of the new table is a copy, which goes when that does; the files that were given stay
    as they are.
    """
    answers = read_answers(path, file, file.find_scale()[0] if scale == "auto" else scale)
    folder = Path(tempfile.mkdtemp(prefix="inldl-"))
    try:
        copy = folder / file.path.name
        write_edited(file, copy, answers)
        opened = TableFile(copy, file.labels, file.options)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    goes_with(opened, copy)
    return opened, len(answers)


def read_answers(path, file, scale) -> list[tuple[int, str, float]]:
    """Return the answers in a file with questions: rows of the table, from 0, labels, numbers.

    Questions without an answer are skipped. Answers that do not fit the table `file` as it is now
    are refused with their line.
    """
    source = TableFile(path, None)
    lacking = [name for name in NEEDED_COLUMNS if name not in source.source.names]
    if lacking:
        raise ValueError(
            f"{path} has no column {lacking[0]!r}; give the file that `inldl ask` wrote, with "
            "your answers in its column 'answer'."
        )
    shared = {*file.source.names} - OURS - {*file.labels}
    ids = [name for name in source.source.names if name in shared]  # name the rows in both files
    frame = _joined(source.pieces([*NEEDED_COLUMNS, *ids], {"label", *ids}), path).features
    table = {name: _numbers(frame[name], source, path) for name in ("row", "left", "answer")}
    inert = {f"'{name}": name for name in file.labels}  # which would have been formulas
    table |= {"label": [inert.get(name, name) for name in id_texts(frame, ["label"])]}
    table |= {"name": id_texts(frame, ids)}
    answers = pd.DataFrame(table).dropna(subset="answer")
    answers["again"] = answers.duplicated(["row", "label"])
    answers["answered"] = answers.groupby("row")["answer"].cumsum()
    piece = _joined(file.pieces(ids, set(ids)), file.path)
    whole = np.broadcast_to(row_wholes(piece, scale), piece.size)
    facts = file.labels, piece, _left(piece, whole), whole, id_texts(piece.features, ids)
    for answer in answers.itertuples():
        for wrong, problem in _problems(answer, *facts):
            if wrong:
                raise ValueError(f"{path}, {source.place_of()(answer.Index).lower()}: {problem}")
    return [(int(a.row) - 1, a.label, float(a.answer)) for a in answers.itertuples()]


def _problems(answer, labels, piece, lefts, wholes, names):
    """Yield whether an answer does not fit the table as it is now, and why."""
    value, label, number = answer.answer, answer.label, f"row {answer.row:g}"
    known = ", ".join(labels)
    yield label not in labels, f"there is no label {label!r}; the labels are {known}."
    yield answer.again, f"{number} has two answers for {label!r}; leave one of them out."
    exists = answer.row in range(1, piece.size + 1)
    yield not exists, f"the table has no {number}; correct its number."
    row, column = int(answer.row) - 1, labels.index(label)
    left, whole, name, there = lefts[row], wholes[row], names[row], piece.values[row, column]
    yield (
        not np.isnan(there),
        f"{label!r} is {there:.6g} in {number} of the table already; delete the answer, or empty "
        "the cell of the table.",
    )
    yield (
        abs(left - answer.left) > FILE_ROUNDING * max(whole, 1),
        f"{number} has changed: its known shares leave {left:.6g} now, and left "
        f"{answer.left:.6g} when the question was written; write the questions again with "
        "`inldl ask`.",
    )
    yield value < 0, f"the answer {value:.6g} is negative; give a share of 0 or more."
    if piece.bounds is not None:
        low, high, _ = piece.bounds.limits[:, row, column]
        yield (
            value < low or value > high,
            f"the answer {value:.6g} is outside the bounds that {label!r} has in {number} of the "
            "table; correct one of them.",
        )
    yield (
        _plain(name) != _plain(answer.name),  # a spreadsheet may have made 1 of 01
        f"{number} is {name!r} in the table, but the question was about {answer.name!r}; "
        "write the questions again with `inldl ask`.",
    )
    yield (
        answer.answered > left + ANSWER_ROUNDING * whole,
        f"the answers in {number} sum to {answer.answered:.6g}, but its known shares leave "
        f"{left:.6g}; give shares that fit, in the units of the table.",
    )


def _numbers(cells, source, path):
    """Return a column of numbers, NaN where a cell is empty."""
    values = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    empty = cells.isna() | (cells.astype(str).str.strip() == "")
    bad = np.flatnonzero(np.isnan(values) & ~empty.to_numpy())
    if bad.size:
        place = source.place_of()(int(bad[0]))
        raise ValueError(
            f"{path}, {place.lower()}: {str(cells.iloc[bad[0]])!r} in column {cells.name!r} is "
            "not a number; write a number, or leave the cell empty."
        )
    return values


def _plain(name):
    return re.sub(r"\b0+(?=\d)|(?:^|(?<=, ))'", "", name)
