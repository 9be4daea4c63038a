"""Methods compared on rows of units and times: which rows are left out together."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from inldl.rows.panel import Panel
from inldl.rows.partial import PartialRows
from inldl.tables import compare
from inldl.tables.comparison import compare_file
from inldl.tables.reading import TableFile
from inldl.tables.table_rows import TrainingRows
from inldl.tables.trial import predicting_trials, try_method

N_UNITS, N_YEARS = 12, 8


@pytest.fixture
def frame():
    """Return units with shares of their own, in each of several years."""
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(N_UNITS), N_YEARS)
    y = rng.dirichlet([3, 2, 2], N_UNITS)[unit] + rng.uniform(0, 0.02, (len(unit), 3))
    frame = pd.DataFrame(y / y.sum(axis=1, keepdims=True), columns=["a", "b", "c"]).round(4)
    frame["c"] = 1 - frame["a"] - frame["b"]
    frame["country"] = [f"country {u}" for u in unit]
    frame["year"] = np.tile(np.arange(2000, 2000 + N_YEARS), N_UNITS)
    return frame.sample(frac=1, random_state=0, ignore_index=True)


@pytest.fixture
def file(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    return lambda **options: TableFile(tmp_path / "t.csv", "a,b,c", **options)


def _left_out(groups, n=60, folds=5):
    y = np.full((n, 2), 0.5)
    table = TrainingRows(pd.DataFrame({"x": np.arange(n)}), PartialRows(y), fold_groups=groups)
    return [np.setdiff1d(np.arange(n), trial.rows) for trial in predicting_trials(table, folds, 0)]


def test_units_are_left_out_whole_and_once():
    unit = np.random.default_rng(0).integers(0, 7, 60)
    parts = _left_out(Panel(unit, np.arange(60)).held_out_together(5))
    assert np.sort(np.concatenate(parts)).tolist() == list(range(60))
    assert sum(len(np.unique(unit[part])) for part in parts) == len(np.unique(unit))
    assert len(parts) == 5


def test_two_units_are_two_parts():
    parts = _left_out(Panel(np.arange(60) % 2, None).held_out_together(5))
    assert sorted(np.unique(part % 2).tolist() for part in parts) == [[0], [1]]


def test_a_series_is_left_out_in_stretches():
    time = np.random.default_rng(0).permutation(60)
    parts = _left_out(Panel(np.zeros(60, int), time).held_out_together(5))
    spans = sorted(sorted(time[part].tolist()) for part in parts)
    assert spans == [list(range(12 * k, 12 * k + 12)) for k in range(5)]


def test_rows_without_a_time_do_not_make_a_series_a_table_of_units():
    unit = np.where(np.arange(60) < 3, 1 + np.arange(60), 0)
    assert len(_left_out(Panel(unit, np.arange(60)).held_out_together(5))) == 5


@pytest.mark.parametrize("time", [None, np.ones(60)])
def test_rows_of_one_unit_without_times_are_left_out_at_random(time):
    assert Panel(np.zeros(60, int), time).held_out_together(5) is None


def test_predicting_is_that_of_new_units(frame):
    X, y = frame[["country", "year"]], frame[["a", "b", "c"]]
    panel = Panel(pd.factorize(X["country"])[0], X["year"].to_numpy())
    single, together = (compare(X, y, ["ridge"], panel=each) for each in (None, panel))
    errors = [each.table.set_index("method").loc["ridge"] for each in (single, together)]
    assert errors[1]["predicting_rmse"] > 3 * errors[0]["predicting_rmse"]
    assert errors[1]["completing_rmse"] == errors[0]["completing_rmse"]
    assert "Rows of one unit or group are left out together" in together.notes[-1]
    assert not any("left out" in note for note in single.notes)


def test_errors_of_one_unit_count_as_one(frame):
    """The same rows four times make nothing surer."""
    unit, spreads = pd.factorize(frame["country"])[0], []
    for times in (1, 4):
        at = np.repeat(np.arange(len(frame)), times)
        rows = PartialRows(frame[["a", "b", "c"]].to_numpy()[at])
        table = TrainingRows(frame[["year"]].iloc[at], rows, fold_groups=unit[at])
        trials = predicting_trials(table, 5, 0)
        trials = [replace(trials[0], completes=True, judged=trials[0].judged & False), *trials]
        found = try_method("constant-mean", table, list("abc"), trials, 0)
        spreads.append(found.predicting.rmse_error())
    assert spreads[0] == pytest.approx(spreads[1], rel=1e-3)


@pytest.mark.parametrize("columns", [{}, {"id": "country,year"}, {"id": "country"}])
def test_units_are_found_among_features_and_ids(file, frame, columns, tmp_path):
    frame["x"] = np.random.default_rng(1).normal(size=len(frame))
    frame.to_csv(tmp_path / "t.csv", index=False)
    found, notes = compare_file(file(**columns), ["ridge"])
    assert "Rows are taken as a series over 'year' for each 'country'" in " ".join(notes)
    assert "Rows of one unit or group are left out together" in " ".join(found.notes)


def test_what_is_found_can_be_turned_off(file):
    found, notes = compare_file(file(), ["ridge"], unit="none", time="none")
    assert not any("left out" in note or "series" in note for note in [*notes, *found.notes])


def test_a_series_in_a_file_is_left_out_in_stretches(file, frame, tmp_path):
    series = frame.drop(columns="country").iloc[:40].assign(year=np.arange(1980, 2020))
    series.to_csv(tmp_path / "t.csv", index=False)
    found, _ = compare_file(file(), ["ridge"])
    assert any("stretches of it are left out" in note for note in found.notes)


def test_groups_without_times(file):
    plain, grouped = (
        compare_file(file(features="country"), ["ridge"], group=group)[0]
        for group in (None, "country")
    )
    tables = (each.table.set_index("method") for each in (plain, grouped))
    single, together = (table["predicting_rmse"]["ridge"] for table in tables)
    assert together > 3 * single
    assert any("Rows of one unit or group" in note for note in grouped.notes)


def test_ids_are_read_but_no_features(file):
    table = file(id="country,year").read()
    assert list(table.features) == []
    assert list(table.ids) == ["country", "year"]
    assert table.ids["country"].nunique() == N_UNITS
    assert list(file().read().ids) == []
