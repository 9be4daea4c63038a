"""Pairs of true and predicted rows: check them, and reduce them to the observed entries."""

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from inldl.errors import DataError
from inldl.rows.checks import as_degrees, is_off, refuse_excess, unmask, wrong_sums

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Degrees = npt.NDArray[np.floating[Any]]
_IN_ROW = " in row {number}: give degrees from 0 to 1."

FLOOR = 1e-6
"""Clark, Canberra and Kullback-Leibler replace a predicted 0 by this."""


class Pair(NamedTuple):
    """True rows ``p`` and predicted rows ``q``, both (n, C) and both 0 where missing."""

    p: FloatArray
    q: FloatArray
    observed: BoolArray

    @classmethod
    def of(cls, truth: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> Self:
        """Reduce both to the observed entries, in double precision, without any check."""
        observed = ~np.isnan(truth)
        # One memory order, so that sums do not depend on where the table came from.
        p, q = (np.where(observed, y, 0).astype(np.float64, order="C") for y in (truth, predicted))
        return cls(p, q, observed)

    def floored(self) -> FloatArray:
        """Return ``q`` with 0 replaced by ``FLOOR`` where the true degree is observed."""
        return np.where(self.observed & (self.q == 0), FLOOR, self.q)


def ratio(above: FloatArray, below: FloatArray, *, otherwise: float = 0.0) -> FloatArray:
    """Divide where ``below`` is positive, and return ``otherwise`` elsewhere."""
    return np.divide(above, below, out=np.full_like(above, otherwise), where=below > 0)


def check_pair(y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, any_truth: bool = False) -> Pair:
    """Return the pair in float64, or raise a ValueError that names the first bad row.

    With ``any_truth``, true rows may hold any numbers.
    """
    truth = _near_shares(y_true) if any_truth else _degrees(y_true, "y_true")
    predicted = _degrees(y_pred, "y_pred")
    if truth.shape != predicted.shape:
        raise DataError(
            "y_true has shape {true} but {array} has shape {shape}: both need the same rows "
            "and labels.",
            array="y_pred",
            true=truth.shape,
            shape=predicted.shape,
        )
    _check_label_order(y_true, y_pred)
    _forbid(
        np.isnan(predicted), "y_pred", "{array} holds NaN in row {number}: predict every degree."
    )
    if not any_truth:
        _check_sums(truth, "y_true")
    _check_sums(predicted, "y_pred")
    return Pair.of(truth, predicted)


def _degrees(y: npt.ArrayLike, name: str) -> Degrees:
    """Return ``y`` as floats, and refuse infinite and negative degrees."""
    raw = np.asarray(unmask(y))
    if raw.ndim == 2 and raw.dtype.kind == "f":  # as_degrees would not say in which row
        _forbid(np.isinf(raw), name, "{array} is infinite" + _IN_ROW)
    degrees = as_degrees(y, name=name)
    _forbid(degrees < 0, name, "{array} is negative" + _IN_ROW)
    return degrees


def _near_shares(y: npt.ArrayLike) -> Degrees:
    """Divide complete rows by their sum if it is not 1, and replace negative degrees by 0."""
    degrees = np.maximum(as_degrees(y, "y_true"), 0)
    sums = degrees.sum(axis=1)
    off = is_off(np.abs(sums - 1), degrees) & (sums > 0)
    return degrees / np.where(off, sums, 1)[:, None]


def _check_label_order(y_true: object, y_pred: object) -> None:
    """Refuse two frames with the same labels in a different order."""
    a, b = (list(getattr(y, "columns", ())) for y in (y_true, y_pred))
    if a != b and set(a) == set(b):
        column = next(j for j in range(len(a)) if a[j] != b[j])
        raise ValueError(
            f"column {column} is {a[column]!r} in y_true but {b[column]!r} in y_pred: "
            "put the labels of both in the same order."
        )


def _check_sums(y: Degrees, name: str) -> None:
    """Check that complete rows sum to 1, and the others to at most 1."""
    sums, off, over = wrong_sums(y)
    _forbid(
        off,
        name,
        "row {number} of {array} sums to {total:.9g}, not 1: divide each row by its sum.",
        sums,
    )
    refuse_excess(over, sums, name, "give them as shares of the whole row")


def _forbid(bad: BoolArray, name: str, sentence: str, totals: FloatArray | None = None) -> None:
    """Raise an error about the first bad row of the array `name`, if there is one."""
    if bad.any():
        row = int(bad.reshape(len(bad), -1).any(axis=1).argmax())
        total = None if totals is None else totals[row]
        raise DataError(sentence, array=name, row=row, total=total)
