"""Tables with a row per thing and label: read as if they were wide, and written as they were."""

import gzip
from inspect import signature

import numpy as np
import pandas as pd
import pytest

from inldl.tables import TableFile, read_table, write_table
from inldl.tables.formats.base import TableFormat
from inldl.tables.writing import TableWriter

LONG = "id=county,label=party,value=share"
TEXT = """county,people,party,share,head
A,10,red,50,x
B,7,red,,x
A,10,green,30,y
B,7,green,40,y
C,5,green,30,q
C,5,red,60,x
A,10,blue,20,z
B,7,blue,*,
D,3,blue,80,
D,3,red,10,
D,3,green,10,
"""
Y = [[0.5, 0.3, 0.2], [np.nan, 0.4, np.nan], [0.6, 0.3, np.nan], [0.1, 0.1, 0.8]]
COMPLETED = [[0.5, 0.3, 0.2], [0.25, 0.4, 0.35], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8]]
FILLED = TEXT.replace("B,7,red,,", "B,7,red,25,").replace("B,7,blue,*,", "B,7,blue,35,")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    return path


def read(path, text, **options):
    path.write_text(text)
    return read_table(path, None, **{"long": LONG, **options})


def test_it_has_the_interface_of_a_format(path):
    source = TableFile(path, None, long=LONG).source
    for name in ("find_signs", "where", "most_rows", "pieces", "check_name", "writer"):
        asked = list(signature(getattr(TableFormat, name)).parameters)[1:]
        assert list(signature(getattr(source, name)).parameters) == asked


def test_things_are_rows_and_labels_columns(path):
    table = read_table(path, None, long=LONG)
    assert table.labels == ["red", "green", "blue"]
    np.testing.assert_allclose(table.y, Y)
    assert table.features.to_dict("list") == {"people": [10, 7, 5, 3]}
    assert table.file.ids == ["county"]
    assert table.notes == [
        "The table is long: each county is a row (4), and each party a label (3).",
        "Left out, because they differ within a county: 'head'.",
        "Combinations of county and party without a row: 1; they are missing, and what is filled "
        "in is written below the last row (add absent=0 to --long if they mean 0).",
        "The shares are read as percentages: most complete rows sum to about 100.",
    ]


def test_labels_can_be_chosen_and_keys_be_a_dict(path):
    keys = {"id": ["county"], "label": "party", "value": "share"}
    file = TableFile(path, "blue,red", long=keys)
    [piece] = file.pieces(["green"])
    np.testing.assert_allclose(piece.values, 100 * np.array(Y)[:, [2, 0]])
    assert file.features == ["people", "green"]  # what is left is known of the rows
    np.testing.assert_allclose(piece.features["green"], 100 * np.array(Y)[:, 1])


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("end", [True, False])
def test_the_file_keeps_its_rows_and_lacking_ones_come_last(path, newline, end):
    text = TEXT if end else TEXT[:-1]
    path.write_bytes(text.replace("\n", newline).encode())
    out = path.with_name("out.csv")
    write_table(read_table(path, None, long=LONG), COMPLETED, out)
    expected = (FILLED + "C,5,blue,10,\n")[: None if end else -1]
    assert out.read_bytes().decode() == expected.replace("\n", newline)


def test_lacking_rows_stand_above_notes_with_the_signs_of_the_file(path):
    text = TEXT.replace(",", ";").replace(";50;", ";50,0 %;").replace("C;5;", "C;5,5;")
    for number in ("20", "30", "40", "60", "80", "10"):
        text = text.replace(f";{number};", f";{number} %;")
    text = text.replace("A;10 %;", "A;10;").replace("C;", '"C ""c"";1";')
    text = "Shares\n" + text + "Source: the census\n"
    table, out = read(path, text), path.with_name("out.csv")
    write_table(table, COMPLETED, out)
    below = out.read_text().splitlines()[-2:]
    assert below == ['"C ""c"";1";5,5;blue;10%;', "Source: the census"]


