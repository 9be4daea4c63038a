r"""The softmax of linear scores, and a regression that looks at the observed degrees only.

Here logits, distributions and gradients are rows x labels, and W is features x labels. With
:math:`q = \mathrm{softmax}(b + \varphi W)`, `MaskedSoftmax` minimises

.. math:: \sum_{ij \text{ observed}} (q_{ij} - d_{ij} \log q_{ij}) + \frac{\alpha}{2} \|W\|^2

The term :math:`q` is what a row with holes needs: without it the loss is least where all mass
lies on the observed labels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import linalg
from scipy.optimize import minimize

from inldl import kernels

Array = np.ndarray
Function = Callable[[Array], tuple[float, Array]]
ROWS_AT_ONCE = 1024  # both products of a gradient find them in a cache
NEVER = -1e30  # score of a label that cannot be
HIDDEN = (128, 128)  # units of the layers of a network
BATCH, EPOCHS, DESCENTS = 64, 40, (2000, 20_000)  # rows of a step; how often each is seen; steps
STEP_SIZE, SHRINK, WARM = 0.01, 0.2, 100  # of Adam; part of a step that weights shrink by; steps
MEMORY = (0.9, 0.999)  # of Adam: of gradients and of their squares
FAR = 5.0  # standard deviations; what is beyond is there


def softmax(logits: Array) -> Array:
    """Return P, rows that are positive and sum to 1."""
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    return P


def zero_filled(y: Array) -> tuple[Array, Array]:
    """Return the degrees with 0 where unobserved, and which are observed."""
    observed = ~np.isnan(y)
    return np.where(observed, y, 0), observed


def weighted_degrees(y: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Return degrees that are at least 0, and 1 where they are observed; both 0 elsewhere.

    Both are multiplied by the weights of their rows.
    """
    degrees, observed = zero_filled(y)
    degrees, counted = np.maximum(degrees, 0), observed.astype(float)
    if weights is None:
        return degrees, counted
    return degrees * weights[:, None], counted * weights[:, None]


@np.errstate(over="ignore", invalid="ignore")
def minimum(function: Function, V: Array, max_iter: int, ftol: float = 1e-9) -> Array:
    """Minimise by L-BFGS; return the start where what it finds is not finite."""
    found = lbfgs(function, V, maxiter=max_iter, ftol=ftol, gtol=1e-6)
    good = np.isfinite(found.fun) and np.isfinite(found.x).all()
    return found.x.reshape(V.shape) if good else V


def lbfgs(
    function: Function, V: Array, note: Callable[..., None] | None = None, **options: float
) -> Any:
    """Return what SciPy's L-BFGS finds from V; `note` is called after each iteration."""

    def flat(v: Array) -> tuple[float, Array]:
        value, gradient = function(v.reshape(V.shape))
        return value, gradient.ravel()

    return minimize(flat, V.ravel(), jac=True, method="L-BFGS-B", callback=note, options=options)


