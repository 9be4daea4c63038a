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

PUBLIC = (
    "SJAFFE", "Movie", "SCUT_FBP", "SBU_3DFE", "Natural_Scene", "emotion6", "Yeast_alpha",
    "Yeast_cdc", "Yeast_diau", "Yeast_dtt", "Yeast_elu", "Yeast_heat", "Yeast_spo",
)  # fmt: skip
SHIPPED = {"budget": load_budget_shares, "concrete": load_concrete}
FEWEST = 20  # suppressed shares to be judged by


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", nargs="+", default=[*SHIPPED, *PUBLIC])
    parser.add_argument("--thresholds", nargs="+", type=float, default=[0.05, 0.1])
    parser.add_argument("--rows", type=int, default=500, help="at most, drawn at random")
    args = parser.parse_args()
    print(
        "| data | below | suppressed | half of the limit | NaN | bounds | in 90% intervals "
        "| new rows: AutoInLDL, NaN | bounds | WInLDL, NaN | bounds |"
    )
    print("|---" * 11 + "|")
    for threshold in args.thresholds:
        for name in args.datasets:
            with warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")
                found = measure(name, threshold, args.rows)
            if found is None:
                continue
            share, half, plain, told, inside, *new = found
            print(
                f"| {name} | {threshold:.0%} | {share:.0%} | {half:.4f} | {plain:.4f} "
                f"| {told:.4f} | {inside:.0%} | "
                + " | ".join(f"{each:.4f}" for each in new) + " |",
                flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
