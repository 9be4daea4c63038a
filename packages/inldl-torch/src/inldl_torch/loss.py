"""The divergence between what is known of a distribution and a prediction of all of it.

What is known are degrees, and bounds of unknown degrees.
"""

from __future__ import annotations  # the pages of the API are built without PyTorch

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional

from inldl.rows.checks import check_choice

REDUCTIONS = ("batchmean", "sum", "mean", "none")
FEW_CELLS = 2**13  # `kl_div` is quicker on them
LARGEST_SHARE = 1e17
SHORT_ROW = 64  # labels
LOWEST_LOG = -690.0  # exp of less is not a normal number in double precision


def partial_kl(
    log_probs: Tensor,
    target: Tensor,
    bounds: tuple[Any, Any] | None = None,
    weight: Tensor | None = None,
    reduction: str = "batchmean",
) -> Tensor:
    r"""Return the divergence of a prediction from what is known of a distribution.

    It is that of Kullback and Leibler. The known cells of a row, and the sum of all others as one
    more cell, are a distribution of their own. With the known degrees :math:`t_j`, what they
    leave, :math:`r = 1 - \sum_j t_j`, and the predicted probability of all unknown labels
    together, :math:`p_R`, a row has the loss

    .. math:: \sum_{j \text{ known}} t_j \log \frac{t_j}{p_j} + r \log \frac{r}{p_R}

    It is the smallest divergence between the prediction and any distribution that has the known
    cells. So it is never negative, it is 0 exactly if the prediction agrees with all that is
    known, and it is the usual divergence if all is known. With `bounds` it is the smallest over
    the distributions that keep the bounds too: unknown cells are
    :math:`t_j = \min(\max(c \, p_j, l_j), u_j)`, with the one c that makes the row sum to 1.

    Parameters
    ----------
    log_probs : Tensor of shape (..., n_labels)
        Logarithms of probabilities that sum to 1, as of ``log_softmax``. Half precision is
        computed in single precision.
    target : Tensor of shape (..., n_labels)
        Degrees, NaN = unobserved. An observed 0 is a degree like any other. No gradient reaches
        it.
    bounds : tuple of two Tensors, numbers or None, optional
        The least and the largest value of unobserved degrees, in shapes that broadcast to that of
        the target; NaN, or None for all, means none. Those of known cells are not looked at.
    weight : Tensor of shape (...), optional
        How much each row counts: 2 is as good as the same row twice.
    reduction : {"batchmean", "sum", "mean", "none"}, default="batchmean"
        "batchmean" is the mean of the rows, "sum" their sum, "none" one number per row. "mean"
        divides the mean of the rows by the number of labels, as that of ``kl_div`` does. With
        weights, means are weighted means.

    Returns
    -------
    Tensor
        A number, or one for each row. A row without anything known has the loss 0, and counts as
        a row. A row that cannot be a part of a distribution has the loss NaN: a degree is
        negative, the degrees sum to more than 1 beyond rounding, or its bounds leave no room.
        The loss is infinite if a probability is 0 where a degree is not. It has first
        derivatives, but no second ones.

    Examples
    --------
    >>> import torch
    >>> from inldl_torch import partial_kl
    >>> log_probs = torch.tensor([[0.5, 0.3, 0.2]]).log()
    >>> nan = float("nan")
    >>> bool(partial_kl(log_probs, torch.tensor([[0.5, nan, nan]])) < 1e-7)
    True
    >>> round(float(partial_kl(log_probs, torch.tensor([[0.8, nan, nan]]))), 4)
    0.1927
    >>> at_most = torch.tensor([[nan, 0.1, nan]])  # agrees with 0.5, but the label was below 0.1
    >>> known = torch.tensor([[0.5, nan, nan]])
    >>> round(float(partial_kl(log_probs, known, bounds=(None, at_most))), 4)
    0.1674
    """
    check_arguments(log_probs, target, weight, reduction)
    if target.shape != log_probs.shape:
        raise ValueError(
            f"target has the shape {tuple(target.shape)} and log_probs {tuple(log_probs.shape)}; "
            "give one degree for each probability, NaN = unobserved."
        )
    kind = torch.float64 if log_probs.dtype == torch.float64 else torch.float32
    log_probs, target = log_probs.to(kind), target.to(kind)
    if bounds is not None:
        rows = _BoundedKL.apply(log_probs, target, *bounds)
    elif weight is None and reduction != "none":
        count = target.shape[:-1].numel()
        return _mean(log_probs, target, divisor(reduction, count, target.shape[-1]))
    else:
        rows = _PartialKL.apply(log_probs, target, _is_whole(target), None)
    return reduced(rows, weight, reduction, target.shape[-1])


def check_arguments(scores: Tensor, target: Tensor, weight: Tensor | None, reduction: str) -> None:
    """Refuse what no loss here can take."""
    check_choice("reduction", reduction, REDUCTIONS)
    if target.requires_grad:
        raise ValueError("No gradient can reach the target; give target.detach().")
    if weight is not None and weight.shape != scores.shape[:-1]:
        raise ValueError(
            f"weight has the shape {tuple(weight.shape)}; give one for each row, which here is "
            f"the shape {tuple(scores.shape[:-1])}."
        )


