"""The number of labels of every fitted estimator."""

import numpy as np
import pytest

import inldl
from inldl import WInLDL, hide, methods
from inldl.datasets import make_distributions
from inldl.methods import RegressorLDL

X, Y = make_distributions(60, random_state=0)
Y = hide(Y, 0.3, random_state=0)
WITH_EXTRAS = {each.class_name for each in methods.METHODS.values() if each.extra}
METHODS = [
    getattr(inldl, name)
    for name in inldl.__all__
    if name not in WITH_EXTRAS
    and issubclass(type(getattr(inldl, name)), type)
    and hasattr(getattr(inldl, name), "fit")
]


def made(method):
    return method(random_state=0) if hasattr(method(), "random_state") else method()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [*(made(method) for method in METHODS), RegressorLDL(completer=WInLDL())],
    ids=lambda model: type(model).__name__,
)
def test_it_is_known_after_a_fit_and_in_models_of_older_files(model):
    assert not hasattr(model, "n_labels_")
    model.fit(X, Y)
    assert model.n_labels_ == 3
    assert isinstance(model.n_labels_, int)
    expected = np.asarray(model.predict(X))
    vars(model).pop("n_labels_", None)  # files of version 0.1.0 do not hold it
    for part in getattr(model, "members_", {}).values():
        assert vars(part).pop("n_labels_") == 3
    np.testing.assert_array_equal(np.asarray(model.predict(X)), expected)
    assert model.n_labels_ == 3
