"""Rows of a file that are shown: how they are named, and their intervals."""

import numpy as np
import pandas as pd
import pytest

from inldl.tables import TableFile, complete_table, fit_table, predict_table

LABELS = ["a", "b", "c"]
N = 40


@pytest.fixture
def frame():
    """Return a table of 40 rows, a third of whose shares are missing."""
    rng = np.random.default_rng(0)
    y = rng.dirichlet([2, 3, 4], N).round(3)
    y[:, 2] = (1 - y[:, :2].sum(axis=1)).round(3)
    y[rng.random(y.shape) < 0.3] = np.nan
    return pd.DataFrame({"x": rng.normal(size=N), **dict(zip(LABELS, y.T, strict=True))})


def completed(frame, folder, suffix="csv", coverage=None, **options):
    """Return what was shown of the table in a file, and the completed file."""
    path, out = folder / f"table.{suffix}", folder / f"whole.{suffix}"
    write = {"csv": frame.to_csv, "xlsx": frame.to_excel}[suffix]
    write(path, index=False)
    file = TableFile(path, LABELS, **options)
    learned = fit_table(file, "winldl")
    written = complete_table(file, learned.model, out, scale=learned.scale, coverage=coverage)
    return written, out


def names_of(written):
    np.testing.assert_array_equal(written.before.index, written.after.index)
    assert written.before.index.name == written.after.index.name
    return written.after.index.name, list(written.after.index)


def test_ids_that_the_user_names_name_the_rows(frame, tmp_path):
    codes = [f"{number:03d}" for number in range(N)]
    frame = frame.assign(town=[f"town {number}" for number in range(N)], code=codes)
    assert names_of(completed(frame, tmp_path, id="code")[0]) == ("code", codes)


def test_ids_of_several_columns_are_joined(frame, tmp_path):
    frame = frame.assign(state=["Ohio", "Iowa"] * 20, year=np.repeat(range(2000, 2020), 2))
    name, names = names_of(completed(frame, tmp_path, id="state,year")[0])
    assert name == "state, year"
    assert names[:3] == ["Ohio, 2000", "Iowa, 2000", "Ohio, 2001"]


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_a_running_number_is_recognised_as_an_id(frame, tmp_path, suffix):
    frame.insert(0, "person", range(101, 101 + N))
    name, names = names_of(completed(frame, tmp_path, suffix)[0])
    assert (name, names[:2]) == ("person", ["101", "102"])


def test_names_come_before_running_numbers_and_free_text(frame, tmp_path):
    towns = [f"town {number}" for number in range(N)]
    remarks = ["the same", "the same", *(f"remark {number}" for number in range(2, N))]
    frame = frame.assign(remark=remarks, number=range(1, N + 1), town=towns)
    assert names_of(completed(frame, tmp_path)[0]) == ("town", towns)


def test_without_ids_rows_have_their_numbers(frame, tmp_path):
    assert names_of(completed(frame, tmp_path)[0]) == (None, list(range(1, N + 1)))


def test_a_row_without_an_id_has_its_number(frame, tmp_path):
    frame = frame.assign(town=[None, " ", *(f"town {number}" for number in range(2, N))])
    _, names = names_of(completed(frame, tmp_path, id="town")[0])
    assert names[:3] == ["row 1", "row 2", "town 2"]


def test_rows_of_a_long_table_have_the_names_of_the_things(frame, tmp_path):
    years = np.repeat(range(2000, 2020), 2).astype(float)
    wide = frame.assign(state=["Ohio", "Iowa"] * 20, year=years)
    long = wide.melt(["state", "year", "x"], LABELS, "label", "share")
    long.to_csv(tmp_path / "long.csv", index=False)
    keys = "id=state+year,label=label,value=share"
    file = TableFile(tmp_path / "long.csv", None, long=keys)
    learned = fit_table(file, "winldl")
    out = tmp_path / "whole.csv"
    written = complete_table(file, learned.model, out, scale=learned.scale)
    name, names = names_of(written)
    assert name == "state, year"
    assert names[1].startswith("Iowa, 2000")


def test_predicted_rows_have_names_and_intervals(frame, tmp_path):
    frame.assign(town=[f"town {number}" for number in range(N)]).to_csv(
        tmp_path / "table.csv", index=False
    )
    learned = fit_table(TableFile(tmp_path / "table.csv", LABELS), "winldl")
    new, out = TableFile(tmp_path / "table.csv", None), tmp_path / "new.csv"
    written = predict_table(new, learned.model, out, coverage=0.8)
    assert written.after.index.name == "town"
    assert written.coverage == 0.8
    found = pd.read_csv(out)
    for end, shown in zip(("low", "high"), written.ends, strict=True):
        expected = found[[f"{label}_{end}" for label in LABELS]]
        np.testing.assert_allclose(shown, expected, atol=1e-6)
    lower, upper = written.ends
    assert (lower <= written.after + 1e-6).all(axis=None)
    assert (written.after <= upper + 1e-6).all(axis=None)


def test_intervals_of_filled_shares_are_those_of_the_file(frame, tmp_path):
    percent = frame.assign(**{label: 100 * frame[label] for label in LABELS})
    written, out = completed(percent, tmp_path, coverage=0.9)
    found = pd.read_csv(out)
    for end, shown in zip(("low", "high"), written.ends, strict=True):
        expected = found[[f"{label}_{end}" for label in LABELS]]
        np.testing.assert_allclose(shown, expected, atol=1e-6)
        np.testing.assert_array_equal(shown.notna(), written.before.isna())
    assert written.ends[1].max(axis=None) > 1


def test_without_intervals_there_are_no_ends(frame, tmp_path):
    written = completed(frame, tmp_path)[0]
    assert written.ends == ()
    assert written.coverage is None
