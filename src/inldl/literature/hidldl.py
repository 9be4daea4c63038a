"""The HidLDL estimator."""

from typing import ClassVar

from inldl.literature.maximum_entropy import RecoveringEstimator
from inldl.methods.parameters import (
    Count,
    CountOrNone,
    Known,
    NotNegative,
    Positive,
    parameters,
)
from inldl.solvers.hidldl import HidLDLProblem
from inldl.solvers.loop import run


@parameters
class HidLDL(RecoveringEstimator):
    r"""Label distributions with hidden labels: only ratios of the observed degrees are used.

    Labels that were dropped before the others were rescaled to a sum of 1 leave ratios only. The
    distributions D of the training rows are recovered by an approximate ADMM on

    .. math:: \min_D \tfrac12 \mathrm{tr}(D' G D) + \alpha \|D\|_*
              \quad \text{s.t. rows of } D \text{ on the simplex}, \;
              D_{ij} = c_i y_{ij} \text{ where observed}

    where G is that of a graph of nearest neighbours; then a softmax model (:class:`BFGSLDL`)
    learns D from the features. Since only ratios count, degrees that were not rescaled give the
    same result as those that were, and what their sum tells is not used.

    Parameters
    ----------
    alpha : float, default=1.0
        The weight of the trace norm. The authors chose it with the true distributions in hand.
    sigma : float, default=1.0
        The width of the kernel that turns distances of features into edges of the graph.
    n_neighbors : int or None, default=None
        Neighbours of a row; None is one more than there are labels, as published.
    rho : float, default=2.0
        The penalty of ADMM.
    step : float, default=0.01
        The length of its gradient steps.
    max_iter : int, default=100
        Iterations at most. They usually end the fit, on purpose: it regularises.
    tol : float, default=1e-3
        Stop when no entry of the copy of D that keeps the ratios moves by more.
    l2 : float, default=1e-4
        The penalty of the softmax model.
    fit_intercept : bool, default=True
        Whether the softmax model has a bias.
    known : {"degrees", "ratios"}, default="degrees"
        What `complete` is given of rows with holes. The fit uses ratios only, whatever it is.

    Attributes
    ----------
    recovered_ : ndarray of shape (n_samples, n_labels)
        The recovered distributions of the training rows that have a weight; ratios of the
        observed degrees are kept approximately. Model files leave them out.
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Coefficients of the softmax model, and the bias of each label.
    n_iter_, converged_ : int, bool
        Iterations of the recovery, and whether `tol` was met.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "change" is what `tol` is compared with; "gap" is how far D is from keeping the ratios.

    Notes
    -----
    A negative degree counts as 0. Rows that are equal count as one of their total weight, so that
    none is a neighbour of itself.

    References
    ----------
    J. Jiang, J. Tang, J. Jiang, H. Liu, J. Hou and Y. Jia, "Towards Better IncomLDL: We Are
    Unaware of Hidden Labels in Advance", arXiv 2511.12494, 2025.
    """

    alpha: NotNegative = 1.0
    sigma: Positive = 1.0
    n_neighbors: CountOrNone = None
    rho: Positive = 2.0
    step: Positive = 0.01
    max_iter: Count = 100
    tol: NotNegative = 1e-3
    l2: NotNegative = 1e-4
    fit_intercept: bool = True
    known: Known = "degrees"
    tunable: ClassVar = {"alpha": (0.01, 0.1, 1.0, 10.0)}

    def _recover(self, X, y, weights):
        problem = HidLDLProblem(
            X,
            y,
            weights,
            alpha=self.alpha,
            sigma=self.sigma,
            rho=self.rho,
            n_neighbors=self.n_neighbors or y.shape[1] + 1,
        )
        return run(problem.iterations(self.step, self.tol), self.max_iter)
