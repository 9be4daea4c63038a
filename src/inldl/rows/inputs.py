"""Validate features, weights, bounds and sums of groups that a user gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, validate_data

from inldl.errors import DataError
from inldl.rows import checks

Array = np.ndarray
_NO_GROUP = {"None", "nan", "NaT", "<NA>"}  # as text
TOO_LARGE = (
    "The squares of the features overflow; scale X first, for example with "
    "sklearn.preprocessing.StandardScaler."
)


def check_squares(X: Any) -> None:
    """Refuse features whose squares overflow; NaN among them are no matter."""
    ends = (X.max(), X.min()) if hasattr(X, "tocsr") else (np.nanmax(X), np.nanmin(X))
    if max(map(abs, ends)) > float(np.finfo(X.dtype).max) ** 0.5:
        raise ValueError(TOO_LARGE)


def is_chunked(a: Any) -> bool:
    """Say whether `a` is a Dask array or frame, without importing Dask."""
    return type(a).__module__.partition(".")[0] in ("dask", "dask_expr")


def check_rows(X: Any, y: Any, name: str = "y") -> None:
    """Refuse features and degrees, or what else is `name`, that are not of equally many rows."""
    if X.shape[0] != y.shape[0]:
        each = {"y": "row of degrees", "sample_weight": "weight"}.get(name, "row")
        raise ValueError(
            f"X has {X.shape[0]} rows and {name} has {y.shape[0]}; give one {each} per sample."
        )


def validate_fit(
    estimator: Any, X: Any, y: Any, *, accept_sparse: Any = "csr", sample_weight: Any = None
) -> tuple[Any, Array, Any]:
    """Return the training arrays and the label names; warn about degrees that cannot be shares.

    X keeps its precision and its memory order, and is not copied if it is a float array already.
    Rows without weight are not looked at.
    """
    names = checks.label_names(y)
    finite = "allow-nan" if get_tags(estimator).input_tags.allow_nan else True
    of_X = {"accept_sparse": accept_sparse, "dtype": checks.FLOATS, "ensure_all_finite": finite}
    separately = of_X, checks.LENIENT
    X, y = _validate_data(estimator, X, checks.unmask(y), validate_separately=separately)
    checks.check_2d(y)
    check_rows(X, y)
    if sample_weight is not None:
        check_rows(X, sample_weight, "sample_weight")
    checks.check_degrees([checks.degree_facts(y, 0, sample_weight)], names)
    return X, y, names


def validate_weighted_fit(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, accept_sparse: Any = "csr"
) -> tuple[Any, Array, Any, Array | None]:
    """Return what `validate_fit` does, then the weights of the rows, or None.

    Rows without weight are left out.
    """
    weights = as_weights(sample_weight)
    options = {"accept_sparse": accept_sparse, "sample_weight": weights}
    X, y, names = validate_fit(estimator, X, y, **options)
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        X, y, weights = X[kept], y[kept], weights[kept]
    if weights is not None and (weights == 1).all():
        weights = None  # to the bit as without them
    return X, y, names, weights


@np.errstate(over="ignore", invalid="ignore")
def _validate_data(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Validate as scikit-learn does, which adds up large numbers only to see if one is NaN."""
    try:
        return validate_data(estimator, X, *y, **options)
    except (TypeError, ValueError):
        names, method = checks.label_names(X), type(estimator).__name__
        for name in () if names is None else names:
            _refuse_cells(np.asarray(X[name], dtype=object), name, method)
        if isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.ndim == 2:
            sentence = "Input X contains NaN in {row}; inldl.TableModel({method}()) takes these."
            checks.refuse_first(np.isnan(X), sentence, method=method)
        raise


def _refuse_cells(column: Array, name: str, method: str) -> None:
    """Refuse a column of a frame with a cell that is no number, and say what takes it."""
    for row, cell in enumerate(column):
        try:
            missing = np.isnan(float(cell))
        except (TypeError, ValueError):
            missing = True
        if missing:
            raise DataError(
                "Column {column} of X has {cell} in {row}, which is no number; inldl.TableModel("
                "{method}()) takes text, categories, dates and missing values.",
                column=name,
                row=row,
                cell=repr(cell),
                method=method,
            )


def validate_features(estimator: Any, X: Any, **options: Any) -> Any:
    """Return the features of rows to predict, which must be those of the fit."""
    if _is_checked(estimator, X):
        return X
    return _validate_data(estimator, X, reset=False, **options)


def group_numbers(groups: Any, n: int) -> Array:
    """Return the number of the group of each row; refuse rows without one."""
    groups = np.asarray(groups, dtype=object)
    if groups.shape != (n,):
        raise ValueError(f"groups must name one group for each of {n} rows, got {groups.shape}.")
    for row, name in enumerate(groups):
        if not isinstance(name, str) and str(name) in _NO_GROUP:
            raise ValueError(f"Row {row} has no group; name one for each row.")
    return np.unique(groups.astype(str), return_inverse=True)[1]


