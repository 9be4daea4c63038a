"""Tables of the scores that are stored: ours beside the best of the peers in each cell."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from cells import KINDS
from methods import OURS

sys.path.append(str(Path(__file__).parents[1]))
from kept import Results, Table

METRICS = ("rmse", "mae", "aitchison", "crps", "log crps")
CLOSE = 1.03  # of the best peer
EVERYWHERE = 0.9  # of the cells: methods that ran in fewer have no rank
MOST_JUDGED = 50  # cells of a table for its coverage to count as the worst


def report(rows, label, pool, details):
    """Print all tables. `rows` has a line for each cell and method, with its scores."""
    rows = rows[rows.skipped.isna()].assign(**{"trial": "all"} if pool else {})
    mine = rows.method.isin(OURS)
    peers = rows[~mine]
    for method in OURS:
        own = rows[mine & (rows.method == method) & (rows.version == label)]
        if len(own):
            print(f"\n# {method}, {label}")
            print(f"\n{compare(own, peers).markdown()}")
            print_coverage(own)
            print_other_labels(own, rows[mine & (rows.version != label)])
            if details:
                print_cells(own, peers)
    print(f"\n{ranks(pd.concat([rows[mine & (rows.version == label)], peers])).markdown()}")


def results(rows, label):
    """Return the tables of a page: ours beside the best peer, and mean ranks of all."""
    rows = rows[rows.skipped.isna()].assign(trial="all")
    mine = rows.method.isin(OURS)
    tables = {
        f"{method} beside the best": compare(own, rows[~mine])
        for method in OURS
        if len(own := rows[mine & (rows.method == method) & (rows.version == label)])
    }
    now = pd.concat([rows[mine & (rows.version == label)], rows[~mine]])
    facts = {f"version of {m}": v for m, v in rows[~mine].groupby("method").version.last().items()}
    return Results(tables | {"ranks": ranks(now)}, facts | {"tables": str(now.table.nunique())})


def by_cell(rows, metric):
    """Return a score with a row a cell and a column a method."""
    index = ["kind", "table", "trial"]
    return rows.pivot_table(index=index, columns="method", values=metric, aggfunc="mean")


def beside_best(own, peers, metric):
    """Return our score in each cell, the best of the peers, and which that is."""
    found, others = by_cell(own, metric), by_cell(peers, metric)
    others = others.reindex(found.index).dropna(how="all")
    best = pd.DataFrame({"best": others.min(axis=1), "peer": others.idxmin(axis=1)})
    best.insert(0, "ours", found.iloc[:, 0])
    best["ratio"] = best.ours / best.best.clip(lower=1e-12)
    return best.dropna()


def compare(own, peers):
    """Return our scores beside the best of the peers, a line for each kind of holes and score."""
    lines = []
    for metric in METRICS:
        found = beside_best(own, peers, metric)
        kinds = found.index.get_level_values("kind")
        for kind in (*KINDS, "all"):
            part = found if kind == "all" else found[kinds == kind]
            if len(part):
                best, near = (part.ratio <= 1).sum(), (part.ratio <= CLOSE).sum()
                numbers = [str(best), str(near), str(len(part)), f"{part.ratio.median():.3f}"]
                means = [f"{part.ours.mean():.4f}", f"{part.best.mean():.4f}"]
                lines.append([kind, metric, *numbers, *means])
    columns = ["holes", "score", "ours best", "within 3%", "cells", "median of the best"]
    return Table([*columns, "mean of ours", "mean of the best"], lines, 2)


def print_coverage(own):
    """Print how often 90% intervals hold, on average and in the worst table, and draws of 0."""
    print("\n| holes | 90% intervals hold | worst table | Winkler | drawn 0 | 0 where none seen "
          "| seconds, median |\n|---|---:|---|---:|---:|---:|---:|")  # fmt: skip
    for kind in [kind for kind in KINDS if (own.kind == kind).any()]:
        part = own[own.kind == kind]
        tables = part.groupby("table").agg({"inside": "mean", "judged": "sum"})
        tables = tables[tables.judged >= MOST_JUDGED].inside
        worst = f"{tables.min():.2f} ({tables.idxmin()})" if len(tables) else "-"
        zeros = f"{part.zeros.mean():.1%} | {part['zeros where none seen'].mean():.1%}"
        print(f"| {kind} | {part.inside.mean():.3f} | {worst} | {part.winkler.mean():.4f} | "
              f"{zeros} | {part.seconds.median():.2f} |")  # fmt: skip


def print_other_labels(own, others):
    """Print the geometric mean of our scores over those of other measurements of ours."""
    for (method, label), rows in others.groupby(["method", "version"]):
        ratios = []
        for metric in METRICS:
            pair = by_cell(own, metric).iloc[:, 0] / by_cell(rows, metric).iloc[:, 0]
            pair = pair[np.isfinite(pair) & (pair > 0)]
            ratios.append(f"{metric} {np.exp(np.log(pair).mean()):.3f}")
        print(f"\nOver {method}, {label}, geometric means of {len(pair)} cells: "
              + ", ".join(ratios))  # fmt: skip


def ranks(rows):
    """Return mean ranks of the methods that ran nearly everywhere, and their times."""
    means, lines = {}, []
    for metric in METRICS:
        found = by_cell(rows, metric)
        ran = found.notna().mean() >= EVERYWHERE
        means[metric] = found.loc[:, ran].dropna().rank(axis=1).mean()
    table = pd.DataFrame(means).reindex(sorted(set(rows.method)))
    for method, line in table.sort_values("rmse").iterrows():
        of_method = rows[rows.method == method]
        texts = ["" if np.isnan(value) else f"{value:.2f}" for value in line]
        seconds = [str(len(of_method)), f"{of_method.seconds.median():.2f}"]
        lines.append([method, *texts, *seconds])
    return Table(["method", *(f"rank, {m}" for m in METRICS), "cells", "seconds"], lines)


def print_cells(own, peers):
    """Print our score over the best peer's for each table and kind, means of trials."""
    print("\n| table | holes | " + " | ".join(METRICS) + " | 90% hold |")
    print("|---|---|" + "---|" * (len(METRICS) + 1))
    found = {metric: beside_best(own, peers, metric) for metric in METRICS}
    for (table, kind), part in own.groupby(["table", "kind"], sort=False):
        texts = []
        for each in found.values():
            trials = each[each.index.droplevel("trial") == (kind, table)]
            texts.append(f"{trials.ratio.mean():.2f} {' / '.join(sorted(set(trials.peer)))}")
        print(f"| {table} | {kind} | {' | '.join(texts)} | {part.inside.mean():.2f} |")
