"""Compare the CPU time of AutoInLDL with that of LightGBM, label by label, in the same run.

The data are softmax-shaped: 30 features, 8 labels, half of the degrees missing. LightGBM grows 200
trees a label on one thread, on the rows where the label is observed. Both are timed alternately,
so that what else the machine does hits both; the ratio is what counts. Cosines are those of 2000
new rows.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/auto_speed.py [--repeats 3]

It needs LightGBM (pip install lightgbm).
"""

import argparse
import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from inldl import AutoInLDL, hide
from inldl.metrics import evaluate
from kept import Results, Table, digits
from rivals import LightGBM

NEW, K, C = 2000, 30, 8


def curved(n):
    """Return features, and distributions that are a softmax of waves of them and noise."""
    rng, shape = np.random.default_rng(0), np.random.default_rng(123)
    waves, phases = shape.normal(size=(K, 40)) / np.sqrt(K) * 1.5, shape.uniform(0, 2 * np.pi, 40)
    heights, slopes = shape.normal(size=(40, C)) * 0.6, shape.normal(size=(K, C)) * 0.15
    X = rng.normal(size=(n, K))
    scores = np.cos(X @ waves + phases) @ heights + X @ slopes + 0.3 * rng.normal(size=(n, C))
    P = np.exp(scores - scores.max(axis=1, keepdims=True))
    return X, P / P.sum(axis=1, keepdims=True)


def timed(model, X, y):
    """Return the CPU seconds of a fit."""
    began = time.process_time()
    model.fit(X, y)
    return time.process_time() - began


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", nargs="+", type=int, default=[1000, 10_000, 50_000])
    return parser.parse_args(words)


def measured(given):
    """Return rows, median CPU seconds and cosines of both, and the median of the ratios."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compared(given.repeats, given.rows)


def compared(repeats, sizes):
    """Fit both to tables of each size, by turns."""
    found = []
    X, y = curved(300)
    AutoInLDL(random_state=0).fit(X, hide(y, 0.5, random_state=0))  # compiles
    for n in sizes:
        X, y = curved(n + NEW)
        given = hide(y[:n], 0.5, random_state=0)
        models = LightGBM(), AutoInLDL(random_state=0)
        times = [[timed(m, X[:n], given) for m in models] for _ in range(repeats)]
        theirs, ours = np.median(times, axis=0)
        ratio = np.median([b / a for a, b in times])
        cosines = [evaluate(y[n:], m.predict(X[n:]))["cosine"] for m in models]
        found.append((n, theirs, ours, ratio, *cosines))
    return found


def results(found):
    """Return a line for each number of rows."""
    lines = [
        [f"{n:,}", f"{a:.1f}", f"{b:.1f}", digits(ratio, 2), digits(c), digits(d)]
        for n, a, b, ratio, c, d in found
    ]
    columns = ["rows", "LightGBM, CPU s", "AutoInLDL, CPU s", "ratio"]
    columns += ["cosine, LightGBM", "cosine, AutoInLDL"]
    return Results({"seconds": Table(columns, lines, 0)})


def main():
    results(measured(options())).show()


if __name__ == "__main__":
    main()
