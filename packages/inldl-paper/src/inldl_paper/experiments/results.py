"""Turn stored rows into tables: means, standard deviations, and what did not run."""

import json
from contextlib import suppress
from dataclasses import dataclass, fields, replace

import numpy as np
from pandas import DataFrame, Series, concat

from inldl.metrics import EXTRA_METRICS, METRICS
from inldl_paper.experiments import statistics
from inldl_paper.experiments.store import KEYS, Row

TEST_LEVEL = 0.05  # of the tests


@dataclass(frozen=True)
class Summary:
    """Mean and sample standard deviation over splits, datasets x methods.

    Parameters
    ----------
    metric : str
        A name in ``METRICS``.
    higher_is_better : bool
        The direction of the metric.
    mean, std : DataFrame
        NaN where a cell did not run or not all of its splits are "ok".
    """

    metric: str
    higher_is_better: bool
    mean: DataFrame
    std: DataFrame


def summarize(rows: DataFrame, metric: str) -> Summary:
    """Return the mean and standard deviation of a metric over the splits.

    Parameters
    ----------
    rows : DataFrame
        Rows of a store with one rate, recipe and mechanism; select them first.
    metric : str
        A name in ``METRICS``, or a measured column such as "fit_seconds".

    Returns
    -------
    Summary
        A method that failed in any split of a dataset has NaN there, because a mean over the
        splits that happened to work would flatter it.
    """
    _check_alike(rows, metric)
    return Summary(metric, higher_is_better(metric), *mean_and_std(rows, metric))


def higher_is_better(metric: str) -> bool:
    """Return the direction of a metric; times and functions of one's own are better if lower."""
    known = {**METRICS, **EXTRA_METRICS}
    return metric in known and known[metric].higher_is_better


def mean_and_std(rows: DataFrame, column: str) -> tuple[DataFrame, DataFrame]:
    """Return `mean` and `std` of a `Summary` of a column, over all rows of whatever setting."""
    ok = rows.assign(value=rows[column].where(rows["status"] == "ok"))
    groups = ok.groupby(["dataset", "method"], sort=False)["value"]
    mean = groups.mean().where(groups.count() == groups.size())
    return mean.unstack(), groups.std(ddof=1).where(mean.notna()).unstack()


def measured(rows: DataFrame) -> list[str]:
    """Return the metrics that rows have values of: those of ``METRICS`` first, own ones last."""
    own = rows.columns.difference([*KEYS, *(each.name for each in fields(Row))], sort=False)
    names = dict.fromkeys([*METRICS, *EXTRA_METRICS, *own])
    found = rows[rows["status"] == "ok"]
    return [name for name in names if name in found and found[name].notna().any()]


def _check_alike(rows: DataFrame, metric: str) -> None:
    """Refuse an unknown metric, and rows that differ in more than the split."""
    if metric not in rows.columns:
        known = ", ".join([*METRICS, "fit_seconds", "predict_seconds", "peak_memory"])
        raise ValueError(f"There is no column {metric!r}: choose among {known}.")
    groups = rows.groupby(["dataset", "method"])
    for axis in rows.columns.intersection(["rate", "recipe", "mechanism", "splits"]):
        several = groups[axis].nunique().gt(1)
        if several.any():
            dataset, method = several.idxmax()
            raise ValueError(
                f"{method} on {dataset} has rows with more than one {axis}; select one first, as "
                f"in rows[rows[{axis!r}] == ...]."
            )


@dataclass(frozen=True)
class CommonGround:
    """Scores of methods on the datasets where all of them have one."""

    scores: DataFrame  # datasets x methods, rounded: noise in the last digits makes no winner
    left_out: tuple[str, ...]  # methods that have no score on any dataset
    dropped: dict[str, tuple[str, ...]]  # other datasets, with the methods without a score there


def common_ground(summary: Summary) -> CommonGround:
    """Drop methods without any score, then datasets where some method has none."""
    finite = summary.mean.where(np.isfinite(summary.mean)).round(10)
    scores = finite.dropna(axis="columns", how="all")
    left_out = tuple(name for name in finite.columns if name not in scores.columns)
    dropped = {
        dataset: tuple(line.index[line.isna()])
        for dataset, line in scores.iterrows()
        if line.isna().any()
    }
    return CommonGround(scores.dropna(), left_out, dropped)


@dataclass(frozen=True)
class Standing:
    """How methods compare on one metric, at one rate and setting.

    Ranks and wins need two methods with scores. The tests, at the level `TEST_LEVEL`, need three
    methods and two datasets.
    """

    summary: Summary
    ground: CommonGround  # the scores that ranks, wins and tests are about
    unfinished: DataFrame  # what `unfinished` returns
    mean_ranks: Series | None = None  # NaN for a method that is left out
    wins: DataFrame | None = None  # what `wins_ties_losses` returns
    friedman: statistics.FriedmanResult | None = None
    nemenyi: statistics.NemenyiResult | None = None


