"""The network as an estimator: scikit-learn's checks, weights, bounds, files, and no PyTorch."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

torch = pytest.importorskip("torch", reason="needs PyTorch: make test-torch")

from inldl import TableModel, evaluate, hide, vote_weights
from inldl.datasets import make_distributions
from inldl.files import load_model, save_model
from inldl.methods import ConstantLDL
from inldl.methods.registry import METHODS, make_method
from inldl_torch import NeuralLDL
from inldl_torch.neural import parts_of_distributions

SMALL = {"hidden": (8, 8), "max_epochs": 3, "random_state": 0}
X, TRUTH = make_distributions(120, random_state=0)
Y = hide(TRUTH, 0.4, random_state=0)


def small(**changes):
    return NeuralLDL(**{**SMALL, **changes})


@pytest.fixture(scope="module")
def fitted():
    return small().fit(X, Y)


@pytest.mark.filterwarnings("ignore:y has degrees outside:UserWarning")
@pytest.mark.filterwarnings("ignore:complete rows of y do not sum:UserWarning")
@parametrize_with_checks([small()])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_it_learns():
    X, truth = make_distributions(400, random_state=1)
    y = hide(truth[:300], 0.5, random_state=0)
    model = NeuralLDL(max_epochs=60, random_state=0).fit(X[:300], y)
    constant = ConstantLDL().fit(X[:300], y)
    errors = [
        evaluate(truth[300:], each.predict(X[300:]), ["kl_divergence"])["kl_divergence"]
        for each in (model, constant)
    ]
    assert errors[0] < errors[1] / 10
    held_out = evaluate(truth[:300], model.held_out_, ["kl_divergence"])["kl_divergence"]
    assert errors[0] / 3 < held_out < 3 * errors[0]


def test_the_same_seed_gives_the_same_bits_whatever_the_program_around_it_does(fitted):
    expected = fitted.predict(X)
    before = torch.get_num_threads()
    torch.manual_seed(7)
    try:
        torch.set_num_threads(2)
        with torch.no_grad():
            np.testing.assert_array_equal(small().fit(X, Y).predict(X), expected)
        assert torch.get_num_threads() == 2
        with torch.inference_mode():
            np.testing.assert_array_equal(small(n_jobs=2).fit(X, Y).predict(X), expected)
    finally:
        torch.set_num_threads(before)
    torch.manual_seed(7)
    expected_draw = torch.rand(1)
    torch.manual_seed(7)
    small().fit(X, Y)
    assert torch.rand(1) == expected_draw
    assert np.abs(small(random_state=1).fit(X, Y).predict(X) - expected).max() > 1e-6


def test_its_prediction_in_numpy_is_that_of_torch(fitted):
    scaled = torch.tensor(fitted.columns_.scaled(X))
    expected = []
    for i in range(5):
        layers = []
        for coef, intercept in zip(fitted.coefs_, fitted.intercepts_, strict=True):
            layer = torch.nn.Linear(*coef[i].shape, dtype=torch.float64)
            layer.weight.data = torch.tensor(coef[i].T)
            layer.bias.data = torch.tensor(intercept[i])
            layers += [layer, torch.nn.ReLU()]
        network = torch.nn.Sequential(*layers[:-1], torch.nn.Softmax(-1))
        expected.append(network(scaled).detach().numpy())
    np.testing.assert_allclose(fitted.predict(X), np.mean(expected, axis=0), atol=1e-12)


def test_training_stops_early_and_keeps_the_best_epoch():
    noise = np.random.default_rng(0).normal(size=X.shape)
    model = small(max_epochs=100, patience=3, learning_rate=0.02).fit(noise, Y)
    losses = model.history_["held_out"]
    assert len(losses) < 101
    assert len(losses) == 1 + model.n_epochs_.max() + 3  # with that before the first
    longer = small(max_epochs=int(model.n_epochs_.max()), patience=100, learning_rate=0.02)
    np.testing.assert_array_equal(longer.fit(noise, Y).predict(noise), model.predict(noise))


def test_networks_that_only_get_worse_predict_the_mean():
    model = small(learning_rate=1e30).fit(X, Y)
    assert (model.n_epochs_ == 0).all()
    found = model.predict(X)
    assert np.isfinite(found).all()
    assert np.abs(found - np.nanmean(Y, axis=0)).max() < 0.3


def test_weights():
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    kept = weights > 0
    strange = np.where(kept[:, None], X, 1e3)
    weighted = small().fit(strange, np.where(kept[:, None], Y, 0.9), sample_weight=weights)
    without = small().fit(X[kept], Y[kept], sample_weight=weights[kept])
    np.testing.assert_allclose(weighted.predict(X), without.predict(X), atol=1e-9)
    assert weighted.held_out_.shape == Y.shape
    plain, equal = small().fit(X, Y), small().fit(X, Y, sample_weight=np.full(len(X), 7.0))
    np.testing.assert_allclose(plain.predict(X), equal.predict(X), atol=1e-8)

    some = np.arange(len(X)) % 2 == 1
    mixed = np.where(some[:, None], Y, Y[:, ::-1])  # half of the rows mislead
    longer, heavy = small(max_epochs=60, learning_rate=0.02), np.where(some, 20.0, 0.05)
    models = [clone(longer).fit(X, mixed, sample_weight=each) for each in (None, heavy)]
    plain, weighted = (np.abs(model.predict(X) - TRUTH).mean() for model in models)
    assert weighted < plain / 2


def test_weights_by_votes():
    rng = np.random.default_rng(0)
    votes = rng.choice([3, 300], len(X))
    counts = rng.multinomial(votes, TRUTH)
    weights = vote_weights(X, counts, estimator=small(max_epochs=20))
    assert weights[votes == 300].mean() > 2 * weights[votes == 3].mean()


@pytest.mark.usefixtures("without_trees")
def test_frames_bounds_intervals_and_draws(fitted):
    y = pd.DataFrame(Y, columns=["low", "mid", "high"])
    model = small().fit(pd.DataFrame(X, columns=list("abc")), y)
    np.testing.assert_array_equal(
        model.predict(pd.DataFrame(X, columns=list("abc"))), fitted.predict(X)
    )
    assert list(model.label_names_) == ["low", "mid", "high"]
    upper = np.where(np.isnan(Y), TRUTH + 0.02, np.nan)
    bounded = small().fit(X, Y, upper=upper)
    whole = bounded.complete(X, Y, upper=upper)
    assert (whole <= np.where(np.isnan(Y), upper, 1) + 1e-12).all()
    np.testing.assert_allclose(whole.sum(axis=1), 1)
    lower, upper = fitted.predict_interval(X, coverage=0.8)
    inside = (lower <= TRUTH) & (upper >= TRUTH)
    assert 0.7 < inside.mean() < 0.95
    assert len(fitted.draw(X, Y, n_draws=2, random_state=0)) == 2


def test_odd_degrees_become_parts_of_distributions():
    nan = np.nan
    y = np.array([[0.2, -0.1, nan], [2.0, 2.0, nan], [0.2, 0.2, 0.1], [0, 0, 0.0], [nan] * 3])
    expected = [[0.2, 0, nan], [0.5, 0.5, nan], [0.4, 0.4, 0.2], [1 / 3] * 3, [nan] * 3]
    np.testing.assert_allclose(parts_of_distributions(y), expected)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hidden": 64}, "hidden must be a tuple of integers"),
        ({"hidden": (8, 0)}, "hidden must be a tuple of integers"),
        ({"dropout": 1}, "dropout must be a number at least 0 and below 1"),
        ({"patience": 0}, "patience must be an integer at least 1"),
        ({"learning_rate": 0.0}, "learning_rate must be a number greater than 0"),
    ],
)
def test_wrong_parameters_are_refused(change, words):
    with pytest.raises(ValueError, match=words):
        small(**change).fit(X, Y)


def test_a_network_without_hidden_layers_is_a_softmax_regression():
    model = small(hidden=()).fit(X, Y)
    assert [each.shape for each in model.coefs_] == [(5, 3, 3)]
    np.testing.assert_allclose(model.predict(X).sum(axis=1), 1)


def test_it_is_a_method_that_searches_tables_and_copies_take(fitted):
    model = make_method("neural(max_epochs=3, hidden=(8, 8))", seed=0)
    np.testing.assert_array_equal(model.fit(X, Y).predict(X), fitted.predict(X))
    assert METHODS["neural"].distribution == "inldl-torch"
    assert model.n_labels_ == 3
    search = GridSearchCV(small(), {"hidden": [(4,), (8, 8)]}, cv=2).fit(X, Y)
    assert search.best_params_["hidden"] in [(4,), (8, 8)]
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
    table = TableModel("neural(max_epochs=3, hidden=(8, 8))").fit(X, Y)
    np.testing.assert_allclose(table.predict(X).sum(axis=1), 1)


WITHOUT = """
import json, sys

