"""Measures as scikit-learn scorers."""

from collections.abc import Callable, Iterable
from typing import Any

from ._registry import METRICS, find_metric

Scorer = Callable[[Any, Any, Any], float]


def scorer(name: str) -> Scorer:
    """Make the scorer of one measure, for ``cross_val_score``, ``GridSearchCV`` and the like.

    Parameters
    ----------
    name : str
        A key of ``METRICS``.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``, where y may have holes. Distances come with a minus sign:
        for a scorer, higher is always better.
    """
    # scikit-learn imports pandas when it is installed: do not pay for it with the measures.
    from sklearn.metrics import make_scorer

    metric = find_metric(name)
    return make_scorer(metric.function, greater_is_better=metric.higher_is_better)


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
