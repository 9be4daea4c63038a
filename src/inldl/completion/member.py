"""Members of the mixture that fills holes: what each must offer, and all of them together.

A member is learned from rows and predictions that were made without them. It maps rows with holes
and predictions to distributions that keep the observed degrees. To add one, write a class with the
interface of `Member` and add it to `inldl.completion.members.MEMBERS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from inldl.rows.partial import PartialRows
from inldl.uncertainty.hiding import Hidden, hide_each_label

Array = np.ndarray


class Member(Protocol):
    """One way to fill the holes of rows."""

    name: str
    """Under which its weight is shown."""

    safe: float
    """Its weight before any degree was hidden and filled again; those of all sum to 1."""

    follows: bool
    """Whether it goes on from what the member before it in the list filled in."""

    @classmethod
    def learn(cls, rows: PartialRows, predicted: Array, training: Training) -> Self | None:
        """Return what is learned from rows and predictions; None if it is to be left out."""

    def fill(
        self, rows: PartialRows, predicted: Array, before: Array | None
    ) -> tuple[Array, Array | None]:
        """Return rows without holes, and the variances of their errors if it knows them.

        `before` is what the member before it made of the rows, if it follows that.
        """


@dataclass
class Training:
    """What members may learn from besides the rows, and how."""

    rows: PartialRows
    predicted: Array
    seed: int
    n_trees: int  # of a label
    n_jobs: int | None = None
    members: list[Member] = field(default_factory=list)  # that have been learned so far

    @cached_property
    def hidden(self) -> Hidden:
        """Rows of which one observed degree each is hidden."""
        return hide_each_label(self.rows.y, self.seed)

    def fill_hidden(self) -> Array:
        """Return what the last member so far makes of the rows with hidden degrees."""
        return self._filled(len(self.members))

    def _filled(self, n: int) -> Array:
        if n not in self._kept:
            last = self.members[n - 1]
            before = self._filled(n - 1) if last.follows else None
            left, at = PartialRows(self.hidden.left), self.hidden.rows
            self._kept[n] = last.fill(left, self.predicted[at], before)[0]
        return self._kept[n]

    @cached_property
    def _kept(self) -> dict[int, Array]:
        return {}


class Mixture:
    """All members, learned from the same rows."""

    def __init__(
        self,
        kinds: Sequence[type[Member]],
        rows: PartialRows,
        predicted: Array,
        n_trees: int,
        seed: int,
        n_jobs: int | None = None,
    ) -> None:
        self.contrary, self.means = contrary_labels(rows.y, predicted), predicted.mean(axis=0)
        predicted = self.trusted(predicted)
        training = Training(rows, predicted, seed, n_trees, n_jobs)
        for kind in kinds:
            member = kind.learn(rows, predicted, training)
            if member is not None:
                training.members.append(member)
        self.members = training.members

    @property
    def names(self) -> list[str]:
        """Names of the members, in the order of their fills."""
        return [member.name for member in self.members]

    @property
    def safe(self) -> Array:
        """Weights of the members before any degree is judged."""
        return np.array([member.safe for member in self.members])

    def trusted(self, predicted: Array) -> Array:
        """Replace predictions that correlate negatively with observed degrees by their mean."""
        return np.where(self.contrary, self.means, predicted)

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

    def fill_by(self, name: str, rows: PartialRows, predicted: Array) -> Array:
        """Return what one member makes of rows, which must not follow another."""
        member = self.members[self.names.index(name)]
        return member.fill(rows, self.trusted(predicted), None)[0]


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
