"""The two IncomLDL estimators: holes filled from neighbours."""

from typing import ClassVar

from inldl.literature.maximum_entropy import RecoveringEstimator
from inldl.methods.parameters import Count, CountOrNone, NotNegative, parameters
from inldl.solvers.incomldl import fill_rounds, joint_components, pls_scores
from inldl.solvers.loop import run


class _FillingEstimator(RecoveringEstimator):
    """Base of both: they fill holes from the neighbours of a row in a space.

    A method states ``_space(X, filled, weights, n_components)``, the coordinates of the rows, and
    has the parameters `n_components`, `n_neighbors`, `max_iter` and `tol`.
    """

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

    n_components: CountOrNone = None
    n_neighbors: Count = 10
    max_iter: Count = 5
    tol: NotNegative = 1e-4
    l2: NotNegative = 1e-4
    fit_intercept: bool = True
    tunable: ClassVar = {"n_neighbors": (5, 10, 20), "l2": (1e-4, 1e-2)}

    _space = staticmethod(pls_scores)


@parameters
class IncomLDLLR(_FillingEstimator):
    r"""Fill holes by local reconstruction (IncomLDL-LR).

    Rows are projected onto the leading principal components of features and degrees together. A
    hole becomes the mean degree of the nearest rows there, and this is repeated with the filled
    degrees, so that holes are recovered gradually; then a softmax model (:class:`BFGSLDL`) learns
    them from the features.

    Parameters
    ----------
    max_iter : int, default=10
        Rounds at most.
    n_components, n_neighbors, tol, l2, fit_intercept
        As in :class:`IncomLDLSNI`.

    Attributes
    ----------
    recovered_, coef_, intercept_, n_iter_, converged_, history_
        As in :class:`IncomLDLSNI`.

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

    n_components: CountOrNone = None
    n_neighbors: Count = 10
    max_iter: Count = 10
    tol: NotNegative = 1e-4
    l2: NotNegative = 1e-4
    fit_intercept: bool = True
    tunable: ClassVar = {"n_neighbors": (5, 10, 20), "l2": (1e-4, 1e-2)}

    _space = staticmethod(joint_components)
