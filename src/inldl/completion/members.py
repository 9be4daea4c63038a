"""Members of the mixture that fills holes: what each must offer, all of them, and their mixture.

A member is learned from rows and predictions that were made without them. It maps rows with holes
and predictions to distributions that keep the observed degrees. To add one, write a class with the
interface of `Member` and add it to `MEMBERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from joblib import Parallel, delayed

from inldl import kernels
from inldl.completion.normal import LogNormal, Normal, RootNormal
from inldl.rows.density import mean_degrees
from inldl.rows.missingness import mechanism_of
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import (
    TINY,
    LogScale,
    RootScale,
    ShareScale,
    fill_in_proportion,
)
from inldl.uncertainty.hiding import HiddenCells, hide_each_label

Array = np.ndarray
FOLDS = 5
JUDGED = 10_000  # degrees that are enough to weigh the members; further folds are left out then
KNOWN_FOR_RANGE = 20  # degrees of a label, whose largest tells how large others can be
EMPTY_ROWS = 100  # of a fold, that tell how rows are filled of which nothing is known
JUDGED_NUMBERS = 500_000  # the same, counting all labels of their rows


class Member(Protocol):
    """One way to fill the holes of rows."""

    name: str
    """Under which its weight is shown."""

    safe: float
    """Its weight before any degree was hidden and filled again; those of all sum to 1."""

    follows: bool
    """Whether it goes on from what the member before it in the list filled in."""

    @classmethod
    def learn(cls, training: Mixture) -> Self | None:
        """Return what is learned from rows and predictions; None if it is to be left out."""

    def fill(
        self, rows: PartialRows, predicted: Array, before: Array | None
    ) -> tuple[Array, Array | None]:
        """Return rows without holes, and the variances of their errors if it knows them.

        `before` is what the member before it made of the rows, if it follows that.
        """


class Mixture:
    """Members that are learned from the same rows, one after the other.

    Members learn from its `rows` and `predicted`, from `hidden` degrees, and from the `members`
    before them. There are `n_trees` trees of a label, if any. Predictions of labels that correlate
    negatively with observed degrees are replaced by their mean.
    """

    def __init__(
        self,
        rows: PartialRows,
        predicted: Array,
        n_trees: int = 0,
        seed: int = 0,
        n_jobs: int | None = None,
        hidden: HiddenCells | None = None,
        scale: ShareScale | None = None,
    ) -> None:
        self.scale = ShareScale(rows.y) if scale is None else scale
        self._contrary, self._means = contrary_labels(rows.y, predicted), predicted.mean(axis=0)
        if hidden is not None:  # paths may point the wrong way, but give nothing away
            self._contrary[:] = False
        self.rows, self.predicted = rows, self.trusted(predicted)
        self.n_trees, self.seed, self.n_jobs = n_trees, seed, n_jobs
        self._hidden, self._filled = hidden, dict[int, Array]()
        self.members: list[Member] = []
        for kind in MEMBERS:
            member = kind.learn(self)
            if member is not None:
                self.members.append(member)

    @property
    def names(self) -> list[str]:
        """Names of the members, in the order of their fills."""
        return [member.name for member in self.members]

    @cached_property
    def hidden(self) -> HiddenCells:
        """Rows of which degrees are hidden: those that were given, or one observed degree each."""
        return hide_each_label(self.rows.y, self.seed) if self._hidden is None else self._hidden

    def fill_hidden(self, n: int | None = None) -> Array:
        """Return what the last of the first n members so far makes of rows with hidden degrees."""
        n = len(self.members) if n is None else n
        if n not in self._filled:
            member = self.members[n - 1]
            before = self.fill_hidden(n - 1) if member.follows else None
            left = replace(self.rows.take(self.hidden.row), y=self.hidden.left)
            predicted = self.predicted[self.hidden.row]
            self._filled[n] = member.fill(left, predicted, before)[0]
        return self._filled[n]

    def trusted(self, predicted: Array) -> Array:
        """Replace predictions that correlate negatively with observed degrees by their mean."""
        return np.where(self._contrary, self._means, predicted)

    def fills(self, rows: PartialRows, predicted: Array) -> tuple[Array, Array]:
        """Return what each member makes of rows, and expected squared errors.

        These are of the last member that knows them.
        """
        predicted, variance = self.trusted(predicted), np.zeros(rows.y.shape)
        fills: list[Array] = []
        for member in self.members:
            filled, known = member.fill(rows, predicted, fills[-1] if fills else None)
            fills.append(filled)
            variance = variance if known is None else known
        return np.array(fills), variance

    @cached_property
    def _most(self) -> Array:
        """How large degrees of each label may become: twice the largest known, if many are."""
        y = self.rows.y
        enough = (~np.isnan(y)).sum(axis=0) >= KNOWN_FOR_RANGE
        if mechanism_of(y) == "large":  # then the largest are not known
            enough[:] = False
        return np.where(enough, 2 * np.fmax.reduce(y, axis=0, initial=0), 1)

    def mixed(self, weights: Array, rows: PartialRows, fills: Array) -> Array:
        """Return rows filled by a mixture, none far above what is known, where rows allow it."""
        mixed = self.scale.back(np.tensordot(weights, self.scale.of(fills), 1))
        filled = rows.project(mixed, np.maximum(mixed, 0) + TINY)
        far = (rows.holes & (filled > self._most)).any(axis=1)
        far &= np.where(rows.holes, self._most, 0).sum(axis=1) > rows.rest
        if far.any():
            some, holes = rows.take(far), rows.holes[far]
            ends = np.where(holes, 0, some.y), np.where(holes, self._most, some.y)
            filled[far] = replace(some, lower=ends[0], upper=ends[1]).project(filled[far])
        return filled


def contrary_labels(y: Array, predicted: Array) -> Array:
    """Return which labels have smaller predictions where their degrees are larger.

    A mean of all other rows is the smaller, the larger the degree of the row itself. Where
    features tell nothing, predictions made without a row are such means: they give it away.
    """
    seen = ~np.isnan(y)
    count = np.maximum(seen.sum(axis=0), 1)
    parts = [np.where(seen, values, 0) for values in (y, predicted)]
    deviations = [np.where(seen, part - part.sum(axis=0) / count, 0) for part in parts]
    return (deviations[0] * deviations[1]).sum(axis=0) < 0


def refilled(
    rows: PartialRows,
    predicted: Array,
    groups: Array,
    learn: Callable[[PartialRows, Array, HiddenCells | None], Mixture],
    seed: int,
    given: HiddenCells | None = None,
) -> tuple[HiddenCells, Array, Array, Array, Array] | None:
    """Hide degrees, or those that are given; let members fill them, learned without their groups.

    Returns the hidden degrees, what each member filled in, and expected squared errors; then some
    rows, and what each member makes of them if all is hidden. None if there are too few rows.
    """
    names, group = np.unique(groups, return_inverse=True)
    folds = np.random.default_rng(seed).permutation(len(names))[group] % FOLDS
    n_labels, found, judged = rows.y.shape[1], [], 0
    enough = min(JUDGED, JUDGED_NUMBERS // n_labels)
    if n_labels <= 2:  # a degree is 1 minus the other, or all that is missing
        return None
    for fold in range(FOLDS):
        others, elsewhere = folds != fold, None
        if given is None:
            hidden = hide_each_label(rows.y, seed, rows=np.flatnonzero(~others))
        else:
            hidden, elsewhere = given.take(~others[given.row]), given.take(others[given.row])
            elsewhere = replace(elsewhere, row=(np.cumsum(others) - 1)[elsewhere.row])
        if not len(hidden.row) or not others.any() or judged >= enough:
            continue
        mixture = learn(rows.take(others), predicted[others], elsewhere)
        left = replace(rows.take(hidden.row), y=hidden.left)
        bare = np.flatnonzero(~others)[:EMPTY_ROWS]
        empty = replace(rows.take(bare), y=np.full((len(bare), n_labels), np.nan))
        made = mixture.fills(empty, predicted[bare])[0]
        found.append((hidden, *mixture.fills(left, predicted[hidden.row]), bare, made))
        judged += len(hidden.row)
    if not found:
        return None
    parts, fills, variance, bare, made = zip(*found, strict=True)
    joined = np.concatenate(fills, axis=1), np.concatenate(variance), np.concatenate(bare)
    return HiddenCells.together(parts), *joined, np.concatenate(made, axis=1)


class Near:
    """Fill near the prediction: labels that are predicted badly move more than others."""

    name, safe, follows = "near", 0.25, False

    def __init__(self, spread: Array) -> None:
        self.spread = spread

    @classmethod
    def learn(cls, training: Mixture) -> Self:
        """Learn the mean squared error of each label."""
        return cls(mean_degrees((training.rows.y - training.predicted) ** 2) + TINY)

    def fill(self, rows: PartialRows, predicted: Array, before: Any = None) -> tuple[Array, None]:
        """Return completed rows."""
        return rows.project(predicted, self.spread), None


class Scaled:
    """Fill in proportion to the prediction, as ratios of degrees may say more than differences."""

    name, safe, follows = "scaled", 0.0, False

    @classmethod
    def learn(cls, training: Mixture) -> Self:
        """Learn nothing."""
        return cls()

    def fill(self, rows: PartialRows, predicted: Array, before: Any = None) -> tuple[Array, None]:
        """Return completed rows."""
        return fill_in_proportion(rows.y, predicted), None


class Forest:
    """Fill with extra trees, one forest for each label.

    The forest of a label learns from all rows in which the label is observed. It sees each of
    them as if the label was missing: the other degrees, the missing ones as the member before
    fills them without the label, which ones are known, their sum, and the prediction.
    """

    name, safe, follows = "forest", 0.0, True

    def __init__(
        self, forests: list[kernels.ExtraTrees | None], scale: ShareScale, n_jobs: int | None
    ) -> None:
        self.forests, self.scale, self.n_jobs = forests, scale, n_jobs

    @classmethod
    def learn(cls, training: Mixture) -> Self | None:
        """Learn a forest for each label, if there are to be trees."""
        if not training.n_trees:
            return None
        hidden, predicted = training.hidden, training.predicted[training.hidden.row]
        seen = _tree_features(PartialRows(hidden.left), training.fill_hidden(), predicted)
        scale = (
            training.scale if isinstance(training.scale, LogScale) else RootScale(training.rows.y)
        )
        degrees = scale.of(training.rows.y[hidden.row])

        def grow(label: int, at: Array) -> kernels.ExtraTrees | None:
            if not at.any():
                return None
            how = {"n_trees": training.n_trees, "seed": training.seed + label}
            return kernels.ExtraTrees(seen[at], degrees[at, label], **how)

        labels = (hidden.label == label for label in range(hidden.left.shape[1]))
        return cls(_each_label(grow, labels, training.n_jobs), scale, training.n_jobs)

    def fill(self, rows: PartialRows, predicted: Array, before: Any) -> tuple[Array, None]:
        """Return completed rows."""
        holes, seen = rows.open_holes, _tree_features(rows, before, predicted)

        def predict(label: int, forest: kernels.ExtraTrees | None) -> Array:
            at = holes[:, label]
            if forest is None or not at.any():
                return self.scale.of(before)[at, label]
            return forest.predict(seen[at])

        out = self.scale.of(before).copy()
        for label, values in enumerate(_each_label(predict, self.forests, self.n_jobs)):
            out[holes[:, label], label] = values
        out = self.scale.back(out)
        return rows.project(out, np.maximum(out, 0) + TINY), None


class SecondForest(Forest):
    """Go on from the first forest in the same way."""

    name = "second forest"


def _tree_features(rows: PartialRows, filled: Array, predicted: Array) -> Array:
    """Return what trees see of rows."""
    return np.hstack([filled, ~rows.holes, rows.rest[:, None], predicted])


def _each_label(function: Callable, items: Iterable[Any], n_jobs: int | None) -> list[Any]:
    """Return function(label, item) for all labels; no sum goes over threads."""
    calls = (delayed(function)(label, item) for label, item in enumerate(items))
    return Parallel(n_jobs=n_jobs, prefer="threads")(calls)


MEMBERS: list[type[Member]] = [Near, Scaled, Normal, LogNormal, RootNormal, Forest, SecondForest]
