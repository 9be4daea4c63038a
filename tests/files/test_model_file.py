"""Model files: what is loaded predicts the same to the bit, and no file can do harm."""

import hashlib
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import warnings
import zipfile

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import inldl
from inldl import AutoInLDL, WInLDL, hide
from inldl.files.model_file import check_savable, load_model, model_info, save_model
from inldl.methods import (
    ConstantLDL,
    ForestLDL,
    KernelRidgeLDL,
    KernelSoftmaxLDL,
    RegressorLDL,
    make_method,
)
from inldl.tables.model import TableModel
from inldl.weighting import LinearWeighting
from inldl_paper.literature import (
    BFGSLDL,
    EDLLRL,
    IISLDL,
    LDM,
    InLDLADMM,
    InLDLProx,
)
from plain_methods import PLAIN

LATER = [name for name in ("hidldl", "i2ldl", "wsldl-mcsc") if name in PLAIN]
TREES = {"n_estimators": 4, "random_state": 0}
ESTIMATORS = [
    WInLDL(),
    WInLDL(LinearWeighting(), cross_fit=3),
    WInLDL(ridge="auto", kernel="laplacian", n_landmarks=20, random_state=0),
    InLDLProx(),
    InLDLADMM(n_jobs=np.int64(1)),
    BFGSLDL(),
    IISLDL(),
    EDLLRL(),
    LDM(),
    *(make_method(name) for name in LATER),
    ConstantLDL(),
    KernelRidgeLDL(random_state=0),
    KernelSoftmaxLDL(alpha=np.float32(0.25), random_state=0),
    ForestLDL(n_trees=3, random_state=0),
    AutoInLDL(random_state=0, recalibrate="clark"),
    AutoInLDL(members=["kernel-ridge"], random_state=0),
    RegressorLDL(),
    RegressorLDL(Ridge(alpha=0.5), completer=WInLDL()),
    RegressorLDL(ExtraTreesRegressor(**TREES)),
    RegressorLDL(ExtraTreesRegressor(**TREES, max_leaf_nodes=9), completer=WInLDL()),
    RegressorLDL(ExtraTreesRegressor(**TREES, min_samples_leaf=1000)),
    RegressorLDL(KNeighborsRegressor(3, weights="distance", p=1)),
    RegressorLDL(KNeighborsRegressor(algorithm="brute"), completer=WInLDL()),
]


def fitted(estimator, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of iterations that were too few
        return estimator.fit(X, y)


def again(model, folder, **options):
    save_model(model, folder / "model.inldl", **options)
    return load_model(folder / "model.inldl")


def plain_params(model):
    """Return the parameters, also those of parts, without the parts themselves."""
    params = model.get_params(deep=True)
    return {k: v for k, v in params.items() if not hasattr(v, "__dict__")}


def assert_same(model, loaded, X, y):
    assert type(loaded) is type(model)
    assert plain_params(loaded) == plain_params(model)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.complete(X, y), model.complete(X, y))
    if getattr(model, "gives_intervals", False):
        for mine, theirs in zip(
            loaded.predict_interval(X, 0.8), model.predict_interval(X, 0.8), strict=True
        ):
            np.testing.assert_array_equal(mine, theirs)
    assert vars(loaded).keys() == vars(model).keys()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_loaded_models_are_as_they_were(tmp_path, named_data, estimator):
    X, y = named_data
    model = fitted(estimator, X, y)
    loaded = again(model, tmp_path)
    assert_same(model, loaded, X, y)
    single = X.astype(np.float32)
    np.testing.assert_array_equal(loaded.predict(single), model.predict(single))
    assert list(loaded.label_names_) == ["p", "q", "r"]
    assert loaded.label_names_.dtype == object
    assert list(loaded.feature_names_in_) == ["a", "b", "ü c"]
    if hasattr(model, "history_"):
        for name, values in model.history_.items():
            np.testing.assert_array_equal(loaded.history_[name], values)
    if getattr(model, "held_out_", None) is not None:
        assert loaded.held_out_.shape == (0, 3)
    if hasattr(model, "report_"):
        assert str(loaded.report_) == str(model.report_)
        assert list(loaded.report_.kernel_errors) == list(model.report_.kernel_errors)


@pytest.mark.usefixtures("without_trees")
def test_memory_order_and_precision_stay(tmp_path):
    """Products of another order or precision would have other last bits."""
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 70)).astype(np.float32), rng.dirichlet(np.ones(5), 300)
    for estimator in (WInLDL(), LDM(), KernelRidgeLDL(random_state=0)):
        model = fitted(estimator, X, hide(y, 0.4, random_state=0))
        loaded = again(model, tmp_path, overwrite=True)
        assert loaded.coef_.dtype == model.coef_.dtype
        assert loaded.coef_.flags.f_contiguous == model.coef_.flags.f_contiguous
        assert loaded.coef_.flags.writeable
        assert_same(model, loaded, X, y)
    model.coef_ = np.asfortranarray(np.pad(model.coef_, 3))[3:-3, 3:-3]  # with gaps
    loaded = again(model, tmp_path, overwrite=True)
    assert loaded.coef_.flags.f_contiguous
    assert_same(model, loaded, X, y)


