"""Tables as people have them: marks for missing cells, titles, notes, sheets, compressed files."""

import bz2
import gzip
import lzma
import zipfile

import numpy as np
import pandas as pd
import pytest

from inldl.tables import TableFile, read_table, write_table

PLAIN = "x,a,b\n1,0.25,0.75\n2,,0.5\n3,0.125,\n4,0.5,0.5\n"
NAN = np.nan


def written(folder, content, name="t.csv"):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(folder, text, labels="a,b", **options):
    return read_table(written(folder, text), labels, **options)


def half_filled(table):
    """Return degrees that divide what the observed ones leave evenly over the holes."""
    holes = np.isnan(table.y)
    left = 1 - np.nansum(table.y, axis=1, keepdims=True)
    return np.where(holes, left / np.maximum(1, holes.sum(axis=1, keepdims=True)), table.y)


# --- what means missing -------------------------------------------------------------------------


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u202f", "\u2009"])
def test_any_space_may_stand_before_a_percent_sign_and_around_a_cell(tmp_path, space):
    text = f"x;a;b\n1;46,1{space}%;{space}53,9{space}%{space}\n2;{space};10,5{space}%\n"
    table = read(tmp_path, text)
    np.testing.assert_allclose(table.y, [[0.461, 0.539], [NAN, 0.105]])
    out = tmp_path / "out.csv"
    write_table(table, half_filled(table), out)
    assert out.read_bytes().decode() == text.replace(f"2;{space};", "2;89,5%;")


