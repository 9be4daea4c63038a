"""The members of the mixture that fills holes, see `inldl.completion.member`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed

from inldl import kernels
from inldl.completion.member import Member, Training
from inldl.completion.normal import Normal
from inldl.rows.density import mean_degrees
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import (
    TINY,
    fill_in_proportion,
    given_observed,
    pairwise_covariance,
)

Array = np.ndarray


class Near:
    """Fill near the prediction: labels that are predicted badly move more than others."""

    name, safe, follows = "near", 0.25, False

    def __init__(self, spread: Array) -> None:
        self.spread = spread

    @classmethod
    def learn(cls, rows: PartialRows, predicted: Array, training: Training) -> Self:
        """Learn the mean squared error of each label."""
        return cls(mean_degrees((rows.y - predicted) ** 2) + TINY)

    def fill(self, rows: PartialRows, predicted: Array, before: Any = None) -> tuple[Array, None]:
        """Return completed rows."""
        return rows.project(predicted, self.spread), None


class Scaled:
    """Fill in proportion to the prediction, as ratios of degrees may say more than differences."""

    name, safe, follows = "scaled", 0.0, False

    @classmethod
    def learn(cls, rows: PartialRows, predicted: Array, training: Training) -> Self:
        """Learn nothing."""
        return cls()

    def fill(self, rows: PartialRows, predicted: Array, before: Any = None) -> tuple[Array, None]:
        """Return completed rows."""
        return fill_in_proportion(rows.y, predicted), None


class RootNormal:
    """Fill with what is expected if the errors of square roots are normal.

    They are of one size for small and large degrees. The square of a normal number of mean m and
    variance v has the mean m^2 + v and the variance 4 m^2 v + 2 v^2.
    """

    name, safe, follows = "root normal", 0.25, False

    def __init__(self, covariance: Array) -> None:
        self.covariance = covariance

    @classmethod
    def learn(cls, rows: PartialRows, predicted: Array, training: Training) -> Self:
        """Learn the covariance of the errors of roots."""
        return cls(pairwise_covariance(_root(rows.y) - _root(predicted)))

    def fill(self, rows: PartialRows, predicted: Array, before: Any = None) -> tuple[Array, Array]:
        """Return completed rows, and the variances of their errors."""
        mean, v = given_observed(_root(rows.y), _root(predicted), self.covariance)
        mean = np.maximum(mean, 0)
        variance = 4 * mean**2 * v + 2 * v**2
        return rows.project(mean**2 + v, variance + TINY), variance


class Forest:
    """Fill with extra trees, one forest for each label.

    The forest of a label learns from all rows in which the label is observed. It sees each of
    them as if the label was missing: the other degrees, the missing ones as the member before
    fills them without the label, which ones are known, their sum, and the prediction.
    """

    name, safe, follows = "forest", 0.0, True

    def __init__(self, forests: list[kernels.ExtraTrees | None], n_jobs: int | None) -> None:
        self.forests, self.n_jobs = forests, n_jobs

    @classmethod
    def learn(cls, rows: PartialRows, predicted: Array, training: Training) -> Self | None:
        """Learn a forest for each label, if there are to be trees."""
        if not training.n_trees:
            return None
        hidden = training.hidden
        left = PartialRows(hidden.left)
        seen = _tree_features(left, training.fill_hidden(), predicted[hidden.rows])

        def grow(label: int, at: Array) -> kernels.ExtraTrees | None:
            if not at.any():
                return None
            how = {"n_trees": training.n_trees, "seed": training.seed + label}
            return kernels.ExtraTrees(seen[at], hidden.degrees[at], **how)

        labels = (hidden.labels == label for label in range(rows.y.shape[1]))
        return cls(_each_label(grow, labels, training.n_jobs), training.n_jobs)

    def fill(self, rows: PartialRows, predicted: Array, before: Any) -> tuple[Array, None]:
        """Return completed rows."""
        holes = rows.holes & (rows.holes.sum(axis=1, keepdims=True) > 1)  # the sum gives one
        seen = _tree_features(rows, before, predicted)

        def predict(label: int, forest: kernels.ExtraTrees | None) -> Array:
            at = holes[:, label]
            if forest is None or not at.any():
                return before[at, label]
            return forest.predict(seen[at])

        out = before.copy()
        for label, values in enumerate(_each_label(predict, self.forests, self.n_jobs)):
            out[holes[:, label], label] = values
        return rows.project(out, np.ones(out.shape[1])), None


class SecondForest(Forest):
    """Go on from the first forest in the same way."""

    name = "second forest"


def _root(values: Array) -> Array:
    return np.sqrt(np.maximum(values, 0))


def _tree_features(rows: PartialRows, filled: Array, predicted: Array) -> Array:
    """Return what trees see of rows."""
    return np.hstack([filled, ~rows.holes, rows.rest[:, None], predicted])


def _each_label(function: Callable, items: Iterable[Any], n_jobs: int | None) -> list[Any]:
    """Return function(label, item) for all labels; no sum goes over threads."""
    calls = (delayed(function)(label, item) for label, item in enumerate(items))
    return Parallel(n_jobs=n_jobs, prefer="threads")(calls)


MEMBERS: list[type[Member]] = [Near, Scaled, Normal, RootNormal, Forest, SecondForest]
