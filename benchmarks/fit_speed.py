"""Time WInLDL.fit beside the floor and beside plain NumPy, on the ten shapes of the paper.

The floor is what no solver of this kind can avoid: X'X once, then X'R and XW 50 times. All three
run in turn in one process, on one thread with one BLAS thread, compiled before; the numbers are
CPU seconds, the best of several rounds, and the ratios are what to read.

    python benchmarks/fit_speed.py            the ten shapes
    python benchmarks/fit_speed.py --draw docs/images/performance.svg   the same, and draws it
    python benchmarks/fit_speed.py --rows     the row work alone, in nanoseconds an entry
    python benchmarks/fit_speed.py --scale    threads, precision and growth with n
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from inldl import WInLDL, hide, kernels
from inldl.report import save
from inldl.report.style import GREY, PALE, drawn, legend_above, looks, new_figure
from inldl_paper.figures.axes import log_axis
from kept import Results, Table, digits

sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers"))
from plain_numpy import winldl

SHAPES = {
    "Gene": (17892, 36, 68),
    "Movie": (7755, 100, 5),
    "Scene": (2000, 100, 9),
    "SBU3DFE": (2500, 243, 6),
    "SJAFFE": (213, 243, 6),
    "Emotion6": (1980, 100, 7),
    "Fbp5500": (5500, 100, 5),
    "Flickr": (11150, 200, 8),
    "RAF_ML": (4908, 200, 6),
    "SCUTFBP": (1500, 100, 5),
}
ITERATIONS = 50
MOMENT = 0.02  # seconds: what is shorter is done again and again, as clocks tick that slowly


def make(n, k, C, dtype=np.float64, spread=1.0):
    """Return unit rows and distributions that depend on them, half of the degrees hidden.

    The smaller the spread, the more even the distributions, and the farther from the edge.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, k), dtype=np.float64).astype(dtype)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    scores = X @ rng.standard_normal((k, C)).astype(dtype) + rng.standard_normal(C)
    scores = np.exp(spread * scores)
    return X, hide(scores / scores.sum(axis=1, keepdims=True), 0.5, random_state=1)


def floor(X, C):
    """Do the products that cannot be avoided."""
    R, W = np.full((len(X), C), 0.5, X.dtype), np.full((X.shape[1], C), 0.5, X.dtype)
    X.T @ X
    for _ in range(ITERATIONS):
        X.T @ R
        X @ W


def best(functions, rounds, clock=time.process_time):
    """Return the best seconds of each function, taking turns."""
    seconds = [np.inf] * len(functions)
    for _ in range(rounds):
        for i, function in enumerate(functions):
            seconds[i] = min(seconds[i], seconds_of(function, clock))
    return seconds


def seconds_of(function, clock):
    """Return the mean seconds of a call, of as many calls as take a moment."""
    start, calls, taken = clock(), 0, 0.0
    while taken < MOMENT:
        function()
        calls, taken = calls + 1, clock() - start
    return taken / calls


def ten_shapes(rounds, names=tuple(SHAPES)):
    """Print the table of the ten shapes, and return the seconds of each."""
    model = WInLDL(tol=0.0, max_iter=ITERATIONS)
    model.fit(*make(200, 3, 4))  # compiles, or loads what was compiled
    print(f"{'':10}{'n':>7}{'k':>5}{'C':>4}{'floor':>9}{'inldl':>9}{'NumPy':>9}"
          f"{'inldl/floor':>13}{'NumPy/inldl':>13}")  # fmt: skip
    taken = {}
    for name in names:
        n, k, C = SHAPES[name]
        X, y = make(n, k, C)
        tasks = [
            lambda X=X, C=C: floor(X, C),
            lambda X=X, y=y: model.fit(X, y),
            lambda X=X, y=y: winldl(X, y, tol=0.0, max_iter=ITERATIONS),
        ]
        taken[name] = best(tasks, rounds)
        line(name, n, k, C, *taken[name])
    taken["all ten"] = np.sum(list(taken.values()), axis=0)
    line("all ten", "", "", "", *taken["all ten"])
    return taken


@drawn
def draw(taken):
    """Draw the times of `WInLDL.fit` and of plain NumPy in units of the floor."""
    axes = new_figure(5.0, 2.8).subplots()
    at = np.arange(len(taken))[::-1]
    ratios = np.array([(ours / least, plain / least) for least, ours, plain in taken.values()])
    axes.hlines(at, *ratios.T, color=PALE, zorder=1)
    axes.axvline(1, color=GREY, linewidth=0.8)
    names = ["WInLDL.fit", "plain NumPy"]
    lines = [
        axes.plot(ratio, at, label=name, **look | {"linestyle": "none"})[0]
        for ratio, (name, look) in zip(ratios.T, looks(names).items(), strict=True)
    ]
    axes.set_yticks(at, [f"{name} {SHAPES.get(name, '')}".strip() for name in taken])
    axes.set(xlabel="CPU seconds of 50 iterations / floor", ylim=(-0.7, len(taken) - 0.3))
    log_axis(axes.xaxis)
    legend_above(axes.figure, lines, title="1 is the floor: the matrix products alone")
    return axes.figure


