"""Choose parameters of a method by the error at degrees that were hidden on purpose."""

import warnings
from functools import partial
from itertools import product
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import check_is_fitted

from inldl.methods.base import DistributionEstimator, error_at
from inldl.methods.baselines import open_as_given
from inldl.methods.parameters import Count, check_parameters, parameters
from inldl.methods.pipelines import complete, complete_interval, draw
from inldl.methods.winldl import WInLDL
from inldl.metrics import METRICS
from inldl.metrics.registry import measure_any
from inldl.randomness import seed_from
from inldl.rows.checks import check_choice, check_number
from inldl.rows.partial import PartialRows
from inldl.specs import did_you_mean
from inldl.text import listed
from inldl.uncertainty.heldout import fit_weighted, with_every_label

SQUARES = "rmse"


def _check_metric(name, value):
    check_choice(name, value, (SQUARES, *METRICS))


@parameters
class TunedLDL(DistributionEstimator):
    """Fit a method with constants that are chosen by hiding further observed degrees.

    Programs of papers often choose their constants by the error at the true degrees, which are
    not available in practice. Here a part of the observed degrees is hidden, the method is fitted
    to the others with each candidate, and its predictions are compared with what was hidden. Then
    it is fitted to all observed degrees with the best candidate. The constants that the method
    already has are among the candidates, and are kept unless others are better. A candidate that
    the method refuses is left out.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The method, or a pipeline that ends in one; it is cloned. None is ``WInLDL()``.
    grids : None, list of str or dict of str to list, default=None
        Constants and their candidates. None takes all that the class of the method declares, as
        ``WInLDL.tunable``; a list takes some of these.
    hide : {"rows", "degrees"}, default="rows"
        "rows" hides all degrees of some rows, and measures the error of predicting them, as for
        new rows; "degrees" hides single degrees, and measures the error of completing them.
    n_folds : int, default=3
        Parts that are hidden in turn.
    metric : str, default="rmse"
        What is compared: the root of the mean squared error at hidden degrees (and at the sum of
        those that nobody knows), or a name in ``inldl.metrics.METRICS``.
    max_trials : int, default=20
        If there are more combinations of candidates, constants are chosen one after the other.
    random_state : int, RandomState instance, Generator or None, default=None
        For what is hidden.

    Attributes
    ----------
    estimator_ : estimator
        The method, fitted to all observed degrees with the best constants.
    best_params_ : dict
        These constants.
    trials_ : list of dict
        The candidates ("parameters") in the order of trial, and the "error" of each.

    Examples
    --------
    >>> from inldl_paper import TunedLDL
    >>> from inldl import WInLDL, hide
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(200, random_state=0)
    >>> y = hide(y, 0.5, random_state=0)
    >>> model = TunedLDL(WInLDL(), {"ridge": [1e-5, 100.0]}, random_state=0).fit(X, y)
    >>> model.best_params_
    {'ridge': 1e-05}
    """

    estimator: object = None
    grids: object = None
    hide: Literal["rows", "degrees"] = "rows"
    n_folds: Annotated[int, partial(check_number, low=2, integer=True)] = 3
    metric: Annotated[str, _check_metric] = SQUARES
    max_trials: Count = 20
    random_state: object = None

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._base()).input_tags
        return tags

    @property
    def known(self) -> str:  # type: ignore[override]
        """What rows with holes tell, "degrees" or "ratios": a parameter of the method."""
        return getattr(self._base(), "known", "degrees")

    @property
    def chosen_(self) -> str:
        """The chosen constants in one line, as results of `inldl bench` record them."""
        return ", ".join(f"{name}={value!r}" for name, value in self.best_params_.items())

    def _open(self, X, y, sample_weight):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the fit to all rows says it
            return open_as_given(self, X, y, sample_weight)

    def _learn(self, X, y, degrees, weights):
        base = self._base()
        parts = list(self._parts(X, degrees, weights, seed_from(self.random_state)))
        self.trials_, self.best_params_, least = [], {}, np.inf
        for candidate in self._candidates(base):
            if any(trial["parameters"] == candidate for trial in self.trials_):
                continue
            model = clone(base).set_params(**candidate)
            try:
                error = self._mean_error(model, parts)
            except ValueError:  # such as more neighbours than rows
                if not self.trials_:
                    raise
                continue
            self.trials_.append({"parameters": candidate, "error": error})
            if error < least or not self.best_params_:
                self.best_params_, least = candidate, error
        base.set_params(**self.best_params_)
        self.estimator_ = fit_weighted(base, X, y, weights)

    def _candidates(self, base):
        """Yield what the method has, and all combinations of candidates if they are few enough.

        Else the candidates of each constant follow in turn, beside the best ones so far.
        """
        grids, own = self._grids(base), base.get_params()
        yield {name: own[name] for name in grids}
        if np.prod([len(values) for values in grids.values()]) <= self.max_trials:
            for values in product(*grids.values()):
                yield dict(zip(grids, values, strict=True))
            return
        for name, values in grids.items():
            before = self.best_params_
            for value in values:
                yield {**before, name: value}

    def _predict(self, X):
        predicted = self.estimator_.predict(X)
        return predicted.to_numpy() if hasattr(predicted, "to_numpy") else predicted

    def complete(self, X, y, **known) -> Any:
        """Fill the unobserved degrees of `y`, as the method does.

        Parameters
        ----------
        X, y : array-like
            As for the `complete` of the method.
        **known
            Bounds and sums of unobserved degrees: `lower`, `upper` and `sums`.

        Returns
        -------
        ndarray or frame of shape (n_samples, n_labels)
            What the method returns.
        """
        check_is_fitted(self)
        return complete(self.estimator_, X, y, **known)

    def complete_interval(self, X, y, coverage=0.9, **known) -> tuple[Any, Any, Any]:
        """Fill the unobserved degrees of `y` and give intervals, if the method does.

        Parameters
        ----------
        X, y : array-like
            As for the `complete_interval` of the method.
        coverage : float, default=0.9
            The share of unobserved degrees that should lie in their intervals, in (0, 1).
        **known
            Bounds and sums of unobserved degrees: `lower`, `upper` and `sums`.

        Returns
        -------
        completed, lower, upper : ndarray or frame of shape (n_samples, n_labels)
            What the method returns.
        """
        check_is_fitted(self)
        return complete_interval(self.estimator_, X, y, coverage, **known)

    def draw(self, X, y, n_draws, random_state=None, **known) -> Any:
        """Draw completed tables, if the method does.

        Parameters
        ----------
        X, y : array-like
            As for the `draw` of the method.
        n_draws : int
            The number of completed tables.
        random_state : int, RandomState instance, Generator or None, default=None
            An int makes the draws reproducible to the bit.
        **known
            Bounds and sums of unobserved degrees: `lower`, `upper` and `sums`.

        Returns
        -------
        ndarray of shape (n_draws, n_samples, n_labels) or list of frames
            What the method returns.
        """
        check_is_fitted(self)
        return draw(self.estimator_, X, y, n_draws, random_state, **known)

    def _to_onnx(self, graph, features):
        return self.estimator_._to_onnx(graph, features)

    def _base(self):
        """Return the method, not fitted."""
        return WInLDL() if self.estimator is None else clone(self.estimator)

    def _check_parameters(self):
        check_parameters(self)
        self._grids(self._base())

    def _grids(self, base):
        """Return the candidates of each constant."""
        grids, declared = self.grids, dict(getattr(base, "tunable", {}))
        kind, known = type(base).__name__, base.get_params()
        own = grids if isinstance(grids, dict) else declared
        wanted = [grids] if isinstance(grids, str) else list(own if grids is None else grids)
        for name in wanted:
            if name not in known:
                raise ValueError(f"{kind} has no parameter {name!r}{did_you_mean(name, known)}")
            if name in own and (isinstance(own[name], str) or not np.iterable(own[name])):
                raise ValueError(f"The candidates for {name!r} must be a list, got {own[name]!r}.")
        lacking = [name for name in wanted if name not in own]
        if lacking or not wanted:
            only = f"candidates only for {listed(declared)}" if declared else "nothing to tune"
            name = repr(lacking[0]) if lacking else "'name'"
            raise ValueError(
                f"{kind} declares {only}; give your own, as in tuned(method=..., "
                f"grids={{{name}: [...]}})."
            )
        return {name: list(own[name]) for name in wanted}

    def _parts(self, X, y, weights, seed):
        """Yield features, degrees and weights to learn from, then those to be judged by."""
        from sklearn.model_selection import KFold  # time that other methods need not pay

        if len(y) < 2:
            raise ValueError("Tuning needs at least two rows to hide one, got n_samples=1.")
        if self.hide == "rows":
            folds = KFold(min(self.n_folds, len(y)), shuffle=True, random_state=seed)
            for rows in folds.split(y):
                features = [_safe_indexing(X, each) for each in rows]
                own = [None if weights is None else weights[each] for each in rows]
                degrees = with_every_label(y[rows[0]]), y[rows[1]]
                yield tuple(zip(features, degrees, own, strict=True))
            return
        fold = np.random.default_rng(seed).integers(self.n_folds, size=y.shape)
        for i in range(self.n_folds):
            left = with_every_label(np.where(fold == i, np.nan, y))
            yield (X, left, weights), (X, np.where(np.isnan(left), y, np.nan), weights)

    def _mean_error(self, model, parts):
        """Return the mean error of a method at what was hidden; smaller is better."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(np.mean([self._error(model, *part) for part in parts]))

    def _error(self, model, learned, judged):
        X, hidden, weights = judged
        model = fit_weighted(clone(model), *learned)
        if self.hide == "degrees":
            known, there = hidden, complete(model, X, learned[1])
        else:
            rows = PartialRows(hidden, total=np.nan if self.known == "ratios" else 1.0)
            known, there = rows.cells(np.asarray(model.predict(X), dtype=float))
        if self.metric == SQUARES:
            return error_at(known, there, weights)
        value = measure_any(known, there, name=self.metric, sample_weight=weights)
        return -value if METRICS[self.metric].higher_is_better else value
