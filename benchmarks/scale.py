"""Measure what an iteration of WInLDL costs by rows, features and labels, and fit a model to it.

    python benchmarks/scale.py times.csv                  one thread, about seven minutes
    python benchmarks/scale.py times.csv --draw docs/images/scale.svg   what is in the file
    python benchmarks/scale.py --threads                  what two threads cost more than one
    python benchmarks/scale.py --cluster                  the fixed cost, by the number of workers

The times of the first are CPU seconds, the best of three fits. Of what `times.csv` has already the
better one is kept, so that a busy machine can be asked twice. `docs/scale.md` says what follows.
"""

import argparse
import csv
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.optimize import nnls
from threadpoolctl import threadpool_limits

from inldl import WInLDL
from inldl.report import save
from inldl.report.style import drawn, legend_above, looks, new_figure
from inldl_paper.figures.axes import log_axis

ROWS = [1_000, 10_000, 100_000, 1_000_000, 4_000_000]
SHAPES = [(10, 4), (10, 32), (50, 8), (50, 32), (200, 4), (200, 8), (200, 32)]  # (k, C)
DRAWN = [(10, 4), (50, 8), (200, 8), (200, 32)]
LARGE = 100_000  # rows from which on the model is fitted: what is smaller stays in the caches
MOST = 370_000_000  # numbers of X, y and the state together
ITERATIONS, ROUNDS = 6, 3
COLUMNS = ["dtype", "n", "k", "C", "iteration", "loading"]


class TimedWInLDL(WInLDL):
    """A fit that notes the CPU time at which each iteration ends."""

    def fit(self, X, y):
        """Fit, and note when it began."""
        self.ends = [time.process_time()]
        return super().fit(X, y)

    def _report(self, t, changes):
        self.ends.append(time.process_time())


def make(n, k, C, dtype):
    """Return features and degrees, half of them missing."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, k), dtype=dtype)
    y = rng.standard_exponential((n, C), dtype=dtype)
    y /= y.sum(axis=1, keepdims=True)
    y[rng.random(y.shape, dtype=np.float32) < 0.5] = np.nan
    return X, y


def seconds(X, y, n_jobs=1):
    """Return the best CPU seconds of an iteration, and of all before the first."""
    iterations, loadings = [], []
    for _ in range(ROUNDS * max(1, min(20, 100_000 // len(X)))):
        model = TimedWInLDL(max_iter=ITERATIONS, tol=0.0, verbose=1, n_jobs=n_jobs).fit(X, y)
        spans = [after - before for before, after in pairwise(model.ends)]
        iterations.append(float(np.mean(spans[1:])))
        loadings.append(spans[0] - iterations[-1])
    return min(iterations), max(min(loadings), 0.0)


def measure(path):
    """Measure all sizes, and keep the better of each in the file."""
    times = read(path)
    for dtype in ("float64", "float32"):
        for k, C in SHAPES:
            for n in ROWS:
                if n * (k + 5 * C) <= MOST:
                    size = dtype, n, k, C
                    found = seconds(*make(n, k, C, dtype))
                    times[size] = tuple(map(min, found, times.get(size, found)))
                    write(path, times)
                    print(*size, *times[size], flush=True)


def read(path):
    """Return the times by size, none if there is no file."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    return {(row[0], *map(int, row[1:4])): tuple(map(float, row[4:])) for row in rows}


