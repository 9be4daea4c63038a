"""Rows that are to be completed: check them, and complete those in chunks where they are."""

from copy import copy

import numpy as np
from sklearn.utils.validation import check_is_fitted

from inldl._engines import one_blas_thread, open_rows
from inldl._validation import (
    FLOATS,
    check_fillable,
    check_label_order,
    validate_chunk_features,
)
from inldl.solvers.given_limits import beside_rows, limits_of_block


def check_shape(y, shape):
    """Refuse degrees that do not have the shape of what is predicted."""
    if y.shape != shape:
        raise ValueError(
            f"y has the shape {y.shape}, but {shape} is what X and the fitted "
            "labels ask for; give the degrees of the same rows and labels, NaN = unobserved."
        )


def check_given(y, predicted):
    """Refuse degrees that cannot be completed beside predictions of their rows."""
    check_shape(y, predicted.shape)
    check_fillable(y)


def light(model):
    """Return a model without what its new rows do not need, as it may have to travel to them."""
    found = copy(model)
    found.n_labels_ = model.n_labels_
    vars(found).pop("feature_names_in_", None)  # these have been compared
    if hasattr(model, "held_out_"):
        found.held_out_ = None
    return found


def complete_chunks(model, X, y, limits, coverage=None):
    """Return the lazy array of completed degrees; with a `coverage`, also the ends of intervals.

    `limits` are the bounds and sums that a user gave, by name.
    """
    from inldl._engines.chunks import map_rows

    check_is_fitted(model)
    check_label_order(model, y)
    model._refuse_limits(*limits.values())
    beside, labels = beside_rows(X, y, **limits)
    rows = open_rows(model, X, y, beside=beside)
    n_labels = model.n_labels_
    check_shape(rows.y, (rows.X.shape[0], n_labels))
    model._completer()  # learned here, once
    fill = _Filling(light(model), list(beside), labels, coverage)
    arrays = rows.y, rows.X, *rows.beside.values()
    found = map_rows(fill, *arrays, n_columns=fill.n_columns, dtype=rows.y.dtype)
    if coverage is None:
        return found
    return tuple(found[:, j : j + n_labels] for j in range(0, fill.n_columns, n_labels))


class _Filling:
    """Complete a chunk; bounds and sums, `known` by name, are about `labels`."""

    def __init__(self, model, known, labels, coverage):
        self.model, self.known, self.labels, self.coverage = model, known, labels, coverage
        self.n_columns = model.n_labels_ * (1 if coverage is None else 3)

    def __call__(self, y, X, *limits, first_row):
        """Return completed rows, and beside them the ends of their intervals."""
        if not len(y):
            return np.empty((0, self.n_columns), y.dtype)
        model, X = self.model, validate_chunk_features(X)
        y = y if y.dtype in FLOATS else y.astype(X.dtype)
        with one_blas_thread():
            given, predicted = model._given_and_predicted(X, y, first_row)
            named = dict(zip(self.known, limits, strict=True))
            within = limits_of_block(given, self.labels, **named) if named else None
            about = given, predicted, model._beside(X)
            if self.coverage is None:
                return model._fill(*about, within)
            return np.hstack(model._fill_with_intervals(*about, self.coverage, within))
