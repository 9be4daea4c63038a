"""AutoInLDL beyond the rows of a sample: the same from every place."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from inldl import AutoInLDL, hide
from inldl.engines import local
from inldl.files import load_model, save_model
from inldl.methods import KernelRidgeLDL, kernel_features
from inldl.methods import auto as _auto
from inldl.methods import auto_all_rows as _auto_all_rows
from inldl.methods import auto_fitting as _auto_fitting
from inldl.methods import kernel_features as _kernel_features
from inldl.methods.auto_fitting import Budget, error_of
from inldl.rows.partial import PartialRows
from inldl.solvers import softmax as _softmax
from inldl.solvers.softmax import softmax

N, MOST = 6000, 800


def curved(n=N, seed=0, dtype=np.float32):
    """Return features, degrees with holes, and without."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 3)).astype(dtype)
    scores = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] ** 2, np.cos(2 * X[:, 2])])
    y = softmax(2 * scores + rng.normal(size=(n, 3)) / 2)
    return X, hide(y, 0.4, random_state=seed).astype(dtype), softmax(2 * scores)


X, Y, _ = curved()
NEW, _, TRUTH = curved(500, seed=1)


def shorten(patch):
    """Have few rows count as many, and fewer kernels to choose from."""
    patch.setattr(_auto_fitting, "SAMPLE_ROWS", MOST)
    patch.setattr(_kernel_features, "SCALES", (4.0,))
    patch.setattr(kernel_features, "TRIED_ALPHAS", (1.0, 0.1))
    patch.setattr(_auto_all_rows, "MORE_PAYS", -1.0)
    patch.setattr(_softmax, "DESCENTS", (200, 1000))
    patch.setattr(_softmax, "HIDDEN", (32, 32))
    patch.setattr(_auto, "FEWEST_FOR_NETWORK", 100)
    patch.setattr(local, "LARGE_MAP", 0)


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    shorten(monkeypatch)


def auto(**options):
    options = {"members": "network", "random_state": 0} | options
    return AutoInLDL(**options)


@pytest.fixture(scope="module")
def fitted():
    with pytest.MonkeyPatch.context() as patch:
        shorten(patch)
        return auto(members=("network", "kernel-ridge")).fit(X, Y)


@pytest.fixture(scope="module")
def network_alone():
    with pytest.MonkeyPatch.context() as patch:
        shorten(patch)
        return auto().fit(X, Y)


def mapped(folder, a, name="X"):
    a.tofile(folder / name)
    return np.memmap(folder / name, a.dtype, "r", shape=a.shape)


def test_all_rows_beat_the_sample(fitted, monkeypatch):
    """On new rows, by more than the rows that are held out cost."""
    monkeypatch.setattr(_auto_fitting, "SAMPLE_ROWS", N)
    rows = np.random.default_rng(0).choice(N, MOST, replace=False)
    alone = auto(members=("network", "kernel-ridge")).fit(X[rows], Y[rows])
    errors = [np.abs(model.predict(NEW) - TRUTH).mean() for model in (fitted, alone)]
    assert errors[0] < 0.9 * errors[1]


