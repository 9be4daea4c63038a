"""Methods of python-ldl as estimators: a stand-in where the package is not installed."""

import sys
import types
from importlib.util import find_spec

import numpy as np
import pytest

from inldl import hide
from inldl.datasets import make_distributions
from inldl_paper import PyLDL
from inldl_paper.experiments import Store, grid, run

DATA = "random(C=3, k=4, n=60)"
INSTALLED = find_spec("pyldl") is not None


class BaseIncomLDL:
    pass


class Kept:
    """Keeps what it is given, and predicts the mean of it."""

    def __init__(self, random_state=None, alpha=1.0):
        self.given = {"random_state": random_state, "alpha": alpha}

    def fit(self, X, D, **options):
        self.X, self.D = X, D
        self.given |= options

    def predict(self, X):
        total = self.D.sum(axis=0)
        return np.tile(total / total.sum(), (len(X), 1))


class Incomplete(Kept, BaseIncomLDL):
    pass


@pytest.fixture
def stand_in(monkeypatch):
    base = types.SimpleNamespace(BaseIncomLDL=BaseIncomLDL)
    algorithms = types.SimpleNamespace(Kept=Kept, Incomplete=Incomplete, base=base)
    for name, module in {"": None, ".algorithms": algorithms, ".algorithms.base": base}.items():
        monkeypatch.setitem(sys.modules, f"pyldl{name}", module or types.ModuleType("pyldl"))


@pytest.fixture
def rows():
    X, y = make_distributions(40, random_state=0)
    return X, hide(y, 0.5, random_state=0)


@pytest.mark.usefixtures("stand_in")
def test_a_missing_degree_is_0_and_true_in_the_mask(rows):
    X, y = rows
    model = PyLDL("Incomplete", {"alpha": 3.0}, {"rho": 2}, random_state=5).fit(X, y)
    given = model.model_.given
    np.testing.assert_array_equal(given.pop("mask"), np.isnan(y))
    np.testing.assert_array_equal(model.model_.D, np.nan_to_num(y))
    assert given == {"alpha": 3.0, "random_state": 5, "rho": 2}
    assert model.predict(X).shape == y.shape


@pytest.mark.usefixtures("stand_in")
def test_a_method_without_a_mask_takes_complete_rows_only(rows):
    X, y = rows
    with pytest.raises(ValueError, match="Kept of python-ldl learns from complete rows only"):
        PyLDL("Kept").fit(X, y)
    model = PyLDL("Kept").fit(X, np.nan_to_num(y))
    assert model.model_.given == {"alpha": 1.0, "random_state": None}
    with pytest.raises(ValueError, match="python-ldl has no method 'Keep'"):
        PyLDL("Keep").fit(X, y)


@pytest.mark.skipif(INSTALLED, reason="python-ldl is installed")
def test_without_python_ldl_its_cells_are_skipped(tmp_path):
    cells = grid(
        [DATA], ["inldl_paper:PyLDL(name=WInLDL)", "constant-mean"], rates=[0.5], splits=1
    )
    run(cells, tmp_path / "run.sqlite")
    rows = Store(tmp_path / "run.sqlite").rows()
    found = {row.cell.method: (row.status, row.reason) for row in rows}
    assert found["constant-mean"] == ("ok", "")
    status, reason = found["inldl_paper:PyLDL(name='WInLDL')"]
    assert status == "skipped"
    assert reason.endswith("pip install python-ldl")


@pytest.mark.skipif(not INSTALLED, reason="needs python-ldl: pip install python-ldl")
@pytest.mark.parametrize(("name", "rate"), [("WInLDL", 0.5), ("SA_BFGS", 0.0)])
def test_python_ldl_itself(name, rate):
    X, y = make_distributions(200, random_state=0)
    model = PyLDL(name, bias=True, random_state=0).fit(X, hide(y, rate, random_state=0))
    assert model.score(X, y) > 0.9