@pytest.mark.parametrize("kind", ["wide", "sparse", "constant"])
def test_columns_of_kernel_methods(tmp_path, kind):
    rng = np.random.default_rng(0)
    X = {
        "wide": rng.random((60, 1100)),
        "sparse": sparse.random(60, 300, 0.1, "csr", rng=rng),
        "constant": np.ones((60, 3)),
    }[kind]
    y = rng.dirichlet(np.ones(4), 60)
    model = fitted(KernelRidgeLDL(n_landmarks=20, random_state=0), X, y)
    assert_same(model, again(model, tmp_path), X, y)


def test_trees_send_missing_values_the_same_way(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 4)), rng.dirichlet(np.ones(3), 200)
    X[rng.random(X.shape) < 0.3] = np.nan
    model = RegressorLDL(ExtraTreesRegressor(**TREES)).fit(X, y)
    loaded = again(model, tmp_path)
    assert_same(model, loaded, X, y)
    for mine, theirs in zip(loaded.regressors_, model.regressors_, strict=True):
        X32 = X.astype(np.float32)
        np.testing.assert_array_equal(mine.apply(X32), theirs.apply(X32))
        assert (mine.decision_path(X32)[0] != theirs.decision_path(X32)[0]).nnz == 0
        depths = [[each.get_depth() for each in forest.estimators_] for forest in (mine, theirs)]
        assert depths[0] == depths[1]


@pytest.mark.usefixtures("without_trees")
def test_models_of_tables(tmp_path, named_data):
    X, y = named_data
    X = X.assign(town=np.where(X["a"] > 0, "A", None), size=np.where(X["b"] > 0, X["b"], np.nan))
    for method in ("auto", "winldl", WInLDL(mu=3.0)):
        model = TableModel(method).fit(X, y)
        loaded = again(model, tmp_path, overwrite=True)
        assert_same(model, loaded, X, y)
        assert loaded.encoder_.columns_ == model.encoder_.columns_
        assert loaded.encoder_.notes_ == model.encoder_.notes_
    assert model_info(tmp_path / "model.inldl")["features"] == ["a", "b", "ü c", "town", "size"]


def test_files_are_compact_and_say_what_they_are(tmp_path, named_data):
    X, y = named_data
    model = ForestLDL(random_state=0).fit(X, y)
    save_model(model, tmp_path / "model.inldl")
    assert (tmp_path / "model.inldl").stat().st_size < 0.35 * len(pickle.dumps(model))
    name, digest, header, rest = (tmp_path / "model.inldl").read_bytes().split(b"\n", 3)
    assert name == b"inldl-model"
    assert digest.decode() == hashlib.sha256(header + b"\n" + rest).hexdigest()
    assert json.loads(header)["class"] == "ForestLDL"
    with zipfile.ZipFile(io.BytesIO(rest)) as archive:
        names = archive.namelist()
    assert "schema.json" in names
    assert all(each.endswith((".npy", ".json")) for each in names)


def test_arrays_of_one_number_are_not_packed(tmp_path):
    """They would shrink so much that the file looked like one that claims what it has not."""
    n = 200_000
    model = ConstantLDL("uniform").fit(np.zeros((1, 1)), np.full((1, n), 1 / n))
    save_model(model, tmp_path / "model.inldl")
    assert (tmp_path / "model.inldl").stat().st_size > 8 * n
    np.testing.assert_array_equal(load_model(tmp_path / "model.inldl").distribution_, 1 / n)


def test_info_is_what_was_said(tmp_path, named_data):
    path = tmp_path / "model.inldl"
    save_model(WInLDL(mu=3.0).fit(*named_data), path, info={"rows": 150, "notes": ["é", None]})
    info = model_info(path)
    assert info.pop("created")[:2] == "20"
    assert info == {
        "class": "WInLDL",
        "method": "WInLDL(mu=3.0)",
        "labels": ["p", "q", "r"],
        "features": ["a", "b", "ü c"],
        "n_features": 3,
        "info": {"rows": 150, "notes": ["é", None]},
        "inldl": inldl.__version__,
        "numpy": np.__version__,
        "sklearn": __import__("sklearn").__version__,
        "format": 1,
        "size": path.stat().st_size,
    }
    save_model(TableModel("winldl").fit(*named_data), path, overwrite=True)
    assert model_info(path)["method"] == "winldl"
    for info in ({"x": np.ones(2)}, {"x": np.nan}, [1], {"x": object()}):
        with pytest.raises(ValueError, match=r"^info must be "):
            save_model(WInLDL().fit(*named_data), tmp_path / "other.inldl", info=info)
    assert not (tmp_path / "other.inldl").exists()


class Own(WInLDL):
    """A user's own method."""


class OwnRegressor(BaseEstimator):
    """A user's own regressor."""


