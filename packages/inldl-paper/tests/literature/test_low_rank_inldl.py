"""Bad parameters of InLDL-p and InLDL-a."""

import numpy as np
import pytest

from inldl_paper.literature import InLDLADMM, InLDLProx


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
