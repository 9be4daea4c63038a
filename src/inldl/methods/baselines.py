"""What every method must beat: constant predictors, and ordinary regressors."""

from functools import partial
from numbers import Integral
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, has_fit_parameter

from inldl.errors import DataError
from inldl.methods.base import TO_EXPORT, DistributionEstimator
from inldl.methods.parameters import Jobs, Known, parameters
from inldl.rows.checks import FLOATS, check_ratios, refuse_first
from inldl.rows.density import constant_distribution, mean_degrees
from inldl.rows.inputs import as_weights, check_squares, validate_features, validate_fit
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import projected

TUNABLE: dict[str, dict[str, tuple]] = {
    "Ridge": {"alpha": (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)},
    "KNeighborsRegressor": {"n_neighbors": (5, 10, 20, 40)},
    "ExtraTreesRegressor": {"min_samples_leaf": (1, 2, 5), "max_features": (0.3, 1.0)},
    "HistGradientBoostingRegressor": {"learning_rate": (0.03, 0.1), "max_leaf_nodes": (7, 31)},
}
MOST_COPIES = 100  # of a row, for a regressor that knows no weights


@parameters
class ConstantLDL(DistributionEstimator):
    """Predict the same distribution for every row, whatever its features.

    Parameters
    ----------
    strategy : {"mean", "uniform"}, default="mean"
        "mean" predicts the mean of the observed degrees of each label, scaled to sum to 1;
        "uniform" predicts 1/C.
    known : {"degrees", "ratios"}, default="degrees"
        What a row with holes tells. With "ratios", for rows whose missing labels were dropped and
        the others divided by their sum, "mean" is the distribution that agrees best with them.

    Attributes
    ----------
    distribution_ : ndarray of shape (n_labels,)
        What is predicted.

    Examples
    --------
    >>> import numpy as np
    >>> from inldl.methods import ConstantLDL
    >>> y = np.array([[0.2, 0.3, 0.5], [0.4, np.nan, np.nan]])
    >>> ConstantLDL().fit(np.zeros((2, 1)), y).distribution_.round(3)
    array([0.273, 0.273, 0.455])
    """

    strategy: Literal["mean", "uniform"] = "mean"
    known: Known = "degrees"

    _takes_sparse = True

    def _to_onnx(self, graph, features):
        return graph.repeated(features, self.distribution_)

    def _learn(self, X, y, weights):
        means = np.zeros(self.n_labels_)
        if self.known == "ratios":
            check_ratios(y)
        if self.strategy == "mean" and self.known == "ratios":
            means = constant_distribution(PartialRows(y, weight=weights))
        elif self.strategy == "mean":
            means = np.maximum(mean_degrees(y, weights), 0)
        uniform = np.full(self.n_labels_, 1 / self.n_labels_)
        self.distribution_ = means / means.sum() if means.sum() > 0 else uniform

    def _predict(self, X):
        X = validate_features(self, X, accept_sparse="csr")
        return np.tile(self.distribution_, (X.shape[0], 1))


def _check_part(name, part, method, example):
    """Refuse a part that is a class, or lacks `fit` or `method`."""
    able = hasattr(part, "fit") and hasattr(part, method) and not isinstance(part, type)
    if not able:
        raise ValueError(
            f"{name} must be an estimator with the methods fit and {method}, such as {example}, "
            f"got {part!r}."
        )


def open_as_given(estimator, X, y, sample_weight) -> tuple[Any, Any, np.ndarray, Any]:
    """Return checked rows that have a weight, as another estimator takes them.

    These are the features, a frame if its columns have names; the degrees as they were given, and
    as an array; and the weights or None. The estimator notes the columns and labels.
    """
    weights = as_weights(sample_weight)
    sparse = "csr" if get_tags(estimator).input_tags.sparse else False
    checked, degrees, estimator.label_names_ = validate_fit(
        estimator, X, y, accept_sparse=sparse, sample_weight=weights
    )
    check_squares(checked)
    estimator.n_labels_ = degrees.shape[1]
    X = named_or_checked(estimator, X, checked)
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        X, y, degrees = (_safe_indexing(a, kept) for a in (X, y, degrees))
        weights = weights[kept]
    return X, y, degrees, weights


