"""Sheets of Excel and OpenDocument files: rows in, and holes filled where they stand."""

import gc
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import pairwise

import numpy as np
import pandas as pd
from openpyxl import Workbook, load_workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

from inldl.tables.formats.base import (
    FrameFormat,
    n_note_rows,
    n_title_rows,
    skipped_notes,
)
from inldl.tables.numbers import format_numbers, is_hole
from inldl.text import listed


class Excel(FrameFormat):
    """A table in a sheet of an Excel file, the first one by default.

    Empty rows and columns of the sheet do not belong to the table. `rows` and `columns` tell where
    the others stand in the sheet, from 1; the first row is that of the header.
    """

    kind = "excel"
    layout = ("sheet", "skip_rows", "skip_last")

    def load(self) -> None:
        """Read the sheet."""
        sheet, self._place, self.notes = _opened_sheet(self._book(), self.path, self.options.sheet)
        others = [name for name in sheet.parent.sheetnames if name != sheet.title]
        if others:
            self.other_sheets = (
                f"This is the sheet {sheet.title!r}; --sheet takes another one: "
                f"{listed(map(repr, others))}."
            )
        # Only the cells in the file: a sheet with one in its last corner has 17 billion.
        content = {at: cell.value for at, cell in sheet._cells.items() if cell.value is not None}
        ranges = sheet.merged_cells.ranges
        groups = _column_groups(ranges, content)
        content, header, note = _with_group_names(_unmerged(ranges, content), groups)
        spread = {each.min_row for each in ranges if each.max_col > each.min_col}
        content = self._inside(content, spread)
        if not content:
            raise ValueError(f"The sheet {sheet.title!r} is empty; it needs a header and rows.")
        self.rows, columns = (sorted(set(numbers)) for numbers in zip(*content, strict=True))
        self.notes += [note] if self.rows[0] == header else []
        self.names = _names(sheet, content, self.rows, columns)
        self.columns = dict(zip(self.names, columns, strict=True))
        self.n_rows = len(self.rows) - 1
        cells = {n: [content.get((i, j)) for i in self.rows[1:]] for n, j in self.columns.items()}
        self._cells, na = cells, self.format.na
        self._frame = pd.DataFrame({name: _column(column, na) for name, column in cells.items()})

    def _inside(self, content, spread):
        """Return the cells of a sheet without titles above its table and notes below.

        The rows `spread` have cells that reach over several columns.
        """
        numbers = sorted({i for i, _ in content})
        columns = sorted({j for _, j in content})
        rows = [[str(content.get((i, j), "")) for j in columns] for i in numbers]
        first, below = self.options.skip_rows, self.options.skip_last
        if first is None:
            above = n_title_rows(rows, [k for k, i in enumerate(numbers) if i in spread])
            self.notes += skipped_notes(above, "row", "above the header")
        else:
            above = sum(1 for i in numbers if i <= first)
        if below is None:
            below = _n_notes(rows, numbers)
            self.notes += skipped_notes(below, "row", "below the table")
        kept = set(numbers[above : max(above, len(numbers) - below)])
        return {at: value for at, value in content.items() if at[0] in kept}

    def frames(self, names=None) -> Iterator[tuple[pd.DataFrame, list[int]]]:
        """Yield one frame, in which signs of labels are text, and where its rows stand."""
        yield self._frame.assign(**{n: self._cells[n] for n in self.meanings}), self.rows[1:]

    def where(self, row) -> str:
        """Return the place of a row in words."""
        return f"Row {self.rows[row + 1]} of the sheet"

    @staticmethod
    def write_new(frame, part, suffix, like) -> None:
        """Write a frame to the only sheet of a file."""
        book = Workbook()
        for i, row in enumerate([frame.columns, *frame.itertuples(index=False, name=None)], 1):
            for j, value in enumerate(row, 1):
                text = isinstance(value, str)
                value = ILLEGAL_CHARACTERS_RE.sub("\ufffd", value) if text else value
                cell = book.active.cell(i, j, None if pd.isna(value) else value)
                if text:
                    cell.data_type = "s"  # a name such as =A1 is no formula
        book.save(part)

    @contextmanager
    def writer(self, part, labels, filled, extra, added=()) -> Iterator[Callable]:
        """Give a function that fills cells of the sheet; all else in the file stays."""
        book = self._book(rich_text=True)
        sheet, right = book.worksheets[self._place], max(self.columns.values()) + 1
        new = {name: right + j for j, name in enumerate(extra)}
        for name, column in new.items():
            sheet.cell(self.rows[0], column, name).data_type = "s"  # "=a" is no formula here

        def write(block, fills, values):
            rows = block.raw
            for name in filled:
                fill = fills[:, labels.index(name)]
                for i in np.flatnonzero(~np.isnan(fill)):
                    value = None if np.isinf(fill[i]) else self._degree(float(fill[i]))
                    sheet.cell(rows[i], self.columns[name]).value = value
            for j, column in enumerate(new.values()):
                for i in np.flatnonzero(~np.isnan(values[:, j])):
                    sheet.cell(rows[i], column).value = float(values[i, j])

        yield write
        degrees = [{**row, **{n: self._degree(row[n]) for n in labels}} for row in added]
        self._add(sheet, degrees, {**self.columns, **new})
        self._save(book, part)

    def _book(self, **how):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is lost by writing
            return load_workbook(self.path, **how)

    def _save(self, book, part):
        part.write_bytes(_saved(book))

    def _degree(self, number):
        """Return what to write into a label column: text, where the other degrees have signs."""
        form = self.format
        return format_numbers([number], form, percent=True)[0] if form.percent else number

    def _add(self, sheet, rows, columns):
        """Write rows below the last one, where nothing may stand."""
        below = {i for i, _ in sheet._cells if i > self.rows[-1]}
        if rows and any(cell.value is not None for i in below for cell in sheet[i]):
            raise ValueError(
                f"Rows are to be added below row {self.rows[-1]} of the sheet, which is not "
                "empty; move its content."
            )
        for i, row in enumerate(rows, self.rows[-1] + 1):
            for name, value in row.items():
                sheet.cell(i, columns[name]).value = value