def write(path, times):
    """Write the times by size."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *((*size, *found) for size, found in times.items())])


def arrays(times, dtype):
    """Return n, k, C and the seconds of an iteration of all sizes in one precision."""
    return np.array([(*size[1:], found[0]) for size, found in times.items() if size[0] == dtype]).T


def terms(n, k, C):
    """Return what a, b, c and d of ``n (a k C + b C + c k + d)`` are multiplied with."""
    return np.stack(np.broadcast_arrays(n * k * C, n * C, n * k, n), axis=-1)


def fit_model(n, k, C, taken):
    """Return a, b, c, d and the fixed seconds, all at least 0.

    The first four make the squares of the relative errors at many rows smallest; the fixed
    seconds are what the smallest problem takes more.
    """
    large = n >= LARGE
    columns = terms(n, k, C)
    factors, _ = nnls(columns[large] / taken[large, None], np.ones(large.sum()))
    least = np.argmin(n * k * C)
    return factors, max(taken[least] - columns[least] @ factors, 0.0)


def modelled(model, n, k, C):
    """Return the CPU seconds of an iteration by the model."""
    factors, fixed = model
    return terms(n, k, C) @ factors + fixed


def tell(times):
    """Print the model of each precision, and how far it is off."""
    for dtype in ("float64", "float32"):
        n, k, C, taken = arrays(times, dtype)
        model = fit_model(n, k, C, taken)
        off = modelled(model, n, k, C) / taken
        factors = ", ".join(
            f"{name} {1e9 * x:.3f}" for name, x in zip("abcd", model[0], strict=True)
        )
        print(f"{dtype}: {factors} ns, fixed {1e6 * model[1]:.0f} us")
        for name, rows in (("many", n >= LARGE), ("few", n < LARGE)):
            log = np.log(taken[rows])
            r2 = 1 - np.sum(np.log(off[rows]) ** 2) / np.sum((log - log.mean()) ** 2)
            least, most = off[rows].min(), off[rows].max()
            print(f"  {name} rows: model / measured {least:.2f} to {most:.2f}, R2 {r2:.4f}")


@drawn
def draw(times):
    """Draw what was measured in double precision as marks, and the model as lines."""
    axes = new_figure(4.5, 2.8).subplots()
    found, lines = arrays(times, "float64"), []
    model, along = fit_model(*found), np.geomspace(ROWS[0], ROWS[-1], 60)
    for (k, C), look in looks(DRAWN).items():
        n, *_, taken = found[:, (found[1] == k) & (found[2] == C)]
        axes.plot(n, taken, **look | {"linestyle": "none"})
        axes.plot(along, modelled(model, along, k, C), color=look["color"], ls=look["linestyle"])
        lines += axes.plot([], [], label=f"k = {k}, C = {C}", **look)
    log_axis(axes.xaxis)
    log_axis(axes.yaxis)
    axes.set(xlabel="rows n", ylabel="CPU seconds of an iteration")
    legend_above(axes.figure, lines, title="marks: measured; lines: model")
    return axes.figure


def compare_threads(n=4_000_000, k=50, C=8):
    """Print by how much the CPU time of an iteration grows when two cores share the memory."""
    for dtype in ("float64", "float32"):
        X, y = make(n, k, C, dtype)
        one, two = (seconds(X, y, n_jobs)[0] for n_jobs in (1, 2))
        print(f"{dtype}, {n:,} x {k} x {C}: CPU s, one thread {one:.3f}, two {two:.3f}")


def compare_workers(numbers=(1, 2, 4, 8, 16), k=50, C=8):
    """Print the wall time of an iteration that has nearly nothing to do, by worker processes."""
    import dask.array as da
    from distributed import Client, LocalCluster

    X, y = (da.from_array(a, chunks=(100, -1)) for a in make(6_400, k, C, "float64"))
    for n_workers in numbers:
        with (
            LocalCluster(n_workers, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster),
        ):
            WInLDL(max_iter=2).fit(X, y)  # loads what was compiled
            times = [[wall(X, y, n_iter) for n_iter in (5, 35)] for _ in range(ROUNDS)]
        short, long = np.min(times, axis=0)
        print(f"{n_workers:3} workers: {1e3 * (long - short) / 30:6.1f} ms", flush=True)


def wall(X, y, n_iter):
    """Return the wall seconds of a fit that does not stop early."""
    begun = time.perf_counter()
    WInLDL(max_iter=n_iter, tol=0.0).fit(X, y)
    return time.perf_counter() - begun


def main(options):
    """Do what the command line asks for."""
    WInLDL().fit(*make(200, 3, 4, "float64"))  # compiles, or loads what was compiled
    if options.cluster:
        compare_workers()
    elif options.threads:
        compare_threads()
    elif options.draw:
        save(draw(read(options.times)), options.draw)
    else:
        measure(options.times)
        tell(read(options.times))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("times", type=Path, nargs="?", default=Path("times.csv"))
    parser.add_argument("--draw", type=Path, help="draw the file instead")
    parser.add_argument("--threads", action="store_true", help="one thread beside two instead")
    parser.add_argument("--cluster", action="store_true", help="clusters on this machine instead")
    with threadpool_limits(1):
        main(parser.parse_args())