def reduced(rows: Tensor, weight: Tensor | None, reduction: str, n_labels: int) -> Tensor:
    """Return the losses of rows as the reduction has it."""
    if weight is not None:
        weight = weight.to(rows.dtype)
        # A row of weight 0 does not count, whatever it is.
        rows = torch.where(weight == 0, 0, rows * weight)
    if reduction == "none":
        return rows
    count = rows.numel() if weight is None else weight.sum()
    return rows.sum() / divisor(reduction, count, n_labels)


def divisor(reduction: str, count: Any, n_labels: int) -> Any:
    """Return what the sum over `count` rows is divided by."""
    return {"sum": 1, "batchmean": count, "mean": count * n_labels}[reduction]


def tolerance(kind: torch.dtype) -> float:
    """Return by how much degrees of a precision may sum to more than 1, or be negative."""
    return 1e-5 if kind == torch.float64 else 1e-3


def log_of(t: Tensor) -> Tensor:
    """Return log t: a finite number for 0, NaN for what is negative. `xlogy` is far slower."""
    return (t + torch.finfo(t.dtype).tiny).log_()


def row_sums(cells: Tensor, ones: Tensor) -> Tensor:
    """Return the sums of rows as a column; of short rows as a product, in half of the time."""
    return cells @ ones if len(ones) <= SHORT_ROW else cells.sum(-1, keepdim=True)


def times(t: Tensor, log_ratio: Tensor) -> Tensor:
    """Return the sums of t * log_ratio over rows, where 0 times infinity is 0."""
    return torch.where((t == 0) & log_ratio.isinf(), 0, t * log_ratio).sum(-1)


def rest_of(total: Tensor, count: Tensor, n_labels: int) -> Tensor:
    """Return what `count` known degrees of the sum `total` leave to the others.

    It is 0 where it is nothing but rounding, where nothing is known, and where all is known. It is
    NaN where degrees sum to more than 1, or all of them to less.
    """
    rest, slack = 1 - total, tolerance(total.dtype)
    fault = (rest < -slack) | ((count == n_labels) & (rest > slack))
    some = (count > 0) & (count < n_labels) & (rest > 8 * torch.finfo(rest.dtype).eps)
    return torch.where(fault, torch.nan, torch.where(some, rest, 0))


def _mean(log_probs, target, divisor):
    """Return the sum of the losses of rows, divided by a number."""
    whole = _is_whole(target)
    if whole and target.numel() <= FEW_CELLS:
        loss = functional.kl_div(log_probs, target, reduction="sum") / divisor
        if 0 <= loss.item() < math.inf:
            return loss
    return _PartialKL.apply(log_probs, target, whole, divisor)


def _is_whole(target):
    """Return whether all is known, and sums to 1."""
    if not target.numel():
        return False
    least, most = target.sum(-1).aminmax()  # NaN if there are holes
    slack = tolerance(target.dtype)
    return least.item() >= 1 - slack and most.item() <= 1 + slack


