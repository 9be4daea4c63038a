"""Excel sheets: rows in, and holes filled where they stand."""

import gc
import sys
import traceback
import warnings
from contextlib import contextmanager
from io import BytesIO

import numpy as np
import pandas as pd
from openpyxl import load_workbook

from inldl.io._numbers import MISSING
from inldl.io.frame_format import FrameFormat


class Excel(FrameFormat):
    """A table in the first sheet of an Excel file.

    Rows and columns of the sheet without any content are none of the table. `rows` and `columns`
    tell where the others stand in the sheet, from 1; the first row is that of the header.
    """

    kind = "excel"

    def open(self, path):
        """Read the sheet."""
        sheet, self.notes = _first_sheet(path)
        # Only the cells in the file: a sheet with one in its last corner has 17 billion.
        content = {at: cell.value for at, cell in sheet._cells.items() if cell.value is not None}
        if not content:
            raise ValueError(f"The sheet {sheet.title!r} is empty; it needs a header and rows.")
        self.rows, columns = (sorted(set(numbers)) for numbers in zip(*content, strict=True))
        self.names = _names(sheet, self.rows[0], columns)
        self.columns = dict(zip(self.names, columns, strict=True))
        self.n_rows = len(self.rows) - 1
        cells = {n: [content.get((i, j)) for i in self.rows[1:]] for n, j in self.columns.items()}
        self._frame = pd.DataFrame({name: _column(column) for name, column in cells.items()})

    def frames(self, names=None):
        """Yield one frame, and where its rows stand in the sheet."""
        yield self._frame, self.rows[1:]

    def where(self, row):
        """Return the place of a row in words."""
        return f"Row {self.rows[row + 1]} of the sheet"

    @contextmanager
    def writer(self, part, labels, filled, extra):
        """Give a function that fills cells of the sheet; all else in the file stays."""
        book = load_workbook(self.path, rich_text=True)
        sheet, right = book.worksheets[0], max(self.columns.values()) + 1
        added = {name: right + j for j, name in enumerate(extra)}
        for name, column in added.items():
            sheet.cell(self.rows[0], column, name).data_type = "s"  # "=a" is no formula here

        def write(rows, fills, values):
            put = [(self.columns[name], fills[:, labels.index(name)]) for name in filled]
            put += [(column, values[:, j]) for j, column in enumerate(added.values())]
            for column, each in put:
                for i in np.flatnonzero(~np.isnan(each)):
                    sheet.cell(rows[i], column).value = float(each[i])

        yield write
        part.write_bytes(_saved(book))


def _first_sheet(path):
    """Return the first sheet with values in place of formulas, and notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is lost by writing
        book = load_workbook(path)
        sheet, notes = book.worksheets[0], []
        if len(book.sheetnames) > 1:
            notes.append(f"The table is the first sheet, {sheet.title!r}.")
        formulas = [cell for cell in sheet._cells.values() if cell.data_type == "f"]
        if formulas:
            sheet = load_workbook(path, data_only=True).worksheets[0]
            _check_values(sheet, formulas)
            notes.append(
                "Formulas are taken at the values that the file holds; in a file that is written "
                "they get theirs when Excel opens it."
            )
    return sheet, notes


def _check_values(sheet, formulas):
    for cell in formulas:
        found = sheet[cell.coordinate]
        # An empty text is a value; it has another type than nothing.
        if found.value is None and found.data_type == "n":
            raise ValueError(
                f"The formula in cell {cell.coordinate} has no value yet; open the file in "
                "Excel and save it."
            )


def _names(sheet, header, columns):
    """Return the names in the row `header`, below which each cell must stand on its own."""
    merged = [each for each in sheet.merged_cells.ranges if each.max_row > header]
    if merged:
        raise ValueError(
            f"The cells {merged[0]} are merged; split them, and give each row its own."
        )
    cells = [sheet.cell(header, j) for j in columns]
    empty = [cell.coordinate for cell in cells if cell.value is None]
    if empty:
        raise ValueError(
            f"Cell {empty[0]} is empty but its column is not; the first row must be the header, "
            "with a name for each column and no title above it."
        )
    return [str(cell.value).strip() for cell in cells]


def _column(cells):
    """Return numbers with NaN for the words for holes, or the cells as they are."""
    holes = [None, *MISSING]
    plain = [cell.strip().lower() if isinstance(cell, str) else cell for cell in cells]
    numbers = [np.nan if cell in holes else cell for cell in plain]
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
