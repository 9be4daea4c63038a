"""IncomLDL-SNI and -LR as estimators: what is certain of them, and what is filled in."""

import numpy as np
import pytest

from inldl import hide
from inldl.datasets import make_distributions
from inldl.literature import IncomLDLLR, IncomLDLSNI
from inldl.methods import ConstantLDL

X, TRUTH = make_distributions(150, random_state=0)
Y = hide(TRUTH, 0.4, random_state=0)
HOLES = np.isnan(Y)

pytestmark = pytest.mark.parametrize("method", [IncomLDLSNI, IncomLDLLR])


def test_holes_are_nearer_the_truth_than_means_and_the_rest_stays(method):
    found = method().fit(X, Y).recovered_
    np.testing.assert_array_equal(found[~HOLES], Y[~HOLES])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    mean = ConstantLDL().fit(X, Y).complete(X, Y)
    assert np.abs(found - TRUTH)[HOLES].mean() < 0.6 * np.abs(mean - TRUTH)[HOLES].mean()


@pytest.mark.parametrize("filling", [0.0, 1e6, -3.0])
def test_what_fills_a_hole_never_matters(filling, method):
    model = method().fit(X, np.ma.masked_array(np.where(HOLES, filling, Y), HOLES))
    np.testing.assert_array_equal(model.coef_, method().fit(X, Y).coef_)


def test_rounds_and_bad_parameters(method):
    model = method(max_iter=3, tol=0.0).fit(X, Y)
    assert (model.n_iter_, model.converged_) == (3, False)
    assert model.history_["change"].shape == (3,)
    with pytest.raises(ValueError, match="n_components must be an integer at least 1"):
        method(n_components=0).fit(X, Y)
