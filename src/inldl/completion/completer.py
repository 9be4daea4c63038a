"""Complete rows with a mixture of members, weighed by degrees that were hidden on purpose."""

from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy.stats import norm

from inldl.completion import members
from inldl.completion.asking import RowErrors
from inldl.completion.member import Mixture
from inldl.rows.density import GammaDegrees
from inldl.rows.missingness import (
    fill_top_k,
    largest_holes,
    mechanism_of,
    most_errors,
    top_k_rows,
)
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import error_covariance
from inldl.solvers.linear import weights_towards
from inldl.uncertainty.conformal import ErrorSizes, PredictionErrors, cut_to_rows
from inldl.uncertainty.draws import NUMBERS, TRIALS, JointNormal, Learned, draw_rows
from inldl.uncertainty.hiding import (
    Hidden,
    Refilled,
    hide_each_label,
    share_of_holes,
    weights_of_holes,
)

FOLDS = 5
JUDGED = 10_000  # degrees that are enough to weigh the members; further folds are left out then
JUDGED_NUMBERS = 500_000  # the same, counting all labels of their rows
FEWEST = 20  # degrees that are needed to weigh the members at all
FEWEST_FOR_DRAWS = 100  # degrees that are needed to weigh the centre of draws
PULL = 20.0  # one over the variance with which weights are expected around these
TREES, TRIAL_TREES = 50, 25  # of a label; while members are weighed
ALL_TREES = 600  # of all labels, but at least a fifth of that each
ROWS_FOR_TREES = 60  # at least
WHOLE_ROWS = 50  # hidden, that tell the errors of rows without an observed degree
LABELS_FOR_TREES = 100  # at most
WIDTH = 0.9  # the coverage of intervals whose widths tell the sizes of errors
BLOCK = 1 << 14  # rows that are filled at once