@pytest.mark.parametrize(
    "mark",
    ["*", "**", ".", "..", "...", "–", "—", ":", "(s)", "(X)", "NA", "n.a.", "#DIV/0!", "--"],
)
def test_usual_marks_mean_missing_and_are_replaced(tmp_path, mark):
    text = PLAIN.replace("2,,", f"2,{mark},")
    table = read(tmp_path, text)
    np.testing.assert_array_equal(table.y, [[0.25, 0.75], [NAN, 0.5], [0.125, NAN], [0.5, 0.5]])
    write_table(table, half_filled(table), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == PLAIN.replace(",,", ",0.5,").replace(
        "0.125,\n", "0.125,0.875\n"
    )


def test_marks_mean_missing_in_columns_of_numbers_and_are_words_in_text(tmp_path):
    table = read(tmp_path, "x,w,a,b\n*,*,.5,.5\n2,b,.5,.5\n", "a,b")
    np.testing.assert_array_equal(table.features["x"], [NAN, 2])
    assert table.features["w"].tolist() == ["*", "b"]


@pytest.mark.parametrize("na", ["s,Suppressed,-99", ["S", "suppressed", -99]])
def test_marks_of_ones_own_and_numbers_mean_missing_in_every_column(tmp_path, na):
    text = "x,w,a,b\n-99,s,0.25,0.75\n2,u,s,0.5\n3,SUPPRESSED,-99.0,suppressed\n4,u,-99,0.5\n"
    with pytest.raises(ValueError, match="say with --na that it means missing"):
        read(tmp_path, text)
    table = read(tmp_path, text, na=na)
    np.testing.assert_array_equal(table.y, [[0.25, 0.75], [NAN, 0.5], [NAN, NAN], [NAN, 0.5]])
    np.testing.assert_array_equal(table.features["x"], [NAN, 2, 3, 4])
    assert table.features["w"].isna().tolist() == [True, False, True, False]


def test_a_number_that_means_missing_needs_no_percent_sign(tmp_path):
    table = read(tmp_path, "x,a,b\n1,25%,75%\n2,-99,50%\n", na="-99")
    np.testing.assert_array_equal(table.y, [[0.25, 0.75], [NAN, 0.5]])


@pytest.mark.parametrize("suffix", [".xlsx", ".parquet"])
def test_frames_know_the_same_marks(tmp_path, suffix):
    cells = {
        "x": [-99, 2, 3],
        "w": ["u", "s", "v"],
        "a": ["0.25", "–", "s"],
        "b": [0.75, -99, 0.5],
    }
    path, frame = tmp_path / f"t{suffix}", pd.DataFrame(cells)
    frame.to_excel(path, index=False) if suffix == ".xlsx" else frame.to_parquet(path)
    table = read_table(path, "a,b", na="s,-99")
    np.testing.assert_array_equal(table.y, [[0.25, 0.75], [NAN, NAN], [NAN, 0.5]])
    np.testing.assert_array_equal(table.features["x"], [NAN, 2, 3])
    assert table.features["w"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("suffix", [".xlsx", ".parquet"])
def test_percent_signs_in_text_cells_of_frames(tmp_path, suffix):
    cells = {"x": [1, 2], "a": ["46,1\u00a0%", ".."], "b": ["53,9 %", "10,5%"]}
    path, out = tmp_path / f"t{suffix}", tmp_path / f"out{suffix}"
    frame = pd.DataFrame(cells)
    frame.to_excel(path, index=False) if suffix == ".xlsx" else frame.to_parquet(path)
    table = read_table(path, "a,b")
    np.testing.assert_allclose(table.y, [[0.461, 0.539], [NAN, 0.105]])
    assert table.scale == "percent"
    write_table(table, half_filled(table), out)
    np.testing.assert_allclose(read_table(out, "a,b").y, [[0.461, 0.539], [0.895, 0.105]])


# --- what stands around a table -----------------------------------------------------------------

TITLES = {
    "a line": "Votes by county\n",
    "a line with commas": "Votes by county, 2020\n\n",
    "two lines, as a spreadsheet saves them": "Votes by county,,,\n,,,\n(thousands),,,\n",
}
NOTES = {
    "a source": "Source: the census, 2020\n",
    "as a spreadsheet saves it": '\n"Note: shares are rounded, see below",,,\n',
    "two": "\n* provisional\nThese are the final numbers\n",
}
TABLE = "x,a,b,n\n1,0.25,0.75,6\n2,,0.5,7\n3,0.125,,8\n"


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("note", NOTES)
def test_titles_and_notes_are_found_told_and_kept(tmp_path, title, note):
    title, note = TITLES[title], NOTES[note]
    table, plain = read(tmp_path, title + TABLE + note), read(tmp_path, TABLE)
    np.testing.assert_array_equal(table.y, plain.y)
    pd.testing.assert_frame_equal(table.features, plain.features)
    assert "above the header and" in table.notes[0]
    assert "below the table and w" in table.notes[1]
    # The file is the last one that was written: read it again.
    table = read(tmp_path, title + TABLE + note)
    write_table(table, half_filled(table), tmp_path / "out.csv")
    filled = TABLE.replace("2,,", "2,0.5,").replace("0.125,,", "0.125,0.875,")
    assert (tmp_path / "out.csv").read_text() == title + filled + note


def test_lines_are_counted_from_the_top_of_the_file(tmp_path):
    with pytest.raises(ValueError, match=r"^Line 5, column 'a': 'much' is not"):
        read(tmp_path, "A title\n\n" + TABLE.replace("2,,", "2,much,"))


def test_semicolons_are_found_below_a_title_with_commas(tmp_path):
    text = "Votes, seats, and more\nx;a;b\n1;0,25;0,75\n2;;0,5\n3;0,5;0,5\n"
    table = read(tmp_path, text)
    np.testing.assert_array_equal(table.y[:2], [[0.25, 0.75], [NAN, 0.5]])


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n0.25,0.75,\n0.5,0.5,\n",  # a delimiter ends each row
        "a,b\nr1,0.25,0.75\nr1,0.5,0.5\n",  # names of rows would differ
        "x,y\nu,v,w,x\np,q,q,r\n",  # a header that is too short is no title
        "x,a,b\n1,0.25,0.75\n2,0.5\n",  # the end of the file is lost
        "x,a,b\n1,0.25,0.75\nunknown\n",
    ],
)
def test_what_is_not_clear_is_refused_and_told_how_to_settle_it(tmp_path, text):
    with pytest.raises(ValueError, match=r"cells but the header has .*--skip-rows, --skip"):
        read(tmp_path, text)


def test_a_row_of_which_little_is_known_is_no_note(tmp_path):
    text = TABLE + "The town of nowhere,,,\n"
    assert len(read(tmp_path, text).y) == 4
    quoted = TABLE + '9,0.5,0.5,"a\nNote: more\nb"\n'
    assert len(read(tmp_path, quoted).y) == 4


