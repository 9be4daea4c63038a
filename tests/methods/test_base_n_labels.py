"""The number of labels of every fitted estimator."""

import pytest

from inldl import TableModel, WInLDL, hide, methods
from inldl.datasets import make_distributions
from inldl.methods import RegressorLDL
from inldl.specs import import_object
from plain_methods import PLAIN

X, Y = make_distributions(60, random_state=0)
Y = hide(Y, 0.3, random_state=0)
METHODS = {methods.METHODS[name].path: methods.METHODS[name] for name in PLAIN}


def made(method):
    return method(random_state=0) if hasattr(method(), "random_state") else method()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [
        *(made(import_object(path)) for path in METHODS),
        RegressorLDL(completer=WInLDL()),
        TableModel("winldl"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_it_is_known_after_a_fit(model):
    assert not hasattr(model, "n_labels_")
    model.fit(X, Y)
    assert model.n_labels_ == 3
    assert isinstance(model.n_labels_, int)
    for part in getattr(model, "members_", {}).values():
        assert part.n_labels_ == 3