def test_held_out_rows_were_not_learned_from(fitted, monkeypatch):
    """Other degrees in these rows change no network, only which of them is chosen."""
    held = fitted.held_out_rows_
    assert held.shape == (MOST // 5,)
    assert fitted.held_out_.shape == (MOST // 5, 3)
    np.testing.assert_allclose(fitted.predict(X[held]), fitted.held_out_, atol=1e-6)
    rest = np.setdiff1d(np.arange(N), held)
    learn, found = _auto_all_rows.learn_alone, []

    def noted(*arguments):
        """Keep what is predicted by the networks of more rows."""
        made = learn(*arguments)
        found.append(made.predict(NEW))
        return made

    monkeypatch.setattr(_auto_all_rows, "learn_alone", noted)
    monkeypatch.setattr(_auto_all_rows, "MORE", 100)  # all rows at once
    for rows in (held[:0], held, rest[rest % 3 == 0]):
        y = Y.copy()
        y[rows] = Y[np.roll(rows, 1)]
        auto().fit(X, y)
    np.testing.assert_array_equal(found[1], found[0])
    assert np.abs(found[2] - found[0]).max() > 0.1


def test_the_report_says_what_was_done(fitted):
    report = fitted.report_
    member = report.members["network"]
    assert report.rows == N
    assert member.rows in (2560, 5840)
    assert report.members["kernel-ridge"].rows == MOST - MOST // 5
    assert [rows for name, rows, _ in report.curve if name == "network"] == [640, 2560, 5840]
    told = "\n".join(report.notes)
    assert f"Choices were made on a sample of {MOST - MOST // 5} rows." in told
    assert f"Errors are measured on {MOST // 5} rows that were left out." in told
    known = PartialRows(Y[fitted.held_out_rows_]).forced()
    assert report.error == pytest.approx(error_of(known, fitted.held_out_))
    assert report.error <= member.error * 1.1


def test_intervals_and_completing_work(fitted, without_trees):
    lower, upper = fitted.predict_interval(X, coverage=0.9)
    seen = ~np.isnan(Y)
    assert 0.8 < ((lower <= Y) & (upper >= Y))[seen].mean() < 0.97
    whole = fitted.complete(X[:200], Y[:200])
    np.testing.assert_allclose(whole.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(whole[seen[:200]], Y[:200][seen[:200]])


def test_model_files_hold_it(fitted, tmp_path):
    save_model(fitted, tmp_path / "m.inldl")
    loaded = load_model(tmp_path / "m.inldl")
    np.testing.assert_array_equal(loaded.predict(NEW), fitted.predict(NEW))
    assert str(loaded.report_) == str(fitted.report_)


def test_the_same_bits_for_any_number_of_threads_and_from_disk(network_alone, tmp_path):
    expected = network_alone.predict(NEW)
    for n_jobs, given in [(2, X), (1, mapped(tmp_path, X)), (3, mapped(tmp_path, X))]:
        found = auto(n_jobs=n_jobs).fit(given, Y)
        np.testing.assert_array_equal(found.predict(NEW), expected)
        np.testing.assert_array_equal(found.held_out_rows_, network_alone.held_out_rows_)


def test_zarr_is_read_from_disk(network_alone, tmp_path):
    zarr = pytest.importorskip("zarr")
    stored = zarr.create_array(tmp_path / "X.zarr", data=X, chunks=(700, 3))
    found = auto().fit(stored, Y)
    np.testing.assert_array_equal(found.predict(NEW), network_alone.predict(NEW))
    np.testing.assert_array_equal(found.predict(stored), found.predict(X))


def test_dask_gives_the_same_but_for_rounding_and_predicts_lazily(network_alone):
    lazy = [da.from_array(X, chunks=(900, 2)), da.from_array(Y, chunks=(1000, -1))]
    found = auto().fit(*lazy)
    np.testing.assert_array_equal(found.held_out_rows_, network_alone.held_out_rows_)
    np.testing.assert_allclose(found.predict(NEW), network_alone.predict(NEW), atol=1e-6)
    predicted = found.predict(lazy[0])
    assert isinstance(predicted, da.Array)
    assert (predicted.chunks[0], predicted.dtype) == (lazy[0].chunks[0], X.dtype)
    np.testing.assert_allclose(predicted.compute(), found.predict(X), atol=1e-6)


def test_intervals_of_dask_rows_are_lazy(network_alone):
    lazy = da.from_array(NEW, chunks=(170, 3))
    found = network_alone.predict_interval(lazy, coverage=0.8)
    assert [bound.chunks[0] for bound in found] == [lazy.chunks[0]] * 2
    for bound, expected in zip(found, network_alone.predict_interval(NEW, 0.8), strict=True):
        np.testing.assert_allclose(bound.compute(), expected, atol=1e-6)


@pytest.mark.usefixtures("without_trees")
def test_dask_rows_are_completed_lazily_as_in_memory(network_alone):
    holes = hide(TRUTH, 0.4, random_state=3).astype(np.float32)
    lazy = da.from_array(NEW, chunks=(170, 2)), da.from_array(holes, chunks=(130, 1))
    completed = network_alone.complete(*lazy)
    assert isinstance(completed, da.Array)
    assert (completed.chunks[0], completed.dtype) == (lazy[0].chunks[0], np.float32)
    expected = network_alone.complete_interval(NEW, holes)
    np.testing.assert_allclose(completed.compute(), expected[0], atol=1e-6)
    for y in (holes, lazy[1]):
        found = da.compute(*network_alone.complete_interval(lazy[0], y))
        for values, same in zip(found, expected, strict=True):
            np.testing.assert_allclose(values, same, atol=1e-6)
    draws = network_alone.draw(*lazy, n_draws=2, random_state=0)
    assert draws.shape == (2, *holes.shape)


@pytest.mark.usefixtures("without_trees")
def test_what_is_wrong_in_a_chunk_is_told_by_the_number_of_its_row(network_alone):
    holes = np.full_like(TRUTH, np.nan)
    lazy = da.from_array(NEW, chunks=(170, -1))
    with pytest.raises(ValueError, match=r"y has the shape \(500, 2\), but \(500, 3\) is what"):
        network_alone.complete(lazy, holes[:, :2])
    with pytest.raises(ValueError, match="coverage must be a number between 0 and 1"):
        network_alone.complete_interval(lazy, holes, coverage=2)
    holes[400, :2] = 0.7
    later = network_alone.complete(lazy, holes)
    with pytest.raises(ValueError, match=r"degrees of row 400 of y sum to 1\.4"):
        later.compute()


@pytest.mark.usefixtures("without_trees")
@pytest.mark.filterwarnings("error::UserWarning")
def test_names_of_a_fit_are_compared_once(network_alone):
    names, labels = ["a", "b", "c"], ["u", "v", "w"]
    y = pd.DataFrame(Y[:300], columns=labels)
    found = auto().fit(pd.DataFrame(X[:300], columns=names), y)
    frame = dd.from_pandas(pd.DataFrame(X[:300], columns=names), npartitions=3)
    lazy = found.complete(frame, dd.from_pandas(y, npartitions=2))
    np.testing.assert_allclose(lazy.compute(), found.complete(frame.compute(), y), atol=1e-6)
    found.predict_interval(frame)[0].compute()
    with pytest.raises(ValueError, match="feature names should match"):
        found.complete(frame.rename(columns={"a": "A"}), y)


def test_frames_of_unknown_length_keep_their_names(network_alone):
    names = ["a", "b", "c"], ["u", "v", "w"]
    table = pd.DataFrame(np.hstack([X, Y]), columns=[*names[0], *names[1]])
    stored = dd.from_pandas(table, npartitions=4)
    stored = stored[stored["a"] > -9]  # how many these are nobody knows
    found = auto().fit(stored[names[0]], stored[names[1]])
    assert list(found.feature_names_in_) == names[0]
    assert list(found.label_names_) == names[1]
    frame = pd.DataFrame(NEW, columns=names[0])
    np.testing.assert_allclose(found.predict(frame), network_alone.predict(NEW), atol=1e-6)


def test_few_rows_on_disk_or_in_chunks_are_learned_as_in_memory(tmp_path):
    rows = slice(0, 300)
    expected = auto().fit(X[rows], Y[rows])
    chunked = da.from_array(X[rows], chunks=(100, 3)), da.from_array(Y[rows], chunks=(100, 3))
    for given in [(mapped(tmp_path, X[rows]), Y[rows]), chunked]:
        found = auto().fit(*given)
        np.testing.assert_array_equal(found.predict(NEW), expected.predict(NEW))
        np.testing.assert_array_equal(found.held_out_, expected.held_out_)
        assert found.held_out_rows_ is None


def test_another_fit_forgets_which_rows_were_held_out(network_alone):
    model = auto().fit(X, Y)
    assert model.held_out_rows_ is not None
    assert model.fit(X[:200], Y[:200]).held_out_rows_ is None
    assert model.held_out_.shape == (200, 3)


def test_weights_count_in_all_rows(network_alone):
    """What stands in rows that weigh next to nothing changes little of what weights change."""
    other = Y.copy()
    strange = np.arange(N) % 5 == 0
    other[strange] = Y[strange][:, ::-1]
    lazy = [da.from_array(a, chunks=900) for a in (X, other)]
    weights = np.where(strange, 1e-7, 1.0)
    one, two = (auto().fit(X, y, sample_weight=weights).predict(NEW) for y in (Y, other))
    by_weights = np.abs(one - network_alone.predict(NEW)).max()
    assert np.abs(one - two).max() < 0.02 * by_weights
    assert by_weights > 0.01
    found = auto().fit(*lazy, sample_weight=da.from_array(weights, chunks=900))
    np.testing.assert_allclose(found.predict(NEW), two, atol=1e-6)


def test_bounds_are_used_in_the_sample():
    whole = curved()[2]
    y = hide(whole, 0.4, random_state=0)
    upper = np.where(np.isnan(y), np.minimum(1.2 * whole, 1), np.nan)
    model = auto(members="kernel-ridge").fit(X, y, upper=upper)
    assert f"Learned from a sample of {MOST} of {N} rows: bounds" in str(model.report_)
    assert model.held_out_rows_.shape == (MOST,)
    assert model.held_out_.shape == (MOST, 3)


def test_trees_learn_from_more_rows_as_long_as_it_pays(tmp_path):
    """Labels jump, which takes rows to learn."""
    steps = softmax(2.0 * np.sign(np.column_stack([X[:, 0] * X[:, 1], X[:, 2], 0 * X[:, 0]])))
    y = hide(steps, 0.4, random_state=0).astype(np.float32)
    model = auto(members="boosted").fit(X, y)
    report = model.report_
    assert [rows for _, rows, _ in report.curve[:2]] == [640, 2560]
    assert report.curve[1][-1] < 0.9 * report.curve[0][-1]
    assert report.members["boosted"].rows in [rows for _, rows, _ in report.curve]
    assert report.error == min(error for *_, error in report.curve)
    held = model.held_out_rows_
    np.testing.assert_allclose(model.held_out_, model.predict(X[held]), atol=0.05)
    save_model(model, tmp_path / "model.inldl")
    again = load_model(tmp_path / "model.inldl").predict(NEW)
    np.testing.assert_array_equal(again, model.predict(NEW))
    lazy = auto(members="boosted").fit(da.from_array(X, (1500, 3)), da.from_array(y, (1500, 3)))
    assert lazy.report_.members["boosted"].rows > 640
    weights = (X[:, 2] > 0).astype(
        float
    )  # of these rows, all with one sign, nothing else is known
    weighted = auto(members="boosted").fit(X, y, sample_weight=weights).predict(NEW)
    expected = softmax(
        2.0 * np.sign(np.column_stack([NEW[:, 0] * NEW[:, 1], abs(NEW[:, 2]), 0 * NEW[:, 0]]))
    )
    assert np.abs(weighted - expected).mean() < 0.035


def test_members_that_cannot_learn_from_all_rows_learn_from_the_sample():
    model = auto(members="kernel-ridge").fit(X, Y)
    assert "only boosted and network can learn from more" in str(model.report_)
    numbers = model.held_out_rows_
    alone = KernelRidgeLDL(random_state=0).fit(X[numbers], Y[numbers])
    assert model.members_["kernel-ridge"].alpha_ == alone.alpha_


def test_degrees_that_are_missing_because_of_their_size_are_filled_in_the_sample():
    model = auto().fit(X, hide(curved()[2], 0.5, mechanism="top", random_state=0))
    assert "because of their size can be filled in only there" in str(model.report_)


def test_sparse_rows():
    given = sparse.csr_array(np.where(np.abs(X) > 1, X, 0))
    model = auto().fit(given, Y)
    assert model.report_.members["network"].rows > MOST
    np.testing.assert_allclose(model.predict(given[:50]).sum(axis=1), 1, rtol=1e-5)


def test_no_time_for_more_rows(monkeypatch):
    monkeypatch.setattr(Budget, "allows", lambda self, seconds: False)
    with pytest.warns(UserWarning, match="network learned from 640 of 6000 rows, to keep"):
        model = auto(time_budget=1000.0).fit(X, Y)
    assert model.held_out_.shape == (MOST // 5, 3)
    assert model.report_.members["network"].rows == MOST - MOST // 5


def test_verbose_tells_how_many_rows(capsys):
    auto(verbose=1).fit(X, Y)
    assert "network, 2,560 rows: error" in capsys.readouterr().out
