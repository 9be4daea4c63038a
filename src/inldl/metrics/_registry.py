"""The list of metrics with their directions, and a function that computes several."""

from __future__ import annotations  # keeps the signatures in help() short

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, Self, cast, overload

import numpy as np
import numpy.typing as npt

from inldl.rows.weights import as_weights

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

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


Weights = npt.ArrayLike | None
Formula = Callable[[Pair], FloatArray]
Scorer = Callable[..., float]

_SHARED_DOC = """\
Parameters
----------
y_true : array-like of shape (n, C)
    True degrees, NaN (or masked) where missing. Complete rows must sum to 1.
y_pred : array-like of shape (n, C)
    Predicted distributions. Rows must be complete and sum to 1.
per_row : bool, default False
    Return the value of each row instead of the mean.
sample_weight : array-like of shape (n,), optional
    How much each row counts in the mean.

Returns
-------
float or ndarray of shape (n,)
    The mean over rows, or the value of each row. A row without a value (nothing observed, or
    the formula is undefined) is NaN and left out of the mean.

"""


class MetricFunction(Protocol):
    """The signature of every metric."""

    @overload
    def __call__(
        self,
        y_true: npt.ArrayLike,
        y_pred: npt.ArrayLike,
        *,
        per_row: Literal[False] = False,
        sample_weight: Weights = None,
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: npt.ArrayLike,
        y_pred: npt.ArrayLike,
        *,
        per_row: Literal[True],
        sample_weight: Weights = None,
    ) -> FloatArray: ...
    @overload
    def __call__(
        self,
        y_true: npt.ArrayLike,
        y_pred: npt.ArrayLike,
        *,
        per_row: bool,
        sample_weight: Weights = None,
    ) -> float | FloatArray: ...


@dataclass(frozen=True)
class Metric:
    """A metric, its direction and its best value.

    Parameters
    ----------
    name : str
        The key in ``METRICS``.
    function : callable
        ``function(y_true, y_pred, *, per_row=False, sample_weight=None)``.
    higher_is_better : bool
        True for similarities, False for distances.
    perfect : float
        The value of an exact prediction, for a complete row without zeros.
    formula : callable
        The same metric on a pair that was already checked, with one value per row.
    """

    name: str
    function: MetricFunction
    higher_is_better: bool
    perfect: float
    formula: Formula = field(repr=False)


METRICS: dict[str, Metric] = {}
"""All metrics by name, the five of the paper first."""


def metric(*, higher_is_better: bool, perfect: float) -> Callable[[Formula], MetricFunction]:
    """Turn a formula on checked rows into a public metric, and add it to ``METRICS``."""

    def register(formula: Formula) -> MetricFunction:
        def measure(
            y_true: npt.ArrayLike,
            y_pred: npt.ArrayLike,
            *,
            per_row: bool = False,
            sample_weight: Weights = None,
        ) -> float | FloatArray:
            values = _row_values(formula, _checked(y_true, y_pred))
            weights = as_weights(sample_weight, len(values))
            return values if per_row else mean_of_rows(values, weights)

        name = formula.__name__
        # The names make the metric picklable: grid search sends scorers to other processes.
        measure.__module__, measure.__name__, measure.__qualname__ = formula.__module__, name, name
        measure.__doc__ = _public_doc(formula)
        function = cast(MetricFunction, measure)
        METRICS[name] = Metric(name, function, higher_is_better, perfect, formula)
        return function

    return register


def find_metric(name: str) -> Metric:
    """Return the metric of that name, or raise a ValueError that lists the known ones."""
    if name not in METRICS:
        raise ValueError(f"{name!r} is not a metric: choose among {', '.join(METRICS)}.")
    return METRICS[name]


def evaluate(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    metrics: Iterable[str] | None = None,
    *,
    sample_weight: Weights = None,
) -> dict[str, float]:
    """Compute the means over rows of several metrics, checking the input once.

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
    pair = _checked(y_true, y_pred)
    weights = as_weights(sample_weight, len(pair.p))
    return {each.name: mean_of_rows(_row_values(each.formula, pair), weights) for each in chosen}


def measure_any(
    y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, name: str, sample_weight: Weights = None
) -> float:
    """Compute the mean of one metric for any true degrees that `fit` accepts."""
    pair = _checked(y_true, y_pred, any_truth=True)
    weights = as_weights(sample_weight, len(pair.p))
    return mean_of_rows(_row_values(find_metric(name).formula, pair), weights)


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
    # scikit-learn imports pandas if it is installed: do not load both with the metrics.
    from sklearn.metrics import make_scorer

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


def _checked(y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, any_truth: bool = False) -> Pair:
    # The checks need scikit-learn, which imports pandas: load it on first use.
    from inldl.metrics._checks import check_pair

    return check_pair(y_true, y_pred, any_truth=any_truth)


def _row_values(formula: Formula, pair: Pair) -> FloatArray:
    return np.where(pair.observed.any(axis=1), formula(pair), np.nan)


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
