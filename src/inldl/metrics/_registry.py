"""The list of metrics with their directions, and a function that computes several."""

from __future__ import annotations  # keeps the signatures in help() short

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, Protocol, cast, overload

import numpy as np
import numpy.typing as npt

from ._pair import FloatArray, Pair

Formula = Callable[[Pair], FloatArray]

_SHARED_DOC = """\
Parameters
----------
y_true : array-like of shape (n, C)
    True degrees, NaN (or masked) where missing. Complete rows must sum to 1.
y_pred : array-like of shape (n, C)
    Predicted distributions. Rows must be complete and sum to 1.
per_row : bool, default False
    Return the value of each row instead of the mean.

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
        self, y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, per_row: Literal[False] = False
    ) -> float: ...
    @overload
    def __call__(
        self, y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, per_row: Literal[True]
    ) -> FloatArray: ...
    @overload
    def __call__(
        self, y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, per_row: bool
    ) -> float | FloatArray: ...


@dataclass(frozen=True)
class Metric:
    """A metric, its direction and its best value.

    Parameters
    ----------
    name : str
        The key in ``METRICS``.
    function : callable
        ``function(y_true, y_pred, *, per_row=False)``.
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
            y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, per_row: bool = False
        ) -> float | FloatArray:
            values = _row_values(formula, _checked(y_true, y_pred))
            return values if per_row else _mean(values)

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
    y_true: npt.ArrayLike, y_pred: npt.ArrayLike, metrics: Iterable[str] | None = None
) -> dict[str, float]:
    """Compute the means over rows of several metrics, checking the input once.

    Parameters
    ----------
    y_true : array-like of shape (n, C)
        True degrees, NaN (or masked) where missing. Complete rows must sum to 1.
    y_pred : array-like of shape (n, C)
        Predicted distributions. Rows must be complete and sum to 1.
    metrics : iterable of str, optional
        Names from ``METRICS``; all of them by default.

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
    return {each.name: _mean(_row_values(each.formula, pair)) for each in chosen}


def measure_any(y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, name: str) -> float:
    """Compute the mean of one metric for any true degrees that `fit` accepts."""
    pair = _checked(y_true, y_pred, any_truth=True)
    return _mean(_row_values(find_metric(name).formula, pair))


def _checked(y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, any_truth: bool = False) -> Pair:
    # The checks need scikit-learn, which imports pandas: load it on first use.
    from ._checks import check_pair

    return check_pair(y_true, y_pred, any_truth=any_truth)


def _row_values(formula: Formula, pair: Pair) -> FloatArray:
    return np.where(pair.observed.any(axis=1), formula(pair), np.nan)


def _mean(values: FloatArray) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float("nan")


def _public_doc(formula: Formula) -> str:
    """Insert the shared parameters before the examples."""
    text, heading, examples = inspect.cleandoc(formula.__doc__ or "").partition("Examples\n")
    return text + _SHARED_DOC + heading + examples
