"""Totals of rows and sums of labels in columns of their own, and what contradicts them."""

import numpy as np
import pytest

from inldl.tables import TableFile, read_table

NAN = np.nan


def read(tmp_path, text, labels="a,b,c", **options):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    return read_table(tmp_path / "t.csv", labels, **options)


def refusal(tmp_path, text, labels="a,b,c", **options):
    with pytest.raises(ValueError, match=r"[;.]") as told:
        read(tmp_path, text, labels, **options)
    return str(told.value)


def test_counts_with_holes_are_shares_of_their_total(tmp_path):
    table = read(tmp_path, "x,a,b,c,n\n7,5,4,1,10\n8,9,,,12\n9,3,1,0,\n", total="n")
    np.testing.assert_allclose(table.y, [[0.5, 0.4, 0.1], [0.75, NAN, NAN], [0.75, 0.25, 0]])
    assert table.scale == "count"
    assert list(table.features) == ["x"]
    np.testing.assert_array_equal(table.totals, [10, 12, NAN])
    assert table.notes == ["The shares are read as counts: shares of the total in column 'n'."]


def test_votes_are_totals_or_sums(tmp_path):
    table = read(tmp_path, "a,b,c,n\n5,4,1,10\n9,,,12\n3,1,0,\n", total="n")
    assert table.votes.tolist() == [10, 12, 4]
    table = read(tmp_path, "a,b,c,s\n5,4,1,5\n90,,,110\n", sums="s=b,c")
    assert table.votes.tolist() == [10, 200]
    assert read(tmp_path, "a,b,c\n50,40,10\n90,<5,\n").votes is None


def test_a_total_can_be_a_feature_too(tmp_path):
    text = "x,a,b,c,n\n7,5,4,1,10\n8,9,,,12\n"
    assert list(read(tmp_path, text, total="n", features="x,n").features) == ["x", "n"]
    assert list(read(tmp_path, text, total="n", features="*").features) == ["x"]


def test_a_total_is_no_label_of_a_pattern(tmp_path):
    assert read(tmp_path, "a,b,c,n\n5,4,1,10\n9,,,12\n", "*", total="n").labels == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("cells", "bound", "told"),
    [("5,4,1,10\n9,<5,,20", 4, "between 0 and 4."), ("5,4,1,10\n9.5,<5,,20", 5, "0 and 5.")],
)
def test_below_5_among_whole_counts_is_at_most_4(tmp_path, cells, bound, told):
    table = read(tmp_path, f"a,b,c,n\n{cells}\n", total="n")
    assert table.known.upper[1, 1] == bound / 20
    assert table.notes[-1].endswith(told)


def test_above_5_among_whole_counts_is_at_least_6(tmp_path):
    table = read(tmp_path, "a,b,c,n\n5,4,1,10\n9,>5,2.5-4,20\n3,1,0,4\n", total="n")
    np.testing.assert_array_equal(table.known.lower[1], [0.45, 0.3, 0.15])
    np.testing.assert_array_equal(table.known.upper[1], [0.45, 1, 0.2])


def test_a_bound_above_the_total_says_nothing(tmp_path):
    table = read(tmp_path, "a,b,c,n\n5,4,1,10\n1,<5,,3\n", total="n")
    assert table.known.upper[1, 1] == 1


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (
            "9,,,8",
            "Line 3: the counts (columns 'a' to 'c') sum to 9, but the total (column 'n') is",
        ),
        (
            "5,4,1,11",
            "sum to 10, but the total (column 'n') is 11; is a label missing from --label",
        ),
        (
            "9,,,",
            "Line 3: the total (column 'n') is missing, and so is a count; fill in one of the",
        ),
        (
            "9,,,0",
            "Line 3: the total (column 'n') is 0, so there are no shares of it; remove the ro",
        ),
        ("9,,,-4", "Line 3: the total (column 'n') is -4; correct it."),
        ("9,,,x", "Line 3, column 'n': 'x' is not a number"),
        (
            "9,,,<9",
            "Line 3, column 'n': only shares can have bounds, not their total or their sum",
        ),
        ("9,<2,1,12", "at most 11, but the whole is 12 (1 such row); correct them."),
        ("9,>2,1,12", "at least 13, but the whole is 12 (1 such row); correct them."),
        ("9,1.2-1.8,1,12", "Line 3, column 'b': no whole number lies between the bounds 2 and 1"),
    ],
)
def test_totals_that_contradict_a_row(tmp_path, row, told):
    assert told in refusal(tmp_path, f"a,b,c,n\n5,4,1,10\n{row}\n", total="n")


def test_large_totals_are_exact(tmp_path):
    text = "a,b,c,n\n5,4,1,10\n1000000,500000,500000,2000001\n"
    assert "sum to 2000000, but the total (column 'n') is 2000001" in refusal(
        tmp_path, text, total="n"
    )


def test_a_total_is_for_counts(tmp_path):
    text = "a,b,c,n\n5,4,1,10\n9,,,12\n"
    for options in ({"scale": "percent"}, {"normalize": True}):
        assert "total (--total) is for counts" in refusal(tmp_path, text, total="n", **options)
    text = "a,b,c,n\n50%,40%,10%,10%\n90%,,,12%\n"
    assert "but there are percent signs" in refusal(tmp_path, text, total="n")
    assert "No column for the total found for 'm'" in refusal(tmp_path, text, total="m")


def test_counts_with_a_hole_are_refused_with_the_option(tmp_path):
    text = "a,b,c\n500,400,100\n9,<5,\n"
    assert "--total COLUMN" in refusal(tmp_path, text)
    assert "--total COLUMN" in refusal(tmp_path, text, scale="count")


