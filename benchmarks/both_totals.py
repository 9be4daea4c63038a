"""Suppress small counts of real tables, keep the totals of rows and columns, and fill them in.

Each file is a CSV with columns `y_*` of counts (or of shares, from which counts are drawn) and
`x_*` of features. Counts are thinned at random until 20 to 60% of the cells are suppressed: those
from 1 to the threshold - 1, or from 0. Printed are mean absolute errors at suppressed cells that
neither a row nor a column gives alone, relative to the best of four other ways: proportional
fitting of the suppressed cells to both totals from an even start and from column means, half the
limit, and completing without totals of columns. "whole" is the same with whole numbers. Then the
share of these cells in 90% intervals, and how many are exact.

    python benchmarks/both_totals.py tables/*.csv --thresholds 3 5 10
    python benchmarks/both_totals.py --cells 1000000
"""

import argparse
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from inldl.rows.aggregates import Aggregates, Counts
from inldl.rows.partial import PartialRows
from inldl.tables import TableModel
from inldl.tables.filled_rows import RowsToFill
from kept import Results, Table, digits, resumed

THINNED = [1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 5e-4, 2e-4, 1e-4]
MOST_ROWS, FEWEST = 300, 15
NUMBERS = ("suppressed", "cells", "best", "ours", "whole", "held")


def read(path, seed):
    table = pd.read_csv(path)
    y = table[[name for name in table if name.startswith("y_")]].dropna()
    X = table.loc[y.index, [name for name in table if name.startswith("x_")]]
    rows = np.random.default_rng(seed).permutation(len(y))[:MOST_ROWS]
    y = y.to_numpy(float)[rows]
    return X.iloc[rows].reset_index(drop=True), y * (10_000 if y.sum(axis=1).max() < 101 else 1)


def suppress(X, y, threshold, zeros, generator):
    """Return features, counts, and which of these are suppressed; None if it cannot be had."""
    for share in THINNED:
        counts = np.rint(y).astype(int)
        if share < 1:
            sizes = np.maximum(np.rint(y.sum(axis=1) * share), 1).astype(int)
            pairs = zip(sizes, y, strict=True)
            counts = np.array([generator.multinomial(n, row / row.sum()) for n, row in pairs])
        rows, labels = counts.sum(axis=1) > 0, counts.sum(axis=0) > 0
        counts, features = counts[rows][:, labels], X[rows].reset_index(drop=True)
        hidden = (counts < threshold) & (zeros | (counts > 0))
        if 0.2 <= hidden.mean() <= 0.62 and (~hidden).any(axis=0).all():
            return features, counts, hidden
    return None


def fitted(start, hidden, rows, columns):
    """Return proportional fitting of the hidden cells to what totals leave them."""
    z = np.where(hidden, start, 0.0)
    for _ in range(300):
        for axis, sums in ((1, rows), (0, columns)):
            found = z.sum(axis=axis)
            factor = np.where(found > 0, sums / np.where(found > 0, found, 1), 0)
            z *= np.expand_dims(factor, axis)
    return z


def measure(X, counts, hidden, threshold, zeros):
    total = counts.sum(axis=1, keepdims=True).astype(float)
    low, high = (np.where(hidden, e / total, np.nan) for e in (0 if zeros else 1, threshold - 1))
    y = np.where(hidden, np.nan, counts / total)
    labels = [f"label{j}" for j in range(counts.shape[1])]
    bounds = {"lower": low, "upper": np.minimum(high, 1)}
    model = TableModel(random_state=0).fit(X, pd.DataFrame(y, columns=labels), **bounds)
    known = PartialRows.of(y, **bounds)
    known = replace(known, counts=Counts(total[:, 0], True))
    alone = model.rows_to_fill(X, known)
    sums = counts.sum(axis=0)[None].astype(float)
    over = Aggregates(np.zeros(len(counts), int), sums, sums, np.array([-1]))
    counted = replace(known.counts, aggregates=over)
    rows = RowsToFill(model, replace(alone.rows, counts=counted), alone.predicted)
    judged = hidden & (hidden.sum(axis=1) > 1)[:, None] & (hidden.sum(axis=0) > 1)
    left = [np.where(hidden, counts, 0).sum(axis=axis) for axis in (1, 0)]
    means = np.nanmean(y, axis=0) * total
    filled, *ends = rows.fill(0.9)
    others = [
        fitted(np.ones(counts.shape), hidden, *left), fitted(means, hidden, *left),
        np.full(counts.shape, threshold / 2), alone.fill()[0] * total,
    ]  # fmt: skip
    errors = [np.abs(each - counts)[judged].mean() for each in others]
    ours = [np.abs(each * total - counts)[judged].mean() for each in (filled, rows.whole(filled))]
    inside = [(ends[0] * total <= counts + 1e-6) & (counts <= ends[1] * total + 1e-6)]
    assert np.abs(np.where(hidden, filled * total - counts, 0).sum(axis=0)).max() < 1e-6
    return min(errors), *(each / min(errors) for each in ours), inside[0][judged].mean(), judged


