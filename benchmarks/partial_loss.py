"""Time `partial_kl` beside `kl_div`, and measure the memory of `partial_kl_sparse`.

Loss and gradient with respect to log-probabilities in single precision; CPU seconds of one thread,
best of several rounds, by turns in one run. "whole" has the same target as `kl_div`; in "holes"
half of the cells are unknown, which `kl_div` cannot take. "by hand" is the same loss of these in a
few lines, without care for tiny probabilities and for what is no distribution. Then the bytes that
the loss and its gradient take at their peak, beside the logits and their gradient, for 20 known
labels of many: sparse, and through a dense target.

    python benchmarks/partial_loss.py
"""

import time

import torch
from torch.nn.functional import kl_div

from inldl_torch import partial_kl, partial_kl_sparse

SHAPES = [(256, 10), (4096, 10), (65536, 10), (256, 100), (256, 1000), (64, 10_000)]
LABELS = [10_000, 30_000, 100_000]
ROUNDS, REPEATS = 15, 10
KNOWN, ROWS = 20, 64


def seconds(losses, log_probs):
    """Return the least time of each loss and its gradient, by turns."""

    def step(loss, target):
        log_probs.grad = None
        loss(log_probs, target).backward()

    found = {name: [] for name in losses}
    for _ in range(ROUNDS):
        for name, given in losses.items():
            step(*given)
            began = time.process_time()
            for _ in range(REPEATS):
                step(*given)
            found[name].append((time.process_time() - began) / REPEATS)
    return {name: min(each) for name, each in found.items()}


def usual(log_probs, target):
    return kl_div(log_probs, target, reduction="batchmean")


def by_hand(log_probs, target):
    """Return the partial divergence as one would write it in a few lines."""
    unknown, known = target.isnan(), target.nan_to_num(nan=0.0)
    rest = (1 - known.sum(-1)).clamp_min(0)
    p_rest = (log_probs.exp() * unknown).sum(-1).clamp_min(1e-30)
    inside = (torch.xlogy(known, known) - known * log_probs).sum(-1)
    return (inside + torch.xlogy(rest, rest) - rest * p_rest.log()).mean()


def peak(loss, *given):
    """Return the most bytes that a loss and its gradient take at once."""
    with torch.profiler.profile(profile_memory=True) as profile:
        loss(*given).backward()
    events = [e for e in profile.profiler.kineto_results.events() if e.name() == "[memory]"]
    total = most = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        total += event.nbytes()
        most = max(most, total)
    return most


def dense_loss(logits, indices, values):
    target = torch.full_like(logits, torch.nan).scatter_(-1, indices, values)
    return partial_kl(logits.log_softmax(-1), target)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print(f"{'rows x labels':>16}  kl_div ms  whole  holes  by hand  holes / by hand")
    for n, n_labels in SHAPES:
        logits, target = torch.randn(2, n, n_labels).log_softmax(-1)
        log_probs, target = logits.requires_grad_(), target.exp()
        holes = torch.where(torch.rand(n, n_labels) < 0.5, torch.nan, target)
        losses = {
            "kl_div": (usual, target),
            "whole": (partial_kl, target),
            "holes": (partial_kl, holes),
            "by hand": (by_hand, holes),
        }
        found = seconds(losses, log_probs)
        base, *others = found.values()
        whole, with_holes, hand = (each / base for each in others)
        print(
            f"{n:7d} x {n_labels:6d}  {1e3 * base:9.3f}  {whole:5.2f}  {with_holes:5.2f}  "
            f"{hand:7.2f}  {with_holes / hand:15.2f}"
        )
    print(f"\n{'labels':>8}  logits MB  sparse MB  dense MB   (peak beside logits and gradient)")
    for n_labels in LABELS:
        logits = torch.randn(ROWS, n_labels, requires_grad=True)
        values, indices = torch.randn(ROWS, n_labels).softmax(-1).topk(KNOWN)
        size, found = logits.numel() * 4, []
        for loss in (partial_kl_sparse, dense_loss):
            logits.grad = None
            found.append(peak(loss, logits, indices, values) - size)
        megabytes = "  ".join(f"{each / 1e6:9.1f}" for each in (size, *found))
        print(f"{n_labels:8d}  {megabytes}")


if __name__ == "__main__":
    main()
