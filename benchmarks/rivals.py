"""AutoInLDL and what people would try first, on the same rows: the second table of docs/auto.md.

    python benchmarks/rivals.py [--out rivals.jsonl] [--methods ...] [--datasets ...]

One split of each public dataset (more with `--splits`), at most 1000 training rows, all test rows,
three rates. Features are standardised (Movie: 100 principal components); WInLDL gets its authors'
preparation. A stopped run resumes where it was. It needs LightGBM and CatBoost (pip install
lightgbm catboost).

`inldl bench` takes the methods of other packages by name:

    PYTHONPATH=benchmarks inldl bench --methods rivals:ChosenRidge,rivals:CatBoost ...
"""

import argparse
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.linear_model import RidgeCV
from threadpoolctl import threadpool_limits

from inldl.datasets import hide, load
from inldl.methods.registry import make_method
from inldl.metrics import evaluate
from inldl.solvers.gaussian import projected
from inldl_paper.experiments.folds import make_fold, partition
from inldl_paper.experiments.protocol import seed
from kept import Results, Table, best_marked, digits, resumed

PENALTIES = np.logspace(-2, 5, 15)
YEAST = [f"Yeast_{name}" for name in ("alpha", "cdc", "diau", "dtt", "elu", "heat", "spo")]
DATASETS = ["Movie", "Natural_Scene", "SBU_3DFE", "SCUT_FBP", "SJAFFE", *YEAST, "emotion6"]
RATES = [0.5, 0.1, 0.9]
METHODS = [
    "auto", "rivals:ChosenRidge", "ridge", "knn", "winldl", "constant-mean", "constant-uniform",
    "extra-trees", "rivals:LightGBM", "boosting", "rivals:CatBoost",
]  # fmt: skip
CELL = ["method", "dataset", "rate", "split"]
MEASURES = {"cosine": False, "kl_divergence": True, "clark": True}  # is less better?