@np.errstate(over="ignore", invalid="ignore")
def _is_checked(estimator: Any, X: Any) -> bool:
    """Say at once, for a single row, whether X is what scikit-learn's validation would return."""
    plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype in checks.FLOATS
    if not plain or not len(X) or hasattr(estimator, "feature_names_in_"):
        return False
    return X.shape[1] == estimator.n_features_in_ and bool(np.isfinite(X.sum()))


def note_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Let scikit-learn note the columns of `X`, or check them against the fit; read no row."""
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def validate_chunk(X: Any, y: Any) -> tuple[Array, Array]:
    """Return a chunk of training rows as `validate_fit` would, in memory as kernels like it."""
    X = validate_chunk_features(X, ensure_min_samples=1)
    y = check_array(y, dtype=checks.FLOATS, input_name="y", ensure_all_finite="allow-nan")
    return np.require(X, requirements=["C", "ALIGNED"]), y


@np.errstate(over="ignore", invalid="ignore")  # as in `_validate_data`
def validate_chunk_features(X: Any, ensure_min_samples: int = 0) -> Array:
    """Return a chunk of features; one to predict may have no rows."""
    return check_array(
        X, dtype=checks.FLOATS, input_name="X", ensure_min_samples=ensure_min_samples
    )


def check_predictable(values: Array, first_row: int = 0) -> None:
    """Refuse rows for which `values` that are not finite were computed."""
    checks.refuse_first(
        ~np.isfinite(values).all(axis=1),
        "The model gives no number for {row}: its features are too large for the model, or the "
        "model is damaged; check them, and fit again if they are right.",
        first_row,
    )


def validate_row_array(name: str, a: Any, first_row: int = 0) -> Array:
    """Return an array that goes with the rows of a fit, or a chunk of it, as 2-D floats."""
    a = check_array(a, dtype=checks.FLOATS, input_name=name, ensure_all_finite=False)
    if name == "sample_weight":
        check_weights(a, first_row)
    return a


def check_weights(weights: Array, first_row: int = 0) -> None:
    """Refuse weights of rows that are negative or not finite."""
    checks.refuse_first(
        ~(np.isfinite(weights) & (weights >= 0)),
        "sample_weight has {value:g} in {row}; weights of rows are finite and not negative: "
        "correct it, or give 0 to leave the row out.",
        first_row,
        value=weights,
    )


def as_weights(sample_weight: Any, n: int | None = None) -> Array | None:
    """Return the weights of n rows in double precision, or None if there are none."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    _check_1d(weights)
    if n is not None and len(weights) != n:
        raise ValueError(
            f"There are {n} rows and {len(weights)} weights; give one weight per sample."
        )
    check_weights(weights)
    if not weights.any():
        raise ValueError(checks.WEIGHTLESS)
    return weights


def _check_1d(weights: Any) -> None:
    """Refuse weights that are not one for each row."""
    if weights.ndim != 1:
        raise ValueError(
            f"sample_weight must be 1-D, one weight per sample, but its shape is {weights.shape}."
        )


def weight_column(sample_weight: Any) -> dict[str, Any]:
    """Return the weights of rows, wherever they are, as a column that engines carry."""
    if sample_weight is None:
        return {}
    if hasattr(sample_weight, "to_dask_array"):
        sample_weight = sample_weight.to_dask_array()
    if not is_chunked(sample_weight):
        sample_weight = np.asarray(sample_weight)
    _check_1d(sample_weight)
    return {"sample_weight": sample_weight[:, None]}


def bound_arrays(
    X: Any, y: Any, lower: Any, upper: Any, sums: Mapping[Any, Any], names: Any
) -> tuple[dict[str, Any], tuple[Array, ...]]:
    """Return bounds and sums as 2-D arrays, numbers of rows, and the columns of groups."""
    checks.check_2d(y)
    n, n_labels = _shape(X)[0], _shape(y)[1]
    arrays: dict[str, Any] = {}
    for name, bounds in (("lower", lower), ("upper", upper)):
        if bounds is not None:
            _check_names(bounds, name, names)
            arrays[name] = checks.unmask(bounds)
    groups, totals = as_groups(sums, (n, n_labels), names)
    if sums:
        arrays["sums"] = totals
    if n is not None:
        arrays["row"] = np.arange(n)[:, None]
    return arrays, groups


def _shape(a: Any) -> tuple[Any, ...]:
    """Return the shape of what may be a list; a frame of Dask may not know how long it is."""
    n, *others = a.shape if hasattr(a, "shape") else np.shape(a)
    return n if isinstance(n, (int, np.integer)) else None, *others


