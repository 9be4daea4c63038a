"""The data behind the figures of the paper, and a measured version of its table 1."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from inldl.experiments import paper
from inldl.experiments.measure import DEGREE_EDGES
from inldl.experiments.paper import DATASETS, PENALTIES, PRINTED_RATE, WEIGHTED, our_result
from inldl.experiments.protocol import (
    Array,
    canonical_dataset,
    load_dataset,
    make_fold,
    seed,
    seed_name,
)
from inldl.methods.registry import make_method
from inldl.risk_bounds import linear_bound, weighted_empirical_risk

PAPER_METRICS = ("cosine", "intersection", "chebyshev", "clark", "canberra")


@dataclass(frozen=True)
class Reproduction:
    """Everything in the paper that we have data for, measured again."""

    not_run: dict[str, str]  # datasets that are not available, and why
    tables: dict[int, pd.DataFrame]  # 2, 4, 5 and 6: printed, ours and a verdict
    growth: pd.DataFrame  # table 1, measured: fit time against n
    exponents: pd.Series  # and its exponent
    relative_errors: pd.DataFrame  # figure 2, on the available datasets
    degree_errors: pd.DataFrame  # error by size of the degree, with and without weights
    degree_counts: pd.Series
    run_times: pd.DataFrame  # figure 4
    mu_dataset: str  # the dataset of the rest
    mu_metrics: pd.DataFrame  # figure 5
    mu_histories: dict[float, list[float]]
    bounds: pd.DataFrame  # theorem 2
    environment: dict[str, str]  # the machine and the versions used


def collect(rows: pd.DataFrame, not_run: Mapping[str, str]) -> Reproduction:
    """Return the tables, and the data for the figures, from the rows of a finished `plan`."""
    there = [name for name in DATASETS if name not in not_run]
    study = paper.mu_dataset(there)
    if study is None:
        raise ValueError("None of the paper's datasets is available; see `inldl datasets`.")
    times, exponents = growth(rows)
    errors, counts = error_by_degree(rows, study)
    tables = {table: paper.comparison(rows, table) for table in (4, 5, 6)}
    return Reproduction(
        not_run=dict(not_run),
        tables={2: paper.shapes(not_run), **tables},
        growth=times,
        exponents=exponents,
        relative_errors=relative_error_by_size(rows, there),
        degree_errors=errors,
        degree_counts=counts,
        run_times=run_times(rows),
        mu_dataset=study,
        mu_metrics=mu_metrics(rows, study),
        mu_histories=mu_histories(rows, study),
        bounds=bound_curves(study),
        environment=json.loads(rows["environment"].iloc[-1]),
    )


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
        (method, name, our_result(rows, name, *chosen, "fit_seconds")[0])
        for (method, variant), chosen in paper.TABLES_4_5.items()
        if not variant
        for name in DATASETS
    ]
    return pd.DataFrame(lines, columns=["method", "dataset", "seconds"]).dropna()


def mu_metrics(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return the mean and standard deviation of five metrics for each mu (figure 5, left)."""
    lines = [
        (mu, metric, *our_result(rows, dataset, *paper.with_mu(mu), metric))
        for mu in PENALTIES
        for metric in PAPER_METRICS
    ]
    return pd.DataFrame(lines, columns=["mu", "metric", "mean", "std"]).dropna(subset="mean")


def mu_histories(rows: pd.DataFrame, dataset: str) -> dict[float, list[float]]:
    """Return the largest change of a degree in each iteration for each mu (figure 5, right)."""
    found = {mu: paper.rows_of(rows, dataset, *paper.long_fit(mu)) for mu in PENALTIES}
    return {mu: _details(each)[0]["history"] for mu, each in found.items() if len(each)}


def relative_error_by_size(
    rows: pd.DataFrame, datasets: Iterable[str], *, threshold: float = 0.5
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
    kept = _details(paper.rows_of(rows, dataset, method, "published"))
    shape = len(kept), len(DEGREE_EDGES) - 1
    return [np.reshape([each[name] for each in kept], shape).sum(axis=0) for name in names]


def _details(rows: pd.DataFrame) -> list[dict[str, list[float]]]:
    return [json.loads(text) for text in rows.loc[rows["status"] == "ok", "details"]]


def bound_curves(dataset: str, delta: float = 0.05) -> pd.DataFrame:
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
            delta=delta,
        )
        curve = {"N": N, "bound": bound, "floor": risk, "max_weight": max_weight}
        parts.append(pd.DataFrame(curve))
    return pd.concat(parts, ignore_index=True)
