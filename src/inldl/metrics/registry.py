"""Register metrics with their directions, check what they compare, and compute several at once."""

from __future__ import annotations  # keeps the signatures in help() short

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.metrics import make_scorer

from inldl.errors import DataError
from inldl.rows import checks
from inldl.rows.inputs import as_weights

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Degrees = npt.NDArray[np.floating[Any]]
Weights = npt.ArrayLike | None
Scorer = Callable[..., float]

_SHARED_DOC = """\
Parameters
----------
y_true : array-like of shape (n, C)
    True degrees, NaN (or masked) where missing. Complete rows must sum to 1.
y_pred : array-like of shape (n, C)
    Predicted distributions. Rows must be complete and sum to 1.
sample_weight : array-like of shape (n,), optional
    How much each row counts in the mean.

Returns
-------
float
    The mean over rows. A row without a value (nothing observed, or the formula is undefined) is
    left out of it; ``per_row(y_true, y_pred)`` has NaN there.

"""


FLOOR = 1e-6
"""Clark, Canberra and Kullback-Leibler replace a predicted 0 by this; where logarithms of degrees
are compared, no degree is below it."""

_IN_ROW = " in row {number}: give degrees from 0 to 1."


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


Formula = Callable[[Pair], FloatArray]


@dataclass(frozen=True)
class Metric:
    """A metric, its direction and its best value.

    Parameters
    ----------
    name : str
        The key in ``METRICS``.
    function : callable
        ``function(y_true, y_pred, *, sample_weight=None)`` returns the mean over rows, and
        ``function.per_row(y_true, y_pred)`` the value of each row.
    higher_is_better : bool
        True for similarities, False for distances.
    perfect : float
        The value of an exact prediction, for a complete row without zeros.
    formula : callable
        The same metric on a pair that was already checked, with one value per row.
    """

    name: str
    function: Any
    higher_is_better: bool
    perfect: float
    formula: Formula = field(repr=False)

    def values(self, pair: Pair) -> FloatArray:
        """Return the value of each row of a pair, NaN where nothing is observed."""
        return np.where(pair.observed.any(axis=1), self.formula(pair), np.nan)

    def mean(self, pair: Pair, sample_weight: Weights = None) -> float:
        """Return the mean of the rows of a pair that have a value, or NaN if there are none."""
        return mean_of_rows(self.values(pair), as_weights(sample_weight, len(pair.p)))


RECOVERY_METRICS = ("canberra", "clark", "kl_divergence", "cosine")

METRICS: dict[str, Metric] = {}
"""All metrics by name, the five of the paper first."""


EXTRA_METRICS: dict[str, Metric] = {}
"""Metrics that `evaluate` computes only if they are named, such as those of ordered labels."""


def metric(
    *, higher_is_better: bool, perfect: float, into: dict[str, Metric] | None = None
) -> Callable[[Formula], Any]:
    """Turn a formula on checked rows into a public metric, and add it to ``METRICS``.

    `into` may be ``EXTRA_METRICS`` instead.
    """

    def register(formula: Formula) -> Any:
        def measure(
            y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, sample_weight: Weights = None
        ) -> float:
            return registered.mean(check_pair(y_true, y_pred), sample_weight)

        name = formula.__name__
        registered = Metric(name, measure, higher_is_better, perfect, formula)
        # The names make the metric picklable: grid search sends scorers to other processes.
        measure.__module__, measure.__name__, measure.__qualname__ = formula.__module__, name, name
        measure.__doc__ = _public_doc(formula)
        vars(measure)["per_row"] = lambda y_true, y_pred: registered.values(
            check_pair(y_true, y_pred)
        )
        (METRICS if into is None else into)[name] = registered
        return measure

    return register


def find_metric(name: str) -> Metric:
    """Return the metric of that name, or raise a ValueError that lists the known ones."""
    known = {**METRICS, **EXTRA_METRICS}
    if name not in known:
        raise ValueError(f"{name!r} is not a metric: choose among {', '.join(known)}.")
    return known[name]


def evaluate(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    metrics: Iterable[str] | None = None,
    *,
    sample_weight: Weights = None,
) -> dict[str, float]:
    """Measure how close predicted shares are to true ones, with several metrics at once.

    Guide: :doc:`/metrics`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n, C)
        True degrees, NaN where missing, and predicted distributions, as for each metric.
    metrics : iterable of str, optional
        Names from ``METRICS``; all of them by default.
    sample_weight : array-like of shape (n,), optional
        How much each row counts in the means.

    Returns
    -------
    dict of str to float
        Means by name, in the requested order.

    Examples
    --------
    >>> from inldl.metrics import evaluate
    >>> evaluate([[0.5, 0.5]], [[0.25, 0.75]], ["intersection", "chebyshev"])
    {'intersection': 0.75, 'chebyshev': 0.25}
    """
    chosen = [find_metric(name) for name in (METRICS if metrics is None else metrics)]
    pair = check_pair(y_true, y_pred)
    return {each.name: each.mean(pair, sample_weight) for each in chosen}