def as_bounds(given: Any, name: str, shape: tuple[int, ...], default: float) -> Array:
    """Return bounds as an array without NaN."""
    if given is None:
        return np.full(shape, default)
    bounds = checks.as_degrees(given, name).astype(np.float64)
    if bounds.shape != shape:
        raise ValueError(
            f"{name} has the shape {bounds.shape}, but y has the shape {shape}: give one bound "
            "for each degree, NaN = no bound."
        )
    return np.where(np.isnan(bounds), default, bounds)


def _check_names(given: Any, name: str, names: Any) -> None:
    """Refuse a frame of bounds whose columns are not the labels in their order."""
    columns = checks.label_names(given)
    if columns is not None and names is not None and list(columns) != list(names):
        raise ValueError(
            f"The columns of {name} are {', '.join(columns)}, but the labels are "
            f"{', '.join(names)}: give the same columns in the same order."
        )


def as_groups(
    given: Mapping[Any, Any], shape: tuple[int | None, int], names: Any
) -> tuple[tuple[Array, ...], Array | None]:
    """Return the columns of each group, and the sums of the groups as columns."""
    if not given:
        return (), None
    n, n_labels = shape
    groups = tuple(np.array(list(_columns(labels, n_labels, names))) for labels in given)
    every = np.concatenate(groups)
    if len(np.unique(every)) < len(every):
        raise ValueError(
            "A label is in two of the groups in sums, or twice in one: name each label once."
        )
    totals = []
    for labels, values in given.items():
        column = np.asarray(checks.unmask(values), dtype=np.float64)
        n = len(column) if n is None and column.ndim else n
        if column.shape != (n,):
            raise ValueError(
                f"The sums of {labels!r} have the shape {column.shape}, but there are {n} rows: "
                "give one sum for each row, NaN = unknown."
            )
        totals.append(column)
    return groups, np.column_stack(totals)


def _columns(labels: Any, n_labels: int, names: Any) -> Iterator[int]:
    if isinstance(labels, str) or not isinstance(labels, Sequence) or not labels:
        raise ValueError(
            f"sums must name groups of labels as tuples, such as ('beer', 'wine'), got {labels!r}."
        )
    known = [] if names is None else list(names)
    for label in labels:
        if label in known:
            yield known.index(label)
        elif isinstance(label, (int, np.integer)) and 0 <= label < n_labels:
            yield int(label)
        else:
            shown = ", ".join(known) if known else f"0 to {n_labels - 1}"
            raise ValueError(f"sums names the label {label!r}; the labels are {shown}.")


def check_limits(rows: Any, lower: Array, upper: Array) -> None:
    """Refuse `PartialRows` whose bounds, given as `lower` and `upper`, no degrees can meet."""
    try:
        _check_limits(rows, lower, upper)
    except DataError as error:
        number, label = rows.number, error.label
        where = f"row {error.row} of a block of rows" if number is None else int(number[error.row])
        label = label if label is None or rows.names is None else rows.names[label]
        raise error.with_facts(row=where, label=label) from None


def _check_limits(rows: Any, lower: Array, upper: Array) -> None:
    """Do the same, with rows and labels as numbers.

    Observed degrees and sums may be off by what the precision of the degrees or their rounding
    explains.
    """
    y: Array = rows.y
    cell: dict[str, Any] = {"low": lower, "high": upper}
    margin = max(checks.sum_tolerance(y.dtype), checks.rounding_gap(y))
    checks.refuse_first(
        (lower > upper) | (lower > 1) | (upper < 0),
        "The bounds of label {label} in {row} are {low:g} and {high:g}, and no share is between "
        "them: correct them, or leave them out (NaN).",
        **cell,
    )
    checks.refuse_first(
        (y < lower - margin) | (y > upper + margin),
        "The observed degree of label {label} in {row} is {degree:g}, outside of its bounds "
        "{low:g} and {high:g}: correct one of them, or leave the bounds out (NaN).",
        degree=y,
        **cell,
    )
    names = np.arange(y.shape[1]) if rows.names is None else rows.names
    for cells, low, high, total in rows.parts:
        least, most = low.sum(axis=1), high.sum(axis=1)
        is_rest = cells is rows.parts[-1][0]
        wrong = (rows.holes if is_rest else cells).any(axis=1)
        wrong &= (least > total + margin) | (most < total - margin)
        if not wrong.any():
            continue
        those, others = cells[wrong.argmax()], 0.0
        if not those.any():  # all labels are in groups whose sums are known
            those, others = ~those, 1 - total
        checks.refuse_first(
            wrong,
            "In {row} the labels {labels} must sum to {total:.6g}, but what is known of them "
            "allows only sums from {least:.6g} to {most:.6g} ({count} such row(s)): correct the "
            "bounds, the sums or the observed degrees of the row.",
            labels=", ".join(str(names[j]) for j in np.flatnonzero(those)),
            total=total + others,
            least=least + others,
            most=most + others,
        )
