"""AutoInLDL beside boosted trees of others on made rows of every kind and size.

    python benchmarks/learners.py [--out learners.jsonl] [--methods ...] [--tasks ...] [--seeds 0]

Half of the degrees of the training rows are missing; methods are judged by KL on 5000 new rows,
and by the CPU seconds of their fit in one thread. LightGBM and CatBoost (pip install lightgbm
catboost) are skipped where they are not installed. A stopped run resumes where it was.

Each label has a function of the features, with noise, of which the degrees are the softmax:
"steps" (a tree of depth 6 for all labels), "signs" (products of two or three signs), "smooth"
(waves in random directions), "friedman" (of five features), "linear", and "categories" (a column
of 0 and 1 for each of 300 and of 40 levels).
"""

import argparse
import time
import warnings
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from inldl import hide
from inldl.methods.registry import make_method
from inldl.metrics import evaluate
from inldl.solvers.softmax import softmax
from kept import Results, Table, best_marked, digits, resumed

LABELS, TEST, NOISE, MISSING = 8, 5000, 0.25, 0.5
TASKS = {  # kind, rows, features
    **{f"{kind}-{n // 1000}k": (kind, n, 10) for kind in ("steps", "signs", "smooth", "friedman",
       "linear") for n in (1000, 10_000)},
    **{f"{kind}-100k": (kind, 100_000, 20) for kind in ("steps", "signs", "smooth", "friedman")},
    **{f"{kind}-wide": (kind, 5000, 200) for kind in ("steps", "smooth", "friedman", "linear")},
    "smooth20-10k": ("smooth", 10_000, 20),
    "categories-3k": ("categories", 3000, 340),
    "categories-20k": ("categories", 20_000, 340),
}  # fmt: skip
METHODS = ["auto", "rivals:LightGBM", "rivals:CatBoost", "boosting", "extra-trees"]
NEEDS = {"rivals:LightGBM": "lightgbm", "rivals:CatBoost": "catboost"}
CELL = ["task", "seed", "method"]


def steps(X, law):
    """Return scores that a tree of depth 6 gives to rows."""
    node = np.zeros(len(X), int)
    feature, cut = law.integers(X.shape[1], size=63), law.uniform(-0.7, 0.7, 63)
    for _ in range(6):
        node = 2 * node + 1 + (X[np.arange(len(X)), feature[node]] > cut[node])
    return law.normal(size=(64, LABELS))[node - 63]


def signs(X, law):
    """Return sums of products of the signs of two or three features."""
    signs, scores = np.sign(X), np.zeros((len(X), LABELS))
    for size in (2, 2, 2, 3):
        product = signs[:, law.permutation(X.shape[1])[:size]].prod(axis=1)
        scores += np.outer(product, law.normal(size=LABELS, scale=0.6))
    return scores


def smooth(X, law):
    """Return sums of waves in random directions."""
    directions = law.normal(size=(X.shape[1], 30), scale=2.5 / X.shape[1] ** 0.5)
    waves = np.cos(X @ directions + law.uniform(0, 2 * np.pi, 30))
    return waves @ law.normal(size=(30, LABELS), scale=0.3)


def friedman(X, law):
    """Return Friedman's first function of five features of each label, some of them shared."""
    scores, U = np.empty((len(X), LABELS)), (X + 1) / 2
    for j in range(LABELS):
        a, b, c, d, e = U[:, law.permutation(min(X.shape[1], 10))[:5]].T
        own = 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
        scores[:, j] = (own - 14.4) / 4.9
    return scores


def linear(X, law):
    """Return a linear function of all features."""
    return X @ law.normal(size=(X.shape[1], LABELS), scale=1.7 / X.shape[1] ** 0.5)


def categories(levels, law):
    """Return the sum of what levels of two columns say."""
    first, second = law.normal(size=(300, LABELS)), law.normal(size=(40, LABELS))
    return 0.7 * (first[levels[:, 0]] + second[levels[:, 1]])


