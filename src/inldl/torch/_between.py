"""The same divergence where bounds of unknown degrees are known."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from inldl.torch._loss import log_of, times, tolerance

_DEEPEST = -690.0  # exp of less is not a normal number in double precision


class BetweenKL(Function):
    """The smallest divergence of a prediction from distributions within bounds, row by row.

    By the envelope theorem its gradient is that at the nearest distribution, held fixed.
    """

    @staticmethod
    def forward(ctx, log_probs, target, lower, upper):
        """Return the losses."""
        low, high, fault = _limits(target, lower, upper)
        nearest, lost = _nearest(log_probs.double(), low, high)
        rows = times(nearest, log_of(nearest) - log_probs)
        rows = torch.where(lost, torch.inf, rows).clamp_min_(0)
        ctx.save_for_backward(nearest.to(log_probs.dtype))
        return torch.where(fault, torch.nan, rows).to(log_probs.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        """Return minus the nearest distribution."""
        [nearest] = ctx.saved_tensors
        return -gradient.unsqueeze(-1) * nearest, None, None, None


def _limits(target, lower, upper):
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


def _nearest(log_probs, low, high):
    """Return min(max(c p, low), high) with the c that makes rows sum to 1.

    The sum grows with c, along lines between the points where a cell leaves its lower or reaches
    its upper bound. The points around 1 are found by bisection, then c follows. The second result
    says which rows cannot reach 1 because their remaining cells have probability 0.
    """
    free = (low < high) & (log_probs > -torch.inf)
    top = torch.where(free, log_probs, -torch.inf).amax(-1, keepdim=True)
    p = torch.where(free, (log_probs - top).clamp_min(_DEEPEST).exp(), 0)
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
