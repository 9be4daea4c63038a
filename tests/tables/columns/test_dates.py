"""Dates as features: which day they are, what they become, and what is refused."""

import datetime

import numpy as np
import pandas as pd
import pytest

from inldl import TableModel
from inldl.files.model_file import load_model, save_model
from inldl.files.onnx import export_onnx
from inldl.tables import DateColumn, FeatureEncoder, TableFile, fit_table, predict_table
from inldl.tables.columns import Cells

DAY = datetime.date(2024, 5, 1)  # a Wednesday
NUMBER = (DAY - datetime.date(1970, 1, 1)).days


def fitted(cells):
    encoder = FeatureEncoder().fit(pd.DataFrame({"day": cells}))
    return encoder.columns_[0]


def days(cells):
    """Return the days since 1970 that are read from a column."""
    encoder = FeatureEncoder().fit(pd.DataFrame({"day": cells}))
    [found] = encoder._read(pd.DataFrame({"day": cells}))
    return found


def refusal(fit, new=None):
    try:
        encoder = FeatureEncoder().fit(pd.DataFrame({"day": fit}))
        encoder.transform(pd.DataFrame({"day": new}))
    except ValueError as error:
        return str(error)
    return "nothing"


TYPED = {
    "numpy": pd.to_datetime(["2024-05-01", "2024-05-02", None]),
    "zoned": pd.to_datetime(["2024-05-01", "2024-05-02", None], utc=True).tz_convert("Asia/Tokyo")
    - pd.Timedelta(hours=9),
    "period": pd.PeriodIndex(["2024-05-01", "2024-05-02", None], freq="D"),
    "category": pd.Categorical(pd.to_datetime(["2024-05-01", "2024-05-02", None])),
    "objects": [DAY, DAY + datetime.timedelta(1), None],
    "seconds": np.array(["2024-05-01", "2024-05-02", "NaT"], "datetime64[s]"),
    "arrow": pd.array([DAY, DAY + datetime.timedelta(1), None], "date32[pyarrow]"),
}


@pytest.mark.parametrize(
    "months",
    [
        ("Jan 2006", "Apr 2006", "Sept. 2006"),
        ("January, 2006", "April, 2006", "September, 2006"),
        ("2006-01", "2006-04", "2006-09"),
        ("2006M01", "2006M04", "2006M09"),
        ("2006 Jan", "2006 Apr", "2006 Sep"),
    ],
)
def test_months_are_their_first_days(months):
    np.testing.assert_array_equal(np.diff(days(months)), [90, 153])
    assert fitted(months).months == (1, 4, 9)


@pytest.mark.parametrize("quarters", [("1981 Q1", "1981 Q4"), ("1981q1", "Q4 1981")])
def test_quarters_are_their_first_days(quarters):
    np.testing.assert_array_equal(np.diff(days(quarters)), [273])


@pytest.mark.parametrize(
    "texts",
    [
        ("2000-01", "2001-02", "2002-03", "2000-01"),
        ("1999-00", "2001-13"),
        ("maybe 2004", "b 2001"),
    ],
)
def test_seasons_and_names_are_no_months(texts):
    assert fitted(texts).kind == "text"


@pytest.mark.parametrize("kind", TYPED)
def test_dates_are_known_by_their_type(kind):
    np.testing.assert_allclose(days(TYPED[kind]), [NUMBER, NUMBER + 1, np.nan])


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("2024-05-01", "2024-05-31"),
        ("2024/5/1", "2024/5/31"),
        ("01.05.2024", "31.05.2024"),
        ("5/1/2024", "5/31/2024"),
        ("1/5/2024", "31/5/2024"),
        ("1-5-2024", "31-5-2024"),
        ("5/1/24", "5/31/24"),
        ("01.05.24", "31.05.24"),
        ("1 May 2024", "31 May 2024"),
        ("1-May-24", "31-May-24"),
        ("May 1, 2024", "May 31st, 2024"),
        (" 2024-05-01 ", "2024-05-31T00:00:00Z"),
        ("5/1/2024 12:00 AM", "5/31/2024 0:00"),
    ],
)
def test_dates_are_read_in_text(first, last):
    np.testing.assert_array_equal(days([first, last, None, "NA"])[:2], [NUMBER, NUMBER + 30])
    assert np.isnan(days([first, last, None, "NA"] * 6)[2:4]).all()