def line(name, n, k, C, at_least, ours, plain):
    times = f"{at_least:9.4f}{ours:9.4f}{plain:9.4f}"
    print(f"{name:10}{n:>7}{k:>5}{C:>4}{times}{ours / at_least:13.2f}{plain / ours:13.2f}")


def row_work(rounds):
    """Print what an entry costs in the row work of an iteration, all that is not a product."""
    print(f"{'rows':>7}{'labels':>8}{'inside':>10}{'at the edge':>14}   CPU ns an entry")
    for n, C in [(240, 68), (17892, 68), (2032, 5), (200_000, 5)]:
        found = [min(seconds_of_rows(n, C, s) for _ in range(rounds)) for s in (0.05, 1.0)]
        inside, edge = (1e9 * seconds / (n * C * ITERATIONS) for seconds in found)
        print(f"{n:>7}{C:>8}{inside:>10.2f}{edge:>14.2f}")


def seconds_of_rows(n, C, spread):
    """Return the seconds that a fit spends in the kernel of the row work."""
    kernel, taken = kernels.winldl_step, 0.0

    def timed(*arguments):
        nonlocal taken
        start = time.process_time()
        result = kernel(*arguments)
        taken += time.process_time() - start
        return result

    X, y = make(n, 36, C, spread=spread)
    model = WInLDL(tol=0.0, max_iter=ITERATIONS).fit(*make(200, 3, 4))
    kernels.winldl_step = timed
    model.fit(X, y)
    kernels.winldl_step = kernel
    return taken


def scale(rounds):
    shape = (1_000_000, 100, 10)
    fit = {}
    for dtype in (np.float64, np.float32):
        X, y = make(*shape, dtype)
        jobs = [lambda X=X, y=y, j=j: WInLDL(tol=0.0, n_jobs=j).fit(X, y) for j in (1, 2)]
        fit[dtype] = best(jobs, rounds, time.perf_counter)
    double, single = fit[np.float64], fit[np.float32]
    print(f"{shape}: wall seconds, 1 thread {double[0]:.2f}, 2 threads {double[1]:.2f}, "
          f"speed-up {double[0] / double[1]:.2f}")  # fmt: skip
    print(f"float32: {single[0]:.2f} and {single[1]:.2f}, "
          f"{single[0] / double[0]:.2f} of float64 with 1 thread")  # fmt: skip
    rows = [10_000, 100_000, 1_000_000]
    seconds = []
    for n in rows:
        X, y = make(n, 100, 10)
        repeat = rounds * max(1, 100_000 // n)
        seconds += best([lambda X=X, y=y: WInLDL(tol=0.0).fit(X, y)], repeat)
    exponent = np.log(seconds[-1] / seconds[0]) / np.log(rows[-1] / rows[0])
    growth = ", ".join(f"{n}: {s:.3f}" for n, s in zip(rows, seconds, strict=True))
    print(f"CPU seconds by n: {growth} -> n^{exponent:.3f}")


def options(words=None):
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--scale", action="store_true", help="a million rows instead")
    arguments.add_argument("--rows", action="store_true", help="the row work alone instead")
    arguments.add_argument("--rounds", type=int, default=5, help="best of how many (default 5)")
    arguments.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    arguments.add_argument("--draw", type=Path, help="draw the ten shapes into this file too")
    return arguments.parse_args(words)


def measured(given):
    """Return the seconds of the floor, of ours and of plain NumPy by shape."""
    with threadpool_limits(1):
        return ten_shapes(given.rounds, given.shapes)


def results(taken):
    """Return the table of the shapes, and the ratios of all together."""
    lines = []
    for name, (least, ours, plain) in taken.items():
        cells = [digits(each, 3) for each in (least, ours, plain)]
        shape = f"{name} {SHAPES.get(name, '')}".strip()
        lines.append([shape, *cells, digits(ours / least, 2), f"{plain / ours:.1f}"])
    columns = ["data of the paper (n, k, C)", "floor", "`WInLDL.fit`", "plain NumPy"]
    tables = {"shapes": Table([*columns, "fit / floor", "NumPy / fit"], lines)}
    facts = {"fit / floor": lines[-1][4], "NumPy / fit": lines[-1][5]}
    return Results(tables, facts)


def main():
    given = options()
    with threadpool_limits(1):
        if given.scale or given.rows:
            (scale if given.scale else row_work)(given.rounds)
            return
    taken = measured(given)
    if given.draw:
        save(draw(taken), given.draw)


if __name__ == "__main__":
    main()
