"""Label distributions of low rank, by proximal gradient (InLDL-p) or by ADMM (InLDL-a).

The problem of both::

    min 1/2 |O * (XW - D)|_F^2 + lam |XW|_*     rows of XW on the simplex

O marks the observed degrees; ``|.|_*`` is the trace norm. Both methods regress distributions M
onto X and shrink the singular values of a matrix of the size of D. That matrix lies in blocks of
rows: only its Gram matrix (labels x labels) and the sums of the regression travel.

All matrices are labels x rows or labels x features here.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from inldl import kernels
from inldl.engines.base import Sums
from inldl.solvers.linear import (
    Array,
    FeatureSums,
    LinearProblem,
    Regression,
    RowWeights,
    fitted_with_bias,
    split_bias,
)
from inldl.solvers.loop import Sweep
from inldl_paper import solvers
from inldl_paper.solvers.shrinkage import map_gram, map_norm, shrinker


def times_root(weights: RowWeights, A: Array) -> Array:
    """Return columns of rows that have a weight, multiplied by its root."""
    return A if weights.root is None else A * weights.root


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
        A = times_root(self.weights, A)
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
        apart = times_root(block.weights, block.A - P)
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
        start = Alternating(products, total, regression, *[zero] * 5)
        return self.next(start, Sums((products, total)), sweep)

    def message(self, shared: Alternating) -> tuple[Array, ...]:
        """Return the coefficients of what draws M: rho (Z - U)."""
        return split_bias(self.rho * (shared.Z[0] - shared.U[0]), self.fit_intercept)

    def step(self, block: LowRankBlock, coef: Array, intercept: Array) -> Stepped:
        """Find the next M."""
        M = self._distributions(block, block.fitted(coef, intercept))
        return block, Sums(block.regressed(M))

    def next(self, shared: Alternating, sums: Sums, sweep: Sweep) -> Alternating:
        """Regress M onto X, shrink to Z and move U."""
        coef, intercept = shared.regression(*sums.added)
        P = shared.regression.map(coef, intercept)
        A = P + shared.U
        Z = shrinker(map_gram(A), self.lam / self.rho)[0] @ A
        moved = P, Z, A - Z, shared.Z, shared.U
        return Alternating(coef, intercept, shared.regression, *moved)

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
        solvers.weighted_simplex_columns(pull, seen + pull.dtype.type(self.rho))
        return pull
