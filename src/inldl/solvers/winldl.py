"""WInLDL: weighted least squares onto the simplex, solved by ADMM.

With U the scaled multiplier, targets D~ and squared weights Q^2, one iteration is

::

    W = (X'X + ridge I)^-1 X'(Z - U)                                (equation 11)
    Z = proj((rho (XW + U) + Q^2 D~) / (Q^2 + rho))                 (equations 12, 13)
    U = U + XW - Z                                                  (equation 14)

The penalty rho is the paper's mu. Everything but the first line is row by row: a block keeps its
U and Z, and returns X'(Z - U).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from inldl import kernels
from inldl.engines.base import Sums
from inldl.rows.checks import check_ratios
from inldl.rows.density import fixed_point, sum_completed
from inldl.rows.partial import PartialRows, close_single_holes
from inldl.solvers.linear import (
    Array,
    FeatureSums,
    LinearProblem,
    Regression,
    Rotation,
    RowWeights,
    fitted,
    moments,
    predict_columns,
)
from inldl.solvers.loop import Sweep


@dataclass
class WInLDLBlock:
    """The rows of a block: features, and U and Z, Y and A, thresholds as the kernel has them.

    With weights, all but the features are of the rows that have one. `mapped` are the features
    that the problem maps X to, if they are kept.
    """

    X: Any
    state: Array
    given: Array
    thresholds: Array
    weights: RowWeights
    mapped: Array | None = None
    limited: "LimitedRows | None" = None
    ratios: "RatiosInLanes | None" = None


Stepped = tuple[WInLDLBlock, Sums]


@dataclass
class RatiosInLanes:
    """The ratios of rows, of which Y are some multiple, also as the kernel has them."""

    rows: PartialRows
    lanes: Array

    def put(self, predicted: Array, given: Array) -> None:
        """Scale the degrees Y by predictions, rows x labels, or one for all rows."""
        found = self.rows.scales(predicted)
        groups, _, width = self.lanes.shape
        padded = np.ones(groups * width, given.dtype)
        padded[: len(found)] = found
        np.multiply(self.lanes, padded.reshape(groups, 1, width), out=given[:, :, 0])


@dataclass
class LimitedRows:
    """The rows of a block that bounds or sums constrain; the kernel has all others.

    U, Z, Y and A are of shape rows x labels. `allowed` are the distributions within the limits:
    the target of a missing degree is in the nearest of them. Z may be any distribution. Were
    it one of the allowed, XW would have to be allowed in every row, which hardly any W can do, and
    the multipliers would grow without end.
    """

    rows: Array
    others: Array
    U: Array
    Z: Array
    Y: Array
    A: Array
    allowed: PartialRows

    @classmethod
    def of(cls, known: PartialRows, *parts: Array) -> "LimitedRows":
        """Take the rows that have limits out of U, Z, Y and A."""
        rows = np.flatnonzero(known.informative)
        others = np.setdiff1d(np.arange(len(known)), rows)
        U, Z, Y, A = (part[rows].astype(float) for part in parts)
        return cls(rows, others, U, Z, Y, A, known.take(rows).free())

    def step(self, fitted: Array, missing: Array, impute: bool) -> tuple[Array, float]:
        """Do the row work of one iteration; return Z - U, and the largest change of Z."""
        holes = np.isnan(self.Y)
        nearest = self.allowed.project(fitted if impute else np.zeros(fitted.shape))
        target = np.where(holes, nearest, self.Y)
        ratio = np.where(holes & ~np.isnan(missing), missing, self.A)
        Z = (target + ratio * (fitted + self.U - target)).T.copy(order="C")
        kernels.project_columns(Z, np.ones(len(fitted)))
        Z = Z.T
        change = float(np.abs(Z - self.Z).max())
        self.U, self.Z = self.U + fitted - Z, Z
        return Z - self.U, change


@dataclass(frozen=True)
class WInLDLShared:
    """What a step needs: coefficients, intercept, rho / (Q^2 + rho) of the missing degrees.

    The rest is for the next update.
    """

    t: int
    coef: Array
    intercept: Array
    missing: Array
    means: Array
    change: float
    regression: Regression


@dataclass(frozen=True)
class WInLDLProblem(LinearProblem):
    """The three functions of WInLDL; see the module for the formulas.

    `expand` maps the coefficients solved for to those whose change is watched, if these are
    others. `initial` are coefficients and intercept to start from: Z is then what they predict,
    and the weights of the missing degrees are those of the last iteration from the first one on.
    U = 0 all the same, so that the iterations have the same limit. `header` is that of the rows.

    If only `ratios` are known, the target of an observed degree is its ratio times the scale of
    the row, which follows XW in each iteration (`inldl.rows.partial`). Its weight is that of the
    degree which the same distribution for all rows would make of it.

    If there are `features`, the problem is one on ``features(X)``. They are made in the block,
    wherever that is: no engine and no row source knows of them. They are kept from step to step if
    `keep_features` says so, else made anew in each, with the same result to the bit.
    """

    weighting: Any
    impute: bool
    rho: float
    max_iter: int
    ridge: float
    fit_intercept: bool
    close_rows: bool
    expand: Callable[[Array], Array] | None = None
    initial: tuple[Array, Array] | None = None
    header: PartialRows = field(default_factory=lambda: PartialRows(np.empty((0, 0))))
    ratios: bool = False
    features: Callable[[Any], Array] | None = None
    keep_features: bool = False
    watched = ("coef_change", "degree_change")

    def rotated(self, rotation: Rotation) -> Self:
        """Return the problem for rotated features, of which a free bias is none."""
        initial = self.initial
        if initial is not None:
            coef, intercept = initial
            none = np.zeros_like(intercept)
            free, rotated = (intercept, none) if self.free_bias else (none, intercept)
            initial = rotation.rotated(coef, rotated), free
        if self.free_bias:
            return replace(self, expand=rotation.coefficients, initial=initial)
        return replace(self, fit_intercept=False, expand=rotation.expand, initial=initial)

    def start(
        self, X: Any, y: Array, sample_weight: Array | None = None, **known: Array
    ) -> Stepped:
        """Start at U = 0 and Z = 1/C or what is predicted; return sums of features and degrees.

        `known` are the bounds and sums of missing degrees, as `PartialRows.block` takes them.
        """
        source, X = X, self._mapped(X)
        rows = self.header.block(y, **known)
        weights = RowWeights(sample_weight, X.dtype)
        if weights.kept is not None:
            y, rows = y[weights.kept], rows.take(weights.kept)
        if self.ratios:
            check_ratios(y)
            y = PartialRows(y).ratios
        elif self.close_rows:
            y = close_single_holes(y)
        degrees = np.where(np.isnan(y), 0, y)
        with np.errstate(over="ignore"):
            ratio = self._ratio(self.weighting.observed(degrees))
        U, Z = np.broadcast_to(0.0, y.shape), np.broadcast_to(1 / y.shape[1], y.shape)
        if self.initial is not None:
            Z = weights.take(predict_columns(X, *self.initial)).T
        parts, limited = (U, Z, y, ratio), None
        if rows.constrained and rows.informative.any():  # also without rows of weight 0
            limited = LimitedRows.of(rows, *parts)
            parts = tuple(part[limited.others] for part in parts)
        state, given = lanes(parts[:2], X.dtype), lanes(parts[2:], X.dtype)
        unknown = np.full((len(state), 2, state.shape[-1]), np.nan, state.dtype)
        kept = X if self.keep_features else None
        block = WInLDLBlock(source, state, given, unknown, weights, kept, limited)
        if self.ratios:
            ratios = PartialRows(y, weight=weights.own)
            block.ratios = RatiosInLanes(ratios, given[:, :, 0].copy())
        total = weights.times(degrees.T).sum(axis=1, dtype=float)
        return block, Sums((*FeatureSums.of(X, weights), total))

    def features_of(self, block: WInLDLBlock) -> Any:
        """Return the features of a block that the problem is linear in."""
        return self._mapped(block.X) if block.mapped is None else block.mapped

    def _mapped(self, X: Any) -> Any:
        return X if self.features is None else self.features(X)

    def first(self, sums: Sums, sweep: Sweep) -> WInLDLShared:
        """Factor X'X and regress 1/C onto X."""
        sums = self._settled(sums, sweep)
        features = FeatureSums(*sums.added[:-1])
        regression = Regression(features, self.ridge, self.fit_intercept)
        return self._first(sums, regression, self.initial)

    def _settled(self, sums: Sums, sweep: Sweep) -> Sums:
        """Scale rows of ratios by the distribution that agrees with them; return the new sums."""
        if not self.ratios:
            return sums
        p = fixed_point(lambda p: sweep("settle", p).added, len(sums.added[-1]))
        return Sums((*sums.added[:-1], sweep("settle", p).added[-1]))

    def settle(self, block: WInLDLBlock, p: Array) -> Stepped:
        """Scale rows of ratios by one distribution; return sums of completed rows and degrees."""
        assert block.ratios is not None
        rows = block.ratios.rows
        block.ratios.put(p, block.given)
        degrees = np.where(rows.holes, 0, rows.y * rows.scales(p)[:, None])
        ratio = self._ratio(self.weighting.observed(degrees))
        block.given[:, :, 1] = lanes([ratio], block.given.dtype)[:, :, 0]
        own = np.ones(len(rows)) if rows.weight is None else rows.weight
        return block, Sums((*sum_completed(rows, p), own @ degrees))

    def _first(
        self, sums: Sums, regression: Regression, initial: tuple[Array, Array] | None
    ) -> WInLDLShared:
        _, total, n, _, degrees = sums.added
        C, none = len(degrees), np.empty(0)
        uniform = Sums((np.tile(total / C, (C, 1)), np.full(C, n / C)))
        start = WInLDLShared(0, none, none, none, degrees / n, np.inf, regression)
        shared = self._regressed(start, uniform)
        if initial is None:
            return shared
        return replace(shared, coef=initial[0], intercept=initial[1])

    def message(self, shared: WInLDLShared) -> tuple[Array, ...]:
        """Return coefficients, intercept and the ratios of the missing degrees."""
        return shared.coef, shared.intercept, shared.missing

    def step(self, block: WInLDLBlock, coef: Array, intercept: Array, missing: Array) -> Stepped:
        """Update Z and U of a block; the products and the row work in one pass over its X.

        The sums are (X'R)', R'1 and the largest change of Z.
        """
        X = self.features_of(block)
        dtype = X.dtype
        S = fitted(X, coef.astype(dtype, copy=False))
        S = block.weights.take(S)
        if block.ratios is not None:
            block.ratios.put((S + intercept[:, None]).T, block.given)
        limited = block.limited
        products = S if limited is None else np.ascontiguousarray(S[:, limited.others])
        given, ratios = own_ratios(block.given, missing.astype(dtype, copy=False))
        total, change = kernels.winldl_step(
            products,
            block.state,
            given,
            block.thresholds,
            intercept.astype(dtype, copy=False),
            ratios,
            self.impute,
        )
        if limited is not None:
            there = S[:, limited.rows].T + intercept
            left, moved = limited.step(there.astype(float), missing, self.impute)
            S[:, limited.others], S[:, limited.rows] = products, left.T
            total, change = total + left.sum(axis=0), max(change, moved)
        if block.weights.own is None:  # the kernel has added up the rows
            sums = moments(S, X), total.astype(float, copy=False)
        else:
            sums = block.weights.moments(S, X)
        return block, Sums(sums, (float(change),))

    def next(self, shared: WInLDLShared, sums: Sums, sweep: Sweep) -> WInLDLShared:
        """Regress R onto X."""
        return self._regressed(shared, sums)

    def changes(self, shared: WInLDLShared, sums: Sums) -> dict[str, float]:
        """Return the largest change of a coefficient and of a degree."""
        return {"coef_change": shared.change, "degree_change": sums.largest[0]}

    def _regressed(self, before: WInLDLShared, sums: Sums) -> WInLDLShared:
        coef, intercept = before.regression(*sums.added)
        t, change = before.t + 1, np.inf
        if t > 1:
            moved = coef - before.coef
            if self.expand is not None:
                moved = self.expand(moved)
            change = max(np.abs(moved).max(), np.abs(intercept - before.intercept).max())
        progress = t / self.max_iter if self.initial is None else 1.0
        missing = self._ratio(self.weighting.unobserved(before.means, progress))
        about = before.means, float(change), before.regression
        return WInLDLShared(t, coef, intercept, missing, *about)

    def _ratio(self, weights: Array) -> Array:
        return self.rho / (np.square(weights) + self.rho)