def made(task, seed):
    """Return training rows with holes, and test rows."""
    kind, rows, features = TASKS[task]
    law, rng = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    n = rows + TEST
    if kind == "categories":
        levels = np.column_stack([rng.integers(300, size=n), rng.integers(40, size=n)])
        X, scores = np.zeros((n, 340)), categories(levels, law)
        X[np.arange(n), levels[:, 0]] = X[np.arange(n), 300 + levels[:, 1]] = 1.0
    else:
        X = rng.uniform(-1, 1, size=(n, features))
        scores = globals()[kind](X, law)
    y = softmax(scores + rng.normal(size=scores.shape, scale=NOISE))
    return X[:rows], hide(y[:rows], MISSING, random_state=seed), X[rows:], y[rows:]


def measure(task, seed, method):
    """Return the KL at test rows, and the CPU seconds of the fit."""
    X, y, X_test, y_test = made(task, seed)
    model = make_method(method, seed)
    began = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - began
    found = evaluate(y_test, model.predict(X_test), ["kl_divergence"])
    return {"KL": found["kl_divergence"], "seconds": seconds}


def measured(given):
    """Measure what is missing, and return a row for each cell."""
    missing = [m for m in given.methods if m in NEEDS and find_spec(NEEDS[m]) is None]
    for method in missing:
        print(f"{method} is skipped: {NEEDS[method]} is not installed.")
    methods = [method for method in given.methods if method not in missing]
    cases = product(given.tasks, given.seeds, methods)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in methods:
            measure("steps-1k", 0, method)  # compiles
        return pd.DataFrame(resumed(given.out, CELL, cases, measure))


def means_of(rows):
    """Return the mean KL and CPU seconds of each task and method."""
    rows["task"] = pd.Categorical(rows["task"], list(TASKS))
    return rows.groupby(["task", "method"], observed=True)[["KL", "seconds"]].mean().unstack()


def results(rows):
    """Return a table with a line for each task, and how often AutoInLDL has the least KL."""
    means = means_of(rows)
    shown = {name: name.removeprefix("rivals:") for name in METHODS if name in means["KL"]}
    lines, first, ratios = [], 0, []
    for task in means.index:
        kl, seconds = means["KL"].loc[task], means["seconds"].loc[task]
        texts = best_marked([digits(kl[name], 3) for name in shown], less=True)
        took = [f"{seconds[name]:.1f}" for name in shown]
        lines.append([task, *(f"{a} ({b})" for a, b in zip(texts, took, strict=True))])
        if "auto" in shown and len(shown) > 1:
            first += kl["auto"] <= kl.drop("auto").min()
            ratios.append(kl["auto"] / kl.drop("auto").min())
    facts = {"tasks": str(len(lines))}
    if ratios:
        facts |= {"AutoInLDL has the least KL in": str(int(first)),
                  "AutoInLDL / best other at worst": digits(max(ratios), 2)}  # fmt: skip
    columns = ["KL (CPU s)", *(f"`{name}`" for name in shown.values())]
    return Results({"KL": Table(columns, lines)}, facts)


def show(rows):
    """Print the mean KL and CPU seconds of each task, and how far AutoInLDL is from the best."""
    means = means_of(rows)
    others = means["KL"].drop(columns="auto", errors="ignore").min(axis=1)
    table = means["KL"].round(4).astype(str) + " (" + means["seconds"].round(1).astype(str) + ")"
    if "auto" in means["KL"]:
        table["auto / best"] = (means["KL"]["auto"] / others).round(3)
        if "rivals:LightGBM" in means["KL"]:
            seconds = means["seconds"]
            table["CPU / LightGBM"] = (seconds["auto"] / seconds["rivals:LightGBM"]).round(2)
    print(table.to_string())


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("learners.jsonl"))
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    return parser.parse_args(words)


if __name__ == "__main__":
    show(measured(options()))
