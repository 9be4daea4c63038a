"""Fill holes of public tables, beside the imputers that a user would try instead.

Degrees are hidden at random. Every imputer sees the degrees and the features (standardised; 30
principal components if there are more than 60). What it fills in is cut at 0 and scaled to what
the row leaves, as a careful user would. Printed are root mean squared errors at the holes that the
sums of their rows do not give, CPU seconds on one thread, and the share of hidden degrees in the
90% intervals of AutoInLDL. Needs the public datasets (downloaded, or found in INLDL_DATA):

    python benchmarks/completion.py --rates 0.3 0.6 --rows 1000
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.linear_model import BayesianRidge
from threadpoolctl import threadpool_limits

from inldl import AutoInLDL, hide
from inldl.datasets import load
from kept import Results, Table, resumed

DATASETS = (
    "SJAFFE", "Movie", "SCUT_FBP", "SBU_3DFE", "Natural_Scene", "emotion6", "Yeast_alpha",
    "Yeast_cdc", "Yeast_diau", "Yeast_dtt", "Yeast_elu", "Yeast_heat", "Yeast_spo",
)  # fmt: skip
RATES = (0.1, 0.3, 0.6, 0.9)
WIDE, COMPONENTS = 60, 30
PENALTIES = (0.5, 0.25, 0.1, 0.05, 0.02, 0.01)  # of soft-impute, relative to the largest value


def scaled_to_rows(y, filled):
    """Return the rows with their holes filled, in proportion to what was found for them."""
    holes, rest = np.isnan(y), np.maximum(1 - np.nansum(y, axis=1), 0)
    found = np.where(holes, np.maximum(filled, 0), 0)
    found[found.sum(axis=1) == 0] = 1
    found = np.where(holes, found, 0)
    scale = rest / np.maximum(found.sum(axis=1), 1e-300)
    return np.where(holes, found * scale[:, None], y)


def impute(imputer, X, y):
    return scaled_to_rows(y, imputer.fit_transform(np.hstack([X, y]))[:, X.shape[1] :])


def chained(model, X, y):
    imputer = IterativeImputer(model, max_iter=10, random_state=0, skip_complete=True)
    return impute(imputer, X, y)


def miss_forest(X, y):
    return chained(RandomForestRegressor(100, random_state=0), X, y)


def chained_ridge(X, y):
    return chained(BayesianRidge(), X, y)


def neighbours(X, y):
    """Take the mean of the 10 nearest rows; features together count as much as degrees do."""
    unit = np.nanstd(y) * np.sqrt(y.shape[1] / X.shape[1])
    return impute(KNNImputer(n_neighbors=10), X * unit, y)


def column_means(X, y):
    return scaled_to_rows(y, np.broadcast_to(np.nanmean(y, axis=0), y.shape))


def soft_impute(X, y):
    """Complete by singular values that are shrunk; a tenth of the degrees chooses by how much."""
    mean, unit = np.nanmean(y, axis=0), np.nanstd(y)
    table = np.hstack([X / np.sqrt(X.shape[1]), (y - mean) / unit])
    hidden = np.random.default_rng(0).random(table.shape) < 0.1
    hidden[:, : X.shape[1]] = False
    hidden &= ~np.isnan(table)
    largest = np.linalg.svd(np.nan_to_num(table), compute_uv=False)[0]

    def error(penalty):
        found = shrunk(np.where(hidden, np.nan, table), penalty * largest)
        return np.mean((found - table)[hidden] ** 2)

    found = shrunk(table, min(PENALTIES, key=error) * largest)
    return scaled_to_rows(y, found[:, X.shape[1] :] * unit + mean)


def shrunk(table, penalty):
    holes, filled = np.isnan(table), np.nan_to_num(table)
    for _ in range(60):
        U, s, V = np.linalg.svd(filled, full_matrices=False)
        filled = np.where(holes, (U * np.maximum(s - penalty, 0)) @ V, table)
    return filled


OTHERS = {
    "column means": column_means,
    "chained ridge": chained_ridge,
    "neighbours": neighbours,
    "soft-impute": soft_impute,
    "chained forests": miss_forest,
}
OURS = "AutoInLDL"
METHODS = [*OTHERS, OURS]


def features_for_imputers(X):
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    deviation = X.std(axis=0)
    X = (X - X.mean(axis=0))[:, deviation > 0] / deviation[deviation > 0]
    if X.shape[1] > WIDE:
        return PCA(COMPONENTS, random_state=0).fit_transform(X)
    return X


def table(name, rate, rows, hiding):
    """Return features, the truth, degrees with holes, and which holes count."""
    X, truth = load(name, return_X_y=True)
    chosen = np.sort(np.random.default_rng(5).permutation(len(truth))[:rows])
    X, truth = X[chosen], truth[chosen]
    y = hide(truth, rate, random_state=np.random.default_rng([hiding, 7]))
    several = np.isnan(y) & (np.isnan(y).sum(axis=1) > 1)[:, None]
    return X, truth, y, several


def ours(X, y):
    """Return what AutoInLDL fills in, and the ends of its intervals."""
    return AutoInLDL(random_state=0).fit(X, y).complete_interval(X, y)


def measure(method, *cell):
    """Return the error and the seconds of a method in a cell, and the coverage of ours."""
    X, truth, y, at = table(*cell)
    plain, inside = features_for_imputers(X), None
    start = time.process_time()
    if method == OURS:
        filled, low, high = ours(X, y)
        inside = ((low <= truth + 1e-5) & (truth - 1e-5 <= high))[at].mean()
    else:
        filled = OTHERS[method](plain, y)
    seconds = time.process_time() - start
    return {"rmse": rmse(filled, truth, at), "seconds": seconds, "inside": inside}


def rmse(filled, truth, at):
    return np.sqrt(np.mean((filled - truth)[at] ** 2))


def line(name, rate, found):
    """Return a row of the table, and our error over that of the best other.

    Errors are root mean squares over hidings, seconds and coverage are means.
    """
    ratio = None
    error = {m: np.sqrt(np.mean([r["rmse"] ** 2 for r in runs])) for m, runs in found.items()}
    seconds = {m: np.mean([r["seconds"] for r in runs]) for m, runs in found.items()}
    cells = [f"{error[m]:.4f} ({seconds[m]:.1f} s)" for m in found]
    if OURS in found:
        best = min((m for m in found if m != OURS), key=error.get, default=OURS)
        single = [a["rmse"] / b["rmse"] for a, b in zip(found[OURS], found[best], strict=True)]
        told = f" ({min(single):.2f} to {max(single):.2f})" if len(single) > 1 else ""
        inside = np.mean([r["inside"] for r in found[OURS]])
        ratio = error[OURS] / error[best] if best != OURS else None
        cells += [f"{error[OURS] / error[best]:.2f}{told}, {best}", f"{inside:.0%}"]
    return [name, f"{rate:.0%}", *cells], ratio


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--rates", nargs="+", type=float, default=RATES)
    parser.add_argument("--rows", type=int, default=1000, help="at most, drawn at random")
    parser.add_argument("--hidings", type=int, default=1)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--keep", help="a file of measurements that need not be made again")
    return parser.parse_args(words)


def measured(given):
    """Return a row for each method, dataset, rate and hiding."""
    keys = ("method", "name", "rate", "rows", "hiding")
    cases = [
        (method, name, rate, given.rows, hiding)
        for rate in given.rates
        for name in given.datasets
        for hiding in range(given.hidings)
        for method in given.methods
    ]
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # imputers seldom converge
        return resumed(given.keep, keys, cases, measure)


def results(rows):
    """Return a table with a line for each rate and dataset, and what it comes to."""
    found = {}
    for row in rows:
        by_method = found.setdefault((row["rate"], row["name"]), {})
        by_method.setdefault(row["method"], []).append(row)
    lines, ratios = zip(*(line(name, rate, each) for (rate, name), each in found.items()),
                        strict=True)  # fmt: skip
    methods = next(iter(found.values()))
    columns = ["data", "hidden", *methods]
    columns += ["of the best other", "in 90%"] if OURS in methods else []
    facts = {"cells": str(len(lines))}
    ratios = [ratio for ratio in ratios if ratio is not None]
    if ratios:
        facts["AutoInLDL is best in"] = str(sum(ratio <= 1 for ratio in ratios))
        facts["median of the best other"] = f"{np.median(ratios):.2f}"
        facts["at worst"] = f"{max(ratios):.2f}"
    return Results({"errors": Table(columns, list(lines), 2)}, facts)


def main():
    results(measured(options())).show()


if __name__ == "__main__":
    main()
