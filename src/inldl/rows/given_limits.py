"""What a user knows of degrees that are not observed, checked, and carried to blocks of rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inldl.errors import DataError
from inldl.rows.checks import (
    as_degrees,
    check_2d,
    label_names,
    rounding_gap,
    sum_tolerance,
    unmask,
)
from inldl.rows.limits import Limits

Array = np.ndarray


def limits_of(
    y: Any,
    lower: Any = None,
    upper: Any = None,
    sums: Mapping[Any, Any] | None = None,
    names: Any = None,
    first_row: int | Array | None = 0,
) -> Limits | None:
    """Check what a user knows of unobserved degrees; None if that is nothing.

    Bounds and `sums`, of groups of labels by their names or numbers, are NaN where nothing is
    known. `names` are those of the labels, by default of the columns of `y`. `first_row` is the
    number of the first row, or of each, for messages; None if it is not known.
    """
    if lower is None and upper is None and not sums:
        return None
    names = label_names(y) if names is None else names
    given = as_degrees(y)
    y = given.astype(np.float64)
    low = _bounds(lower, "lower", y, names, 0.0)
    high = _bounds(upper, "upper", y, names, 1.0)
    groups, totals = _sums(sums or {}, y, names)
    facts = _Facts(names, first_row, max(sum_tolerance(given.dtype), rounding_gap(given)))
    _check_cells(y, low, high, facts)
    seen = ~np.isnan(y)
    limits = Limits(
        y, np.where(seen, y, np.maximum(low, 0)), np.where(seen, y, np.minimum(high, 1)),
        groups, totals,
    )  # fmt: skip
    _check_sums(limits, facts)
    return limits if limits.tell_something() else None


@dataclass(frozen=True)
class Labels:
    """What blocks of rows do not know of their labels: groups of known sums, and all names."""

    groups: tuple[tuple[int, ...], ...] = ()
    names: tuple[str, ...] | None = None


def beside_rows(
    X: Any, y: Any, lower: Any, upper: Any, sums: Mapping[Any, Any] | None
) -> tuple[dict[str, Any], Labels]:
    """Return limits as arrays that engines carry beside the rows, and what labels they are about.

    `limits_of_block` takes them when a block is started. Bounds may be what engines can slice,
    such as arrays of Dask; they are empty if nothing is known.
    """
    if lower is None and upper is None and not sums:
        return {}, Labels()
    check_2d(y)
    names, n, n_labels = label_names(y), _shape(X)[0], _shape(y)[1]
    known: dict[str, Any] = {}
    for name, bounds in (("lower", lower), ("upper", upper)):
        if bounds is not None:
            _check_names(bounds, name, names)
            known[name] = unmask(bounds)
    groups: tuple[tuple[int, ...], ...] = ()
    if sums:
        groups = tuple(tuple(_columns(labels, n_labels, names)) for labels in sums)
        known["sums"] = _totals(sums, n)
    if n is not None:
        known["row"] = np.arange(n, dtype=np.float64)[:, None]
    return known, Labels(groups, None if names is None else tuple(names))


def _shape(a: Any) -> tuple[Any, ...]:
    """Return the shape of what may be a list; a frame of Dask may not know how long it is."""
    n, *others = a.shape if hasattr(a, "shape") else np.shape(a)
    return n if isinstance(n, (int, np.integer)) else None, *others


def limits_of_block(
    y: Array,
    labels: Labels,
    row: Array | None = None,
    lower: Array | None = None,
    upper: Array | None = None,
    sums: Array | None = None,
) -> Limits | None:
    """Return the limits of a block of rows; `row` are their numbers."""
    totals = {} if sums is None else dict(zip(labels.groups, sums.T, strict=True))
    rows = None if row is None else row[:, 0]
    return limits_of(y, lower, upper, totals, labels.names, rows)


@dataclass(frozen=True)
class _Facts:
    """What messages say, and how far sums may be off."""

    names: Any
    first_row: int | Array | None
    margin: float

    def label(self, column: Any) -> Any:
        return int(column) if self.names is None else self.names[column]

    def row(self, row: int) -> Any:
        if self.first_row is None:
            return f"row {row} of a block of rows"
        if isinstance(self.first_row, np.ndarray):
            return int(self.first_row[row])
        return int(self.first_row + row)


def _bounds(given: Any, name: str, y: Array, names: Any, default: float) -> Array:
    """Return bounds as an array without NaN."""
    if given is None:
        return np.full(y.shape, default)
    _check_names(given, name, names)
    bounds = as_degrees(given, name).astype(np.float64)
    if bounds.shape != y.shape:
        raise ValueError(
            f"{name} has the shape {bounds.shape}, but y has the shape {y.shape}: give one bound "
            "for each degree, NaN = no bound."
        )
    return np.where(np.isnan(bounds), default, bounds)


def _check_names(given: Any, name: str, names: Any) -> None:
    """Refuse a frame of bounds whose columns are not the labels in their order."""
    columns = label_names(given)
    if columns is not None and names is not None and list(columns) != list(names):
        raise ValueError(
            f"The columns of {name} are {', '.join(columns)}, but the labels are "
            f"{', '.join(names)}: give the same columns in the same order."
        )


def _sums(
    given: Mapping[Any, Any], y: Array, names: Any
) -> tuple[tuple[Array, ...], Array | None]:
    """Return the columns of each group, and the sums of the groups."""
    if not given:
        return (), None
    groups = tuple(np.array(list(_columns(labels, y.shape[1], names))) for labels in given)
    every = np.concatenate(groups)
    if len(np.unique(every)) < len(every):
        raise ValueError(
            "A label is in two of the groups in sums, or twice in one: name each label once."
        )
    return groups, _totals(given, len(y))


def _totals(given: Mapping[Any, Any], n: int | None) -> Array:
    """Return the sums of groups as columns, which must have `n` rows if that is known."""
    totals = []
    for labels, values in given.items():
        column = np.asarray(unmask(values), dtype=np.float64)
        n = len(column) if n is None and column.ndim else n
        if column.shape != (n,):
            raise ValueError(
                f"The sums of {labels!r} have the shape {column.shape}, but there are {n} rows: "
                "give one sum for each row, NaN = unknown."
            )
        totals.append(column)
    return np.column_stack(totals)


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


def _check_cells(y: Array, lower: Array, upper: Array, facts: _Facts) -> None:
    """Refuse bounds that no degree can meet, or that an observed one does not."""
    wrong = (lower > upper) | (lower > 1) | (upper < 0)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise DataError(
            "The bounds of label {label} in {row} are {low:g} and {high:g}, and no share is "
            "between them: correct them, or leave them out (NaN).",
            row=facts.row(row), label=facts.label(column),
            low=lower[row, column], high=upper[row, column],
        )  # fmt: skip
    outside = (y < lower - facts.margin) | (y > upper + facts.margin)
    if outside.any():
        row, column = np.argwhere(outside)[0]
        raise DataError(
            "The observed degree of label {label} in {row} is {degree:g}, outside of its bounds "
            "{low:g} and {high:g}: correct one of them, or leave the bounds out (NaN).",
            row=facts.row(row), label=facts.label(column), degree=y[row, column],
            low=lower[row, column], high=upper[row, column],
        )  # fmt: skip


def _check_sums(limits: Limits, facts: _Facts) -> None:
    """Refuse rows whose bounds leave too little or too much for a sum that is known."""
    holes = np.isnan(limits.y)
    for number, (inside, total) in enumerate(limits.parts):
        least, most = (
            np.where(inside, bounds, 0).sum(axis=1) for bounds in (limits.lower, limits.upper)
        )
        open_rows = holes.any(axis=1)
        if number < len(limits.groups):
            open_rows = inside.any(axis=1)
        wrong = open_rows & ((least > total + facts.margin) | (most < total - facts.margin))
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            those, others = inside[row], 0.0
            if not those.any():  # all labels are in groups whose sums are known
                those, others = ~those, 1 - total[row]
            labels = ", ".join(str(facts.label(j)) for j in np.flatnonzero(those))
            raise DataError(
                "In {row} the labels {labels} must sum to {total:.6g}, but what is known of them "
                "allows only sums from {least:.6g} to {most:.6g} ({count} such row(s)): correct "
                "the bounds, the sums or the observed degrees of the row.",
                row=facts.row(row), labels=labels, total=total[row] + others,
                least=least[row] + others, most=most[row] + others, count=int(wrong.sum()),
            )  # fmt: skip
