"""WInLDL within bounds: the set its rows are projected onto, its limit, and all engines."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize

from inldl import WInLDL, hide
from inldl.rows.partial import PartialRows
from inldl.solvers.winldl import WInLDLProblem
from inldl.weighting import get_weighting

NAN = np.nan
N = 300
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
T = np.exp(X @ RNG.normal(size=(3, 5)) / 2 + RNG.normal(size=(N, 5)) / 4)
T /= T.sum(axis=1, keepdims=True)
Y = hide(T, 0.5, random_state=0)
HOLES = np.isnan(Y)
UPPER = np.where(HOLES & (np.arange(N) % 3 > 0)[:, None], np.maximum(T, 0.02) * 1.1, NAN)
UPPER[::7] = np.where(HOLES[::7], 0.99, NAN)  # of some rows these say nothing
LOWER = np.where(HOLES & (np.arange(N) % 5 == 0)[:, None], T * 0.8, NAN)
SUMS = {(1, 3): np.where(np.arange(N) % 4 == 0, T[:, 1] + T[:, 3], NAN)}
KNOWN = {"lower": LOWER, "upper": UPPER, "sums": SUMS}


def some(rows):
    """Return the limits of some rows."""
    sums = {labels: total[rows] for labels, total in SUMS.items()}
    return {"lower": LOWER[rows], "upper": UPPER[rows], "sums": sums}


def fitted(X=X, y=Y, sample_weight=None, known=KNOWN, **parameters):
    parameters = {"tol": 0.0, "max_iter": 10} | parameters
    return WInLDL(**parameters).fit(X, y, sample_weight, **known)


def same_bits(model, expected):
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.intercept_, expected.intercept_)
    for name, values in expected.history_.items():
        np.testing.assert_array_equal(model.history_[name], values)


def problem(header, weighting="degree", impute=True, max_iter=20):
    return WInLDLProblem(
        get_weighting(weighting), impute, rho=2.0, max_iter=max_iter, ridge=1e-5,
        fit_intercept=True, close_rows=True, header=header,
    )  # fmt: skip


@pytest.mark.parametrize("impute", [True, False])
@pytest.mark.parametrize("weighting", ["degree", "random"])
def test_targets_are_in_their_sets_and_rows_are_distributions(impute, weighting, monkeypatch):
    header, known = PartialRows.open(X, Y, **KNOWN)
    method = problem(header, weighting, impute)
    block, sums = method.start(X, Y, **known)
    shared = method.first(sums, None)
    targets, nearest = [], PartialRows.project
    monkeypatch.setattr(
        PartialRows, "project", lambda *args: targets.append(nearest(*args)) or targets[-1]
    )
    for _ in range(20):
        block, sums = method.step(block, *method.message(shared))
        shared = method.next(shared, sums, None)
    rows, Z = block.limited.rows, block.limited.Z
    assert 0 < len(rows) < N
    assert len(targets) == 20
    np.testing.assert_allclose(Z.sum(axis=1), 1, atol=1e-12)
    assert (Z >= 0).all()
    total = SUMS[1, 3][rows]
    inside = ~np.isnan(total) & HOLES[rows][:, [1, 3]].any(axis=1)
    assert inside.any()
    for target in targets:
        np.testing.assert_allclose(target.sum(axis=1), 1, atol=1e-12)
        assert (np.fmax(LOWER[rows], 0) - 1e-15 <= target)[HOLES[rows]].all()
        assert (np.fmin(UPPER[rows], 1) >= target)[HOLES[rows]].all()
        found = target[inside][:, [1, 3]].sum(axis=1)
        np.testing.assert_allclose(found, total[inside], atol=1e-12)


class Equal:
    """Give all degrees the same weight: only then a projection solves the problem of a row."""

    def observed(self, degrees):
        return np.ones_like(degrees)

    def unobserved(self, means, progress):
        return np.ones_like(means)


def test_the_limit_is_what_another_solver_finds():
    """Without imputing targets do not change: it is least squares under linear constraints."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(6, 2)), rng.dirichlet(np.ones(3), 6)
    y[:4, 1:] = NAN
    lower, upper = np.full((2, *y.shape), NAN)
    lower[:4, 1], upper[:4, 2] = [0.3, 0.25, 0.3, 0.2], [0.3, 0.4, 0.2, 0.35]
    limits = PartialRows.of(y, lower, upper)
    A, target = np.hstack([X, np.ones((6, 1))]), y.copy()
    allowed = limits.take(np.arange(4)).free().project(np.zeros((4, 3)))
    target[:4, 1:] = allowed[:, 1:]

    def degrees(w):
        return A @ w.reshape(3, 3)

    inside = [
        {"type": "eq", "fun": lambda w: degrees(w)[:3].sum(axis=1) - 1},  # then all rows do
        {"type": "ineq", "fun": lambda w: degrees(w).ravel()},
    ]
    start = np.vstack([np.zeros((2, 3)), [[0.5, 0.35, 0.15]]]).ravel()
    found = minimize(
        lambda w: ((degrees(w) - target) ** 2).sum() / 2, start,
        jac=lambda w: (A.T @ (degrees(w) - target)).ravel(),
        method="SLSQP", constraints=inside, options={"maxiter": 500, "ftol": 1e-15},
    )  # fmt: skip
    assert found.success
    model = WInLDL(Equal(), missing="zero", ridge=0.0, max_iter=20_000, tol=1e-12)
    model.fit(X, y, lower=lower, upper=upper)
    assert model.converged_
    linear = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(linear, degrees(found.x), atol=1e-6)
    assert np.abs(model.fit(X, y).predict(X) - linear).max() > 0.01