def recovery(
    y_true: npt.ArrayLike,
    y_given: npt.ArrayLike,
    y_completed: npt.ArrayLike,
    metrics: Iterable[str] = RECOVERY_METRICS,
) -> dict[str, float]:
    """Measure how well rows with holes were recovered.

    Parameters
    ----------
    y_true : array-like of shape (n, C)
        The true distributions.
    y_given : array-like of shape (n, C)
        What was given, NaN = missing: degrees, or ratios. Only its holes are used.
    y_completed : array-like of shape (n, C)
        The recovered distributions.
    metrics : iterable of str, optional
        Names from ``METRICS`` for whole rows.

    Returns
    -------
    dict of str to float
        "rmse_at_holes" and "mae_at_holes": the root mean square and the mean of the absolute
        errors at the holes. Then the metrics, as means over the rows that have holes. In a row of
        ratios the known degrees are estimated as well, and only the metrics see their errors. All
        are NaN if nothing is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from inldl.metrics import recovery
    >>> given = [[0.5, np.nan, np.nan]]
    >>> found = recovery([[0.5, 0.3, 0.2]], given, [[0.5, 0.4, 0.1]])
    >>> round(found["rmse_at_holes"], 6), round(found["cosine"], 4)
    (0.1, 0.9762)
    """
    pair, holes = check_pair(y_true, y_completed), np.isnan(np.asarray(y_given, dtype=float))
    if holes.shape != pair.p.shape:
        raise ValueError(
            f"y_given has the shape {holes.shape}, but y_true has {pair.p.shape}; give the same "
            "rows and labels."
        )
    errors, rows = (pair.q - pair.p)[holes & pair.observed], holes.any(axis=1)
    if not errors.size:
        names = ["rmse_at_holes", "mae_at_holes", *metrics]
        return dict.fromkeys(names, float("nan"))
    found = {
        "rmse_at_holes": float(np.sqrt(np.mean(errors**2))),
        "mae_at_holes": float(np.mean(np.abs(errors))),
    }
    return found | evaluate(np.asarray(y_true)[rows], np.asarray(y_completed)[rows], metrics)


def measure_any(
    y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, name: str, sample_weight: Weights = None
) -> float:
    """Compute the mean of one metric for any true degrees that `fit` accepts."""
    return find_metric(name).mean(check_pair(y_true, y_pred, any_truth=True), sample_weight)


def scorer(name: str) -> Scorer:
    """Make a scorer from a metric, for ``cross_val_score``, ``GridSearchCV`` and the like.

    Parameters
    ----------
    name : str
        A key of ``METRICS``.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)``, where y may have missing degrees.
        Distances get a minus sign, because higher scores must be better. It accepts any y that
        ``fit`` accepts, even with a warning: complete rows that do not sum to 1 are divided by
        their sum, and negative degrees count as 0.
    """
    metric = find_metric(name)
    # An error in a scorer becomes NaN in cross_val_score, where every candidate then looks equal.
    return make_scorer(measure_any, greater_is_better=metric.higher_is_better, name=metric.name)


def scorers(names: Iterable[str] | None = None) -> dict[str, Scorer]:
    """Make several scorers by name, for the ``scoring`` argument of ``cross_validate``.

    Parameters
    ----------
    names : iterable of str, optional
        Keys of ``METRICS``; all of them by default.

    Returns
    -------
    dict of str to callable
        One scorer per name.
    """
    return {name: scorer(name) for name in (METRICS if names is None else names)}


def mean_of_rows(values: FloatArray, weights: FloatArray | None = None) -> float:
    """Return the mean of the rows that have a value, or NaN if there are none."""
    defined = ~np.isnan(values)
    if weights is None:
        return float(values[defined].mean()) if defined.any() else float("nan")
    total = weights[defined].sum()
    return float(values[defined] @ weights[defined] / total) if total > 0 else float("nan")


def _public_doc(formula: Formula) -> str:
    """Insert the shared parameters before the examples."""
    text, heading, examples = inspect.cleandoc(formula.__doc__ or "").partition("Examples\n")
    return text + _SHARED_DOC + heading + examples


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
    sentence = "{array} holds NaN in row {number}: predict every degree."
    checks.refuse_first(np.isnan(predicted), sentence, array="y_pred")
    if not any_truth:
        _check_sums(truth, "y_true")
    _check_sums(predicted, "y_pred")
    return Pair.of(truth, predicted)


def _degrees(y: npt.ArrayLike, name: str) -> Degrees:
    """Return ``y`` as floats, and refuse infinite and negative degrees."""
    raw = np.asarray(checks.unmask(y))
    if raw.ndim == 2 and raw.dtype.kind == "f":  # as_degrees would not say in which row
        checks.refuse_first(np.isinf(raw), "{array} is infinite" + _IN_ROW, array=name)
    degrees = checks.as_degrees(y, name=name)
    checks.refuse_first(degrees < 0, "{array} is negative" + _IN_ROW, array=name)
    return degrees


def _near_shares(y: npt.ArrayLike) -> Degrees:
    """Divide complete rows by their sum if it is not 1, and replace negative degrees by 0."""
    degrees = np.maximum(checks.as_degrees(y, "y_true"), 0)
    sums = degrees.sum(axis=1)
    off = checks.is_off(np.abs(sums - 1), degrees) & (sums > 0)
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
    sums, off, over = checks.wrong_sums(y)
    sentence = "row {number} of {array} sums to {total:.9g}, not 1: divide each row by its sum."
    checks.refuse_first(off, sentence, array=name, total=sums)
    checks.refuse_excess(over, sums, name, "give them as shares of the whole row")
