"""A fit that dies and goes on, on the threads of this machine."""

import json
import sys
import warnings

import dask
import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from inldl import WInLDL, hide
from inldl.engines import Sums, checkpoint, disk
from inldl.literature import InLDLADMM, InLDLProx
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


def die(model, at, X=X, Y=Y):
    """Fit until the process would have died."""

    def report(t, changes):
        if t == at:
            raise Died

    model.verbose, model._report = 1, report
    with pytest.raises(Died):
        model.fit(X, Y)


def stored(path):
    """Return the header of a checkpoint and its sums."""
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    return json.loads(str(arrays.pop("about"))), arrays


def store(path, header, arrays, checksum=None):
    """Write a checkpoint with the right checksum, or another one."""
    header.pop("checksum", None)
    header["checksum"] = checksum or checkpoint._checksum(header, arrays)
    with path.open("wb") as file:
        np.savez(file, about=np.array(json.dumps(header)), **arrays)


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


def test_the_digest_of_a_block_covers_what_is_beside_its_rows():
    ones, zeros = np.ones((3, 1)), np.zeros((3, 1))
    given = [{}, {"a": ones}, {"a": zeros}, {"b": ones}, {"a": ones, "b": ones}]

    def start(problem, X, y, **beside):
        return sorted(beside), Sums(("sum",))

    found = [checkpoint._start_with_digest(start, None, X[:3], Y[:3], **each) for each in given]
    assert [block for block, _ in found] == [sorted(each) for each in given]
    assert len({sums.added[0] for _, sums in found}) == len(given)
    assert found[0][1].added == (checkpoint.digest(X[:3], Y[:3]), "sum")


def test_what_is_no_checkpoint_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("do not lose this")
    with pytest.raises(ValueError, match="it is something else, or damaged; give another path"):
        WInLDL(checkpoint=path).fit(X, Y)
    assert path.read_text() == "do not lose this"
    with pytest.raises(ValueError, match="Is a directory; give another path"):
        WInLDL(checkpoint=tmp_path).fit(X, Y)
    with pytest.raises(ValueError, match="is in a folder that does not exist"):
        WInLDL(checkpoint=tmp_path / "nowhere" / "fit.npz").fit(X, Y)


@pytest.mark.parametrize("rows", ["memory", "Fortran", "CSR", "disk", "chunks", "scratch"])
def test_rows_in_another_order_are_refused_wherever_they_are(rows, tmp_path, monkeypatch):
    """Sixteen raters: the sums of degrees are exact, and do not tell which row has which."""
    monkeypatch.setattr(disk, "LARGE", 0)
    rated = np.random.default_rng(0).multinomial(16, np.full(4, 0.25), len(X)) / 16
    Y = hide(rated, 0.5, random_state=0)

    def given(y):
        if rows == "CSR":
            return sparse.csr_array(X), y
        if rows == "disk":
            X.tofile(tmp_path / "X")
            return np.memmap(tmp_path / "X", X.dtype, "r", shape=X.shape), y
        if rows in ("chunks", "scratch"):
            return da.from_array(X, chunks=(900, -1)), y
        return np.asarray(X, order="F" if rows == "Fortran" else "C"), y

    model = WInLDL(max_iter=8, tol=0.0, n_jobs=2)
    limit = "1 kB" if rows == "scratch" else "10 GB"
    with dask.config.set({"inldl.memory-limit": limit}):
        expected = model.fit(*given(Y)).coef_
        die(model.set_params(checkpoint=tmp_path / "fit.npz"), 4, *given(Y))
        with pytest.raises(ValueError, match="written for other data"):
            WInLDL(**model.get_params() | {"verbose": 0}).fit(*given(np.roll(Y, 1, axis=0)))
        resumed = WInLDL(**model.get_params() | {"verbose": 0, "n_jobs": 3}).fit(*given(Y))
    np.testing.assert_array_equal(resumed.coef_, expected)


def test_a_checkpoint_of_another_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "fit.npz"
    with monkeypatch.context() as patch:
        patch.setitem(checkpoint.VERSIONS, "inldl", "0.0.1")
        die(WInLDL(checkpoint=path), 3)
    with pytest.raises(ValueError, match=r"was written by inldl 0\.0\.1, and inldl .* delete it"):
        WInLDL(checkpoint=path).fit(X, Y)
    _, arrays = stored(path)
    with path.open("wb") as file:
        np.savez(file, about=np.array(json.dumps({"method": "WInLDL"})), **arrays)
    early = path.read_bytes()
    with pytest.raises(ValueError, match=r"by inldl of an early version, .* delete it"):
        WInLDL(checkpoint=path).fit(X, Y)
    assert path.read_bytes() == early