def test_bounds_teach_something():
    without, within = WInLDL().fit(X, Y), WInLDL().fit(X, Y, **KNOWN)
    assert ((within.predict(X) - T) ** 2).mean() < 0.96 * ((without.predict(X) - T) ** 2).mean()


@pytest.mark.parametrize("missing", ["impute", "zero"])
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_bounds_that_say_nothing_change_no_bit(missing, dtype):
    X_, y = X.astype(dtype), Y.astype(dtype)
    rest = 1 - np.nansum(y, axis=1, keepdims=True, dtype=float)
    expected = WInLDL(missing=missing).fit(X_, y)
    for known in (
        {"lower": np.zeros_like(Y), "upper": np.ones_like(Y)},
        {"upper": np.where(HOLES, np.broadcast_to(rest, Y.shape), NAN)},
        {"sums": {(0, 1): np.full(N, NAN)}},
    ):
        same_bits(WInLDL(missing=missing).fit(X_, y, **known), expected)


def test_rows_of_which_bounds_say_nothing_are_as_without():
    """They could be in a block of which all bounds say nothing."""
    row = np.flatnonzero(HOLES.sum(axis=1) > 2)[3]
    upper = np.full(Y.shape, NAN)
    upper[row] = np.where(HOLES[row], T[row] + 0.01, NAN)
    rest = 1 - np.nansum(Y, axis=1, keepdims=True)
    others = np.where(HOLES & np.isnan(upper), np.broadcast_to(rest, Y.shape), upper)
    assert (others < 1).sum() > 3 * (upper < 1).sum()
    same_bits(fitted(known={"upper": others}), fitted(known={"upper": upper}))


def in_chunks(size, *arrays):
    """Return arrays in chunks of a few rows, which are blocks."""
    return [da.from_array(a, chunks=(size, -1)) for a in arrays]


def test_what_a_row_is_learned_from_does_not_depend_on_its_block():
    """Rows whose small degrees are hidden: of some the bounds say nothing, of others much."""
    y = np.where(T < 0.15, NAN, T)
    upper = np.where(np.isnan(y), 0.15, NAN)
    rows = np.argsort(
        PartialRows.of(y, upper=upper).informative, kind="stable"
    )  # so blocks differ
    data, known = (X[rows], y[rows]), {"upper": upper[rows]}
    expected = fitted(*data, known=known)
    in_blocks = fitted(*in_chunks(16, *data), known=known)
    np.testing.assert_allclose(in_blocks.coef_, expected.coef_, atol=1e-11)