@pytest.mark.parametrize("delimiter", [" ", "\t", ",", ";"])
@pytest.mark.parametrize("quote", ['"', ""])
def test_what_write_table_of_r_writes(tmp_path, delimiter, quote):
    rows = [
        ["age", "yes", "no", "town"],
        ["1", "31", "0.25", "0.75", "A,B"],
        ["2", "58", "0.5", "NA", "C"],
    ]
    if quote:
        rows[0] = [f'"{name}"' for name in rows[0]]
        for row in rows[1:]:
            row[0], row[-1] = f'"{row[0]}"', f'"{row[-1]} (old)"'
    elif delimiter == ",":
        rows[1][-1] = "A"
    text = "".join(f"{delimiter.join(row)}\n" for row in rows)
    path, out = tmp_path / "t.txt", tmp_path / "out.txt"
    path.write_text(text)
    table = read_table(path, "yes,no", decimal=".")
    assert table.file.source.names == ["row names", "age", "yes", "no", "town"]
    np.testing.assert_array_equal(table.y, [[0.25, 0.75], [0.5, NAN]])
    note = (
        "The header has one name less than the rows have cells, as R writes it; the first column"
    )
    assert any(each.startswith(note) for each in table.notes)
    write_table(table, np.where(np.isnan(table.y), 0.5, table.y), out)
    assert out.read_text() == text.replace("NA", "0.5")


@pytest.mark.parametrize(
    "notes",
    [
        "Quelle: Statistisches Bundesamt (Destatis)",
        "__________\n© Destatis, 2024 | Wiesbaden\nStand: 12.03.2024 / 10:33",
        "Fuente: INE",
        "Źródło: GUS\nWarszawa",
        "*) vorläufig\nQuelle: X\nStand 2024",
        '"Source: Bureau of Economic Analysis"\n"=LINK(""http://x"")";"http://x"\n"October 2009"',
    ],
)
def test_a_source_ends_a_table(tmp_path, notes):
    text = f"ort;ja;nein;unklar;n\nA;25,5;74,5;0;12\nB;30;;10;7\nC;20,1;79,9;0;8\n{notes}\n"
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    table = read_table(path, "ja,nein,unklar")
    assert table.features["ort"].tolist() == ["A", "B", "C"]
    number = 1 + notes.count("\n")
    what = "line is a note" if number == 1 else f"{number} lines are notes"
    assert f"The last {what} below the table" in str(table.notes)


@pytest.mark.parametrize("tail", ["\n\n\n", ",,,\n,,,\n", "\n,,,\n\n"])
def test_empty_lines_at_the_end_are_no_rows_and_no_notes(tmp_path, tail):
    table = read(tmp_path, TABLE + tail)
    assert len(table.y) == 3
    assert not any("note" in note for note in table.notes)


