"""Files that earlier versions wrote are still read; `earlier/make.py` has made them."""

import importlib.util
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

from inldl import WInLDL
from inldl.experiments import Store, run
from inldl.io import load_model, model_info, save_model

HERE = Path(__file__).parent / "earlier"
FILES = sorted(HERE.glob("*/*.inldl"))
spec = importlib.util.spec_from_file_location("earlier_make", HERE / "make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)


def loaded(path):
    with warnings.catch_warnings():  # files with trees were saved with some other scikit-learn
        warnings.filterwarnings("ignore", "(?s).*was saved with scikit-learn", UserWarning)
        return load_model(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_models_predict_what_they_did(path, tmp_path):
    model = loaded(path)
    X, y = make.table() if path.stem.startswith("table") else make.features()
    with np.load(path.parent / "predictions.npz") as expected:
        np.testing.assert_allclose(model.predict(X), expected[path.stem], rtol=0, atol=1e-7)
    np.testing.assert_allclose(np.asarray(model.complete(X, y)).sum(axis=1), 1)
    assert model_info(path)["n_features"] == X.shape[1]
    save_model(model, tmp_path / "again.inldl")
    again = loaded(tmp_path / "again.inldl")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("folder", sorted(HERE.glob("[0-9]*")), ids=lambda folder: folder.name)
def test_a_checkpoint_goes_on(folder, tmp_path):
    """Sums of another processor may differ in the last bit, and are refused for that alone."""
    path = tmp_path / "fit.npz"
    shutil.copy(folder / "fit.npz", path)
    try:
        resumed = WInLDL(max_iter=12, tol=0.0, checkpoint=path).fit(*make.features())
    except ValueError as error:
        if "sums that these rows do not have on this machine" not in str(error):
            raise
    else:
        expected = WInLDL(max_iter=12, tol=0.0).fit(*make.features())
        np.testing.assert_array_equal(resumed.coef_, expected.coef_)


@pytest.mark.parametrize("folder", sorted(HERE.glob("[0-9]*")), ids=lambda folder: folder.name)
def test_a_run_goes_on(folder, tmp_path):
    path = tmp_path / "run.sqlite"
    shutil.copy(folder / "run.sqlite", path)
    before = Store(path).frame()
    assert list(before["status"]) == ["ok"] * len(make.cells())
    assert run(make.cells(), path) == []
    assert len(run(make.cells(3), path)) == len(make.cells(3)) - len(make.cells())
    assert len(Store(path).frame()) == len(make.cells(3))
