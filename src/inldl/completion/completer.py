"""Complete rows with a mixture of members, weighed by degrees that were hidden on purpose."""

from dataclasses import dataclass

import numpy as np

from inldl.completion.hiding import hide_each_label, share_of_holes
from inldl.completion.intervals import ErrorSizes
from inldl.completion.members import Forests, Near, Normal, RootNormal
from inldl.solvers.completion import fill_forced, fill_near
from inldl.solvers.stacking import simplex_weights

FOLDS = 5
FEWEST = 100  # degrees that must be hidden and filled again before anything is learned from them
FEWEST_FOR_TREES = 60  # rows
MOST_LABELS = 100  # for which forests are learned
TREES = 50  # of a label
ALL_TREES = 600  # of all labels together; but at least `FEWEST_TREES` each
FEWEST_TREES = 10


@dataclass(frozen=True, eq=False)
class Refilled:
    """Observed degrees that were hidden, and filled again by what was learned without their rows.

    Attributes
    ----------
    row, label : ndarray of int of shape (m,)
        Where they stand.
    degrees, filled : ndarray of shape (m,)
        What they are, and what was filled in.
    left : ndarray of shape (m, n_labels)
        What was left of their rows.
    weights : ndarray of shape (m,)
        How much each counts, so that rows with many holes count as they do among all holes.
    """

    row: np.ndarray
    label: np.ndarray
    degrees: np.ndarray
    filled: np.ndarray
    left: np.ndarray
    weights: np.ndarray


class Completer:
    """Fill the holes of rows from their observed degrees and predictions of the rows.

    The members of `inldl.completion.members` are learned from rows and predictions that were
    made without them. Each observed degree is hidden once, and filled in by members that were
    learned without its row. Weights that are not negative and sum to 1 mix the members such that
    the squared error there is as small as can be.

    Parameters
    ----------
    seed : int, default=0
        For the folds and the trees.
    n_jobs : int or None, default=None
        Threads; the result is the same to the bit.

    Attributes
    ----------
    weights_ : dict of str to float
        The weight of each member.
    refilled_ : Refilled or None
        The degrees that the weights rest on; None if there are too few to learn from, in which
        case rows are filled near the prediction.
    sizes_ : ErrorSizes
        The expected sizes of errors.
    """

    def __init__(self, seed=0, n_jobs=None):
        self.seed = seed
        self.n_jobs = n_jobs

    def fit(self, y, predicted):
        """Learn from rows.

        Parameters
        ----------
        y : ndarray of shape (n, n_labels)
            Degrees, NaN = unobserved.
        predicted : ndarray of shape (n, n_labels)
            Predictions, each made without the row.

        Returns
        -------
        self
        """
        y = fill_forced(y)
        known = ~np.isnan(y).all(axis=1)
        y, predicted = y[known], predicted[known]
        folds = np.random.default_rng(self.seed).permutation(len(y)) % FOLDS
        hidden = hide_each_label(y, self.seed)
        self.weights_, self.refilled_, self.members_ = {"near": 1.0}, None, None
        if sum(len(part.rows) for part in hidden) >= FEWEST and y.shape[1] > 1:
            self._weigh(y, predicted, hidden, folds)
        return self

    def _weigh(self, y, predicted, hidden, folds):
        """Fill hidden degrees by members that have not seen their rows, and weigh these."""
        row, label = (np.concatenate(a) for a in zip(*((h.rows, h.labels) for h in hidden)))
        left = np.concatenate([part.left for part in hidden])
        found, variance = None, np.empty(left.shape)
        for fold in range(FOLDS):
            members = self._learn(y[folds != fold], predicted[folds != fold])
            at = folds[row] == fold
            fills, variance[at] = members.fills(left[at], predicted[row[at]])
            found = np.empty((len(fills), *left.shape)) if found is None else found
            found[:, at] = fills
        self.members_ = self._learn(y, predicted)
        entries = np.arange(len(row)), label
        weights = share_of_holes(left, y)
        parts, degrees = found[:, *entries].T, y[row, label]
        best = simplex_weights(parts, degrees, weights)
        self.weights_ = dict(zip(self.members_.names, best.tolist(), strict=True))
        mixed = np.tensordot(best, found, 1)
        self.refilled_ = Refilled(row, label, degrees, mixed[entries], left, weights)
        about = _about(left, mixed, variance, found)
        self.sizes_ = ErrorSizes(about[entries], label, mixed[entries] - degrees, self.seed)

    def _learn(self, y, predicted):
        return _Members(y, predicted, self.seed, self.n_jobs)

    def fill(self, y, predicted):
        """Return the rows with their holes filled.

        Parameters
        ----------
        y : ndarray of shape (n, n_labels)
            Degrees, NaN = unobserved.
        predicted : ndarray of shape (n, n_labels)
            Predictions; those made without the rows, if the rows were learned from.
        """
        return self._mixed(y, predicted)[0]

    def fill_with_intervals(self, y, predicted, coverage):
        """Return the rows with their holes filled, and the ends of intervals."""
        filled, about = self._mixed(y, predicted)
        reach = self.sizes_.reach(about, coverage) * np.isnan(y)
        return filled, np.maximum(filled - reach, 0), filled + reach

    def _mixed(self, y, predicted):
        """Return completed rows, and what tells the sizes of their errors."""
        y = y.astype(np.float64)
        if self.members_ is None:
            return fill_near(y, predicted, np.ones(y.shape[1])), None
        fills, variance = self.members_.fills(y, predicted)
        mixed = np.tensordot(list(self.weights_.values()), fills, 1)
        filled = np.where(np.isnan(y), mixed, y)
        return filled, _about(y, filled, variance, fills)


class _Members:
    """All members, learned from the same rows."""

    def __init__(self, y, predicted, seed, n_jobs):
        n, n_labels = y.shape
        self.plain = {"near": Near(y, predicted), "normal": Normal(y, predicted)}
        self.root, self.forests = RootNormal(y, predicted), {}
        if n >= FEWEST_FOR_TREES and n_labels <= MOST_LABELS:
            hidden = hide_each_label(y, seed)
            n_trees = int(np.clip(ALL_TREES // n_labels, FEWEST_TREES, TREES))
            before = self.root
            for name in ("forest", "second forest"):
                before = Forests(
                    before, hidden, predicted, n_trees=n_trees, seed=seed, n_jobs=n_jobs
                )
                self.forests[name] = before

    @property
    def names(self):
        """Names of the members, in the order of their fills."""
        return [*self.plain, "root normal", *self.forests]

    def fills(self, y, predicted):
        """Return what each member makes of rows, and expected squared errors."""
        filled, variance = self.root.with_variance(y, predicted)
        fills = [member(y, predicted) for member in self.plain.values()] + [filled]
        for forest in self.forests.values():  # each goes on from the one before
            fills.append(forest.after(y, predicted, fills[-1]))
        return np.array(fills), variance


def _about(y, filled, variance, fills):
    """Return for each degree what may tell the size of its error, as the last axis."""
    holes = np.isnan(y)
    rest = 1 - np.where(holes, 0, y).sum(axis=1, keepdims=True)
    rows = np.broadcast_arrays(rest, holes.sum(axis=1, keepdims=True), filled)[:2]
    return np.stack([filled, np.sqrt(variance), fills.std(axis=0), *rows], axis=-1)
