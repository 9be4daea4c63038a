"""Kernel ridge regression on what is observed, then on what the sum of 1 makes of it."""

from inldl.methods.kernel_base import KernelFeatureEstimator
from inldl.methods.kernel_features import choose_alpha
from inldl.methods.parameters import Count, parameters
from inldl.solvers.gaussian import projected
from inldl.solvers.masked_ridge import fit_completed, leave_one_out

TOL = 1e-4  # changes of filled degrees that are not worth another fit


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
        result = fit_completed(features, y, raw, self.alpha_, **options)
        self.coef_, self.intercept_, self.n_iter_ = result.coef, result.intercept, result.n_iter
        self.held_out_ = projected(raw)

    def _degrees(self, dense, scaled):
        return projected(self.map_.transform(scaled) @ self.coef_ + self.intercept_)
