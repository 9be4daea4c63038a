"""All methods of the field under one protocol: accuracy, time and memory.

    python benchmarks/field.py [--out field.sqlite] [--methods ...] [--datasets ...] [--rates ...]

It is `inldl bench` on some rows of each public dataset, for several rates and mechanisms of
hiding. Methods are taken by name, so that a new one joins an old run, and a stopped run resumes
where it was; with --methods it computes these alone, and shows all that the file has. It prints
the tables of docs/field.md, and draws the critical-difference diagram with --figure.
"""

import argparse

import numpy as np
import pandas as pd

from inldl.datasets import load
from inldl.methods.registry import METHODS as REGISTERED
from inldl_paper.experiments import Store, grid, run
from kept import Results, Table

YEAST = [f"Yeast_{name}" for name in ("alpha", "cdc", "diau", "dtt", "elu", "heat", "spo")]
DATASETS = ["Movie", "Natural_Scene", "SBU_3DFE", "SCUT_FBP", "SJAFFE", *YEAST, "emotion6"]
METHODS = [
    *(name for name, method in REGISTERED.items() if method.distribution != "inldl-torch"),
    "winldl(ridge='auto')",
]
RATES = [0.1, 0.3, 0.5, 0.7, 0.9]
MECHANISMS = ["uniform", "small", "top"]
CASE = ["dataset", "mechanism", "rate", "split"]


def some_rows(name, n):
    """Return n random rows of a dataset, the same each time."""
    X, y = load(name, return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:n]
    return X[rows], y[rows]


def cells(given):
    """Return the cells of a run."""
    datasets = [f"field:some_rows(name='{name}', n={given.rows})" for name in given.datasets]
    how = {"rates": given.rates, "splits": given.splits, "recipe": "standard"}
    return [
        cell
        for mechanism in given.mechanisms
        for cell in grid(datasets, given.methods, mechanism=mechanism, **how)
    ]


def fair(rows):
    """Return the cases that all methods have tried and some can learn; say which are left out."""
    groups = rows.groupby(CASE)
    tried, able = groups["method"].nunique(), groups["status"].agg(lambda each: "ok" in set(each))
    whole = tried == tried.groupby("mechanism").transform("max")
    print(f"{(~whole).sum()} unfinished cases of {len(whole)} are left out.")
    for case in able.index[whole & ~able]:
        print("No method:", *case, groups.get_group(case)["reason"].iloc[0])
    return rows.set_index(CASE).loc[able.index[whole & able]].reset_index()


def failures(rows):
    """Print which methods failed, how often, and why."""
    bad = rows[rows["status"] != "ok"]
    for (method, reason), part in bad.groupby(["method", "reason"]):
        print(f"{method}: {len(part)} of {(rows['method'] == method).sum()} cells: {reason}")


def table(rows):
    """Return a line for each method: means, mean ranks, time and memory.

    A method that fails in a case has the last rank there, and no mean.
    """
    scores, found = rows.set_index([*CASE, "method"]), pd.DataFrame()
    cosines = scores["cosine"].unstack()
    for rate, part in cosines.groupby("rate"):
        found[f"{rate:.0%}"] = part.mean(skipna=False)
    found["KL"] = scores["kl_divergence"].unstack().mean(skipna=False)
    for name, measure, ascending in (("cosine", "cosine", False), ("KL", "kl_divergence", True)):
        ranks = scores[measure].unstack().rank(axis=1, ascending=ascending, na_option="bottom")
        found[f"rank by {name}"] = ranks.mean()
    found["s"] = rows.groupby("method")["fit_seconds"].median()
    found["MB"] = rows.groupby("method")["peak_memory"].median() / 1e6
    return found.sort_values("rank by cosine")


def results(rows):
    """Return a table for each mechanism, and the number of its cases."""
    digits = {"KL": 3, "s": 3, "MB": 1, "rank by cosine": 1, "rank by KL": 1}
    tables, facts = {}, {}
    for mechanism, part in rows.groupby("mechanism"):
        found, lines = table(part), []
        facts[f"{mechanism}: cases"] = str(len(part.drop_duplicates(CASE)))
        for method, values in found.iterrows():
            shown = [f"{v:.{digits.get(k, 4)}f}".removeprefix("0") for k, v in values.items()]
            lines.append([f"`{method}`", *shown])
        tables[mechanism] = Table(["", *found], lines)
    return Results(tables, facts)


def draw(rows, path):
    """Draw the critical-difference diagram of the mean cosines of each dataset."""
    from inldl.report import save
    from inldl_paper.experiments.statistics import nemenyi
    from inldl_paper.figures import critical_difference

    means = rows.groupby(["dataset", "method"])["cosine"].mean().unstack()
    test = nemenyi(means.dropna(axis=1), True)
    save(critical_difference(test.mean_ranks, test.critical_difference, test.groups), path)


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="field.sqlite")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--rates", type=float, nargs="+", default=RATES)
    parser.add_argument("--mechanisms", nargs="+", default=MECHANISMS)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--retry", action="store_true", help="compute failed cells again")
    parser.add_argument("--figure", help="an .svg file to draw, of degrees hidden at random")
    return parser.parse_args(words)


def measured(given):
    """Finish the run, and return the rows of the cases that can be compared."""
    run(cells(given), given.out, timeout=given.timeout, retry=given.retry)
    rows = Store(given.out).frame()
    rows["dataset"] = rows["dataset"].str.extract("name='(.*?)'")
    rows = fair(rows)
    failures(rows)
    return rows


def main():
    """Finish the run and print the tables."""
    given = options()
    rows = measured(given)
    results(rows).show()
    if given.figure:
        draw(rows[rows["mechanism"] == "uniform"], given.figure)


if __name__ == "__main__":
    main()
