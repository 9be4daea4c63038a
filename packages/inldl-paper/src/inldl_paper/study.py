"""Reproduce the paper: what to run, and its tables beside the printed ones."""

import io
import math
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files

import pandas as pd

from inldl.methods.registry import canonical_method
from inldl.specs import split_list
from inldl_paper.experiments.folds import AUTHORS_SPLITS
from inldl_paper.experiments.protocol import (
    RATES,
    SPLITS,
    Cell,
    canonical_dataset,
    load_dataset,
)
from inldl_paper.experiments.results import summarize

_PRINTED = tomllib.loads((files("inldl_paper") / "printed.toml").read_text(encoding="utf-8"))

RUN_TIME = _PRINTED["run_time"]
"""Seconds that WInLDL took for all ten datasets on the authors' machine (figure 3)."""


def _read(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), sep=r"\s+", index_col="dataset")


PRINTED_SHAPES = _read(_PRINTED["shapes"]).astype(int)
"""The rows n, features k and labels C of each dataset (table 2)."""

DATASETS = tuple(PRINTED_SHAPES.index)
"""The ten datasets, with their names in the paper."""

QUICK = ("SJAFFE", "SBU3DFE")
"""The two small datasets."""

PRINTED_RATE = 0.5
"""The missing rate of all printed tables."""

PENALTIES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""The values of mu in figure 4."""

GROWING_SIZES = {
    "n": (2000, 8000, 32000, 128000),
    "k": (20, 40, 80, 160, 320),
    "C": (6, 12, 24, 48),
}
"""The numbers of rows, features and labels at which the time of a fit is measured (table 1)."""

BASE = {"n": 2000, "k": 40, "C": 6}
"""The sizes that do not grow."""

WEIGHTED = {"unweighted (InLDL-U)": "inldl-u", "weighted (WInLDL)": "winldl"}
"""Two methods that show the effect of weighting on small degrees."""

PAPER_METRICS = ("cosine", "intersection", "chebyshev", "clark", "canberra")

_GROWTH = ("winldl", "inldl-p", "inldl-a", "bfgs-ldl", "iis-ldl", "edl-lrl", "ldm")
_UNTRAINED = "BFGS-LDL, 0 steps"

# The entries of a table: (printed method, variant) -> (method, recipe). Only WInLDL's program
# prepares the features: we get the printed rows of the other methods with unchanged features.
TABLES_3_4 = {
    ("WInLDL", ""): ("winldl", "published"),
    ("LDM", ""): ("ldm-published", "published-raw"),
    ("EDL-LRL", ""): ("edl-lrl-published", "published-raw"),
    ("InLDL-p", ""): ("inldl-p-published", "published-raw"),
    ("InLDL-a", ""): ("inldl-a-published", "published-raw"),
    ("BFGS-LDL", ""): ("bfgs-ldl-published", "published-raw"),
    ("BFGS-LDL", _UNTRAINED): ("bfgs-ldl-published(max_iter=0)", "published-raw"),
    ("IIS-LDL", ""): ("iis-ldl-published", "published-raw"),
}
# Two targets of a missing degree: the program's, and the one in the paper's text.
_TABLE_5 = {
    (scheme, target): (f"{scheme.casefold()}{argument}", "published")
    for scheme in ("WInLDL", "InLDL-U", "InLDL-I", "InLDL-II", "InLDL-Rand")
    for target, argument in (("imputed", ""), ("zero", "(missing='zero')"))
}

_NO_RIDGE = "no ridge: X'X is nearly singular, and rounding decides"
_ZERO = "zero targets give the printed row"
_REASONS = {
    ("BFGS-LDL", ""): "exact gradient; the public one is wrong where degrees are missing",
    ("BFGS-LDL", _UNTRAINED): "the public program may take some steps before its line search "
    "fails",
    ("EDL-LRL", ""): "depends on where the line search of the public program gives up",
    ("InLDL-p", ""): _NO_RIDGE,
    ("InLDL-a", ""): _NO_RIDGE,
    ("WInLDL", "zero"): "imputed targets give the printed row",
    ("InLDL-II", "imputed"): _ZERO,
    ("InLDL-Rand", "imputed"): _ZERO,
    ("InLDL-Rand", "zero"): "different random weights",
}


def printed_results(table: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return means and deviations of table 3 (cosine), 4 (Clark) or 5 (weightings, cosine)."""
    entries = _read(_PRINTED["tables"][str(table)])
    mean = entries.apply(lambda column: column.str.partition("/")[0].astype(float))
    std = entries.apply(lambda column: column.str.partition("/")[2].astype(float))
    return mean, std


