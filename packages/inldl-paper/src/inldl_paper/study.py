"""Reproduce the paper: what to run, its tables beside the printed ones, data of its figures."""

import io
import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files

import numpy as np
import pandas as pd

from inldl.methods.registry import canonical_method, make_method
from inldl.specs import split_list
from inldl_paper.experiments.protocol import (
    SPLITS,
    Array,
    Cell,
    authors_file,
    canonical_dataset,
    load_dataset,
    make_fold,
    seed,
    seed_name,
)
from inldl_paper.experiments.results import summarize
from inldl_paper.experiments.runner import DEGREE_EDGES
from inldl_paper.theory import linear_bound, weighted_empirical_risk

_PRINTED = tomllib.loads((files("inldl_paper") / "printed.toml").read_text(encoding="utf-8"))

RUN_TIME = _PRINTED["run_time"]
"""Seconds that WInLDL took for all ten datasets on the authors' machine (figure 4)."""


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
"""The values of mu in figure 5."""

SIZES = (2000, 8000, 32000, 128000)
"""The numbers of rows at which growth is measured (table 1)."""

WEIGHTED = {"unweighted (InLDL-U)": "inldl-u", "weighted (WInLDL)": "winldl"}
"""Two methods that show the effect of weighting on small degrees."""

PAPER_METRICS = ("cosine", "intersection", "chebyshev", "clark", "canberra")

_GROWTH = ("winldl", "inldl-p", "inldl-a", "bfgs-ldl", "iis-ldl", "edl-lrl", "ldm")
_UNTRAINED = "BFGS-LDL, 0 steps"