class Ods(Excel):
    """A table in a sheet of an OpenDocument file, of which values are read and written."""

    kind = "ods"

    def load(self) -> None:
        """Read the sheet."""
        super().load()
        self.notes.append("A written .ods file has the values of all sheets, but no formulas.")

    def _book(self, **_):
        book = Workbook()
        book.remove(book.active)
        sheets = pd.read_excel(self.path, sheet_name=None, header=None, engine="odf")
        for name, frame in sheets.items():
            sheet = book.create_sheet(name)
            for i, row in enumerate(frame.itertuples(index=False, name=None), 1):
                for j, value in enumerate(row, 1):
                    cell = sheet.cell(i, j, None if pd.isna(value) else value)
                    cell.data_type = "s" if isinstance(value, str) else cell.data_type
        return book

    def _save(self, book, part):
        _write_ods({each.title: pd.DataFrame(each.values) for each in book.worksheets}, part)

    @staticmethod
    def write_new(frame, part, suffix, like) -> None:
        """Write a frame to the only sheet of a file."""
        _write_ods({"Sheet1": pd.DataFrame([list(frame), *frame.itertuples(index=False)])}, part)


def _write_ods(sheets, part):
    content = BytesIO()
    with pd.ExcelWriter(content, engine="odf") as book:
        for name, frame in sheets.items():
            frame.to_excel(book, sheet_name=name, header=False, index=False)
    part.write_bytes(content.getvalue())


def _opened_sheet(book, path, wanted):
    """Return a sheet with values in place of formulas, its place, and notes."""
    place, notes = _place_of(book, wanted), []
    sheet = book.worksheets[place]
    if wanted is None and len(book.sheetnames) > 1:
        notes.append(f"The table is the first sheet, {sheet.title!r}; --sheet names another one.")
    formulas = [cell for cell in sheet._cells.values() if cell.data_type == "f"]
    if formulas:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sheet = load_workbook(path, data_only=True).worksheets[place]
        _check_values(sheet, formulas)
        notes.append(
            "Formulas are taken at the values that the file holds; in a file that is written "
            "they get theirs when Excel opens it."
        )
    return sheet, place, notes


def _place_of(book, wanted):
    """Return the place of the sheet with a name, or with a number from 1."""
    names = [sheet.title for sheet in book.worksheets]
    if wanted is None:
        return 0
    if str(wanted) in names:
        return names.index(str(wanted))
    if str(wanted).isdecimal() and 1 <= int(wanted) <= len(names):
        return int(wanted) - 1
    raise ValueError(f"there is no sheet {wanted!r}; the sheets are {listed(map(repr, names))}.")


