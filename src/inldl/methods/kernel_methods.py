"""Kernel ridge regression, and softmax regression on kernel features."""

from functools import partial

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import KFold

from inldl.methods.kernel_base import KernelFeatureEstimator
from inldl.methods.kernel_features import FINE as RATIO_LANDMARKS
from inldl.methods.kernel_features import choose_alpha, choose_kernel, kernel_features, sample_rows
from inldl.methods.parameters import Count, parameters
from inldl.rows.checks import check_ratios
from inldl.rows.density import constant_distribution
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import projected
from inldl.solvers.landmark_kernel import Basis
from inldl.solvers.masked_ridge import fit_completed, leave_one_out
from inldl.solvers.softmax import MaskedSoftmax, softmax, start_at_mean

TOL = 1e-4  # changes of filled degrees that are not worth another fit
TRIED_ALPHAS = tuple(10.0 ** np.arange(2, -4, -1))
FOLDS = 5
MAX_ITER = 100  # of L-BFGS; scaled as they are, most fits need fewer
CHOICE_FTOL, FOLD_FTOL, FIT_FTOL = 1e-5, 1e-6, 1e-7  # relative gains that end L-BFGS
FOLD_ROWS = 5000


@parameters
class KernelRidgeLDL(KernelFeatureEstimator):
    r"""Kernel ridge regression whose kernel and penalty are chosen by leave-one-out.

    Each label is regressed on kernel features of the rows where it is observed; one
    eigendecomposition gives the residuals with every row left out, in closed form, and one kernel
    and one penalty for all labels are those with the smallest sum of their squares. Then the
    holes are filled near these predictions, such that rows sum to 1 and labels that are harder to
    predict give way more, and the model is fitted to all rows; this is repeated.

    Parameters
    ----------
    max_iter : int, default=10
        How often holes are filled and the model is fitted again.

    Attributes
    ----------
    kernel_, scale_, alpha_ : str, float, float
        What was chosen.
    coef_, intercept_ : ndarray of shape (n_landmarks, n_labels) and (n_labels,)
        Coefficients of the kernel features, and the bias of each label.
    n_iter_ : int
        Fits done.

    Examples
    --------
    >>> from inldl.methods import KernelRidgeLDL
    >>> from inldl import hide
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(300, random_state=0)
    >>> model = KernelRidgeLDL(random_state=0).fit(X, hide(y, 0.5, random_state=0))
    >>> model.kernel_
    'rbf'
    """

    max_iter: Count = 10

    def _train(self, data):
        self.map_ = self._fitted_map(data)
        features, y, weights = self.map_.transform(data.affordable), data.y, data.weights
        self.alpha_ = self.alpha
        if self.alpha == "auto":
            self.alpha_ = choose_alpha(features, y, data.seed, self.n_jobs, weights)
        raw = leave_one_out(features, y, self.alpha_, self.n_jobs, weights)
        options = {"max_iter": self.max_iter, "tol": TOL, "weights": weights}
        fitted = fit_completed(features, y, raw, self.alpha_, **options)
        self.coef_, self.intercept_, self.n_iter_ = fitted
        self.held_out_ = projected(raw)

    def _degrees(self, dense, scaled):
        return projected(self.map_.transform(scaled) @ self.coef_ + self.intercept_)


@parameters
class KernelSoftmaxLDL(KernelFeatureEstimator):
    r"""Softmax regression on kernel features.

    With :math:`q = \mathrm{softmax}(b + \varphi W)` it minimises

    .. math:: \sum_{ij \text{ observed}} (q_{ij} - d_{ij} \log q_{ij})
              + \frac{\alpha}{2} \|W\|^2

    by L-BFGS. The kernel is chosen by leave-one-out ridge regression as in
    :class:`inldl.methods.KernelRidgeLDL`, the penalty by five folds of the rows.

    Attributes
    ----------
    held_out_ : ndarray of shape (n_samples, n_labels)
        Predictions of the training rows, each made without the degrees of that row's fold,
        at a kernel and a penalty that were chosen with them.
    kernel_, scale_, alpha_ : str, float, float
        What was chosen.
    coef_, intercept_ : ndarray of shape (n_landmarks, n_labels) and (n_labels,)
        Coefficients of the kernel features, and the bias of each label.

    Examples
    --------
    >>> from inldl.methods import KernelSoftmaxLDL
    >>> from inldl import hide
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(300, random_state=0)
    >>> model = KernelSoftmaxLDL(random_state=0).fit(X, hide(y, 0.5, random_state=0))
    >>> bool(model.predict(X).min() > 0)
    True
    """

    n_landmarks: Count = 250

    def _train(self, data):
        self.map_ = self._fitted_map(data)
        basis = Basis.of(self.map_, data.scaled, data.weights)
        features = basis.features(data.single)  # half the bytes, which each iteration reads
        folds = _Folds(features, data.y, data.weights, basis.squares, data.seed, self.n_jobs)
        self.alpha_ = folds.best_alpha() if self.alpha == "auto" else self.alpha
        self.held_out_, V = folds.cross_fit(self.alpha_)
        self.coef_, self.intercept_ = basis.split(V)

    def _degrees(self, dense, scaled):
        return softmax(self.map_.transform(scaled) @ self.coef_ + self.intercept_)


