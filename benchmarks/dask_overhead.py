"""Time WInLDL on a Dask cluster of two processes beside two threads of this machine.

The time of an iteration is the slope between a short and a long fit, so that loading does not
count; the fixed cost is what the cluster needs more than the threads. All are wall seconds, the
best of several rounds that take turns, on a machine that does nothing else.

    python benchmarks/dask_overhead.py            four sizes
    python benchmarks/dask_overhead.py --most 2000000 --rounds 5
"""

import argparse
import time
import warnings

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from distributed.comm.tcp import TCP
from sklearn.exceptions import ConvergenceWarning

from inldl import WInLDL
from inldl_paper.literature import InLDLADMM, InLDLProx

SIZES = [2_000, 20_000, 200_000, 2_000_000]
FEATURES, LABELS, CHUNKS = 30, 8, 16
SHORT, LONG = 5, 35


def chunk(block_id, rows):
    """Return features and degrees side by side, half of the degrees hidden."""
    rng = np.random.default_rng(block_id[0])
    X = rng.standard_normal((rows, FEATURES))
    y = np.exp(X[:, :LABELS] / 4) * rng.uniform(0.5, 1.5, (rows, LABELS))
    y /= y.sum(axis=1, keepdims=True)
    y[rng.random(y.shape) < 0.5] = np.nan
    return np.hstack([X, y])


def make(n):
    """Return lazy rows that the workers make themselves."""
    rows = n // CHUNKS
    chunks = ((rows,) * CHUNKS, (FEATURES + LABELS,))
    both = da.map_blocks(chunk, rows=rows, chunks=chunks, dtype=float, meta=np.empty((0, 0)))
    return both[:, :FEATURES], both[:, FEATURES:]


def seconds(method, n_iter, X, y, **parameters):
    """Return the wall time of a fit that does not stop early."""
    model = method(max_iter=n_iter, tol=0.0, **parameters)
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def compare(method, n, rounds):
    """Print a line for one size."""
    X, y = make(n)
    X_here, y_here = X.compute(), y.compute()
    cluster, threads = np.full((2, rounds), np.inf), np.full((2, rounds), np.inf)
    for i in range(rounds):
        for j, n_iter in enumerate((SHORT, LONG)):
            cluster[j, i] = seconds(method, n_iter, X, y)
            threads[j, i] = seconds(method, n_iter, X_here, y_here, n_jobs=2)
    best = [np.subtract(*times.min(axis=1)[::-1]) / (LONG - SHORT) for times in (cluster, threads)]
    fixed = 1e3 * (best[0] - best[1])
    times = "".join(f"{1e3 * each:12.1f}" for each in best)
    whole = cluster[1].min() / threads[1].min()
    print(f"{method.__name__:10}{n:>9}{times}{fixed:9.1f}{best[0] / best[1]:8.2f}{whole:8.2f}")


def traffic(method, n):
    """Return the bytes of an iteration that pass this process, where client and scheduler are."""
    counted, write = [0], TCP.write

    async def counting_write(self, *arguments, **options):
        size = await write(self, *arguments, **options)
        counted[0] += size
        return size

    TCP.write = counting_write
    X, y = make(n)
    sent = []
    for n_iter in (SHORT, LONG):
        counted[0] = 0
        seconds(method, n_iter, X, y)
        sent.append(counted[0])
    TCP.write = write
    return (sent[1] - sent[0]) / (LONG - SHORT)


def main(most, rounds):
    methods = (WInLDL, InLDLProx, InLDLADMM)
    for method in methods:
        seconds(method, 2, *make(SIZES[0]))  # loads what was compiled
    print(
        f"{'':10}{'n':>9}{'cluster ms':>12}{'threads ms':>12}{'more ms':>9}{'ratio':>8}{'fit':>8}"
    )
    for method in methods:
        for n in SIZES:
            if n <= most and (method is WInLDL or n <= 20_000):
                compare(method, n, rounds)
    for n in (20_000, 80_000):
        print(f"bytes sent in an iteration of WInLDL, {n} rows: {traffic(WInLDL, n):.0f}")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--most", type=int, default=SIZES[-1], help="the largest size")
    arguments.add_argument("--rounds", type=int, default=3, help="best of how many (default 3)")
    options = arguments.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        main(options.most, options.rounds)