def test_threads_and_disk_have_the_bits_of_memory(tmp_path):
    h5py, rows = pytest.importorskip("h5py"), np.resize(np.arange(N), 5000)  # of several blocks
    many, y, known = X[rows], Y[rows], some(rows)
    expected = fitted(many, y, known=known)
    same_bits(fitted(many, y, known=known, n_jobs=2), expected)
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        on_disk = file.create_dataset("X", data=many)
        same_bits(fitted(on_disk, y, known=known, n_jobs=2), expected)
        bounds = known | {"upper": file.create_dataset("upper", data=known["upper"])}
        same_bits(fitted(on_disk, y, known=bounds), expected)


def test_blocks_of_other_sizes_have_the_same_result():
    found = fitted(*in_chunks(16, X, Y))
    np.testing.assert_allclose(found.coef_, fitted().coef_, atol=1e-11)


def test_chunks_have_the_same_bits_wherever_they_are():
    lazy = da.from_array(X, chunks=(90, 2)), da.from_array(Y, chunks=(70, -1))
    expected = fitted(*lazy)
    np.testing.assert_allclose(expected.coef_, fitted().coef_, atol=1e-11)
    chunked = KNOWN | {"upper": da.from_array(UPPER, chunks=(50, 2))}
    same_bits(fitted(*lazy, known=chunked, n_jobs=2), expected)


def test_dask_frames_carry_bounds():
    labels = list("abcde")
    frames = [pd.DataFrame(X, columns=["x", "y", "z"])]
    frames += [pd.DataFrame(a, columns=labels) for a in (Y, UPPER)]
    sums = {("b", "d"): SUMS[1, 3]}
    here = WInLDL().fit(frames[0], frames[1], upper=frames[2], sums=sums)
    lazy = [dd.from_pandas(each, npartitions=3) for each in frames]
    there = WInLDL().fit(lazy[0], lazy[1], upper=lazy[2], sums=sums)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-11)
    completed = here.complete(lazy[0], lazy[1], upper=lazy[2], sums=sums)
    expected = here.complete(frames[0], frames[1], upper=frames[2], sums=sums)
    np.testing.assert_allclose(np.asarray(completed), expected, atol=1e-12)
    with pytest.raises(ValueError, match="columns of upper are e, d, c, b, a, but the labels"):
        WInLDL().fit(lazy[0], lazy[1], upper=lazy[2][labels[::-1]])


@pytest.mark.slow
def test_a_cluster_has_the_bits_of_threads():
    from distributed import Client, LocalCluster

    lazy = da.from_array(X, chunks=(60, -1)), da.from_array(Y, chunks=(60, -1))
    expected = fitted(*lazy)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(silence_logs=50, **options) as cluster, Client(cluster):
        same_bits(fitted(*lazy), expected)
        bad = UPPER.copy()
        row, label = np.argwhere(HOLES)[-1]
        bad[row, label] = -1
        with pytest.raises(ValueError, match=f"bounds of label {label} in row {row} "):
            fitted(*lazy, known={"upper": bad})


WEIGHTS = np.random.default_rng(1).integers(0, 3, N).astype(float)
COPIES = np.repeat(np.arange(N), WEIGHTS.astype(int))


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        sparse.csr_array,
        lambda X: np.hstack([X, np.random.default_rng(0).normal(size=(N, 3 * N))]),
    ],
    ids=["dense", "CSR", "wide"],
)
def test_weight_2_is_the_row_twice_and_0_no_row(form):
    given = form(X)
    weighted = fitted(given, sample_weight=WEIGHTS, ridge=1e-3)
    repeated = fitted(given[COPIES], Y[COPIES], known=some(COPIES), ridge=1e-3)
    np.testing.assert_allclose(weighted.predict(given), repeated.predict(given), atol=1e-8)
    without = fitted(given, sample_weight=WEIGHTS, known={}, ridge=1e-3)
    assert np.abs(weighted.predict(given) - without.predict(given)).max() > 1e-3