def own_ratios(given: Array, missing: Array) -> tuple[Array, Array | None]:
    """Return Y and A, and the ratios of the missing degrees; None if A holds them, as NaN says."""
    own = np.isnan(missing)
    if not own.any():
        return given, missing
    if not own.all():
        given = given.copy()
        Y, A = given[:, :, 0], given[:, :, 1]
        np.copyto(A, missing[:, None], where=np.isnan(Y) & ~own[:, None])
    return given, None


def lanes(parts: Sequence[Array], dtype: Any) -> Array:
    """Return arrays of rows x labels as groups x labels x arrays x lanes, rows padded with 0."""
    n, C = parts[0].shape
    width = kernels.lane_count(np.dtype(dtype))
    whole, rest = divmod(n, width)
    out = aligned((whole + (rest > 0), C, len(parts), width), dtype)
    out[whole:] = 0
    for i, part in enumerate(parts):
        out[:whole, :, i] = part[: n - rest].reshape(whole, width, C).swapaxes(1, 2)
        out[whole:, :, i, :rest] = part[n - rest :].T
    return out


def aligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return an empty array that starts at a cache line: vectors that span two are slow."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.empty(size + 64, np.uint8)
    first = -memory.ctypes.data % 64
    return memory[first : first + size].view(dtype).reshape(shape)
