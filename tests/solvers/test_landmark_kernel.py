"""Kernels of rows and landmarks, the features they make, and the basis that suits a descent."""

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from inldl.solvers import landmark_kernel
from inldl.solvers.landmark_kernel import Basis, Columnwise, KernelFeatures, LandmarkKernel

KERNELS = {"rbf": rbf_kernel, "laplacian": laplacian_kernel}
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(90, 4))
WEIGHTS = RNG.integers(1, 4, 90).astype(float)

kernels = pytest.mark.parametrize("kernel", KERNELS)


def landmarks(kernel, n=20, gamma=0.2):
    return LandmarkKernel(kernel, gamma, Z[:n])


@kernels
def test_kernels_are_those_of_scikit_learn(kernel, monkeypatch):
    monkeypatch.setattr(landmark_kernel, "KERNEL_ENTRIES", 1)
    expected = KERNELS[kernel](Z, Z[:20], gamma=0.2)
    np.testing.assert_allclose(landmarks(kernel)(Z), expected, rtol=1e-12)
    for dtype, rtol in ((np.float32, 2e-6), (np.float64, 1e-12)):
        found = landmarks(kernel).pieces(Z, dtype)
        pieces = [K[: rows.stop - rows.start].copy() for rows, K in found]
        assert [len(piece) for piece in pieces] == [64, 26]  # 64 rows at least
        np.testing.assert_allclose(np.concatenate(pieces), expected, rtol=rtol)


@pytest.mark.parametrize("far", [1e3, 1e30, -1e300])
@kernels
def test_rows_far_away_resemble_no_landmark(kernel, far):
    [(_, K)] = landmarks(kernel).pieces(np.full((1, 4), far), np.float32)
    assert (K[0] == 0).all()


@kernels
def test_products_of_features_are_those_of_scikit_learn(kernel):
    """Nystroem's features are unique up to a rotation, which products do not see."""
    new = RNG.normal(size=(7, 4))
    ours = KernelFeatures.of(landmarks(kernel, gamma=1.0)).transform(new)
    theirs = Nystroem(kernel=kernel, gamma=1.0, n_components=20).fit(Z[:20]).transform(new)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-10)


def test_directions_that_are_noise_are_left_out():
    alike = np.concatenate([Z[:10], Z[:10] + 1e-9])
    features = KernelFeatures.of(LandmarkKernel("rbf", 0.2, alike))
    assert features.transform(Z).shape == (90, 10)
    single, double = (features.transform(Z.astype(kind)) for kind in (np.float32, np.float64))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=1e-4)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("feature_map", [KernelFeatures.of(landmarks("rbf")), Columnwise(4)])
def test_a_basis_is_centred_and_rotated(feature_map, weights):
    basis = Basis.of(feature_map, Z, weights, rows=90)  # all rows take part
    w = np.ones(90) if weights is None else weights
    F = basis.features(Z)
    gram = F.T @ (F * w[:, None])
    np.testing.assert_allclose(gram, np.diag(basis.squares), atol=1e-10 * gram.max())
    np.testing.assert_allclose(w @ F, 0, atol=1e-10)
    V = RNG.normal(size=(F.shape[1] + 1, 3))
    coef, intercept = basis.split(V)
    expected = F @ V[:-1] + V[-1]
    np.testing.assert_allclose(feature_map.transform(Z) @ coef + intercept, expected, atol=1e-10)


def test_some_of_many_rows_tell_a_basis():
    features = KernelFeatures.of(landmarks("rbf", 5))
    many = RNG.normal(size=(2000, 4))
    whole, half = (Basis.of(features, many, rows=each).squares for each in (400, 200))
    np.testing.assert_allclose(half, whole, rtol=0.2)
