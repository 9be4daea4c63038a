"""Predict the rows of a panel from each other: paths of units along time, around several bases.

A way to predict is a scale (shares, or their logarithms, in which ratios of labels have paths), a
base (means of labels; levels of units and effects of times; a prediction from features), and how
rows of a unit go together. Each is linear, and quick. `inldl.completion.panel` mixes them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from inldl import kernels
from inldl.rows.density import mean_degrees
from inldl.rows.panel import Panel
from inldl.solvers.gaussian import TINY

Array = np.ndarray
NEAR_ROWS = 32  # of a unit that are used for a row, the nearest in time
# How rows of a unit go together: signal, smoothness, reach, season; see `kernels.covariance`
ALONE, UNIT_LEVEL = (0.0, 0.0, 1.0, 0.0), (3.0, 0.0, 1.0, 0.0)
ALONG_TIME = (
    (10.0, 0.5, 10.0, 0.0),
    (1e4, 0.5, 200.0, 0.0),  # nearly linear between the nearest rows
    (1e3, 1.5, 10.0, 0.0),
    (10.0, 1.5, 40.0, 0.0),
    (1.0, 2.5, 150.0, 0.0),
)
SIMPLE = ALONG_TIME[1]  # interpolation, and the last value beyond
SIMPLE_WEIGHT = 0.25  # of that before errors are known; all ways have 1 together
FEATURE_BASES = 2  # and those that follow are what features tell
SEASONAL = ((3.0, 0.0, 1.0, 1.0), (10.0, 0.5, 30.0, 1.0))
TIME_REACH = 6.0  # steps within which effects of times are alike
EFFECT_ROUNDS = 6  # of estimating levels of units and effects of times in turns
LEVEL_PRIOR = 0.5  # rows that say that a unit is like all others
MOST_EFFECTS = 400  # with an effect of their own; of more, neighbours share one
LEAST_SHARE = 1e-5  # added to shares before logarithms are taken, at least
BEYOND = 0.7  # how far logarithms may go beyond those that are known


class Ways:
    """Ways to predict the rows of a panel from each other.

    Parameters
    ----------
    panel : Panel
        Where the rows belong.
    y : ndarray of shape (n, n_labels)
        Degrees, NaN = unobserved.
    told : ndarray of shape (n, n_labels), optional
        What features tell of the rows, each without its own degrees.
    """

    def __init__(self, panel: Panel, y: Array, told: Array | None = None) -> None:
        self.panel, self.known = panel, ~np.isnan(y)
        self.shapes = np.array(_shapes(panel))
        positive = np.where(y > 0, y, np.inf).min(axis=0, initial=np.inf)
        self._added = np.maximum(np.where(np.isfinite(positive), positive, 0) / 2, LEAST_SHARE)
        values = self._on_both_scales(y)
        logs = values[1]
        self._ends = (
            np.fmin.reduce(logs, axis=0, initial=np.inf) - BEYOND,
            np.fmax.reduce(logs, axis=0, initial=-np.inf) + BEYOND,
        )
        told = None if told is None else np.hstack([*self._on_both_scales(told)])
        bases = _bases_of(panel, np.hstack([*values]), told)
        self._bases = np.array([np.hsplit(base, 2) for base in bases])  # bases, scales, n, C
        units = panel.units
        sizes = np.array([len(unit) for unit in units])
        order, ends = np.concatenate(units), np.cumsum(sizes)
        self._place = np.argsort(order)  # of rows in the order of units and times
        errors = (values - self._bases).reshape(-1, *y.shape)[:, order]
        whole = np.repeat(ends - sizes, sizes), np.repeat(ends, sizes)
        self._ordered = errors, self.known[order], panel.positions[order], *whole

    @property
    def shape(self) -> tuple[int, int, int]:
        """Return the numbers of bases, scales and shapes."""
        return *self._bases.shape[:2], len(self.shapes)

    @property
    def trust(self) -> Array:
        """Return weights of the ways before errors of any are known.

        Errors of a few spells tell little; then interpolation is hard to beat. Paths around what
        features tell hardly differ, and count together as one.
        """
        trust = np.ones(self.shape)
        trust[FEATURE_BASES:] /= len(self.shapes)
        simple = (self.shapes == SIMPLE).all(axis=1)
        trust[0, :, simple] += SIMPLE_WEIGHT * trust.sum() / self.shape[1]
        return trust / trust.sum()

    def _on_both_scales(self, degrees: Array) -> Array:
        return np.array([degrees, np.log(np.maximum(degrees, 0) + self._added)])

    def predict(self, rows: Array | None = None, used: Array | None = None) -> Array:
        """Return what each way says of rows, of shape (n_bases, n_scales, n_shapes, m, C).

        All rows are predicted by default, by all ways or those that are `used`, a boolean array;
        the others keep their base.
        """
        rows = np.arange(len(self.known)) if rows is None else rows
        used = np.ones(self.shape, bool) if used is None else used
        moves = kernels.predict_paths(
            *self._ordered,
            self._place[rows],
            self.shapes,
            self.panel.period or 0.0,
            used.reshape(-1, len(self.shapes)),
            NEAR_ROWS,
        ).reshape(*self.shape, len(rows), -1)
        moves += self._bases[:, :, None, rows]
        np.clip(moves[:, 0], 0, 1, out=moves[:, 0])
        logs = np.clip(moves[:, 1], *self._ends, out=moves[:, 1])
        np.maximum(np.exp(logs, out=logs) - self._added, TINY, out=logs)
        return moves


def _shapes(panel: Panel) -> list[tuple[float, ...]]:
    """Return how rows of a unit may go together."""
    if panel.time is None:
        return [ALONE, UNIT_LEVEL]
    return [ALONE, UNIT_LEVEL, *ALONG_TIME, *(SEASONAL if panel.period else ())]


def _bases_of(panel: Panel, values: Array, told: Array | None) -> list[Array]:
    """Return what paths are taken around."""
    found = [np.broadcast_to(mean_degrees(values), values.shape), effects(panel, values)]
    if told is not None:
        found += [told, told + effects(panel, values - told)]
    return found


def effects(panel: Panel, values: Array) -> Array:
    """Return means of columns, plus levels of units, plus effects of times that vary smoothly."""
    seen, means = ~np.isnan(values), mean_degrees(values)
    times, when = _times_of(panel)
    n_rows = _sums(panel.unit, seen, panel.n_units)
    smooth = _smoother(times, _sums(when, seen, len(times)))
    moves = np.zeros((len(times), values.shape[1]))
    for _ in range(EFFECT_ROUNDS):
        rest = np.where(seen, values - means - moves[when], 0)
        levels = _sums(panel.unit, rest, panel.n_units) / (n_rows + LEVEL_PRIOR)
        if panel.time is None:
            break
        rest = np.where(seen, values - means - levels[panel.unit], 0)
        moves = smooth(_sums(when, rest, len(times)))
    return means + levels[panel.unit] + moves[when]


def _times_of(panel: Panel) -> tuple[Array, Array]:
    """Return times that have effects, and which of them each row has."""
    times, when = np.unique(panel.positions, return_inverse=True)
    if len(times) <= MOST_EFFECTS:
        return times, when
    parts = np.array_split(times, MOST_EFFECTS)
    shared = np.repeat(np.arange(MOST_EFFECTS), [len(part) for part in parts])
    return np.array([part.mean() for part in parts]), shared[when]


def _sums(groups: Array, values: Array, n_groups: int) -> Array:
    """Return the sums of the rows of each group."""
    columns = [np.bincount(groups, column, minlength=n_groups) for column in values.T]
    return np.stack(columns, axis=1)


def _smoother(times: Array, counts: Array) -> Callable[[Array], Array]:
    """Return a function that smooths sums along time; means of few rows count less."""
    common = 1 + np.exp(-np.abs(times[:, None] - times) / TIME_REACH)
    patterns, which = np.unique(counts, axis=1, return_inverse=True)
    smoothers = []
    for count in patterns.T:
        some = np.flatnonzero(count)
        noisy = common[np.ix_(some, some)] + np.diag(1 / count[some])
        full = np.zeros(common.shape)
        full[:, some] = np.linalg.solve(noisy, common[some]).T / count[some]
        smoothers.append(full)
    return lambda sums: np.stack(
        [smoothers[i] @ column for i, column in zip(which.ravel(), sums.T, strict=True)], axis=1
    )