class _OneByOne(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A regressor for each label, learned from the rows where it is observed, then projected."""

    def fit(self, X, y):
        """Learn from what is observed."""
        X, y = np.asarray(X), np.asarray(y)
        seen = [~np.isnan(column) for column in y.T]
        self.models_ = [self._model().fit(X[s], c[s]) for s, c in zip(seen, y.T, strict=True)]
        return self

    def predict(self, X):
        """Return distributions."""
        return projected(np.column_stack([m.predict(np.asarray(X)) for m in self.models_]))


class ChosenRidge(_OneByOne):
    """Ridge regression with a penalty that leave-one-out chooses for each label."""

    def _model(self):
        return RidgeCV(alphas=PENALTIES)


class LightGBM(_OneByOne):
    """LightGBM as it is, with 200 trees."""

    def _model(self):
        from lightgbm import LGBMRegressor

        return LGBMRegressor(n_estimators=200, n_jobs=1, verbose=-1, random_state=0)


class CatBoost(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """CatBoost's loss for several targets of which some are missing.

    With 32 borders of a feature, not 254, it takes a sixth of the time.
    """

    def __init__(self, iterations=300, border_count=32):
        self.iterations, self.border_count = iterations, border_count

    def fit(self, X, y):
        """Learn from what is observed."""
        from catboost import CatBoostRegressor

        self.model_ = CatBoostRegressor(
            loss_function="MultiRMSEWithMissingValues",
            iterations=self.iterations,
            border_count=self.border_count,
            thread_count=1,
            random_seed=0,
            verbose=0,
            allow_const_label=True,
            allow_writing_files=False,
        ).fit(np.asarray(X), np.asarray(y))
        return self

    def predict(self, X):
        """Return distributions."""
        return projected(np.asarray(self.model_.predict(np.asarray(X))))


def fold_of(name, rate, split, method, rows):
    """Return a fold of a dataset, with at most so many training rows."""
    X, y = load(name, return_X_y=True)
    train, test = partition(name, len(y), split)
    train = train[:rows]
    observed = ~np.isnan(hide(y[train], rate, random_state=seed(name, rate, split)))
    recipe = "authors" if name == "Movie" or method == "winldl" else "standard"
    given = {"given": (train, test, observed), "recipe": recipe}
    return make_fold(name, X, y, rate=rate, split=split, **given)


def measure(method, name, rate, split, rows):
    """Return how a method does on a fold, and the CPU seconds of its fit."""
    fold = fold_of(name, rate, split, method, rows)
    model = make_method(method, seed(name, rate, split))
    began = time.process_time()
    model.fit(fold.X, fold.y)
    seconds = time.process_time() - began
    return evaluate(fold.y_test, model.predict(fold.X_test)) | {"seconds": seconds}


def measured(given):
    """Measure what is missing, and return a row for each cell."""
    cases = [
        (method, name, rate, split)
        for method, split, rate, name in product(
            given.methods, range(given.splits), given.rates, given.datasets
        )
    ]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = resumed(given.out, CELL, cases, lambda *case: measure(*case, given.rows))
    return pd.DataFrame(rows)


def results(rows):
    """Return the mean ranks of the methods, and the cells in which AutoInLDL is not first."""
    rows = rows.groupby(["dataset", "rate", "method"], as_index=False)[[*MEASURES]].mean()
    names = [name for name in METHODS if name in set(rows["method"])]
    names += sorted({*rows["method"]} - {*names})
    lines, behind, facts = [], [], {}
    for measure_, less in MEASURES.items():
        scores = rows.pivot(index=["dataset", "rate"], columns="method", values=measure_)[names]
        ranks = scores.rank(axis=1, ascending=less).mean()
        texts = best_marked([digits(each, 2) for each in ranks], less=True)
        lines.append([f"by {measure_}", *texts])
        facts["cells"] = str(len(scores))
        if "auto" in names and len(names) > 1:
            others = scores.drop(columns="auto")
            best, who = (
                others.agg("min" if less else "max", axis=1),
                (others.idxmin(axis=1) if less else others.idxmax(axis=1)),
            )
            worse = (scores["auto"] > best) if less else (scores["auto"] < best)
            facts[f"auto is first by {measure_} in"] = str(int((~worse).sum()))
            if measure_ == "cosine":
                behind = [
                    [f"{name}, {rate:.0%}", f"{who[name, rate]} {digits(best[name, rate])}",
                     digits(scores["auto"][name, rate])]
                    for name, rate in worse[worse].index
                ]  # fmt: skip
    shown = [f"`{name.removeprefix('rivals:')}`" for name in names]
    tables = {"ranks": Table(["mean rank", *shown], lines)}
    tables["behind"] = Table(["", "best", "`auto`"], behind)
    return Results(tables, facts)


def show(rows):
    """Print mean ranks, and how far AutoInLDL is behind the best; means over splits."""
    rows = rows.groupby(["dataset", "rate", "method"], as_index=False)[[*MEASURES]].mean()
    for measure, less in MEASURES.items():
        table = rows.pivot(index=["dataset", "rate"], columns="method", values=measure)
        ranks = table.rank(axis=1, ascending=less)
        by_rate = ranks.groupby("rate").mean().T
        by_rate["all"] = ranks.mean()
        print(
            f"{measure}: mean ranks of {len(table)} cells\n{by_rate.sort_values('all').round(2)}"
        )
        if "auto" in table and len(table.columns) > 1:
            best = table.drop(columns="auto").agg("min" if less else "max", axis=1)
            behind = (table["auto"] - best) if less else (best - table["auto"])
            print(f"auto is behind in\n{behind[behind > 0].round(4).to_string()}")
        print(table.round(4).to_string())


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("rivals.jsonl"))
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--rates", nargs="+", type=float, default=RATES)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--rows", type=int, default=1000)
    return parser.parse_args(words)


if __name__ == "__main__":
    show(measured(options()))
