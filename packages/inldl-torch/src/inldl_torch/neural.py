"""A small neural network; only its fit needs PyTorch."""

from functools import partial
from numbers import Integral
from typing import Annotated

import numpy as np
from sklearn.model_selection import KFold

from inldl.methods.kernel_base import KernelDistributionEstimator
from inldl.methods.parameters import Count, NotNegative, Positive, parameters
from inldl.rows.checks import check_number
from inldl.rows.density import mean_degrees
from inldl.solvers.softmax import softmax
from inldl_torch import need_torch

FOLDS = 5


def _check_hidden(name, value):
    """Refuse what is not a sequence of widths."""
    good = isinstance(value, (tuple, list))
    if not good or not all(isinstance(w, Integral) and w >= 1 for w in value):
        raise ValueError(
            f"{name} must be a tuple of integers, the widths of the hidden layers, such as "
            f"(64, 64), got {value!r}."
        )


@parameters
class NeuralLDL(KernelDistributionEstimator):
    r"""Small neural networks that learn from what is known of each row.

    The rows are cut into five folds. Without each fold a network with hidden layers of rectified
    linear units and a softmax at its end minimises

    .. math:: \sum_{j \text{ known}} d_j \log \frac{d_j}{q_j} + r \log \frac{r}{q_R}

    where r is what the known degrees of a row leave, and :math:`q_R` what is predicted for the
    others together (:func:`inldl_torch.partial_kl`). It is trained by AdamW until it predicts the
    fold no better. Each of the five networks predicts the fold that it was not trained with, and
    their mean predicts new rows. `fit` needs PyTorch; a fitted or loaded model needs it no more.

    Parameters
    ----------
    hidden : tuple of int, default=(64, 64)
        Widths of the hidden layers.
    dropout : float, default=0.3
        Share of the units that are left out of each step, in [0, 1).
    learning_rate : float, default=0.003
        Of AdamW.
    alpha : float, default=0.01
        Its weight decay.
    batch_size : int, default=64
        Rows of a step.
    max_epochs : int, default=200
        How often to go through all rows, at most.
    patience : int, default=20
        Training ends after as many epochs without an improvement on the held-out fold; the best
        epoch is kept.
    n_jobs : int or None, default=None
        Threads in which `complete` is learned; None is 1, -1 all cores. The networks are trained
        in one.

    Attributes
    ----------
    coefs_, intercepts_ : list of ndarray
        A layer each, of the shapes (5, n_in, n_out) and (5, n_out).
    n_epochs_ : ndarray of shape (5,)
        After how many epochs each network was best.
    history_ : dict of str to ndarray
        "held_out", the mean loss of the held-out rows, before the first epoch and after each.
    held_out_ : ndarray of shape (n_samples, n_labels)
        Predictions of the training rows, each by the network that was not trained with the row's
        fold, but stopped by it.

    Examples
    --------
    >>> from inldl_torch import NeuralLDL
    >>> from inldl import hide
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(200, random_state=0)
    >>> model = NeuralLDL(max_epochs=20, random_state=0)
    >>> model = model.fit(X, hide(y, 0.5, random_state=0))  # doctest: +SKIP
    >>> model.predict(X[:1]).sum().round(6).item()  # doctest: +SKIP
    1.0
    """

    hidden: Annotated[tuple, _check_hidden] = (64, 64)
    dropout: Annotated[float, partial(check_number, low=0, below=1)] = 0.3
    learning_rate: Positive = 0.003
    alpha: NotNegative = 0.01
    batch_size: Count = 64
    max_epochs: Count = 200
    patience: Count = 20

    def _prepare(self, *given):
        need_torch("The fit of NeuralLDL")  # before anything takes time
        return super()._prepare(*given)

    def _train(self, data):
        from inldl_torch.training import train

        known = parts_of_distributions(data.y)
        start = np.maximum(mean_degrees(known, data.weights), 1e-6)
        folds = KFold(min(FOLDS, len(known)), shuffle=True, random_state=data.seed)
        folds = list(folds.split(known))
        about = folds, start / start.sum(), self, data.seed
        found = train(data.scaled, known, data.weights, *about)
        self.coefs_, self.intercepts_, self.n_epochs_, losses = found
        self.history_ = {"held_out": losses.mean(axis=1)}
        self.held_out_ = np.empty(known.shape)
        for i, (_, test) in enumerate(folds):
            self.held_out_[test] = self._network(i, data.scaled[test])

    def _network(self, i, X):
        """Return what one of the networks predicts."""
        for layer, (coef, intercept) in enumerate(zip(self.coefs_, self.intercepts_, strict=True)):
            X = (np.maximum(X, 0) if layer else X) @ coef[i] + intercept[i]
        return softmax(X)

    def _degrees(self, dense, scaled):
        return np.mean([self._network(i, scaled) for i in range(len(self.coefs_[0]))], axis=0)


def parts_of_distributions(y: np.ndarray) -> np.ndarray:
    """Return degrees that can be parts of distributions, whatever they were.

    Negative ones become 0. Rows are divided by their sum if that is more than 1, or less although
    nothing is missing; a row of zeros becomes even.
    """
    y = np.maximum(y, 0)
    full = ~np.isnan(y).any(axis=1)
    total = np.nansum(y, axis=1, dtype=np.float64)
    y[full & (total == 0)] = 1 / y.shape[1]
    off = (total > 1) | (full & (total > 0))
    return np.where(off[:, None], y / np.where(off, total, 1)[:, None], y)