def test_changed_numbers_are_refused(tmp_path):
    path = tmp_path / "fit.npz"
    die(WInLDL(checkpoint=path), 3)
    header, arrays = stored(path)
    changed = {**arrays, "1 added 0": arrays["1 added 0"] + 1e-9}
    missing = {**arrays, "1 added 0": arrays["1 added 0"] * np.nan}
    fewer = dict(list(arrays.items())[:-1])
    for others in (changed, missing, fewer):
        store(path, header, others, checksum=header["checksum"])
        with pytest.raises(ValueError, match="is damaged; delete it"):
            WInLDL(checkpoint=path).fit(X, Y)
    store(path, header, missing)
    with pytest.raises(ValueError, match="is damaged; delete it"):
        WInLDL(checkpoint=path).fit(X, Y)
    cut = path.read_bytes()[:-100]
    path.write_bytes(cut)
    with pytest.raises(ValueError, match="something else, or damaged; give another path"):
        WInLDL(checkpoint=path).fit(X, Y)


@pytest.mark.parametrize("at", [5, 9])
def test_forged_sums_are_refused(at, tmp_path, monkeypatch):
    """Rows that catch up arrive at other sums, also where the file holds the whole fit."""
    monkeypatch.setattr(checkpoint, "SHARE", np.inf)  # writes after each iteration
    path = tmp_path / "fit.npz"
    die(WInLDL(max_iter=9, tol=0.0, checkpoint=path), at)
    header, arrays = stored(path)
    arrays["3 added 0"] = arrays["3 added 0"] * 1.01
    store(path, header, arrays)
    with pytest.raises(ValueError, match="holds sums that these rows do not have"):
        WInLDL(max_iter=9, tol=0.0, checkpoint=path).fit(X, Y)
    assert path.exists()


def test_other_sums_of_the_same_features_are_refused(tmp_path):
    path = tmp_path / "fit.npz"
    die(WInLDL(checkpoint=path), 3)
    header, arrays = stored(path)
    arrays["0 added 0"] = arrays["0 added 0"] * 1.01
    store(path, header, arrays)
    with pytest.raises(ValueError, match="holds sums that these rows do not have"):
        WInLDL(checkpoint=path).fit(X, Y)


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files")
def test_a_full_disk_does_not_end_the_fit(tmp_path, monkeypatch):
    import resource

    monkeypatch.setattr(checkpoint, "SHARE", np.inf)
    expected = WInLDL(max_iter=9).fit(X, Y)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    left = []
    model = WInLDL(max_iter=9, checkpoint=tmp_path / "fit.npz", verbose=1)
    model._report = lambda t, changes: left.append([path.name for path in tmp_path.iterdir()])
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, before[1]))
        with pytest.warns(UserWarning, match="cannot be written: File too large") as found:
            model.fit(X, Y)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(found) == 1
    assert found[0].filename == __file__
    assert left[0] == left[-1] == ["fit.npz"]  # the first iterations, and no part of a file
    assert list(tmp_path.iterdir()) == []
    np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_links_beside_the_file_are_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("do not lose this")
    (tmp_path / "fit.npz.part").symlink_to(precious)
    WInLDL(max_iter=3, checkpoint=tmp_path / "fit.npz").fit(X, Y)
    assert precious.read_text() == "do not lose this"


@pytest.mark.parametrize("same", [True, False])
def test_two_fits_on_one_path_do_not_mix(same, tmp_path, monkeypatch):
    """The second begins before the first has written, and ends in the middle of it."""
    monkeypatch.setattr(checkpoint, "SHARE", np.inf)
    path, parameters = tmp_path / "fit.npz", {"max_iter": 9, "tol": 0.0}
    others = parameters if same else parameters | {"mu": 3.0}
    first = WInLDL(**parameters, checkpoint=path)
    second = WInLDL(**others, checkpoint=path, verbose=1)

    def begin_the_first(t, changes):
        if t == 1:
            path.unlink()
            die(first, 5)
        if t == 7:
            assert list(tmp_path.iterdir()) == [path]
            assert len(stored(path)[1]) > 5

    second._report = begin_the_first
    with pytest.warns(UserWarning, match="is also written by another fit; give each") as found:
        second.fit(X, Y)
    assert len(found) == 1
    np.testing.assert_array_equal(second.coef_, WInLDL(**others).fit(X, Y).coef_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        resumed = WInLDL(**parameters, checkpoint=path).fit(X, Y)
    np.testing.assert_array_equal(resumed.coef_, WInLDL(**parameters).fit(X, Y).coef_)
    assert not path.exists()


def test_cross_fitting_shares_no_file(tmp_path):
    path = tmp_path / "fit.npz"
    model = WInLDL(max_iter=3, cross_fit=2, checkpoint=path).fit(X, Y)
    expected = WInLDL(max_iter=3, cross_fit=2).fit(X, Y)
    np.testing.assert_array_equal(model.held_out_, expected.held_out_)
    assert not path.exists()
