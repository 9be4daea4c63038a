"""Excel sheets: only holes change, and what cannot be a table is refused in one sentence."""

import datetime
import re
import zipfile

import numpy as np
import pandas as pd
import pytest

from inldl.tables import TableFile, formats, read_table, write_table
from inldl.tables.writing import TableWriter, write_frame

openpyxl = pytest.importorskip("openpyxl")
from openpyxl.cell.rich_text import CellRichText, TextBlock  # noqa: E402
from openpyxl.cell.text import InlineFont  # noqa: E402
from openpyxl.comments import Comment  # noqa: E402
from openpyxl.styles import Font  # noqa: E402
from openpyxl.workbook.defined_name import DefinedName  # noqa: E402

ROWS = [["x", "country", "a", "b"], [1, "NA", 0.25, 0.75], [2, "None", 0.5, None],
        [3, "n/a", None, None], [4, "DE", 0.125, 0.875], [5, None, 0, 1]]  # fmt: skip


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.xlsx"


@pytest.fixture
def book():
    book = openpyxl.Workbook()
    book.active.title = "Survey"
    return book


def saved(book, path, rows=ROWS):
    for row in rows:
        book.worksheets[0].append(row)
    book.save(path)
    return path


def with_values(path, values):
    """Put values beside the formulas of the first sheet, as Excel does when it saves."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    name = "xl/worksheets/sheet1.xml"
    for cell, value in values.items():
        kind = "" if isinstance(value, float) else ' t="str"'
        pattern = rf'<c r="{cell}"( s="\d+")?><f>(.*?)</f><v\s*/?>(</v>)?</c>'
        new = rf'<c r="{cell}"{kind}><f>\2</f><v>{value}</v></c>'
        parts[name], count = re.subn(pattern, new, parts[name].decode())
        assert count == 1
        parts[name] = parts[name].encode()
    with zipfile.ZipFile(path, "w") as file:
        for part, content in parts.items():
            file.writestr(part, content)


def test_all_but_the_holes_stays(book, path, tmp_path):
    sheet, other = book.active, book.create_sheet("Other")
    other["A1"], other["A2"] = "kept", "=1+1"
    book.defined_names["first"] = DefinedName("first", attr_text="Survey!$A$2")
    saved(book, path)
    sheet["E1"], sheet["E2"] = "double", "=2*A2"
    sheet["B5"] = CellRichText("plain ", TextBlock(InlineFont(b=True), "bold"))
    sheet["A1"].font, sheet["D3"].number_format = Font(bold=True), "0.00%"
    sheet["C2"].comment = Comment("sure?", "me")
    sheet.freeze_panes, sheet.column_dimensions["B"].width = "A2", 33
    book.save(path)
    with_values(path, {"E2": 2.0})
    table = read_table(path, "a,b")
    out = tmp_path / "out.xlsx"
    full = np.array([[0.25, 0.75], [0.5, 0.5], [0.4, 0.6], [0.125, 0.875], [0, 1]])
    write_table(table, full, out)
    written = openpyxl.load_workbook(out, rich_text=True)
    before = openpyxl.load_workbook(path, rich_text=True)
    assert written.sheetnames == ["Survey", "Other"]
    assert written["Other"]["A2"].value == "=1+1"
    assert written.defined_names["first"].attr_text == "Survey!$A$2"
    filled = {"D3": 0.5, "C4": 0.4, "D4": 0.6}
    for row in before["Survey"].iter_rows():
        for cell in row:
            found = written["Survey"][cell.coordinate]
            assert found.value == filled.get(cell.coordinate, cell.value)
            assert found.number_format == cell.number_format
            assert found.font.b == cell.font.b
    assert str(written["Survey"]["B5"].value[1]) == "bold"
    assert written["Survey"]["C2"].comment.text == "sure?"
    assert written["Survey"].freeze_panes == "A2"
    assert written["Survey"].column_dimensions["B"].width == 33


def test_words_for_holes_are_words_in_text(book, path):
    table = read_table(saved(book, path), "a,b")
    assert table.features["country"].tolist()[:4] == ["NA", "None", "n/a", "DE"]
    assert table.features["country"].isna().tolist() == [False] * 4 + [True]
    assert table.features["x"].dtype == "float64"


def test_numbers_may_have_words_for_holes(book, path):
    day = datetime.datetime(2024, 5, 1)
    rows = [["x", "on", "day", "mix", "a", "b"], ["NA", True, day, "A5", "?", 0.5],
            [2, False, None, 12, 0.5, 0.5]]  # fmt: skip
    table = read_table(saved(book, path, rows), "a,b")
    np.testing.assert_array_equal(table.features["x"], [np.nan, 2])
    np.testing.assert_array_equal(table.y, [[np.nan, 0.5], [0.5, 0.5]])
    assert table.features["on"].dtype == bool
    assert table.features["day"].dtype.kind == "M"
    assert table.features["mix"].tolist() == ["A5", 12]


def test_empty_rows_and_columns_are_none(book, path, tmp_path):
    rows = [[], [None, "x", None, "a", "b"], [None, 1, None, 0.25, 0.75], [],
            [None, 2, None, 0.5], [], [None, 3, None, None, 0.25]]  # fmt: skip
    file = TableFile(saved(book, path, rows), "a,b")
    table = file.read()
    assert file.source.names == ["x", "a", "b"]
    assert [file.source.where(row) for row in range(3)] == [
        f"Row {row} of the sheet" for row in (3, 5, 7)
    ]
    with TableWriter(file, tmp_path / "out.xlsx", filled=["a", "b"], extra=["=n"]) as writer:
        for piece in file.pieces():
            number = np.array([[0.0], [np.nan], [2.0]])
            full = np.array([[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]])
            writer.write(piece, table.y, full, "fraction", number)
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").worksheets[0]
    expected = [["x", None, "a", "b", "=n"], [1, None, 0.25, 0.75, 0], [None] * 5,
                [2, None, 0.5, 0.5, None], [None] * 5, [3, None, 0.75, 0.25, 2]]  # fmt: skip
    found = sheet.iter_rows(min_row=2, min_col=2, values_only=True)
    assert [list(row) for row in found] == expected
    assert sheet["F2"].data_type == "s"


def test_formulas_are_their_values(book, path):
    rows = [["x", "a", "b"], [1, "=1/4", 0.75], [2, 0.5, '=IF(A3=2,"",1)'], ["=A3+1", 0.5, 0.5]]
    saved(book, path, rows)
    with_values(path, {"B2": 0.25, "C3": "", "A4": 3.0})
    table = read_table(path, "a,b")
    np.testing.assert_array_equal(table.y, [[0.25, 0.75], [0.5, np.nan], [0.5, 0.5]])
    assert table.features["x"].tolist() == [1, 2, 3]
    assert any("Formulas are taken at the values" in note for note in table.notes)


def test_the_first_sheet_is_named_if_there_are_more(book, path):
    book.create_sheet("Other")
    note = "The table is the first sheet, 'Survey'; --sheet names another one."
    assert note in TableFile(saved(book, path), "a,b").notes


def test_names_of_columns_may_be_any(book, path, tmp_path):
    file = TableFile(saved(book, path), None)
    with TableWriter(file, tmp_path / "out.xlsx", extra=["self", "frame"]) as writer:
        for piece in file.pieces():
            nothing = np.empty((piece.size, 0))
            writer.write(piece, nothing, nothing, "fraction", np.ones((piece.size, 2)))
    assert list(pd.read_excel(tmp_path / "out.xlsx").columns) == [*ROWS[0], "self", "frame"]


REFUSED = {
    "title": ([["Survey", "of", 2024], *ROWS], "Cell D1 is empty but its column is not; the first "
              "row must be the header, with a name for each column and no title above it (or "),
    "twice": ([["x", "x", "a", "b"], *ROWS[1:]], "The column name 'x' appears more than once in "),
    "empty": ([], "The sheet 'Survey' is empty; it needs a header and rows."),
    "no value": ([*ROWS, [5, "=B2", 0.5, 0.5]], "The formula in cell B7 has no value yet; open "),
    "text": ([*ROWS, [], [5, "DE", "much", 0.5]], "Row 8 of the sheet, column 'a': 'much' is not"),
    "sum": ([*ROWS, [], [5, "DE", 0.75, 0.5]], "Row 8 of the sheet: the known shares"),
    "no rows": (ROWS[:1], "has a header but no rows"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_bad_sheets_are_refused_in_one_sentence(book, path, case):
    rows, message = REFUSED[case]
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read_table(saved(book, path, rows), "a,b")
    assert "\n" not in str(caught.value)


def test_merged_cells_are_refused(book, path):
    saved(book, path)
    book.active.merge_cells("B4:B5")
    book.save(path)
    with pytest.raises(ValueError, match=r"The cells B4:B5 are merged; .* else split them and"):
        read_table(path, "a,b")


def test_groups_of_columns_above_the_header_are_skipped(book, path):
    """The first two names reach over both rows, the groups over columns."""
    names = [["A survey", "", "", ""], ["x", "country", "shares", None], [None, None, "a", "b"]]
    saved(book, path, [*names, *ROWS[1:], [], ["a and b are shares"]])
    for cells in ("A1:D1", "A2:A3", "B2:B3", "C2:D2"):
        book.active.merge_cells(cells)
    book.save(path)
    table = read_table(path, "a,b")
    assert list(table.features) == ["x", "country"]
    np.testing.assert_array_equal(table.y, np.array([row[2:] for row in ROWS[1:]], float))
    assert table.notes[:3] == [
        "The first 2 rows are above the header and were skipped.",
        "The last row is a note below the table and was skipped.",
        "Names of groups of columns are left out: shares.",
    ]


def test_a_note_below_the_table_may_be_in_merged_cells(book, path):
    saved(book, path, [*ROWS, [], ["Source: a survey of a few countries"]])
    book.active.merge_cells(f"A{len(ROWS) + 2}:D{len(ROWS) + 2}")
    book.active.merge_cells(f"A{len(ROWS) + 3}:B{len(ROWS) + 4}")
    book.save(path)
    assert len(read_table(path, "a,b").y) == len(ROWS) - 1


YEARS = [["country", "men", None, "women", None], [None, 2019, 2020, 2019, 2020]]


def of_two_years(book, path, above=()):
    """Return the path of a sheet in which only groups tell columns apart."""
    saved(book, path, [*above, *YEARS, ["DE", 0.25, 0.5, 0.75, None], ["AT", 0.5, 0.5, 0.5, 0.5]])
    first = len(above) + 1
    for cells in (f"A{first}:A{first + 1}", f"B{first}:C{first}", f"D{first}:E{first}"):
        book.active.merge_cells(cells)
    book.save(path)
    return path


@pytest.mark.parametrize("title", [[], [["Two years"]]])
def test_groups_tell_columns_of_the_same_name_apart(book, path, tmp_path, title):
    file = TableFile(of_two_years(book, path, title), "* 2020")
    assert file.labels == ["men 2020", "women 2020"]
    assert list(file.read().features) == ["country", "men 2019", "women 2019"]
    assert "Names of columns begin with those of their groups, such as 'men 2019'." in file.notes
    with TableWriter(file, tmp_path / "out.xlsx", filled=file.labels, extra=["new"]) as writer:
        for piece in file.pieces():
            full = np.array([[0.5, 0.5], [0.5, 0.5]])
            writer.write(piece, file.read().y, full, "fraction", np.ones((2, 1)))
    again = read_table(tmp_path / "out.xlsx", "men 2020,women 2020")
    assert list(again.features) == ["country", "men 2019", "women 2019", "new"]
    np.testing.assert_array_equal(again.y, 0.5)


def test_groups_of_groups_tell_columns_apart(book, path):
    names = [["x", "old", None, None, None], [None, "men", None, "men", None], [None, *"abab"]]
    names[0][3] = "new"
    saved(book, path, [*names, [1, 0.25, 0.75, 0.5, None], [2, 0.25, 0.75, 0.5, 0.5]])
    for cells in ("A1:A3", "B1:C1", "D1:E1", "B2:C2", "D2:E2"):
        book.active.merge_cells(cells)
    book.save(path)
    table = read_table(path, "new men *")
    assert list(table.degrees) == ["new men a", "new men b"]
    assert list(table.features) == ["x", "old men a", "old men b"]


def test_other_sheets_are_named_if_the_first_has_no_labels(book, path):
    saved(book, path, [["About"], ["what this is"]])
    book.create_sheet("Data").append(["a", "b"])
    book.save(path)
    with pytest.raises(ValueError, match=r"'Survey'; --sheet takes another one: 'Data'\.$"):
        read_table(path, "a,b")


def test_a_styled_cell_in_the_last_corner_is_nothing(book, path):
    """Reading takes the cells of the file, not the 17 billion up to that corner."""
    saved(book, path)
    book.active["XFD1048576"].font = Font(bold=True)
    book.save(path)
    assert len(read_table(path, "a,b").y) == len(ROWS) - 1


def test_a_value_in_the_last_corner_is_named(book, path):
    saved(book, path)
    book.active["XFD1048576"] = 5
    book.save(path)
    with pytest.raises(ValueError, match="Cell XFD1 is empty but its column is not"):
        read_table(path, "a,b")


def test_control_characters_are_replaced_in_a_new_sheet(tmp_path):
    """Excel cannot hold them."""
    frame = pd.DataFrame({"a\x0b": ["x\x00y", "=1+1"], "b": [1.0, np.nan]})
    write_frame(frame, tmp_path / "new.xlsx")
    found = pd.read_excel(tmp_path / "new.xlsx")
    assert found.columns.tolist() == ["a\ufffd", "b"]
    assert found["a\ufffd"].tolist() == ["x\ufffdy", "=1+1"]


def test_a_sheet_with_far_more_inside_is_refused(path, monkeypatch):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 10**7)
    monkeypatch.setattr(formats, "MOST_UNPACKED", (10**6, 100))
    with pytest.raises(
        ValueError, match=r"has more inside than .* GB, far more than its own size"
    ):
        TableFile(path, None)
