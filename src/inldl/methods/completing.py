"""Complete rows in chunks, and with estimators inside of pipelines and searches."""

from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from inldl.engines import one_blas_thread, open_rows
from inldl.rows.checks import FLOATS, check_label_order
from inldl.rows.inputs import validate_chunk_features
from inldl.rows.partial import PartialRows


def check_shape(y, shape) -> None:
    """Refuse degrees that do not have the shape of what is predicted."""
    if y.shape != shape:
        raise ValueError(
            f"y has the shape {y.shape}, but {shape} is what X and the fitted "
            "labels ask for; give the degrees of the same rows and labels, NaN = unobserved."
        )


def light(model) -> Any:
    """Return a copy of a model without held-out predictions, to send to workers."""
    found = copy(model)
    found.n_labels_ = model.n_labels_
    vars(found).pop("feature_names_in_", None)  # these have been compared
    if hasattr(model, "held_out_"):
        found.held_out_ = None
    return found


def complete_chunks(model, X, y, limits, coverage=None) -> tuple[Any, ...]:
    """Return lazy arrays: the completed degrees, and the ends of intervals of a coverage.

    `limits` are the bounds and sums that a user gave, by name.
    """
    check_is_fitted(model)
    check_label_order(model, y)
    model._refuse_limits(*limits.values())
    header, arrays = PartialRows.open(X, y, **limits)
    rows = open_rows(model, X, y, arrays=arrays)
    n_labels = model.n_labels_
    check_shape(rows.y, (rows.X.shape[0], n_labels))
    model._completer()  # learned here, once
    n_columns = n_labels * (1 if coverage is None else 3)
    fill = partial(_fill_chunk, light(model), header, list(arrays), coverage, n_columns)
    found = rows.map_with_degrees(fill, n_columns)
    return tuple(found[:, j : j + n_labels] for j in range(0, n_columns, n_labels))


def _fill_chunk(model, header, names, coverage, n_columns, y, X, *arrays, first_row):
    """Return completed rows of a chunk, followed by the ends of their intervals if asked for.

    `names` are those of the arrays with bounds and sums.
    """
    if not len(y):
        return np.empty((0, n_columns), y.dtype)
    X = validate_chunk_features(X)
    y = y if y.dtype in FLOATS else y.astype(X.dtype)
    with one_blas_thread():
        given, predicted = model._given_and_predicted(X, y, first_row)
        rows = header.block(given, **dict(zip(names, arrays, strict=True)))
        rows = replace(rows, **model._side_information(X))
        if coverage is None:
            return model._fill(rows, predicted)
        return np.hstack(model._fill_with_intervals(rows, predicted, coverage))


def complete(estimator, X, y, **known) -> Any:
    """Fill the unobserved degrees of `y` with an estimator, or with one inside of a pipeline.

    Parameters
    ----------
    estimator : estimator
        Fitted: one of this library, a scikit-learn `Pipeline` that ends in one, or a search such
        as `GridSearchCV` over either.
    X : array-like or frame of shape (n_samples, n_features)
        The features, as they were given to its `fit`.
    y : array-like or frame of shape (n_samples, n_labels)
        Degrees, NaN = unobserved.
    **known
        Bounds and sums of unobserved degrees: `lower`, `upper` and `sums` of its `complete`.

    Returns
    -------
    ndarray or frame of shape (n_samples, n_labels)
        What the `complete` of the estimator returns, of the kind of `y`.

    See Also
    --------
    complete_interval : Intervals of the completed degrees, too.
    draw : Several completed tables.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from inldl import WInLDL, complete
    >>> X, y = [[10.0], [20.0], [30.0]], [[0.2, 0.8], [0.5, 0.5], [0.7, np.nan]]
    >>> pipeline = make_pipeline(StandardScaler(), WInLDL()).fit(X, y)
    >>> complete(pipeline, X, y)[2].round(6).tolist()
    [0.7, 0.3]
    """
    estimator, X = last_step(estimator, X, "complete")
    return estimator.complete(X, y, **known)


def complete_interval(estimator, X, y, coverage=0.9, **known) -> tuple[Any, Any, Any]:
    """Fill the unobserved degrees of `y`, and give an interval for each.

    The parameters are those of :func:`complete`; `coverage` is the share of unobserved degrees
    that should lie in their intervals. Returns the completed degrees and the lower and upper ends.
    """
    estimator, X = last_step(estimator, X, "complete_interval")
    return estimator.complete_interval(X, y, coverage, **known)


def draw(estimator, X, y, n_draws, random_state=None, **known) -> Any:
    """Draw completed tables that differ as far as the unobserved degrees are uncertain.

    The parameters are those of :func:`complete`; `n_draws` is the number of tables. Returns an
    array of shape (n_draws, n_samples, n_labels), or a list of frames if `y` is a frame.
    """
    estimator, X = last_step(estimator, X, "draw")
    return estimator.draw(X, y, n_draws, random_state, **known)


def last_step(estimator, X, method) -> tuple[Any, Any]:
    """Return the estimator of this library inside of another, and the features that it gets."""
    from sklearn.pipeline import Pipeline  # time that other uses need not pay

    if hasattr(estimator, "best_estimator_"):
        return last_step(estimator.best_estimator_, X, method)
    if isinstance(estimator, Pipeline):
        check_is_fitted(estimator)
        before = estimator[:-1].transform(X) if len(estimator) > 1 else X
        return last_step(estimator[-1], before, method)
    name = type(estimator).__name__
    if not hasattr(estimator, "complete"):
        raise ValueError(
            f"{name} cannot complete rows; end the pipeline in an estimator "
            "of inldl, such as inldl.AutoInLDL(), or wrap a regressor in "
            "inldl.methods.RegressorLDL."
        )
    if not hasattr(estimator, method):
        raise ValueError(
            f"{name} has no intervals and no draws; use inldl.AutoInLDL() or "
            "inldl.WInLDL(cross_fit=5)."
        )
    return estimator, X
