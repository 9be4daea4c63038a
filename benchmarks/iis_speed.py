"""Time IISLDL beside one scalar root find per parameter, on a shape like that of Scene.

Both run in turn in one process with one BLAS thread, on the same data and from the same start; the
numbers are CPU seconds per iteration, the best of several rounds, and the ratio is what to read.
The slow one does few iterations, since each is the same work.

    python benchmarks/iis_speed.py
"""

import argparse

import numpy as np
from scipy.optimize import brentq
from threadpoolctl import threadpool_limits

from fit_speed import best
from inldl import hide
from inldl.solvers.softmax import softmax, zero_filled
from inldl_paper.literature import IISLDL
from kept import Results, Table, digits

SHAPE = (2000, 294, 9)


def make(n, k, C):
    """Return features that are positive as in Scene, and distributions with half hidden."""
    rng = np.random.default_rng(0)
    X = rng.gamma(2.0, size=(n, k)) * rng.uniform(0.03, 0.09, size=(n, 1))
    scores = np.exp(X @ rng.standard_normal((k, C)))
    return X, hide(scores / scores.sum(axis=1, keepdims=True), 0.5, random_state=1)


def root(x, p, s, target):
    """Return the root of one equation; where it has none, the bound on the side of it."""
    positive, negative = p * np.maximum(x, 0), p * np.maximum(-x, 0)

    def g(delta):
        growth = np.exp(delta * s)
        return positive @ growth - negative @ (1 / growth) - target

    bound = np.log(1e12) / s.mean()
    if g(-bound) >= 0 or g(bound) <= 0:
        return -bound if g(-bound) >= 0 else bound
    return brentq(g, -bound, bound, xtol=1e-12)


def one_by_one(X, y, max_iter):
    """Fit by iterative scaling, a root finder for each parameter; no bias, the start is 0."""
    degrees = zero_filled(y)[0]
    s, target = np.abs(X).sum(axis=1), X.T @ degrees
    W = np.zeros(target.shape)
    for _ in range(max_iter):
        P = softmax(X @ W)
        step = [
            [root(X[:, k], P[:, j], s, target[k, j]) for j in range(W.shape[1])]
            for k in range(W.shape[0])
        ]
        W += np.array(step)
    return W


def compare(rounds, fast, slow):
    """Return the seconds of an iteration of ours and of theirs, and how far results are apart."""
    X, y = make(*SHAPE)
    model = IISLDL(max_iter=fast, tol=0.0, fit_intercept=False)
    ours, theirs = best([lambda: model.fit(X, y), lambda: one_by_one(X, y, slow)], rounds)
    assert model.n_iter_ == fast, "the fit ended early: the time per iteration would be wrong"
    short = IISLDL(max_iter=slow, tol=0.0, fit_intercept=False).fit(X, y)
    difference = np.abs(short.coef_.T - one_by_one(X, y, slow)).max()
    return ours / fast, theirs / slow, difference


def options(words=None):
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=3, help="best of how many (default 3)")
    arguments.add_argument("--fast", type=int, default=10, help="iterations of IISLDL")
    arguments.add_argument("--slow", type=int, default=1, help="iterations one by one")
    return arguments.parse_args(words)


def measured(given):
    with threadpool_limits(1):
        return compare(given.rounds, given.fast, given.slow)


def results(found):
    """Return a table of one line."""
    ours, theirs, _ = found
    shown = "an iteration of IIS, 2000 x 294 x 9, all roots together instead of one by one"
    lines = [[shown, digits(ours), digits(theirs, 2), f"{theirs / ours:.0f}"]]
    return Results({"roots": Table(["CPU seconds", "ours", "replaced", "times"], lines)})


def main():
    ours, theirs, difference = measured(options())
    print(f"{SHAPE}: CPU seconds per iteration, inldl {ours:.4f}, one by one {theirs:.4f}, "
          f"ratio {theirs / ours:.1f}; largest difference {difference:.1e}")  # fmt: skip


if __name__ == "__main__":
    main()