def named_or_checked(estimator, X, checked) -> Any:
    """Return the frame X itself if its columns have names, else the checked array."""
    return X if hasattr(X, "columns") and hasattr(estimator, "feature_names_in_") else checked


@parameters
class RegressorLDL(DistributionEstimator):
    r"""Predict degrees with an ordinary regressor, and project them onto the simplex.

    It is what one would do without a method for label distributions, and so belongs into every
    comparison. With the regressor's predictions :math:`f_1(x), \dots, f_C(x)` a row becomes

    .. math:: \arg\min_z \|z - f(x)\|^2 \quad \text{s.t. } z \ge 0, \; \textstyle\sum_j z_j = 1

    Parameters
    ----------
    regressor : regressor or None, default=None
        Any regressor with scikit-learn's tags, or a pipeline that ends in one; None is
        ``Ridge()``. It is cloned, never fitted itself. Sparse `X`, and NaN in `X`, are accepted
        if its tags (and those of `completer`) say so. Where a label is observed in fewer rows than
        the neighbours it asks for (`n_neighbors`), it takes all of these rows.
    completer : estimator with a method ``complete``, or None, default=None
        How the regressor learns in spite of the holes of `y`:

        - None: label by label, from the rows in which the label is observed;
        - an estimator such as :class:`inldl.WInLDL`: a clone of it fills the holes first, then
          the regressor learns from all rows; all labels together if it is able to, else label by
          label.
    n_jobs : int or None, default=None
        Threads, over the labels; None is 1, -1 all cores. The result is the same.

    Attributes
    ----------
    regressors_ : list of regressors
        The fitted clones: one per label, or a single one that predicts all labels.
    completer_ : estimator or None
        The fitted clone of `completer`.

    Notes
    -----
    The regressor gets `X` as it is if that is a frame whose columns have names. Rows without any
    observed degree are of use only to a `completer`. A `regressor` or a `completer` whose `fit`
    has no `sample_weight` gets rows repeated, if the weights are whole numbers up to 100; others
    it cannot take.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from inldl.methods import RegressorLDL
    >>> from inldl import hide
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(500, random_state=0)
    >>> model = RegressorLDL(KNeighborsRegressor()).fit(X, hide(y, 0.5, random_state=0))
    >>> len(model.regressors_)
    3
    >>> model.predict(X[:1]).sum().round(6).item()
    1.0
    """

    regressor: Annotated[object, partial(_check_part, method="predict", example="Ridge()")] = None
    completer: Annotated[object, partial(_check_part, method="complete", example="WInLDL()")] = (
        None
    )
    n_jobs: Jobs = None

    @property
    def tunable(self) -> dict[str, Any]:  # type: ignore[override]
        """Constants of the regressor that `TunedLDL` may choose, and the candidates of each."""
        known = TUNABLE.get(type(self.regressor).__name__, {})
        return {f"regressor__{name}": values for name, values in known.items()}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        parts = [self._template()] + ([] if self.completer is None else [self.completer])
        inputs = [get_tags(part).input_tags for part in parts]
        tags.input_tags.sparse = all(part.sparse for part in inputs)
        tags.input_tags.allow_nan = all(part.allow_nan for part in inputs)
        return tags

    _open = open_as_given

    def _learn(self, X, y, degrees, weights):
        self.completer_ = None
        if self.completer is not None:
            self.completer_ = _fit_weighted(clone(self.completer), X, y, weights)
            degrees = np.asarray(self.completer_.complete(X, y))
        self.regressors_ = self._fit_regressors(X, degrees, weights)

    def _predict(self, X):
        tags = get_tags(self).input_tags
        checked = validate_features(
            self,
            X,
            accept_sparse="csr" if tags.sparse else False,
            dtype=FLOATS,
            ensure_all_finite="allow-nan" if tags.allow_nan else True,
        )
        X = named_or_checked(self, X, checked)
        parts = self._parallel(delayed(fitted.predict)(X) for fitted in self.regressors_)
        raw = np.column_stack(parts)
        refuse_first(
            ~np.isfinite(raw).all(axis=1),
            "{regressor} predicted NaN or infinity for row {number} of X, which cannot become a "
            "distribution; scale X, or give another regressor.",
            regressor=self._template(),
        )
        return projected(raw).astype(checked.dtype, copy=False)

    def _to_onnx(self, graph, features):
        from sklearn.linear_model import ElasticNet, LinearRegression, Ridge

        coefs, intercepts = [], []
        for regressor in self.regressors_:
            if not isinstance(regressor, (Ridge, LinearRegression, ElasticNet)):
                kind = type(regressor).__name__
                raise ValueError(
                    f"RegressorLDL with {kind} is not linear in its features; {TO_EXPORT}"
                )
            coefs.append(np.atleast_2d(regressor.coef_))
            intercepts.append(np.broadcast_to(regressor.intercept_, len(coefs[-1])))
        scores = graph.scores(features, np.vstack(coefs), np.concatenate(intercepts))
        return graph.projection(scores)

    def _template(self):
        """Return the regressor to clone."""
        if self.regressor is not None:
            return self.regressor
        from sklearn.linear_model import Ridge  # .1 s that other methods need not pay

        return Ridge()

    def _parallel(self, calls):
        return Parallel(n_jobs=self.n_jobs, prefer="threads")(calls)

    def _fit_regressors(self, X, degrees, weights):
        """Fit one regressor to all labels if nothing is missing and it is able to, else one each.

        A single label goes in as a vector, which is what most regressors expect.
        """
        target, labels = get_tags(self._template()).target_tags, range(self.n_labels_)
        if self.completer_ is not None and target.multi_output and self.n_labels_ > 1:
            parts = [(slice(None), None)]
        else:
            names = labels if self.label_names_ is None else self.label_names_
            parts = [(j if target.single_output else [j], names[j]) for j in labels]
        return self._parallel(
            delayed(_fit_observed)(clone(self._template()), X, degrees[:, columns], label, weights)
            for columns, label in parts
        )


