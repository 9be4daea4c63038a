"""Train several small networks side by side, each without one fold of the rows."""

from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from inldl_torch.loss import partial_kl


def train(
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None,
    folds: list[tuple[np.ndarray, np.ndarray]],
    start: np.ndarray,
    settings: Any,
    seed: int,
) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray, np.ndarray]:
    """Train a network without each fold, until it predicts that fold no better.

    All networks are one, with another dimension: a step costs little more than that of one. One
    thread and one generator make the result the same to the bit. The features X are scaled, the
    rows of y are parts of distributions, `folds` are pairs of row numbers to learn from and to
    hold out, `start` is the distribution that is predicted before anything is learned, and
    `settings` has the parameters of `NeuralLDL`.

    Returns arrays (n_networks, n_in, n_out) and (n_networks, n_out), the coefficients and the
    intercepts of each layer; after how many epochs each network was best; and the losses of the
    held-out rows, epochs x networks, from before the first epoch on.
    """
    with _alone():
        weights = np.ones(len(y)) if weights is None else weights / weights.mean()
        rows = [torch.tensor(each, dtype=torch.float32) for each in (X, y, weights)]
        return _Training(rows, folds, start, settings, seed).run()


@contextmanager
def _alone():
    """Have one thread, gradients, and the CPU, whatever the program around it has chosen."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode(False), torch.enable_grad(), torch.device("cpu"):
            yield
    finally:
        torch.set_num_threads(before)


class _Training:
    """Networks that are being trained."""

    def __init__(self, rows, folds, start, settings, seed):
        self.rows, self.settings = rows, settings
        self.generator = torch.Generator().manual_seed(seed)
        size = min(len(train) for train, _ in folds)
        self.train = torch.tensor(np.array([train[:size] for train, _ in folds]))
        tests = [torch.tensor(test) for _, test in folds]
        tests = pad_sequence(tests, batch_first=True, padding_value=-1)
        self.test, self.counted = tests.clamp_min(0), (tests >= 0).float()
        self.layers = self._new_layers(len(folds), start)
        self.arrays = [each for layer in self.layers for each in layer]
        rates = {"lr": settings.learning_rate, "weight_decay": settings.alpha}
        self.optimizer = torch.optim.AdamW(self.arrays, **rates)

    def run(self):
        """Train until no network has improved for a while; return the best of each."""
        best = [each.detach().clone() for each in self.arrays]
        least = self._held_out_loss()  # of the start, which is kept if all that follows is worse
        epochs, losses = torch.zeros(len(least), dtype=torch.long), [least]
        for epoch in range(1, self.settings.max_epochs + 1):
            self._learn()
            losses.append(self._held_out_loss())
            better = losses[-1] < least
            least = torch.where(better, losses[-1], least)
            epochs[better] = epoch
            for old, new in zip(best, self.arrays, strict=True):
                old[better] = new.detach()[better]
            if epoch - int(epochs.max()) >= self.settings.patience:
                break
        coefs = [each.double().numpy() for each in best[::2]]
        intercepts = [each[:, 0].double().numpy() for each in best[1::2]]
        return coefs, intercepts, epochs.numpy(), torch.stack(losses).numpy()

    def _learn(self):
        """Go through all rows once, each network in an order of its own."""
        chance = torch.rand(self.train.shape, generator=self.generator)
        order = self.train.gather(1, chance.argsort(1))
        for rows in order.split(self.settings.batch_size, 1):
            X, y, weights = (each[rows] for each in self.rows)
            losses = partial_kl(self._log_probs(X, learning=True), y, reduction="none")
            self.optimizer.zero_grad()
            (losses * weights).mean(1).sum().backward()
            self.optimizer.step()

    @torch.no_grad()
    def _held_out_loss(self):
        X, y, weights = (each[self.test] for each in self.rows)
        weights = weights * self.counted
        losses = partial_kl(self._log_probs(X), y, reduction="none")
        return (losses * weights).sum(1) / weights.sum(1)

    def _log_probs(self, X, learning=False):
        keep = 1 - self.settings.dropout
        for i, (coef, intercept) in enumerate(self.layers):
            if i:
                X = X.relu()
                if learning and keep < 1:
                    X = X * (torch.rand(X.shape, generator=self.generator) < keep) / keep
            X = torch.baddbmm(intercept, X, coef)
        return X.log_softmax(-1)

    def _new_layers(self, n_networks, start):
        """Return random layers as He et al. have them, of which the last predicts `start`."""
        widths = [self.rows[0].shape[1], *self.settings.hidden]
        layers = []
        for n_in, n_out in zip(widths, [*widths[1:], len(start)], strict=True):
            coef = torch.randn(n_networks, n_in, n_out, generator=self.generator)
            layers.append([coef * (2 / n_in) ** 0.5, torch.zeros(n_networks, 1, n_out)])
        layers[-1][0] *= 0.1
        layers[-1][1] += torch.tensor(start, dtype=torch.float32).log()
        return [[each.requires_grad_() for each in layer] for layer in layers]
