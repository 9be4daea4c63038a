"""Fits to a part of the rows, and predictions of rows that were made without them."""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter


def predict_held_out(estimator, X, y, n_folds, groups=None, sample_weight=None):
    """Return predictions of the rows of `X`, each made by a clone that did not see the row.

    There are `n_folds` clones; each predicts a random part of the rows, the same ones each time.
    Rows of one group are predicted by the same clone. Weights are for the fits of the clones.
    """
    from sklearn.model_selection import GroupKFold, KFold  # time a plain fit need not pay

    if len(y) < 2:
        raise ValueError("Held-out predictions need at least two rows, got n_samples=1.")
    kind, most = KFold, len(y)
    if groups is not None:
        kind, most = GroupKFold, len(np.unique(groups))
        if most < 2:
            raise ValueError("All rows are of one group; held-out predictions need at least two.")
    folds = kind(min(n_folds, most), shuffle=True, random_state=0)
    out = np.empty_like(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the fit to all rows has said it
        for train, test in folds.split(y, groups=groups):
            weights = {} if sample_weight is None else {"sample_weight": sample_weight[train]}
            model = clone(estimator).fit(X[train], with_every_label(y[train]), **weights)
            out[test] = model.predict(X[test])
    return out


def fit_weighted(estimator, X, y, weights, **known):
    """Fit an estimator, with what else is known; refuse weights if it knows none."""
    if weights is None:
        return estimator.fit(X, y, **known)
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"The fit of {type(estimator).__name__} has no sample_weight, so rows cannot be "
            "weighted; use another method, or leave the weights out."
        )
    return estimator.fit(X, y, sample_weight=weights, **known)


def with_every_label(y):
    """Return `y` with a degree for each label that is nowhere observed, which no method accepts.

    It is 0, in the row with the most holes. If that leaves no hole, one degree closes the row.
    """
    unseen = np.flatnonzero(np.isnan(y).all(axis=0))
    if not unseen.size:
        return y
    y, row = y.copy(), int(np.isnan(y).sum(axis=1).argmax())
    y[row, unseen] = 0
    if not np.isnan(y[row]).any():
        y[row, unseen[0]] = max(1 - y[row].sum(), 0)
    return y