def standing(rows: DataFrame, metric: str) -> Standing:
    """Return means, ranks, wins and tests of a metric; `rows` are as in `summarize`."""
    summary = summarize(rows, metric)
    ground, higher = common_ground(summary), summary.higher_is_better
    found = Standing(summary, ground, unfinished(rows))
    n_datasets, n_methods = ground.scores.shape
    if n_datasets and n_methods > 1:
        order = statistics.mean_ranks(ground.scores, higher).reindex(summary.mean.columns)
        wins = statistics.wins_ties_losses(ground.scores, higher)
        found = replace(found, mean_ranks=order, wins=wins)
    if n_datasets > 1 and n_methods > 2:
        friedman = statistics.friedman(ground.scores, higher)
        nemenyi = statistics.nemenyi(ground.scores, higher, TEST_LEVEL)
        found = replace(found, friedman=friedman, nemenyi=nemenyi)
    return found


def against_rate(rows: DataFrame, metric: str) -> DataFrame:
    """Return means and standard deviations in long form: dataset, method, rate, mean, std.

    `rows` have one recipe and mechanism, and any number of rates.
    """
    parts = []
    for rate, part in rows.groupby("rate"):
        summary = summarize(part, metric)
        mean = summary.mean.stack().rename("mean")
        std = summary.std.stack(future_stack=True).rename("std")
        parts.append(mean.to_frame().join(std).reset_index().assign(rate=rate))
    return concat(parts)[["dataset", "method", "rate", "mean", "std"]].dropna(subset="mean")


def unfinished(rows: DataFrame) -> DataFrame:
    """Return dataset, method, found and wanted where only some of the splits have a row.

    `rows` have one rate, recipe and mechanism. A stopped run leaves such gaps, and a mean over
    fewer splits is not comparable.
    """
    found = rows.groupby(["dataset", "method"])["split"].nunique().rename("found").reset_index()
    wanted = rows["split"].nunique()
    return found[found["found"] < wanted].assign(wanted=wanted)


def costs(rows: DataFrame) -> DataFrame:
    """Return what a fit of each method costs, the fastest first.

    Means over the rows that are "ok": fit_seconds, predict_seconds, peak_memory, n_iter; also the
    number of fits (fits), and of those that did not converge (not_converged).
    """
    ok = rows[rows["status"] == "ok"]
    columns = ["fit_seconds", "predict_seconds", "peak_memory", "n_iter"]
    groups = ok.assign(stopped=ok["converged"].eq(0)).groupby("method")
    means = groups[columns].mean()
    counts = {"fits": groups.size(), "not_converged": groups["stopped"].sum()}
    return means.assign(**counts).sort_values("fit_seconds", kind="stable")


def remarks(rows: DataFrame) -> DataFrame:
    """Return failures and warnings, grouped; failures come first, then the most frequent.

    Columns method, status, reason, cells (how many), datasets and rates (lists of names).
    """
    noted = rows[(rows["status"] != "ok") | (rows["reason"].fillna("") != "")]
    groups = noted.fillna({"reason": ""}).groupby(["method", "status", "reason"])
    lines = groups.agg(
        cells=("split", "size"),
        datasets=("dataset", lambda names: sorted(set(names))),
        rates=("rate", lambda rates: sorted(set(rates))),
    ).reset_index()
    common_first = lines.sort_values("cells", ascending=False, kind="stable")
    return common_first.sort_values(
        "status", key=lambda status: status == "ok", kind="stable", ignore_index=True
    )


def environments(rows: DataFrame) -> list[tuple[dict[str, str], int]]:
    """Return the environments that rows were computed in, and the number of rows of each."""
    found = []
    for text, count in rows["environment"].fillna("").value_counts(sort=False).items():
        with suppress(ValueError, TypeError):
            found.append((dict(json.loads(text)), int(count)))
    return found


def repeated_grids(rows: DataFrame) -> list[dict[str, str]]:
    """Return the arguments of `grid` that give the cells of `rows` again, as texts.

    Datasets and methods with the same rates and number of splits share a grid. For a stopped run,
    the grids also have the missing cells. Rows on the authors' splits are left out: the
    reproduction of the paper computes them. "grouped" is there, with an empty text, if rows of a
    group stay together, and "metrics" if some were measured besides those of ``METRICS``.
    """
    names = {"dataset": "datasets", "method": "methods"}
    ours = rows[rows["splits"] != "authors"].rename(columns=names)
    ours = ours.assign(grouped=ours["splits"] == "grouped")
    groups = ours.groupby(["recipe", "mechanism", "grouped", "datasets", "methods"])
    grids = groups.agg(
        rates=("rate", lambda rates: ",".join(str(float(each)) for each in sorted(set(rates)))),
        splits=("split", lambda split: str(int(split.max()) + 1)),
    ).reset_index()
    for name in ("methods", "datasets"):  # join those that share all the rest
        rest = grids.columns.drop(name).tolist()
        grids = grids.groupby(rest, sort=False)[name].agg(",".join).reset_index()
    order = ["datasets", "methods", "rates", "splits", "recipe", "mechanism"]
    more = ",".join(name for name in measured(rows) if name not in METRICS)
    metrics = {"metrics": more} if more else {}
    found = []
    for line in grids.to_dict("records"):
        grouped = {"grouped": ""} if line["grouped"] else {}
        found.append({name: line[name] for name in order} | grouped | metrics)
    return found