def scale_ratios(columns, y, weights, seed, n_jobs=None) -> np.ndarray:
    """Return degrees: each row of ratios times what is predicted for its labels without it.

    The predictions are those of a softmax regression on kernel features of scaled columns, whose
    likelihood needs no scale. Its kernel is chosen as others are, with rows scaled by one
    distribution for all.
    """
    check_ratios(y)
    rows = PartialRows(PartialRows(y).ratios, weight=weights)
    first = rows.scaled(constant_distribution(rows))
    choice = choose_kernel(columns, first, seed, n_jobs, weights=weights)
    features = kernel_features(columns, choice.kernel, choice.scale, RATIO_LANDMARKS, seed)
    basis = Basis.of(features, columns, weights)
    found = basis.features(columns.astype(np.float32))
    folds = _Folds(found, rows.y, weights, basis.squares, seed, n_jobs, ratios=True)
    return rows.scaled(folds.cross_fit(folds.best_alpha())[0])


class _Folds:
    """Softmax regressions without each fold of the rows, and with all rows.

    Features are in the eigenbasis of their Gram matrix, whose eigenvalues are `squares`. Of rows
    with holes `ratios` may be all that is known.
    """

    def __init__(self, features, y, weights, squares, seed, n_jobs, ratios=False):
        self.features, self.y, self.weights, self.ratios = features, y, weights, ratios
        self.squares, self.seed, self.n_jobs = squares, seed, n_jobs
        self.starts = None
        folds = KFold(min(FOLDS, len(y)), shuffle=True, random_state=seed)
        self.tests = [test for _, test in folds.split(y)]

    def best_alpha(self):
        """Return the penalty with the smallest squared error at what is known of held-out rows.

        Penalties are tried from the strongest on, each from where the one before ended, until
        errors have grown twice. Where the best one ended, `cross_fit` starts.
        """
        chosen = np.zeros(len(self.y), bool)
        chosen[sample_rows(self.y, FOLD_ROWS, self.seed)] = True
        pairs = [
            (np.flatnonzero(chosen & rest), test[chosen[test]]) for rest, test in self._pairs()
        ]
        ends, errors = [self._start(train) for train, _ in pairs], []
        for alpha in TRIED_ALPHAS:
            found = self._each(partial(self._step, alpha), ends, pairs)
            ends, squares = zip(*found, strict=True)
            errors.append(sum(squares))
            if errors[-1] <= min(errors):
                best, self.starts = alpha, ends
            elif min(errors[-2:]) > min(errors):
                break
        return best

    def cross_fit(self, alpha):
        """Return held-out predictions of all rows, and the parameters fitted to all rows."""
        held_out, pairs = np.empty(self.y.shape), self._pairs()
        starts = self.starts or [self._start(train) for train, _ in pairs]
        fit = partial(self._fit, alpha, ftol=FOLD_FTOL)
        found = self._each(fit, starts, [train for train, _ in pairs])
        for V, (_, test) in zip(found, pairs, strict=True):
            held_out[test] = _predict(self.features[test], V)
        return held_out, self._fit(alpha, np.mean(found, axis=0), np.arange(len(self.y)))

    def _pairs(self):
        """Return the rows to learn from and those to predict, for each fold."""
        rest = np.ones((len(self.tests), len(self.y)), bool)
        for i, test in enumerate(self.tests):
            rest[i, test] = False
        return list(zip(rest, self.tests, strict=True))

    def _step(self, alpha, V, rows):
        """Return the parameters without a fold, and their squared error at what is known of it."""
        train, test = rows
        V = self._fit(alpha, V, train, CHOICE_FTOL)
        judged = PartialRows(self.y[test], total=np.nan if self.ratios else 1.0)
        known, there = judged.cells(_predict(self.features[test], V))
        squares, weights = (known - there) ** 2, self._weights(test)
        return V, np.nansum(squares if weights is None else squares * weights[:, None])

    def _fit(self, alpha, V, rows, ftol=FIT_FTOL):
        y, weights = self.y[rows], self._weights(rows)
        share = len(y) / len(self.y) if weights is None else weights.sum() / self.weights.sum()
        about = self.squares * share, y, alpha, weights, self.ratios
        return MaskedSoftmax(self.features[rows], *about).minimise(V, MAX_ITER, ftol)

    def _start(self, rows):
        return start_at_mean(self.y[rows], self.features.shape[1], self._weights(rows))

    def _weights(self, rows):
        return None if self.weights is None else self.weights[rows]

    def _each(self, function, *arguments):
        calls = (delayed(function)(*each) for each in zip(*arguments, strict=True))
        return Parallel(n_jobs=self.n_jobs, prefer="threads")(calls)


def _predict(features, V):
    return softmax(features @ V[:-1].astype(features.dtype) + V[-1])
