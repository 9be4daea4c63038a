"""Modules: the paper's weights as a loss, and two ways onto the simplex."""

import numpy as np
import torch
from torch import nn

from inldl.rows.checks import as_degrees, check_choice, check_number
from inldl.torch._loss import check_arguments, reduced
from inldl.weighting import get_weighting


class DistributionHead(nn.Module):
    """The last layer of a network: features to the logarithms of a distribution.

    Parameters
    ----------
    n_features : int
        The width of what comes in.
    n_labels : int
        The number of labels.

    Examples
    --------
    >>> import torch
    >>> from inldl.torch import DistributionHead
    >>> from torch.nn import Linear, ReLU, Sequential
    >>> network = Sequential(Linear(5, 16), ReLU(), DistributionHead(16, 3))
    >>> log_probs = network(torch.zeros(2, 5))
    >>> log_probs.exp().sum(-1).round(decimals=5).tolist()
    [1.0, 1.0]
    """

    def __init__(self, n_features, n_labels):
        super().__init__()
        self.linear = nn.Linear(n_features, n_labels)

    def forward(self, features):
        """Return log-probabilities of the shape (..., n_labels)."""
        return self.linear(features).log_softmax(-1)


def project_simplex(scores):
    """Return the nearest distribution to each row of scores, as WInLDL does (equation 6).

    Unlike a softmax it gives degrees that are 0. Their logarithms are no good for `partial_kl`;
    use `WeightedPartialLoss`.

    Parameters
    ----------
    scores : Tensor of shape (..., n_labels)
        Any numbers.

    Returns
    -------
    Tensor of shape (..., n_labels)
        Rows that are not negative and sum to 1.

    Examples
    --------
    >>> import torch
    >>> from inldl.torch import project_simplex
    >>> project_simplex(torch.tensor([[0.9, 0.5, -1.0]]))
    tensor([[0.7000, 0.3000, 0.0000]])
    """
    counts = torch.arange(1, scores.shape[-1] + 1, device=scores.device, dtype=scores.dtype)
    ordered = scores.sort(-1, descending=True).values
    bounds = (ordered.cumsum(-1) - 1) / counts
    return (scores - bounds.amax(-1, keepdim=True)).clamp_min(0)


class WeightedPartialLoss(nn.Module):
    r"""The weighted squared error of WInLDL, for any network (equations 5, 6 and 8 of the paper).

    A row has the loss :math:`\frac12 \sum_j Q_j^2 (p_j - d_j)^2`, where p lies on the simplex.
    Small degrees weigh more than large ones, :math:`Q_j = 2^{1 - d_j}`, and missing ones gain
    weight from epoch to epoch, :math:`Q_j = (1 + t/T)^{1 - m_j}`, with the mean :math:`m_j`
    of the label over all rows, missing degrees counting as 0.

    Parameters
    ----------
    target : array-like or Tensor of shape (n_samples, n_labels)
        All degrees to learn from, NaN = unobserved, for the means of the labels.
    n_epochs : int
        The number T of epochs. Call `step` after each.
    weighting : str or object, default="degree"
        A scheme of :mod:`inldl.weighting`; "degree" is equation 8.
    missing : {"impute", "zero"}, default="impute"
        The target of an unobserved degree: the row's own prediction, scaled such that the row
        sums to 1, or 0 as in the paper's text.

    Examples
    --------
    >>> import torch
    >>> from inldl.torch import WeightedPartialLoss
    >>> target = torch.tensor([[0.2, float("nan"), 0.5], [0.1, 0.6, 0.3]])
    >>> loss = WeightedPartialLoss(target, n_epochs=10)
    >>> round(float(loss(torch.full((2, 3), 1 / 3), target)), 3)
    0.107
    """

    def __init__(self, target, n_epochs, weighting="degree", missing="impute"):
        super().__init__()
        check_number("n_epochs", n_epochs, low=1, integer=True)
        check_choice("missing", missing, ("impute", "zero"))
        self.scheme, self.n_epochs, self.missing = get_weighting(weighting), n_epochs, missing
        known = target.detach().cpu().numpy() if torch.is_tensor(target) else target
        self.means = np.nan_to_num(as_degrees(known, "target")).mean(axis=0, dtype=np.float64)
        self.register_buffer("epoch", torch.tensor(1))

    def step(self):
        """Go on to the next epoch; the last one goes on for good."""
        self.epoch.add_(1).clamp_(max=self.n_epochs)

    def forward(self, probs, target, weight=None, reduction="batchmean"):
        """Return the loss.

        Parameters
        ----------
        probs : Tensor of shape (n_rows, n_labels)
            Predicted distributions, not their logarithms.
        target : Tensor of shape (n_rows, n_labels)
            Degrees, NaN = unobserved.
        weight, reduction
            As in `partial_kl`.
        """
        check_arguments(probs, target, weight, reduction)
        unknown, target = target.isnan(), target.to(probs.dtype)
        known = torch.where(unknown, 0, target)
        filled = known
        if self.missing == "impute":
            hidden = torch.where(unknown, probs.detach(), 0)
            rest = (1 - known.sum(-1, keepdim=True)).clamp_min(0)
            total = hidden.sum(-1, keepdim=True)
            filled = known + hidden * torch.where(total > 0, rest / total, 0)
        errors = self._weights(known, unknown) * (probs - filled)
        return reduced(errors.square().sum(-1) / 2, weight, reduction, probs.shape[-1])

    def _weights(self, known, unknown):
        """Return Q, which depends on the target only."""
        observed = np.asarray(self.scheme.observed(known.double().cpu().numpy()))
        missing = self.scheme.unobserved(self.means, int(self.epoch) / self.n_epochs)
        weights = np.where(unknown.cpu().numpy() & ~np.isnan(missing), missing, observed)
        return torch.as_tensor(weights, dtype=known.dtype, device=known.device)
