"""All methods of the field under one protocol: accuracy, time and memory.

    python benchmarks/field.py [--out field.sqlite] [--methods ...] [--splits 1] [--rows 400]

It is `inldl bench` on some rows of some datasets, for several rates and mechanisms; methods are
taken by name, so that a new one joins an old run. It prints the tables of docs/field.md, and
draws the critical-difference diagram with --figure. A stopped run resumes where it was.
"""

import argparse

import numpy as np

from inldl.datasets import load
from inldl.experiments import Store, grid, run

DATASETS = ["SJAFFE", "SBU_3DFE", "SCUT_FBP", "Natural_Scene", "Yeast_spo", "emotion6"]
METHODS = [
    "winldl", "winldl(ridge='auto')", "inldl-p", "inldl-a", "ridge", "constant-mean", "auto",
    "knn", "bfgs-ldl", "ldm", "edl-lrl", "iis-ldl", "extra-trees",
]  # fmt: skip
RATES = [0.1, 0.5, 0.9]
MECHANISMS = ["uniform", "small"]


def some_rows(name, n):
    """Return n random rows of a dataset, the same each time."""
    X, y = load(name, return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:n]
    return X[rows], y[rows]


def cells(methods, given):
    """Return the cells of some methods."""
    datasets = [f"field:some_rows(name='{name}', n={given.rows})" for name in given.datasets]
    found = []
    for mechanism in MECHANISMS:
        how = {"rates": RATES, "splits": given.splits, "mechanism": mechanism}
        found += grid(datasets, methods, recipe="standard", **how)
    return found


def show(rows):
    """Print the mean of each measure, the mean rank, time and memory of each method."""
    cases = ["dataset", "rate", "mechanism"]
    by_case = rows.groupby([*cases, "method"])[["cosine", "kl_divergence"]].mean()
    table = by_case.groupby("method").mean()
    for measure, ascending in (("cosine", False), ("kl_divergence", True)):
        ranks = by_case[measure].unstack().rank(axis=1, ascending=ascending)
        table[f"rank by {measure}"] = ranks.mean()
    table["fit (s)"] = rows.groupby("method")["fit_seconds"].median()
    table["memory (MB)"] = rows.groupby("method")["peak_memory"].median() / 1e6
    print(table.sort_values("rank by cosine").round(4).to_string())
    print()
    for mechanism in MECHANISMS:
        part = rows[rows["mechanism"] == mechanism]
        means = part.groupby(["method", "rate"])["cosine"].mean().unstack()
        print(mechanism, "cosine", sep=": ")
        print(means.reindex(table.sort_values("rank by cosine").index).round(4).to_string())


def draw(rows, path):
    """Draw the critical-difference diagram of the cosines."""
    from inldl.experiments.statistics import nemenyi
    from inldl.report import critical_difference, save

    cases = ["dataset", "rate", "mechanism", "method"]
    test = nemenyi(rows.groupby(cases)["cosine"].mean().unstack().dropna(axis=1), True)
    save(critical_difference(test.mean_ranks, test.critical_difference, test.groups), path)


def main():
    """Finish the run and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="field.sqlite")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--figure", help="an .svg file to draw")
    given = parser.parse_args()
    for method in given.methods:  # one after the other: what is there can be looked at
        run(cells([method], given), given.out, timeout=given.timeout)
    rows = Store(given.out).frame()
    bad = rows[rows["status"] != "ok"]
    print(bad.groupby(["method", "status", "reason"]).size().to_string() if len(bad) else "")
    show(rows[rows["status"] == "ok"])
    if given.figure:
        draw(rows[rows["status"] == "ok"], given.figure)


if __name__ == "__main__":
    main()
