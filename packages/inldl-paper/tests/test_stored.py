import numpy as np
import pytest
import scipy.sparse
from scipy.io import savemat

from inldl import WInLDL
from inldl_paper import catalogue, load, public

X = np.arange(6, dtype=np.float32).reshape(3, 2)
y = np.array([[0.5, 0.5], [0.2, 0.8], [1.0, 0.0]])


@pytest.fixture
def save(tmp_path):
    def save(name, **arrays):
        path = tmp_path / name
        (savemat(path, arrays) if name.endswith(".mat") else np.savez(path, **arrays))
        return path

    return save


@pytest.mark.parametrize("name", ["mine.mat", "mine.npz"])
@pytest.mark.parametrize("features", ["features", "X"])
@pytest.mark.parametrize("degrees", ["label_distribution", "labels", "y"])
def test_keys(save, name, features, degrees):
    path = save(name, **{features: X, degrees: y})
    for given in (path, str(path)):
        data = load(given)
        np.testing.assert_array_equal(data.X, X)
        np.testing.assert_array_equal(data.y, y)
        assert data.X.dtype == np.float32
        assert (data.name, data.path) == ("mine", path)


def test_distribution_before_logical_labels(save):
    path = save("m.npz", X=X, labels=np.ones((3, 2)), label_distribution=y)
    np.testing.assert_array_equal(load(path).y, y)


@pytest.mark.parametrize("name", ["m.mat", "m.npz"])
def test_wrong_keys(save, name):
    path = save(name, features=X, target=y)
    with pytest.raises(ValueError, match="has no degrees") as error:
        load(path)
    for part in (str(path), "'features', 'target'", "'label_distribution' or 'labels' or 'y'"):
        assert part in str(error.value)


def test_unobserved_and_rounded_degrees(save):
    rounded = np.array([[0.33, 0.33, 0.33], [np.nan, 0.2, 0.3]])
    loaded = load(save("m.npz", X=np.ones((2, 1), dtype=np.int64), y=rounded))
    np.testing.assert_allclose(loaded.y, [[1 / 3, 1 / 3, 1 / 3], [np.nan, 0.2, 0.3]])
    np.testing.assert_array_equal(loaded.y[1], rounded[1])
    assert loaded.X.dtype == np.float64


def test_sparse_features(save):
    sparse = scipy.sparse.csc_array(X.astype(np.float64))
    loaded = load(save("m.mat", features=sparse, labels=y))
    assert loaded.X.format == "csr"
    np.testing.assert_array_equal(loaded.X.toarray(), X)


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({"y": y * 2}, r"3 row\(s\) that do not sum to 1, first row 0 \(sum 2\)"),
        ({"y": y - [0, 0.5] + [0.5, 0]}, "negative degree, first in row 2"),
        ({"y": y[:2]}, "3 rows of features and 2 rows of degrees"),
        ({"y": y[0]}, "must be 2-D"),
        ({"y": y + np.inf}, "infinity"),
        ({"X": X[0]}, r"2-D array of numbers.*shape \(2,\)"),
        ({"X": X.astype(str)}, "2-D array of numbers"),
        ({"X": X.astype(object)}, "cannot be read"),
    ],
)
def test_unfit_arrays(save, arrays, match):
    path = save("m.npz", **{"X": X, "y": y, **arrays})
    with pytest.raises(ValueError, match=match) as error:
        load(path)
    assert str(path) in str(error.value)


def test_other_variables_are_left_alone(save):
    path = save("m.npz", X=X, y=y, names=np.array(["a", None], dtype=object))
    np.testing.assert_array_equal(load(path).y, y)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.99])
@pytest.mark.parametrize("name", ["m.mat", "m.npz"])
def test_cut_off(save, name, share):
    path = save(name, X=np.ones((50, 9)), y=np.full((50, 2), 0.5))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match=r"cannot be read as a .* damaged or incomplete"):
        load(path)


def test_matlab_7_3(tmp_path):
    # The header of such a file: version 0x0200 and the mark of the byte order.
    header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    (tmp_path / "m.mat").write_bytes(header + bytes(400))
    with pytest.raises(ValueError, match=r"MATLAB 7\.3 file.*'-v7'"):
        load(tmp_path / "m.mat")


def test_absent():
    with pytest.raises(FileNotFoundError, match=r"no file 'SJAFFE.mat'.*load\('SJAFFE'\)"):
        load("SJAFFE.mat")


def test_other_kind_of_file(tmp_path):
    (tmp_path / "m.csv").write_text("1,2\n")
    with pytest.raises(ValueError, match=r"m\.csv must be a \.mat or \.npz file"):
        load(tmp_path / "m.csv")


RANGES = {"lower_bound": [[0.1, 0.4], [0.3, 0.7]], "upper_bound": [[0.6, 0.9], [0.3, 0.7]]}


@pytest.mark.parametrize("name", ["m.mat", "m.npz"])
def test_ranges_are_bounds(save, name):
    ends = {key: np.array(value) for key, value in RANGES.items()}
    loaded = load(save(name, features=X[:2], **ends))
    np.testing.assert_array_equal(loaded.y, [[np.nan, np.nan], [0.3, 0.7]])
    np.testing.assert_array_equal(loaded.lower, ends["lower_bound"])
    np.testing.assert_array_equal(loaded.upper, ends["upper_bound"])
    model = WInLDL().fit(loaded.X, loaded.y, lower=loaded.lower, upper=loaded.upper)
    filled = model.complete(loaded.X, loaded.y, lower=loaded.lower, upper=loaded.upper)
    assert ((loaded.lower <= filled + 1e-9) & (filled <= loaded.upper + 1e-9)).all()
    whole = load(save(name, features=X[:2], labels=y[:2], **ends))
    np.testing.assert_array_equal(whole.y, y[:2])  # degrees are more than ranges


@pytest.mark.parametrize("ends", [{"lower_bound": [[0.7, 0.4]]}, {"upper_bound": [[0.2, 0.3]]}])
def test_ranges_of_something_else_are_refused(save, ends):
    given = {key: np.array(value)[:1] for key, value in {**RANGES, **ends}.items()}
    with pytest.raises(ValueError, match="are not those of degrees"):
        load(save("m.npz", X=X[:1], **given))


@pytest.mark.parametrize("name", ["FG-Net", "MOR-PH"])
def test_ages_that_are_cut_are_divided_by_their_sums(save, name, monkeypatch):
    """A small file in the form of the public one: normal distributions, cut at both ends."""
    ages = np.arange(20)
    cut = np.exp(-0.5 * (ages - np.array([[0], [7], [19]])) ** 2 / 4)
    cut /= 2 * np.sqrt(2 * np.pi)
    path = save(f"{name}.mat", features=X, labels=cut)
    with pytest.raises(ValueError, match="do not sum to 1"):
        load(path)  # as a file of one's own
    monkeypatch.setenv("INLDL_DATA", str(path.parent))
    monkeypatch.setattr(public, "_mismatch", lambda *_: "")
    data = load(name)
    np.testing.assert_allclose(data.y, cut / cut.sum(axis=1, keepdims=True))
    assert "divided by its sum" in data.note


def test_every_public_file_that_is_here_loads(shared, monkeypatch):
    monkeypatch.setenv("INLDL_DATA", str(shared))
    here = [each for each in catalogue() if each.path]
    assert len(here) >= 13
    for each in here:
        data = load(each.name)
        assert (*data.X.shape, data.y.shape[1]) == each.shape
        np.testing.assert_allclose(data.y.sum(axis=1), 1)
        assert each.licence
