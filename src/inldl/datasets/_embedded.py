"""The built-in datasets: how British households divide their spending, and recipes of concrete."""

import gzip
from importlib.resources import files

import numpy as np
from sklearn.utils import Bunch


def load_budget_shares(*, return_X_y=False, as_frame=False):
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
    names, table = _read("budget_shares")
    y, X = table[:, :6].copy(), table[:, 6:].copy()
    return _given(X, y, names[6:], names[:6], "budget_shares", return_X_y, as_frame)


def load_concrete(*, return_X_y=False, as_frame=False):
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
    names, table = _read("concrete")
    y, X = table[:, :7] / table[:, :7].sum(axis=1, keepdims=True), table[:, 7:].copy()
    return _given(X, y, names[7:], names[:7], "concrete", return_X_y, as_frame)


def _read(name):
    """Return the names of the columns of a built-in table, and its numbers."""
    packed = _data(f"{name}.csv.gz")
    with packed.open("rb") as raw, gzip.open(raw, "rt", encoding="ascii") as lines:
        names = next(lines).strip().split(",")
        return names, np.loadtxt(lines, delimiter=",")


def _given(X, y, feature_names, label_names, name, return_X_y, as_frame):
    """Return a dataset in the form that a user asks for."""
    if as_frame:
        X, y = _frame(X, feature_names), _frame(y, label_names)
    if return_X_y:
        return X, y
    description = _data(f"{name}.md").read_text(encoding="utf-8")
    return Bunch(X=X, y=y, feature_names=feature_names, label_names=label_names, DESCR=description)


def _data(name):
    return files("inldl.datasets") / "data" / name


def _frame(values, columns):
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise ImportError("as_frame=True needs pandas: pip install pandas") from error
    return DataFrame(values, columns=columns)
