r"""WInLDL with the ridge that predicts degrees best which are left out.

Each label j is regressed onto the features of the rows :math:`O_j` where it is observed, with a
bias that is not penalised,

.. math:: \min_{w, b} \sum_{i \in O_j} v_i (y_{ij} - b - x_i' w)^2 + \alpha \|w\|^2

where :math:`v_i` is the weight of the row. Without row i the prediction misses its degree by
:math:`(y_{ij} - f_{ij}) / (1 - h_{ij})`, where :math:`f_{ij}` is what all rows predict,

.. math:: h_{ij} = v_i \bigl(1 / \textstyle\sum_{O_j} v
                   + \tilde x_i' (G_j + \alpha I)^{-1} \tilde x_i \bigr), \qquad
          G_j = \textstyle\sum_{O_j} v_i \tilde x_i \tilde x_i'

and :math:`\tilde x` are the features minus their mean in :math:`O_j`. One sweep adds up
:math:`G_j`, a second one the squares of the misses for every :math:`\alpha`. What the holes of a
row sum to is one more degree that is not learned from.

The iterations start from these regressions: features that fit every row would keep the degrees
that are missing at the 1/C of the usual start for too long.

The limit of WInLDL minimises squares of weight :math:`Q^2` and the penalty
:math:`\rho \, \mathrm{ridge} \, \|W\|^2`, so its ridge is :math:`\alpha` times the mean
:math:`Q^2` of the observed degrees, divided by :math:`\rho`.
"""

from dataclasses import dataclass

import numpy as np

from inldl.engines.base import Sums
from inldl.solvers.linear import Array, FeatureSums, Regression, check_finite, gram
from inldl.solvers.loop import Sweep
from inldl.solvers.masked_ridge import LEAST_LEFT, LabelSpectrum, errors_of_labels
from inldl.solvers.winldl import WInLDLBlock, WInLDLProblem, WInLDLShared

# The alphas that are tried, in units of the mean eigenvalue of the G_j.
ALPHA_STEPS = 10.0 ** np.arange(-8, 4.5, 0.5)
GRAM_ENTRIES = 1 << 21  # of all G_j together, which a sweep returns: 16 MB
FEWEST_LABELS = 4
AS_GOOD = 1e-4  # relative difference of two errors: the larger alpha is taken then


@dataclass(frozen=True)
class ChosenRidgeProblem(WInLDLProblem):
    """WInLDL that chooses its ridge before the first iteration; its bias is not penalised.

    Where labels and features are very many, some of the labels choose for all: as many as have
    `gram_entries` in their G_j.
    """

    gram_entries: int = GRAM_ENTRIES
    free_bias = True

    def first(self, sums: Sums, sweep: Sweep) -> WInLDLShared:
        """Choose the ridge, and start from the regressions that it was chosen for."""
        sums = self._settled(sums, sweep)
        features, C = FeatureSums(*sums.added[:-1]), len(sums.added[-1])
        n_features = len(check_finite(features.gram))
        most = max(self.gram_entries // n_features**2, FEWEST_LABELS)
        labels = np.linspace(0, C - 1, min(C, most)).round().astype(int)
        ridge, coef, intercept = self._chosen(labels, sweep)
        regression = Regression(features, ridge, self.fit_intercept, free=True)
        start = (coef, intercept) if len(labels) == C else None
        return self._first(sums, regression, self.initial or start)

    def _chosen(self, labels: Array, sweep: Sweep) -> tuple[float, Array, Array]:
        """Return the ridge that these labels choose, and their regressions with it."""
        *sums, weights, count = sweep("label_sums", labels).added
        bias, by_label = self.fit_intercept, zip(*sums, strict=True)
        spectra = [LabelSpectrum.of_sums(bias, *label) for label in by_label]
        size = np.mean([_mean_square(label) for label in spectra])
        alphas = ALPHA_STEPS * (size if size > 0 else 1.0)
        parts = map(np.stack, zip(*spectra, strict=True))
        [misses] = sweep("misses", labels, alphas, *parts).added
        best = alphas[misses <= (1 + AS_GOOD) * misses.min()].max()
        coef, intercept = zip(*(label.linear(np.array([best])) for label in spectra), strict=True)
        ridge = float(best * (weights / count) / self.rho)
        return ridge, np.hstack(coef).T, np.concatenate(intercept)

    def label_sums(self, block: WInLDLBlock, labels: Array) -> tuple[WInLDLBlock, Sums]:
        """Return what the regressions of some labels need of a block.

        The last two sums are those of the squared weights of all observed degrees, and of ones.
        """
        Y, squares, weights = _known(block, self.rho)
        features, by_label = self.features_of(block), []
        for j in labels:
            rows = np.flatnonzero(~np.isnan(Y[:, j]))
            X, degrees, v = features[rows].astype(float, copy=False), Y[rows, j], weights[rows]
            numbers = np.array([v.sum(), v @ degrees, len(rows)])
            by_label.append((gram(X, v), X.T @ v, X.T @ (v * degrees), numbers))
        v = weights[:, None] * ~np.isnan(Y)
        added = [np.array(part) for part in zip(*by_label, strict=True)]
        return block, Sums((*added, float((v * squares)[v > 0].sum()), float(v.sum())))

    def misses(
        self, block: WInLDLBlock, labels: Array, alphas: Array, *regressions: Array
    ) -> tuple[WInLDLBlock, Sums]:
        """Return the sum of squared errors at degrees that are left out, for each alpha.

        If these are all labels, what the holes of a row sum to counts as one more degree: no hole
        has been learned from.
        """
        Y, _, weights = _known(block, self.rho)

        def regression(number: int) -> LabelSpectrum:
            return LabelSpectrum(*(part[number] for part in regressions))

        X = self.features_of(block).astype(float, copy=False)
        return block, Sums((errors_of_labels(X, Y, labels, regression, alphas, weights),))


def _mean_square(label: LabelSpectrum) -> float:
    """Return the mean of the eigenvalues that can be others than 0."""
    return float(label.squares.sum() / max(min(len(label.squares), label.numbers[2]), 1))


def _known(block: WInLDLBlock, rho: float) -> tuple[Array, Array, Array]:
    """Return the observed degrees of a block, their squared weights, and the weights of rows.

    Degrees are NaN where they are not observed, and in rows without weight.
    """
    n, weights = block.X.shape[0], block.weights
    v = np.ones(n) if weights.all is None else weights.all
    own = np.arange(n) if weights.kept is None else weights.kept
    Y, A = np.full((2, n, block.given.shape[1]), np.nan)
    there = own if block.limited is None else own[block.limited.others]
    lanes = block.given.transpose(2, 0, 3, 1).reshape(2, -1, Y.shape[1])
    Y[there], A[there] = lanes[:, : len(there)]
    if block.limited is not None:
        Y[own[block.limited.rows]], A[own[block.limited.rows]] = block.limited.Y, block.limited.A
    return Y, rho / np.maximum(A, LEAST_LEFT) - rho, v
