r"""The cross-entropy of softmax models, lbfgs by L-BFGS or by improved iterative scaling.

Parameters V are features x labels; their last row is the bias where there is one. They are double
precision whatever the features are; products are done in the precision of the features, which
are never copied.

Iterative scaling moves all parameters at once. With :math:`s_i = \sum_k |x_{ik}|`, an iteration
adds to each parameter (k, j) the root of

.. math:: g(\delta) = \sum_{x_{ik} > 0} p_{ij} x_{ik} e^{\delta s_i}
          - \sum_{x_{ik} < 0} p_{ij} |x_{ik}| e^{-\delta s_i} - A_{kj}, \qquad A = X'\tilde D,

which strictly increases. The exponential is interpolated in s at few nodes, so that the sums over
rows become matrix products, done once; Newton's method then runs on all roots together.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from inldl.engines.base import rows_per_block
from inldl.solvers.loop import Iteration, Result, run
from inldl.solvers.softmax import Array, lbfgs, weighted_degrees
from inldl_paper.solvers.linear_scores import Features, log_softmax

CONVERGED = 0  # the status of scipy.optimize when a tolerance was met
NODES = 16
RATIO = 1.5  # of s within a piece: 16 nodes are exact to rounding for |delta| s up to 8
FLOOR = np.log(1e12)  # no parameter moves further than this, in units of 1 / mean(s)
LARGEST_EXPONENT = 30.0  # the largest exponent: g keeps its sign to here, and saturates beyond
ZERO_ROW = 1e-150  # rows with a smaller s count as zero rows
NO_SPREAD = 1e-12  # the relative spread of s that counts as none
NEWTON_STEPS, SETTLED = 100, 1e-13
IN_CACHE = 1 << 14  # numbers that stay in a cache between operations


class CrossEntropy:
    r"""The objective :math:`F(V) = -\sum \tilde D \log P + \tfrac{l_2}{2} \|V\|^2`.

    P is the row softmax of XV, and the degrees D~ are 0 where unobserved; a negative degree
    counts as 0, so that F is convex and bounded below for any numbers. The bias is penalised like
    the rest. Weights of the rows multiply their degrees.
    """

    def __init__(
        self, features: Features, y: Array, l2: float = 0.0, weights: Array | None = None
    ) -> None:
        self.features, self.l2, self.weights = features, l2, weights
        self.degrees = weighted_degrees(y.astype(np.float64), weights)[0]
        self.mass = self.degrees.sum(axis=1, keepdims=True)

    def value(self, V: Array, log_P: Array) -> float:
        """Return F(V), given log P at V."""
        return float(self.l2 / 2 * np.vdot(V, V) - np.vdot(self.degrees, log_P))

    def log_P(self, V: Array) -> Array:
        """Return the logarithm of the predictions at V."""
        return log_softmax(self.features.scores(V))

    def value_and_gradient(self, V: Array) -> tuple[float, Array]:
        """Return F(V) and X'(diag(r) P - D~) + l2 V, where r is the observed mass of each row.

        X'(P - D~), which is often used instead, is the gradient only when rows sum to 1.
        """
        log_P = self.log_P(V)
        residual = self.mass * np.exp(log_P) - self.degrees
        return self.value(V, log_P), self.features.moments(residual) + self.l2 * V


def minimise_cross_entropy(
    problem: CrossEntropy, V: Array, *, max_iter: int, tol: float
) -> Result:
    """Minimise by L-BFGS from V until an iteration lowers F by less than ``tol * max(|F|, 1)``.

    With ``max_iter=0`` the result is V. A `tol` below the precision of the features is raised to
    that, since F is not known any better.
    """
    if max_iter == 0:
        return unchanged(V)
    objective: list[float] = []

    def note(intermediate_result: Any) -> None:
        objective.append(float(intermediate_result.fun))

    precision = float(np.finfo(problem.features.X.dtype).eps)
    limits = {"maxiter": max_iter, "maxfun": 100 * max_iter, "ftol": max(tol, precision)}
    found = lbfgs(problem.value_and_gradient, V, note, gtol=0, **limits)
    objective = objective or [float(found.fun)]  # a start that is the minimum counts as one
    parameters, history = found.x.reshape(V.shape), {"objective": np.array(objective)}
    return Result(parameters, len(objective), found.status == CONVERGED, history)


def unchanged(V: Array) -> Result:
    """Return the result of no iteration."""
    return Result(V, 0, False, {"objective": np.empty(0)})


class ScalingPiece(NamedTuple):
    """Nodes, and blocks of rows whose s lie between them, with the weight of each node in each."""

    nodes: Array
    blocks: list[tuple[Array, Array]]


class ScalingSums(NamedTuple):
    """The sums over rows with x > 0 and over those with x < 0: nodes x features x labels."""

    nodes: Array
    positive: Array
    negative: Array


def scale_iteratively(
    problem: CrossEntropy, V: Array, *, max_iter: int, tol: float, unit_mass: bool
) -> Result:
    """Scale from V until an iteration lowers F by no more than ``tol * max(|F|, 1)``.

    An iteration that would raise F is not done. `unit_mass` lets each row weigh 1 in g, whatever
    its observed degrees sum to; else it weighs that sum, and F is sure to fall.
    """
    if max_iter == 0:
        return unchanged(V)
    scaling = Scaling(problem.features, problem.degrees, problem.weights)
    unit: Array | float = 1.0 if problem.weights is None else problem.weights[:, None]

    def iterations(V: Array) -> Iterator[Iteration]:
        log_P = problem.log_P(V)
        value = problem.value(V, log_P)
        while True:
            P = (unit if unit_mass else problem.mass) * np.exp(log_P)
            candidate = V + scaling.step(P)
            log_P = problem.log_P(candidate)
            fall = value - problem.value(candidate, log_P)
            if fall >= 0:
                V, value = candidate, value - fall
            yield V, {"objective": value}, not fall > tol * max(abs(value), 1.0)

    return run(iterations(V), max_iter)


class Scaling:
    """The update of iterative scaling for given rows and degrees."""

    def __init__(self, features: Features, degrees: Array, weights: Array | None = None) -> None:
        self.features = features
        self.target = features.moments(degrees)
        s = row_sums(features)
        self.s = s[s > ZERO_ROW]
        self.weights = None if weights is None else weights[s > ZERO_ROW]
        self.pieces = cut(s, rows_per_block(features.n_parameters))

    def step(self, P: Array) -> Array:
        """Return the root of g for every parameter, given the (weighted) predictions."""
        if not self.pieces:
            return np.zeros_like(self.target)
        sums = self.sums(P)
        mean = float(np.average(self.s, weights=self.weights))
        a, b = sums.positive.sum(axis=0), sums.negative.sum(axis=0)
        ratio = log_ratio(np.maximum(a, 0), np.maximum(b, 0), self.target)
        start = np.clip(ratio, -FLOOR, FLOOR) / mean
        if len(sums.nodes) == 1:
            return start
        extremes = float(self.s.min()), float(self.s.max())
        bounds = [np.clip(ratio / s, -FLOOR / mean, FLOOR / mean) for s in extremes]
        low, high = np.minimum(*bounds), np.maximum(*bounds)
        low, high = (np.where(np.abs(ratio) < FLOOR, b, start) for b in (low, high))
        return roots(sums, self.target, np.clip(start, low, high), (low, high), 1 / mean)

    def sums(self, P: Array) -> ScalingSums:
        """Return the sums of g, one matrix product for all nodes of a piece."""
        nodes = np.concatenate([piece.nodes for piece in self.pieces])
        totals = [self.total(piece, P) for piece in self.pieces]
        positive, negative = (np.concatenate(part) for part in zip(*totals, strict=True))
        return ScalingSums(nodes, positive, negative)

    def total(self, piece: ScalingPiece, P: Array) -> Array:
        """Return the two sums of a piece, stacked: 2 x nodes x features x labels."""
        (K, C), Q = self.target.shape, len(piece.nodes)
        total = np.zeros((2, K, Q * C))
        for rows, weights in piece.blocks:
            M = (weights[:, :, None] * P[rows][:, None, :]).reshape(len(rows), Q * C)
            X = self.features.X[rows]
            k, m = X.shape[1], M.astype(X.dtype, copy=False)
            total[0, :k] += np.maximum(X, 0).T @ m
            if X.min() < 0:
                total[1, :k] += np.maximum(-X, 0).T @ m
            total[0, k:] += M.sum(axis=0)  # the bias is a feature of ones, if there is one
        return np.ascontiguousarray(total.reshape(2, K, Q, C).transpose(0, 2, 1, 3))


def row_sums(features: Features) -> Array:
    """Return s, the sum of the absolute features of each row, in double precision."""
    X = features.X
    size = rows_per_block(X.shape[1])
    starts = range(0, len(X), size)
    parts = [np.abs(X[i : i + size]).sum(axis=1, dtype=np.float64) for i in starts]
    return np.concatenate(parts) + features.fit_intercept


def cut(s: Array, size: int) -> list[ScalingPiece]:
    """Return pieces of rows whose s differ by `RATIO` at most, in blocks of at most `size` rows.

    Heavy tails of s cost more nodes this way, but neither accuracy nor more work on rows.
    """
    rows = np.flatnonzero(s > ZERO_ROW)
    if rows.size == 0:
        return []
    logs = np.log(s[rows])
    group = ((logs - logs.min()) / np.log(RATIO)).astype(int)
    pieces = []
    for g in np.unique(group):
        members = rows[group == g]
        nodes, weights = interpolation(s[members])
        parts = [slice(i, i + size) for i in range(0, len(members), size)]
        pieces.append(ScalingPiece(nodes, [(members[part], weights[part]) for part in parts]))
    return pieces


def interpolation(s: Array) -> tuple[Array, Array]:
    """Return Chebyshev nodes between the smallest and largest s, and the weights of each row.

    One node is enough where all s are the same; where they are few they are the nodes.
    """
    low, high = s.min(), s.max()
    if high - low <= NO_SPREAD * high:
        return np.array([s.mean()]), np.ones((len(s), 1))
    if len(s) <= NODES:
        return s, np.eye(len(s))
    angle = (2 * np.arange(NODES) + 1) * np.pi / (2 * NODES)
    barycentric = (-1.0) ** np.arange(NODES) * np.sin(angle)
    position = (s - low) / (high - low) * 2 - 1
    gap = position[:, None] - np.cos(angle)
    at_node = np.abs(gap) < 1e-15
    weights = barycentric / np.where(at_node, 1, gap)
    weights /= weights.sum(axis=1, keepdims=True)
    weights = np.where(at_node.any(axis=1, keepdims=True), at_node, weights)
    return (low + high) / 2 + (high - low) / 2 * np.cos(angle), weights


def log_ratio(a: Array, b: Array, A: Array) -> Array:
    """Return log u, where a u - b / u = A: the root of g times s when all s are the same.

    It is 0 for a feature that is 0 throughout, and infinite where g has no root.
    """
    R = np.hypot(A, 2 * np.sqrt(a) * np.sqrt(b))
    over, under = np.where(A > 0, A + R, 2 * b), np.where(A > 0, 2 * a, R - A)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(A == 0, (np.log(b) - np.log(a)) / 2, np.log(over) - np.log(under))
    return np.where(np.isnan(ratio), 0, ratio)


def roots(
    sums: ScalingSums, target: Array, delta: Array, bracket: tuple[Array, Array], unit: float
) -> Array:
    """Return the roots of g by Newton's method, with bisection where a step leaves the bracket.

    Arrays are features x labels; roots that have settled are left out of the next step.
    """
    found, active = delta.copy(), np.ones(delta.shape, dtype=bool)
    low, high = bracket
    moving = active
    for _ in range(NEWTON_STEPS):
        sums = ScalingSums(sums.nodes, sums.positive[:, moving], sums.negative[:, moving])
        delta, target, low, high = (a[moving] for a in (delta, target, low, high))
        value, slope = balance(sums, delta)
        value -= target
        low, high = np.where(value < 0, delta, low), np.where(value > 0, delta, high)
        with np.errstate(over="ignore"):
            step = -value / np.maximum(slope, np.finfo(float).tiny)
        new = delta + np.clip(step, -2 * unit, 2 * unit)
        new = np.where((new < low) | (new > high), (low + high) / 2, new)
        moving, delta = np.abs(new - delta) > SETTLED * unit, new
        found[active] = new
        active[active] = moving
        if not moving.any():
            break
    return found


def balance(sums: ScalingSums, delta: Array) -> tuple[Array, Array]:
    """Return g + A and its derivative at delta, for parameters in one row."""
    value, slope = np.zeros_like(delta), np.zeros_like(delta)
    size = max(1, IN_CACHE // len(delta))
    for i in range(0, len(sums.nodes), size):
        nodes, positive, negative = (part[i : i + size] for part in sums)
        growth = np.exp(np.clip(nodes[:, None] * delta, -LARGEST_EXPONENT, LARGEST_EXPONENT))
        up, down = positive * growth, negative / growth
        value += (up - down).sum(axis=0)
        slope += nodes @ (up + down)
    return value, slope