def test_the_first_days_of_months_of_several_years_tell_what_comes_first():
    months = pd.date_range("2020-01-01", periods=15, freq="MS")
    for form in ("%m/%d/%Y", "%d/%m/%Y"):
        assert days(months.strftime(form)).tolist() == days(months).tolist()


def test_times_count_as_parts_of_days():
    found = days(["2024-05-01 12:30:15.5", "2024-05-01 1:30 PM", "2024-05-02 00:00"])
    seconds = [12 * 3600 + 30 * 60 + 15, 13 * 3600 + 30 * 60, 86400]
    np.testing.assert_allclose(found, NUMBER + np.array(seconds) / 86400, rtol=0, atol=1e-9)


def test_the_last_century_has_two_digits_too():
    assert days(["31.12.69", "31.12.68"]).tolist() == [-1, 36159]


def test_daily_dates_become_trend_year_months_and_weekdays():
    series = pd.Series(pd.date_range("2023-11-01", "2024-02-29"))
    column = fitted([*series, None])
    months, weekdays = (1, 2, 11, 12), ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    assert column.outputs == [
        "day",
        "day year",
        *[f"day month={month}" for month in months],
        *[f"day weekday={day}" for day in weekdays],
        "day missing",
    ]
    encoder = FeatureEncoder().fit(pd.DataFrame({"day": [*series, None]}))
    encoded = encoder.transform(pd.DataFrame({"day": [*series, None]}))
    numbers = series.astype("int64") / series.astype("int64").iloc[0]
    np.testing.assert_allclose(encoded[:-1, 0], (numbers - numbers.mean()) / numbers.std(ddof=0))
    assert len(np.unique(encoded[:-1, 1].round(9))) == 2
    expected = [*(series.dt.month == month for month in months)]
    expected += [*(series.dt.day_name().str[:3] == day for day in weekdays)]
    np.testing.assert_array_equal(encoded[:-1, 2:-1], np.column_stack(expected))
    assert encoded[-1, -1] == 1
    assert (encoded[-1, 2:-1] == 0).all()
    assert np.isfinite(encoded).all()


@pytest.mark.parametrize(
    ("dates", "outputs"),
    [
        (pd.date_range("2000-01-01", periods=9, freq="YS"), ["day"]),
        (pd.date_range("2000-01-31", periods=3, freq="ME"), ["day", *"123"]),
        (pd.date_range("2000-01-03", periods=4, freq="D"), ["day"]),
        (pd.date_range("2000-01-03", periods=6, freq="D"), ["day", *"MTWTFS"]),
    ],
)
def test_only_what_varies_has_a_column(dates, outputs):
    found = fitted(dates).outputs
    assert [name.partition("=")[2][:1] or name for name in found] == outputs


def test_equal_dates_are_left_out():
    encoder = FeatureEncoder().fit(pd.DataFrame({"day": ["2024-05-01"] * 3, "x": [1, 2, 4]}))
    assert encoder.dropped_ == {"day": "every cell is the same"}


def test_what_is_not_clear_is_refused():
    assert refusal(["5/1/2024", "5/2/2024"]) == (
        "Column 'day' holds dates such as '5/1/2024', and nothing tells whether the day or the "
        "month comes first; say --dates day-first or --dates month-first, write them as "
        "2024-12-31, or leave the column out with --ignore 'day'."
    )
    told = "Column 'day' holds dates, but row 10 (counted from 0) holds 'soon'; give a date or "
    assert refusal([f"2024-05-{i + 1:02}" for i in range(10)] + ["soon"]).startswith(told)
    assert "row 1 (counted from 0) holds '2024-02-30'" in refusal(["2024-02-28", "2024-02-30"])


@pytest.mark.parametrize(("order", "second"), [("day-first", 31), ("month-first", 1)])
def test_an_order_that_is_stated_decides_what_cells_leave_open(order, second):
    frame = pd.DataFrame({"open": ["1/1/2024", "1/2/2024", "3/4/2024"]})
    frame["clear"] = ["1/1/2024", "1/2/2024", "1/31/2024"]
    encoder = FeatureEncoder(dates=order).fit(frame)
    first, clear = (
        column.read(Cells(column.name, frame[column.name])) for column in encoder.columns_
    )
    assert first[1] - first[0] == second
    assert clear[1] - clear[0] == 1


