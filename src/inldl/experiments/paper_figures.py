"""The data behind the figures of the paper, and a measured version of its table 1."""

import json
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from inldl.experiments import reproduce
from inldl.experiments.data import Array, canonical_dataset, load_dataset, seed_name
from inldl.experiments.protocol import Fold, make_fold, seed
from inldl.experiments.reproduce import DATASETS, PENALTIES, our_result
from inldl.methods.registry import make_method
from inldl.risk_bounds import linear_bound, weighted_empirical_risk

EDGES = np.array([0.0, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0])
"""Edges of the bins of degrees."""

SMALLEST = 0.01
"""Relative errors leave out smaller degrees: 0 has none, and a few 1e-6 would rule the mean."""

WEIGHTED = {"unweighted (InLDL-U)": "inldl-u", "weighted (WInLDL)": "winldl"}
"""Two fits that show the effect of weighting on small degrees."""

METRICS = ("cosine", "intersection", "chebyshev", "clark", "canberra")
"""The five metrics of the paper."""


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
    mu_histories: dict[float, Array]
    bounds: pd.DataFrame  # theorem 2
    environment: dict[str, str]  # the machine and the versions used


def collect(rows: pd.DataFrame, not_run: Mapping[str, str]) -> Reproduction:
    """Return the tables, and the data for the figures, from the rows of a finished `plan`."""
    there = [name for name in DATASETS if name not in not_run]
    study = reproduce.mu_dataset(there)
    if study is None:
        raise ValueError("None of the paper's datasets is available; see `inldl datasets`.")
    times, exponents = growth(rows)
    errors, counts = error_by_degree(study, WEIGHTED)
    tables = {table: reproduce.comparison(rows, table) for table in (4, 5, 6)}
    return Reproduction(
        not_run=dict(not_run),
        tables={2: reproduce.shapes(not_run), **tables},
        growth=times,
        exponents=exponents,
        relative_errors=relative_error_by_size(there, WEIGHTED),
        degree_errors=errors,
        degree_counts=counts,
        run_times=run_times(rows),
        mu_dataset=study,
        mu_metrics=mu_metrics(rows, study, METRICS),
        mu_histories=mu_histories(study),
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
        for (method, variant), chosen in reproduce.TABLES_4_5.items()
        if not variant
        for name in DATASETS
    ]
    return pd.DataFrame(lines, columns=["method", "dataset", "seconds"]).dropna()


def mu_metrics(rows: pd.DataFrame, dataset: str, metrics: Iterable[str]) -> pd.DataFrame:
    """Return the mean and standard deviation of each metric for each mu (figure 5, left)."""
    lines = [
        (mu, metric, *our_result(rows, dataset, *reproduce.with_mu(mu), metric))
        for mu in PENALTIES
        for metric in metrics
    ]
    return pd.DataFrame(lines, columns=["mu", "metric", "mean", "std"]).dropna(subset="mean")


def mu_histories(dataset: str, iterations: int = 100) -> dict[float, Array]:
    """Return the largest change of a degree in each iteration for each mu (figure 5, right)."""
    methods = {mu: f"winldl(mu={mu!r}, max_iter={iterations}, tol=0.0)" for mu in PENALTIES}
    fold = _fold(dataset)
    return {mu: _fitted(fold, each).history_["degree_change"] for mu, each in methods.items()}


def relative_error_by_size(
    datasets: Iterable[str], methods: Mapping[str, str], *, threshold: float = 0.5
) -> pd.DataFrame:
    """Return the mean of |predicted - true| / true of the degrees below and above a threshold.

    `methods` maps the displayed name to the method. The columns are dataset, method, size, error.
    """
    lines = []
    for dataset in datasets:
        for shown, method in methods.items():
            true, predicted = _degrees(dataset, method)
            true, predicted = true[true >= SMALLEST], predicted[true >= SMALLEST]
            error = np.abs(predicted - true) / true
            for size, here in (("below", true < threshold), ("from", true >= threshold)):
                if here.any():
                    mean = float(error[here].mean())
                    lines.append((dataset, shown, f"{size} {threshold:g}", mean))
    return pd.DataFrame(lines, columns=["dataset", "method", "size", "error"])


def error_by_degree(dataset: str, methods: Mapping[str, str]) -> tuple[pd.DataFrame, pd.Series]:
    """Return the mean absolute error in each bin of true degrees, and the size of each bin.

    The columns are degree (the middle of the bin), error and method. The sizes are indexed by the
    middle of the bin.
    """
    middle = (EDGES[:-1] + EDGES[1:]) / 2
    parts = []
    for shown, method in methods.items():
        true, predicted = _degrees(dataset, method)
        bins = np.clip(np.digitize(true, EDGES) - 1, 0, len(middle) - 1)
        each = pd.DataFrame({"degree": middle[bins], "error": np.abs(predicted - true)})
        groups = each.groupby("degree")
        parts.append(groups["error"].mean().reset_index().assign(method=shown))
    return pd.concat(parts, ignore_index=True), groups.size()


def bound_curves(dataset: str, delta: float = 0.05) -> pd.DataFrame:
    """Return the bound of theorem 2 against the number of rows, for a fit on a dataset.

    The loss is the squared error of a degree: at most 1, with Lipschitz constant 2. The columns
    are N, bound, floor (the weighted empirical risk of the training rows) and max_weight.
    """
    fold = _fold(dataset)
    model = _fitted(fold, "winldl")
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


@lru_cache(maxsize=1)
def _fold(dataset: str) -> Fold:
    """Return the first split of a dataset at the rate of the printed tables."""
    name = seed_name(canonical_dataset(dataset))
    return make_fold(name, *load_dataset(dataset), rate=reproduce.RATE, split=0)


def _fitted(fold: Fold, method: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_method(method, seed(method)).fit(fold.X, fold.y)


def _degrees(dataset: str, method: str) -> tuple[Array, Array]:
    """Return the true and the predicted degrees of the test rows, flattened."""
    fold = _fold(dataset)
    return fold.y_test.ravel(), _fitted(fold, method).predict(fold.X_test).ravel()
