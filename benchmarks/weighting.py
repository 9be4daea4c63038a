"""Compare weightings on public data, where degrees are missing in three ways.

The schemes of the paper's table of weightings, `propensity`, and `auto` for Clark's distance, all
in `WInLDL(ridge="auto")`, which has no part in how strong a weighting is: the ridge is chosen by
leave-one-out for each. 300 rows of each dataset, three splits.

    python benchmarks/weighting.py run.sqlite          computes what is missing, prints tables
    python benchmarks/weighting.py run.sqlite --keep   also writes weighting.csv beside this
"""

import argparse
from pathlib import Path

import pandas as pd

from inldl.metrics import METRICS
from inldl_paper.experiments import Store, grid, run
from inldl_paper.experiments.statistics import mean_ranks, wilcoxon_holm
from kept import Results, Table, best_marked, digits

DATASETS = ("SJAFFE", "SBU_3DFE", "Natural_Scene", "SCUT_FBP", "Movie", "emotion6")
DATASETS += tuple(
    f"Yeast_{name}" for name in ("alpha", "cdc", "diau", "dtt", "elu", "heat", "spo")
)
SCHEMES = ("degree", "uniform", "proportional", "exponential", "random")
LEARNED = ("propensity", "auto(metric=clark)")
NAMES = (*SCHEMES, "propensity", "auto")
MECHANISMS = ("uniform", "small", "top")
SHOWN = ("cosine", "kl_divergence", "clark", "canberra")
ROWS, SPLITS = 300, 3
KEPT = Path(__file__).with_suffix(".csv")


def cells(datasets=DATASETS, splits=SPLITS):
    """Return the cells of the study, in an order that computes each fold once."""
    data = [f"inldl_paper.experiments.protocol:some_rows(name={d}, n={ROWS})" for d in datasets]
    methods = [f"winldl(weighting={each}, ridge=auto)" for each in (*SCHEMES, *LEARNED)]
    parts = (grid(data, methods, splits=splits, mechanism=each) for each in MECHANISMS)
    return [cell for part in parts for cell in part]


def means(store):
    """Return the mean scores over splits, one row for each dataset, mechanism, rate, weighting."""
    rows = Store(store).frame()
    rows["weighting"] = rows["method"].str.extract(r"weighting=[\"'](\w+)")[0]
    rows["dataset"] = rows["dataset"].str.extract(r"name='(\w+)'")[0]
    ok = rows[rows["status"] == "ok"]
    keys = ["dataset", "mechanism", "rate", "weighting"]
    return ok.groupby(keys)[list(SHOWN)].mean().reset_index()


def report(frame):
    """Print mean scores, and the differences from uniform weights with Wilcoxon and Holm."""
    cases = ["dataset", "mechanism", "rate"]
    for metric in SHOWN:
        wide = frame.pivot(index=cases, columns="weighting", values=metric)[list(NAMES)].dropna()
        print(f"\n{metric}, mean over datasets and rates ({len(wide)} cases)")
        print(wide.groupby("mechanism").mean().loc[list(MECHANISMS)].round(4).to_string())
        for mechanism in MECHANISMS:
            compare(
                wide.xs(mechanism, level="mechanism").groupby("dataset").mean(), metric, mechanism
            )


def compare(scores, metric, mechanism):
    """Print how each weighting differs from uniform weights over the datasets."""
    higher = METRICS[metric].higher_is_better
    tests = wilcoxon_holm(scores, higher, "uniform").reset_index().set_index("opponent")
    for name in NAMES:
        if name != "uniform":
            gain = (scores[name] - scores["uniform"]) * (1 if higher else -1)
            print(
                f"  {mechanism}: {name} better than uniform by {gain.mean():+.4f} (worst dataset "
                f"{gain.min():+.4f}), on {(gain > 0).sum()} and worse on {(gain < 0).sum()} of "
                f"{len(gain)}, p {tests.loc[name, 'p_holm']:.3f}"
            )
    print(f"  {mechanism}: mean ranks {mean_ranks(scores, higher).round(2).to_dict()}")


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("store", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args(words)


def measured(given):
    """Finish the run and return the mean scores over splits."""
    run(cells(given.datasets, given.splits), given.store, jobs=given.jobs)
    return means(given.store)


def results(frame):
    """Return the table of mean scores over datasets and rates, and how often ours are better."""
    shown = {"cosine": "cosine", "kl_divergence": "KL", "clark": "Clark"}
    holes = {"uniform": "uniform holes", "small": "small degrees missing",
             "top": "only the largest left"}  # fmt: skip
    cases, lines, facts = ["dataset", "mechanism", "rate"], [], {}
    for metric, name in shown.items():
        wide = frame.pivot(index=cases, columns="weighting", values=metric)[list(NAMES)].dropna()
        scores = wide.groupby("mechanism").mean()
        less = not METRICS[metric].higher_is_better
        for mechanism, where in holes.items():
            if mechanism in scores.index:
                texts = [digits(value) for value in scores.loc[mechanism]]
                lines.append([f"{name}, {where}", *best_marked(texts, less)])
                own = wide.xs(mechanism, level="mechanism").groupby("dataset").mean()
                for other in ("degree", "propensity", "auto"):
                    gain = (own["uniform"] - own[other]) if less else (own[other] - own["uniform"])
                    key = f"{name}, {where}: {other} better than uniform on"
                    facts[key] = f"{int((gain > 1e-12).sum())} of {len(gain)}"
    return Results({"scores": Table(["", *NAMES], lines)}, facts)


def main():
    given = options()
    frame = measured(given)
    if given.keep:
        frame.round(5).to_csv(KEPT, index=False)
    with pd.option_context("display.width", 200):
        report(frame)


if __name__ == "__main__":
    main()
