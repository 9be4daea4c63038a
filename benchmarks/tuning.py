"""How much the choice of constants by the truth flatters a method.

    python benchmarks/tuning.py [--out tuning.jsonl] [--splits 3] [--datasets ...] [--methods ...]

For every candidate that a method declares (`tunable`) it fits the training rows of a split and
notes the scores at the test rows, and the error at training degrees that were hidden on purpose
(`TunedLDL`). It prints the table of docs/tuning.md: scores at test rows with the default
constants, with those that hidden degrees choose in each split, and with those that are best at the
test rows themselves on average over the splits, as programs of papers choose them. A stopped run
resumes where it was.
"""

import argparse
import time
import warnings
from functools import cache

import numpy as np
import pandas as pd

from inldl.datasets import load
from inldl.engines.base import one_blas_thread
from inldl.methods.registry import make_method
from inldl.metrics import evaluate
from inldl_paper import TunedLDL
from inldl_paper.experiments import make_fold
from kept import Results, Table, best_marked, digits, resumed

DATASETS = ["SJAFFE", "SBU_3DFE", "SCUT_FBP", "Yeast_spo", "emotion6"]
METHODS = ["winldl", "inldl-p", "inldl-a", "bfgs-ldl", "edl-lrl", "ridge", "knn"]
MEASURES = ["kl_divergence", "cosine"]
MOST_ROWS = 300
COLUMNS = ("default", "hidden degrees", "the truth")


@cache
def rows_of(name):
    """Return some rows of a dataset."""
    X, y = load(name, return_X_y=True)
    some = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return X[some], y[some]


def measure(name, rate, split, method):
    """Return the scores of every candidate, the first being the default."""
    X, y = rows_of(name)
    fold = make_fold(name, X, y, rate=rate, split=split)
    began = time.process_time()
    tuned = TunedLDL(make_method(method, 0), random_state=0).fit(fold.X, fold.y)
    seconds = time.process_time() - began
    found = []
    for trial in tuned.trials_:
        model = make_method(method, 0).set_params(**trial["parameters"]).fit(fold.X, fold.y)
        scores = evaluate(fold.y_test, model.predict(fold.X_test), MEASURES)
        found.append({"constants": str(trial["parameters"]), "error": trial["error"], **scores})
    return {"trials": found, "seconds": seconds}


def three_ways(runs, measure):
    """Return the mean score of the splits of one cell: default, by hidden degrees, by the truth.

    Candidates are chosen one after the other where they are many, so that splits may differ in
    what was tried; the truth chooses among those that all splits tried.
    """
    trials = [{t["constants"]: t for t in run["trials"]} for run in runs]
    default = [run["trials"][0][measure] for run in runs]
    hidden = [min(run["trials"], key=lambda t: t["error"])[measure] for run in runs]
    shared = set.intersection(*(set(each) for each in trials))
    best = max if measure == "cosine" else min
    truth = best(np.mean([each[name][measure] for each in trials]) for name in shared)
    return np.mean(default), np.mean(hidden), truth


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="tuning.jsonl")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rates", type=float, nargs="+", default=[0.3, 0.7])
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    return parser.parse_args(words)


def measured(given):
    """Finish the run and return its rows."""
    cases = [
        (name, rate, split, method)
        for name in given.datasets
        for method in given.methods
        for rate in given.rates
        for split in range(given.splits)
    ]
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return resumed(given.out, ("dataset", "rate", "split", "method"), cases, measure)


def results(runs):
    """Return a table for each measure: means over datasets and rates, a line for each method."""
    frame = pd.DataFrame(runs).groupby(["method", "dataset", "rate"])
    tables, facts = {}, {}
    for name in MEASURES:
        cells = {
            key: three_ways([runs[i] for i in rows], name) for key, rows in frame.groups.items()
        }
        table = pd.DataFrame(cells, index=COLUMNS).T
        means = table.groupby(level=0).mean()
        lines = [
            [f"`{method}`", *best_marked([digits(each) for each in own], name != "cosine")]
            for method, own in means.iterrows()
        ]
        tables[name] = Table([name, *COLUMNS], lines)
        sign = 1 if name == "cosine" else -1
        gains = sign * (table["the truth"] - table["hidden degrees"])
        facts["cells"] = str(len(table))
        facts[f"{name}: the truth gains over hidden degrees in"] = str(int((gains > 1e-6).sum()))
    return Results(tables, facts)


def main():
    """Finish the run and print the tables."""
    results(measured(options())).show()


if __name__ == "__main__":
    main()
