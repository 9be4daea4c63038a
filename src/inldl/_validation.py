"""The one place that knows "NaN = unobserved", and that words what is wrong with an input."""

import numbers
import warnings

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, validate_data

FLOATS = [np.float64, np.float32]


def sum_tolerance(dtype):
    """How far from 1 a row of degrees stored as `dtype` may sum; public data sets need 3e-6."""
    return 1e-3 if dtype == np.float32 else 1e-5


def unmask(y):
    """Return `y` with the masked entries of a numpy masked array as NaN."""
    if not isinstance(y, np.ma.MaskedArray):
        return y
    dtype = y.dtype if y.dtype in FLOATS else np.float64
    return y.astype(dtype).filled(np.nan)


def as_degrees(y, name="y"):
    """Return `y` as a 2-D float array in which NaN marks the unobserved degrees.

    float32 stays float32, everything else becomes float64; frames and masked arrays are taken.
    """
    y = check_array(
        unmask(y),
        dtype=FLOATS,
        ensure_all_finite="allow-nan",
        ensure_2d=False,
        allow_nd=True,
        input_name=name,
    )
    check_2d(y, name)
    return y


def check_2d(y, name="y"):
    """Refuse degrees that are not one row per sample and one column per label."""
    if np.ndim(y) != 2:
        raise ValueError(
            f"{name} must be 2-D, one row per sample and one column per label, but its shape is "
            f"{np.shape(y)}; a single label is y.reshape(-1, 1), a single row y.reshape(1, -1)."
        )


def validate_fit(estimator, X, y, *, accept_sparse="csr"):
    """Return the training arrays and the label names; warn about degrees that cannot be shares.

    X keeps its precision and its memory order, and is not copied if it is a float array already.
    """
    names = label_names(y)
    finite = "allow-nan" if get_tags(estimator).input_tags.allow_nan else True
    X, y = validate_data(
        estimator,
        X,
        unmask(y),
        validate_separately=(
            {"accept_sparse": accept_sparse, "dtype": FLOATS, "ensure_all_finite": finite},
            {"dtype": FLOATS, "ensure_all_finite": "allow-nan", "ensure_2d": False,
             "allow_nd": True},
        ),
    )  # fmt: skip
    check_2d(y)
    if X.shape[0] != y.shape[0]:
        raise ValueError(
            f"X has {X.shape[0]} rows and y has {y.shape[0]}; give one row of degrees per sample."
        )
    _check_columns(y, names)
    _warn_about_shares(y)
    return X, y, names


def label_names(y):
    """Return the column names of a frame as an array of str, or None."""
    columns = getattr(y, "columns", None)
    if columns is None or not all(isinstance(c, str) for c in columns):
        return None
    return np.asarray(list(columns), dtype=object)


def check_label_order(model, y):
    """Refuse a frame `y` whose labels are not those of the fit, in the order of the fit."""
    fitted, given = getattr(model, "label_names_", None), label_names(y)
    if fitted is None or given is None or list(fitted) == list(given):
        return
    raise ValueError(
        f"The labels of y are {', '.join(given)}, but the model was fitted to "
        f"{', '.join(fitted)}: give the same columns in the same order."
    )


def like(template, values):
    """Return `values` as a frame with the index and columns of `template`, if that is a frame."""
    if not hasattr(template, "columns"):
        return values
    if hasattr(template, "index"):
        return type(template)(values, index=template.index, columns=template.columns)
    return type(template)(values, schema=list(template.columns))


def _check_columns(y, names):
    unseen = np.flatnonzero(np.isnan(np.fmax.reduce(y, axis=0)))
    if unseen.size:
        label = unseen[0] if names is None else repr(names[unseen[0]])
        raise ValueError(
            f"Label column {label} of y has no observed degree ({unseen.size} such column(s)); "
            "nothing can be learned about it: drop it, or observe it in at least one row."
        )


def _warn_about_shares(y):
    """Warn once when degrees lie outside [0, 1] or complete rows do not sum to 1."""
    if np.fmin.reduce(y, axis=None) < 0 or np.fmax.reduce(y, axis=None) > 1:
        row = int(np.flatnonzero(((y < 0) | (y > 1)).any(axis=1))[0])
        problem = f"y has degrees outside [0, 1], first in row {row}"
    else:
        off = np.abs(y.sum(axis=1) - 1) > sum_tolerance(
            y.dtype
        )  # NaN > x is False: rows with holes
        if not off.any():
            return
        row = int(np.flatnonzero(off)[0])
        problem = f"complete rows of y do not sum to 1, first row {row} (sum {y[row].sum():.6g})"
    warnings.warn(
        f"{problem}; degrees are shares of a whole: divide each complete row by its sum, and mark "
        "unobserved degrees with NaN, not 0.",
        UserWarning,
        stacklevel=4,
    )


def check_number(name, value, *, low=None, above=None, integer=False):
    """Refuse a parameter that is not a finite number `>= low`, or `> above`."""
    kind = numbers.Integral if integer else numbers.Real
    good = isinstance(value, kind) and not isinstance(value, bool) and np.isfinite(value)
    good = good and (low is None or value >= low) and (above is None or value > above)
    if not good:
        bounds = {" at least ": low, " greater than ": above}
        bound = "".join(f"{words}{x}" for words, x in bounds.items() if x is not None)
        what = "an integer" if integer else "a number"
        raise ValueError(f"{name} must be {what}{bound}, got {value!r}.")


def check_choice(name, value, choices):
    """Refuse a parameter that is not one of the `choices`."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(repr(c) for c in choices)
        raise ValueError(f"{name} must be one of {known}, got {value!r}.")
