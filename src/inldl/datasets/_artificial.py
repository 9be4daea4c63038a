"""Artificial label distributions."""

import numpy as np

from inldl.datasets._hiding import generator

# t = x + 0.5 x^2 + 0.2 x^3 + 1, lowest power first
_POLYNOMIAL = (1.0, 1.0, 0.5, 0.2)
_WEIGHTS = np.array([[4.0, 2.0, 1.0], [1.0, 2.0, 4.0], [1.0, 4.0, 2.0]])
_COUPLING = 0.01


def make_distributions(n_samples=500, *, random_state=None):
    r"""Generate the artificial dataset common in the literature: three features, three labels.

    The features are uniform on [-1, 1]. The degrees are a smooth function of them, without noise:

    .. math::

        t_i &= a x_i + b x_i^2 + c x_i^3 + d, \quad i = 1, 2, 3 \\
        \psi_1 &= (w_1^\top t)^2 \\
        \psi_2 &= (w_2^\top t + \lambda_1 \psi_1)^2 \\
        \psi_3 &= (w_3^\top t + \lambda_2 \psi_2)^2 \\
        d_j &= \psi_j / (\psi_1 + \psi_2 + \psi_3)

    with a = 1, b = 0.5, c = 0.2, d = 1, :math:`w_1 = (4, 2, 1)`, :math:`w_2 = (1, 2, 4)`,
    :math:`w_3 = (1, 4, 2)` and :math:`\lambda_1 = \lambda_2 = 0.01`. Every degree is positive.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows.
    random_state : None, int or numpy.random.Generator, default=None
        Seed or generator for the features.

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
        Features.
    y : ndarray of shape (n_samples, 3)
        Degrees; each row sums to 1.

    References
    ----------
    X. Geng (2016), "Label Distribution Learning", IEEE Transactions on Knowledge and Data
    Engineering 28(7), 1734-1748.

    Examples
    --------
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(4, random_state=0)
    >>> X.shape, y.shape
    ((4, 3), (4, 3))
    """
    # A separate stream: `hide` with the same seed must not depend on the values of X.
    rng = generator(random_state).spawn(1)[0]
    X = rng.uniform(-1.0, 1.0, size=(n_samples, 3))
    return X, _degrees(X)


def _degrees(X):
    t = np.polynomial.polynomial.polyval(X, _POLYNOMIAL)
    psi = t @ _WEIGHTS.T
    psi[:, 0] **= 2
    for j in (1, 2):
        psi[:, j] = (psi[:, j] + _COUPLING * psi[:, j - 1]) ** 2
    return psi / psi.sum(axis=1, keepdims=True)
