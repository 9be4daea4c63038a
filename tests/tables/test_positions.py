"""Rows of tables become numbers of units, steps of time, and degrees."""

import numpy as np
import pandas as pd
import pytest
from skops import io

from inldl.files import audit
from inldl.tables.positions import PanelReader
from inldl.tables.structure import Structure

BOTH = Structure(("unit",), ("time",))


def table(times, units="ab"):
    n = len(times)
    return pd.DataFrame({"unit": np.repeat(list(units), n), "time": [*times] * len(units)})


def months(n, freq="MS", start="2003-01-01"):
    return pd.date_range(start, periods=n, freq=freq)


@pytest.mark.parametrize(
    ("times", "period", "steps"),
    [
        ([1990, 1991, 1993, 1994], None, [0, 1, 3, 4]),
        ([1990, 1995, 2000, 2010], None, [0, 1, 2, 4]),
        (["1998 Q1", "1998 Q2", "1998 Q4", "1999 Q1"], 4, [0, 1, 3, 4]),
        (["2003-05", "2003-06", "2003-07", "2003-09"], 12, [0, 1, 2, 4]),
        (["Jan 2003", "Feb 2003", "March 2003", "May 2003"], 12, [0, 1, 2, 4]),
        (months(5, "ME"), 12, [0, 1, 2, 3, 4]),
        (months(5, "YE"), None, [0, 1, 2, 3, 4]),
        (months(5, "QE").astype(str), 4, [0, 1, 2, 3, 4]),
        (months(9, "D"), 7, [*range(9)]),
        (months(6, "7D"), None, [*range(6)]),
        ([0.5, 1.0, 1.5, 2.5], None, [0, 1, 2, 4]),
    ],
)
def test_times_are_counted_in_their_usual_steps(times, period, steps):
    rows = table(times)
    panel = PanelReader.fit(rows, BOTH).read(rows)
    np.testing.assert_allclose(panel.time - panel.time[0], steps * 2, rtol=0, atol=1e-9)
    assert panel.period == period
    assert panel.unit.tolist() == [0] * len(times) + [1] * len(times)


@pytest.mark.parametrize(
    ("columns", "period"),
    [
        ({"year": [2003, 2003, 2004], "month": ["Nov", "December", "jan"]}, 12),
        ({"year": [2003.0, 2003.0, 2004.0], "month": [11, 12, 1]}, 12),
        ({"qtr": ["Q3", "Q4", "Q1"], "year": [2003, 2003, 2004]}, 4),
        ({"quarter": [3, 4, 1], "year": [2003, 2003, 2004]}, 4),
        ({"year": [2003, 2003, 2004], "month": [12, 12, 1], "day": [30, 31, 1]}, 7),
    ],
)
def test_years_with_months_or_quarters_are_one_time(columns, period):
    rows = pd.DataFrame(columns)
    reader = PanelReader.fit(rows, Structure((), tuple(columns)))
    panel = reader.read(rows)
    assert np.diff(panel.time).tolist() == [1, 1]
    assert (panel.period, panel.unit.tolist()) == (period, [0, 0, 0])
    assert reader.read(rows.iloc[[2]]).time == panel.time[2]


def test_later_rows_keep_the_numbers_and_new_units_get_further_ones():
    rows = table([2000, 2001, 2002])
    reader = PanelReader.fit(rows, BOTH)
    later = pd.DataFrame({"unit": ["c", "b", "d", "c"], "time": [2003, 2003, 2003, 1990]})
    panel = reader.read(later)
    assert panel.unit.tolist() == [2, 1, 3, 2]
    assert panel.time[1] - reader.read(rows).time[5] == 1
    assert reader.read(later.iloc[2:]).unit.tolist() == [2, 3]


def test_a_unit_of_two_columns_is_known_by_both():
    rows = pd.DataFrame({"state": ["x", "x", "y", "y"], "code": [1, 2, 1, 1]})
    reader = PanelReader.fit(rows, Structure(("state", "code")))
    assert reader.read(rows).unit.tolist() == [0, 1, 2, 2]
    text = pd.DataFrame({"state": ["y", "y"], "code": ["2", "1"]})
    panel = reader.read(text)
    assert panel.unit.tolist() == [3, 2]
    assert panel.time is None


def test_rows_without_a_unit_or_a_time_are_units_of_their_own():
    rows = table([2000, 2001, 2002])
    reader = PanelReader.fit(rows, BOTH)
    holes = pd.DataFrame({"unit": ["a", None, "a", " "], "time": [2000, 2001, None, 2002]})
    panel = reader.read(holes)
    assert panel.unit.tolist() == [0, 2, 3, 4]
    assert np.isfinite(panel.time).all()


def test_a_table_without_the_columns_is_refused():
    reader = PanelReader.fit(table([2000, 2001, 2002]), BOTH)
    with pytest.raises(ValueError, match="The table lacks 'unit', which"):
        reader.read(pd.DataFrame({"time": [2000]}))
    with pytest.raises(ValueError, match="'time' held numbers"):
        reader.read(pd.DataFrame({"unit": ["a"], "time": ["soon"]}))


@pytest.mark.parametrize("times", [[2000, 2001, 2002], ["1998 Q1", "1998 Q2", "1998 Q4"]])
def test_model_files_can_hold_a_reader(times):
    rows = table(times).assign(lat=50.0, lon=7.0)
    reader = PanelReader.fit(rows, Structure(("unit",), ("time",), ("lat", "lon")))
    stored = io.dumps(audit.portable(reader))
    made, _ = audit.check_loaded(io.loads(stored, io.get_untrusted_types(data=stored)))
    assert made == reader
    np.testing.assert_array_equal(made.read(rows).time, reader.read(rows).time)
