"""The same divergence where few of many labels are known: top-k distillation, for example."""

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from inldl.torch._loss import check_arguments, reduced, rest_of

BLOCK = 2**20  # numbers that are worked on at once: 4 MB in single precision, a row at least


def partial_kl_sparse(logits, indices, values, weight=None, reduction="batchmean"):
    """Return `partial_kl` of rows of which few labels are known, without a dense target.

    The memory it takes beside `logits` grows with the number of known labels, not with that of
    all labels, but for a block of about a million numbers (one row at least). What backward
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
    >>> from inldl.torch import partial_kl_sparse
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
    def forward(ctx, logits, indices, values):
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
    def backward(ctx, gradient):
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
    step = max(BLOCK // logits.shape[-1], 1)
    return [slice(i, i + step) for i in range(0, len(logits), step)]
