"""I2LDL: a map of low rank for frequent labels, and a sparse part for those in tails.

The problem::

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
from typing import Any, ClassVar

import numpy as np

from inldl.engines.base import Sums
from inldl.methods.parameters import Count, NotNegative, Positive, parameters
from inldl.methods.winldl import LinearDistributionEstimator
from inldl.solvers.linear import (
    Array,
    FeatureSums,
    LinearProblem,
    check_finite,
    join_bias,
    split_bias,
)
from inldl.solvers.loop import Sweep
from inldl_paper import solvers
from inldl_paper.solvers.low_rank import LowRankBlock
from inldl_paper.solvers.shrinkage import shrink_singular_values

STRIDE, LEAST_PART = 0.02, 1e-3  # degrees; smaller steps would take forever
SLIGHT = 1e-3  # ridge of the start
NO_DIRECTION = 1e-12  # of the largest eigenvalue: a direction of X that is rounding


@parameters
class I2LDL(LinearDistributionEstimator):
    r"""Incomplete and imbalanced label distributions: a low-rank part and a sparse part (I2LDL).

    .. math:: \min_{W, Q} \tfrac12 \|O \odot (X(W + Q) - D)\|_F^2 + 2 \lambda_1 \|W\|_*
              + \lambda_2 \|Q\|_F^2 + \lambda_3 \|XQ\|_1
              \quad \text{s.t. rows of } X(W + Q) \text{ on the simplex}

    W, of low rank, is meant for labels that are frequent and Q, whose predictions are sparse, for
    those in tails. The problem is convex and solved by ADMM, whose steps are all in closed form.

    Parameters
    ----------
    lam1 : float, default=1e-3
        Weight of the trace norm of W.
    lam2 : float, default=1e-5
        Weight of the squares of Q.
    lam3 : float, default=1e-3
        Weight of the absolute values of XQ.
    rho : float, default=1.0
        The penalty of ADMM. It decides how fast the solution is found, not which.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Coefficients (W + Q)', and the bias of each label.

    See Also
    --------
    InLDLADMM : The low-rank part alone, of predictions instead of coefficients.

    References
    ----------
    Z. Kou, H. Xuan, J. Wang, Y. Jia and X. Geng, "Towards Better Performance in Incomplete LDL:
    Addressing Data Imbalance", arXiv 2410.13579, 2024.
    """

    _converges = True
    lam1: NotNegative = 1e-3
    lam2: NotNegative = 1e-5
    lam3: NotNegative = 1e-3
    rho: Positive = 1.0
    max_iter: Count = 500
    tunable: ClassVar = {
        "lam1": (1e-4, 1e-3, 1e-2, 0.1), "lam2": (1e-5, 1e-3), "lam3": (1e-4, 1e-3, 1e-2)
    }  # fmt: skip

    def _problem(self):
        penalties = self.lam1, self.lam2, self.lam3
        return I2LDLProblem(*penalties, self.rho, bool(self.fit_intercept))


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
        solvers.weighted_simplex_columns(P, seen + rho)
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
