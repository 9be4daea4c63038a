"""The built-in datasets: spending of British households, recipes of concrete, artificial rows."""

import gzip
from importlib.resources import files
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from inldl.randomness import generator_from

# t = x + 0.5 x^2 + 0.2 x^3 + 1, lowest power first
_POLYNOMIAL = (1.0, 1.0, 0.5, 0.2)
_WEIGHTS = np.array([[4.0, 2.0, 1.0], [1.0, 2.0, 4.0], [1.0, 4.0, 2.0]])
_COUPLING = 0.01


def load_budget_shares(*, return_X_y=False, as_frame=False) -> Any:
    """Load the budget shares of 1519 British households.

    Each row is a household with one or two children. Its degrees are the shares of its spending
    on food, fuel, clothes, alcohol, transport and other things. They have four decimals and sum to
    1. A share of 0 is a real 0. `DESCR` says where the data come from.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return only `(X, y)`.
    as_frame : bool, default=False
        Return `X` and `y` as pandas DataFrames.

    Returns
    -------
    Bunch or tuple
        With the attributes

        X : ndarray or DataFrame of shape (1519, 4)
            Total spending and family income (pounds per week, to the nearest ten), age of the
            head of the household and number of children, untransformed.
        y : ndarray or DataFrame of shape (1519, 6)
            Shares of spending, complete; use `hide` to remove some.
        feature_names, label_names : list of str
            Names of the columns of `X` and `y`.
        DESCR : str
            Description, source and licence.

    Examples
    --------
    >>> from inldl.datasets import load_budget_shares
    >>> budget = load_budget_shares()
    >>> budget.label_names
    ['food', 'fuel', 'clothes', 'alcohol', 'transport', 'other']
    """
    return _built_in("budget_shares", 6, return_X_y, as_frame)


def load_concrete(*, return_X_y=False, as_frame=False) -> Any:
    """Load the recipes of 427 concretes.

    The degrees of a row are the shares of cement, slag, fly ash, water, plasticizer, gravel and
    sand in the weight of a concrete. They depend on each other: what is known of a recipe tells
    about the rest. `DESCR` says where the data come from.

    Parameters
    ----------
    return_X_y, as_frame
        As in `load_budget_shares`.

    Returns
    -------
    Bunch or tuple
        As in `load_budget_shares`. X has the shape (427, 2): the highest compressive strength
        that was measured, in megapascals, and the age of the oldest sample, in days. y has the
        shape (427, 7).

    Examples
    --------
    >>> from inldl.datasets import load_concrete
    >>> load_concrete().label_names
    ['cement', 'slag', 'fly ash', 'water', 'plasticizer', 'gravel', 'sand']
    """
    return _built_in("concrete", 7, return_X_y, as_frame, rescaled=True)


def _built_in(name, n_labels, return_X_y, as_frame, *, rescaled=False):
    """Return a dataset in the form that a user asks for; its labels come first in the file.

    `rescaled` says that rows of labels are divided by their sums.
    """
    data = files("inldl.datasets") / "data"
    packed = data / f"{name}.csv.gz"
    with packed.open("rb") as raw, gzip.open(raw, "rt", encoding="ascii") as lines:
        names = next(lines).strip().split(",")
        table = np.loadtxt(lines, delimiter=",")
    label_names, feature_names = names[:n_labels], names[n_labels:]
    y, X = table[:, :n_labels].copy(), table[:, n_labels:].copy()
    if rescaled:
        y /= y.sum(axis=1, keepdims=True)
    if as_frame:
        from pandas import DataFrame  # time that arrays need not pay

        X, y = DataFrame(X, columns=feature_names), DataFrame(y, columns=label_names)
    if return_X_y:
        return X, y
    description = (data / f"{name}.md").read_text(encoding="utf-8")
    return Bunch(X=X, y=y, feature_names=feature_names, label_names=label_names, DESCR=description)


def make_distributions(n_samples=500, *, random_state=None) -> tuple[np.ndarray, np.ndarray]:
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
    random_state : int, RandomState instance, Generator or None, default=None
        For the features.

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
    rng = generator_from(random_state).spawn(1)[0]
    X = rng.uniform(-1.0, 1.0, size=(n_samples, 3))
    return X, _degrees(X)


def _degrees(X):
    t = np.polynomial.polynomial.polyval(X, _POLYNOMIAL)
    psi = t @ _WEIGHTS.T
    psi[:, 0] **= 2
    for j in (1, 2):
        psi[:, j] = (psi[:, j] + _COUPLING * psi[:, j - 1]) ** 2
    return psi / psi.sum(axis=1, keepdims=True)
