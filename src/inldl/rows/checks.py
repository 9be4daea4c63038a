"""Check degrees, names and parameters: the one place that words what is wrong with them."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_array

from inldl.errors import DataError, warn_user

Array = np.ndarray
FLOATS = [np.float64, np.float32]
# What scikit-learn lets pass of degrees; `check_2d` says more of those that are not 2-D
LENIENT = {"dtype": FLOATS, "ensure_all_finite": "allow-nan", "ensure_2d": False, "allow_nd": True}
WEIGHTLESS = (
    "All weights in sample_weight are zero, so no row counts; give at least one row a weight "
    "above 0."
)
MOST_ROUNDING = 0.05  # of the whole: a larger gap is more likely an error than rounding
_DECIMALS = 6  # finer numbers sum to the whole as exactly as `sum_tolerance` asks
_STORED, _COMPUTED = 1e-7, 1e-9  # what single precision, and a computation, leave of a decimal
_FIRST = 100  # rows that tell at once that numbers are not rounded
_FEW_RATIOS = 5  # rows whose sums may be 1 by chance


def sum_tolerance(dtype: Any) -> float:
    """Return how far from 1 exact degrees stored as `dtype` may sum; public data need 3e-6."""
    return 1e-3 if dtype == np.float32 else 1e-5


def rounding_gap(values: Array, whole: Any = 1.0) -> Any:
    """Return the largest deviation from the total that rounding can cause, as a fraction of it.

    Each number of a row is off by at most half a unit of the last decimal, so a row of C numbers
    is off by at most C halves. The gap is 0 if numbers have more than 6 decimals.
    """
    decimals = _decimals(values[:_FIRST], 0)
    if decimals is not None and len(values) > _FIRST:
        decimals = _decimals(values, decimals)
    if decimals is None:
        return 0.0
    return min(values.shape[1] / 2 * 10.0**-decimals / whole, MOST_ROUNDING) + _COMPUTED


def _decimals(values: Array, least: int) -> int | None:
    """Return with how many decimals, at least `least`, all values are written; None if many."""
    known = values[np.isfinite(values)]
    near = _COMPUTED + _STORED * np.abs(known)
    for decimals in range(least, _DECIMALS + 1):
        if (np.abs(known - np.round(known, decimals)) <= near).all():
            return decimals
    return None


def is_off(gaps: Array, y: Array) -> Array:
    """Return which gaps between 1 and the sums of rows of `y` are real.

    Gaps that rounding or the precision of `y` explains are ignored.
    """
    off = gaps > sum_tolerance(y.dtype)  # NaN > x is False
    return off & (gaps > rounding_gap(y)) if off.any() else off


def wrong_sums(y: Array) -> tuple[Array, Array, Array]:
    """Return the sums of the observed degrees, and which rows cannot be shares by their sum.

    These are the complete rows that do not sum to 1, and the others that sum to more.
    """
    missing = np.isnan(y)
    complete, sums = ~missing.any(axis=1), np.where(missing, 0, y).sum(axis=1, dtype=np.float64)
    return sums, complete & is_off(np.abs(sums - 1), y), ~complete & is_off(sums - 1, y)


def unmask(y: Any) -> Any:
    """Return `y` with the masked entries of a numpy masked array as NaN."""
    if not isinstance(y, np.ma.MaskedArray):
        return y
    dtype = y.dtype if y.dtype in FLOATS else np.float64
    return np.ma.filled(y.astype(dtype), np.nan)


def as_degrees(y: Any, name: str = "y") -> Array:
    """Return `y` as a 2-D float array in which NaN marks the unobserved degrees.

    float32 stays float32, everything else becomes float64; frames and masked arrays are taken.
    """
    if y is None:
        raise ValueError(f"It requires {name} to be passed, but the target {name} is None.")
    y = check_array(unmask(y), input_name=name, **LENIENT)
    check_2d(y, name)
    return y


def check_2d(y: Any, name: str = "y") -> None:
    """Refuse degrees that are not one row per sample and one column per label."""
    if np.ndim(y) != 2:
        raise DataError(
            "{array} must be 2-D, one row per sample and one column per label, but its shape is "
            "{shape}; a single label is y.reshape(-1, 1), a single row y.reshape(1, -1).",
            array=name,
            shape=np.shape(y),
        )


def label_names(y: Any) -> Array | None:
    """Return the column names of a frame as an array of str, or None."""
    columns = _columns(y)
    if columns is None or not all(isinstance(c, str) for c in columns):
        return None
    return np.asarray(list(columns), dtype=object)


def _columns(a: Any) -> Any:
    """Return the names of the columns of a frame or table, or None."""
    if type(a).__module__.startswith("pyarrow"):
        return getattr(a, "column_names", None)
    return getattr(a, "columns", None)


def names_or_numbers(y: Any) -> Array:
    """Return the names of the labels, or "label 0", "label 1", ... if they have none."""
    names = label_names(y)
    if names is not None:
        return names
    return np.array([f"label {j}" for j in range(np.asarray(y).shape[1])], dtype=object)


def check_label_order(model: Any, y: Any) -> None:
    """Refuse a frame `y` whose labels are not those of the fit, in the order of the fit."""
    check_label_names(model, label_names(y))


def check_label_names(model: Any, given: Any) -> None:
    """Refuse names of labels, if there are any, that are not those of the fit in its order."""
    fitted = getattr(model, "label_names_", None)
    if fitted is None or given is None or list(fitted) == list(given):
        return
    raise ValueError(
        f"The labels of y are {', '.join(given)}, but the model was fitted to "
        f"{', '.join(fitted)}: give the same columns in the same order."
    )


def like(template: Any, values: Any) -> Any:
    """Return `values` as a frame with the index and columns of `template`, if that is a frame."""
    return framed(template, values, _columns(template))


def framed(rows: Any, values: Any, columns: Any) -> Any:
    """Return `values` as a frame of the kind of `rows`, with its index, if both have columns."""
    if columns is None or _columns(rows) is None:
        return values
    if hasattr(rows, "index"):
        return type(rows)(values, index=rows.index, columns=columns)
    if label_names(rows) is None:  # a table of another library
        return values
    if hasattr(rows, "from_pydict"):  # of pyarrow
        return type(rows).from_pydict(dict(zip(columns, np.transpose(values), strict=True)))
    return type(rows)(values, schema=list(columns), orient="row")  # of polars


class DegreeFacts(NamedTuple):
    """What rows of degrees look like; rows without weight do not count."""

    n_rows: int  # that count
    seen: Array  # which labels are observed
    outside: str = ""  # where the first degree outside [0, 1] is
    off: str = ""  # else the first complete row that does not sum to 1
    percent: bool | None = False  # whether complete rows sum to 100; None if there are none


def degree_facts(y: Array, first_row: int = 0, sample_weight: Any = None) -> DegreeFacts:
    """Look through rows of degrees, the first of which is row `first_row` of them all."""
    number = first_row + np.arange(len(y))
    if sample_weight is not None and not np.all(sample_weight):
        kept = np.flatnonzero(sample_weight)
        y, number = y[kept], number[kept]
        if not kept.size:
            return DegreeFacts(0, np.zeros(y.shape[1], bool))
    outside = off = ""
    if np.fmin.reduce(y, axis=None) < 0 or np.fmax.reduce(y, axis=None) > 1:
        row = ((y < 0) | (y > 1)).any(axis=1).argmax()
        outside = f"y has degrees outside [0, 1], first in row {number[row]}"
    else:  # rows with holes sum to NaN, which is never off
        sums = y.sum(axis=1)
        for row in np.flatnonzero(is_off(np.abs(sums - 1), y))[:1]:
            first = f"first row {number[row]} (sum {sums[row]:.6g})"
            off = f"complete rows of y do not sum to 1, {first}"
    percent = _are_percentages(y) if outside else False
    return DegreeFacts(len(y), ~np.isnan(np.fmax.reduce(y, axis=0)), outside, off, percent)


def _are_percentages(y: Array) -> bool | None:
    """Say whether complete rows sum to 100, but for rounding; None if no row is complete."""
    whole = y[~np.isnan(y).any(axis=1)] / 100
    if not len(whole):
        return None
    exact = not is_off(np.abs(whole.sum(axis=1) - 1), whole).any()
    return exact and bool(np.fmin.reduce(y, axis=None) >= 0)


def check_degrees(facts: Sequence[DegreeFacts], names: Any) -> None:
    """Refuse labels that were nowhere seen; warn once about rows that cannot be shares."""
    if not any(found.n_rows for found in facts):
        raise ValueError(WEIGHTLESS)
    unseen = np.flatnonzero(~np.any([found.seen for found in facts], axis=0))
    if unseen.size:
        label = int(unseen[0])
        raise DataError(
            "Label column {label} of y has no observed degree ({count} such column(s)); nothing "
            "can be learned about it: drop it, or observe it in at least one row.",
            label=label if names is None else names[label],
            count=unseen.size,
        )
    problems = [*(found.outside for found in facts), *(found.off for found in facts)]
    problem = next(filter(None, problems), "")
    found = {each.percent for each in facts if each.n_rows}
    if True in found and False not in found:
        raise DataError(
            "The complete rows of y sum to 100, as percentages do, but degrees are shares of 1: "
            "divide y by 100."
        )
    if problem:
        warn_user(
            f"{problem}; degrees are shares of a whole: divide percentages by 100 and other "
            "complete rows by their sums, and mark unobserved degrees with NaN, not 0."
        )


def refuse_first(wrong: Array, sentence: str, first_row: int = 0, **facts: Any) -> None:
    """Refuse the first row that is wrong, or the first cell (row, label), if there is one.

    Rows are counted from `first_row`. Facts that are arrays have a value for each row or cell;
    `{count}` is how many are wrong.
    """
    bad = np.argwhere(wrong)
    for at in map(tuple, bad[:1].tolist()):
        here = {name: a[at] if isinstance(a, np.ndarray) else a for name, a in facts.items()}
        here |= {"row": first_row + at[0], "count": len(bad)}
        raise DataError(sentence, **here, **({"label": at[1]} if len(at) > 1 else {}))


def check_fillable(y: Array, first_row: int = 0) -> None:
    """Refuse degrees whose holes cannot be filled in, because a row is more than a whole.

    Rows are counted from `first_row`. Sums that rounding explains are fine.
    """
    if not np.isnan(y).any():
        return
    margin = sum_tolerance(y.dtype)
    outside = (y > 1 + margin) | (y < -margin)
    percent = (y[outside][:1] > 1).any()
    refuse_first(
        outside,
        "Row {number} of y has the degree {degree:g}, so nothing can be filled in: degrees are "
        "shares of a whole, from 0 to 1; {advice}.",
        first_row,
        degree=y,
        advice="divide percentages by 100" if percent else "correct it",
    )
    sums, _, over = wrong_sums(y)
    advice = "correct them, or put 0 for the missing ones and divide the row by its sum"
    refuse_excess(over, sums, "y", f"nothing is left to fill in: {advice}", first_row)


def refuse_excess(over: Array, sums: Array, name: str, advice: str, first_row: int = 0) -> None:
    """Refuse rows of the array `name` whose observed degrees are `over` the whole."""
    refuse_first(
        over,
        "The observed degrees of row {number} of {array} sum to {total:.6g}, more than 1 ({count} "
        "such row(s)); {advice}.",
        first_row,
        array=name,
        total=sums,
        advice=advice,
    )


def check_ratios(y: Array, first_row: int = 0) -> None:
    """Refuse rows with holes whose observed numbers are not ratios that sum to 1.

    Rows are counted from `first_row`. Sums that rounding explains are fine.
    """
    observed = (~np.isnan(y)).sum(axis=1)
    partial = (observed > 0) & (observed < y.shape[1])
    sums = np.asarray(np.nansum(y, axis=1, dtype=np.float64))
    wrong = partial & (sums != 0)
    wrong[wrong] = is_off(np.abs(sums[wrong] - 1), y[wrong])
    refuse_first(
        wrong | (partial & (y < 0).any(axis=1)),
        "The known degrees of {row} sum to {total:.6g}, but ratios sum to 1 in each row with "
        "holes ({count} row(s) do not): divide these rows by their sums, or leave "
        "known='ratios' (--ratios) out if they are degrees.",
        first_row,
        total=sums,
    )


def look_like_ratios(y: Array) -> bool:
    """Say whether the known degrees of all rows with holes sum to 1, so that holes would be 0."""
    observed = (~np.isnan(y)).sum(axis=1)
    some = y[(observed > 1) & (observed < y.shape[1])]
    if len(some) < _FEW_RATIOS:
        return False
    return not is_off(np.abs(np.nansum(some, axis=1, dtype=np.float64) - 1), some).any()


def check_number(
    name: str,
    value: Any,
    *,
    low: float | None = None,
    above: float | None = None,
    below: float | None = None,
    integer: bool = False,
    also: str = "",
) -> None:
    """Refuse a parameter that is not a finite number `>= low`, `> above` and `< below`.

    `also` ends the sentence of what it must be, if the caller allows more than numbers.
    """
    kind = numbers.Integral if integer else numbers.Real
    good = isinstance(value, kind) and not isinstance(value, bool) and np.isfinite(float(value))
    good = good and (low is None or value >= low) and (above is None or value > above)
    if not good or (below is not None and value >= below):
        bounds = {"at least ": low, "greater than ": above, "below ": below}
        words = " and ".join(f"{word}{x}" for word, x in bounds.items() if x is not None)
        what = "an integer" if integer else "a number"
        raise ValueError(f"{name} must be {f'{what} {words}'.strip()}{also}, got {value!r}.")


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Refuse a parameter that is not one of the `choices`."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(repr(c) for c in choices)
        raise ValueError(f"{name} must be one of {known}, got {value!r}.")
