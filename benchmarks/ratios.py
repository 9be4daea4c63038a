"""How well methods learn from rows whose missing labels were dropped and the others rescaled to 1.

    python benchmarks/ratios.py [--out ratios.jsonl] [--splits 1] [--datasets ...] [--rates ...]

It hides degrees as `inldl bench` does, divides what is left of each row by its sum, and prints the
table of docs/ratios.md: cosine and KL divergence at unseen rows, and the error of recovered
training rows. "zeros" puts 0 into the holes, "as degrees" takes the numbers for degrees (AutoInLDL
then learns zeros as well, as the others sum to 1), "ratios" is known="ratios", and "true degrees"
learns from the same holes without the division, as a yardstick. A stopped run resumes where it
was.
"""

import argparse
import time
import warnings
from functools import lru_cache

import numpy as np
import pandas as pd

from inldl import AutoInLDL, WInLDL
from inldl.datasets import load
from inldl.engines.base import one_blas_thread
from inldl.metrics import evaluate, recovery
from inldl_paper.experiments.folds import make_fold, partition
from kept import Results, Table, digits, resumed

YEAST = [f"Yeast_{name}" for name in ("alpha", "cdc", "diau", "dtt", "elu", "heat", "spo")]
DATASETS = ["Movie", "Natural_Scene", "SBU_3DFE", "SCUT_FBP", "SJAFFE", *YEAST, "emotion6"]
WAYS = ("zeros", "as degrees", "ratios", "true degrees")
JUDGED = (("cosine", 1), ("kl_divergence", -1), ("recovered rmse_at_holes", -1))
MOST_ROWS = 400  # of a dataset: all ways see the same


def method(name, way):
    """Return a method for a way to understand the rows."""
    known = {"known": "ratios"} if way == "ratios" else {}
    if name == "auto":
        return AutoInLDL(random_state=0, **known)
    return WInLDL(cross_fit=5, close_rows=way != "as degrees", **known)


@lru_cache(maxsize=1)
def folds(name, rate, split, model):
    """Return the fold with degrees, the same with ratios, and the truth of its training rows."""
    X, y = load(name, return_X_y=True)
    some = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    X, y = X[some], y[some]
    recipe = "authors" if name == "Movie" or model == "winldl" else "standard"
    both = [
        make_fold(name, X, y, rate=rate, split=split, recipe=recipe, mechanism=mechanism)
        for mechanism in ("uniform", "uniform-renormalised")
    ]
    return *both, y[partition(name, len(y), split)[0]]


def measure(name, rate, split, model, way):
    """Fit, predict and complete; return the numbers of one row of the results."""
    degrees, ratios, truth = folds(name, rate, split, model)
    fold = degrees if way == "true degrees" else ratios
    y = np.where(np.isnan(fold.y), 0, fold.y) if way == "zeros" else fold.y
    if way == "zeros":  # of a row of which nothing is known nothing is said
        y[np.isnan(fold.y).all(axis=1)] = np.nan
    start = time.process_time()
    fitted = method(model, way).fit(fold.X, y)
    seconds = time.process_time() - start
    found = evaluate(fold.y_test, fitted.predict(fold.X_test), ["cosine", "kl_divergence"])
    completed = fitted.complete(fold.X, y)
    completed[completed.sum(axis=1) == 0] = 1  # zeros of which no distribution can be made
    completed /= completed.sum(axis=1, keepdims=True)
    again = {f"recovered {k}": v for k, v in recovery(truth, fold.y, completed).items()}
    return found | again | {"fit_seconds": seconds}


def table(rows, measures):
    """Print means over datasets, a line for each method and way."""
    means = rows.groupby(["method", "way", "rate"])[measures].mean().unstack()
    order = [(m, w) for m in ("winldl", "auto") for w in WAYS if (m, w) in means.index]
    print(means.loc[order].round(4).to_string())


def wins(rows, measure, sign):
    """Return how often "ratios" is better than the naive ways; the sign of errors is -1."""
    found = []
    cases = rows.pivot_table(index=["dataset", "rate"], columns=["method", "way"], values=measure)
    for model in cases.columns.levels[0]:
        ways = sign * cases[model].dropna()
        better = ways["ratios"] > ways.drop(columns=["ratios", "true degrees"]).max(axis=1)
        found.append((model, int(better.sum()), len(ways)))
    return found


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="ratios.jsonl")
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--rates", type=float, nargs="+", default=[0.3, 0.5, 0.7])
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--methods", nargs="+", default=["winldl", "auto"])
    parser.add_argument("--ways", nargs="+", default=WAYS)
    return parser.parse_args(words)


def measured(given):
    """Finish the run and return its rows."""
    cases = [
        (name, rate, split, model, way)
        for split in range(given.splits)
        for name in given.datasets
        for rate in given.rates
        for model in given.methods
        for way in given.ways
        if (model, way) != ("auto", "as degrees")
    ]
    keys = ("dataset", "rate", "split", "method", "way")
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pd.DataFrame(resumed(given.out, keys, cases, measure))


def results(rows):
    """Return the two tables of the page, means over datasets, and how often ratios are better."""
    pairs = {
        "unseen rows": ("cosine", "kl_divergence"),
        "recovered rows": ("recovered rmse_at_holes", "recovered canberra"),
    }
    tables, facts = {}, {}
    for name, pair in pairs.items():
        means = rows.groupby(["method", "way", "rate"])[[*pair]].mean()
        lines = []
        for model, shown in (("winldl", "WInLDL"), ("auto", "AutoInLDL")):
            for rate in sorted(rows["rate"].unique()):
                found = [
                    " / ".join(digits(v, 3) for v in means.loc[(model, way, rate)])
                    if (model, way, rate) in means.index else "the same"
                    for way in WAYS
                ]  # fmt: skip
                lines.append([f"{shown}, {rate:.0%} hidden", *found])
        tables[name] = Table([name, *WAYS], lines)
    for measure_, sign in JUDGED:
        for model, better, n in wins(rows, measure_, sign):
            facts[f"{model}, {measure_}: ratios are better in"] = f"{better} of {n}"
    return Results(tables, facts)


def main():
    """Finish the run and print the tables."""
    rows = measured(options())
    table(rows, ["cosine", "kl_divergence"])
    table(rows, ["recovered rmse_at_holes", "recovered canberra", "recovered kl_divergence"])
    for measure_, sign in JUDGED:
        for model, better, n in wins(rows, measure_, sign):
            print(f"{model}, {measure_}: better in {better} of {n} cases")


if __name__ == "__main__":
    main()
