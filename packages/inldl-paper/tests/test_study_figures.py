"""What the figures of the paper are drawn from, out of the rows of a store."""

import numpy as np
import pandas as pd
import pytest

from inldl.methods import make_method
from inldl_paper.experiments import Store, make_fold
from inldl_paper.experiments.protocol import canonical_dataset, load_dataset, seed
from inldl_paper.experiments.runner import measure
from inldl_paper.study import WEIGHTED, entry_cells, long_fit
from inldl_paper.study_figures import (
    bound_curves,
    complexity_of_maps,
    effect_on_small_degrees,
    error_by_degree,
    growth,
    mu_histories,
    relative_error_by_size,
)

RANDOM = "random(C=5, k=20, n=300)"


@pytest.mark.parametrize(("axis", "sizes"), [("n", [2000, 8000, 32000]), ("k", [20, 80, 320])])
def test_growth_recovers_the_exponent(axis, sizes):
    others = {"n": 2000, "k": 40, "C": 6}
    names = [canonical_dataset(f"random({_written({**others, axis: s})})") for s in sizes]
    size = np.array(sizes)
    rows = pd.DataFrame(
        {
            "dataset": names * 2,
            "method": ["linear"] * 3 + ["square"] * 3,
            "status": "ok",
            "fit_seconds": [*(3e-6 * size), *(2e-9 * size**2.0)],
        }
    )
    other = rows.assign(dataset=canonical_dataset("random(n=7, k=7, C=7)"), fit_seconds=1e3)
    frame, exponents = growth(pd.concat([rows, other]), axis)
    assert sorted(set(frame[axis])) == sizes
    np.testing.assert_allclose(exponents[["linear", "square"]], [1, 2])


def _written(sizes):
    return ", ".join(f"{name}={size}" for name, size in sizes.items())


def test_what_weighting_does_is_counted():
    plain, weighted = WEIGHTED
    errors = pd.DataFrame(
        [
            (dataset, method, size, error)
            for size, pairs in {"below 0.5": [(2, 1), (1, 2)], "from 0.5": [(2, 1)]}.items()
            for dataset, pair in zip("AB", pairs, strict=False)
            for method, error in zip((plain, weighted), pair, strict=True)
        ],
        columns=["dataset", "method", "size", "error"],
    )
    assert effect_on_small_degrees(errors) == (
        "Weighting lowers the relative error of degrees below 0.5 on 1 of 2 datasets (A). "
        "Weighting lowers the relative error of degrees from 0.5 on 1 of 1 dataset."
    )


def test_the_complexity_of_maps_is_below_its_bound():
    estimate, error, bound = complexity_of_maps(RANDOM)
    assert 0 < error < estimate < bound


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Return the rows of two methods and of long fits on one split of a random dataset."""
    store = Store(tmp_path_factory.mktemp("paper") / "run.sqlite")
    wanted = [*WEIGHTED.values(), *(long_fit(mu)[0] for mu in (1.0, 2.0))]
    for method in wanted:
        store.add(measure(entry_cells(RANDOM, method, "published")[0]))
    return store.frame()


def test_errors_by_size(rows):
    """Against the same by hand, from the predictions of the fold."""
    fold = make_fold(RANDOM, *load_dataset(RANDOM), rate=0.5, split=0, recipe="published")
    true = fold.y_test
    frame = relative_error_by_size(rows, [RANDOM], threshold=0.2).set_index(["method", "size"])
    bins, counts = error_by_degree(rows, RANDOM)
    assert counts.sum() == true.size
    for shown, method in WEIGHTED.items():
        model = make_method(method, seed(RANDOM, 0.5, 0)).fit(fold.X, fold.y)
        errors = np.abs(model.predict(fold.X_test) - true)
        for size, here in (("below 0.2", true < 0.2), ("from 0.2", true >= 0.2)):
            here = here & (true >= 0.01)
            expected = (errors[here] / true[here]).mean()
            assert frame.loc[(shown, size), "error"] == pytest.approx(expected)
        part = bins[bins["method"] == shown].set_index("degree")["error"]
        assert (part * counts).sum() == pytest.approx(errors.sum())


def test_histories_are_those_of_the_long_fits(rows):
    found = mu_histories(rows, RANDOM)
    assert set(found) == {1.0, 2.0}
    for changes in found.values():
        assert len(changes) == 100
        assert changes[-1] < changes[0]


def test_bound_falls_to_the_risk():
    frame = bound_curves("random(n=300)")
    for _, curve in frame.groupby("max_weight"):
        assert (np.diff(curve["bound"]) < 0).all()
        gap = (curve["bound"] - curve["floor"]).to_numpy()
        np.testing.assert_allclose(
            gap[0] / gap[-1], 1000, rtol=1e-6
        )  # 1 / sqrt(N), N from 1e2 to 1e8


def test_sizes_that_are_alike_tell_no_slope():
    names = [f"random(C=6, k={k}, n=2000)" for k in (20, 40, 80)]
    rows = pd.DataFrame(
        {"dataset": names, "status": "ok", "method": "winldl", "fit_seconds": [1.0, 2.0, 4.0]}
    )
    times, exponents = growth(rows, "k")
    assert list(times["k"]) == [20, 40, 80]
    assert exponents.isna().all()
