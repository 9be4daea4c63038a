"""The protocol: the same rows and holes for every method, nothing learnt from the test rows."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

from inldl_paper.experiments import RATES, RECIPES, grid, make_fold, preparation
from inldl_paper.experiments.folds import partition
from inldl_paper.experiments.protocol import load_dataset, random_distributions


def test_partitions_are_80_to_20_and_cover_all_rows():
    train, test = partition("SJAFFE", 213, 3)
    assert (len(train), len(test)) == (170, 43)
    assert sorted([*train, *test]) == list(range(213))


def test_partition_depends_on_dataset_and_split_only():
    first = partition("a", 100, 0)[0]
    np.testing.assert_array_equal(first, partition("a", 100, 0)[0])
    assert not np.array_equal(first, partition("a", 100, 1)[0])
    assert not np.array_equal(first, partition("b", 100, 0)[0])


@pytest.mark.parametrize("rate", RATES)
def test_holes_have_the_rate_and_are_the_same_again(rate):
    X, y = random_distributions(1000, 5, 4)
    fold, again = (make_fold("a", X, y, rate=rate, split=0) for _ in range(2))
    assert np.isnan(fold.y).mean() == pytest.approx(rate, abs=0.03)
    np.testing.assert_array_equal(fold.y, again.y)
    assert not np.isnan(fold.y_test).any()


def test_rates_share_the_partition():
    X, y = random_distributions(100, 5, 4)
    low, high = (make_fold("a", X, y, rate=rate, split=0, recipe="raw") for rate in (0.1, 0.9))
    np.testing.assert_array_equal(low.X, high.X)


@pytest.mark.parametrize("recipe", [name for name in RECIPES if not RECIPES[name].joint])
def test_test_rows_change_nothing_in_the_training_rows(recipe):
    X, y = random_distributions(600, 260, 4)
    test = partition("a", 600, 0)[1]
    changed = X.copy()
    changed[test] *= 100
    fold, other = (
        make_fold("a", each, y, rate=0.5, split=0, recipe=recipe) for each in (X, changed)
    )
    np.testing.assert_array_equal(fold.X, other.X)


def test_authors_recipe():
    X, y = random_distributions(600, 260, 4)
    train, test = partition("a", 600, 0)
    fold = make_fold("a", X, y, rate=0.5, split=0, recipe="authors")
    pca = PCA(100, random_state=0).fit(X[train])
    np.testing.assert_allclose(fold.X_test, normalize(pca.transform(X[test])), atol=1e-12)
    joint = make_fold("a", X, y, rate=0.5, split=0, recipe="published")
    pca = PCA(100, random_state=0).fit(X)
    np.testing.assert_allclose(joint.X_test, normalize(pca.transform(X[test])), atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "steps"),
    [((501, 251), ["pca", "normalizer"]), ((500, 250), ["passthrough"]), ((60, 300), ["pca"])],
)
def test_when_the_authors_prepare(shape, steps):
    pipeline = preparation("authors", *shape)
    assert [name for name, _ in pipeline.steps] == steps
    assert pipeline.fit_transform(np.random.default_rng(0).normal(size=shape)).shape[0] == shape[0]


def test_published_recipes_lose_the_zeros():
    X, y = random_distributions(100, 5, 4)
    y[:, 0] = 0
    kept = make_fold("a", X, y, rate=0.0, split=0, recipe="raw").y
    lost = make_fold("a", X, y, rate=0.0, split=0, recipe="published-raw").y
    assert (kept[:, 0] == 0).all()
    assert np.isnan(lost[:, 0]).all()
    np.testing.assert_array_equal(kept[:, 1:], lost[:, 1:])


def test_a_function_and_a_file_are_datasets(tmp_path):
    X, y = load_dataset("difficult_methods:my_data(n=30)")
    assert (X.shape, y.shape) == ((30, 3), (30, 4))
    np.savez(tmp_path / "mine.npz", X=X, y=y)
    again = load_dataset(str(tmp_path / "mine.npz"))
    np.testing.assert_allclose(again[1], y)


def test_grid_is_the_product_without_repeats():
    cells = grid(["random", "random(n=1000)"], ["winldl", "WInLDL"], rates=[0.5, 0.1], splits=3)
    assert len(cells) == len(set(cells)) == 6
    assert {cell.method for cell in cells} == {"winldl"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"datasets": ["SBU_3DEF"]}, "SBU_3DFE"),
        ({"datasets": ["random(m=3)"]}, "takes n, k and C, not m"),
        ({"methods": ["winld"]}, "did you mean winldl"),
        ({"methods": ["winldl(nu=3)"]}, "nu"),
        ({"methods": ["winldl(3)"]}, "such as winldl"),
        ({"methods": ["winldl(mu=open('x'))"]}, "plain numbers"),
        ({"methods": ["no_such_module:A"]}, "cannot be imported"),
        ({"methods": ["inldl:WInLD"]}, "did you mean WInLDL"),
        ({"methods": ["difficult_methods:NoEstimator"]}, "has no fit and no predict"),
        ({"methods": []}, "at least one name"),
        ({"datasets": "SJAFFE"}, "must be a list"),
        ({"rates": [1.0]}, "below 1"),
        ({"splits": 0}, "at least 1"),
        ({"recipe": "author"}, "did you mean authors"),
        ({"mechanism": "uniforn"}, "did you mean uniform"),
    ],
)
def test_wrong_names_are_told_before_anything_runs(monkeypatch, change, message):
    from pathlib import Path

    monkeypatch.syspath_prepend(Path(__file__).parent)
    names = {"datasets": ["random"], "methods": ["winldl"], "rates": [0.5], "splits": 1}
    arguments = {**names, **change}
    with pytest.raises(ValueError, match=message):
        grid(arguments.pop("datasets"), arguments.pop("methods"), **arguments)


@pytest.mark.parametrize(
    ("name", "message"), [("no_data", "cannot unpack"), ("no_distributions", "sums to 3, not 1")]
)
def test_a_function_that_gives_no_dataset(monkeypatch, name, message):
    from pathlib import Path

    monkeypatch.syspath_prepend(Path(__file__).parent)
    with pytest.raises(ValueError, match=message):
        load_dataset(f"difficult_methods:{name}")


def test_renormalised_holes_are_the_same_holes():
    X, y = random_distributions(60, 3, 4)
    how = {"rate": 0.5, "split": 0, "recipe": "raw"}
    plain = make_fold("a", X, y, **how)
    ratios = make_fold("a", X, y, **how, mechanism="uniform-renormalised")
    np.testing.assert_array_equal(np.isnan(plain.y), np.isnan(ratios.y))
    known = ~np.isnan(ratios.y).all(axis=1)
    np.testing.assert_allclose(np.nansum(ratios.y[known], axis=1), 1)
    assert grid(["random"], ["winldl"], mechanism="small-renormalised")