class Completer:
    """Fill the holes of rows from their observed degrees and predictions of the rows.

    The members of `inldl.completion.members` are learned from rows and predictions that were
    made without them. Each observed degree is hidden once, and filled in by members that were
    learned without its row. Weights that are not negative and sum to 1 mix the members such that
    the squared error there is small; few such degrees move them little from weights that are safe.

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
        The degrees that the weights rest on. Fewer than 20 are not enough for that: all weight
        is on filling near the prediction then. None if nothing could be hidden.
    top_k_ : GammaDegrees or None
        What fills holes instead of the members, if only the largest degrees are recorded.
    hole_weights_ : ndarray of shape (m,) or None
        How much each of the refilled degrees counts where the error at holes is estimated, see
        `inldl.uncertainty.hiding`. None if hardly any are like the missing ones.
    limited_ : bool
        Whether some degrees of the rows were not observed, but had limits.
    sizes_ : ErrorSizes
        The expected sizes of errors, if some degrees could be hidden.
    """

    def __init__(self, seed=0, n_jobs=None):
        self.seed = seed
        self.n_jobs = n_jobs

    def fit(self, rows, predicted, groups=None, expected=None) -> "Completer":
        """Learn from rows.

        Parameters
        ----------
        rows : PartialRows
            The rows.
        predicted : ndarray of shape (n, n_labels)
            Predictions, each made without the row.
        groups : ndarray of int of shape (n,), optional
            Rows of one group are held out together.
        expected : ndarray of shape (n, n_labels), optional
            The degrees, where bounds or sums limit some with what is expected of these.

        Returns
        -------
        self
        """
        y = PartialRows(rows.y if expected is None else expected).forced()
        self.top_k_ = None
        if mechanism_of(y) == "rest":
            self.top_k_ = GammaDegrees.learn(top_k_rows(y), by_size=True)
        known = np.flatnonzero(~np.isnan(y).all(axis=1))
        self.limited_ = rows.constrained
        only_expected = rows.take(known).limited if self.limited_ else None
        rows, predicted = replace(rows.unconstrained(), y=y).take(known), predicted[known]
        self._rows = rows, predicted
        self._learned: dict[tuple[int, int], Learned] = {}
        n, n_labels = rows.y.shape
        with_trees = n >= ROWS_FOR_TREES and 2 < n_labels <= LABELS_FOR_TREES
        self._share_of_trees = with_trees * np.clip(ALL_TREES / TREES / n_labels, 0.2, 1)
        for name in ("sizes_", "limited_degrees_", "hole_weights_"):  # of an earlier fit
            vars(self).pop(name, None)
        self.members_, self.refilled_ = self._learn(rows, predicted, TREES), None
        self._of_predictions = PredictionErrors(rows.y, predicted)
        self.weights_ = dict.fromkeys(self.members_.names, 0.0) | {"near": 1.0}
        self._judged = np.empty(0, int)
        groups = np.arange(n) if groups is None else groups[known]
        trials = self._trials(rows, predicted, groups)
        if trials is not None:
            self._weigh(known, rows, only_expected, *trials)
        return self

    def _trials(self, rows, predicted, groups):
        """Hide degrees, and let members fill them that were learned without their rows.

        Returns the hidden degrees, what each member filled in, and expected squared errors; None
        if there are too few rows.
        """
        names, group = np.unique(groups, return_inverse=True)
        folds = np.random.default_rng(self.seed).permutation(len(names))[group] % FOLDS
        n_labels, found, judged = rows.y.shape[1], [], 0
        enough = min(JUDGED, JUDGED_NUMBERS // n_labels)
        if n_labels <= 2:  # a degree is 1 minus the other, or all that is missing
            return None
        for fold in range(FOLDS):
            others = folds != fold
            hidden = hide_each_label(rows.y, self.seed, rows=np.flatnonzero(~others))
            if not len(hidden.rows) or not others.any() or judged >= enough:
                continue
            mixture = self._learn(rows.take(others), predicted[others], TRIAL_TREES)
            left = replace(rows.take(hidden.rows), y=hidden.left)
            fills, variance = mixture.fills(left, predicted[hidden.rows])
            found.append((hidden, fills, variance))
            judged += len(hidden.rows)
        if not found:
            return None
        hidden, fills, variance = zip(*found, strict=True)
        return Hidden.together(hidden), np.concatenate(fills, axis=1), np.concatenate(variance)

    def _learn(self, rows, predicted, most_trees):
        n_trees = int(self._share_of_trees * most_trees)
        return Mixture(members.MEMBERS, rows, predicted, n_trees, self.seed, self.n_jobs)

    def _weigh(self, known, rows, expected_only, hidden, fills, variance):
        """Mix the members such that the error at hidden degrees is small; learn its size."""
        at = np.arange(len(hidden.rows)), hidden.labels
        weights = share_of_holes(hidden.left, rows.y)
        if len(weights) >= FEWEST:
            judged = fills[:, *at].T, hidden.degrees, weights
            best = weights_towards(self.members_.safe, PULL, *judged).tolist()
            self.weights_ = dict(zip(self.members_.names, best, strict=True))
        if expected_only is not None:  # how large errors are, only observed degrees can tell
            seen = np.flatnonzero(~expected_only[hidden.rows, hidden.labels])
            hidden, weights = hidden.some(seen), weights[seen]
            fills, variance = fills[:, seen], variance[seen]
            at = np.arange(len(seen)), hidden.labels
        mixed = self._mixed(fills)
        self._judged = hidden.rows
        self.refilled_ = Refilled(
            known[hidden.rows], hidden.labels, hidden.degrees, mixed[at], hidden.left, weights
        )
        left = replace(rows.take(hidden.rows), y=hidden.left)
        about = _error_features(left, mixed, variance, fills)
        errors = mixed[at] - hidden.degrees
        self._errors = about[at], hidden.rows, hidden.labels, errors, self.seed
        self._hid_rows = np.isnan(hidden.left).all(axis=1).sum() >= WHOLE_ROWS

    @cached_property
    def hole_weights_(self) -> np.ndarray | None:
        """Return how much each refilled degree counts where the error at holes is estimated."""
        found = self.refilled_
        if found is None or self.top_k_ is not None:
            return None
        y = self._rows[0].y
        if self.limited_ and not np.isnan(y).any():
            return None
        return weights_of_holes(y, found)

    def most_errors(self, y, filled) -> np.ndarray:
        """Return the largest sum of absolute errors that the holes of each row can have."""
        return most_errors(self._with_bounds(PartialRows(y)), filled)

    def _with_bounds(self, rows):
        """Return rows whose holes are at most the recorded degrees, if these are the largest."""
        return rows if self.top_k_ is None else top_k_rows(rows.y)

    @cached_property
    def sizes_(self) -> ErrorSizes:
        """Return the expected sizes of errors; plain filling does not need them."""
        return ErrorSizes(*self._errors)

    @cached_property
    def limited_degrees_(self) -> GammaDegrees:
        """Return how degrees vary around what is expected of them."""
        y, predicted = self._rows[0].y, self._rows[1]
        row, label = np.nonzero(~np.isnan(y))
        around = predicted[row, label], y[row, label], label
        if self.refilled_ is not None:
            around = self.refilled_.filled, self.refilled_.degrees, self.refilled_.label
        return GammaDegrees.of_errors(*around, y.shape[1], self.limited_)

    def fill(self, rows, predicted) -> np.ndarray:
        """Return the rows with their holes filled.

        Parameters
        ----------
        rows : PartialRows
            The rows.
        predicted : ndarray of shape (n, n_labels)
            Predictions; those made without the rows, if the rows were learned from.
        """
        out = np.empty(rows.y.shape)
        for at, some in rows.blocks(BLOCK):
            out[at] = self._filled(some, predicted[at])[0]
        some = rows.limited_rows
        if len(some):
            out[some] = self.limited_degrees_.fill_around(out[some], rows.take(some).double())
        return out

    def fill_with_intervals(self, rows, predicted, coverage) -> np.ndarray:
        """Return the rows with their holes filled, and the ends of intervals."""
        out = np.empty((3, *rows.y.shape))
        for at, some in rows.blocks(BLOCK):
            filled, about = self._filled(some, predicted[at])
            out[:, at] = filled, *self._ends(some, filled, about, coverage)
        some = rows.limited_rows
        if len(some):
            limited = rows.take(some).double()
            filled, low, high = out[:, some]
            degrees = self.limited_degrees_
            out[:, some] = degrees.intervals(filled, low, high, limited, coverage)
        return out

    def _ends(self, rows, filled, about, coverage):
        """Return the ends of the intervals of completed rows."""
        reach = np.where(rows.holes, self._reach(rows, about, coverage), 0)
        upper = filled + reach
        if self.top_k_ is not None:
            upper = np.minimum(upper, np.maximum(largest_holes(self._with_bounds(rows)), filled))
        return cut_to_rows(rows, filled, np.maximum(filled - reach, 0), upper)

    def row_errors(self, rows, predicted) -> RowErrors:
        """Return what is known about the errors at the holes of rows, a `RowErrors`.

        There are two estimates of their sizes: spreads, and widths of intervals, which end at what
        is possible. The geometric mean is taken of a spread and of what a normal error would have.
        """
        filled, spread, width = np.empty((3, *rows.y.shape))
        for at, some in rows.blocks(BLOCK):
            filled[at], about = self._filled(some, predicted[at])
            low, high = self._ends(some, filled[at], about, WIDTH)
            spread[at], width[at] = self._reach(some, about), high - low
        spread = np.where(np.isnan(rows.forced()), spread, 0)
        spread = np.sqrt(spread * width / (2 * norm.ppf((1 + WIDTH) / 2)))
        some = rows.limited_rows
        if len(some):
            filled[some] = self.limited_degrees_.fill_around(
                filled[some], rows.take(some).double()
            )
            low, high = rows.possible
            spread = np.minimum(spread, (high - low) / np.sqrt(12))  # as if all were as probable
        learned, predicted = self._rows
        errors = learned.y - self.members_.trusted(predicted)
        return RowErrors(filled, spread, error_covariance(errors))

    def draw(self, rows, predicted, n_draws, seed, first=0) -> np.ndarray:
        """Return completed tables that differ from each other as far as their holes are unsure.

        Parameters
        ----------
        rows, predicted
            As for `fill`.
        n_draws : int
            The number of tables.
        seed : int
            Of the random numbers.
        first : int, default=0
            The number of the first row, if these are some rows of a table.

        Returns
        -------
        ndarray of shape (n_draws, n, n_labels)
            A degree that the row gives is the same in all of them.
        """
        out = np.empty((n_draws, *rows.y.shape))
        size = min(BLOCK, max(1, NUMBERS // ((2 * TRIALS + n_draws) * rows.y.shape[1])))
        for at, some in rows.blocks(size):
            generator = np.random.default_rng([seed, 1, first + at.start])
            out[:, at] = self._drawn(some.double(), predicted[at], n_draws, seed, generator)
        some = rows.limited_rows
        if len(some):
            limited = rows.take(some).double()
            expected = self._filled(limited, predicted[some])[0]
            chance = np.random.default_rng([seed, 2, first])
            out[:, some] = self.limited_degrees_.draw(expected, limited, n_draws, chance)
        return out

    def _could_learn(self, n_draws, seed):
        """Return what could have been learned: the same for all pieces of a table."""
        if (n_draws, seed) not in self._learned:
            rows, predicted = self._rows
            covariates = _covariates(rows, predicted)
            start = self.members_.fill_by("normal", rows, predicted)
            chain = JointNormal(rows.y, covariates, start)
            learned = Learned(chain, n_draws, np.random.default_rng([seed, 0]))
            if self.top_k_ is None and len(self._judged) >= FEWEST_FOR_DRAWS:
                learned.weigh(covariates[self._judged], self.refilled_)
            self._learned = {(n_draws, seed): learned}
        return self._learned[n_draws, seed]

    def _drawn(self, rows, predicted, n_draws, seed, generator):
        """Return draws of rows: by what all rows share, and by chance of their own."""
        filled, about = self._filled(rows, predicted)
        out = np.repeat(filled[None], n_draws, axis=0)
        unsure = np.isnan(rows.forced()).any(axis=1)
        if unsure.any():
            covariates = _covariates(rows, predicted)[unsure]
            rows, filled = rows.unconstrained().take(unsure), filled[unsure]
            spread, learned = self._reach(rows, about[unsure]), self._could_learn(n_draws, seed)
            around = learned.around(rows.y, covariates, filled, generator)
            out[:, unsure] = draw_rows(self._with_bounds(rows), *around, spread)
        return out

    def _reach(self, rows, about, coverage=None):
        """Return how far degrees may be from what is filled in.

        That is as far as a share `coverage` of them is, or else a standard deviation. If nothing
        could be hidden, and in rows of which nothing is known unless such rows were hidden, the
        errors of predictions are all that tells it.
        """
        errors, empty = self._of_predictions, rows.holes.all(axis=1, keepdims=True)
        predicted = errors.spread if coverage is None else errors.reach(coverage)
        if self.refilled_ is None:
            reach = np.broadcast_to(predicted if coverage is None else np.inf, rows.y.shape)
        else:
            sizes = self.sizes_
            reach = sizes.spread(about) if coverage is None else sizes.reach(about, coverage)
            reach = reach if self._hid_rows else np.where(empty, predicted, reach)
        if self.top_k_ is None:
            return reach
        normal = 1.0 if coverage is None else norm.ppf((1 + coverage) / 2)
        return np.maximum(reach, normal * fill_top_k(self.top_k_, top_k_rows(rows.y))[1])

    def _filled(self, rows, predicted):
        """Return completed rows, without their constraints, and what tells the sizes of errors."""
        rows = rows.unconstrained().double()
        fills, variance = self.members_.fills(rows, predicted)
        filled = np.where(rows.holes, self._mixed(fills), rows.y)
        if self.top_k_ is not None:
            filled = fill_top_k(self.top_k_, top_k_rows(rows.y))[0]
        return filled, _error_features(rows, filled, variance, fills)

    def _mixed(self, fills):
        return np.tensordot(list(self.weights_.values()), fills, 1)


def _covariates(rows, predicted):
    """Return the covariates that draws should correlate with."""
    return predicted if rows.features is None else rows.features


def _error_features(rows, filled, variance, fills):
    """Return for each degree what may tell the size of its error, as the last axis.

    The first is what the row leaves to its holes, which no error can exceed.
    """
    each = [] if rows.spread_features is None else list(rows.spread_features.T[..., None])
    counts = rows.holes.sum(axis=1, keepdims=True)
    same = np.broadcast_arrays(rows.rest[:, None], counts, *each, filled)[:-1]
    return np.stack([*same, filled, np.sqrt(variance), fills.std(axis=0)], axis=-1)