def printed_runs() -> pd.DataFrame:
    """Return what the authors' program gave on the five splits of SBU3DFE that are known."""
    return pd.read_csv(io.StringIO(_PRINTED["runs"]["SBU3DFE"]), sep=r"\s+")


def plan(datasets: Sequence[str] = DATASETS, *, quick: bool = False) -> list[Cell]:
    """Return the cells behind the tables and figures, for datasets with their paper names."""
    entries = [*TABLES_3_4.values(), *_TABLE_5.values()]
    cells = [cell for name in datasets for entry in entries for cell in entry_cells(name, *entry)]
    cells += [
        cell
        for name in (datasets[:1] if quick else datasets)
        for rate in RATES
        for entry in methods_of_the_paper().values()
        for cell in entry_cells(name, *entry, rate=rate)
    ]
    study = mu_dataset(datasets)
    cells += [cell for mu in PENALTIES for cell in entry_cells(study, *with_mu(mu))]
    cells += [entry_cells(study, *long_fit(mu))[0] for mu in PENALTIES]
    return list(dict.fromkeys([*cells, *growth_cells(quick=quick)]))


def methods_of_the_paper() -> dict[str, tuple[str, str]]:
    """Return the method and the recipe of each method of tables 3 and 4."""
    return {method: entry for (method, variant), entry in TABLES_3_4.items() if not variant}


def growth_cells(*, quick: bool = False) -> list[Cell]:
    """Return cells of which one size grows: rows, features or labels."""
    setting = ("raw", "uniform", "seeded")
    return [
        Cell(_random({**BASE, axis: size}), PRINTED_RATE, split, *setting, method)
        for axis, sizes in GROWING_SIZES.items()
        for size in (sizes[:3] if quick else sizes)
        for split in range(1 if quick else 2)
        for method in _GROWTH
    ]


def _random(sizes: Mapping[str, int]) -> str:
    return canonical_dataset(f"random(n={sizes['n']}, k={sizes['k']}, C={sizes['C']})")


def entry_cells(name: str, method: str, recipe: str, rate: float = PRINTED_RATE) -> list[Cell]:
    """Return the five cells of one entry, on the authors' splits where these are known."""
    dataset, method = canonical_dataset(name), canonical_method(method)
    splits = "authors" if (dataset, rate) in AUTHORS_SPLITS else "seeded"
    return [Cell(dataset, rate, at, recipe, "uniform", splits, method) for at in range(SPLITS)]


def paper_names(text: str) -> list[str]:
    """Return the paper names of the datasets in a comma-separated list."""
    known = {canonical_dataset(name): name for name in DATASETS}
    chosen = [canonical_dataset(each) for each in split_list(text)]
    for name in chosen:
        if name not in known:
            raise ValueError(f"{name} is not in the paper: choose among {', '.join(DATASETS)}.")
    return [known[name] for name in dict.fromkeys(chosen)]


def with_mu(mu: float) -> tuple[str, str]:
    """Return WInLDL with this mu, and its recipe."""
    return ("winldl" if mu == 2 else f"winldl(mu={mu!r})"), "published"


def long_fit(mu: float) -> tuple[str, str]:
    """Return WInLDL with this mu and 100 iterations, and its recipe."""
    return f"winldl(mu={mu!r}, max_iter=100, tol=0.0)", "published"


def mu_dataset(datasets: Sequence[str]) -> str:
    """Return the dataset used to study mu: SBU3DFE if available, else the first one."""
    return "SBU3DFE" if "SBU3DFE" in datasets else datasets[0]


def comparison(rows: pd.DataFrame, table: int) -> pd.DataFrame:
    """Return table 3, 4 or 5 in long form: printed, ours, the difference and a verdict.

    `rows` of a store have all or some of the cells of `plan`. The difference is in units of the
    printed standard deviation.
    """
    means, stds = printed_results(table)
    metric = "clark" if table == 4 else "cosine"
    entries = (_TABLE_5 if table == 5 else TABLES_3_4).items()
    lines = []
    for name, ((method, variant), chosen) in ((d, entry) for d in DATASETS for entry in entries):
        found = rows_of(rows, name, *chosen)
        ours = our_result(found, metric)
        target = (means.loc[name, method], stds.loc[name, method])
        difference, what = verdict(*target, ours[0])
        why = _reason(name, method, variant) if what == "differs" else ""
        if failure := next(iter(found.loc[found["status"] != "ok", "reason"]), ""):
            what, why = "failed", failure
        splits = splits_of(name)
        lines.append((name, method, variant, splits, *target, *ours, difference, what, why))
    columns = "dataset method variant splits printed printed_std ours ours_std difference verdict"
    columns += " why"
    return pd.DataFrame(lines, columns=columns.split())


