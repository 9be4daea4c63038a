"""Time `partial_kl` beside `kl_div`, and measure the memory of `partial_kl_sparse`.

Loss and gradient with respect to log-probabilities in single precision; CPU seconds of one thread,
best of several rounds, in one run. "whole" has the same target as `kl_div`; in "holes" half of the
cells are unknown, which `kl_div` cannot take. Then the bytes that the loss and its gradient take
at their peak, beside the logits and their gradient, for 20 known labels of many: sparse, and
through a dense target.

    python benchmarks/partial_loss.py
"""

import time

import torch
from torch.nn.functional import kl_div

from inldl.torch import partial_kl, partial_kl_sparse

SHAPES = [(256, 10), (4096, 10), (65536, 10), (256, 100), (256, 1000), (64, 10_000)]
LABELS = [10_000, 30_000, 100_000]
ROUNDS, REPEATS = 15, 10
KNOWN, ROWS = 20, 64


def seconds(loss, log_probs, target):
    def step():
        log_probs.grad = None
        loss(log_probs, target).backward()

    step()
    found = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(REPEATS):
            step()
        found.append((time.process_time() - began) / REPEATS)
    return min(found)


def usual(log_probs, target):
    return kl_div(log_probs, target, reduction="batchmean")


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
    print(f"{'rows x labels':>16}  kl_div ms  whole  holes")
    for n, n_labels in SHAPES:
        log_probs = torch.randn(n, n_labels).log_softmax(-1).requires_grad_()
        target = torch.randn(n, n_labels).softmax(-1)
        holes = torch.where(torch.rand(n, n_labels) < 0.5, torch.nan, target)
        base = seconds(usual, log_probs, target)
        ratios = [seconds(partial_kl, log_probs, each) / base for each in (target, holes)]
        print(f"{n:7d} x {n_labels:6d}  {1e3 * base:9.3f}  {ratios[0]:5.2f}  {ratios[1]:5.2f}")
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
