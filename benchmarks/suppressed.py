"""Suppress small shares as an office does, and fill them in with and without their bounds.

Shares below a threshold are printed as "<5%": they are unobserved, with an upper bound. Printed
are root mean squared errors at the suppressed shares that row sums do not give: half of
the limit in each cell, `AutoInLDL` that is told nothing (NaN), and `AutoInLDL` with the bounds;
the share of them in its 90% intervals; and the KL divergence of predictions of new rows, learned
without and with the bounds, of `AutoInLDL` and of `WInLDL`. Needs the public datasets
(downloaded, or found in INLDL_DATA):

    python benchmarks/suppressed.py --thresholds 0.05 0.1 --rows 500
"""

import argparse
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from inldl import AutoInLDL, WInLDL
from inldl.datasets import load, load_budget_shares, load_concrete
from inldl.metrics import kl_divergence
from kept import Results, Table, digits, resumed

PUBLIC = (
    "SJAFFE", "Movie", "SCUT_FBP", "SBU_3DFE", "Natural_Scene", "emotion6", "Yeast_alpha",
    "Yeast_cdc", "Yeast_diau", "Yeast_dtt", "Yeast_elu", "Yeast_heat", "Yeast_spo",
)  # fmt: skip
SHIPPED = {"budget": load_budget_shares, "concrete": load_concrete}
FEWEST = 20  # suppressed shares to be judged by
COLUMNS = [
    "data", "below", "suppressed", "half of the limit", "NaN", "bounds", "in 90% intervals",
    "new rows: AutoInLDL, NaN", "bounds", "WInLDL, NaN", "bounds",
]  # fmt: skip


def rows_of(name, most):
    """Return training rows, and others to predict."""
    found = SHIPPED[name]() if name in SHIPPED else load(name)
    X, y = np.asarray(found.X, dtype=float), np.asarray(found.y, dtype=float)
    order = np.random.default_rng(0).permutation(len(y))
    n = min(most, 2 * len(y) // 3)
    return X[order[:n]], y[order[:n]], X[order[n:][:most]], y[order[n:][:most]]


def rmse(filled, y, at):
    return np.sqrt(np.mean((filled - y)[at] ** 2))


def measure(name, threshold, most):
    X, y, new_X, new_y = rows_of(name, most)
    small = y < threshold
    given, upper = np.where(small, np.nan, y), np.where(small, threshold, np.nan)
    judged = small & (small.sum(axis=1) > 1)[:, None]
    if judged.sum() < FEWEST or np.isnan(given).all(axis=0).any():
        return None
    rest = 1 - np.nansum(given, axis=1)
    if not (judged & (rest > threshold)[:, None]).any():
        return None  # the sums of the rows say as much
    plain = AutoInLDL(random_state=0).fit(X, given)
    told = AutoInLDL(random_state=0).fit(X, given, upper=upper)
    filled, low, high = told.complete_interval(X, given, upper=upper)
    assert (filled[small] <= threshold + 1e-12).all()
    assert np.abs(filled.sum(axis=1) - 1).max() < 1e-9
    inside = ((low <= y + 1e-12) & (y <= high + 1e-12))[judged].mean()
    linear = WInLDL().fit(X, given), WInLDL().fit(X, given, upper=upper)
    new = [kl_divergence(new_y, m.predict(new_X)) for m in (plain, told, *linear)]
    errors = np.full(y.shape, threshold / 2), plain.complete(X, given), filled
    return [small.mean(), *(rmse(each, y, judged) for each in errors), inside, *new]


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", nargs="+", default=[*SHIPPED, *PUBLIC])
    parser.add_argument("--thresholds", nargs="+", type=float, default=[0.05, 0.1])
    parser.add_argument("--rows", type=int, default=500, help="at most, drawn at random")
    parser.add_argument("--out", help="a file of rows that need not be measured again")
    return parser.parse_args(words)


def measured(given):
    """Return a row for each threshold and dataset."""

    def one(threshold, name):
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            return {"found": measure(name, threshold, given.rows)}

    cases = [(threshold, name) for threshold in given.thresholds for name in given.datasets]
    return resumed(given.out, ("threshold", "name"), cases, one)


def results(rows):
    """Return the table, without datasets where bounds tell nothing."""
    lines, inside_all = [], []
    better = {"AutoInLDL": 0, "WInLDL": 0}
    rows = [row for row in rows if row["found"] is not None]
    for row in rows:
        share, half, plain, told, inside, *new = row["found"]
        line = [row["name"], f"{row['threshold']:.0%}", f"{share:.0%}"]
        line += [digits(half), digits(plain), digits(told), f"{inside:.0%}"]
        lines.append(line + [digits(each) for each in new])
        inside_all.append(inside)
        better["AutoInLDL"] += new[1] < new[0]
        better["WInLDL"] += new[3] < new[2]
    facts = {"cases": str(len(lines))}
    if lines:
        facts["lowest coverage"] = f"{min(inside_all):.0%}"
        facts["highest coverage"] = f"{max(inside_all):.0%}"
        facts |= {f"{name} better with bounds": str(n) for name, n in better.items()}
    return Results({"errors": Table(COLUMNS, lines)}, facts)


def main():
    results(measured(options())).show()


if __name__ == "__main__":
    main()
