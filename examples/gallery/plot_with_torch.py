"""
A network that learns from votes with holes
===========================================

Twelve people say which digit they see, but most of their votes were recorded for a few digits
only. A convolutional network learns the distribution of votes three times: with `partial_kl`,
which looks at all that is known; from the images without holes alone; and with 0 in place of what
is missing. The dots are ten draws. The example needs PyTorch
(``pip install ./packages/inldl-torch``).
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy.special import softmax
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.functional import kl_div

from inldl import hide
from inldl_torch import DistributionHead, partial_kl, partial_kl_sparse

torch.set_num_threads(1)
digits = load_digits()
images = torch.tensor(digits.images / 16, dtype=torch.float32)[:, None]
means = np.stack([digits.data[digits.target == digit].mean(axis=0) for digit in range(10)])
distances = np.square(digits.data[:, None] - means).sum(axis=2)
truth = softmax(-distances / 150, axis=1)  # what all people would say


def votes_with_holes(rows, rng):
    """Return shares of twelve votes; 85% of the rows lack 70% of them."""
    shares = rng.multinomial(12, truth[rows]) / 12
    holed = hide(shares, 0.7, random_state=int(rng.integers(2**31)))
    complete = rng.random(len(rows)) < 0.15
    return torch.tensor(np.where(complete[:, None], shares, holed), dtype=torch.float32)


def trained(pictures, target, loss, seed, epochs=30):
    """Return a small convolutional network."""
    torch.manual_seed(seed)
    network = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(), nn.Flatten(),
        DistributionHead(64, 10),
    )  # fmt: skip
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(epochs):
        for rows in torch.randperm(len(pictures)).split(128):
            optimizer.zero_grad()
            loss(network(pictures[rows]), target[rows]).backward()
            optimizer.step()
    return network.eval()


def usual(log_probs, target):
    """Return the loss for distributions without holes."""
    return kl_div(log_probs, target, reduction="batchmean")


found = []
for seed in range(10, 20):  # the settings were chosen on others
    rng = np.random.default_rng(seed)
    train, test = np.split(rng.permutation(len(images)), [900])
    given = votes_with_holes(train, rng)
    complete = ~given.isnan().any(1)
    pictures = images[train]
    networks = [
        trained(pictures, given, partial_kl, seed),
        trained(pictures[complete], given[complete], usual, seed),
        trained(pictures, given.nan_to_num(nan=0.0), usual, seed),
    ]
    with torch.no_grad():
        expected = torch.tensor(truth[test], dtype=torch.float32)
        found.append([float(usual(each(images[test]), expected)) for each in networks])
found = np.array(found)

names = ["partial_kl", "rows without holes", "holes as 0"]
figure, axes = plt.subplots(figsize=(4.6, 2.4), layout="constrained")
for i, color in enumerate(["#0072b2", "#d55e00", "#777777"]):
    axes.scatter(found[:, i], np.full(10, -i) + np.linspace(-0.15, 0.15, 10), s=14, color=color)
axes.set_yticks([0, -1, -2], names)
axes.set_ylim(-2.5, 0.5)
axes.set_xlim(left=0)
axes.set_xlabel("divergence on images that were not seen")
for name, each in zip(names, found.T, strict=True):
    print(f"{name:20} {each.mean():.4f} ± {each.std(ddof=1):.4f}")
print("partial_kl is best in", (found.argmin(axis=1) == 0).sum(), "of 10 draws")

# %%
# Top-k distillation
# ------------------
#
# Of a teacher with many labels the twenty largest probabilities are stored. What they leave is
# known too: it is the sum of all others. `partial_kl_sparse` learns from both, without a dense
# target. Printed is the divergence of the student from the whole teacher.

torch.manual_seed(0)
inputs = torch.randn(256, 16)
taught = 8 * nn.Linear(16, 5000)(inputs).detach()  # logits of the teacher
values, indices = taught.softmax(-1).topk(20)  # all that is kept: 20 of 5000 numbers a row
print(f"the top 20 have {values.sum(-1).mean():.0%} of the probability")


def truncated(logits):
    """Return the loss of those who divide the top 20 by their sum."""
    shares = values / values.sum(-1, keepdim=True)
    return -(shares * logits.log_softmax(-1).gather(-1, indices)).sum(-1).mean()


def partial(logits):
    """Return the loss that also knows what the top 20 leave."""
    return partial_kl_sparse(logits, indices, values)


for loss in (partial, truncated):
    student = nn.Linear(16, 5000)
    optimizer = torch.optim.Adam(student.parameters(), lr=0.05)
    for _ in range(100):
        optimizer.zero_grad()
        loss(student(inputs)).backward()
        optimizer.step()
    with torch.no_grad():
        divergence = usual(student(inputs).log_softmax(-1), taught.softmax(-1))
    print(f"{loss.__name__:10} {divergence:.3f}")
