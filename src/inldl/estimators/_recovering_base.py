"""What estimators share that recover the distributions of the training rows, then learn them."""

from dataclasses import replace

from inldl._file_state import Array, FileState
from inldl.estimators._softmax_base import SoftmaxDistributionEstimator
from inldl.estimators.bfgs import BFGSLDL
from inldl.solvers.neighbours import distinct_rows
from inldl.solvers.softmax import Features

MOST_ITERATIONS = 2000  # of L-BFGS; small penalties take more than the usual 400


class RecoveringEstimator(SoftmaxDistributionEstimator):
    """Base of estimators that learn a softmax model from distributions that they recovered.

    A method states `_check_parameters()`, `_recover(X, y, weights)`, which returns a result whose
    `shared` is the distributions of distinct rows, and has the parameters `l2` and
    `fit_intercept`.

    Attributes
    ----------
    recovered_ : ndarray of shape (n_samples, n_labels)
        The distributions of the training rows that have a weight. Model files do not keep them.
    """

    _in_file = FileState({"recovered_": Array(2, rows=False)})

    def _solve(self, features, y, weights):
        rows = distinct_rows(features.X, y, weights)
        X = features.X[rows.first]
        recovery = self._recover(X.astype(float), y[rows.first].astype(float), rows.weights)
        self.recovered_ = recovery.shared[rows.kind]
        learner = BFGSLDL(self.l2, self.fit_intercept, max_iter=MOST_ITERATIONS)
        few = Features(X, features.fit_intercept)
        learned = learner._solve(few, recovery.shared, rows.weights)
        return replace(recovery, shared=learned.shared)
