"""Signs in columns of shares: what they stand for, and what is asked about those that are open."""

import re

import numpy as np
import pandas as pd
import pytest

from inldl.tables import TableFile, complete_table, fit_table, read_table, write_table
from inldl.tables.marks import as_marks
from inldl.tables.numbers import split_flag

NAN = np.nan
LONG = "id=x,label=label,value=value"
ROWS = {
    "x": [1, 2, 3, 4],
    "w": ["-", "5", "*", "7"],
    "a": ["50", "90", "*", "  X "],
    "b": ["40", "-", "12", "20"],
    "c": ["10", "10", "85", "20"],
}
MARKS = "*=1-4,-=0,x="


def written(tmp_path, ending, rows=ROWS):
    """Write rows to a file, with numbers as numbers where cells have types."""
    frame, path = pd.DataFrame(rows), tmp_path / f"t{ending}"
    if "long" in ending:
        frame = frame.melt([n for n in "xw" if n in frame], var_name="label", value_name="value")
    if ending.endswith(".xlsx"):
        typed = frame.map(lambda cell: float(cell) if str(cell).isdecimal() else cell)
        typed.to_excel(path, index=False)
    elif ending == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep=";" if ending == ".txt" else ",")
    return path


def text_file(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return path


ENDINGS = [".csv", ".txt", ".xlsx", ".parquet", "-long.csv", "-long.xlsx"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_reads_marks(tmp_path, ending):
    long = LONG if "long" in ending else None
    table = read_table(written(tmp_path, ending), "a,b,c", long=long, mark=MARKS)
    y = np.array([[0.5, 0.4, 0.1], [0.9, 0, 0.1], [NAN, 0.12, 0.85], [NAN, 0.2, 0.2]])
    np.testing.assert_array_equal(table.y, y)
    assert table.known.lower[2, 0] == 0.01
    assert table.known.upper[2, 0] == 0.04
    assert table.known.upper[3, 0] == 1  # missing, without bounds
    assert table.notes[-3:] == [
        "1 cell, '*', is read as bounds: between 1 and 4.",
        "'X' is read as missing in 1 cell.",
        "'-' is read as 0 in 1 cell.",
    ]


@pytest.mark.parametrize("ending", [".csv", ".txt", ".xlsx"])
def test_features_keep_what_signs_mean_elsewhere(tmp_path, ending):
    table = read_table(written(tmp_path, ending), "a,b,c", mark=MARKS)
    np.testing.assert_array_equal(table.features["w"].astype(float), [NAN, 5, NAN, 7])


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_mark_that_is_a_number_stays_in_the_file_and_others_are_filled(tmp_path, ending):
    path, out = written(tmp_path, ending), tmp_path / f"out{ending}"
    long = LONG if "long" in ending else None
    table = read_table(path, "a,b,c", long=long, mark=MARKS)
    whole = np.where(np.isnan(table.y), [[0.03], [0.03], [0.03], [0.6]], table.y)
    write_table(table, whole, out)
    read = {".xlsx": pd.read_excel, ".parquet": pd.read_parquet}.get(out.suffix, pd.read_csv)
    how = {"sep": ";"} if ending == ".txt" else {}
    cells = read(out, **how).astype(str).replace(r"\.0$", "", regex=True)
    if long:
        cells = cells.pivot(index="x", columns="label", values="value")
    assert cells["a"].tolist() == ["50", "90", "3", "60"]
    assert cells["b"].tolist() == ["40", "-", "12", "20"]


def test_a_mark_is_a_text_a_list_or_a_dict(tmp_path):
    path = written(tmp_path, ".csv")
    given = [MARKS, MARKS.split(","), {"*": "1-4", "-": 0, "X": None}]
    tables = [read_table(path, "a,b,c", mark=mark) for mark in given]
    for table in tables:
        np.testing.assert_array_equal(table.known.upper, tables[0].known.upper)
        assert table.notes == tables[0].notes


def test_signs_of_several_characters_and_commas(tmp_path):
    path = text_file(tmp_path, 'a,b\n"1,2",98\n(D),99\n3,97\nNA,60\n(d),50\n')
    with pytest.raises(ValueError, match="Line 2, column 'a': '1,2' is not a number"):
        read_table(path, "a,b", decimal=".", thousands="")
    path.write_text(path.read_text().replace('"1,2"', '"c, d"'))
    mark = {"c, d": "<=2.5", "(d)": ">0.5", "na": "30 to 40"}
    table = read_table(path, "a,b", mark=mark)
    np.testing.assert_array_equal(table.known.upper[:2, 0], [0.025, 1])
    np.testing.assert_array_equal(table.known.lower[:, 0], [0, 0.005, 0.03, 0.3, 0.005])
    assert table.notes[1:] == [
        "4 cells such as 'c, d' are read as bounds: between 0 and 2.5.",
        "'(D)' is read as >0.5 in 1 cell.",
        "'NA' is read as 30 to 40 in 1 cell.",
        "'(d)' is read as >0.5 in 1 cell.",
    ]


@pytest.mark.parametrize(
    ("mark", "problem"),
    [
        ("*", "'*' in mark (--mark) has no meaning"),
        ("", "'' in mark (--mark) has no meaning"),
        ("*=1,5", "'5' in mark (--mark) has no meaning"),
        ("=0", "'' in mark (--mark) is no sign (--na takes numbers that are missing)"),
        ("-99=", "'-99' in mark (--mark) is no sign (--na takes"),
        ("1.5%=2", "'1.5%' in mark (--mark) is no sign (--na takes"),
        ("x=1,X=2", "'X' in mark (--mark) is named twice"),
        ("*=few", "'*' in mark (--mark) stands for 'few', which is no number from 0 on and no b"),
        ("*=4-1", "'*' in mark (--mark) stands for '4-1', which is no number from 0 on and no"),
        ("*=-1", "'*' in mark (--mark) stands for '-1', which is no number from 0 on and no b"),
        ("*=<5%", "'*' in mark (--mark) stands for '<5%', which is no number from 0 on and no"),
        ({"*": "0,5"}, "'*' in mark (--mark) stands for '0,5', which is no number from 0 on"),
        ({"*": float("inf")}, "'*' in mark (--mark) stands for inf, which is no number from 0"),
        ({7: "1-4"}, "'7' in mark (--mark) is no sign (--na takes"),
    ],
)
def test_bad_marks_are_refused_in_one_sentence(tmp_path, mark, problem):
    with pytest.raises(ValueError, match=re.escape(problem)) as error:
        TableFile(written(tmp_path, ".csv"), "a,b,c", mark=mark)
    assert str(error.value).startswith(problem)
    assert str(error.value).endswith(
        '; write "*=1-4", "*=<5", "*=2.5", or "*=" for missing (with commas, a dict in Python).'
    )


def test_what_marks_stand_for():
    assert as_marks(None) == as_marks({}) == {}
    found = as_marks(" * = 1 to 4 , (D)=2.50, n/a=NA")
    assert list(found) == ["*", "(d)", "n/a"]
    assert found["*"] == ("1 to 4", None, (1, 4, False))
    assert found["(d)"] == ("2.50", 2.5, "")
    assert found["n/a"].text == "missing"


def test_a_sign_that_is_nowhere_is_noted(tmp_path):
    path = text_file(tmp_path, "w,a,b\n*,.5,.5\nz,-,1\nz,.25,.75\n")
    assert read_table(path, "a,b", mark="z=,*=1-4,-=0").notes[1:] == [
        "No column of shares holds '*', which --mark names.",
        "No column of shares holds 'z', which --mark names.",
        "'-' is read as 0 in 1 cell.",
    ]


# --- units --------------------------------------------------------------------------------------


def test_bounds_are_in_the_units_of_the_file(tmp_path):
    text = "x;a;b\n1;40,5%;59,5%\n2;*;98,5%\n3;-;100%\n4;25%;75%\n"
    table = read_table(text_file(tmp_path, text), "a,b", mark={"*": "<2.5", "-": 0})
    np.testing.assert_allclose(table.y, [[0.405, 0.595], [NAN, 0.985], [0, 1], [0.25, 0.75]])
    np.testing.assert_allclose(table.known.upper[1, 0], 0.025)
    out = tmp_path / "out.csv"
    write_table(table, np.where(np.isnan(table.y), 0.015, table.y), out)
    assert out.read_text() == text.replace("2;*", "2;1,5%")


def test_totals_and_sums_have_numbers_but_no_bounds(tmp_path):
    text = "x,a,b,c,ab,n\n1,5,6,7,11,18\n2,*,9,30,+,41\n3,6,8,9,*,23\n4,-,7,9,7,*\n5,5,9,*,14,15\n"
    path, how = text_file(tmp_path, text), {"total": "n", "sums": "ab=a,b"}
    table = read_table(path, "a,b,c", mark="*=1-4,-=0,+=11", **how, features="x,n")
    assert table.notes[-3:] == [
        "'-' is read as 0 in 1 cell.",
        "'*' is read as missing (totals and sums have no bounds) in 2 cells.",
        "'+' is read as 11 in 1 cell.",
    ]
    np.testing.assert_array_equal(table.features["n"], [18, 41, 23, NAN, 15])
    np.testing.assert_allclose(table.known.sums[:, 0], [NAN, 11 / 41, NAN, NAN, NAN])
    with pytest.raises(ValueError, match=r"Line 5: the total .* is missing, and so is a count"):
        read_table(path, "a,b,c", mark="*=1-4,+=11", **how)


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_a_total_with_signs_is_a_column_of_numbers_where_it_is_a_feature(tmp_path, ending):
    rows = {
        "x": ["1", "2", "3"],
        "a": ["4", "5", "6"],
        "b": ["6", "7", "8"],
        "n": ["10", "-", "14"],
    }
    how = {"total": "n", "features": "x,n"}
    table = read_table(written(tmp_path, ending, rows), "a,b", **how)
    np.testing.assert_array_equal(table.features["n"], [10, NAN, 14])


def test_long_tables_have_thousands_and_marks(tmp_path):
    text = 'x,label,value\n1,a,"1,234"\n1,b,"2,345,000"\n2,a,*\n2,b,"1,234"\n3,a,7\n3,b,-\n'
    file = TableFile(text_file(tmp_path, text), "a,b", long=LONG, mark=MARKS)
    [piece] = file.pieces()
    np.testing.assert_array_equal(piece.values, [[1234, 2345000], [NAN, 1234], [7, 0]])
    assert piece.bounds.limits[:, 1, 0].tolist() == [1, 4, 0]


# --- what is asked ------------------------------------------------------------------------------


def suppressed(tmp_path, limit=4, sign="*", mean=15.0, zeros="0", seed=0):
    """Write counts with their totals, of which those from 1 to a limit are not printed."""
    rng = np.random.default_rng(seed)
    truth = pd.DataFrame(rng.exponential(mean, (200, 3)).astype(int), columns=["a", "b", "c"])
    truth["a"] += limit + 1
    cells = truth.astype(str).mask(truth == 0, zeros).mask((truth > 0) & (truth <= limit), sign)
    path = tmp_path / "counts.csv"
    cells.assign(n=truth.sum(axis=1)).to_csv(path, index=False)
    return path, int((cells == sign).sum().sum())


def asked(path, **how):
    table = read_table(path, "a,b,c", total="n", **how)
    return [note for note in table.notes if "--mark" in note]


@pytest.mark.parametrize(("limit", "sign"), [(4, "*"), (2, ".."), (9, "(s)"), (4, "-")])
def test_counts_that_are_not_printed_are_asked_about(tmp_path, limit, sign):
    path, number = suppressed(tmp_path, limit, sign)
    assert asked(path)[-1] == (
        f"{sign!r} is read as missing in {number} cells, but no known count lies between 1 and "
        f'{limit}: if it stands for 1-{limit}, say --mark "{sign}=1-{limit}" '
        f"(mark={{{sign!r}: '1-{limit}'}} in Python)."
    )
    assert len(asked(path)) == 1 + (sign == "-")
    assert asked(path, mark={sign: f"1-{limit}"}) == []
    assert asked(path, na=[sign]) == []


def test_the_advice_is_followed_by_bounds(tmp_path):
    path, number = suppressed(tmp_path)
    table = read_table(path, "a,b,c", total="n", mark="*=1-4")
    assert table.notes[-1] == f"{number} cells such as '*' are read as bounds: between 1 and 4."
    assert table.known.bounded.sum() == number


def test_dashes_are_never_filled_in_silently(tmp_path):
    path, _ = suppressed(tmp_path, zeros="-")
    dashes = (pd.read_csv(path) == "-").sum().sum()
    first, second = asked(path)
    assert first == (
        f"'-' is read as missing in {dashes} cells: if it stands for 0, say "
        "--mark \"-=0\" (mark={'-': '0'} in Python)."
    )
    assert second.startswith("'*' is read as missing in ")
    assert asked(path, mark={"-": "0", "*": "1-4"}) == []
    assert asked(path, mark={"-": "", "*": ""}) == []
    path = text_file(tmp_path, "a,b\n.5,.5\n–,.5\n—,1\n.5,--\n")
    notes = read_table(path, "a,b").notes[1:]
    assert [note.partition(" in ")[0] for note in notes] == [
        f"{dash!r} is read as missing" for dash in ("–", "—", "--")
    ]


def test_no_one_asks_without_need(tmp_path):
    path, _ = suppressed(tmp_path, limit=0)  # small counts are printed
    text = path.read_text()
    lines = text.splitlines()
    lines[5] = ",".join(["*", *lines[5].split(",")[1:]])
    path.write_text("\n".join(lines))
    assert asked(path) == []
    rng = np.random.default_rng(0)
    large = pd.DataFrame(rng.poisson(60, (400, 3)), columns=["a", "b", "c"])  # none is small
    cells = large.astype(str).mask(rng.random(large.shape) < 0.1, "*")
    cells.assign(n=large.sum(axis=1)).to_csv(path, index=False)
    assert asked(path) == []
    few = pd.DataFrame({"a": ["5", "*", "9"], "b": ["7", "8", "*"], "c": ["6", "30", "40"]})
    few.assign(n=[18, 40, 52]).to_csv(path, index=False)
    assert asked(path) == []


def test_shares_are_no_counts(tmp_path):
    rng = np.random.default_rng(0)
    y = (100 * rng.dirichlet([1, 1, 1], 200)).round()
    y[:, 0] = 100 - y[:, 1:].sum(axis=1)
    frame = pd.DataFrame(y.astype(int), columns=["a", "b", "c"])
    frame.astype(str).mask(frame < 5, "*").to_csv(tmp_path / "t.csv", index=False)
    assert not any("--mark" in note for note in read_table(tmp_path / "t.csv", "a,b,c").notes)


def test_a_missing_count_without_a_total_may_be_a_dash(tmp_path):
    path = text_file(tmp_path, "a,b\n500,300\n-,20\n70,600\n")
    with pytest.raises(
        ValueError, match=r"has no total .* if it stands for 0, say --mark \"-=0\""
    ):
        read_table(path, "a,b")
    np.testing.assert_array_equal(read_table(path, "a,b", mark="-=0").y[1], [0, 1])


def test_cells_are_counted_once_in_all_pieces(tmp_path):
    path, number = suppressed(tmp_path)
    file = TableFile(path, "a,b,c", total="n")
    file.source.block_size = 256
    assert len(list(file.pieces())) > 3
    for _ in range(2):
        table = file.read(most_rows=50)
        [note] = [note for note in table.notes if "--mark" in note]
        assert note.startswith(f"'*' is read as missing in {number} cells, but")
    assert file.notes.count(note) == 1


@pytest.mark.parametrize(
    ("cell", "number", "flag"),
    [
        ("2.5 e", "2.5", "e"), ("2.5e", "2.5", "e"), ("12.3*", "12.3", "*"),
        ("(1.3)", "1.3", "()"), ("4.5¹", "4.5", "¹"), ("4.5 1)", "4.5", "1)"),
        ("4.5 (1)", "4.5", "(1)"), (": c", ":", "c"), ("1 234 p", "1 234", "p"),
        ("12 [r]", "12", "[r]"), ("[c]", "", "[c]"), ("12%*", "12%", "*"), ("5 k", "5 k", ""),
        ("3e5", "3e5", ""), ("(x)", "(x)", ""), ("<5", "<5", ""), ("4.51)", "4.51)", ""),
        ("Mai e", "Mai e", ""), ("7 m", "7 m", ""), ("1-9", "1-9", ""),
    ],
)  # fmt: skip
def test_flags_are_told_from_numbers(cell, number, flag):
    assert split_flag(cell) == (number, flag)


FLAGGED = """place;yes;no;open
A;50,5 e;39,5;10,0
B;: c;30,0;20,0*
C;(60,0);20,0 e;:c
D;55,0;45,0;: z
E;40,0;40,0;20,0¹
"""


def test_flags_are_read_around_numbers_and_stay_in_the_file(tmp_path):
    path, out = tmp_path / "survey.csv", tmp_path / "out.csv"
    path.write_text(FLAGGED, encoding="utf-8")
    table = read_table(path, "yes,no,open")
    expected = [[50.5, 39.5, 10], [np.nan, 30, 20], [60, 20, np.nan], [55, 45, 0], [40, 40, 20]]
    np.testing.assert_allclose(table.y * 100, expected)
    assert table.notes[1:2] == ["The decimal sign is a comma."]
    assert table.notes[3:] == [
        "Flags are left aside, and stay in the file: 'e' (estimated) in 2 cells, '()' in 1 cell, "
        "'*' in 1 cell, '¹' in 1 cell.",
        "Cells with a flag in place of a number are read as missing: 'c' (confidential) in 2 "
        "cells.",
        "Cells with a flag in place of a number are read as 0: 'z' (does not apply) in 1 cell "
        '(else say --mark "z=").',
    ]
    file = TableFile(path, "yes,no,open")
    model = fit_table(file, scale="percent").model
    complete_table(file, model, out, scale="percent")
    assert out.read_text(encoding="utf-8") == FLAGGED.replace(": c", "50").replace(":c", "20")


def test_flags_can_have_meanings(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text(FLAGGED, encoding="utf-8")
    table = read_table(path, "yes,no,open", mark="e=,c=40-60,z=0")
    assert np.isnan(table.y).sum() == 4
    assert table.known.lower[1, 0] == pytest.approx(0.4)
    assert "'e' is read as missing in 2 cells." in table.notes
    with pytest.raises(ValueError, match="50,5 k' is not a number"):
        read_table(_written(tmp_path, FLAGGED.replace("50,5 e", "50,5 k")), "yes,no,open")


def test_flags_in_a_sheet(tmp_path):
    path = tmp_path / "survey.xlsx"
    frame = pd.DataFrame(
        {"yes": [50.5, ": c", 60, 55], "no": [39.5, "30 e", 20, 45], "open": [10, 20, "20 u", 0]}
    )
    frame.to_excel(path, index=False)
    table = read_table(path, "yes,no,open")
    assert np.isnan(table.y).sum() == 1
    assert "'u' (unreliable) in 1 cell." in table.notes[1]


def _written(folder, text):
    path = folder / "other.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("cell", ["30¹⁾", "30⁽¹⁾", "[30]", "30 [note 1]", "30[1]"])
def test_more_footnotes_of_offices(tmp_path, cell):
    path = tmp_path / "t.csv"
    path.write_text(f"x,a,b\n1,{cell},70\n2,40,60\n3,20,80\n")
    table = read_table(path, "a,b")
    assert table.y[0].tolist() == [0.3, 0.7]
    assert any(note.startswith("Flags are left aside") for note in table.notes)


def test_a_sign_that_is_named_is_a_flag_in_any_form(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,a,b\n1,30 k,70\n2,40 (e),60\n3,20,80\n4,50k,50\n")
    with pytest.raises(ValueError, match="'30 k' is not a number"):
        read_table(path, "a,b")
    table = read_table(path, "a,b", mark="k=,e=")
    assert np.isnan(table.y).any(axis=1).tolist() == [True, True, False, True]
    assert "'k' is read as missing in 2 cells." in table.notes
    bounds = read_table(path, "a,b", mark="k=10-60")
    assert np.isnan(bounds.y).sum() == 2