def splits_of(name: str) -> str:
    """Return whose splits a dataset is run on: "authors" or "seeded"."""
    return entry_cells(name, "winldl", "published")[0].splits


def scores(
    rows: pd.DataFrame,
    metric: str,
    *,
    rate: float = PRINTED_RATE,
    table: int = 3,
    variant: str = "",
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return our means and deviations in the layout of the paper: datasets x methods.

    Datasets without a complete entry are left out. `table` is 3 (also for other metrics), or 5,
    whose `variant` is the target of missing degrees: "imputed" or "zero".
    """
    entries = {
        method: entry
        for (method, kind), entry in (_TABLE_5 if table == 5 else TABLES_3_4).items()
        if kind == variant
    }
    found = {
        name: {
            method: our_result(rows_of(rows, name, *entry, rate=rate), metric)
            for method, entry in entries.items()
        }
        for name in DATASETS
    }
    mean, std = (
        pd.DataFrame(
            {name: {m: pair[at] for m, pair in line.items()} for name, line in found.items()}
        ).T
        for at in (0, 1)
    )
    there = mean.notna().any(axis=1)
    return mean[there], std[there]


def run_by_run(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the five metrics of WInLDL on each of the authors' splits, theirs and ours.

    The columns are split, metric, authors, ours, difference; there are no rows without SBU3DFE.
    """
    found = rows_of(rows, "SBU3DFE", *TABLES_3_4["WInLDL", ""])
    found = found[found["status"] == "ok"].set_index("split")
    lines = [
        (split + 1, metric, theirs, found.at[split, metric])
        for split, run in printed_runs().iterrows()
        for metric, theirs in run.items()
        if split in found.index
    ]
    table = pd.DataFrame(lines, columns=["split", "metric", "authors", "ours"])
    return table.assign(difference=table["ours"] - table["authors"])


def shapes(not_run: Mapping[str, str]) -> pd.DataFrame:
    """Return table 2: rows, features and labels as printed and in the public files.

    `not_run` says which datasets are not available, and why.
    """
    lines = []
    for name, expected in PRINTED_SHAPES.iterrows():
        said = " x ".join(map(str, expected))
        if name in not_run:
            lines.append((name, said, "", "not run", not_run[name]))
            continue
        X, y = load_dataset(name)
        found = " x ".join(map(str, (*X.shape, y.shape[1])))
        what, why = ("same", "") if said == found else ("differs", _reason(name, "", ""))
        lines.append((name, said, found, what, why))
    return pd.DataFrame(lines, columns=["dataset", "printed", "ours", "verdict", "why"])


def verdict(printed_mean: float, printed_std: float, ours: float) -> tuple[float, str]:
    """Return the difference in printed standard deviations, and a verdict.

    Examples
    --------
    >>> verdict(0.9417, 0.0021, 0.94172)[1], verdict(0.9417, 0.0021, 0.9400)[1]
    ('same', 'within one std')
    """
    if math.isnan(ours):
        return math.nan, "not run"
    difference = (ours - printed_mean) / printed_std
    if round(ours, 4) == round(printed_mean, 4):
        return difference, "same"
    return difference, "within one std" if abs(difference) <= 1 else "differs"


def _reason(dataset: str, method: str, variant: str) -> str:
    """Return what is known about a number that differs from the printed one."""
    if dataset == "Emotion6":
        return "the public file has 168 features, the paper's 1000"
    if dataset == "SCUTFBP" and variant != _UNTRAINED:
        return "not proven; degrees of 1e-6 in the public file may be missing in the authors' file"
    return _REASONS.get((method, variant), "unknown")


def our_result(found: pd.DataFrame, column: str) -> tuple[float, float]:
    """Return the mean and standard deviation over the five splits of the rows of one entry.

    They are NaN if a split is missing.
    """
    if len(found) < SPLITS:
        return math.nan, math.nan
    summary = summarize(found, column)
    return float(summary.mean.iloc[0, 0]), float(summary.std.iloc[0, 0])


def rows_of(
    rows: pd.DataFrame, name: str, method: str, recipe: str, rate: float = PRINTED_RATE
) -> pd.DataFrame:
    """Return the rows of one entry."""
    wanted = vars(entry_cells(name, method, recipe, rate)[0])
    for key in ("dataset", "method", "recipe", "splits", "rate"):
        rows = rows[rows[key] == wanted[key]]
    return rows
