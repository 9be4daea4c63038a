"""Measure what the order of labels is worth: ratings of films and faces, and simulated ages.

`KernelSoftmaxLDL` with and without `smoothness="auto"`, which learn from the same rows and holes.
Ages are bell curves around a noisy age, cut off at 0 and 69, so that the rows of the youngest and
oldest are truncated; FG-Net, which has such rows, is not among the sets that can be downloaded.

    python benchmarks/ordered.py               half a minute for each split; prints a table
    python benchmarks/ordered.py --splits 5
"""

import argparse
from functools import partial

import numpy as np

from inldl.methods import KernelSoftmaxLDL
from inldl.metrics import cosine
from inldl_paper.experiments import make_fold
from inldl_paper.experiments.protocol import some_rows
from inldl_paper.ordered import earth_mover, label_error

SHOWN = {"earth mover": earth_mover, "label error": label_error, "cosine": cosine}
RATES = (0.5, 0.0)
ROWS = 1000


def ages(n=ROWS, k=20, C=70):
    """Return features, and for each row a bell curve around an age that four of them tell."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, k))
    age = 35 + 12 * np.tanh(X[:, 0]) + 6 * X[:, 1] * X[:, 2] + 8 * np.sin(X[:, 3])
    age += rng.normal(0, 4, n)
    spread = rng.uniform(2, 6, n)
    y = np.exp(-(((np.arange(C) - np.clip(age, 1, C - 1)[:, None]) / spread[:, None]) ** 2) / 2)
    return X, y / y.sum(axis=1, keepdims=True)


DATA = {
    "Movie": partial(some_rows, "Movie", ROWS),
    "SCUT_FBP": partial(some_rows, "SCUT_FBP", ROWS),
    "ages": ages,
}


def scores(name, X, y, rate, splits):
    """Return the scores of both on each split, and the strengths that were chosen."""
    found, chosen = [], []
    for split in range(splits):
        fold = make_fold(name, X, y, rate=rate, split=split, recipe="standard")
        both = []
        for smoothness in (0.0, "auto"):
            model = KernelSoftmaxLDL(smoothness=smoothness, random_state=0).fit(fold.X, fold.y)
            predicted = model.predict(fold.X_test)
            both.append([metric(fold.y_test, predicted) for metric in SHOWN.values()])
        found.append(both)
        chosen.append(f"{model.smoothness_:g}")
    return np.array(found), chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--splits", type=int, default=5)
    splits = parser.parse_args().splits
    print(f"| | missing | {' | '.join(SHOWN)} | splits with less distance | strengths |")
    print(f"|---|---:|{'---:|' * len(SHOWN)}---:|---|")
    for name, load in DATA.items():
        X, y = load()
        for rate in RATES:
            found, chosen = scores(name, X, y, rate, splits)
            without, with_order = found.mean(axis=0)
            pairs = [f"{a:.4f} → {b:.4f}" for a, b in zip(without, with_order, strict=True)]
            less = (found[:, 1, 0] < found[:, 0, 0]).sum()
            cells = [name, f"{rate:.0%}", *pairs, f"{less} of {splits}", ", ".join(chosen)]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