class WeightsRefused(ValueError):
    """Say that an estimator cannot learn from weighted rows."""


def _fit_weighted(estimator, X, y, weights):
    """Fit to weighted rows; repeat them for an estimator that knows no weights."""
    if weights is None:
        return _with_neighbours(estimator, _num_samples(y)).fit(X, y)
    if has_fit_parameter(estimator, "sample_weight"):
        return estimator.fit(X, y, sample_weight=weights)
    if (weights != np.floor(weights)).any() or weights.max() > MOST_COPIES:
        raise WeightsRefused(
            f"The fit of {estimator} has no sample_weight, and rows cannot be repeated instead, "
            f"as their weights are not all whole numbers up to {MOST_COPIES}; use another "
            "regressor, such as Ridge(), or give no weights."
        )
    rows = np.repeat(np.arange(len(weights)), weights.astype(int))
    return _fit_weighted(estimator, _safe_indexing(X, rows), _safe_indexing(y, rows), None)


def _with_neighbours(estimator, n_rows):
    """Return an estimator that asks for no more neighbours than there are rows."""
    given = estimator.get_params()
    asked = {k: given[k] for k in given if k.split("__")[-1] == "n_neighbors"}
    many = [
        name for name, count in asked.items() if isinstance(count, Integral) and count > n_rows
    ]
    return estimator.set_params(**dict.fromkeys(many, n_rows))


def _fit_observed(regressor, X, y, label, weights=None):
    """Fit `regressor` to the rows in which `y` is observed, or say for which label that failed."""
    n = len(y)
    rows = np.flatnonzero(~np.isnan(y.reshape(n, -1)).any(axis=1))
    if len(rows) < n:
        X, y = _safe_indexing(X, rows), y[rows]
        weights = None if weights is None else weights[rows]
    try:
        _fit_weighted(regressor, X, y, weights)
        regressor.predict(_safe_indexing(X, [0]))  # some fail with few rows here, not in fit
    except WeightsRefused:
        raise
    except ValueError as error:
        what = "the labels" if label is None else "label {label}"
        fewer = "; a regressor that needs fewer rows, or a completer, may help"
        raise DataError(
            f"{{regressor}} cannot learn {what} from the {{rows}} row(s) in which it is observed"
            f"{fewer if len(rows) < n else ''}: {{error}}",
            label=label,
            regressor=regressor,
            rows=f"{len(rows)} of {n}",
            error=error,
        ) from error
    return regressor