def large(n_cells):
    """Print the CPU seconds of completing a large table with and without totals of columns."""
    generator, n_labels = np.random.default_rng(0), 10
    n = n_cells // n_labels
    X = generator.normal(size=(n, 3))
    logits = X @ generator.normal(size=(3, n_labels)) + generator.normal(size=n_labels)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    counts = generator.multinomial(60, shares)
    hidden = (counts > 0) & (counts < 5)
    total = counts.sum(axis=1, keepdims=True).astype(float)
    y = np.where(hidden, np.nan, counts / total)
    low, high = (np.where(hidden, e / total, np.nan) for e in (1, 4))
    model = TableModel("winldl", random_state=0).fit(X, y, lower=low, upper=high)
    known = replace(PartialRows.of(y, low, high), counts=Counts(total[:, 0], True))
    sums = counts.sum(axis=0)[None].astype(float)
    over = Aggregates(np.zeros(n, int), sums, sums, np.array([-1]))
    model.rows_to_fill(X[:500], known.take(slice(500))).fill()
    seconds = []
    for aggregates in (None, over):
        start = time.process_time()
        counted = replace(known.counts, aggregates=aggregates)
        model.rows_to_fill(X, replace(known, counts=counted)).fill()
        seconds.append(time.process_time() - start)
    print(
        f"{n} x {n_labels}, {hidden.mean():.0%} suppressed: {seconds[0]:.1f} s without totals of "
        f"columns, {seconds[1]:.1f} s with them ({seconds[1] / seconds[0]:.2f})"
    )


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tables", nargs="*", type=Path)
    parser.add_argument("--thresholds", nargs="+", type=int, default=[3, 5, 10])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--cells", type=int, help="a made table of so many cells, timed")
    parser.add_argument("--out", help="a file of rows that need not be measured again")
    given = parser.parse_args(words)
    folders = [path for path in given.tables if path.is_dir()]
    given.tables = [path for path in given.tables if not path.is_dir()]
    given.tables += [path for folder in folders for path in sorted(folder.glob("*.csv"))]
    return given


def measured(given):
    """Return what was measured, a row for each case that has enough cells to judge by."""
    paths = {path.stem: path for path in given.tables}

    def one(name, threshold, zeros, seed):
        generator = np.random.default_rng([seed, threshold, zeros])
        found = suppress(*read(paths[name], seed), threshold, zeros, generator)
        if found is None:
            return {"best": None}
        best, ours, whole, held, judged = measure(*found, threshold, zeros)
        if judged.sum() < FEWEST or best <= 0.02:
            return {"best": None}
        numbers = dict(zip(NUMBERS, (found[2].mean(), judged.sum(), best, ours, whole, held),
                           strict=True))  # fmt: skip
        return numbers | {"rows": judged.shape[0], "labels": judged.shape[1]}

    cases = [
        (name, threshold, zeros, seed)
        for name in paths
        for threshold in given.thresholds
        for zeros in (False, True)
        for seed in range(given.seeds)
    ]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = resumed(given.out, ("table", "threshold", "zeros", "seed"), cases, one)
    return pd.DataFrame([row for row in rows if row["best"] is not None])


def results(frame):
    """Return the means over cases of each table, and those of all."""
    numbers = ["suppressed", "best", "ours", "whole", "held"]
    lines = [
        [name, *texts(each)] for name, each in frame.groupby("table")[numbers].mean().iterrows()
    ]
    lines.append(["mean of all cases", *texts(frame[numbers].mean())])
    columns = ["table", "suppressed", "best other way", "decimals", "whole numbers"]
    table = Table([*columns, "in 90% intervals"], lines)
    return Results({"errors": table}, {"cases": str(len(frame))})


def texts(means):
    """Return the means of a line as texts."""
    share, best, ours, whole, held = means
    return [f"{share:.0%}", digits(best, 3), digits(ours, 3), digits(whole, 3), f"{held:.0%}"]


def main():
    given = options()
    if given.cells:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            large(given.cells)
    frame = measured(given)
    if len(frame):
        by = frame.groupby("table")[list(NUMBERS)].mean()
        print(by.round(3).to_string())
        print(f"mean of {len(frame)} cases:\n{frame[list(NUMBERS)].mean().round(3).to_string()}")
        print(f"rows and labels: {sorted(set(zip(frame['rows'], frame['labels'], strict=True)))}")


if __name__ == "__main__":
    main()