def test_sums_of_labels(tmp_path):
    table = read(tmp_path, "a,b,c,s\n50,40,10,50\n90,,,10\n20,,,\n", sums="s=b,c")
    assert [columns.tolist() for columns in table.known.groups] == [[1, 2]]
    np.testing.assert_array_equal(table.known.sums, [[NAN], [0.1], [NAN]])
    assert table.features.shape == (3, 0)
    assert not table.known.bounded.any()


def test_sums_of_rounded_fractions_may_miss_the_whole(tmp_path):
    text = "a,b,c,s\n0.5,0.4001,0.1,0.5001\n0.3332,,,0.6667\n"
    table = read(tmp_path, text, sums="s=b,c")
    np.testing.assert_allclose(table.y[0].sum(), 1)
    np.testing.assert_allclose(table.known.sums, [[NAN], [0.6667]], rtol=3e-4)
    assert any("miss the whole" in note for note in table.notes)


def test_sums_tell_the_scale_and_the_total(tmp_path):
    table = read(tmp_path, "a,b,c,s\n5,4,1,5\n90,,,110\n", sums={"s": ["b", "c"]})
    assert table.scale == "count"
    np.testing.assert_allclose(table.y[1], [0.45, NAN, NAN])
    np.testing.assert_allclose(table.known.sums, [[NAN], [0.55]])
    table = read(tmp_path, "a,b,c,s\n1,,,99\n90,,,10\n2,40,58,98\n", sums=["s = b, c"])
    assert table.notes == [
        "The shares are read as percentages: most complete rows sum to about 100."
    ]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("50,40,10,55\n90,,,10", "Line 2: column 's' has 55, but 'b' and 'c' are 50 together"),
        ("50,40,10,50\n90,>8,,5", "Line 3: column 's' has 5, but 'b' and 'c' are at least 8 toge"),
        ("50,40,10,50\n80,<3,<4,20", "'b' and 'c' are at most 7 together; correct one of them."),
        ("50,40,10,50\n90,,,20", "at least 110, but the whole is 100"),
        ("50,40,10,50\n90,,,2", "at most 92, but the whole is 100"),
        ("50,40,10,50\n90,,,<20", "only shares can have bounds"),
        ("50,40,10,50\n90,,,-3", "Line 3: column 's' has -3, but"),
    ],
)
def test_sums_that_contradict_a_row(tmp_path, rows, told):
    assert told in refusal(tmp_path, f"a,b,c,s\n{rows}\n", sums="s=b,c")


@pytest.mark.parametrize(
    ("sums", "told"),
    [
        ("s", 'needs a column and the labels that it sums, such as "alcohol=beer,wine"'),
        ("s=b", "but it needs at least two"),
        ("s=b,x", "'x' is not a label"),
        ("s=b,nothing", "No labels of the sum 's' found for 'nothing'"),
        ("m=a,b", "No column for a sum found for 'm'"),
        (["s=a,b", "s=b,c"], "name each column once"),
        (["s=a,b", "x=b,c"], "The label 'b' is part of two sums (--sum), 's' and 'x'"),
    ],
)
def test_sums_that_are_none(tmp_path, sums, told):
    assert told in refusal(tmp_path, "x,a,b,c,s\n1,50,40,10,50\n1,90,,,10\n", sums=sums)


def test_long_tables_have_totals_and_sums(tmp_path):
    rows = ["d,k,v,n", "p,a,5,10", "p,b,4,10", "p,c,1,10", "p,s,5,10", "q,a,9,12", "q,s,3,12"]
    (tmp_path / "t.csv").write_text("\n".join([*rows, "q,b,<5,12", ""]))
    file = TableFile(
        tmp_path / "t.csv", None, long="id=d,label=k,value=v", total="n", sums="s=b,c"
    )
    table = file.read()
    assert table.labels == ["a", "b", "c"]
    np.testing.assert_allclose(table.y, [[0.5, 0.4, 0.1], [0.75, NAN, NAN]])
    np.testing.assert_allclose(table.known.sums, [[NAN], [0.25]])
    assert table.known.upper[1, 1] == 4 / 12


def test_without_totals_bounds_and_rows_of_zeros_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,a,b\n1,40,60\n2,<5,70\n3,30,\n")
    with pytest.raises(ValueError, match=r"Line 3, column 'a': a count has bounds.*--total none"):
        read_table(path, "a,b", total="none")
    path.write_text("x,a,b\n1,40,60\n2,0,0\n3,30,\n")
    with pytest.raises(ValueError, match=r"Line 3: the shares .* sum to 0"):
        read_table(path, "a,b", total="none")
    path.write_text("x,a,b\n1,40,60\n2,0,\n3,30,\n")
    assert len(read_table(path, "a,b", total="none").y) == 3


def test_large_rounded_counts_may_miss_their_total(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"{x},{9_278_100 + x},{20_000 - x},{9_298_101}\n" for x in range(1, 6))
    path.write_text(f"x,a,b,n\n{rows}7,9278100,,9298102\n")
    table = read_table(path, "a,b", total="n")
    np.testing.assert_allclose(table.y[:5].sum(axis=1), 1)
    assert (
        "Rows whose counts miss their total, as rounded numbers do: 5, by at most 1. They are "
        "divided by their sums for learning."
    ) in table.notes
    path.write_text(f"x,a,b,n\n{rows}7,927810,19000,946709\n")
    with pytest.raises(ValueError, match=r"Line 7: the counts .* sum to 946810, but the total"):
        read_table(path, "a,b", total="n")
    path.write_text("x,a,b,n\n1,10,7,18\n2,10,8,18\n")
    with pytest.raises(ValueError, match=r"Line 2: the counts .* sum to 17, but the total"):
        read_table(path, "a,b", total="n")
