"""Time of a prediction: of one row by several methods, and rows a second of a linear one.

    python benchmarks/latency.py

CPU time of one thread: the median of many calls, after some that warm up.
"""

import warnings
from time import thread_time

import numpy as np
from threadpoolctl import threadpool_limits

from inldl import AutoInLDL, TableModel, WInLDL, hide
from inldl.datasets import load_budget_shares, make_distributions
from inldl.methods import ForestLDL, KernelRidgeLDL, KernelSoftmaxLDL
from inldl.methods.boosted import Boosted

CALLS = 300


def milliseconds(model, X):
    """Return the median milliseconds that a prediction of rows takes."""
    times = []
    for _ in range(CALLS):
        start = thread_time()
        model.predict(X)
        times.append(thread_time() - start)
    return 1000 * float(np.median(times[CALLS // 10 :]))


def one_row():
    """Print how long one row takes."""
    for n in (500, 5000):
        X, y = make_distributions(n, random_state=0)
        X = np.column_stack([X, np.random.default_rng(0).normal(size=(n, 7))])
        y = hide(y, 0.5, random_state=0)
        all_members = {"weights": "equal"}
        models = [WInLDL(), KernelRidgeLDL(), KernelSoftmaxLDL(), Boosted(), ForestLDL()]
        for model in [*models, AutoInLDL(), AutoInLDL(**all_members)]:
            if "random_state" in model.get_params():
                model.set_params(random_state=0)
            took = milliseconds(model.fit(X, y), X[:1].copy())
            print(f"{n:6,} rows {model!s:40} {took:8.3f} ms", flush=True)
    X, y = load_budget_shares(return_X_y=True, as_frame=True)
    for method in ("winldl", "auto"):
        took = milliseconds(TableModel(method, random_state=0).fit(X, y), X[:1])
        print(f"{len(X):6,} rows TableModel({method!r}) {took:8.3f} ms", flush=True)


def many_rows(n=500_000):
    """Print rows a second of a linear method."""
    for k, n_labels in ((10, 3), (10, 5), (100, 5), (100, 50)):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(1000, k)), rng.dirichlet(np.ones(n_labels), 1000)
        model, many = WInLDL().fit(X, y), rng.normal(size=(n, k))
        times = []
        for _ in range(7):
            start = thread_time()
            model.predict(many)
            times.append(thread_time() - start)
        print(f"WInLDL k={k} C={n_labels}: {n / min(times) / 1e6:6.2f} million rows a second")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        one_row()
        many_rows()
