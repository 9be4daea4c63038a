"""What users say about zeros and missing shares: how it is read, and what it does to a table."""

import numpy as np
import pandas as pd
import pytest

from inldl.tables import TableModel, read_table, write_table
from inldl.tables.assumptions import Departures, sentences_on_zeros

ROWS = ["60,39.8,0", "50,49,1", "70.2,29.8,0", "40,58,2", "0,99,1", "30,,0"]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("\n".join(["beer,milk,wine", *ROWS, ""]))
    return file


def read(path, zeros, **more):
    return read_table(path, "beer,milk,wine", zeros=zeros, **more)


def test_zeros_are_true_unless_a_user_says_otherwise(path):
    table = read(path, "true", normalize=True)
    assert not table.known.constrained
    np.testing.assert_array_equal(table.y, read(path, "never", normalize=True).y)
    assert table.y[0, 2] == table.y[4, 0] == 0


def test_rounded_zeros_are_bounds_below_the_smallest_share_of_their_label(path):
    table = read(path, "rounded")
    zeros = np.isnan(table.y)
    zeros[5, 1] = False  # an empty cell
    assert sorted(map(tuple, np.argwhere(zeros).tolist())) == [(0, 2), (2, 2), (4, 0), (5, 2)]
    np.testing.assert_allclose(table.known.upper[zeros], [0.01, 0.01, 0.30, 0.01])
    notes = " ".join(table.notes)
    assert "4 cells such as '0' are read as bounds: between 0 and 30." in notes
    assert "In 2 rows with such zeros the other shares sum to the whole" in notes
    np.testing.assert_allclose(table.y[2], [0.702 - 0.0065, 0.298, np.nan])


def test_a_limit_and_labels_may_be_given(path):
    table = read(path, "rounded<0.5:wine")
    assert table.y[4, 0] == 0
    np.testing.assert_allclose(table.known.upper[[0, 2, 5], 2], 0.005)
    assert "between 0 and 0.5." in " ".join(table.notes)


@pytest.mark.parametrize(
    ("zeros", "problem"),
    [
        ("sometimes", "true, never or rounded, not 'sometimes'"),
        ("rounded<x", "not 'rounded<x'; rounded ones may have a limit above 0"),
        ("rounded<0", "a limit above 0"),
        ("true<2", "not 'true<2'"),
        ("rounded:gin", "No label .--zeros. found for 'gin'"),
    ],
)
def test_what_is_no_kind_of_zeros_is_refused(path, zeros, problem):
    with pytest.raises(ValueError, match=problem):
        read(path, zeros)


def test_counts_need_their_totals(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c,n\n12,0,9,22\n200,30,25,255\n9,2,0,11\n")
    with pytest.raises(ValueError, match="--total"):
        read_table(tmp_path / "t.csv", "a,b,c", zeros="rounded", scale="count", ignore="n")
    table = read_table(tmp_path / "t.csv", "a,b,c", zeros="rounded<5", total="n")
    np.testing.assert_allclose(table.known.upper[0], [12 / 22, 4 / 22, 9 / 22])


def test_written_rows_keep_their_sums_and_limits(path, tmp_path):
    table = read(path, "rounded<0.5:wine")
    model = TableModel("constant-mean").fit(table.features, table.degrees)
    known = table.known.arguments()
    completed = model.complete(table.features, table.degrees, **known)
    write_table(table, completed.to_numpy(), tmp_path / "o.csv")
    out = pd.read_csv(tmp_path / "o.csv")
    np.testing.assert_allclose(out.sum(axis=1), 100, atol=1e-8)
    assert out["wine"][[0, 2, 5]].between(0.1, 0.5).all()
    np.testing.assert_array_equal(out.loc[[1, 3, 4]], pd.read_csv(path).loc[[1, 3, 4]])


def skewed(n=300):
    return np.random.default_rng(0).dirichlet([3, 2, 0.5], n)


def test_zeros_below_a_limit_look_rounded():
    y = skewed()
    [told] = sentences_on_zeros(np.where(y < 0.02, 0, y), list("abc"), 100.0)
    assert told.startswith("Zeros of 'c' look rounded: ")
    assert "just above the smallest, 2%. If" in told
    assert "--zeros rounded" in told


def test_other_zeros_do_not():
    y, rng = skewed(), np.random.default_rng(1)
    true = np.where(rng.random(y.shape) < [0, 0.3, 0.3], 0, y)
    votes = rng.multinomial(10, [0.6, 0.3, 0.1], 300) / 10
    for table in (y, true / true.sum(axis=1, keepdims=True), votes):
        assert sentences_on_zeros(table, list("abc")) == []


@pytest.mark.parametrize(
    ("delta", "problem"),
    [
        ("gin=+10%", "No label .--delta. found for 'gin'"),
        ("wine=10", "'wine=10' in --delta is no label with a change"),
        ("wine=ten%", "in --delta is no label with a change"),
        ("wine", "'wine' in --delta is no label"),
        ("beer=+1%;wine=-150%", "'wine=-150%' .* take away 100% at most"),
    ],
)
def test_what_is_no_departure_is_refused(delta, problem):
    with pytest.raises(ValueError, match=problem):
        Departures(delta, ["beer", "wine"])


def test_departures_have_names_and_factors():
    cases = Departures("wine=+10%, beer=*0.8; w*=-100%", ["beer", "milk", "wine"])._cases
    assert list(cases) == ["wine +10%, beer *0.8", "w* -100%"]
    np.testing.assert_allclose(list(cases.values()), [[0.8, 1, 1.1], [1, 1, 0]])
    by_dict = Departures({"wine": 1.1}, ["beer", "wine"])._cases
    np.testing.assert_allclose(list(by_dict.values()), [[1, 1.1]])
    assert Departures(None, ["beer"])._cases == {}
