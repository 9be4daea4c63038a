"""How much predictions need each column of a table."""

import numpy as np


def error_rises(predict, X, columns, observed):
    """Return by how much the error of each label rises when a column is shuffled, per column.

    Parameters
    ----------
    predict : callable
        Makes predictions of a frame.
    X : DataFrame of shape (n, k)
        Rows.
    columns : list of str
        The columns to shuffle, one at a time.
    observed : ndarray of shape (n, n_labels)
        Degrees, NaN = unobserved.
    """
    order = np.random.default_rng(0).permutation(len(X))
    plain, rises = _errors(observed, predict(X)), []
    for name in columns:
        shuffled = X.copy(deep=False)
        shuffled[name] = X[name].to_numpy()[order]
        rises.append(_errors(observed, predict(shuffled)) - plain)
    return rises


def _errors(observed, predicted):
    """Return the root mean squared error of each label; NaN if it is not observed."""
    squares = (observed - np.asarray(predicted)) ** 2
    seen = ~np.isnan(squares)
    with np.errstate(invalid="ignore"):
        return np.sqrt(np.where(seen, squares, 0).sum(axis=0) / seen.sum(axis=0))
