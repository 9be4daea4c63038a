"""The loss of sparse targets, the paper's weights as a loss, and two ways onto the simplex."""

from __future__ import annotations  # the pages of the API are built without PyTorch

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from inldl.rows.checks import as_degrees, check_choice, check_number
from inldl.weighting import get_weighting
from inldl_torch.loss import check_arguments, reduced, rest_of

NUMBERS_AT_ONCE = 2**20  # 4 MB in single precision, a row at least


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
    >>> from inldl_torch import DistributionHead
    >>> from torch.nn import Linear, ReLU, Sequential
    >>> network = Sequential(Linear(5, 16), ReLU(), DistributionHead(16, 3))
    >>> log_probs = network(torch.zeros(2, 5))
    >>> log_probs.exp().sum(-1).round(decimals=5).tolist()
    [1.0, 1.0]
    """

    def __init__(self, n_features: int, n_labels: int) -> None:
        super().__init__()
        self.linear = nn.Linear(n_features, n_labels)

    def forward(self, features: Tensor) -> Tensor:
        """Return log-probabilities of the shape (..., n_labels)."""
        return self.linear(features).log_softmax(-1)


def project_simplex(scores: Tensor) -> Tensor:
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
    >>> from inldl_torch import project_simplex
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
    >>> from inldl_torch import WeightedPartialLoss
    >>> target = torch.tensor([[0.2, float("nan"), 0.5], [0.1, 0.6, 0.3]])
    >>> loss = WeightedPartialLoss(target, n_epochs=10)
    >>> round(float(loss(torch.full((2, 3), 1 / 3), target)), 3)
    0.107
    """

    def __init__(
        self, target: Any, n_epochs: int, weighting: Any = "degree", missing: str = "impute"
    ) -> None:
        super().__init__()
        check_number("n_epochs", n_epochs, low=1, integer=True)
        check_choice("missing", missing, ("impute", "zero"))
        self.scheme, self.n_epochs, self.missing = get_weighting(weighting), n_epochs, missing
        known = target.detach().cpu().numpy() if torch.is_tensor(target) else target
        self.means = np.nan_to_num(as_degrees(known, "target")).mean(axis=0, dtype=np.float64)
        self.register_buffer("epoch", torch.tensor(1))

    def step(self) -> None:
        """Go on to the next epoch; the last one goes on for good."""
        self.epoch.add_(1).clamp_(max=self.n_epochs)

    def forward(
        self,
        probs: Tensor,
        target: Tensor,
        weight: Tensor | None = None,
        reduction: str = "batchmean",
    ) -> Tensor:
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


def partial_kl_sparse(
    logits: Tensor,
    indices: Tensor,
    values: Tensor,
    weight: Tensor | None = None,
    reduction: str = "batchmean",
) -> Tensor:
    """Return `partial_kl` of rows of which few labels are known, without a dense target.

    The memory it takes, apart from `logits`, grows with the number of known labels, not with that
    of all labels, but for a block of about a million numbers (one row at least). What backward
    returns, the gradient with respect to the logits, has their size and is filled in place.
    ``log_softmax`` and ``partial_kl`` would take several arrays of that size.

    Parameters
    ----------
    logits : Tensor of shape (..., n_labels)
        Scores, whose ``log_softmax`` is the prediction. Log-probabilities are logits too, and stay
        what they are.
    indices : integer Tensor of shape (..., n_known)
        The known labels of each row, none twice; -1 where a row has fewer.
    values : Tensor of shape (..., n_known)
        Their degrees. Those that are NaN are not known, nor are those at -1.
    weight, reduction
        As in `partial_kl`.

    Returns
    -------
    Tensor
        As of `partial_kl`.

    Examples
    --------
    >>> import torch
    >>> from inldl_torch import partial_kl_sparse
    >>> teacher, student = torch.randn(2, 8, 100_000, generator=torch.manual_seed(0))
    >>> values, indices = teacher.softmax(-1).topk(20)  # all that is stored of the teacher
    >>> bool(partial_kl_sparse(student, indices, values) > 0)
    True
    >>> bool(partial_kl_sparse(teacher, indices, values) < 1e-6)
    True
    """
    check_arguments(logits, values, weight, reduction)
    if indices.shape != values.shape or indices.shape[:-1] != logits.shape[:-1]:
        raise ValueError(
            f"indices and values have the shapes {tuple(indices.shape)} and "
            f"{tuple(values.shape)} beside logits of the shape {tuple(logits.shape)}; give as "
            "many rows as logits have, and an index for each value, -1 where there is none."
        )
    n_labels, k = logits.shape[-1], indices.shape[-1]
    flat = logits.reshape(-1, n_labels), indices.reshape(-1, k), values.reshape(-1, k)
    rows = _SparseKL.apply(*flat).reshape(logits.shape[:-1])
    return reduced(rows, weight, reduction, n_labels)


class _SparseKL(Function):
    """The loss of each row."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, indices: Tensor, values: Tensor) -> Tensor:
        """Return the losses."""
        kind = torch.float64 if logits.dtype == torch.float64 else torch.float32
        known = (indices >= 0) & ~values.isnan()
        t = torch.where(known, values.to(kind), 0)
        # A padded place repeats the first known label of its row, so that it may be written to.
        first = known.int().argmax(-1, keepdim=True)
        columns = torch.where(known, indices, indices.gather(-1, first)).clamp_min(0).long()
        count = known.sum(-1)
        rest = rest_of(t.sum(-1), count, logits.shape[-1])
        log_rest = _log_rest(logits, columns, kind)
        scores = logits.gather(-1, columns).to(kind)
        log_known = torch.where(known, scores, -torch.inf).logsumexp(-1)
        log_all = torch.logaddexp(log_known, log_rest)
        each = torch.xlogy(t, t) - torch.where(t == 0, 0, t * (scores - log_all[:, None]))
        rows = each.sum(-1) + torch.where(rest == 0, 0, rest * (rest.log() - (log_rest - log_all)))
        at_known = (scores - log_all[:, None]).exp() - t.gather(-1, first).where(~known, t)
        ctx.save_for_backward(logits, columns, at_known, rest, log_rest, log_all, count)
        return torch.where(count == 0, 0, rows).clamp_min_(0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Return the prediction minus the nearest distribution that has the known cells."""
        logits, columns, at_known, rest, log_rest, log_all, count = ctx.saved_tensors
        gradient = torch.where(count == 0, 0, gradient)[:, None]
        log_rest = torch.where(log_rest == -torch.inf, log_all, log_rest)
        factor = ((log_rest - log_all).exp() - rest)[:, None] * gradient
        out = torch.empty_like(logits)
        for rows in _blocks(logits):
            block = (logits[rows] - log_rest[rows, None]).exp_().mul_(factor[rows])
            out[rows] = block.scatter_(-1, columns[rows], (at_known * gradient)[rows])
        return out, None, None


def _log_rest(logits, columns, kind):
    """Return the logarithm of the sum of exp over all labels but the known ones.

    It is summed, never taken as what known ones leave of 1, which would lose all digits where
    these are nearly all.
    """
    found = torch.empty(len(logits), dtype=kind, device=logits.device)
    for rows in _blocks(logits):
        block = logits[rows].to(kind, copy=True).scatter_(-1, columns[rows], -torch.inf)
        found[rows] = block.logsumexp(-1)
    return found


def _blocks(logits):
    """Return slices of rows that are few enough to be copied."""
    step = max(NUMBERS_AT_ONCE // logits.shape[-1], 1)
    return [slice(i, i + step) for i in range(0, len(logits), step)]
