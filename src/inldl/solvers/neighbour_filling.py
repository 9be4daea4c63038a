"""Holes that are filled, round by round, from the neighbours of a row in a space that y shapes.

The holes begin as the mean of the observed degrees of their label. A round projects the rows into
a space of few dimensions, takes for each hole the mean degree of the nearest rows in that space,
and scales the holes of a row so that it sums to 1. The methods differ in the space.
"""

from collections.abc import Callable, Iterator

import numpy as np

from inldl.solvers.completion import fill_in_proportion
from inldl.solvers.loop import Iteration
from inldl.solvers.neighbours import neighbours

Array = np.ndarray
Space = Callable[[Array], Array]
"""Takes degrees without holes to the coordinates of the rows."""


def centred(A: Array, weights: Array) -> Array:
    """Return columns with the weighted mean 0."""
    return A - weights @ A / weights.sum()


def fill_rounds(
    y: Array, weights: Array, space: Space, n_neighbors: int, tol: float
) -> Iterator[Iteration]:
    """Fill the holes of y; it is good enough when the root mean square change is within `tol`."""
    holes = np.isnan(y)
    y = np.where(holes, np.nan, np.maximum(y, 0))
    filled = fill_in_proportion(y, _label_means(y, weights))
    while True:
        nearest = neighbours(space(filled), n_neighbors)[1]
        means = _neighbour_means(filled, nearest, weights)
        before, filled = filled, fill_in_proportion(y, means)
        change = float(np.sqrt(np.mean((filled - before)[holes] ** 2))) if holes.any() else 0.0
        yield filled, {"change": change}, change <= tol


def _label_means(y: Array, weights: Array) -> Array:
    seen = ~np.isnan(y)
    total = weights @ np.where(seen, y, 0)
    return np.broadcast_to(total / (weights @ seen), y.shape)


def _neighbour_means(filled: Array, nearest: Array, weights: Array) -> Array:
    """Return the weighted mean degrees of the neighbours of each row; its own if it has none."""
    if nearest.shape[1] == 0:
        return filled
    own = weights[nearest]
    return np.asarray(np.einsum("nm,nmc->nc", own, filled[nearest]) / own.sum(axis=1)[:, None])