class MaskedSoftmax:
    """The objective, as a function of parameters in which its curvature is about 1.

    Kernel features have eigenvalues of very different size; plain L-BFGS needs hundreds of
    iterations on them, and a tenth of that once each direction is scaled by its curvature.

    `features` are the rows in the eigenbasis of their Gram matrix, whose eigenvalues are
    `squares`; products are done in their precision. `alpha` penalises all coefficients but the
    bias, which is the last row of the parameters. A negative degree in `y` counts as 0. Weights of
    the rows multiply their terms, and are part of the Gram matrix.

    With `smoothness` s the labels are in order: alpha also penalises s times the squared second
    differences of the coefficients of neighbouring labels.

    If `y` are `ratios`, q is the softmax over the observed labels of a row alone. The loss is then
    the likelihood of its ratios, whatever their scale is.
    """

    def __init__(
        self,
        features: Array,
        squares: Array,
        y: Array,
        alpha: float,
        weights: Array | None = None,
        ratios: bool = False,
        smoothness: float = 0.0,
    ) -> None:
        self.features, self.ignored = features, np.isnan(y) if ratios else None
        self.degrees, self.counted = weighted_degrees(y, weights)
        (n, C), total = y.shape, float(len(y) if weights is None else weights.sum())
        curvature = max(self.counted.sum() / (total * C), 1 / n) / C
        self.penalty = np.append(np.full(len(squares), float(alpha)), 0)[:, None]
        weight = curvature * np.append(squares, total) + self.penalty[:, 0]
        self.unit = 1 / np.sqrt(np.maximum(weight, np.finfo(float).tiny))[:, None]
        # The penalty of V is that of its parts A in V = A mix, of which it is alpha |A|^2 / 2.
        differences = np.diff(np.eye(C), n=2, axis=0)
        curves, turn = linalg.eigh(differences.T @ differences)
        turn, roots = (turn, np.sqrt(1 + smoothness * curves)) if smoothness else (np.eye(C), 1)
        self.mix, self.unmix = turn / roots @ turn.T, turn * roots @ turn.T

    def value_and_gradient(self, U: Array) -> tuple[float, Array]:
        """Return the objective and its gradient at the scaled parameters U."""
        A = self.unit * U
        V = (A @ self.mix).astype(self.features.dtype)
        coef, intercept = V[:-1], V[-1]
        value, gradient = np.vdot(self.penalty * A, A) / 2, self.penalty * (A @ self.unmix)
        for start in range(0, self.features.shape[0], ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            scores = self.features[rows] @ coef
            scores += intercept
            if self.ignored is not None:
                scores[self.ignored[rows]] = NEVER
            about = self.degrees[rows], self.counted[rows]
            value += kernels.masked_softmax_rows(scores, *about)
            gradient[:-1] += self.features[rows].T @ scores
            gradient[-1] += scores.sum(axis=0)
        return float(value), self.unit * (gradient @ self.mix)

    def minimise(self, V: Array, max_iter: int, ftol: float = 1e-9) -> Array:
        """Return the best parameters, starting at V; both are not scaled."""
        start = V @ self.unmix / self.unit
        return self.unit * minimum(self.value_and_gradient, start, max_iter, ftol) @ self.mix


def eigenbasis(features: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Return the eigenvalues of the Gram matrix, and its eigenvectors as columns."""
    weighted = features if weights is None else features * weights[:, None]
    squares, basis = linalg.eigh(features.T @ weighted)
    return np.maximum(squares, 0), basis


def start_at_mean(y: Array, n_features: int, weights: Array | None = None) -> Array:
    """Return parameters that predict the mean of the observed degrees for every row.

    A label without any starts at 1/C; no label starts at 0, where the softmax has no end.
    """
    degrees, counted = weighted_degrees(y, weights)
    count = counted.sum(axis=0)
    mean = degrees.sum(axis=0) / np.where(count > 0, count, 1)
    mean = np.maximum(np.where(count > 0, mean, 1 / y.shape[1]), 1e-6)
    V = np.zeros((n_features + 1, y.shape[1]))
    V[-1] = np.log(mean / mean.sum())
    return V


@dataclass
class Network:
    """The softmax of a network with hidden layers of units x / (1 + exp(-x)).

    A layer has a row of weights for each of its inputs, and one of biases.
    """

    layers: list[Array]

    def __call__(self, Z: Array) -> Array:
        """Return the distributions of rows in scaled columns, in their precision."""
        with np.errstate(over="ignore"):
            inputs = self.inputs(Z)
        return softmax(inputs[-1])

    def inputs(self, Z: Array) -> list[Array]:
        """Return what each layer gets, before its units make something of it; then the scores."""
        found = [np.clip(Z, -FAR, FAR)]
        for i, layer in enumerate(self.layers):
            below = found[-1] if i == 0 else units(found[-1])[0]
            found.append(below @ layer[:-1].astype(Z.dtype, copy=False))
            found[-1] += layer[-1]
        return found

    def add_gradient(self, inputs: list[Array], G: Array, to: list[Array]) -> None:
        """Write the gradient by all layers, given that by the scores."""
        for i in range(len(self.layers) - 1, -1, -1):
            below, slope = (inputs[0], None) if i == 0 else units(inputs[i])
            np.matmul(below.T, G, out=to[i][:-1])
            to[i][-1] = G.sum(axis=0)
            if slope is not None:
                G = (G @ self.layers[i][:-1].T) * slope


def units(a: Array) -> tuple[Array, Array]:
    """Return a / (1 + exp(-a)), and its slope."""
    part = 1 / (1 + np.exp(-a))
    out = a * part
    return out, part + out * (1 - part)


def as_layers(flat: Array, widths: list[int]) -> list[Array]:
    """Return the layers between some widths, as views of parts of an array."""
    shapes = [(m + 1, n) for m, n in pairwise(widths)]
    ends = np.cumsum([m * n for m, n in shapes])
    return [part.reshape(s) for part, s in zip(np.split(flat, ends[:-1]), shapes, strict=True)]


@np.errstate(over="ignore")
def learn_network(Z: Array, y: Array, weights: Array | None, seed: int) -> Network:
    """Return a network that learned from rows in scaled columns, NaN = unobserved, by Adam.

    It maximises the log-likelihood of observed degrees, and of the sums of missing ones, of rows
    with weights. The size of the steps follows half a wave of a cosine.
    """
    rng, (n, C) = np.random.default_rng(seed), y.shape
    widths = [Z.shape[1], *HIDDEN, C]
    size = sum((m + 1) * k for m, k in pairwise(widths))
    flat, slope, mean, square = np.zeros((4, size), np.float32)
    network, slopes = Network(as_layers(flat, widths)), as_layers(slope, widths)
    for layer in network.layers:
        layer[:-1] = rng.normal(size=layer[:-1].shape, scale=(2 / (len(layer) - 1)) ** 0.5)
    network.layers[-1] *= 0.1
    network.layers[-1][-1] = start_at_mean(y, 0, weights)[-1]
    known, rest, holes = _parts(y, weights)
    Z, batches = Z.astype(np.float32), -(-n // BATCH)
    n_steps = int(np.clip(EPOCHS * batches, *DESCENTS))
    for step in range(n_steps):
        if step % batches == 0:
            order = rng.permutation(n)
        rows = order[step % batches :: batches]
        inputs = network.inputs(Z[rows])
        q, own = softmax(inputs[-1]), known[rows]
        missing = q * holes[rows]
        unknown = np.maximum(missing.sum(axis=1, keepdims=True), 1e-9)
        total = own.sum(axis=1, keepdims=True) + rest[rows]
        network.add_gradient(
            inputs, (total * q - own - missing * (rest[rows] / unknown)) / len(rows), slopes
        )
        mean += (1 - MEMORY[0]) * (slope - mean)
        square += (1 - MEMORY[1]) * (slope * slope - square)
        rate = STEP_SIZE * min(1, (step + 1) / WARM) * (1 + np.cos(np.pi * step / n_steps)) / 2
        corrected = np.sqrt(square / (1 - MEMORY[1] ** (step + 1))) + 1e-8
        flat *= 1 - rate * SHRINK
        flat -= rate / (1 - MEMORY[0] ** (step + 1)) * mean / corrected
    return network


def _parts(y: Array, weights: Array | None) -> tuple[Array, Array, Array]:
    """Return known degrees and what they leave, times the weight of a row, and where holes are."""
    holes = np.isnan(y)
    known = np.where(holes, 0, np.maximum(y, 0))
    rest = np.where(holes.any(axis=1), np.maximum(1 - known.sum(axis=1), 0), 0)
    own = np.ones(len(y)) if weights is None else weights / weights.mean()
    parts = known * own[:, None], (rest * own)[:, None], holes
    return tuple(part.astype(np.float32) for part in parts)  # type: ignore[return-value]
