"""Turn stored rows into tables: means, standard deviations, and what did not run."""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from inldl.experiments.statistics import (
    FriedmanResult,
    NemenyiResult,
    friedman,
    mean_ranks,
    nemenyi,
    wins_ties_losses,
)
from inldl.metrics import METRICS

if TYPE_CHECKING:
    from pandas import DataFrame, Series

ALPHA = 0.05  # level of the tests


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
    groups = _ok_values(rows, metric)
    mean = groups.mean().where(groups.count() == groups.size())
    std = groups.std(ddof=1).where(mean.notna())
    higher = METRICS[metric].higher_is_better if metric in METRICS else False
    return Summary(metric, higher, mean.unstack(), std.unstack())


def mean_over_all(rows: DataFrame, column: str) -> DataFrame:
    """Return means of a column by dataset and method, over all settings; NaN as above."""
    groups = _ok_values(rows, column)
    return groups.mean().where(groups.count() == groups.size()).unstack()


def _ok_values(rows: DataFrame, column: str) -> Any:
    """Return the values of the rows that are "ok", grouped by dataset and method."""
    ok = rows.assign(value=rows[column].where(rows["status"] == "ok"))
    return ok.groupby(["dataset", "method"], sort=False)["value"]


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
    """Scores of methods on the datasets where all of them have one.

    Parameters
    ----------
    scores : DataFrame
        Datasets x methods, all finite, rounded to 10 decimals so that rounding noise does not
        decide who wins.
    left_out : tuple of str
        Methods that have no score on any dataset.
    dropped : dict of str to tuple of str
        Datasets left out of `scores`, with the methods that have no finite score there.
    """

    scores: DataFrame
    left_out: tuple[str, ...]
    dropped: dict[str, tuple[str, ...]]


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

    Parameters
    ----------
    summary : Summary
        Means and deviations.
    ground : CommonGround
        The scores that ranks, wins and tests are about.
    unfinished : DataFrame
        What `unfinished` returns.
    mean_ranks : Series or None
        Mean rank of each method, NaN for one that is left out.
    wins : DataFrame or None
        What `wins_ties_losses` returns. Ranks and wins need two methods with scores.
    friedman, nemenyi : result or None
        The tests at the level `ALPHA`; they need three methods and two datasets.
    """

    summary: Summary
    ground: CommonGround
    unfinished: DataFrame
    mean_ranks: Series | None = None
    wins: DataFrame | None = None
    friedman: FriedmanResult | None = None
    nemenyi: NemenyiResult | None = None


def standing(rows: DataFrame, metric: str) -> Standing:
    """Return means, ranks, wins and tests of a metric; `rows` are as in `summarize`."""
    summary = summarize(rows, metric)
    ground, higher = common_ground(summary), summary.higher_is_better
    found = Standing(summary, ground, unfinished(rows))
    n_datasets, n_methods = ground.scores.shape
    if n_datasets and n_methods > 1:
        order = mean_ranks(ground.scores, higher).reindex(summary.mean.columns)
        found = replace(found, mean_ranks=order, wins=wins_ties_losses(ground.scores, higher))
    if n_datasets > 1 and n_methods > 2:
        tests = friedman(ground.scores, higher), nemenyi(ground.scores, higher, ALPHA)
        found = replace(found, friedman=tests[0], nemenyi=tests[1])
    return found


def against_rate(rows: DataFrame, metric: str) -> DataFrame:
    """Return means and standard deviations in long form: dataset, method, rate, mean, std.

    `rows` have one recipe and mechanism, and any number of rates.
    """
    import pandas as pd

    parts = []
    for rate, part in rows.groupby("rate"):
        summary = summarize(part, metric)
        mean = summary.mean.stack().rename("mean")
        std = summary.std.stack(future_stack=True).rename("std")
        parts.append(mean.to_frame().join(std).reset_index().assign(rate=rate))
    return pd.concat(parts)[["dataset", "method", "rate", "mean", "std"]].dropna(subset="mean")


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
    order = lines.assign(fine=lines["status"] == "ok").sort_values(
        ["fine", "cells"], ascending=[True, False], kind="stable"
    )
    return order.drop(columns="fine").reset_index(drop=True)


def environments(rows: DataFrame) -> list[tuple[dict[str, str], int]]:
    """Return the environments that rows were computed in, and the number of rows of each."""
    found = []
    for text, count in rows["environment"].fillna("").value_counts(sort=False).items():
        with suppress(ValueError, TypeError):
            found.append((dict(json.loads(text)), int(count)))
    return found


def bench_commands(rows: DataFrame) -> list[str]:
    """Return the shell commands that compute the cells of `rows` again.

    Datasets and methods with the same rates and number of splits share a command. For a stopped
    run, the commands also compute the missing cells. Rows on the authors' splits are left out:
    `inldl reproduce` computes them.
    """
    seeded = rows[rows["splits"] == "seeded"]
    blocks: dict[Any, set[str]] = {}
    for (recipe, mechanism, dataset), part in seeded.groupby(["recipe", "mechanism", "dataset"]):
        for grid, methods in _alike(part).items():
            blocks.setdefault((recipe, mechanism, *grid, tuple(methods)), set()).add(dataset)
    return [_command(sorted(datasets), *key) for key, datasets in blocks.items()]


def _alike(rows: DataFrame) -> dict[tuple[tuple[float, ...], int], list[str]]:
    """Group the methods of one dataset by their rates and number of splits."""
    found: dict[tuple[tuple[float, ...], int], list[str]] = {}
    for method, part in rows.groupby("method"):
        grid = tuple(sorted(set(part["rate"]))), int(part["split"].max()) + 1
        found.setdefault(grid, []).append(method)
    return found


def _command(
    datasets: list[str],
    recipe: str,
    mechanism: str,
    rates: tuple[float, ...],
    splits: int,
    methods: tuple[str, ...],
) -> str:
    options = {
        "datasets": ",".join(datasets),
        "methods": ",".join(methods),
        "rates": ",".join(map(repr, map(float, rates))),
        "splits": str(splits),
        "recipe": recipe,
        "mechanism": mechanism,
    }
    written = [f"--{name} {shlex.quote(value)}" for name, value in options.items()]
    return " \\\n    ".join(["inldl bench", *written])
