"""Weights of rows by the number of votes that their shares rest on."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from inldl.methods.members import KernelRidgeLDL
from inldl.rows.checks import as_degrees, check_number, refuse_first
from inldl.rows.inputs import check_rows
from inldl.uncertainty.heldout import predict_held_out

REWEIGHTINGS = 10  # of weighing the regression by what it found before


def vote_weights(X, y, votes=None, *, estimator=None, n_folds=5) -> np.ndarray:
    r"""Weigh rows by how many votes their shares rest on.

    Guide: :doc:`/weights`.

    Shares of 3 votes say less than those of 300, but not a hundred times less: a model does not
    predict even the shares of all voters exactly. A row of N votes weighs

    .. math:: w \propto \frac{1}{\tau^2 + s^2 / N}

    where :math:`\tau^2` and :math:`s^2` are those with which :math:`\tau^2 + s^2 / N` is nearest
    to the squared errors of rows that were predicted without them. They are not negative. With
    :math:`\tau^2` large, as for a poor model, votes hardly matter; with :math:`\tau^2 = 0` rows
    weigh in proportion to their votes.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The features, as for `fit`.
    y : array-like of shape (n_samples, n_labels)
        Degrees, NaN = unobserved; or counts, if `votes` is None.
    votes : array-like of shape (n_samples,), default=None
        How many votes each row rests on; None takes the sums of `y`.
    estimator : estimator, default=None
        What predicts the held-out rows: the one that will be fitted with the weights, best of all.
        None is :class:`inldl.methods.KernelRidgeLDL`.
    n_folds : int, default=5
        Parts of the rows that are held out in turn, if the estimator has no held-out predictions
        of its own.

    Returns
    -------
    ndarray of shape (n_samples,)
        For `sample_weight`: 1 on average, and 0 for rows without votes.

    Examples
    --------
    >>> import numpy as np
    >>> from inldl.methods import KernelRidgeLDL
    >>> from inldl import vote_weights
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(300, random_state=0)
    >>> rng = np.random.default_rng(0)
    >>> votes = rng.integers(3, 300, size=300)
    >>> counts = rng.multinomial(votes, y)
    >>> weights = vote_weights(X, counts)
    >>> bool(weights[votes > 100].mean() > 2 * weights[votes < 10].mean())
    True
    >>> shares = counts / votes[:, None]
    >>> model = KernelRidgeLDL(random_state=0).fit(X, shares, sample_weight=weights)
    """
    check_number("n_folds", n_folds, low=2, integer=True)
    y, votes = _shares_and_votes(y, votes)
    voted = np.flatnonzero(votes > 0)
    if len(voted) < 2:
        raise ValueError(
            f"{len(voted)} row(s) have votes; to weigh rows by votes at least two are needed."
        )
    X = X if hasattr(X, "shape") else np.asarray(X)
    check_rows(X, y)
    X = _safe_indexing(X, voted)
    predicted = _held_out(estimator, X, y[voted], n_folds)
    return weights_by_votes(y[voted], predicted, votes, voted)


def weights_by_votes(y, predicted, votes, rows) -> np.ndarray:
    """Return the weights of all rows, from held-out predictions of some `rows` of degrees y."""
    errors = (y - predicted) ** 2
    seen = ~np.isnan(errors)
    count = seen.sum(axis=1)
    squares = np.where(seen, errors, 0).sum(axis=1) / np.where(count, count, np.nan)
    return estimate_vote_noise(squares, votes[rows]).weights(votes)


def _shares_and_votes(y, votes):
    """Return degrees, NaN for rows without votes, and the number of votes of each row."""
    y = as_degrees(y).astype(np.float64)
    if votes is None:
        _check_counts(y)
        votes = y.sum(axis=1)
        return y / np.where(votes > 0, votes, np.nan)[:, None], votes
    return y, checked_votes(votes, len(y))


def checked_votes(votes, n) -> np.ndarray:
    """Return the numbers of votes of n rows, or refuse them."""
    votes = np.asarray(votes, dtype=np.float64)
    if votes.shape != (n,):
        raise ValueError(
            f"votes must be one number for each of {n} rows, but its shape is {votes.shape}."
        )
    refuse_first(
        ~(np.isfinite(votes) & (votes >= 0)),
        "votes is {votes:g} in {row}; give how many votes each row rests on, 0 or more.",
        votes=votes,
    )
    return votes


def _check_counts(y):
    """Refuse values that are not counts."""
    refuse_first(
        ~(y >= 0),
        "Label {label} is {value:g} in {row}, which is not a count; give counts without holes, or "
        "degrees and how many votes each row rests on.",
        value=y,
    )
    if (y.sum(axis=1) <= 1 + 1e-6).all():
        raise ValueError(
            "All rows of y sum to 1 or less, so y holds shares; give votes, the number of votes "
            "that each row rests on."
        )


def _held_out(estimator, X, y, n_folds):
    """Return held-out predictions of the rows."""
    if estimator is None:
        estimator = KernelRidgeLDL(random_state=0)
    known = getattr(clone(estimator).fit(X, y), "held_out_", None)
    if known is not None:
        return known
    X = X if sparse.issparse(X) else np.asarray(X)
    return predict_held_out(estimator, X, y, n_folds)


@dataclass(frozen=True)
class VoteNoise:
    """Error variance that votes do not reduce, and the sampling variance of one vote."""

    lasting: float
    of_one_vote: float

    def weights(self, votes) -> np.ndarray:
        """Return the weights of rows, of mean 1 where there are votes; 0 where there are none."""
        voted = votes > 0
        variance = self.lasting + self.of_one_vote / np.where(voted, votes, 1)
        found = np.where(voted, 1 / variance if (variance > 0).all() else 1.0, 0.0)
        return found / found[voted].mean() if voted.any() else found


def estimate_vote_noise(squares, votes) -> VoteNoise:
    """Estimate the noise from the mean squared errors of held-out rows, NaN where there are none.

    The regression of the squares on 1 and 1/N, with N the votes that the shares of a row rest on,
    has coefficients that are not negative. A squared error varies in proportion to its
    expectation, so each counts by the inverse of that.
    """
    known = np.isfinite(squares) & (votes > 0)
    squares, votes = squares[known], votes[known]
    if not squares.any():
        return VoteNoise(0.0, 0.0)
    unit = squares.mean()
    parts = np.column_stack([np.ones(len(votes)), 1 / votes])
    expected = np.ones(len(votes))
    for _ in range(REWEIGHTINGS):
        found = nnls(parts / expected[:, None], squares / unit / expected)[0]
        expected = np.maximum(parts @ found, 1e-6)
    return VoteNoise(*(unit * found).tolist())