def test_new_cells_must_be_dates():
    told = "Column 'day' held dates when the model was fitted, but row 0 (counted from 0) holds "
    assert refusal(["2024-05-01", "2024-05-02"], ["soon"]).startswith(f"{told}'soon'; give a")
    assert refusal(["2024-05-01", "2024-05-02"], [7.0]).startswith(f"{told}'7'")


def test_dates_outside_the_range_of_the_fit_are_unfamiliar():
    encoder = FeatureEncoder().fit(pd.DataFrame({"day": ["2024-05-01", "2024-05-31"]}))
    new = pd.DataFrame({"day": ["2024-05-15", "2024-06-01", None, "2024-04-30"]})
    assert encoder.unfamiliar(new)[0].tolist() == [False, True, False, True]


@pytest.fixture
def seasons():
    """Return dates and degrees that follow the month."""
    dates = pd.Series(pd.date_range("2021-01-01", periods=240, freq="3D"))
    wave = 0.5 + 0.4 * np.cos(2 * np.pi * dates.dt.month / 12)
    y = pd.DataFrame({"hot": 1 - wave, "cold": wave * 0.7, "wet": wave * 0.3})
    return pd.DataFrame({"day": dates}), y


def test_a_model_learns_the_months_and_keeps_them_in_its_file(seasons, tmp_path):
    X, y = seasons
    model = TableModel("winldl", cross_fit=None).fit(X[:200], y[:200])
    assert np.abs(model.predict(X[200:]) - y[200:]).to_numpy().mean() < 0.02
    save_model(model, tmp_path / "m.inldl")
    again = load_model(tmp_path / "m.inldl")
    assert isinstance(again.encoder_.columns_[0], DateColumn)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    texts = X["day"].dt.strftime("%Y-%m-%d").to_frame()
    np.testing.assert_array_equal(again.predict(texts), model.predict(X))


@pytest.mark.parametrize(
    "dates", [pd.date_range("1896-02-01", "2104-03-31", freq="11D"),
              pd.date_range("2021-01-01", periods=240, freq="3D")]
)  # fmt: skip
def test_an_exported_model_takes_days_since_1970(dates, tmp_path):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    rng, dates = np.random.default_rng(0), pd.Series(dates).sample(240, random_state=0)
    X = pd.DataFrame({"day": [*dates[1:], None]})
    model = TableModel("winldl", cross_fit=None).fit(X, rng.dirichlet([1, 1, 1], 240))
    export_onnx(model, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    days = (X["day"] - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    [found] = session.run(["degrees"], {"day": days.to_numpy()[:, None]})
    np.testing.assert_allclose(found, model.predict(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".parquet"])
def test_dates_in_files(seasons, tmp_path, suffix):
    X, y = seasons
    frame, path = X.join(y.round(4)), tmp_path / f"t{suffix}"
    if suffix == ".csv":
        frame.to_csv(path, index=False, date_format="%d/%m/%Y")
    else:
        frame.to_excel(path, index=False) if suffix == ".xlsx" else frame.to_parquet(path)
    learned = fit_table(TableFile(path, "hot,cold,wet"), "winldl", normalize=True)
    assert learned.new_rows.overall()["mae"] < 0.02
    out = tmp_path / f"out{suffix}"
    written = predict_table(TableFile(path, None), learned.model, out)
    assert written.n_rows == 240


@pytest.mark.parametrize("n_levels", [51, 250])
def test_states_and_countries_are_all_told_apart(n_levels):
    names = [f"state {i:03}" for i in range(n_levels)]
    encoder = FeatureEncoder().fit(pd.DataFrame({"state": names * 2}))
    assert sorted(encoder.columns_[0].levels) == names
    assert not encoder.columns_[0].other
    assert encoder.notes_ == []


def test_beyond_that_the_others_share_a_column():
    encoder = FeatureEncoder().fit(pd.DataFrame({"town": [f"t{i}" for i in range(251)] * 2}))
    assert len(encoder.columns_[0].outputs) == 251
    assert "the 250 most frequent have a column each" in encoder.notes_[0]
