"""InLDL-p and InLDL-a against the published numbers."""

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from inldl import InLDLADMM, InLDLProx, evaluate


def sbu_metrics(public, splits, model, prepare):
    """Return the mean cosine and Clark on the authors' splits, zeros taken for missing."""
    X, y = public("SBU_3DFE")
    X = prepare(X)
    rows = []
    for split in splits:
        train, test = split["train"], split["test"]
        seen = split["observed"] & (y[train] != 0)
        model.fit(X[train], np.where(seen, y[train], np.nan))
        rows.append(list(evaluate(y[test], model.predict(X[test]), ["cosine", "clark"]).values()))
    return np.mean(rows, axis=0)


@pytest.mark.parametrize(
    ("model", "printed"),
    [(InLDLProx.as_published(), (0.9329, 0.4374)), (InLDLADMM.as_published(), (0.9335, 0.4350))],
    ids=["p", "a"],
)
def test_as_published(public, authors_runs, model, printed):
    found = sbu_metrics(public, authors_runs[1], model, lambda X: X)
    np.testing.assert_allclose(found, printed, rtol=0, atol=2e-4)


@pytest.mark.parametrize(
    ("model", "expected"),
    [(InLDLProx(), (0.9421, 0.3810)), (InLDLADMM(), (0.9428, 0.3737))],
    ids=["p", "a"],
)
def test_library_setting(public, authors_runs, model, expected):
    found = sbu_metrics(public, authors_runs[1], model, normalize)
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"lam": -1}, "lam must be a number at least 0"), ({"tol": "x"}, "tol must be a number")],
)
@pytest.mark.parametrize("method", [InLDLProx, InLDLADMM])
def test_bad_parameters(method, parameters, message):
    with pytest.raises(ValueError, match=message):
        method(**parameters).fit(np.ones((3, 1)), np.full((3, 2), 0.5))


def test_rho_must_be_positive():
    with pytest.raises(ValueError, match="rho must be a number greater than 0"):
        InLDLADMM(rho=0).fit(np.ones((3, 1)), np.full((3, 2), 0.5))