class _PartialKL(Function):
    """The losses of rows, or their sum divided by a number.

    `where` and `logsumexp` over cells take longer than all else together, so they are kept for
    numbers that need them: tiny probabilities, 0, and rows that are no distributions.
    """

    @staticmethod
    def forward(ctx: Any, log_probs: Tensor, target: Tensor, whole: bool, divisor: Any) -> Tensor:
        """Return the losses."""
        ones = target.new_ones(target.shape[-1], 1)
        nearest = target if whole else _nearest(log_probs, target, ones)
        if nearest is not None:
            cells = log_of(nearest).sub_(log_probs).mul_(nearest)
            rows = row_sums(cells, ones).squeeze(-1).clamp_min_(0)
            total = rows.sum()
        if nearest is None or not math.isfinite(total.item()):
            rows, nearest = _of_any(log_probs, target)
            total = rows.sum()
        ctx.save_for_backward(nearest)
        ctx.divisor = divisor
        return rows if divisor is None else total.div_(divisor)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Return minus the distribution with the known cells that is nearest to the prediction."""
        [nearest] = ctx.saved_tensors
        if ctx.divisor is None:
            return nearest * -gradient.unsqueeze(-1), None, None, None
        return nearest * (gradient / -ctx.divisor), None, None, None


def _nearest(log_probs, target, ones):
    """Return the distributions with the known cells that are nearest to the prediction.

    The divergence from them is the loss. They are 0 where nothing is known. None, if a row cannot
    be a part of a distribution, or the probability of what is unknown is tiny.
    """
    if not target.numel():
        return None
    t, kind = target.nan_to_num(nan=0.0), torch.finfo(target.dtype)
    unknown = (target - target).nan_to_num_(nan=1.0)  # 0 and 1
    hidden = log_probs.exp().mul_(unknown)  # their probabilities
    total, mass = row_sums(t, ones), row_sums(hidden, ones)
    rest = torch.threshold(torch.rsub(total, 1), 8 * kind.eps, 0.0)
    share = rest / mass.clamp_min_(kind.tiny)
    (least, most), slack = total.aminmax(), tolerance(target.dtype)
    if most.item() > 1 + slack:
        return None
    if share.max().item() > LARGEST_SHARE:  # all is known, or the rest has probability 0
        all_known = row_sums(unknown, ones) == 0
        share.masked_fill_(all_known, 0)
        if share.max().item() > LARGEST_SHARE or (rest * all_known).max().item() > slack:
            return None
    if least.item() <= 0:
        share.masked_fill_(row_sums(unknown, ones) == target.shape[-1], 0)  # nothing is known
    return t.addcmul_(hidden, share)


def _of_any(log_probs, target):
    """Return the losses of rows, and what minus the gradient is, whatever the numbers are."""
    unknown = target.isnan()
    t, count = torch.where(unknown, 0, target), (~unknown).sum(-1)
    rest = rest_of(t.sum(-1), count, target.shape[-1])
    hidden = torch.where(unknown, log_probs, -torch.inf)
    log_rest = hidden.logsumexp(-1)
    rows = times(t, log_of(t) - log_probs)
    rows += torch.where(rest == 0, 0, rest * (rest.log() - log_rest))
    least = torch.finfo(t.dtype).min
    within = (hidden - log_rest.clamp_min(least).unsqueeze(-1)).exp_()
    return rows.clamp_min_(0), t + within * rest.unsqueeze(-1)


class _BoundedKL(Function):
    """The smallest divergence of a prediction from distributions within bounds, row by row.

    By the envelope theorem its gradient is that at the nearest distribution, held fixed.
    """

    @staticmethod
    def forward(ctx: Any, log_probs: Tensor, target: Tensor, lower: Any, upper: Any) -> Tensor:
        """Return the losses."""
        low, high, fault = _bounds(target, lower, upper)
        nearest, lost = _nearest_within(log_probs.double(), low, high)
        rows = times(nearest, log_of(nearest) - log_probs)
        rows = torch.where(lost, torch.inf, rows).clamp_min_(0)
        ctx.save_for_backward(nearest.to(log_probs.dtype))
        return torch.where(fault, torch.nan, rows).to(log_probs.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Return minus the nearest distribution."""
        [nearest] = ctx.saved_tensors
        return -gradient.unsqueeze(-1) * nearest, None, None, None


def _bounds(target, lower, upper):
    """Return bounds of all cells in double precision, and the rows that none can keep.

    Those of a known cell are the degree itself.
    """
    low, high = (
        torch.as_tensor(torch.nan if each is None else each, device=target.device).double()
        for each in (lower, upper)
    )
    slack, unknown = tolerance(target.dtype), target.isnan()
    known = target.double()
    low = torch.where(unknown, low.nan_to_num(nan=0.0).clamp_min(0), known)
    high = torch.where(unknown, high.nan_to_num(nan=1.0).clamp_max(1), known)
    fault = (low > high + slack).any(-1) | (high < -slack).any(-1)
    fault |= (low.sum(-1) > 1 + slack) | ((high.sum(-1) < 1 - slack) & unknown.any(-1))
    low = low.clamp_min(0)
    return low, torch.maximum(low, high), fault


def _nearest_within(log_probs, low, high):
    """Return min(max(c p, low), high) with the c that makes rows sum to 1.

    The sum grows with c, along lines between the points where a cell leaves its lower or reaches
    its upper bound. The points around 1 are found by bisection, then c follows. The second result
    says which rows cannot reach 1 because their remaining cells have probability 0.
    """
    free = (low < high) & (log_probs > -torch.inf)
    top = torch.where(free, log_probs, -torch.inf).amax(-1, keepdim=True)
    p = torch.where(free, (log_probs - top).clamp_min(LOWEST_LOG).exp(), 0)
    leave, reach = (torch.where(free, bound / p, 0) for bound in (low, high))
    points = torch.cat([torch.zeros_like(top), leave, reach], -1).sort(-1).values

    def at(c):
        return torch.where(free, torch.minimum(torch.maximum(c * p, low), high), low)

    first = torch.zeros_like(top, dtype=torch.long)
    last = first + points.shape[-1] - 1
    for _ in range(points.shape[-1].bit_length()):  # the sum at `last` is at least 1, if any is
        middle = (first + last) // 2
        enough = at(points.gather(-1, middle)).sum(-1, keepdim=True) >= 1
        first, last = torch.where(enough, first, middle + 1), torch.where(enough, middle, last)
        first = torch.minimum(first, last)
    after, before = points.gather(-1, last), points.gather(-1, (last - 1).clamp_min(0))
    moving = free & (leave <= before) & (reach >= after)
    fixed = torch.where(moving, 0, at(after)).sum(-1, keepdim=True)
    slope = torch.where(moving, p, 0).sum(-1, keepdim=True)
    c = torch.where(slope > 0, (1 - fixed) / slope, after)
    nearest = at(torch.minimum(torch.maximum(c, before), after))
    stuck = (low < high) & ~free
    return nearest, stuck.any(-1) & (nearest.sum(-1) < 1 - 1e-6)