class Absent:
    # as if it were not installed

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import numpy as np
from inldl_torch import NeuralLDL
from inldl.files import load_model
X = np.load(sys.argv[2])
model = load_model(sys.argv[1])
found = {"predicted": model.predict(X).tolist()}
try:
    NeuralLDL().fit(X, np.full((len(X), 2), 0.5))
except ImportError as error:
    found["said"] = str(error)
print(json.dumps(found))
"""


def test_a_loaded_model_predicts_the_same_without_torch(fitted, tmp_path):
    save_model(fitted, tmp_path / "network.inldl")
    again = load_model(tmp_path / "network.inldl")
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    np.save(tmp_path / "X.npy", X)
    command = [sys.executable, "-c", WITHOUT, tmp_path / "network.inldl", tmp_path / "X.npy"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    np.testing.assert_array_equal(found["predicted"], fitted.predict(X))
    assert found["said"] == "The fit of NeuralLDL needs PyTorch: pip install torch"


def test_a_damaged_file_is_refused(fitted, tmp_path):
    broken = clone(fitted)
    vars(broken).update(vars(fitted))
    for wrong in (fitted.coefs_[:-1], [each[:, :-1] for each in fitted.coefs_], []):
        broken.coefs_ = wrong
        with pytest.raises((ValueError, IndexError)):
            save_model(broken, tmp_path / "broken.inldl")