def _check_values(sheet, formulas):
    for cell in formulas:
        found = sheet[cell.coordinate]
        # An empty text is a value; it has another type than nothing.
        if found.value is None and found.data_type == "n":
            raise ValueError(
                f"The formula in cell {cell.coordinate} has no value yet; open the file in "
                "Excel and save it."
            )


def _unmerged(ranges, content):
    """Return cells in which one that reaches over several rows stands in the last of them."""
    for merged in ranges:
        top, bottom = ((row, merged.min_col) for row in (merged.min_row, merged.max_row))
        if merged.min_col == merged.max_col and top in content:
            content = {**content, bottom: content[top]}
    return content


def _column_groups(ranges, content):
    """Return the names of groups of columns above a header, by row and by column.

    They are in cells that reach over some of the columns; a title reaches over all.
    """
    columns = {j for _, j in content}
    found = {}
    for each in ranges:
        over = set(range(each.min_col, each.max_col + 1))
        top = each.min_row, each.min_col
        if len(over) > 1 and top in content and not columns <= over:
            named = dict.fromkeys(over, str(content[top]).strip())
            found.setdefault(each.min_row, {}).update(named)
    rows = sorted(found)
    return {row: found[row] for k, row in enumerate(rows) if row == rows[0] + k}


def _with_group_names(content, groups):
    """Return cells with names of columns that differ, the row of these, and a note on them.

    Names that several columns have follow those of their groups, if that makes them differ.
    """
    header = min({i for i, _ in content if groups and i > max(groups)}, default=None)
    names = {j: str(value).strip() for (i, j), value in content.items() if i == header}
    joined, above = names, sorted(groups, reverse=True)
    while above and len(set(joined.values())) < len(joined):
        of = groups[above.pop(0)]
        joined = {j: f"{of[j]} {name}" if j in of else name for j, name in joined.items()}
    if joined == names or len(set(joined.values())) < len(joined):
        left_out = dict.fromkeys(name for of in groups.values() for name in of.values())
        return content, header, f"Names of groups of columns are left out: {listed(left_out)}."
    example = next(name for j, name in joined.items() if name != names[j])
    note = f"Names of columns begin with those of their groups, such as {example!r}."
    return {**content, **{(header, j): name for j, name in joined.items()}}, header, note


def _n_notes(rows, numbers):
    """Return how many of the last rows are notes; empty rows of the sheet are not among them."""
    gaps = [False] * bool(numbers) + [b - a > 1 for a, b in pairwise(numbers)]
    parted = [part for row, gap in zip(rows, gaps, strict=True)
              for part in ([[], row] if gap else [row])]  # fmt: skip
    found = n_note_rows(parted, len(rows[0]) if rows else 0)
    return sum(1 for row in parted[len(parted) - found :] if row)


def _names(sheet, content, rows, columns):
    """Return the names in the first row, below which each cell must stand on its own."""
    header, ranges = rows[0], sheet.merged_cells.ranges
    merged = [each for each in ranges if each.max_row > header and each.min_row <= rows[-1]]
    if merged:
        raise ValueError(
            f"The cells {merged[0]} are merged; if they are above the header, skip the rows up to "
            "there (skip_rows, --skip-rows), else split them and give each row its own."
        )
    empty = [sheet.cell(header, j).coordinate for j in columns if (header, j) not in content]
    if empty:
        raise ValueError(
            f"Cell {empty[0]} is empty but its column is not; the first row must be the header, "
            "with a name for each column and no title above it (or give skip_rows, --skip-rows)."
        )
    return [str(content[header, j]).strip() for j in columns]


def _column(cells, na):
    """Return numbers with NaN for the words for holes, or the cells as they are."""
    numbers = [np.nan if is_hole(cell, na) else cell for cell in cells]
    if all(type(cell) in (int, float) for cell in numbers):
        return pd.Series(numbers, dtype="float64")
    return pd.Series(cells)


def _saved(book):
    """Return the content of a workbook, which passes through files of the system."""
    content = BytesIO()
    try:
        book.save(content)
    except OSError as error:
        hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
        # What was left open fails once more when it is closed, and would say so aloud.
        traceback.clear_frames(error.__traceback__)
        gc.collect()
        sys.unraisablehook = hook
        raise
    return content.getvalue()
