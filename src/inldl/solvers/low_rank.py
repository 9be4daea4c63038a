"""Label distributions and maps of low rank: InLDL-p, InLDL-a and I2LDL.

InLDL has label distributions of low rank, by proximal gradient (InLDL-p) or by ADMM (InLDL-a)::

    min 1/2 |O * (XW - D)|_F^2 + lam |XW|_*     rows of XW on the simplex

O marks the observed degrees; ``|.|_*`` is the trace norm. Both methods regress distributions M
onto X and shrink the singular values of a matrix of the size of D. That matrix lies in blocks of
rows: only its Gram matrix (labels x labels) and the sums of the regression travel.

I2LDL has a map of low rank for frequent labels, and a sparse part for those in tails::

    min  1/2 |O * (X(W + Q) - D)|_F^2 + 2 lam1 |W|_* + lam2 |Q|_F^2 + lam3 |XQ|_1
         rows of X(W + Q) on the simplex

The paper writes ``2 |W|_*`` as the smallest ``|U|_F^2 + |V|_F^2`` with W = UV. The problem is
convex. ADMM with copies P = X(W + Q), G = XQ and S = W, scaled multipliers A, B and T of these,
and penalties rho, rho times a part, and rho times a unit of X'X::

    W, Q  by a regression, in closed form from one eigendecomposition of X'X
    P     a weighted quadratic problem on the simplex,  G = soft(XQ + B, lam3/(rho part))
    S     = shrink(W + T, 2 lam1/(rho unit))
    A += X(W + Q) - P,  B += XQ - G,  T += W - S

All matrices are labels x rows or labels x features here.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from inldl import kernels
from inldl.engines import Sums
from inldl.solvers.linear import (
    Array,
    FeatureSums,
    LinearProblem,
    Regression,
    RowWeights,
    check_finite,
    fitted_with_bias,
    join_bias,
    map_gram,
    map_norm,
    shrink_singular_values,
    shrinker,
    split_bias,
)
from inldl.solvers.loop import Sweep

STRIDE, LEAST_PART = 0.02, 1e-3  # degrees; smaller steps would take forever
SLIGHT = 1e-3  # ridge of the start
NO_DIRECTION = 1e-12  # of the largest eigenvalue: a direction of X that is rounding


@dataclass
class LowRankBlock:
    """Rows of features and degrees (NaN = unobserved); A is what InLDL-p shrinks next.

    With weights, Y and A are of the rows that have one.
    """

    X: Any
    Y: Array
    weights: RowWeights
    A: Any = None

    @classmethod
    def of(cls, X: Any, y: Array, sample_weight: Array | None) -> Self:
        """Return a block of some rows."""
        weights = RowWeights(sample_weight, X.dtype)
        return cls(X, weights.take(np.ascontiguousarray(y.T, dtype=X.dtype)), weights)

    def fitted(self, coef: Array, intercept: Array) -> Array:
        """Return XW + b."""
        return self.weights.take(fitted_with_bias(self.X, coef, intercept))

    def regressed(self, M: Array) -> tuple[Array, Array]:
        """Return what a regression of M onto X needs: (X'M)' and M'1."""
        return self.weights.moments(M, self.X)

    def gram(self, A: Array) -> Array:
        """Return A'A of a matrix that has a column for each row."""
        A = self.weights.times_root(A)
        return np.matmul(A, A.T).astype(np.float64, copy=False)


Stepped = tuple[LowRankBlock, Sums]


@dataclass(frozen=True)
class Proximal:
    """Coefficients, and the objective before."""

    coef: Array
    intercept: Array
    regression: Regression
    before: float


@dataclass(frozen=True)
class LowRank(LinearProblem):
    """What both methods share."""

    lam: float
    ridge: float
    fit_intercept: bool


class ProximalProblem(LowRank):
    """InLDL-p. From P = 0: G = P with the observed degrees put in; S = shrink(G, lam);
    M = proj(S); W = regression of M onto X; P = XW.
    """

    watched: ClassVar = ("objective_change",)

    def start(self, X: Any, y: Array, sample_weight: Array | None = None) -> Stepped:
        """Start at P = 0, where G holds the observed degrees."""
        block = LowRankBlock.of(X, y, sample_weight)
        block.A = np.where(np.isnan(block.Y), X.dtype.type(0), block.Y)
        return block, Sums((*FeatureSums.of(X, block.weights), block.gram(block.A)))

    def first(self, sums: Sums, sweep: Sweep) -> Proximal:
        """Make the first proximal step."""
        *features, gram = sums.added
        regression = Regression(FeatureSums(*features), self.ridge, self.fit_intercept)
        return self._move(regression, gram, np.inf, sweep)

    def message(self, shared: Proximal) -> tuple[Array, ...]:
        """Return the coefficients and the intercept."""
        return shared.coef, shared.intercept

    def step(self, block: LowRankBlock, coef: Array, intercept: Array) -> Stepped:
        """Compute P = XW, its loss and its Gram matrix, and G with the Gram matrix of that."""
        P = block.fitted(coef, intercept)
        block.A = np.where(np.isnan(block.Y), P, block.Y)
        apart = block.weights.times_root(block.A - P)
        loss = float(np.vdot(apart, apart)) / 2
        return block, Sums((loss, block.gram(P), block.gram(block.A)))

    def next(self, shared: Proximal, sums: Sums, sweep: Sweep) -> Proximal:
        """Make another proximal step."""
        return self._move(shared.regression, sums.added[2], self._objective(sums), sweep)

    def changes(self, shared: Proximal, sums: Sums) -> dict[str, float]:
        """Return the objective and its relative change."""
        objective = self._objective(sums)
        change = abs(objective - shared.before) / max(abs(shared.before), np.finfo(float).tiny)
        if not np.isfinite(shared.before):
            change = np.inf
        return {"objective": objective, "objective_change": change}

    def _objective(self, sums: Sums) -> float:
        loss, gram, _ = sums.added
        return float(loss + self.lam * shrinker(gram, 0.0)[1])

    def _move(self, regression: Regression, gram: Array, before: float, sweep: Sweep) -> Proximal:
        factor, _ = shrinker(gram, self.lam)
        coef, intercept = regression(*sweep("project", factor).added)
        return Proximal(coef, intercept, regression, before)

    def project(self, block: LowRankBlock, factor: Array) -> Stepped:
        """Shrink the singular values, project onto the simplex, and sum for the regression."""
        M = np.matmul(factor.astype(block.A.dtype, copy=False), block.A)
        kernels.project_columns(M, np.ones(M.shape[1], M.dtype))
        return block, Sums(block.regressed(M))


@dataclass(frozen=True)
class Alternating:
    """Coefficients, and XW, Z and the scaled multiplier U with those before, as maps of X."""

    coef: Array
    intercept: Array
    regression: Regression
    P: Array
    Z: Array
    U: Array
    Z_before: Array
    U_before: Array


@dataclass(frozen=True)
class AlternatingProblem(LowRank):
    """InLDL-a. With U the scaled multiplier: M minimises 1/2 |O * (M - D)|^2 + rho/2 |M - Z + U|^2
    on the simplex; W = regression of M onto X; Z = shrink(XW + U, lam/rho); U += XW - Z.

    Shrinking multiplies by a matrix, so Z and U are linear maps of X, as XW is. They are followed
    by their coefficients: rows hold nothing but their degrees, and are passed once an iteration.
    """

    rho: float
    watched: ClassVar = ("primal_residual", "dual_residual")

    def start(self, X: Any, y: Array, sample_weight: Array | None = None) -> Stepped:
        """Start at Z = U = 0 with the first M."""
        block = LowRankBlock.of(X, y, sample_weight)
        M = self._distributions(block, np.zeros_like(block.Y))
        return block, Sums((*FeatureSums.of(X, block.weights), *block.regressed(M)))

    def first(self, sums: Sums, sweep: Sweep) -> Alternating:
        """Regress the first M onto X."""
        *features, products, total = sums.added
        regression = Regression(FeatureSums(*features), self.ridge, self.fit_intercept)
        zero = regression.map(np.zeros_like(products), np.zeros_like(total))
        return self._move(regression, zero, zero, products, total)

    def message(self, shared: Alternating) -> tuple[Array, ...]:
        """Return the coefficients of what draws M: rho (Z - U)."""
        return split_bias(self.rho * (shared.Z[0] - shared.U[0]), self.fit_intercept)

    def step(self, block: LowRankBlock, coef: Array, intercept: Array) -> Stepped:
        """Find the next M."""
        M = self._distributions(block, block.fitted(coef, intercept))
        return block, Sums(block.regressed(M))

    def next(self, shared: Alternating, sums: Sums, sweep: Sweep) -> Alternating:
        """Regress M onto X, shrink to Z and move U."""
        return self._move(shared.regression, shared.Z, shared.U, *sums.added)

    def changes(self, shared: Alternating, sums: Sums) -> dict[str, float]:
        """Return the two residuals, relative to the size of what they compare."""
        C, n = len(shared.coef), shared.regression.n
        gap, move = map_norm(shared.U - shared.U_before), map_norm(shared.Z - shared.Z_before)
        size = max(map_norm(shared.Z), map_norm(shared.P))
        dual = self.rho * map_norm(shared.U)
        return {
            "primal_residual": gap / (np.sqrt(n) / 10 + size),
            "dual_residual": self.rho * move / (np.sqrt(C) / 10 + dual),
        }

    def _distributions(self, block: LowRankBlock, pull: Array) -> Array:
        """Return M, the solution of a weighted problem on the simplex."""
        seen = ~np.isnan(block.Y)
        pull += np.where(seen, block.Y, 0)
        kernels.weighted_simplex_columns(pull, seen + pull.dtype.type(self.rho))
        return pull

    def _move(
        self, regression: Regression, Z: Array, U: Array, products: Array, total: Array
    ) -> Alternating:
        coef, intercept = regression(products, total)
        P = regression.map(coef, intercept)
        A = P + U
        factor, _ = shrinker(map_gram(A), self.lam / self.rho)
        shrunk = factor @ A
        return Alternating(coef, intercept, regression, P, shrunk, A - shrunk, Z, U)


@dataclass
class I2LDLBlock(LowRankBlock):
    """A block with the copies P and G of its predictions, and with their multipliers A and B."""

    P: Any = None
    G: Any = None
    B: Any = None

    def square(self, M: Array) -> float:
        """Return the sum of squares."""
        return float(self.weights.times(np.einsum("cn,cn->n", M, M, dtype=np.float64)).sum())


class TwoMaps:
    """Find W and Q from what they are regressed onto; X'X is decomposed once.

    They minimise |X(W + Q) - P|^2 + part |XQ - G|^2 + unit |W - S|^2 + shrinkage |Q|^2, where the
    unit is the mean eigenvalue of X'X, so that no term drowns another, however X is scaled.
    """

    def __init__(self, sums: FeatureSums, part: float, shrinkage: float, bias: bool) -> None:
        gram = check_finite(sums.gram_with_bias(bias))
        squares, self.directions = np.linalg.eigh(gram)
        squares = np.where(squares > NO_DIRECTION * squares[-1], squares, 0.0)
        self.bias, self.part, self.squares = bias, part, squares
        self.own = (1 + part) * squares + max(shrinkage, NO_DIRECTION)
        self.unit = max(float(squares.mean()), NO_DIRECTION)
        self.determinant = (squares + self.unit) * self.own - squares**2

    def alone(self, XP: Array) -> Array:
        """Return W if there is no Q, with a slight ridge."""
        ridge = SLIGHT * self.unit
        return XP @ self.directions / (self.squares + ridge) @ self.directions.T

    def __call__(self, XP: Array, XG: Array, S: Array) -> tuple[Array, Array]:
        """Return W and Q from (X'P)', (X'G)' and S."""
        first = (XP + self.unit * S) @ self.directions
        second = (XP + self.part * XG) @ self.directions
        W = (self.own * first - self.squares * second) / self.determinant
        Q = ((self.squares + self.unit) * second - self.squares * first) / self.determinant
        return W @ self.directions.T, Q @ self.directions.T


@dataclass(frozen=True)
class I2LDLShared:
    """W and Q, the copy S of W with its multiplier T, and how far these moved."""

    maps: TwoMaps
    W: Array
    Q: Array
    S: Array
    T: Array
    gap: float
    move: float

    @property
    def coef(self) -> Array:
        """The coefficients of what is predicted."""
        return split_bias(self.W + self.Q, self.maps.bias)[0]

    @property
    def intercept(self) -> Array:
        """Its bias."""
        return split_bias(self.W + self.Q, self.maps.bias)[1]


@dataclass(frozen=True)
class I2LDLProblem(LinearProblem):
    """The problem, for the loop that all linear methods share."""

    lam1: float
    lam2: float
    lam3: float
    rho: float
    fit_intercept: bool
    watched: ClassVar = ("primal_residual", "dual_residual")

    @property
    def part(self) -> float:
        """The penalty of XQ - G, relative to rho: G is shrunk by no less than `STRIDE`."""
        return min(max(self.lam3 / (self.rho * STRIDE), LEAST_PART), 1.0)

    def start(
        self, X: Any, y: Array, sample_weight: Array | None = None
    ) -> tuple[I2LDLBlock, Sums]:
        """Start without multipliers, at distributions that are nothing but observed."""
        block = I2LDLBlock.of(X, y, sample_weight)
        zero = np.zeros_like(block.Y)
        block = replace(block, A=zero, B=zero, P=zero, G=zero)
        block, sums = self._rows(block, zero, zero)
        return block, Sums((*FeatureSums.of(X, block.weights), *sums.added))

    def first(self, sums: Sums, sweep: Sweep) -> I2LDLShared:
        """Make the first regression."""
        *features, XP, P1, XG, G1, _, _, _ = sums.added
        shrinkage = 2 * self.lam2 / self.rho
        maps = TwoMaps(FeatureSums(*features), self.part, shrinkage, self.fit_intercept)
        W = maps.alone(join_bias(XP, P1, maps.bias))
        zero = np.zeros_like(W)
        return self._regressed(I2LDLShared(maps, W, zero, W, zero, 0.0, 0.0), XP, P1, XG, G1)

    def message(self, shared: I2LDLShared) -> tuple[Array, ...]:
        """Return coefficients and intercepts of W + Q and of Q."""
        return shared.coef, shared.intercept, *split_bias(shared.Q, shared.maps.bias)

    def step(self, block: I2LDLBlock, *both: Array) -> tuple[I2LDLBlock, Sums]:
        """Find the next P and G of the rows, and move their multipliers."""
        return self._rows(block, block.fitted(*both[:2]), block.fitted(*both[2:]))

    def next(self, shared: I2LDLShared, sums: Sums, sweep: Sweep) -> I2LDLShared:
        """Regress onto X, and shrink the map of low rank."""
        return self._regressed(shared, *sums.added[:4])

    def changes(self, shared: I2LDLShared, sums: Sums) -> dict[str, float]:
        """Return both residuals, relative to the size of the distributions."""
        *_, gap, move, size = sums.added
        size = np.sqrt(size)
        return {
            "primal_residual": float(np.sqrt(gap + shared.gap) / size),
            "dual_residual": float(self.rho * np.sqrt(move + shared.move) / size),
        }

    def _rows(self, block: I2LDLBlock, F: Array, H: Array) -> tuple[I2LDLBlock, Sums]:
        """Do the work on rows, for F = X(W + Q) and H = XQ."""
        seen, rho = ~np.isnan(block.Y), F.dtype.type(self.rho)
        P = np.where(seen, block.Y, 0) + rho * (F + block.A)
        kernels.weighted_simplex_columns(P, seen + rho)
        pulled, least = H + block.B, F.dtype.type(self.lam3 / (self.rho * self.part))
        G = np.sign(pulled) * np.maximum(np.abs(pulled) - least, 0)
        moved = block.square(P - block.P) + self.part * block.square(G - block.G)
        gap = block.square(F - P) + self.part * block.square(H - G)
        block = replace(block, P=P, G=G, A=block.A + F - P, B=pulled - G)
        drawn = *block.regressed(P - block.A), *block.regressed(G - block.B)
        return block, Sums((*drawn, gap, moved, block.square(P)))

    def _regressed(
        self, shared: I2LDLShared, XP: Array, P1: Array, XG: Array, G1: Array
    ) -> I2LDLShared:
        maps = shared.maps
        XP, XG = join_bias(XP, P1, maps.bias), join_bias(XG, G1, maps.bias)
        W, Q = maps(XP, XG, shared.S - shared.T)
        threshold = 2 * self.lam1 / (self.rho * maps.unit)
        S = shrink_singular_values(W + shared.T, threshold)[0]
        gap, move = (maps.unit * float((A**2).sum()) for A in (W - S, S - shared.S))
        return I2LDLShared(maps, W, Q, S, shared.T + W - S, gap, move)
