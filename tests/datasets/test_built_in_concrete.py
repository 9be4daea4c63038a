import numpy as np
import pytest

from inldl.datasets import load_concrete

LABELS = ["cement", "slag", "fly ash", "water", "plasticizer", "gravel", "sand"]


@pytest.fixture(scope="module")
def concrete():
    return load_concrete()


def test_shapes_and_names(concrete):
    assert concrete.X.shape == (427, 2)
    assert concrete.y.shape == (427, 7)
    assert concrete.feature_names == ["strength", "age"]
    assert concrete.label_names == LABELS
    assert np.isfinite(concrete.X).all()


def test_rows_are_distributions_and_differ(concrete):
    np.testing.assert_allclose(concrete.y.sum(axis=1), 1, rtol=1e-14)
    assert concrete.y[0] == pytest.approx(np.array([540, 0, 0, 162, 2.5, 1040, 676]) / 2420.5)
    assert len(np.unique(concrete.y, axis=0)) > 420


def test_the_description_is_true(concrete):
    for fact in ("modeldata", "MIT", "Yeh", "427", "1030"):
        assert fact in concrete.DESCR
    zeros = dict(zip(LABELS, (concrete.y == 0).sum(axis=0).tolist(), strict=True))
    assert zeros == dict.fromkeys(LABELS, 0) | {"slag": 183, "fly ash": 212, "plasticizer": 117}
    assert f"{(concrete.y == 0).mean():.1%}".replace("%", " per cent") in concrete.DESCR


def test_frames(concrete):
    X, y = load_concrete(return_X_y=True, as_frame=True)
    assert list(X) == ["strength", "age"]
    assert list(y) == LABELS
    np.testing.assert_array_equal(y, concrete.y)
