"""Complete rows and draw tables with an estimator inside of a pipeline or a search."""

from collections.abc import Callable
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from inldl.metrics import crps, energy_score, log_score
from inldl.rows.checks import check_choice, check_number


def complete(estimator, X, y, **known) -> Any:
    """Fill in the missing shares of `y` with a fitted estimator, pipeline or search.

    Guide: :doc:`/complete_a_table`.

    Parameters
    ----------
    estimator : estimator
        Fitted: one of this library, a scikit-learn `Pipeline` that ends in one, or a search such
        as `GridSearchCV` over either.
    X : array-like or frame of shape (n_samples, n_features)
        The features, as they were given to its `fit`.
    y : array-like or frame of shape (n_samples, n_labels)
        Degrees, NaN = unobserved.
    **known
        Bounds and sums of unobserved degrees: `lower`, `upper` and `sums` of its `complete`.

    Returns
    -------
    ndarray or frame of shape (n_samples, n_labels)
        What the `complete` of the estimator returns, of the kind of `y`.

    See Also
    --------
    complete_interval : Intervals of the completed degrees, too.
    draw : Several completed tables.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from inldl import WInLDL, complete
    >>> X, y = [[10.0], [20.0], [30.0]], [[0.2, 0.8], [0.5, 0.5], [0.7, np.nan]]
    >>> pipeline = make_pipeline(StandardScaler(), WInLDL()).fit(X, y)
    >>> complete(pipeline, X, y)[2].round(6).tolist()
    [0.7, 0.3]
    """
    estimator, X = last_step(estimator, X, "complete")
    return estimator.complete(X, y, **known)


def complete_interval(estimator, X, y, coverage=0.9, **known) -> tuple[Any, Any, Any]:
    """Fill in the missing shares of `y`, and give an interval for each.

    Guide: :doc:`/how_sure`.

    Parameters
    ----------
    estimator, X, y : estimator, array-like, array-like
        As for :func:`complete`.
    coverage : float, default=0.9
        The share of unobserved degrees that should lie in their intervals.
    **known
        As for :func:`complete`, and `joint`.

    Returns
    -------
    completed, lower, upper : ndarray or frame of shape (n_samples, n_labels)
        The completed degrees, and the ends of their intervals.

    Examples
    --------
    >>> from inldl import WInLDL, complete_interval, hide
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(200, random_state=0)
    >>> y = hide(y, 0.4, random_state=0)
    >>> model = WInLDL(cross_fit=5).fit(X, y)
    >>> filled, lower, upper = complete_interval(model, X, y, coverage=0.9)
    >>> bool((lower <= filled).all() and (filled <= upper).all())
    True
    """
    estimator, X = last_step(estimator, X, "complete_interval")
    return estimator.complete_interval(X, y, coverage, **known)


def draw(estimator, X, y, n_draws, random_state=None, **known) -> Any:
    """Draw several completed tables, which differ as far as the missing shares are uncertain.

    Guide: :doc:`/draws`.

    Parameters
    ----------
    estimator, X, y : estimator, array-like, array-like
        As for :func:`complete`.
    n_draws : int
        The number of completed tables.
    random_state : int, RandomState instance, Generator or None, default=None
        An int makes the draws reproducible to the bit.
    **known
        As for :func:`complete`.

    Returns
    -------
    ndarray of shape (n_draws, n_samples, n_labels) or list of frames
        The completed tables; a list of as many frames if `y` is a frame.

    Examples
    --------
    >>> from inldl import WInLDL, draw, hide
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(200, random_state=0)
    >>> y = hide(y, 0.4, random_state=0)
    >>> model = WInLDL(cross_fit=5).fit(X, y)
    >>> draw(model, X, y, n_draws=3, random_state=0).shape
    (3, 200, 3)
    """
    estimator, X = last_step(estimator, X, "draw")
    return estimator.draw(X, y, n_draws, random_state, **known)


SCORES: dict[str, Callable] = {"crps": crps, "energy": energy_score, "log": log_score}


def draw_scorer(score="crps", n_draws=100) -> Callable[..., float]:
    """Make a scorer for ``cross_val_score`` and the like that judges predicted distributions.

    Parameters
    ----------
    score : {"crps", "energy", "log"} or callable, default="crps"
        A proper score: of draws, by `inldl.metrics.crps` for each degree or
        `inldl.metrics.energy_score` for each row, or a function like these; "log" is
        `inldl.metrics.log_score` of what `predict_dirichlet` returns.
    n_draws : int, default=100
        The draws of each row, from `sample` of the estimator at the end of a pipeline or search.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)``: the score with a minus sign, since higher
        must be better.
    """
    if not callable(score):
        check_choice("score", score, SCORES)
    check_number("n_draws", n_draws, low=2, integer=True)
    return DrawScorer(SCORES.get(score, score), n_draws)


class DrawScorer(BaseEstimator):
    """What `draw_scorer` makes; ``set_score_request(sample_weight=True)`` asks for weights."""

    __metadata_request__score: ClassVar = {"estimator": UNUSED}

    def __init__(self, measure, n_draws):
        self.measure = measure
        self.n_draws = n_draws

    def score(self, estimator, X, y, sample_weight=None) -> float:
        """Return the score of rows, with a minus sign."""
        whole = self.measure is log_score
        method = "predict_dirichlet" if whole else "sample"
        estimator, X = last_step(estimator, X, method)
        draws = {} if whole else {"n_draws": self.n_draws, "random_state": 0}
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return -self.measure(y, getattr(estimator, method)(X, **draws), **weights)

    __call__ = score


def last_step(estimator, X, method) -> tuple[Any, Any]:
    """Return the estimator of this library inside of another, and the features that it gets."""
    from sklearn.pipeline import Pipeline  # time that other uses need not pay

    if hasattr(estimator, "best_estimator_"):
        return last_step(estimator.best_estimator_, X, method)
    if isinstance(estimator, Pipeline):
        check_is_fitted(estimator)
        before = estimator[:-1].transform(X) if len(estimator) > 1 else X
        return last_step(estimator[-1], before, method)
    check_able(estimator, method)
    return estimator, X


def check_able(estimator, method) -> None:
    """Refuse an estimator, fitted or not, that cannot complete rows, or lacks a `method`."""
    name = type(estimator).__name__
    if not hasattr(estimator, "complete"):
        raise ValueError(
            f"{name} cannot complete rows; end the pipeline in an estimator "
            "of inldl, such as inldl.AutoInLDL(), or wrap a regressor in "
            "inldl.methods.RegressorLDL."
        )
    if not hasattr(estimator, method):
        raise ValueError(
            f"{name} has no intervals and no draws; use inldl.AutoInLDL() or "
            "inldl.WInLDL(cross_fit=5)."
        )
