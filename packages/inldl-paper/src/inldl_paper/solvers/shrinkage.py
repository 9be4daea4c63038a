"""Matrices of small trace norm."""

import numpy as np

Array = np.ndarray


def map_gram(of: Array) -> Array:
    """Return (XW)'XW of what `Regression.map` returned."""
    G = of[0] @ of[1].T
    return (G + G.T) / 2


def map_norm(of: Array) -> float:
    """Return the Frobenius norm of XW."""
    return float(np.sqrt(max(np.vdot(of[0], of[1]), 0.0)))


def shrink_singular_values(A: Array, tau: float, *, hard: bool = False) -> tuple[Array, float]:
    """Return A with each singular value s replaced by max(s - tau, 0), and its trace norm.

    It is the solution of ``min_Z |Z - A|_F^2 / 2 + tau |Z|_*``; `hard` keeps the values above tau
    as they are. The smaller of A'A and AA' is decomposed, A'A = V diag(s^2) V', and A (or its
    transpose) is multiplied by V diag(max(1 - tau/s, 0)) V': many times faster than the
    decomposition of a tall A, and as exact unless tau is below 1e-8 of the largest s.
    """
    if A.shape[0] < A.shape[1]:
        Z, norm = shrink_singular_values(A.T, tau, hard=hard)
        return Z.T, norm
    factor, norm = shrinker(A.T @ A, tau, hard=hard)
    return A @ factor, norm


def shrinker(gram: Array, tau: float, *, hard: bool = False) -> tuple[Array, float]:
    """Return what A must be multiplied by to shrink its singular values, from A'A alone.

    Parameters and second result are those of `shrink_singular_values`, which a matrix that lies
    in blocks of rows can do without being in one place.
    """
    squares, V = np.linalg.eigh(gram)
    s = np.sqrt(np.maximum(squares, 0))
    left = np.where(s > tau, s if hard else s - tau, 0)
    factors = np.divide(left, s, out=np.zeros_like(s), where=s > 0)
    return (V * factors) @ V.T, float(left.sum())
