"""What the figures of the paper are drawn from, out of the rows of a store."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from inldl.methods.registry import make_method
from inldl.specs import parse
from inldl.text import counted
from inldl_paper.experiments.folds import make_fold
from inldl_paper.experiments.protocol import (
    Array,
    canonical_dataset,
    load_dataset,
    seed,
    seed_name,
)
from inldl_paper.experiments.runner import DEGREE_EDGES
from inldl_paper.study import (
    BASE,
    DATASETS,
    PAPER_METRICS,
    PENALTIES,
    PRINTED_RATE,
    WEIGHTED,
    growth_cells,
    long_fit,
    methods_of_the_paper,
    our_result,
    rows_of,
    with_mu,
)
from inldl_paper.theory import linear_bound, linear_complexity, weighted_empirical_risk

LEAST_SPAN = 8  # of sizes, to tell how times grow with them


def growth(rows: pd.DataFrame, axis: str = "n") -> tuple[pd.DataFrame, pd.Series]:
    """Return the fit time of each method against a size, and the exponent of seconds ~ size^e.

    `axis` is "n" (rows), "k" (features) or "C" (labels); the frame has the columns method, that
    size, and seconds. The exponent is the slope of a straight line through the logarithms; NaN if
    the largest size is less than `LEAST_SPAN` times the smallest, which tells no slope.
    """
    wanted = {cell.dataset for cell in growth_cells() if _grows(cell.dataset, axis)}
    found = rows[rows["dataset"].isin(wanted) & (rows["status"] == "ok")]
    sizes = found["dataset"].map(lambda name: int(parse(name).arguments[axis]))
    times = found.assign(**{axis: sizes}).groupby(["method", axis])["fit_seconds"].min()
    times = times.rename("seconds").reset_index()
    slopes = {
        method: float(np.polyfit(np.log(each[axis]), np.log(each["seconds"]), 1)[0])
        if each[axis].max() >= LEAST_SPAN * each[axis].min()
        else math.nan
        for method, each in times.groupby("method")
    }
    return times, pd.Series(slopes, dtype=float)


def _grows(dataset: str, axis: str) -> bool:
    given = parse(dataset).arguments
    return all(given[other] == size for other, size in BASE.items() if other != axis)


def run_times(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean seconds of a fit by method (with its name in the paper) and dataset."""
    lines = [
        (method, name, our_result(rows_of(rows, name, *chosen), "fit_seconds")[0])
        for method, chosen in methods_of_the_paper().items()
        for name in DATASETS
    ]
    return pd.DataFrame(lines, columns=["method", "dataset", "seconds"]).dropna()


def mu_metrics(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return the mean and standard deviation of five metrics for each mu (figure 4, left)."""
    lines = [
        (mu, metric, *our_result(rows_of(rows, dataset, *with_mu(mu)), metric))
        for mu in PENALTIES
        for metric in PAPER_METRICS
    ]
    return pd.DataFrame(lines, columns=["mu", "metric", "mean", "std"]).dropna(subset="mean")


def mu_histories(rows: pd.DataFrame, dataset: str) -> dict[float, list[float]]:
    """Return the largest change of a degree in each iteration for each mu (figure 4, right)."""
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


def effect_on_small_degrees(errors: pd.DataFrame) -> str:
    """Say on which datasets weighting lowers the relative error of small degrees, and of large.

    `errors` is what `relative_error_by_size` returns.
    """
    plain, weighted = WEIGHTED
    sentences = []
    for size, part in errors.groupby("size", sort=False):
        table = part.pivot(index="dataset", columns="method", values="error").dropna()
        lower = table.index[table[weighted] < table[plain]]
        names = f" ({', '.join(lower)})" if 0 < len(lower) < len(table) else ""
        sentences.append(
            f"Weighting lowers the relative error of degrees {size} on {len(lower)} of "
            f"{counted(len(table), 'dataset')}{names}."
        )
    if not (errors["size"].str.startswith("from")).any():
        sentences.append("None of them has larger degrees.")
    return " ".join(sentences)


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


def _fit(dataset: str) -> tuple[Any, Any]:
    """Return a fold of a dataset, and WInLDL fitted on it: a store does not have coefficients."""
    name = seed_name(canonical_dataset(dataset))
    fold = make_fold(name, *load_dataset(dataset), rate=PRINTED_RATE, split=0)
    return fold, make_method("winldl", seed("winldl")).fit(fold.X, fold.y)


def complexity_of_maps(dataset: str) -> tuple[float, float, float]:
    """Return the complexity of the linear maps that theorem 2 is about, on a dataset.

    An estimate with its standard error, and the term that the theorem has in its place. The norm
    of the maps is that of a fit, and the bias counts as a feature.
    """
    fold, model = _fit(dataset)
    X = np.column_stack([fold.X, np.ones(len(fold.X))])
    norm, C = _norm(model), fold.y.shape[1]
    found = linear_complexity(X, C, coef_norm=norm, n_draws=200, random_state=0)
    return *found, norm * math.sqrt(C / len(X)) * float(np.linalg.norm(X, axis=1).max())


def _norm(model: Any) -> float:
    return float(np.linalg.norm(np.column_stack([model.coef_, model.intercept_])))


def bound_curves(dataset: str) -> pd.DataFrame:
    """Return the bound of theorem 2 against the number of rows, for a fit on a dataset.

    The loss is the squared error of a degree: at most 1, with Lipschitz constant 2. The columns
    are N, bound, floor (the weighted empirical risk of the training rows) and max_weight. It needs
    the coefficients, which a store does not have, so that one model is fitted here.
    """
    fold, model = _fit(dataset)
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
            coef_norm=_norm(model),
            max_row_norm=float(np.hypot(np.linalg.norm(fold.X, axis=1), 1).max()),  # with bias
            n_samples=N,
            delta=0.05,
        )
        curve = {"N": N, "bound": bound, "floor": risk, "max_weight": max_weight}
        parts.append(pd.DataFrame(curve))
    return pd.concat(parts, ignore_index=True)
