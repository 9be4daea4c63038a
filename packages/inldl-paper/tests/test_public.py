import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.io import loadmat

from inldl_paper import catalogue, load, public

AT_HAND = {
    "emotion6": (1980, 168, 7),
    "Movie": (7755, 1869, 5),
    "Natural_Scene": (2000, 294, 9),
    "SBU_3DFE": (2500, 243, 6),
    "SCUT_FBP": (1500, 300, 5),
    "SJAFFE": (213, 243, 6),
    "Yeast_alpha": (2465, 24, 18),
    "Yeast_cdc": (2465, 24, 15),
    "Yeast_diau": (2465, 24, 7),
    "Yeast_dtt": (2465, 24, 4),
    "Yeast_elu": (2465, 24, 14),
    "Yeast_heat": (2465, 24, 6),
    "Yeast_spo": (2465, 24, 6),
}
LARGE = pytest.param("Movie", marks=pytest.mark.slow)
EACH = [LARGE if name == "Movie" else name for name in AT_HAND]
FLOAT32 = {"emotion6", "Natural_Scene", "SCUT_FBP"}
ALIASES = {
    "Gene": "Human_Gene",
    "Movie": "Movie",
    "Scene": "Natural_Scene",
    "SBU3DFE": "SBU_3DFE",
    "s-JAFFE": "SJAFFE",
    "Emotion6": "emotion6",
    "Fbp5500": "fbp5500",
    "flickr": "Flickr",
    "raf-ml": "RAF_ML",
    "SCUTFBP": "SCUT_FBP",
}


@pytest.fixture
def public_folder(shared, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("INLDL_DATA", str(shared / "datasets"))
    return shared / "datasets"


def test_every_distribution_file_of_the_repository_is_listed(shared):
    known = json.loads((shared / "reference" / "public_datasets.json").read_text())
    files = known["files"]
    for regression in ("atp1d", "enb", "jura", "scm1d", "wq"):
        del files[regression]
    assert set(public.records()) == set(files)
    for name, record in public.records().items():
        assert record.git_blob == files[name]["git_blob_sha1"]
        assert record.sha256 == files[name].get("sha256")
        assert record.n_bytes == files[name].get("bytes")
    assert known["commit"] in public.BASE_URL
    assert public.BASE_URL.endswith("/" + known["folder"])


def test_label_names_fit_the_shape():
    named = [r for r in public.records().values() if r.label_names]
    assert len(named) == 6
    for record in named:
        assert len(record.label_names) == record.shape[2]


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_names_of_the_paper(alias, name):
    assert public.find(alias).name == name


def test_no_two_datasets_share_a_name():
    names = [n for r in public.records().values() for n in {r.name, r.alias or r.name}]
    keys = {n.lower().replace("_", "").replace("-", ""): public.find(n).name for n in names}
    assert set(keys.values()) == set(public.records())


def test_unknown_name():
    with pytest.raises(ValueError, match="No dataset is called 'Yeast_alhpa'") as error:
        load("Yeast_alhpa")
    assert "'Yeast_alpha'" in str(error.value)
    assert "catalogue()" in str(error.value)


def test_unknown_name_like_no_other():
    with pytest.raises(ValueError, match=r"'qqqq'\. inldl.datasets.catalogue\(\) lists"):
        load("qqqq")


def test_name_of_another_type():
    with pytest.raises(TypeError, match="name of a dataset or a path, got 3"):
        load(3)


@pytest.mark.parametrize("name", EACH)
def test_file(public_folder, name):
    data = load(name, download=False)
    n, k, n_labels = AT_HAND[name]
    assert data.X.shape == (n, k)
    assert data.y.shape == (n, n_labels)
    assert public.find(name).shape == AT_HAND[name]
    assert data.X.dtype == (np.float32 if name in FLOAT32 else np.float64)
    assert data.y.dtype == np.float64
    assert data.X.flags.c_contiguous
    assert np.isfinite(data.X).all()
    assert data.y.min() >= 0
    np.testing.assert_allclose(data.y.sum(axis=1), 1, rtol=1e-15)


@pytest.mark.parametrize("name", EACH)
def test_values_are_those_of_the_file(public_folder, name):
    data = load(name)
    raw = loadmat(data.path)
    np.testing.assert_array_equal(data.X, raw["features"])
    degrees = raw["labels"] if "labels" in raw else raw["label_distribution"]
    np.testing.assert_allclose(data.y, degrees, rtol=4e-6, atol=0)


@pytest.mark.parametrize("name", [each for each in EACH if each != "Natural_Scene"])
def test_both_hashes_are_those_of_the_file(public_folder, name, monkeypatch):
    """A file whose sha256 is known is accepted by its git hash alone, too."""
    record = public.find(name)
    assert record.hashes[record.file][0] == "sha256"
    assert load(name, download=False).path.stat().st_size == record.n_bytes
    monkeypatch.setitem(public.records(), name, replace(record, sha256=None))
    assert public.find(name).hashes[f"{name}.mat"][0] == "git blob sha1"
    load(name, download=False)


def test_attributes(public_folder):
    data = load("sbu3dfe")
    assert data.name == "SBU_3DFE"
    assert data.path == public_folder / "SBU_3DFE.mat"
    assert "Geng" in data.citation
    assert "faces" in data.source
    assert len(data.label_names) == 6
    assert load("Yeast_spo").label_names is None


def test_scene_in_single_precision(public_folder):
    data = load("Scene")
    assert data.path.name == "Natural_Scene_float32.mat"
    own = load(data.path)
    X, y = load("Scene", return_X_y=True)
    np.testing.assert_array_equal(X, data.X)
    np.testing.assert_array_equal(y, data.y)
    assert own.name == "Natural_Scene_float32"
    assert own.label_names is own.citation is None
    np.testing.assert_array_equal(own.y, data.y)


def test_names_of_the_six_emotions_follow_the_faces(public_folder):
    """25 rows a face: four levels of AN, DI, FE, HA, one neutral, four of SA, SU."""
    data = load("SBU_3DFE")
    mean = data.y.reshape(100, 25, 6).mean(axis=0)
    posed = {"anger": 0, "disgust": 4, "fear": 8, "happiness": 12, "sadness": 17,
             "surprise": 21}  # fmt: skip
    for emotion, first in posed.items():
        levels = mean[first : first + 4, data.label_names.index(emotion)]
        assert (np.diff(levels) > 0).all()
        assert mean[:, data.label_names.index(emotion)].argmax() == first + 3


def test_names_of_published_rows(public_folder):
    jaffe, emotion6 = load("SJAFFE"), load("emotion6")
    # Semantic ratings of the first picture of JAFFE, and the example line of Emotion6.
    ratings = {"happiness": 2.87, "sadness": 2.52, "surprise": 2.10, "anger": 1.97,
               "disgust": 1.97, "fear": 2.06}  # fmt: skip
    for label, degree in zip(jaffe.label_names, jaffe.y[0], strict=True):
        assert degree == pytest.approx(ratings[label] / 13.49, abs=1e-12)
    votes = {"anger": 0.133333, "disgust": 0.7, "joy": 0.0666667, "sadness": 0.1}
    for label, degree in zip(emotion6.label_names, emotion6.y[0], strict=True):
        assert degree == pytest.approx(votes.get(label, 0), abs=1e-5)


def test_says_what_is_there(public_folder):
    there = {entry.name for entry in catalogue() if entry.path}
    assert there == set(AT_HAND)
