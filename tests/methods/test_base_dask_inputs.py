"""Dask arrays and frames as X and y, on the threads of this machine."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from inldl import WInLDL, hide
from inldl.datasets import make_distributions
from inldl_paper.literature import InLDLADMM, InLDLProx

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
METHODS = [WInLDL, InLDLADMM, InLDLProx]
FEATURES, LABELS = ["a", "b", "c"], ["low", "mid", "high"]
X, COMPLETE = make_distributions(500, random_state=0)
Y = hide(COMPLETE, 0.4, random_state=0)


def lazy(a, rows, columns=-1):
    return da.from_array(a, chunks=(rows, columns))


def close(model, expected):
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("X_lazy", "y_lazy"),
    [
        (lazy(X, 100), lazy(Y, 100)),
        (lazy(X, 90, 2), lazy(Y, 170, 1)),
        (lazy(X, 500), lazy(Y, 3)),
        (lazy(X, 130), Y),
        (X, lazy(Y, 130)),
    ],
    ids=["aligned", "crossed", "rows", "y here", "X here"],
)
def test_any_chunks(method, X_lazy, y_lazy):
    model = method().fit(X_lazy, y_lazy)
    close(model, method().fit(X, Y))
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("method", METHODS)
def test_empty_chunks(method):
    kept = da.arange(500, chunks=50) >= 120
    X_lazy, y_lazy = lazy(X, 50)[kept], lazy(Y, 50)[kept]
    expected = method().fit(X[120:], Y[120:])
    close(method().fit(X_lazy, y_lazy), expected)
    predicted, full = expected.predict(X_lazy), expected.complete(X_lazy, y_lazy)
    np.testing.assert_allclose(predicted.compute(), expected.predict(X[120:]), atol=1e-12)
    np.testing.assert_allclose(full.compute(), expected.complete(X[120:], Y[120:]), atol=1e-12)


def test_precision_and_integers():
    single = WInLDL().fit(lazy(X.astype(np.float32), 100), lazy(Y.astype(np.float32), 100))
    assert single.predict(lazy(X.astype(np.float32), 100)).dtype == np.float32
    np.testing.assert_allclose(single.coef_, WInLDL().fit(X, Y).coef_, atol=1e-4)
    whole = np.round(X * 10).astype(int)
    model = WInLDL().fit(lazy(whole, 100), lazy(Y, 100))
    close(model, WInLDL().fit(whole, Y))
    assert model.predict(lazy(whole, 100)).dtype == np.float64


def test_more_features_than_rows_are_not_rotated():
    wide = np.random.default_rng(0).normal(size=(12, 40))
    ours, expected = WInLDL().fit(lazy(wide, 5), lazy(COMPLETE[:12], 5)), WInLDL()
    np.testing.assert_allclose(
        ours.predict(wide), expected.fit(wide, COMPLETE[:12]).predict(wide), atol=1e-6
    )


def frames():
    both = pd.DataFrame(np.hstack([X, Y]), columns=FEATURES + LABELS)
    both = dd.from_pandas(both, npartitions=4)
    both = both[both["a"] > -100]  # of all rows, but nobody knows how many
    return both[FEATURES], both[LABELS]


def test_chunks_of_unknown_length():
    X_frame, y_frame = frames()
    assert np.isnan(X_frame.values.shape[0])
    expected = WInLDL().fit(X, Y)
    close(WInLDL().fit(X_frame.values, y_frame.values), expected)
    close(WInLDL().fit(X_frame.values, lazy(Y, 70)), expected)
    full = expected.complete(X_frame.values, y_frame.values).compute()
    np.testing.assert_allclose(full, expected.complete(X, Y), atol=1e-12)
    predicted = expected.predict(X_frame.values)
    assert np.isnan(predicted.shape[0])
    np.testing.assert_allclose(predicted.compute(), expected.predict(X), atol=1e-12)


def test_frames_bring_names():
    X_frame, y_frame = frames()
    model = WInLDL().fit(X_frame, y_frame)
    close(model, WInLDL().fit(X, Y))
    assert list(model.feature_names_in_) == FEATURES
    assert list(model.label_names_) == LABELS
    expected = WInLDL().fit(X, Y)
    predicted, full = model.predict(X_frame), model.complete(X_frame, y_frame)
    np.testing.assert_allclose(predicted.compute(), expected.predict(X), atol=1e-9)
    np.testing.assert_allclose(full.compute(), expected.complete(X, Y), atol=1e-9)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X_frame[["c", "b", "a"]])
    with pytest.raises(ValueError, match="same columns in the same order"):
        model.complete(X_frame, y_frame[["mid", "low", "high"]])


def test_arrays_in_files(tmp_path):
    lazy(X, 100).to_zarr(str(tmp_path / "X.zarr"))
    lazy(Y, 100).to_zarr(str(tmp_path / "y.zarr"))
    expected = WInLDL().fit(X, Y)
    stored = [da.from_zarr(str(tmp_path / name)) for name in ("X.zarr", "y.zarr")]
    close(WInLDL().fit(*stored), expected)
    both = pd.DataFrame(np.hstack([X, Y]), columns=FEATURES + LABELS)
    for i in range(5):
        both[100 * i : 100 * (i + 1)].to_parquet(tmp_path / f"rows.{i}.parquet")
    both = dd.read_parquet(tmp_path / "rows.*.parquet")
    close(WInLDL().fit(both[FEATURES], both[LABELS]), expected)


@pytest.mark.parametrize("method", METHODS)
def test_predictions_are_lazy(method):
    model = method().fit(X, Y)
    X_lazy, y_lazy = lazy(X, 130, 2), lazy(Y, 90)
    predicted, full = model.predict(X_lazy), model.complete(X_lazy, y_lazy)
    for found, expected in ((predicted, model.predict(X)), (full, model.complete(X, Y))):
        assert isinstance(found, da.Array)
        assert found.chunks == ((130, 130, 130, 110), (3,))
        assert found.dtype == found._meta.dtype == np.float64
        np.testing.assert_allclose(found.compute(), expected, rtol=0, atol=1e-12)
    assert model.score(X_lazy, y_lazy) == pytest.approx(model.score(X, Y))
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3"):
        model.predict(X_lazy[:, :2])
    with pytest.raises(ValueError, match=r"y has the shape \(500, 2\), but \(500, 3\)"):
        model.complete(X_lazy, y_lazy[:, :2])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.9, np.nan, 0.4], r"observed degrees of row 444 of y sum to 1.3"),
        ([18.1, np.nan, np.nan], r"Row 444 of y has the degree 18.1"),
    ],
)
def test_complete_refuses_what_cannot_be_filled_when_computed(row, message):
    model, y = WInLDL().fit(X, Y), Y.copy()
    y[444] = row
    full = model.complete(lazy(X, 100), lazy(y, 100))
    with pytest.raises(ValueError, match=message):
        full.compute(scheduler="synchronous")


def with_value(a, value):
    a = a.copy()
    a[321, 1] = value
    return a


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (with_value(X, np.nan), Y, "Input X contains NaN"),
        (with_value(X, np.inf), Y, "Input X contains infinity"),
        (X, with_value(Y, np.inf), "Input y contains infinity"),
        (X, Y[:, 0], "y must be 2-D, one row per sample and one column per label"),
        (X, Y[:-1], "X has 500 rows and y has 499"),
        (X, np.where([True, False, True], Y, np.nan), "Label column 1 of y has no observed"),
        (X[:, :0], Y, "0 feature"),
        (X[:0], Y[:0], "0 sample"),
        (X * 1e200, Y, "squares of the features overflow; scale X"),
    ],
)
def test_bad_data_is_named_as_in_memory(X, y, message):
    with pytest.raises(ValueError, match=message):
        WInLDL().fit(X, y)
    chunks = [da.from_array(a, chunks=(100, *a.shape[1:])) for a in (X, y)]
    with pytest.raises(ValueError, match=message):
        WInLDL().fit(*chunks)


def test_an_unseen_label_of_a_frame_is_named():
    X_frame, y_frame = frames()
    y_frame = y_frame.assign(mid=np.nan)
    with pytest.raises(ValueError, match="Label column 'mid' of y has no observed degree"):
        WInLDL().fit(X_frame, y_frame)


@pytest.mark.parametrize("values", [{321: 1.5}, {321: -0.1}, {321: 0.0}, {7: 0.0, 321: 1.5}])
def test_doubtful_degrees_are_named_as_in_memory(values):
    y = COMPLETE.copy()
    for row, value in values.items():
        y[row, 1] = value
    with pytest.warns(UserWarning, match="row 321") as in_memory:
        WInLDL().fit(X, y)
    with pytest.warns(UserWarning, match="row 321") as in_chunks:
        WInLDL().fit(lazy(X, 100), lazy(y, 100))
    assert str(in_chunks[0].message) == str(in_memory[0].message)
    assert in_chunks[0].filename == __file__


def test_cross_fitting_needs_memory():
    with pytest.raises(ValueError, match="cross_fit needs X and y in memory"):
        WInLDL(cross_fit=5).fit(lazy(X, 100), lazy(Y, 100))


def test_verbose_says_where_it_is(capsys):
    WInLDL(max_iter=3, tol=0.0, verbose=1).fit(lazy(X, 100), lazy(Y, 100))
    assert capsys.readouterr().out.splitlines()[2].startswith("WInLDL 3/3: coef_change")
