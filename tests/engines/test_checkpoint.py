"""A fit that dies and goes on, on the threads of this machine."""

import numpy as np
import pytest

from inldl import InLDLADMM, InLDLProx, WInLDL, hide
from inldl._engines import checkpoint
from inldl.solvers.winldl import WInLDLProblem
from inldl.weighting import RandomWeighting

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def problem(n=5000, k=6, C=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, k))
    y = np.exp(X @ rng.normal(size=(k, C)) / k)
    return X, hide(y / y.sum(axis=1, keepdims=True), 0.5, random_state=0)


X, Y = problem()


class Died(Exception):
    pass


def die(model, at):
    """Fit until the process would have died."""

    def report(t, changes):
        if t == at:
            raise Died

    model.verbose, model._report = 1, report
    with pytest.raises(Died):
        model.fit(X, Y)


@pytest.mark.parametrize(
    "model",
    [
        WInLDL(max_iter=12, tol=0.0),
        WInLDL(max_iter=12, tol=0.0, weighting=RandomWeighting(3), n_jobs=2),
        InLDLADMM(max_iter=12, tol=0.0),
        InLDLProx(max_iter=12, tol=0.0, fit_intercept=False),
    ],
    ids=["WInLDL", "random weights", "InLDLADMM", "InLDLProx"],
)
@pytest.mark.parametrize("at", [1, 7, 12])
def test_goes_on_to_the_same_bits(model, at, tmp_path):
    kind, parameters = type(model), model.get_params() | {"checkpoint": tmp_path / "fit.npz"}
    expected = model.fit(X, Y)
    die(kind(**parameters), at)
    assert [path.name for path in tmp_path.iterdir()] == ["fit.npz"]
    resumed = kind(**parameters | {"n_jobs": 3}).fit(X, Y)
    np.testing.assert_array_equal(resumed.coef_, expected.coef_)
    np.testing.assert_array_equal(resumed.intercept_, expected.intercept_)
    for name, column in expected.history_.items():
        np.testing.assert_array_equal(resumed.history_[name], column)
    assert list(tmp_path.iterdir()) == []


def test_noted_iterations_are_not_waited_for(tmp_path, monkeypatch):
    """All missed steps of a block are taken in one pass, so X is read once for all of them."""
    monkeypatch.setattr(checkpoint, "SHARE", np.inf)  # writes after each iteration
    path = tmp_path / "fit"
    die(WInLDL(max_iter=9, tol=0.0, checkpoint=str(path)), 8)
    stepped, step = [], WInLDLProblem.step

    def noting(self, block, *message):
        stepped.append(id(block))
        return step(self, block, *message)

    monkeypatch.setattr(WInLDLProblem, "step", noting)
    WInLDL(max_iter=9, tol=0.0, checkpoint=str(path)).fit(X, Y)
    n_blocks = len(set(stepped))
    assert n_blocks > 2
    assert len(stepped) == 9 * n_blocks
    assert len(set(stepped[:8])) == 1


def test_the_file_holds_plain_numbers(tmp_path):
    path = tmp_path / "fit.npz"
    die(InLDLProx(max_iter=9, tol=0.0, checkpoint=path), 5)
    with np.load(path, allow_pickle=False) as file:
        assert all(file[name].dtype.kind in "fiU" for name in file)


@pytest.mark.parametrize(
    ("model", "data", "reason"),
    [
        (WInLDL(mu=3.0), (X, Y), "another method, other parameters or another shape"),
        (WInLDL(weighting=RandomWeighting(3)), (X, Y), "other parameters"),
        (InLDLProx(), (X, Y), "another method"),
        (WInLDL(), (X[1:], Y[1:]), "another shape"),
        (WInLDL(), (X + 1e-9, Y), "other data, or for the same rows in other chunks"),
        (WInLDL(), (X, np.where(Y > 0.5, 0.5, Y)), "other data"),
    ],
)
@pytest.mark.filterwarnings("ignore:complete rows of y do not sum:UserWarning")
def test_a_checkpoint_of_another_fit_is_refused(model, data, reason, tmp_path):
    path = tmp_path / "fit.npz"
    die(WInLDL(checkpoint=path), 3)
    with pytest.raises(ValueError, match=f"The checkpoint .* was written for .*{reason}.*delete"):
        model.set_params(checkpoint=path).fit(*data)
    assert path.exists()


def test_what_is_no_checkpoint_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("do not lose this")
    with pytest.raises(ValueError, match="was written for something else; delete it"):
        WInLDL(checkpoint=path).fit(X, Y)
    assert path.read_text() == "do not lose this"
    with pytest.raises(ValueError, match="is in a folder that does not exist"):
        WInLDL(checkpoint=tmp_path / "nowhere" / "fit.npz").fit(X, Y)


def test_cross_fitting_shares_no_file(tmp_path):
    path = tmp_path / "fit.npz"
    model = WInLDL(max_iter=3, cross_fit=2, checkpoint=path).fit(X, Y)
    expected = WInLDL(max_iter=3, cross_fit=2).fit(X, Y)
    np.testing.assert_array_equal(model.held_out_, expected.held_out_)
    assert not path.exists()
