"""Softmax regression on kernel features, with a loss that looks at observed degrees only."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import KFold

from inldl.estimators._kernel_base import Kernel, KernelDistributionEstimator
from inldl.estimators._kernel_features import ROWS_FOR_ALPHA, sample_rows
from inldl.estimators._parameters import Auto, Count, Jobs, parameters
from inldl.solvers.known_cells import known_cells
from inldl.solvers.masked_softmax import MaskedSoftmax, eigenbasis, start_at_mean
from inldl.solvers.softmax import Features, softmax

ALPHAS = tuple(10.0 ** np.arange(2, -4, -1))
FOLDS = 5
MAX_ITER = 100  # of L-BFGS; scaled as they are, most fits need fewer


@parameters
class KernelSoftmaxLDL(KernelDistributionEstimator):
    r"""Softmax regression on kernel features.

    With :math:`q = \mathrm{softmax}(b + \varphi W)` it minimises

    .. math:: \sum_{ij \text{ observed}} (q_{ij} - d_{ij} \log q_{ij})
              + \frac{\alpha}{2} \|W\|^2

    by L-BFGS. The kernel is chosen by leave-one-out ridge regression as in
    :class:`inldl.KernelRidgeLDL`, the penalty by five folds of the rows.

    Parameters
    ----------
    kernel : {"auto", "rbf", "laplacian"}, default="auto"
        RBF, or the same with sums of absolute differences; "auto" chooses.
    scale : float or "auto", default="auto"
        The kernel is exp(-scale * distance / median distance).
    alpha : float or "auto", default="auto"
        The penalty of the squared coefficients.
    n_landmarks : int, default=250
        Random rows that span the kernel features (Nystroem's method).
    random_state : int, RandomState instance, Generator or None, default=None
        For the landmarks and the folds.
    n_jobs : int or None, default=None
        Threads, over the folds; None is 1, -1 all cores. The result is the same to the bit.

    Attributes
    ----------
    held_out_ : ndarray of shape (n_samples, n_labels)
        Predictions of the training rows, each made without the degrees of that row's fold,
        at a kernel and a penalty that were chosen with them.
    kernel_, scale_, alpha_ : str, float, float
        What was chosen.
    coef_, intercept_ : ndarray of shape (n_landmarks, n_labels) and (n_labels,)
        Coefficients of the kernel features, and the bias of each label.
    n_features_in_, n_labels_ : int
        Number of features, and of labels.
    feature_names_in_, label_names_ : ndarray of str
        Their names, if `X` and `y` are frames that have names; else `label_names_` is None.

    Examples
    --------
    >>> from inldl import KernelSoftmaxLDL, hide
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(300, random_state=0)
    >>> model = KernelSoftmaxLDL(random_state=0).fit(X, hide(y, 0.5, random_state=0))
    >>> bool(model.predict(X).min() > 0)
    True
    """

    kernel: Kernel = "auto"
    scale: Auto = "auto"
    alpha: Auto = "auto"
    n_landmarks: Count = 250
    random_state: object = None
    n_jobs: Jobs = None

    def _learn(self, data):
        self.map_ = self._fitted_map(data)
        features = self.map_.transform(data.scaled)
        center = np.average(features, 0, data.weights)
        features -= center
        squares, basis = eigenbasis(features, data.weights)
        rows = features @ basis, data.y, data.weights
        problem = _Folds(*rows, squares, data.seed, self.n_jobs)
        self.alpha_ = problem.best_alpha() if self.alpha == "auto" else self.alpha
        self.held_out_, V = problem.cross_fit(self.alpha_)
        self.coef_ = basis @ V[:-1]
        self.intercept_ = V[-1] - center @ self.coef_

    def _degrees(self, dense, scaled):
        return softmax(self.map_.transform(scaled) @ self.coef_ + self.intercept_)


class _Folds:
    """Softmax regressions without each fold of the rows, and with all rows.

    Features are in the eigenbasis of their Gram matrix, whose eigenvalues are `squares`.
    """

    def __init__(self, features, y, weights, squares, seed, n_jobs):
        self.features, self.y, self.weights = features, y, weights
        self.squares, self.seed, self.n_jobs = squares, seed, n_jobs

    def best_alpha(self):
        """Return the penalty with the smallest squared error at what is known of held-out rows."""
        rows = sample_rows(self.y, ROWS_FOR_ALPHA, self.seed)
        features, y = self.features[rows], self.y[rows]

        def errors(train, test):
            w_train, w_test = self._weights(rows[train]), self._weights(rows[test])
            V = start_at_mean(y[train], features.shape[1], w_train)
            found = []
            for alpha in ALPHAS:  # each starts where the stronger penalty ended
                V = self._fit(features[train], y[train], alpha, V, w_train)
                known, there = known_cells(y[test], _predict(features[test], V))
                squares = (known - there) ** 2
                found.append(np.nansum(squares if w_test is None else squares * w_test[:, None]))
            return found

        return ALPHAS[np.argmin(np.sum(self._each_fold(errors, y), axis=0))]

    def cross_fit(self, alpha):
        """Return held-out predictions of all rows, and the parameters fitted to all rows."""
        held_out = np.empty(self.y.shape)

        def fit(train, test):
            weights = self._weights(train)
            V = start_at_mean(self.y[train], self.features.shape[1], weights)
            V = self._fit(self.features[train], self.y[train], alpha, V, weights)
            held_out[test] = _predict(self.features[test], V)
            return V

        start = np.mean(self._each_fold(fit, self.y), axis=0)
        return held_out, self._fit(self.features, self.y, alpha, start, self.weights)

    def _fit(self, features, y, alpha, V, weights):
        share = len(y) / len(self.y) if weights is None else weights.sum() / self.weights.sum()
        problem = MaskedSoftmax(Features(features, True), self.squares * share, y, alpha, weights)
        return problem.minimise(V, MAX_ITER)

    def _weights(self, rows):
        return None if self.weights is None else self.weights[rows]

    def _each_fold(self, function, y):
        folds = KFold(min(FOLDS, len(y)), shuffle=True, random_state=self.seed)
        calls = (delayed(function)(train, test) for train, test in folds.split(y))
        return Parallel(n_jobs=self.n_jobs, prefer="threads")(calls)


def _predict(features, V):
    return softmax(features @ V[:-1] + V[-1])