def test_blanks_behind_a_quotation_mark_are_no_part_of_a_cell(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_text('"x" ,"a","b" \n"u",0.25 ,0.75 \n"v, w" ,, 0.5\n')
    table = read_table(path, "a,b")
    assert table.features["x"].str.strip().tolist() == ["u", "v, w"]
    write_table(table, np.where(np.isnan(table.y), 0.5, table.y), out)
    assert out.read_text() == path.read_text().replace(",, 0.5", ",0.5, 0.5")


def test_aligned_columns_are_named(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text(" id    yes    no\n  1   0.25  0.75\n 22    0.5   0.5\n")
    with pytest.raises(ValueError, match="Several spaces stand between cells; save the table as"):
        read_table(path, "yes,no")


def test_rows_to_skip_are_given(tmp_path):
    text = "one\ntwo,2\n\n" + TABLE + "end\n\nthe end\n\n"
    table = read(tmp_path, text, skip_rows=3, skip_last=2)
    assert table.features["x"].tolist() == [1, 2, 3]
    assert len(table.notes) == 1  # nothing was detected
    with pytest.raises(ValueError, match=r"skip_rows=20 .* leaves no header"):
        read(tmp_path, text, skip_rows=20)
    with pytest.raises(ValueError, match="skip_last must be an integer at least 0"):
        read(tmp_path, text, skip_last=-1)
    with pytest.raises(ValueError, match="skip what is above the header with --skip-rows"):
        read(tmp_path, "Votes,,\nx,a,b\n1,.5,.5\n", skip_rows=0)


# --- sheets -------------------------------------------------------------------------------------


@pytest.fixture
def book(tmp_path):
    """Write a file with a cover, and a table with a title and a note on its second sheet."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["This is the cover"])
    sheet = book.create_sheet("Shares")
    rows = [["Votes of 2020"], [], ["x", "a", "b"], [1, 0.25, 0.75], [2, None, 0.5], [],
            ["Source: the census"]]  # fmt: skip
    for row in rows:
        sheet.append(row)
    sheet.merge_cells("A1:C1")
    book.save(tmp_path / "t.xlsx")
    return tmp_path / "t.xlsx"


@pytest.mark.parametrize("sheet", ["Shares", 2, "2"])
def test_another_sheet_is_read_and_filled(book, tmp_path, sheet):
    table = read_table(book, "a,b", sheet=sheet)
    np.testing.assert_array_equal(table.y, [[0.25, 0.75], [NAN, 0.5]])
    assert table.notes[:2] == [
        "The first row is above the header and was skipped.",
        "The last row is a note below the table and was skipped.",
    ]
    assert table.file.source.where(1) == "Row 5 of the sheet"
    write_table(table, half_filled(table), tmp_path / "out.xlsx")
    rows = pd.read_excel(tmp_path / "out.xlsx", sheet_name="Shares", header=None)
    assert rows.iloc[4].tolist() == [2, 0.5, 0.5]
    assert rows.iloc[6, 0] == "Source: the census"


def test_rows_of_a_sheet_to_skip_are_given(book):
    table = read_table(book, "a,b", sheet=2, skip_rows=2, skip_last=1)
    assert table.features["x"].tolist() == [1, 2]
    assert len(table.notes) == 1


def test_a_sheet_that_is_not_there_is_refused(book, tmp_path):
    with pytest.raises(ValueError, match="no sheet 'Votes'; the sheets are 'Sheet', 'Shares'"):
        read_table(book, "a,b", sheet="Votes")
    with pytest.raises(ValueError, match=r"t\.csv has no sheets"):
        read(tmp_path, PLAIN, sheet="Shares")


# --- compressed files ---------------------------------------------------------------------------


def zipped(content):
    from io import BytesIO

    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("any.csv", content)
    return out.getvalue()


PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zip": zipped}


@pytest.mark.parametrize("suffix", PACKED)
def test_compressed_files_are_read_and_written(tmp_path, suffix):
    path = written(tmp_path, PACKED[suffix](PLAIN.encode()), f"t.csv{suffix}")
    table, out = read_table(path, "a,b"), tmp_path / f"out.csv{suffix}"
    assert table.file.path == path
    write_table(table, half_filled(table), out)
    write_table(table, half_filled(table), tmp_path / "out.csv")
    text = (tmp_path / "out.csv").read_text()
    assert text == PLAIN.replace("2,,", "2,0.5,").replace("0.125,\n", "0.125,0.875\n")
    pd.testing.assert_frame_equal(pd.read_csv(out), pd.read_csv(tmp_path / "out.csv"))
    first = out.read_bytes()
    write_table(table, half_filled(table), out, overwrite=True)
    assert out.read_bytes() == first


@pytest.mark.parametrize("suffix", PACKED)
def test_damaged_files_are_refused(tmp_path, suffix):
    whole = PACKED[suffix](PLAIN.encode())
    for content in (whole[: len(whole) // 2], PLAIN.encode()):
        with pytest.raises(ValueError, match=f"cannot be unpacked as {suffix}"):
            TableFile(written(tmp_path, content, f"t.csv{suffix}"), "a,b")


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_compressed_standard_input(tmp_path, monkeypatch, suffix):
    path = written(tmp_path, PACKED[suffix](PLAIN.encode()), "any")
    with path.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert len(read_table("-", "a,b").y) == 4


def test_an_archive_holds_one_table(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w") as archive:
        archive.writestr("a.csv", PLAIN)
        archive.writestr("b.csv", PLAIN)
    with pytest.raises(ValueError, match="holds 2 files; put the table alone into it"):
        TableFile(tmp_path / "t.csv.zip", "a,b")


def test_a_compressed_file_that_changes_is_noticed(tmp_path):
    path = written(tmp_path, gzip.compress(PLAIN.encode()), "t.csv.gz")
    table = read_table(path, "a,b")
    path.write_bytes(gzip.compress(PLAIN.replace("4,", "5,").encode() * 2))
    with pytest.raises(OSError, match="was changed while it was read"):
        write_table(table, half_filled(table), tmp_path / "out.csv")


# --- what is refused says what to do ---------------------------------------------------------


def test_empty_columns_need_no_names(tmp_path):
    """As spreadsheets leave them between and behind the others."""
    text = "x,,a,b,,\n1,,0.25,0.75,,\n2,,0.25,,,\n3,,0.25,0.75,,\n"
    table = read(tmp_path, text)
    np.testing.assert_array_equal(table.y, [[0.25, 0.75], [0.25, NAN], [0.25, 0.75]])
    assert list(table.features) == ["x", "column 2", "column 5", "column 6"]
    with pytest.raises(ValueError, match=r"The column name '' appears more than once"):
        read(tmp_path, "x,,a,b,\n1,2,0.25,0.75,3\n2,3,0.25,,3\n")


def test_a_number_below_zero_in_many_cells_may_mean_missing(tmp_path):
    text = "x,a,b\n" + "".join(f"{x},-99,{x / 10}\n" for x in range(1, 5))
    words = r"the share -99 is below 0; it is in 4 cells, so if it means missing, say --na -99"
    with pytest.raises(ValueError, match=words):
        read(tmp_path, text)
    with pytest.raises(ValueError, match=r"is below 0; correct it, or leave the cell empty"):
        read(tmp_path, text.replace("-99", "-1", 1))


def test_names_of_labels_with_commas_and_semicolons(tmp_path):
    text = 'x,"little, really",b\n1,0.25,0.75\n2,,0.5\n'
    with pytest.raises(ValueError, match=r"\(write 'little, really' as 'little\? really'\)"):
        read(tmp_path, text, "little, really,b")
    assert read(tmp_path, text, "little? really,b").labels == ["little, really", "b"]
    with pytest.raises(ValueError, match=r"for 'little;b' \(put commas between names\)"):
        read(tmp_path, text, "little;b")


def test_half_of_the_complete_rows_is_not_most(tmp_path):
    with pytest.raises(ValueError, match=r"sum to 72\.5, not 100"):
        read(tmp_path, "x,a,b\n1,40,60\n2,32.5,40\n3,,\n")
    notes = TableFile(tmp_path / "t.csv", "a,b").read(check=False).notes
    assert "read as percentages: half of the complete rows sum to about 100." in str(notes)


@pytest.mark.parametrize("note", ["nd = no data", "provisional"])
def test_what_stands_alone_below_an_empty_line_is_a_note(tmp_path, note):
    table = read(tmp_path, f"{PLAIN}\n{note}\n")
    assert len(table.y) == 4
    assert "The last line is a note below the table and was skipped." in table.notes


@pytest.mark.parametrize(
    "note",
    [
        "Stand: 12.03.2021;;;;",
        "Last updated: 2021-03-01;;;;",
        "Légende : c = confidentiel",
        ": = not available;;;;",
        "Datenlizenz by-2-0;;;;",
        "Abgerufen am 3.4.2022;;;;",
        "Source : Insee; recensement 2019;\nChamp : France;;;;\nLecture : en 2019; 12,3 %; ...",
    ],
)
def test_notes_of_offices_are_no_rows(tmp_path, note):
    rows = "".join(f"P{i};{i};{20 + i},5;{30 + i};\n" for i in range(6))
    table = read(tmp_path, f"ort;x;yes;no;perhaps\n{rows}{note}\n", labels="yes,no,perhaps")
    assert len(table.y) == 6
    assert "below the table and w" in str(table.notes)


def test_a_text_alone_in_the_last_row_is_told(tmp_path):
    text = "ort,x,a,b\nA,1,0.25,0.75\nB,2,0.5,0.5\nTeil B,,,\n"
    table = read(tmp_path, text)
    assert len(table.y) == 3
    assert table.notes[0] == (
        "Line 4 has nothing but 'Teil B', and is read as a row; if it is a note, say --skip-last "
        "1."
    )
    table = read(tmp_path, text.replace("Teil B,,,", "Teil B,3,,"))
    assert "nothing but" not in str(table.notes)


def test_flags_in_a_feature_leave_it_a_number(tmp_path):
    rows = "".join(f"{40 + i}{' e' * (i % 3 == 0)},0.5,0.5\n" for i in range(9))
    table = read(tmp_path, f"age,a,b\n{rows}: c,0.5,0.5\n")
    assert table.features["age"].tolist()[:9] == [*range(40, 49)]
    assert np.isnan(table.features["age"][9])
    assert "Flags are left aside, and stay in the file: 'e' (estimated) in 3 cells." in table.notes
    assert "missing: 'c' (confidential) in 1 cell." in str(table.notes)


def test_classes_are_no_numbers_with_flags(tmp_path):
    rows = "".join(f"{5 + i // 3}{'bce'[i % 3]},0.5,0.5\n" for i in range(9))
    table = read(tmp_path, f"class,a,b\n{rows}7,0.5,0.5\n")
    assert table.features["class"].tolist()[0] == "5b"


@pytest.mark.parametrize(("code", "told"), [(999, True), (-9, True), (60, False), (51, False)])
def test_numbers_of_features_that_are_far_from_all_others_are_told(tmp_path, code, told):
    rows = "".join(f"{code if i % 3 == 0 else 20 + i},0.5,0.5\n" for i in range(30))
    table = read(tmp_path, f"age,a,b\n{rows}")
    note = f"{code} is in 10 cells of 'age', far from all other numbers of the column; if it means"
    assert (note in str(table.notes)) == told
