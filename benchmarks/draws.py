"""Measure how often intervals of coefficients hold what a table without holes gives.

Features are the first principal components of a public dataset, so that a table has a few columns.
Degrees are hidden at random, many times. Each time the table is completed once and drawn several
times, and coefficients are estimated from each:

- `share on features`: each label's degree, by least squares on all features;
- `feature on shares`: the first feature, by least squares on all degrees but the last.

Printed is the share of all coefficients and hidings in which a 95% interval holds the coefficient
of the table without holes:

- `one completion`: its estimate and its own standard error, as if nothing had been missing;
- `draws, T`: `pool` with variances, an interval for the population;
- `draws, B`: `pool` without, an interval for the table itself, which should hold 95%.

    python benchmarks/draws.py --hidings 300

The constants of draws were chosen on hidings 0 to 59, so that it starts with the next.
"""

import argparse

import numpy as np
from scipy import stats
from threadpoolctl import threadpool_limits

from inldl import WInLDL, hide, pool
from inldl.datasets import load
from kept import Results, Table, resumed

DATASETS = ("SJAFFE", "Movie", "Yeast_spo")
COVERAGE = 0.95


def table(name, rows, components):
    """Return the features of a small table, and its degrees."""
    X, y = load(name, return_X_y=True)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    chosen = np.sort(np.random.default_rng(5).permutation(len(y))[:rows])
    X, y = X[chosen], np.asarray(y[chosen], dtype=float)
    deviation = X.std(axis=0)
    X = (X - X.mean(axis=0))[:, deviation > 0] / deviation[deviation > 0]
    U, _, _ = np.linalg.svd(X, full_matrices=False)
    return U[:, :components] * np.sqrt(len(y)), y / y.sum(axis=1, keepdims=True)


def least_squares(A, targets):
    """Return coefficients without the intercept, and their variances."""
    A = np.hstack([np.ones((len(A), 1)), A])
    coef = np.linalg.lstsq(A, targets, rcond=None)[0]
    noise = ((targets - A @ coef) ** 2).sum(axis=0) / (len(A) - A.shape[1])
    variances = np.outer(np.diag(np.linalg.pinv(A.T @ A)), noise)
    return coef[1:].ravel(), variances[1:].ravel()


ANALYSES = {
    "share on features": lambda X, y: least_squares(X, y),
    "feature on shares": lambda X, y: least_squares(y[:, :-1], X[:, :1]),
}


def intervals(analysis, X, completed, draws):
    """Return the ends of each kind of interval."""
    one, variance = analysis(X, completed)
    found, variances = zip(*(analysis(X, y) for y in draws), strict=True)
    reach = stats.norm.ppf((1 + COVERAGE) / 2) * np.sqrt(variance)
    df = len(X) - X.shape[1] - 1
    return {
        "one completion": (one - reach, one + reach),
        "draws, T": pool(found, variances, complete_df=df).interval(COVERAGE),
        "draws, B": pool(found).interval(COVERAGE),
    }


def measure(X, truth, rate, seeds, n_draws):
    """Return for each analysis and kind of interval which coefficients it holds, and its width."""
    results = {}
    for seed in seeds:
        y = hide(truth, rate, random_state=np.random.default_rng([seed, 11]))
        model = WInLDL(cross_fit=5).fit(X, y)
        completed = model.complete(X, y)
        draws = model.draw(X, y, n_draws=n_draws, random_state=seed)
        for name, analysis in ANALYSES.items():
            full = analysis(X, truth)[0]
            for kind, (low, high) in intervals(analysis, X, completed, draws).items():
                held = (low <= full) & (full <= high)
                results.setdefault((name, kind), []).append((held, high - low))
    return {key: np.array(each, float).swapaxes(0, 1) for key, each in results.items()}


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--rates", nargs="+", type=float, default=(0.3, 0.6))
    parser.add_argument("--hidings", type=int, default=300)
    parser.add_argument("--first", type=int, default=60, help="number of the first hiding")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rows", type=int, default=200, help="at most, drawn at random")
    parser.add_argument("--components", type=int, default=3, help="features of a table")
    parser.add_argument("--out", help="a file of rows that need not be measured again")
    return parser.parse_args(words)


def measured(given):
    """Return coverage and widths of all intervals, a row for each dataset and rate."""
    seeds = range(given.first, given.first + given.hidings)

    def one(name, rate):
        X, truth = table(name, given.rows, given.components)
        with threadpool_limits(1):
            found = measure(X, truth, rate, seeds, given.draws)
        numbers = [
            [analysis, kind, held.mean(), held.mean(axis=0).min(), width.mean()]
            for (analysis, kind), (held, width) in found.items()
        ]
        return {"found": numbers}

    cases = [(name, rate) for name in given.datasets for rate in given.rates]
    return resumed(given.out, ("name", "rate"), cases, one)


def results(rows):
    """Return a line for each dataset, rate, analysis and kind of interval."""
    lines = [
        [row["name"], f"{row['rate']:.0%}", analysis, kind, f"{held:.1%}", f"{rarest:.0%}",
         f"{width:.2g}"]
        for row in rows
        for analysis, kind, held, rarest, width in row["found"]
    ]  # fmt: skip
    columns = ["data", "hidden", "analysis", "interval", "holds", "rarest coefficient"]
    return Results({"coverage": Table([*columns, "mean width"], lines, 4)})


def main():
    results(measured(options())).show()


if __name__ == "__main__":
    main()