@pytest.mark.parametrize("suffix", [".xlsx", ".parquet", ".csv.gz"])
def test_other_kinds_of_files(path, suffix):
    frame, file = pd.read_csv(path, na_values="*"), path.with_name(f"t{suffix}")
    out = path.with_name(f"out{suffix}")
    if suffix == ".xlsx":
        frame.to_excel(file, index=False)
    elif suffix == ".parquet":
        frame.to_parquet(file)
    else:
        file.write_bytes(gzip.compress(TEXT.encode()))
    table = read_table(file, None, long=LONG)
    np.testing.assert_allclose(table.y, Y)
    write_table(table, COMPLETED, out)
    reader = {".xlsx": pd.read_excel, ".parquet": pd.read_parquet}.get(suffix, pd.read_csv)
    path.write_text(FILLED + "C,5,blue,10,\n")
    pd.testing.assert_frame_equal(reader(out), pd.read_csv(path), check_dtype=False)


@pytest.mark.parametrize("suffix", [".xlsx", ".parquet"])
def test_percent_signs_stay_in_cells_of_text(path, suffix):
    frame, file = pd.read_csv(path, na_values="*"), path.with_name(f"t{suffix}")
    frame["share"] = [None if np.isnan(x) else f"{x:g} %" for x in frame["share"]]
    frame.to_excel(file, index=False) if suffix == ".xlsx" else frame.to_parquet(file)
    out = path.with_name(f"out{suffix}")
    write_table(read_table(file, None, long=LONG), COMPLETED, out)
    found = pd.read_excel(out) if suffix == ".xlsx" else pd.read_parquet(out)
    assert found.iloc[-1, :4].tolist() == ["C", 5, "blue", "10%"]
    assert found["share"][1] == "25%"


def test_a_sheet_with_something_below_takes_no_rows(path):
    openpyxl = pytest.importorskip("openpyxl")
    file = path.with_name("t.xlsx")
    pd.read_csv(path, na_values="*").to_excel(file, index=False)
    book = openpyxl.load_workbook(file)
    book.active["A14"] = "Source: the census"
    book.save(file)
    table = read_table(file, None, long=LONG)
    with pytest.raises(ValueError, match="below row 12 of the sheet, which is not empty"):
        write_table(table, COMPLETED, path.with_name("out.xlsx"))
    assert not path.with_name("out.xlsx").exists()


