"""Complete rows with a mixture of members, weighed by degrees that were hidden on purpose."""

from dataclasses import replace
from functools import partial

import numpy as np

from inldl.completion.filling import FillsRows
from inldl.completion.members import Mixture, refilled
from inldl.rows.density import GammaDegrees
from inldl.rows.missingness import mechanism_of, top_k_rows
from inldl.rows.partial import PartialRows, largest_sum
from inldl.solvers.gaussian import LogScale, ShareScale
from inldl.solvers.linear import weights_towards
from inldl.uncertainty import hiding
from inldl.uncertainty.conformal import ErrorModel, error_features
from inldl.uncertainty.draws import Learned

ERRORS = {"shares": ShareScale, "ratios": LogScale}  # on which scale they are to be small
FEWEST = 20  # degrees that are needed to weigh the members at all
PULL = 20.0  # one over the variance with which weights are expected around these
PLAIN, FREE_SPELLS = 0.9, 2.0  # weight of filling a panel in proportion before more spells tell
LEAST_SPELLS = 1e-3  # that count
TREES, TRIAL_TREES = 50, 25  # of a label; while members are weighed
ALL_TREES = 600  # of all labels, but at least a fifth of that each
ROWS_FOR_TREES = 60  # at least; spells of a panel, too
LABELS_FOR_TREES = 100  # at most


