"""The built-in dataset: how British households divide their spending."""

import gzip
from importlib.resources import files

import numpy as np
from sklearn.utils import Bunch

_N_LABELS = 6


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
    packed = _data("budget_shares.csv.gz")
    with packed.open("rb") as raw, gzip.open(raw, "rt", encoding="ascii") as lines:
        names = next(lines).strip().split(",")
        table = np.loadtxt(lines, delimiter=",")
    label_names, feature_names = names[:_N_LABELS], names[_N_LABELS:]
    y, X = table[:, :_N_LABELS].copy(), table[:, _N_LABELS:].copy()
    if as_frame:
        X, y = _frame(X, feature_names), _frame(y, label_names)
    if return_X_y:
        return X, y
    description = _data("budget_shares.md").read_text(encoding="utf-8")
    return Bunch(X=X, y=y, feature_names=feature_names, label_names=label_names, DESCR=description)


def _data(name):
    return files("inldl.datasets") / "data" / name


def _frame(values, columns):
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise ImportError("as_frame=True needs pandas: pip install pandas") from error
    return DataFrame(values, columns=columns)
