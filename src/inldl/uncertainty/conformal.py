"""How large errors are, and how far intervals must reach to hold a share of the degrees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats

from inldl import kernels
from inldl.rows.partial import PartialRows
from inldl.uncertainty.hiding import HiddenCells

Array = np.ndarray
GROUPS = 5  # of similar predictions, for each of which the usual size of an error is estimated
SHARES = (0.5, 0.2, 0.8)  # of an interval that may lie below the prediction
PRIOR_COUNT = 20  # errors of average size that a group or a label starts with
SIZE_TREES, SIZE_LEAF, SIZE_FOLDS = 50, 20, 5  # of the forest that tells the size of an error
FEWEST_ERRORS = 50  # from which it is learned; all are expected to be of one size below
WHOLE_ROWS = 50  # hidden, that tell the errors of rows without an observed degree
WALK, STEEPEST = 0.5, 2.0  # powers of the steps with which errors grow: by default, at most
LEAST_SIZE = 1e-3  # expected error, relative to the mean


def conformal_rank(n: int, coverage: float) -> int:
    """Return how many of n scores must be covered; it may be one more than there are."""
    return math.ceil((n + 1) * coverage - 1e-9)


def conformal(scores: Array, coverage: float) -> float:
    """Return the smallest score that a new one exceeds with at most 1 - coverage; inf if none."""
    rank = conformal_rank(len(scores), coverage)
    return np.partition(scores, rank - 1)[rank - 1] if rank <= len(scores) else np.inf


def beyond_spells(n: float, coverage: float) -> float:
    """Return how much wider intervals are that rest on n spells, whose errors go together.

    That is as much as those of Student's distribution are wider than normal ones.
    """
    tail = (1 + coverage) / 2
    return float(stats.t.ppf(tail, max(n, 2.0)) / stats.norm.ppf(tail)) if np.isfinite(n) else 1.0


def reach_by_label(labels: Sequence[Array], coverage: float | None = None) -> Array:
    """Return how far a share `coverage` of the scores of each label reaches, or else their size.

    That is their root mean square, averaged a little with that of all. Where a label has too few
    scores for the coverage, those of all are taken; it is infinite if these are too few.
    """
    every = np.concatenate(labels)
    if coverage is None:
        total = PRIOR_COUNT * np.mean(every**2)
        return np.sqrt([((s**2).sum() + total) / (len(s) + PRIOR_COUNT) for s in labels])
    own = np.array([conformal(scores, coverage) for scores in labels])
    return np.where(np.isinf(own), conformal(every, coverage), own)


class LabelErrors:
    """The errors of the held-out predictions of one label at its observed degrees.

    The `scale` says how large errors are expected to be, relative to others of predictions of the
    same size.
    """

    def __init__(self, predicted: Array, degrees: Array, scale: Array | float = 1.0) -> None:
        errors = (degrees - predicted) / scale
        self.predicted, self.errors = predicted, errors
        self.centres, self.sizes = [0.0], [1.0]
        if not len(errors):  # only bounds of the label are known
            return
        groups = np.array_split(np.argsort(predicted, kind="stable"), min(GROUPS, len(errors)))
        total = PRIOR_COUNT * np.abs(errors).mean()
        self.centres = [predicted[rows].mean() for rows in groups]
        self.sizes = [
            (np.abs(errors[rows]).sum() + total) / (len(rows) + PRIOR_COUNT) for rows in groups
        ]
        self.errors = errors / self.size(predicted)

    def size(self, predicted: Array) -> Array:
        """Return the usual absolute error of predictions of the given sizes; never 0."""
        sizes = np.interp(predicted, self.centres, self.sizes)
        return np.maximum(sizes, np.finfo(float).tiny)

    def are_enough(self, coverage: float) -> bool:
        """Say whether there are errors enough for intervals of a coverage."""
        return conformal_rank(len(self.errors), coverage) <= len(self.errors)

    def around(
        self, predicted: Array, coverage: float, scale: Array | float = 1.0
    ) -> tuple[Array, Array]:
        """Return the lower and the upper ends of intervals around predictions."""
        below, above = self._reach(coverage)
        return self._interval(predicted, below * scale, above * scale)

    def _reach(self, coverage: float) -> tuple[float, float]:
        """Return how many sizes an interval reaches below and above a prediction.

        A lopsided interval must be narrower by more than chance, since choosing costs coverage.
        """
        if not self.are_enough(coverage):
            return np.inf, np.inf
        reaches, widths = [], []
        for share in SHARES:
            scores = np.maximum(self.errors / (1 - share), -self.errors / share)
            radius = conformal(scores, coverage)
            reaches.append((share * radius, (1 - share) * radius))
            lower, upper = self._interval(self.predicted, *reaches[-1])
            handicap = 0 if share == 0.5 else 2 / math.sqrt(len(scores))
            widths.append((upper - lower).mean() * (1 + handicap))
        return reaches[np.argmin(widths)]

    def _interval(
        self, predicted: Array, below: Array | float, above: Array | float
    ) -> tuple[Array, Array]:
        size = self.size(predicted)
        return (predicted - below * size).clip(0, 1), (predicted + above * size).clip(0, 1)


class SizeForest:
    """Learn the sizes (m,) of errors from features (m, q) that are known before.

    `mean` is their mean, and what is expected of all if they are few. `expected` (m,) is what is
    expected of each from those of other folds.
    """

    def __init__(self, features: Array, sizes: Array, folds: Array, seed: int = 0) -> None:
        leaf = max(2, min(SIZE_LEAF, len(sizes) // 10))
        how: Any = {"n_trees": SIZE_TREES, "min_leaf": leaf, "seed": seed, "max_features": 1.0}
        self.mean, self._forest = sizes.mean(), None
        expected = np.full(len(sizes), self.mean)
        if len(sizes) >= FEWEST_ERRORS:
            for fold in range(SIZE_FOLDS):
                out = folds % SIZE_FOLDS == fold
                if out.any() and not out.all():
                    forest = kernels.ExtraTrees(features[~out], sizes[~out], **how)
                    expected[out] = forest.predict(features[out])
            self._forest = kernels.ExtraTrees(features, sizes, **how)
        self.expected = self._at_least(expected)

    def __call__(self, features: Array) -> Array:
        """Return what is expected of other errors; never 0."""
        if self._forest is None or not len(features):
            return self._at_least(np.full(len(features), self.mean))
        return self._at_least(self._forest.predict(features))

    def _at_least(self, sizes: Array) -> Array:
        return np.maximum(sizes, max(self.mean * LEAST_SIZE, np.finfo(float).tiny))


class Growth:
    """Learn how the sizes (m,) of errors grow with steps, the first of features (m, q).

    They grow with a power of the steps, 1/2 if they are those of a walk.
    """

    mean = 1.0

    def __init__(self, features: Array, sizes: Array) -> None:
        steps, at = np.unique(features[:, 0].clip(1), return_inverse=True)
        self.power, counts = WALK, np.bincount(at)
        if len(steps) > 1:
            mean = np.bincount(at, sizes) / counts + np.finfo(float).tiny
            slope = np.polyfit(np.log(steps), np.log(mean), 1, w=np.sqrt(counts))[0]
            self.power = float(np.clip(slope, 0, STEEPEST))
        self.expected = self(features)

    def __call__(self, features: Array) -> Array:
        """Return what is expected of others, relative to errors of one step."""
        return features[:, 0].clip(1) ** self.power


class ErrorModel:
    """Learn how far degrees are from what is filled in.

    That is learned from observed degrees that were hidden and filled again, each of a label, in a
    row. Errors are seen as shares of the largest that can be. What may tell their size is `about`
    (m, n_features), first that largest one. The errors of a row depend on each other.

    Errors of predictions are all that is known if nothing was hidden, and in rows without an
    observed degree, unless many such rows were among those hidden. `predicted` were made without
    the rows of degrees `y`. Errors of rows of one of the `groups` go together, and only `n_spells`
    of the errors tell something of their own.
    """

    def __init__(
        self,
        y: Array,
        predicted: Array,
        hidden: HiddenCells | None,
        about: Any,
        groups: Array,
        n_spells: float,
        seed: int,
    ) -> None:
        self._groups, self._n_spells = groups, n_spells
        self._of_predictions = [errors[~np.isnan(errors)] for errors in np.abs(y - predicted).T]
        self._hidden, self._about, self._seed = hidden, about, seed
        n_empty = 0 if hidden is None else np.isnan(hidden.left).all(axis=1).sum()
        self.knows_empty_rows = n_empty >= WHOLE_ROWS

    @cached_property
    def _learned(self) -> tuple[SizeForest, list[Array]]:
        """The expected sizes of errors, and what these are relative to them, label by label.

        They are learned when first asked for: plain filling does not need them.
        """
        hidden: Any = self._hidden
        shares = np.abs(hidden.filled - hidden.degrees) / _most(self._about)
        sizes = SizeForest(self._about, shares, self._groups[hidden.row], self._seed)
        scores = shares / sizes.expected
        n_labels = hidden.left.shape[1]
        return sizes, [scores[hidden.label == label] for label in range(n_labels)]

    def reach(self, rows: PartialRows, about: Array, coverage: float | None = None) -> Array:
        """Return how far the degrees of rows may be from what is filled in.

        That is as far as a share `coverage` of them is, or else their root mean squared error.
        `about` (n, n_labels, n_features) is what may tell it.
        """
        predicted = reach_by_label(self._of_predictions, coverage)
        if self._hidden is None:
            return np.broadcast_to(predicted if coverage is None else np.inf, rows.y.shape)
        sizes, scores = self._learned
        expected = sizes(about.reshape(-1, about.shape[-1])).reshape(rows.y.shape)
        reach = expected * _most(about) * reach_by_label(scores, coverage)
        if coverage is not None:
            reach *= beyond_spells(self._n_spells, coverage)
        if self.knows_empty_rows:
            return reach
        return np.where(rows.holes.all(axis=1, keepdims=True), predicted, reach)


def error_features(rows: PartialRows, filled: Array, variance: Array, fills: Array) -> Array:
    """Return for each degree what may tell the size of its error, as the last axis.

    The first is what the row leaves to its holes, which no error can exceed. The others are the
    number of holes, features of the row, what is `filled` in, its expected `variance`, and how far
    the `fills` of several members are apart.
    """
    each = [] if rows.spread_features is None else list(rows.spread_features.T[..., None])
    counts = rows.holes.sum(axis=1, keepdims=True)
    same = np.broadcast_arrays(rows.rest[:, None], counts, *each, filled)[:-1]
    return np.stack([*same, filled, np.sqrt(variance), fills.std(axis=0)], axis=-1)


def _most(about: Array) -> Array:
    """Return the largest errors that there can be; never 0."""
    return np.maximum(about[..., 0], np.finfo(float).tiny ** 0.5)
