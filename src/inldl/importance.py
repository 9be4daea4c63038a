"""Measure how much each feature matters for each label, as data frames ready to plot."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from inldl.rows.checks import as_degrees, check_label_order, check_number, label_names
from inldl.rows.inputs import validate_features

__all__ = ["contributions", "importance_by_label"]


def contributions(model: Any, X: Any, reference: npt.ArrayLike | None = None) -> pd.DataFrame:
    r"""Return how much each feature adds to the score of each label, row by row.

    A linear model computes the scores :math:`s_j = b_j + \sum_k w_{jk} x_k` before it turns them
    into a distribution, so the contribution of feature k to a row's difference from the reference
    :math:`r` is exactly :math:`w_{jk} (x_k - r_k)`.

    Parameters
    ----------
    model : estimator
        A fitted linear model. The scores of `WInLDL`, `InLDLProx`, `InLDLADMM` and `I2LDL` are
        degrees before the projection onto the simplex; those of `BFGSLDL`, `IISLDL`, `LDM`,
        `EDLLRL` and `HidLDL` are logarithms of degrees up to a constant per row, so only
        differences between labels mean something.
    X : array-like of shape (n_samples, n_features)
        The rows to explain; must be dense.
    reference : array-like of shape (n_features,), optional
        What to compare the rows with; the mean of `X` by default. Use ``X_train.mean(axis=0)``
        to compare with the training rows.

    Returns
    -------
    DataFrame of shape (n_samples * n_labels, n_features)
        Indexed by ("row", "label"). Each row sums to the score minus that of the reference.

    See Also
    --------
    importance_by_label : For any model.

    Examples
    --------
    >>> from inldl import WInLDL
    >>> from inldl.datasets import make_distributions
    >>> from inldl.importance import contributions
    >>> X, y = make_distributions(500, random_state=0)
    >>> parts = contributions(WInLDL().fit(X, y), X)
    >>> parts.loc[(0, 2)].round(3).tolist()  # row 0, label 2
    [-0.078, -0.043, -0.002]
    """
    coef = _coefficients(model)
    _refuse_sparse(X)
    checked = validate_features(model, X, dtype=np.float64)
    origin = checked.mean(axis=0) if reference is None else _reference(reference, checked.shape[1])
    values = (checked - origin)[:, None, :] * coef
    rows = X.index if hasattr(X, "index") else range(len(checked))
    index = pd.MultiIndex.from_product([rows, _labels(model, len(coef))], names=["row", "label"])
    columns = _features(model, X, checked.shape[1])
    return pd.DataFrame(values.reshape(-1, checked.shape[1]), index=index, columns=columns)


def importance_by_label(
    model: Any,
    X: Any,
    y: Any,
    *,
    n_repeats: int = 5,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Measure how much worse predictions of each label get when a feature is shuffled.

    Worse means a larger root mean squared error on the observed degrees of the label. Redundant
    features can replace each other, so none of them may seem to matter.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of distributions, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        Features, preferably of rows that the model has not seen; must be dense.
    y : array-like of shape (n_samples, n_labels)
        Degrees, NaN where missing.
    n_repeats : int, default=5
        How often each feature is shuffled.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling.
    n_jobs : int or None, default=None
        Number of processes; each handles some of the features.

    Returns
    -------
    DataFrame of shape (n_features, 2 * n_labels)
        By how much the error rises: the columns are ("mean", label) and ("std", label) over the
        repeats, so ``frame["mean"]``
        has a row for each feature and a column for each label. A label with no observed degree
        is NaN.

    See Also
    --------
    contributions : Exact values for each row, for linear models.

    Examples
    --------
    >>> from inldl import WInLDL
    >>> from inldl.datasets import make_distributions
    >>> from inldl.importance import importance_by_label
    >>> X, y = make_distributions(500, random_state=0)
    >>> importance_by_label(WInLDL().fit(X, y), X, y)["mean"].idxmax().tolist()
    [0, 2, 1]
    """
    from sklearn.inspection import permutation_importance

    check_number("n_repeats", n_repeats, low=1, integer=True)
    _refuse_sparse(X)
    check_label_order(model[-1] if hasattr(model, "steps") else model, y)
    degrees = as_degrees(y)
    if hasattr(X, "columns") and not hasattr(X, "iloc"):  # scikit-learn shuffles pandas only
        X = pd.DataFrame(X.to_numpy(), columns=list(X.columns))
    options = {"n_repeats": n_repeats, "random_state": random_state, "n_jobs": n_jobs}
    found = permutation_importance(model, X, degrees, scoring=_minus_errors, **options)
    names = label_names(y)
    labels = list(_labels(model, degrees.shape[1]) if names is None else names)
    values = [found[j].importances_mean for j in found] + [found[j].importances_std for j in found]
    columns = pd.MultiIndex.from_product([["mean", "std"], labels], names=[None, "label"])
    features = pd.Index(_features(model, X, np.shape(X)[1]), name="feature")
    return pd.DataFrame(np.column_stack(values), features, columns)


def _minus_errors(model, X, y):
    """Return minus the root mean squared error of each label on its observed degrees."""
    squares = (y - np.asarray(model.predict(X))) ** 2
    seen = ~np.isnan(squares)
    with np.errstate(invalid="ignore"):  # 0/0 for a label without an observed degree
        means = np.where(seen, squares, 0).sum(axis=0) / seen.sum(axis=0)
    return dict(enumerate(-np.sqrt(means)))


def _coefficients(model):
    """Return the coefficients, labels x features, of a model that is linear in its features."""
    if hasattr(model, "steps"):
        raise TypeError(
            "contributions takes a model, not a pipeline; give it the last step and the "
            "transformed features: contributions(pipe[-1], pipe[:-1].transform(X))."
        )
    check_is_fitted(model)
    coef = np.asarray(getattr(model, "coef_", np.nan), dtype=np.float64)
    mapped = getattr(model, "map_", None) is not None  # then they are those of other features
    if mapped or coef.ndim != 2 or coef.shape[1] != model.n_features_in_:
        raise TypeError(
            f"{type(model).__name__} is not linear in its features, so exact contributions do not "
            "exist; use importance_by_label."
        )
    return coef


def _refuse_sparse(X):
    if issparse(X):
        raise TypeError(
            "X is sparse, which is not supported here; pass some dense rows: X[rows].toarray()."
        )


def _reference(reference, n_features):
    origin = np.asarray(reference, dtype=np.float64)
    if origin.shape != (n_features,) or not np.isfinite(origin).all():
        raise ValueError(
            f"reference must have one finite number per feature ({n_features}); its shape "
            f"is {origin.shape}."
        )
    return origin


def _labels(model, n_labels):
    """Return the label names of a model, or of the last step of a pipeline, or numbers."""
    last = model[-1] if hasattr(model, "steps") else model
    names = getattr(last, "label_names_", None)
    return range(n_labels) if names is None else names


def _features(model, X, n_features):
    names = getattr(X, "columns", getattr(model, "feature_names_in_", None))
    return range(n_features) if names is None else list(names)