def test_bounds_of_rows_without_weight_are_gone():
    rows = np.arange(N) % 5 == 0
    known = {"lower": LOWER}
    expected = fitted(X[~rows], Y[~rows], known={})
    found = fitted(sample_weight=np.where(rows, 0.0, 1.0), known=known)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-10)


@pytest.mark.parametrize("form", [sparse.csr_array, np.asfortranarray, pd.DataFrame])
def test_the_form_of_features_does_not_matter(form):
    kept = np.where(X > 0, X, 0)
    np.testing.assert_allclose(fitted(form(kept)).coef_, fitted(kept).coef_, atol=1e-10)


def test_more_features_than_rows():
    """They are rotated; the result is that of the same rows without rotation."""
    rows = np.arange(40)
    wide = np.hstack([X[rows], np.random.default_rng(0).normal(size=(40, 100))])
    rotated = fitted(wide, Y[rows], known=some(rows))
    plain = fitted(da.from_array(wide), Y[rows], known=some(rows))  # chunks are not rotated
    np.testing.assert_allclose(rotated.predict(wide), plain.predict(wide), atol=1e-6)
    weights = np.ones(40)
    weights[[0, 6]] = 0
    bad = UPPER[rows].copy()
    row, label = np.argwhere(HOLES[rows])[-1]
    bad[row, label] = -1
    with pytest.raises(ValueError, match=f"label {label} in row {row} "):
        fitted(wide, Y[rows], weights, known={"upper": bad})


def test_single_precision_is_near():
    found = fitted(X.astype(np.float32), Y.astype(np.float32))
    np.testing.assert_allclose(found.predict(X), fitted().predict(X), atol=1e-4)


def test_a_fit_that_starts_warm_has_the_same_limit():
    rows = np.arange(40)
    options = {"weighting": Equal(), "tol": 1e-11, "max_iter": 20_000, "ridge": 1e-2}
    data, known = (X[rows], Y[rows]), some(rows)
    cold = fitted(*data, known=known, **options)
    warm = WInLDL(warm_start=True, **options).fit(*data).fit(*data, **known)
    assert cold.converged_
    assert warm.converged_
    np.testing.assert_allclose(warm.predict(data[0]), cold.predict(data[0]), atol=1e-7)
    assert (
        np.abs(cold.predict(data[0]) - WInLDL(**options).fit(*data).predict(data[0])).max() > 0.01
    )


@pytest.mark.parametrize("all_rows", [True, False])
def test_all_rows_of_a_block_may_have_limits_or_none(all_rows):
    rest = 1 - np.nansum(Y, axis=1, keepdims=True)
    upper = np.where(HOLES, np.maximum(T, 0.9 * rest), NAN)
    rows = np.flatnonzero(HOLES.sum(axis=1) > 1)
    if not all_rows:
        upper[rows[64:]] = NAN
    blocks, known = in_chunks(64, X[rows], Y[rows]), {"upper": upper[rows]}
    found = fitted(*blocks, known=known)
    np.testing.assert_allclose(
        found.coef_, fitted(X[rows], Y[rows], known=known).coef_, atol=1e-11
    )
    same_bits(fitted(*blocks, known=known, n_jobs=2), found)


def test_bounds_have_the_labels_and_rows_of_the_degrees():
    y = pd.DataFrame(Y, columns=list("abcde"))
    with pytest.raises(ValueError, match="columns of upper are e, d, c, b, a, but the labels"):
        WInLDL().fit(X, y, upper=pd.DataFrame(UPPER, columns=list("edcba")))
    for wrong, words in ((UPPER[1:], "X has 300 rows and upper has 299"), (UPPER[:, 1:], "shape")):
        with pytest.raises(ValueError, match=words):
            WInLDL().fit(X, y, upper=wrong)


def test_a_fitted_model_keeps_nothing_of_the_limits():
    assert not any(isinstance(value, PartialRows) for value in vars(fitted()).values())