def test_added_columns_are_those_of_the_value(path):
    file, out = TableFile(path, None, long=LONG), path.with_name("out.csv")
    extra = [f"{name}_{end}" for name in file.labels for end in ("low", "high")]
    extra += [f"{name}_filled" for name in file.labels]
    holes = np.isnan(Y)
    with TableWriter(file, out, filled=file.labels, extra=extra) as writer:
        [piece] = file.pieces()
        ends = np.where(np.repeat(holes, 2, axis=1), np.arange(6), np.nan)
        added = np.hstack([ends, holes.astype(float)])
        writer.write(piece, np.array(Y), np.array(COMPLETED), "percent", added)
    found = pd.read_csv(out)
    assert list(found) == [*TEXT.splitlines()[0].split(","), *(
        f"share_{end}" for end in ("low", "high", "filled"))]  # fmt: skip
    assert found["share_filled"].tolist() == [0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    np.testing.assert_array_equal(found["share_low"].dropna(), [0, 4, 4])
    np.testing.assert_array_equal(found["share_high"].dropna(), [1, 5, 5])


def test_several_columns_can_be_an_id_and_are_features(path):
    text = "state,year,party,votes\n" + "".join(
        f"{state},{year},{party},{votes}\n"
        for state in "KLM"
        for year in (2016, 2020)
        for party, votes in (("red", 20 + year % 7), ("blue", 30))
    )
    table = read(path, text, long="id=state+year,label=party,value=votes")
    assert table.y.shape == (6, 2)
    assert table.scale == "count"
    assert table.features["state"].tolist() == list("KKLLMM")
    np.testing.assert_allclose(table.y.sum(axis=1), 1)


def test_a_label_without_a_row_can_mean_0(path):
    counts = TEXT.replace("B,7,red,", "B,7,red,9").replace("*", "8").replace(",50,", ",500,")
    with pytest.raises(
        ValueError, match=r"county 'C'.*none is for 'blue': add absent=0 to --long"
    ):
        read(path, counts)
    table = read(path, counts, long=f"{LONG},absent=0")
    np.testing.assert_allclose(table.y[2], [2 / 3, 1 / 3, 0])
    out = path.with_name("out.csv")
    write_table(table, table.y, out)
    assert out.read_text() == counts


@pytest.mark.parametrize(
    ("long", "words"),
    [
        ("id=county,label=partyy,value=share", "No column found for 'partyy' .did you mean 'par"),
        ("id=county,label=party", "lacks 'value'; give id, label and value, such as \"id=county"),
        ("id=county,label=party,value=share,x=1", "has 'x'; give id, label and value"),
        ("id=county,label=county,value=share", "needs one column each"),
        ("id=county,label=p*,value=share", "needs one column each"),
        (f"{LONG},absent=1", "can only be 0"),
        ("id=people,label=head,value=share", "^Line 9, column 'head': the cell is empty"),
    ],
)
def test_wrong_keys_are_refused(path, long, words):
    with pytest.raises(ValueError, match=words):
        read_table(path, None, long=long)


def test_two_rows_for_one_label_are_refused(path):
    with pytest.raises(ValueError, match=r"^Line 13: county 'A' has a second row for 'red'; keep"):
        read(path, TEXT + "A,10,red,7,\n")


def test_errors_name_the_thing(path):
    with pytest.raises(
        ValueError, match=r"^The rows of county 'D' \(from line 10\), column 'red'"
    ):
        read(path, TEXT.replace("D,3,red,10", "D,3,red,-10"))
    with pytest.raises(ValueError, match=r"^Line 11, column 'share': 'much' is not a number"):
        read(path, TEXT.replace("D,3,red,10", "D,3,red,much"))


@pytest.mark.parametrize("labels", ["share", "red,green,blue"])
def test_a_table_that_looks_long_is_told_how_to_read_it(path, labels):
    hint = f'If it has a row per label, read it with --long "{LONG}".'
    with pytest.raises(ValueError, match="No label columns found") as caught:
        read_table(path, labels)
    assert str(caught.value).endswith(hint)


@pytest.mark.parametrize("whole", [1, 100, None])
def test_labels_are_those_whose_shares_have_the_same_sum(path, whole):
    """Else those of several names: two are more often the kinds of things."""
    cells = [(sex, age, how) for sex in "fm" for age in range(10, 80, 10) for how in "abcd"]
    shares = np.random.default_rng(0).dirichlet(np.ones(4), len(cells) // 4).ravel()
    shares *= whole or np.random.default_rng(1).uniform(1, 99, len(cells))
    table = pd.DataFrame(cells, columns=["sex", "age", "how"]).assign(share=shares)
    table.loc[::9, "share"] = np.nan
    table.to_csv(path, index=False)
    with pytest.raises(ValueError, match=r'--long "id=sex\+age,label=how,value=share"\.$'):
        read_table(path, "share")


def test_several_columns_of_an_id_have_a_plus_between_them(path):
    words = r"has 'size'; give id, .* several columns of an id with a plus, such as"
    with pytest.raises(ValueError, match=words):
        read_table(path, None, long="id=county,size,label=party,value=share")


def test_a_wide_table_is_told_nothing_of_the_kind(path):
    path.write_text("county,town,a,b\nA,x,0.5,0.5\nB,y,0.25,0.75\nC,x,0.5,0.5\nD,y,0.1,0.9\n")
    with pytest.raises(ValueError, match=r"the columns are 'county', 'town', 'a', 'b'\.$"):
        read_table(path, "c,d")
