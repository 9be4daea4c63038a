"""The data behind the figures of the paper, and a measured version of its table 1."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from inldl.bounds import linear_bound, weighted_empirical_risk
from inldl.experiments.data import canonical_dataset, load_dataset, seed_name
from inldl.experiments.protocol import Array, Fold, make_fold, seed
from inldl.experiments.reproduce import (
    DATASETS,
    PENALTIES,
    RATE,
    TABLES_4_5,
    UNTRAINED,
    comparison,
    mu_dataset,
    our_result,
    shapes,
    with_mu,
)
from inldl.methods import make_method

if TYPE_CHECKING:
    from pandas import DataFrame, Series

EDGES = (0.0, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
"""Edges of the bins of degrees."""


def growth(rows: DataFrame) -> tuple[DataFrame, Series]:
    """Return the fit time of each method against n, and the exponent of seconds ~ n^exponent.

    The exponent is the slope of a straight line through the logarithms.
    """
    import pandas as pd

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


def run_times(rows: DataFrame) -> DataFrame:
    """Return the mean seconds of a fit by method (with its name in the paper) and dataset."""
    import pandas as pd

    lines = [
        (method, name, our_result(rows, name, spec, recipe, "fit_seconds")[0])
        for method, (spec, recipe) in TABLES_4_5.items()
        if method != UNTRAINED
        for name in DATASETS
    ]
    return pd.DataFrame(lines, columns=["method", "dataset", "seconds"]).dropna()


def mu_metrics(rows: DataFrame, dataset: str, metrics: Iterable[str]) -> DataFrame:
    """Return the mean and standard deviation of each metric for each mu (figure 5, left)."""
    import pandas as pd

    lines = [
        (mu, metric, *our_result(rows, dataset, *with_mu(mu), metric))
        for mu in PENALTIES
        for metric in metrics
    ]
    return pd.DataFrame(lines, columns=["mu", "metric", "mean", "std"]).dropna(subset="mean")


def mu_histories(dataset: str, iterations: int = 100) -> dict[float, Array]:
    """Return the largest change of a degree in each iteration for each mu (figure 5, right)."""
    return {
        mu: _fitted(_fold(dataset), f"winldl(mu={mu!r}, max_iter={iterations}, tol=0.0)").history_[
            "degree_change"
        ]
        for mu in PENALTIES
    }


def relative_error_by_size(
    datasets: Iterable[str],
    methods: Mapping[str, str],
    *,
    threshold: float = 0.5,
    smallest: float = 0.01,
) -> DataFrame:
    """Return the mean of |predicted - true| / true below and above a threshold.

    Parameters
    ----------
    datasets : iterable of str
        Names of datasets.
    methods : mapping of str to str
        The displayed name and the method.
    threshold : float, default=0.5
        Degrees below it are small.
    smallest : float, default=0.01
        Degrees below it are left out: a degree of 0 has no relative error, and a few degrees of
        1e-6 would dominate the mean.

    Returns
    -------
    DataFrame
        Columns dataset, method, size, error.
    """
    import pandas as pd

    lines = []
    for dataset in datasets:
        for shown, method in methods.items():
            true, predicted = _degrees(dataset, method)
            true, predicted = true[true >= smallest], predicted[true >= smallest]
            error = np.abs(predicted - true) / true
            for size, here in (("below", true < threshold), ("from", true >= threshold)):
                if here.any():
                    mean = float(error[here].mean())
                    lines.append((dataset, shown, f"{size} {threshold:g}", mean))
    return pd.DataFrame(lines, columns=["dataset", "method", "size", "error"])


def error_by_degree(dataset: str, methods: Mapping[str, str]) -> tuple[DataFrame, Series]:
    """Return the mean absolute error in each bin of true degrees, and the size of each bin.

    Returns
    -------
    frame : DataFrame
        Columns degree (the middle of the bin), method, error.
    counts : Series
        Number of degrees by the middle of the bin.
    """
    import pandas as pd

    parts = []
    for shown, method in methods.items():
        true, predicted = _degrees(dataset, method)
        bins = np.clip(np.digitize(true, EDGES) - 1, 0, len(EDGES) - 2)
        middle = (np.array(EDGES[:-1]) + np.array(EDGES[1:])) / 2
        each = pd.DataFrame({"degree": middle[bins], "error": np.abs(predicted - true)})
        mean = each.groupby("degree")["error"].mean().reset_index()
        parts.append(mean.assign(method=shown))
        counts = each.groupby("degree").size()
    return pd.concat(parts, ignore_index=True), counts


def bound_curves(dataset: str, delta: float = 0.05) -> DataFrame:
    """Return the bound of theorem 2 against the number of rows, for a fit on a dataset.

    The loss is the squared error of a degree: at most 1, with Lipschitz constant 2.

    Returns
    -------
    DataFrame
        Columns N, max_weight, bound, floor (the weighted empirical risk of the training rows).
    """
    import pandas as pd

    fold = _fold(dataset)
    model = _fitted(fold, "winldl")
    losses = (fold.y - model.predict(fold.X)) ** 2
    seen = ~np.isnan(fold.y)
    N = np.logspace(2, 8, 25)
    parts = []
    for max_weight in (1.0, 2.0, 4.0):
        weights = np.where(seen, max_weight ** (1 - np.where(seen, fold.y, 0)), 0)
        risk = weighted_empirical_risk(np.where(seen, losses, 0), weights)
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
        parts.append(
            pd.DataFrame({"N": N, "bound": bound, "floor": risk, "max_weight": max_weight})
        )
    return pd.concat(parts, ignore_index=True)


@lru_cache(maxsize=1)
def _fold(dataset: str) -> Fold:
    """Return the first split of a dataset at the rate of the printed tables."""
    name = seed_name(canonical_dataset(dataset))
    return make_fold(name, *load_dataset(dataset), rate=RATE, split=0)


def _fitted(fold: Fold, method: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_method(method, seed(method)).fit(fold.X, fold.y)


def _degrees(dataset: str, method: str) -> tuple[Array, Array]:
    """Return the true and the predicted degrees of the test rows, flattened."""
    fold = _fold(dataset)
    return fold.y_test.ravel(), _fitted(fold, method).predict(fold.X_test).ravel()


WEIGHTED = {"unweighted (InLDL-U)": "inldl-u", "weighted (WInLDL)": "winldl"}
"""Two fits that show the effect of weighting on small degrees."""

METRICS = ("cosine", "intersection", "chebyshev", "clark", "canberra")
"""The five metrics of the paper."""


@dataclass(frozen=True)
class Reproduction:
    """Everything in the paper that we have data for, measured again.

    Parameters
    ----------
    not_run : dict of str to str
        Datasets that are not available, and why.
    tables : dict of int to DataFrame
        Tables 2, 4, 5 and 6: printed, ours and a verdict.
    growth, exponents : DataFrame and Series
        Fit time against n, and its exponent (table 1, measured).
    relative_errors : DataFrame
        Figure 2, on the available datasets.
    degree_errors, degree_counts : DataFrame and Series
        Error by size of the degree, with and without weights.
    run_times : DataFrame
        Figure 4.
    mu_dataset : str
        The dataset used to study mu.
    mu_metrics, mu_histories : DataFrame and dict
        Figure 5.
    bounds : DataFrame
        Theorem 2 for that dataset.
    environment : dict of str to str
        The machine and the versions used.
    """

    not_run: dict[str, str]
    tables: dict[int, DataFrame]
    growth: DataFrame
    exponents: Series
    relative_errors: DataFrame
    degree_errors: DataFrame
    degree_counts: Series
    run_times: DataFrame
    mu_dataset: str
    mu_metrics: DataFrame
    mu_histories: dict[float, Array]
    bounds: DataFrame
    environment: dict[str, str]


def collect(rows: DataFrame, not_run: Mapping[str, str]) -> Reproduction:
    """Return the tables, and the data for the figures, from the rows of a finished `plan`."""
    there = [name for name in DATASETS if name not in not_run]
    study = mu_dataset(there)
    if study is None:
        raise ValueError("None of the paper's datasets is available; see `inldl datasets`.")
    times, exponents = growth(rows)
    errors, counts = error_by_degree(study, WEIGHTED)
    return Reproduction(
        not_run=dict(not_run),
        tables={2: shapes(not_run), **{table: comparison(rows, table) for table in (4, 5, 6)}},
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
