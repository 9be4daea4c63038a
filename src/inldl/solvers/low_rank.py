"""InLDL: low-rank label distributions, by proximal gradient (InLDL-p) or by ADMM (InLDL-a).

    min 1/2 |O * (XW - D)|_F^2 + lam |XW|_*     rows of XW on the simplex

O marks the observed degrees and |.|_* is the trace norm. Both methods regress distributions M onto
X and shrink the singular values of a matrix of the size of D. That matrix lies in blocks of rows:
only its Gram matrix (labels x labels) and the sums of the regression travel. All matrices are
labels x rows here.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from inldl import _kernels
from inldl._engines import Sums
from inldl.solvers.admm import Sweep
from inldl.solvers.linear import Array, FeatureSums, Regression, fitted, moments


@dataclass
class Block:
    """Rows of features and degrees (NaN = unobserved), and the state of the method.

    A is what is shrunk next; U and Z are the scaled multiplier and the split variable of ADMM.
    """

    X: Any
    Y: Array
    A: Array
    U: Any = None
    Z: Any = None


@dataclass(frozen=True)
class Shared:
    """Coefficients, the matrix that shrinks singular values, and numbers for the history."""

    coef: Array
    intercept: Array
    regression: Regression
    factor: Array
    before: float = np.inf
    size: float = 0.0


@dataclass(frozen=True)
class LowRank:
    """What both methods share."""

    lam: float
    ridge: float
    fit_intercept: bool

    def _fitted(self, block: Block, coef: Array, intercept: Array) -> Array:
        dtype = block.X.dtype
        P = fitted(block.X, coef.astype(dtype, copy=False))
        P += intercept.astype(dtype, copy=False)[:, None]
        return P


def _regressed(M: Array, X: Any) -> tuple[Array, Array]:
    """Return what a regression of M onto X needs: (X'M)' and M'1."""
    return moments(M, X), M.sum(axis=1, dtype=np.float64)


def _gram(A: Array) -> Array:
    return np.matmul(A, A.T).astype(np.float64, copy=False)


def _square(A: Array) -> float:
    return float(np.vdot(A, A))


def _columns(y: Array, dtype: Any) -> Array:
    return np.ascontiguousarray(y.T, dtype=dtype)


class ProximalProblem(LowRank):
    """InLDL-p. From P = 0: G = P with the observed degrees put in; S = shrink(G, lam);
    M = proj(S); W = regression of M onto X; P = XW.
    """

    watched: ClassVar = ("objective_change",)

    def start(self, X: Any, y: Array) -> tuple[Block, Sums]:
        """Start at P = 0, where G holds the observed degrees."""
        Y = _columns(y, X.dtype)
        G = np.where(np.isnan(Y), X.dtype.type(0), Y)
        return Block(X, Y, G), Sums((*FeatureSums.of(X), _gram(G)))

    def first(self, sums: Sums, sweep: Sweep) -> Shared:
        """Make the first proximal step."""
        *features, gram = sums.added
        regression = Regression(FeatureSums(*features), self.ridge, self.fit_intercept)
        return self._move(regression, gram, np.inf, sweep)

    def message(self, shared: Shared) -> tuple[Array, ...]:
        """Return the coefficients and the intercept."""
        return shared.coef, shared.intercept

    def step(self, block: Block, coef: Array, intercept: Array) -> tuple[Block, Sums]:
        """Compute P = XW, its loss and its Gram matrix, and G with the Gram matrix of that."""
        P = self._fitted(block, coef, intercept)
        seen = ~np.isnan(block.Y)
        block.A = np.where(seen, block.Y, P)
        return block, Sums((_square(block.A - P) / 2, _gram(P), _gram(block.A)))

    def next(self, shared: Shared, sums: Sums, sweep: Sweep) -> Shared:
        """Make another proximal step."""
        return self._move(shared.regression, sums.added[2], self._objective(sums), sweep)

    def changes(self, shared: Shared, sums: Sums) -> dict[str, float]:
        """Return the objective and its relative change."""
        objective = self._objective(sums)
        change = abs(objective - shared.before) / max(abs(shared.before), np.finfo(float).tiny)
        if not np.isfinite(shared.before):
            change = np.inf
        return {"objective": objective, "objective_change": change}

    def _objective(self, sums: Sums) -> float:
        loss, gram, _ = sums.added
        return float(loss + self.lam * _kernels.shrinker(gram, 0.0)[1])

    def _move(self, regression: Regression, gram: Array, before: float, sweep: Sweep) -> Shared:
        factor, _ = _kernels.shrinker(gram, self.lam)
        coef, intercept = regression(*sweep(self._project, factor).added)
        return Shared(coef, intercept, regression, factor, before)

    def _project(self, block: Block, factor: Array) -> tuple[Block, Sums]:
        M = np.matmul(factor.astype(block.A.dtype, copy=False), block.A)
        _kernels.project_columns(M, np.ones(M.shape[1], M.dtype))
        return block, Sums(_regressed(M, block.X))


@dataclass(frozen=True)
class AlternatingProblem(LowRank):
    """InLDL-a. With U the scaled multiplier: M minimises 1/2 |O * (M - D)|^2 + rho/2 |M - Z + U|^2
    on the simplex; W = regression of M onto X; Z = shrink(XW + U, lam/rho); U += XW - Z.
    """

    rho: float
    watched: ClassVar = ("primal_residual", "dual_residual")

    def start(self, X: Any, y: Array) -> tuple[Block, Sums]:
        """Start at Z = U = 0 with the first M."""
        Y = _columns(y, X.dtype)
        block = Block(X, Y, Y, U=np.zeros_like(Y), Z=np.zeros_like(Y))
        return block, Sums((*FeatureSums.of(X), *self._distributions(block)))

    def first(self, sums: Sums, sweep: Sweep) -> Shared:
        """Regress the first M onto X."""
        features, regressed = FeatureSums(*sums.added[:4]), sums.added[4:]
        return self._move(Regression(features, self.ridge, self.fit_intercept), regressed, sweep)

    def message(self, shared: Shared) -> tuple[Array, ...]:
        """Return the matrix that shrinks singular values."""
        return (shared.factor,)

    def step(self, block: Block, factor: Array) -> tuple[Block, Sums]:
        """Shrink to Z, move U, and find the next M."""
        Z = np.matmul(factor.astype(block.A.dtype, copy=False), block.A)
        U = block.A - Z  # so that U less its old value is XW - Z
        norms = [_square(a) for a in (U - block.U, Z, Z - block.Z, U)]
        block.U, block.Z = U, Z
        return block, Sums((*self._distributions(block), *norms, Z.shape[1]))

    def next(self, shared: Shared, sums: Sums, sweep: Sweep) -> Shared:
        """Regress M onto X."""
        return self._move(shared.regression, sums.added[:2], sweep)

    def changes(self, shared: Shared, sums: Sums) -> dict[str, float]:
        """Return the two residuals, relative to the size of what they compare."""
        C = len(sums.added[1])
        gap, size, move, dual = np.sqrt(sums.added[2:6])
        n = sums.added[6]
        return {
            "primal_residual": float(gap / (np.sqrt(n) / 10 + max(size, shared.size))),
            "dual_residual": float(self.rho * move / (np.sqrt(C) / 10 + self.rho * dual)),
        }

    def _distributions(self, block: Block) -> tuple[Array, Array]:
        """Return the sums of M, the solution of a weighted problem on the simplex."""
        seen = ~np.isnan(block.Y)
        rho = block.Y.dtype.type(self.rho)
        M = np.where(seen, block.Y, 0) + rho * (block.Z - block.U)
        _kernels.weighted_simplex_columns(M, seen + rho)
        return _regressed(M, block.X)

    def _move(self, regression: Regression, regressed: Any, sweep: Sweep) -> Shared:
        coef, intercept = regression(*regressed)
        gram, size = sweep(self._advance, coef, intercept).added
        factor, _ = _kernels.shrinker(gram, self.lam / self.rho)
        return Shared(coef, intercept, regression, factor, size=float(np.sqrt(size)))

    def _advance(self, block: Block, coef: Array, intercept: Array) -> tuple[Block, Sums]:
        """Put XW + U into A."""
        P = self._fitted(block, coef, intercept)
        block.A = P + block.U
        return block, Sums((_gram(block.A), _square(P)))
