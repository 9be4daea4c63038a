r"""Softmax regression on kernel features of any number of rows, in sums over blocks.

With landmarks :math:`z_1, \dots, z_m` and :math:`k_x = (k(x, z_1), \dots, k(x, z_m))` the scores
of a row are :math:`k_x A + b`; what Nystroem's method makes of :math:`k_x` is a part of A. A block
makes its kernel matrix K, a few rows at a time, uses it for the scores KA and for the gradient
:math:`K'R`, and forgets it: nothing of the size rows x landmarks is ever held.

Kernels and scores are computed in single precision, sums over rows in double: what a block says of
a row does not depend on the block, so blocks of any size give the same sums but for rounding of
doubles.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from inldl import _kernels
from inldl._engines import Sums
from inldl._file_state import Array as FileArray
from inldl._file_state import FileState
from inldl.solvers.completion import fill_forced
from inldl.solvers.landmark_kernel import LandmarkKernel
from inldl.solvers.softmax import Array, softmax, zero_filled


@dataclass(frozen=True)
class KernelSoftmax:
    """What is learned: the softmax of ``k_x A + b``."""

    _in_file: ClassVar = FileState({"coef": FileArray(2)}, parts=(LandmarkKernel,))

    map: LandmarkKernel
    coef: Array
    intercept: Array

    def __call__(self, Z: Array) -> Array:
        """Return distributions of rows in scaled columns."""
        out = np.empty((len(Z), len(self.intercept)))
        for rows, _, scores in self.pieces(Z):
            out[rows] = softmax(scores)
        return out

    def pieces(self, Z: Array) -> Iterator[tuple[slice, Array, Array]]:
        """Yield some rows at a time, their kernels, and their scores in double precision."""
        coef = self.coef.astype(np.float32)
        for rows, K in self.map.pieces(Z, np.float32):
            there = slice(rows.stop - rows.start)
            yield rows, K[there], (K @ coef)[there] + self.intercept

    def _degrees(self, dense: Array, scaled: Array) -> Array:
        """Return what it predicts, as a member of AutoInLDL."""
        return self(scaled)


@dataclass
class Block:
    """The rows of a block: features, degrees that are learned from, and weights or None."""

    X: Any
    y: Array
    weights: Array | None = None


@dataclass(frozen=True)
class KernelSweeps:
    """The loss of a kernel softmax and its gradient, summed over blocks of rows.

    `scaled` makes scaled columns of a block of features, and `seen` is called with the number of
    its rows after each step. Both can be pickled.
    """

    map: LandmarkKernel
    scaled: Callable[[Any], Array]
    seen: Callable[[int], object] = int

    def start(self, X: Any, y: Array, sample_weight: Array | None = None) -> tuple[Block, Sums]:
        """Keep the degrees of a block; the sum is that of the weights of its rows."""
        weights = None if sample_weight is None else sample_weight[:, 0].astype(float)
        block = Block(X, fill_forced(y).astype(np.float32), weights)
        return block, Sums((float(len(y)) if weights is None else float(weights.sum()),))

    def step(self, block: Block, coef: Array, intercept: Array) -> tuple[Block, Sums]:
        """Return the loss at ``k_x A + b``, and its gradients by A and b."""
        loss, by_coef, by_intercept = 0.0, np.zeros(coef.shape), np.zeros(len(intercept))
        model = KernelSoftmax(self.map, coef, intercept)
        for rows, K, scores in model.pieces(self.scaled(block.X)):
            weights = None if block.weights is None else block.weights[rows]
            part, residual = masked_loss(scores, block.y[rows], weights)
            loss += part
            by_coef += K.T.astype(float) @ residual
            by_intercept += residual.sum(axis=0)
        self.seen(len(block.y))
        return block, Sums((loss, by_coef, by_intercept))


def masked_loss(scores: Array, y: Array, weights: Array | None = None) -> tuple[float, Array]:
    """Return the loss of `inldl.solvers.masked_softmax`, and its gradient in place of the scores.

    A negative degree counts as 0; `weights` are those of the rows.
    """
    degrees, observed = zero_filled(y.astype(float))
    degrees, counted = np.maximum(degrees, 0), observed.astype(float)
    if weights is not None:
        degrees, counted = degrees * weights[:, None], counted * weights[:, None]
    return float(_kernels.masked_softmax_rows(scores, degrees, counted)), scores