def test_what_can_be_saved_is_known_before_the_fit():
    for method in PLAIN:
        if method != "boosting":
            check_savable(make_method(method))
            check_savable(TableModel(method))
    Own.__name__, Own.__module__ = "WInLDL", "inldl.methods"  # it only says so
    refused = {
        "WInLDL": Own(),
        "Ridge": Ridge(),
        "HistGradientBoostingRegressor": make_method("boosting"),
        "HistGradientBoostingRegressor that": TableModel("boosting"),
        "OwnRegressor": RegressorLDL(OwnRegressor()),
        "function": RegressorLDL(KNeighborsRegressor(metric=lambda a, b: 0.0)),
        "RandomState": AutoInLDL(random_state=np.random.RandomState(0)),
        "KNeighborsRegressor with metric_params": RegressorLDL(
            KNeighborsRegressor(metric_params={"w": np.ones(3)})
        ),
        "type": WInLDL,
        "object": object(),
    }
    for what, estimator in refused.items():
        with pytest.raises(ValueError, match=what) as caught:
            check_savable(estimator)
        if "metric_params" not in what:
            assert "WInLDL, InLDLProx" in str(caught.value)
            assert "RegressorLDL around Ridge, ExtraTreesRegressor or" in str(caught.value)
        assert str(caught.value).count("\n") == 0


def test_models_that_cannot_be_saved(tmp_path, named_data):
    X, y = named_data
    path = tmp_path / "model.inldl"
    with pytest.raises(NotFittedError):
        save_model(WInLDL(), path)
    model = WInLDL().fit(X, y)
    model.label_names_ = model.label_names_[:2]
    with pytest.raises(ValueError, match="cannot be saved: its labels are not those that it pred"):
        save_model(model, path)
    with pytest.raises(ValueError, match="cannot hold the HistGradientBoostingRegressor that is"):
        save_model(RegressorLDL(HistGradientBoostingRegressor(max_iter=1)).fit(X, y), path)
    model = RegressorLDL(KNeighborsRegressor()).fit(sparse.csr_matrix(X), y)
    with pytest.raises(ValueError, match="fitted to sparse features"):
        save_model(model, path)
    assert list(tmp_path.iterdir()) == []


def test_files_are_replaced_only_if_asked(tmp_path, named_data):
    path, model = tmp_path / "model.inldl", WInLDL().fit(*named_data)
    path.write_text("mine")
    with pytest.raises(FileExistsError, match=r"model\.inldl exists already; write to another"):
        save_model(model, path)
    assert path.read_text() == "mine"
    save_model(model, path, overwrite=True)
    load_model(path)
    with pytest.raises(IsADirectoryError, match="is a folder; name a file to write"):
        save_model(model, tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        save_model(model, tmp_path / "none" / "model.inldl")


# A model of 16 MB, so that a save takes long enough to be disturbed.
LARGE = """
    import sys
    import numpy as np
    from inldl.methods import ConstantLDL
    from inldl.files.model_file import save_model
    y = np.random.default_rng(0).dirichlet(np.ones(2_000_000), 1)
    model = ConstantLDL().fit(np.zeros((1, 1)), y)
"""


def child(code, path):
    code = textwrap.dedent(LARGE) + textwrap.dedent(code)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", code, path], **pipes)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a limit of file sizes")
def test_full_disk_leaves_the_old_file(tmp_path, named_data):
    """A limit on the size of files makes writing fail as a full disk does."""
    path, model = tmp_path / "model.inldl", WInLDL().fit(*named_data)
    save_model(model, path)
    code = """
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
        try:
            save_model(model, sys.argv[1], overwrite=True)
        except OSError as error:
            print(error)
    """
    out, errors = child(code, path).communicate()
    assert "could not be written (File too large); what was there before is" in out
    assert errors == ""
    assert [each.name for each in tmp_path.iterdir()] == ["model.inldl"]
    assert_same(model, load_model(path), *named_data)


@pytest.mark.skipif(os.name == "nt", reason="needs a limit of file sizes")
def test_killed_save_leaves_the_old_file(tmp_path, named_data):
    """The kernel kills the process at a certain byte, so it is in the middle for sure."""
    path, model = tmp_path / "model.inldl", WInLDL().fit(*named_data)
    save_model(model, path)
    code = """
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        save_model(model, sys.argv[1], overwrite=True)
    """
    process = child(code, path)
    process.communicate()
    assert process.returncode == -signal.SIGXFSZ
    assert [part.stat().st_size for part in tmp_path.glob(".*")] == [1_000_000]
    assert_same(model, load_model(path), *named_data)


@pytest.mark.usefixtures("without_trees")
def test_completing_is_learned_when_it_is_asked_for(saved, named_data):
    """It can take a minute, which nobody who predicts should pay."""
    model = load_model(saved["table"])
    model.predict(named_data[0])
    assert not hasattr(model.held_out_sample_, "_learned")
    model.complete(*named_data)
    assert len(model._completer().refilled_.degrees) > 150