# The entries of a table: (printed method, variant) -> (method, recipe). Only WInLDL's program
# prepares the features: we get the printed rows of the other methods with unchanged features.
TABLES_4_5 = {
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
_TABLE_6 = {
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
    """Return means and deviations of table 4 (cosine), 5 (Clark) or 6 (weightings, cosine)."""
    entries = _read(_PRINTED["tables"][str(table)])
    mean = entries.apply(lambda column: column.str.partition("/")[0].astype(float))
    std = entries.apply(lambda column: column.str.partition("/")[2].astype(float))
    return mean, std


def plan(datasets: Sequence[str] = DATASETS, *, quick: bool = False) -> list[Cell]:
    """Return the cells behind the tables and figures, for datasets with their paper names."""
    cells = [
        cell
        for name in datasets
        for method, recipe in [*TABLES_4_5.values(), *_TABLE_6.values()]
        for cell in entry_cells(name, method, recipe)
    ]
    study = mu_dataset(datasets)
    cells += [cell for mu in PENALTIES for cell in entry_cells(study, *with_mu(mu))]
    cells += [entry_cells(study, *long_fit(mu))[0] for mu in PENALTIES]
    growth = [
        Cell(f"random(C=6, k=40, n={n})", PRINTED_RATE, split, "raw", "uniform", "seeded", method)
        for n in (SIZES[:3] if quick else SIZES)
        for split in range(2)
        for method in _GROWTH
    ]
    return [*dict.fromkeys(cells), *growth]


def entry_cells(name: str, method: str, recipe: str) -> list[Cell]:
    """Return the five cells of one entry, with the authors' splits if available."""
    dataset, method = canonical_dataset(name), canonical_method(method)
    known = all(authors_file(dataset, PRINTED_RATE, split) for split in range(SPLITS))
    setting = (recipe, "uniform", "authors" if known else "seeded", method)
    return [Cell(dataset, PRINTED_RATE, split, *setting) for split in range(SPLITS)]


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
    """Return table 4, 5 or 6 in long form: printed, ours, the difference and a verdict.

    `rows` of a store have all or some of the cells of `plan`. The difference is in units of the
    printed standard deviation.
    """
    means, stds = printed_results(table)
    metric = "clark" if table == 5 else "cosine"
    entries = (_TABLE_6 if table == 6 else TABLES_4_5).items()
    lines = []
    for name, ((method, variant), chosen) in ((d, entry) for d in DATASETS for entry in entries):
        found = rows_of(rows, name, *chosen)
        ours = our_result(found, metric)
        target = (means.loc[name, method], stds.loc[name, method])
        difference, what = verdict(*target, ours[0])
        why = _reason(name, method, variant) if what == "differs" else ""
        if failure := next(iter(found.loc[found["status"] != "ok", "reason"]), ""):
            what, why = "failed", failure
        lines.append((name, method, variant, *target, *ours, difference, what, why))
    columns = "dataset method variant printed printed_std ours ours_std difference verdict why"
    return pd.DataFrame(lines, columns=columns.split())


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


def rows_of(rows: pd.DataFrame, name: str, method: str, recipe: str) -> pd.DataFrame:
    """Return the rows of one entry."""
    wanted = vars(entry_cells(name, method, recipe)[0])
    for key in ("dataset", "method", "recipe", "splits", "rate"):
        rows = rows[rows[key] == wanted[key]]
    return rows


def growth(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Return the fit time of each method against n, and the exponent of seconds ~ n^exponent.

    The exponent is the slope of a straight line through the logarithms.
    """
    found = rows[rows["dataset"].str.startswith("random(") & (rows["status"] == "ok")]
    sizes = found["dataset"].str.extract(r"n=(\d+)")[0].astype(int)
    times = found.assign(n=sizes).groupby(["method", "n"])["fit_seconds"].min().reset_index()
    times = times.rename(columns={"fit_seconds": "seconds"})
    slopes = {
        method: float(np.polyfit(np.log(each["n"]), np.log(each["seconds"]), 1)[0])
        for method, each in times.groupby("method")
        if len(each) > 1
    }
    return times, pd.Series(slopes, dtype=float)


def run_times(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean seconds of a fit by method (with its name in the paper) and dataset."""
    lines = [
        (method, name, our_result(rows_of(rows, name, *chosen), "fit_seconds")[0])
        for (method, variant), chosen in TABLES_4_5.items()
        if not variant
        for name in DATASETS
    ]
    return pd.DataFrame(lines, columns=["method", "dataset", "seconds"]).dropna()


def mu_metrics(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return the mean and standard deviation of five metrics for each mu (figure 5, left)."""
    lines = [
        (mu, metric, *our_result(rows_of(rows, dataset, *with_mu(mu)), metric))
        for mu in PENALTIES
        for metric in PAPER_METRICS
    ]
    return pd.DataFrame(lines, columns=["mu", "metric", "mean", "std"]).dropna(subset="mean")


def mu_histories(rows: pd.DataFrame, dataset: str) -> dict[float, list[float]]:
    """Return the largest change of a degree in each iteration for each mu (figure 5, right)."""
    found = {mu: rows_of(rows, dataset, *long_fit(mu)) for mu in PENALTIES}
    return {mu: _details(each)[0]["history"] for mu, each in found.items() if len(each)}


def relative_error_by_size(
    rows: pd.DataFrame, datasets: Sequence[str], *, threshold: float = 0.5
) -> pd.DataFrame:
    """Return the mean of |predicted - true| / true of the degrees below and above a threshold.

    The threshold is one of `DEGREE_EDGES`. The columns are dataset, method, size, error.
    """
    below = np.array(DEGREE_EDGES[:-1]) < threshold
    lines = []
    for dataset in datasets:
        for shown, method in WEIGHTED.items():
            errors, counts = _sums(rows, dataset, method, "relative_error", "relative_count")
            for size, here in (("below", below), ("from", ~below)):
                if counts[here].any():
                    mean = float(errors[here].sum() / counts[here].sum())
                    lines.append((dataset, shown, f"{size} {threshold:g}", mean))
    return pd.DataFrame(lines, columns=["dataset", "method", "size", "error"])


def error_by_degree(rows: pd.DataFrame, dataset: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return the mean absolute error in each bin of true degrees, and the size of each bin.

    The columns are degree (the middle of the bin), error and method. The sizes are indexed by the
    middle of the bin.
    """
    middle = (np.array(DEGREE_EDGES[:-1]) + DEGREE_EDGES[1:]) / 2
    parts = []
    for shown, method in WEIGHTED.items():
        errors, counts = _sums(rows, dataset, method, "error", "count")
        seen = counts > 0
        means = {"degree": middle[seen], "error": errors[seen] / counts[seen], "method": shown}
        parts.append(pd.DataFrame(means))
    return pd.concat(parts, ignore_index=True), pd.Series(counts[seen], middle[seen])


def _sums(rows: pd.DataFrame, dataset: str, method: str, *names: str) -> list[Array]:
    """Return sums over the splits of what `errors_by_size` returned for them."""
    kept = _details(rows_of(rows, dataset, method, "published"))
    shape = len(kept), len(DEGREE_EDGES) - 1
    return [np.reshape([each[name] for each in kept], shape).sum(axis=0) for name in names]


def _details(rows: pd.DataFrame) -> list[dict[str, list[float]]]:
    return [json.loads(text) for text in rows.loc[rows["status"] == "ok", "details"]]


def bound_curves(dataset: str) -> pd.DataFrame:
    """Return the bound of theorem 2 against the number of rows, for a fit on a dataset.

    The loss is the squared error of a degree: at most 1, with Lipschitz constant 2. The columns
    are N, bound, floor (the weighted empirical risk of the training rows) and max_weight. It needs
    the coefficients, which a store does not have, so that one model is fitted here.
    """
    name = seed_name(canonical_dataset(dataset))
    fold = make_fold(name, *load_dataset(dataset), rate=PRINTED_RATE, split=0)
    model = make_method("winldl", seed("winldl")).fit(fold.X, fold.y)
    seen = ~np.isnan(fold.y)
    losses = np.where(seen, (fold.y - model.predict(fold.X)) ** 2, 0)
    N = np.logspace(2, 8, 25)
    parts = []
    for max_weight in (1.0, 2.0, 4.0):
        weights = np.where(seen, max_weight ** (1 - np.where(seen, fold.y, 0)), 0)
        risk = weighted_empirical_risk(losses, weights)
        bound = linear_bound(
            risk,
            max_weight=max_weight,
            n_labels=fold.y.shape[1],
            loss_bound=1.0,
            lipschitz=2.0,
            coef_norm=float(np.linalg.norm(np.column_stack([model.coef_, model.intercept_]))),
            max_row_norm=float(np.hypot(np.linalg.norm(fold.X, axis=1), 1).max()),  # with bias
            n_samples=N,
            delta=0.05,
        )
        curve = {"N": N, "bound": bound, "floor": risk, "max_weight": max_weight}
        parts.append(pd.DataFrame(curve))
    return pd.concat(parts, ignore_index=True)