class Completer(FillsRows):
    """Fill the holes of rows from their observed degrees and predictions of the rows.

    The members of `inldl.completion.members` are learned from rows and predictions that were
    made without them. Each observed degree is hidden once, and filled in by members that were
    learned without its row. Weights that are not negative and sum to 1 mix the members such that
    the squared error there is small; few such degrees move them little from weights that are safe.

    Where complete rows sum to 0.95 or 1.01 (`loose`), a missing degree does not follow from the
    others of its row. All degrees are divided by the largest sum, and what a row then lacks to 1
    is one more label inside, known for complete rows only and learned as any other.

    Parameters
    ----------
    seed : int, default=0
        For the folds and the trees.
    n_jobs : int or None, default=None
        Threads; the result is the same to the bit.
    error : {"shares", "ratios"}, default="shares"
        What is to be small: errors of degrees, or of their logarithms, in which ratios of small
        degrees count as much as those of large ones.

    Attributes
    ----------
    weights_ : dict of str to float
        The weight of each member.
    refilled_ : HiddenCells or None
        The degrees that the weights rest on. Fewer than 20 are not enough: all weight is on
        filling near the prediction then. None if nothing could be hidden.
    hole_weights_ : ndarray of shape (m,) or None
        How much each of them counts in the expected error at holes; None if hardly any are alike.
    errors_ : ErrorModel
        How large errors are expected to be.
    top_k_ : GammaDegrees or None
        What fills holes instead of the members, if only the largest degrees are recorded.
    limited_ : bool
        Whether some degrees of the rows were not observed, but had limits.
    """

    def __init__(self, seed=0, n_jobs=None, error="shares") -> None:
        self.seed = seed
        self.n_jobs = n_jobs
        self.error = error

    def fit(
        self, rows, predicted, groups=None, expected=None, loose=False, hidden=None, n_spells=None
    ) -> "Completer":
        """Learn from rows; return the completer itself.

        Parameters
        ----------
        rows, predicted : PartialRows, ndarray of shape (n, n_labels)
            The rows, and predictions, each made without the row.
        groups : ndarray of int of shape (n,), optional
            Rows of one group are held out together.
        expected : ndarray of shape (n, n_labels), optional
            The degrees, where bounds or sums limit some with what is expected of these.
        loose : bool, default=False
            Whether the sums of rows are only about 1; no degrees have limits then.
        hidden : HiddenCells, optional
            Degrees of rows that know something, hidden in the shape of the holes, for which the
            predictions were made. By default each degree is hidden once.
        n_spells : float, optional
            How many of these, or of runs of them, tell something of their own.
        """
        self._n_spells = np.inf if n_spells is None else n_spells
        self._n_labels, self._whole, self._lack = rows.y.shape[1], 1.0, None
        if loose:
            self._whole = largest_sum(rows.y)
            lack = 1 - rows.y.sum(axis=1) / self._whole  # NaN where there are holes
            self._lack = float(np.nanmean(np.append(lack, np.nan)))
        rows, predicted = self._opened(rows, predicted)
        if hidden is not None:
            left = self._opened(PartialRows(hidden.left), predicted[:0])[0].y
            hidden = replace(hidden, left=left, degrees=hidden.degrees / self._whole)
        self._given = hidden
        y = PartialRows(rows.y if expected is None else expected).forced()
        self.top_k_ = None
        if mechanism_of(y) == "rest":
            self.top_k_ = GammaDegrees.learn(top_k_rows(y), by_size=True)
        known = np.flatnonzero(~np.isnan(y).all(axis=1))
        self.limited_, only_expected = rows.constrained, rows.limited[known]
        self._limits = rows.take(known)
        rows = replace(rows.unconstrained(), y=y, number=np.arange(len(y))).take(known)
        predicted, groups = predicted[known], rows.number if groups is None else groups[known]
        self._rows, self._predicted = rows, predicted
        self._scale = ERRORS[self.error](rows.y)
        self._learned: dict[tuple[int, int], Learned] = {}
        vars(self).pop("limited_degrees_", None)  # of an earlier fit
        self.members_ = self._learn(rows, predicted, hidden, TREES)
        plain = "near" if hidden is None else "scaled"
        self.weights_ = dict.fromkeys(self.members_.names, 0.0) | {plain: 1.0}
        learn = partial(self._learn, most_trees=TRIAL_TREES)
        trials = refilled(rows, predicted, groups, learn, self.seed, hidden)
        self._refilled, self._as_predicted, about = None, hidden is None, None
        if trials is not None:
            self._refilled, about = self._weigh(rows, only_expected, *trials[:3])
            weights, bare = list(self.weights_.values()), trials[3]
            made = self._scale.back(np.tensordot(weights, self._scale.of(trials[4]), 1))
            off = [np.nanmean((rows.y[bare] - each) ** 2) for each in (made, predicted[bare])]
            self._as_predicted = hidden is None and off[0] > off[1]
        how = np.arange(len(rows)) if hidden is None else groups, self._n_spells, self.seed
        self.errors_ = ErrorModel(rows.y, predicted, self._refilled, about, *how)
        return self

    def _learn(self, rows, predicted, hidden, most_trees):
        n, n_labels = self._rows.y.shape
        with_trees = min(n, self._n_spells) >= ROWS_FOR_TREES and 2 < n_labels <= LABELS_FOR_TREES
        n_trees = int(with_trees * np.clip(ALL_TREES / TREES / n_labels, 0.2, 1) * most_trees)
        return Mixture(rows, predicted, n_trees, self.seed, self.n_jobs, hidden, self._scale)

    def _weigh(self, rows, only_expected, hidden, fills, variance):
        """Mix the members such that the error at hidden degrees is small.

        Returns these degrees, and what may tell the sizes of their errors.
        """
        more = max(self._n_spells - FREE_SPELLS, LEAST_SPELLS)
        weights = np.full(len(hidden.row), min(more / len(hidden.row), 1.0))
        if self._given is None:
            weights = hiding.share_of_holes(hidden.left, rows.y)
        if len(weights) >= FEWEST:
            safe = np.array([member.safe for member in self.members_.members])
            if self._given is not None:
                errors = np.abs(fills[:, *hidden.at] - hidden.degrees).mean(axis=1)
                safe = np.where(np.array(self.members_.names) == "scaled", PLAIN, 1 - PLAIN)
                safe = hiding.weights_by_errors(errors, self._n_spells - FREE_SPELLS, safe)
            at, scale = hidden.at, self._scale
            degrees = scale.of(rows.y[hidden.row])[at]
            judged = scale.of(fills)[:, *at].T, degrees, weights
            best = weights_towards(safe, PULL, *judged).tolist()
            self.weights_ = dict(zip(self.members_.names, best, strict=True))
        # How large errors are, only observed degrees can tell.
        seen = np.flatnonzero(~only_expected[hidden.row, hidden.label])
        fills, variance = fills[:, seen], variance[seen]
        hidden = replace(hidden, weights=weights).take(seen)
        left = replace(rows.take(hidden.row), y=hidden.left)
        mixed = self.members_.mixed(list(self.weights_.values()), left, fills)
        about = error_features(left, mixed, variance, fills)
        return replace(hidden, filled=mixed[hidden.at]), about[hidden.at]

    @property
    def refilled_(self) -> hiding.HiddenCells | None:
        """Return the degrees that were hidden and filled again."""
        if self._refilled is None:
            return None
        found = self._refilled.take(self._refilled.label < self._n_labels)
        return replace(
            found,
            row=self._rows.number[found.row],
            left=found.left[:, : self._n_labels] * self._whole,
            degrees=found.degrees * self._whole,
            filled=found.filled * self._whole,
        )

    @property
    def hole_weights_(self) -> np.ndarray | None:
        """Return how much each refilled degree counts in the expected error at holes."""
        y = self._rows.y
        unlike = self.top_k_ is not None or (self.limited_ and not np.isnan(y).any())
        if self._refilled is None or unlike:
            return None
        if self._given is not None:  # they are as like the holes as can be
            return self._refilled.weights[self._refilled.label < self._n_labels]
        weights = hiding.weights_of_holes(y, self._refilled)
        return None if weights is None else weights[self._refilled.label < self._n_labels]


def learn_completer(kept, n_jobs=None, error="shares") -> Completer:
    """Return what a `HeldOutSample` tells about completing, learned when first asked for."""

    def learn(kept):
        expected = None if kept.lower is None else kept.degrees
        about = kept.groups, expected, kept.loose, kept.hidden_cells(), kept.n_spells
        return Completer(n_jobs=n_jobs, error=error).fit(kept.rows(), kept.predicted, *about)

    return kept.learned(f"completer of {error}", learn)
