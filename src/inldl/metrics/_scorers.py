"""Metrics as scikit-learn scorers."""

from collections.abc import Callable, Iterable
from typing import Any

from ._registry import METRICS, find_metric, measure_any

Scorer = Callable[[Any, Any, Any], float]


def scorer(name: str) -> Scorer:
    """Make a scorer from a metric, for ``cross_val_score``, ``GridSearchCV`` and the like.

    Parameters
    ----------
    name : str
        A key of ``METRICS``.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``, where y may have missing degrees. Distances get a minus sign,
        because higher scores must be better. It accepts any y that ``fit`` accepts, even with a
        warning: complete rows that do not sum to 1 are divided by their sum, and negative degrees
        count as 0.
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
