"""HidLDL and the two IncomLDL: recover distributions of the training rows, then learn these."""

from dataclasses import replace
from typing import ClassVar

from inldl.literature.maximum_entropy import BFGSLDL, SoftmaxDistributionEstimator
from inldl.methods.parameters import (
    Count,
    CountOrNone,
    Known,
    NotNegative,
    Positive,
    parameters,
)
from inldl.solvers.loop import run
from inldl.solvers.neighbours import (
    HidLDLProblem,
    distinct_rows,
    fill_rounds,
    joint_components,
    pls_scores,
)
from inldl.solvers.softmax import Features

MOST_ITERATIONS = 2000  # of the softmax model: small penalties take more than the usual 400


class RecoveringEstimator(SoftmaxDistributionEstimator):
    """Base of estimators that learn a softmax model from distributions that they recovered.

    A method states `_recover(X, y, weights)`, which returns a result whose `shared` is the
    distributions of distinct rows.

    Parameters
    ----------
    l2 : float, default=1e-4
        The penalty of the softmax model.
    fit_intercept : bool, default=True
        Whether the softmax model has a bias.

    Attributes
    ----------
    recovered_ : ndarray of shape (n_samples, n_labels)
        The completed degrees of the training rows that have a weight. Model files leave them out.
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Coefficients of the softmax model, and the bias of each label.
    n_iter_, converged_ : int, bool
        Rounds done, and whether `tol` was met.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "change" is what `tol` is compared with.
    """

    l2: NotNegative = 1e-4

    def _solve(self, features, y, weights):
        rows = distinct_rows(features.X, y, weights)
        X = features.X[rows.first]
        recovery = self._recover(X.astype(float), y[rows.first].astype(float), rows.weights)
        self.recovered_ = recovery.shared[rows.kind]
        learner = BFGSLDL(self.l2, max_iter=MOST_ITERATIONS, fit_intercept=self.fit_intercept)
        few = Features(X, features.fit_intercept)
        learned = learner._solve(few, recovery.shared, rows.weights)
        return replace(recovery, shared=learned.shared)


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
    known : {"degrees", "ratios"}, default="degrees"
        What `complete` is given of rows with holes. The fit uses ratios only, whatever it is.

    Attributes
    ----------
    recovered_ : ndarray of shape (n_samples, n_labels)
        The recovered distributions of the training rows that have a weight; ratios of the
        observed degrees are kept approximately. Model files leave them out.
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


class _FillingEstimator(RecoveringEstimator):
    """Base of the two IncomLDL methods, which fill holes from neighbours in a projected space.

    A method states ``_space(X, filled, weights, n_components)``, the coordinates of the rows.

    Parameters
    ----------
    n_components : int or None, default=None
        Dimensions of the space; None is as many as there are labels. There are fewer if there are
        fewer features or rows.
    n_neighbors : int, default=10
        Neighbours whose degrees are averaged; fewer if there are fewer rows.
    max_iter : int, default=5
        Rounds at most.
    tol : float, default=1e-4
        Stop when a round changes the holes by no more, as a root mean square.
    """

    n_components: CountOrNone = None
    n_neighbors: Count = 10
    max_iter: Count = 5
    tol: NotNegative = 1e-4
    tunable: ClassVar = {"n_neighbors": (5, 10, 20), "l2": (1e-4, 1e-2)}

    def _recover(self, X, y, weights):
        n_components = min(self.n_components or y.shape[1], X.shape[1])

        def space(filled):
            return self._space(X, filled, weights, n_components)

        rounds = fill_rounds(y, weights, space, self.n_neighbors, self.tol)
        return run(rounds, self.max_iter)


@parameters
class IncomLDLSNI(_FillingEstimator):
    r"""Fill holes from neighbours in a supervised space (IncomLDL-SNI).

    A partial least squares regression of the degrees on the features projects the rows into a
    space where rows with similar degrees are near each other. A hole becomes the mean degree of
    the nearest rows there. This is repeated with the filled degrees; then a softmax model
    (:class:`BFGSLDL`) learns them from the features.

    Notes
    -----
    We had only the abstract of the paper, and no program. It states the projection by partial
    least squares, the Euclidean neighbours in that space, and that holes are recovered from their
    degrees. Our choices are: the first filling (the mean of each label), the number of
    components and of neighbours, that neighbours count the same, that holes of a row are scaled
    to what its observed degrees leave, that this is repeated, and a softmax model for new rows.
    Numbers of this estimator are not those of the paper.

    A negative degree counts as 0. Rows that are equal count as one of their total weight, so that
    none is a neighbour of itself.

    References
    ----------
    X.-Q. Zeng, S.-F. Chen, R. Xiang, G.-Z. Li and X.-F. Fu, "Incomplete label distribution
    learning based on supervised neighborhood information", International Journal of Machine
    Learning and Cybernetics, 2019.

    See Also
    --------
    IncomLDLLR : Neighbours in the space of principal components of features and degrees.
    """

    _space = staticmethod(pls_scores)


@parameters
class IncomLDLLR(_FillingEstimator):
    r"""Fill holes by local reconstruction (IncomLDL-LR).

    Rows are projected onto the leading principal components of features and degrees together. A
    hole becomes the mean degree of the nearest rows there, and this is repeated with the filled
    degrees, so that holes are recovered gradually; then a softmax model (:class:`BFGSLDL`) learns
    them from the features.

    Notes
    -----
    We had only the abstract of the paper, and no program. It states the principal components of
    features and degrees together, and that holes gradually become the mean degrees of neighbours
    in that space. Our choices are: the first filling (the mean of each label), the
    number of components and of neighbours, that neighbours count the same, that holes of a row
    are scaled to what its observed degrees leave, that features and degrees have the same total
    variance, and a softmax model for new rows. Numbers of this estimator are not those of the
    paper.

    References
    ----------
    X.-Q. Zeng, S.-F. Chen, R. Xiang, S.-X. Wu and Z.-Y. Wan, "Filling missing values by local
    reconstruction for incomplete label distribution learning", International Journal of Wireless
    and Mobile Computing, 2019.

    See Also
    --------
    IncomLDLSNI : Neighbours in the space of a partial least squares regression.
    """

    max_iter: Count = 10

    _space = staticmethod(joint_components)
