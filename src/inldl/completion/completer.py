"""Complete rows with a mixture of members, weighed by degrees that were hidden on purpose."""

from dataclasses import dataclass

import numpy as np

from inldl.completion.hiding import Hidden, hide_each_label, share_of_holes
from inldl.completion.intervals import ErrorSizes
from inldl.completion.mechanism import LargestRecorded
from inldl.completion.members import Forests, Near, Normal, RootNormal
from inldl.solvers.completion import fill_forced
from inldl.solvers.stacking import simplex_weights

FOLDS = 5
JUDGED = 10_000  # degrees that are enough to weigh the members; further folds are left out then
JUDGED_NUMBERS = 500_000  # the same, counting all labels of their rows
FEWEST = 100  # degrees that are needed to weigh the members at all
TREES, TRIAL_TREES = 50, 25  # of a label; while members are weighed
ALL_TREES = 600  # of all labels, but at least a fifth of that each
ROWS_FOR_TREES = 60  # at least
LABELS_FOR_TREES = 100  # at most
BLOCK = 1 << 14  # rows that are filled at once


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
        The degrees that the weights rest on. Fewer than 100 are not enough for that: all weight
        is on filling near the prediction then. None if nothing could be hidden.
    largest_ : LargestRecorded or None
        What fills holes instead of the members, if only the largest degrees are recorded.
    sizes_ : ErrorSizes
        The expected sizes of errors, if some degrees could be hidden.
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
        self.largest_ = LargestRecorded.of(y)
        known = np.flatnonzero(~np.isnan(y).all(axis=1))
        y, predicted = y[known], predicted[known]
        n, n_labels = y.shape
        with_trees = n >= ROWS_FOR_TREES and 2 < n_labels <= LABELS_FOR_TREES
        self._share_of_trees = with_trees * np.clip(ALL_TREES / TREES / n_labels, 0.2, 1)
        self.members_, self.refilled_ = self._learn(y, predicted, TREES), None
        self.weights_ = dict.fromkeys(self.members_.names, 0.0) | {"near": 1.0}
        trials = self._trials(y, predicted)
        if trials is not None:
            self._weigh(known, y, *trials)
        return self

    def _trials(self, y, predicted):
        """Hide degrees, and let members fill them that were learned without their rows.

        Returns the hidden degrees, what each member filled in, and expected squared errors; None
        if there are too few rows.
        """
        folds = np.random.default_rng(self.seed).permutation(len(y)) % FOLDS
        enough, found, judged = min(JUDGED, JUDGED_NUMBERS // y.shape[1]), [], 0
        if y.shape[1] <= 2:  # a degree is 1 minus the other, or all that is missing
            return None
        for fold in range(FOLDS):
            others = folds != fold
            hidden = hide_each_label(y, self.seed, rows=np.flatnonzero(~others))
            if not len(hidden.rows) or not others.any() or judged >= enough:
                continue
            members = self._learn(y[others], predicted[others], TRIAL_TREES)
            fills, variance = members.fills(hidden.left, predicted[hidden.rows])
            found.append((hidden, fills, variance))
            judged += len(hidden.rows)
        if not found:
            return None
        hidden, fills, variance = zip(*found, strict=True)
        return Hidden.together(hidden), np.concatenate(fills, axis=1), np.concatenate(variance)

    def _learn(self, y, predicted, most_trees):
        n_trees = int(self._share_of_trees * most_trees)
        return _Members(y, predicted, n_trees, self.seed, self.n_jobs)

    def _weigh(self, known, y, hidden, fills, variance):
        """Mix the members such that the error at hidden degrees is small; learn its size."""
        at = np.arange(len(hidden.rows)), hidden.labels
        weights = share_of_holes(hidden.left, y)
        if len(weights) >= FEWEST:
            best = simplex_weights(fills[:, *at].T, hidden.degrees, weights)
            self.weights_ = dict(zip(self.members_.names, best.tolist(), strict=True))
        mixed = self._mixed(fills)
        self.refilled_ = Refilled(
            known[hidden.rows], hidden.labels, hidden.degrees, mixed[at], hidden.left, weights
        )
        about = _about(hidden.left, mixed, variance, fills)
        errors = mixed[at] - hidden.degrees
        self.sizes_ = ErrorSizes(about[at], hidden.rows, hidden.labels, errors, self.seed)

    def fill(self, y, predicted):
        """Return the rows with their holes filled.

        Parameters
        ----------
        y : ndarray of shape (n, n_labels)
            Degrees, NaN = unobserved.
        predicted : ndarray of shape (n, n_labels)
            Predictions; those made without the rows, if the rows were learned from.
        """
        out = np.empty(y.shape)
        for rows in _blocks(len(y)):
            out[rows] = self._filled(y[rows], predicted[rows])[0]
        return out

    def fill_with_intervals(self, y, predicted, coverage):
        """Return the rows with their holes filled, and the ends of intervals."""
        out = np.empty((3, *y.shape))
        for rows in _blocks(len(y)):
            filled, about = self._filled(y[rows], predicted[rows])
            reach = np.inf if self.refilled_ is None else self.sizes_.reach(about, coverage)
            reach = np.where(np.isnan(y[rows]), reach, 0)
            upper = filled + reach
            if self.largest_ is not None:
                upper = np.minimum(upper, np.maximum(self.largest_.limits(y[rows]), filled))
            out[:, rows] = filled, np.maximum(filled - reach, 0), upper
        return out

    def _filled(self, y, predicted):
        """Return completed rows, and what tells the sizes of their errors."""
        y = y.astype(np.float64)
        fills, variance = self.members_.fills(y, predicted)
        filled = np.where(np.isnan(y), self._mixed(fills), y)
        if self.largest_ is not None:
            filled = self.largest_.fill(y)
        return filled, _about(y, filled, variance, fills)

    def _mixed(self, fills):
        return np.tensordot(list(self.weights_.values()), fills, 1)


class _Members:
    """All members, learned from the same rows."""

    def __init__(self, y, predicted, n_trees, seed, n_jobs):
        self.plain = {"near": Near(y, predicted), "normal": Normal(y, predicted)}
        self.root, self.forests = RootNormal(y, predicted), {}
        if n_trees:
            hidden = hide_each_label(y, seed)
            left, p = hidden.left, predicted[hidden.rows]
            filled = self.root(left, p)
            for name in ("forest", "second forest"):  # each goes on from the one before
                how = {"n_trees": n_trees, "seed": seed, "n_jobs": n_jobs}
                forest = self.forests[name] = Forests(hidden, filled, p, **how)
                filled = forest.after(left, p, filled)

    @property
    def names(self):
        """Names of the members, in the order of their fills."""
        return [*self.plain, "root normal", *self.forests]

    def fills(self, y, predicted):
        """Return what each member makes of rows, and expected squared errors."""
        filled, variance = self.root.with_variance(y, predicted)
        fills = [member(y, predicted) for member in self.plain.values()] + [filled]
        for forest in self.forests.values():
            fills.append(forest.after(y, predicted, fills[-1]))
        return np.array(fills), variance


def _blocks(n):
    return [slice(start, start + BLOCK) for start in range(0, n, BLOCK)]


def _about(y, filled, variance, fills):
    """Return for each degree what may tell the size of its error, as the last axis.

    The first is what the row leaves to its holes, which no error can exceed.
    """
    holes = np.isnan(y)
    rest = 1 - np.where(holes, 0, y).sum(axis=1, keepdims=True)
    rows = np.broadcast_arrays(rest, holes.sum(axis=1, keepdims=True), filled)[:2]
    return np.stack([*rows, filled, np.sqrt(variance), fills.std(axis=0)], axis=-1)
