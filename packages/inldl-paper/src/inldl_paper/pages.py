"""The page of a run: what was run, scores, tests, times, failures, how to do it again.

Scores and tests are those of one metric, missing rate and setting, which the reader chooses.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple

import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from inldl.report import document as d
from inldl.report.style import FULL
from inldl.text import counted, listed
from inldl_paper.experiments import results
from inldl_paper.experiments.protocol import RECIPES
from inldl_paper.experiments.store import KEYS, MEASUREMENTS
from inldl_paper.figures import critical_difference, metric_against_rate, run_time
from inldl_paper.provenance import environment_table, how_to_repeat
from inldl_paper.scores import file_name, score_table

MOST_BYTES = 1_750_000  # of tables to choose from and figures; those that do not fit are left out
MOST_REMARKS = 200
MOST_LINES = 8  # methods in one figure of curves: more cannot be distinguished

MAIN_METRICS = ("cosine", "intersection", "chebyshev", "clark", "canberra", "kl_divergence")
"""The metrics of which figures are drawn: all metrics would make the page too large."""

SETTING = ["recipe", "mechanism", "splits"]


def run_page(
    rows: pd.DataFrame,
    title: str = "Results of a run",
    command: Callable[[Mapping[str, str]], str] | None = None,
) -> d.Document:
    """Return the page of a run.

    Parameters
    ----------
    rows : DataFrame
        Rows of a store, ``Store("run.sqlite").frame()``.
    title : str
        The title of the page.
    command : callable, optional
        Returns the shell command that computes a grid, given its arguments as texts; without it
        the page has no such commands.
    """
    rows = _checked(rows)
    if rows.empty:
        return d.Document(title, ["This run has no finished cell yet."])
    sections: dict[str, list[d.Content]] = {"What was run": [d.Facts(_what(rows))]}
    choices = None
    if (rows["status"] == "ok").any():
        sections["Results"], choices = _results(rows)
        sections["Run time"] = [_time_figure(rows), _costs_table(rows)]
    else:
        why = "No fit succeeded, so there are no scores; the reasons are below."
        sections["Results"] = [d.Note(why)]
    sections["Failures and warnings"] = _remarks_blocks(rows)
    environments = results.environments(rows)
    sections["Environment"] = [environment_table(environments)]
    commands = [] if command is None else list(map(command, results.repeated_grids(rows)))
    of_authors = (rows["splits"] == "authors").any()
    sections["How to reproduce"] = how_to_repeat(commands, environments, of_authors)
    return d.Document(
        title,
        [_summary(rows)],
        sections=[d.Section(name, blocks) for name, blocks in sections.items()],
        choices=choices,
        most_bytes=MOST_BYTES,
    )


def _checked(rows):
    """Return the rows with numbers as floats; a column without one has no type in a database."""
    wanted = [*KEYS, "status", "reason", "finished", "environment", *MEASUREMENTS]
    missing = [name for name in wanted if name not in rows.columns]
    if missing:
        raise ValueError(
            f"rows lacks the column(s) {', '.join(missing)}: give the frame of a store, "
            'Store("run.sqlite").frame().'
        )
    numbers = [*MEASUREMENTS, *results.measured(rows)]
    return rows.astype(dict.fromkeys(numbers, float))


def _summary(rows):
    ok = int((rows["status"] == "ok").sum())
    nouns = {"method": "method", "dataset": "dataset", "rate": "missing rate", "split": "split"}
    methods, *others = (counted(rows[name].nunique(), noun) for name, noun in nouns.items())
    end = "all succeeded" if ok == len(rows) else f"{ok} succeeded, {len(rows) - ok} did not"
    return f"{methods} on {', '.join(others)}: {counted(len(rows), 'fit')}, {end}."


def _what(rows):
    names = {name: sorted(set(rows[name])) for name in KEYS}
    statuses = rows["status"].value_counts()
    moments = sorted(filter(None, rows["finished"]))
    recipes = [
        f"{name} ({RECIPES[name].about})" if name in RECIPES else name for name in names["recipe"]
    ]
    pairs = [
        ("Datasets", ", ".join(names["dataset"])),
        ("Methods", ", ".join(names["method"])),
        ("Missing rates", ", ".join(map(_percent, names["rate"]))),
        ("Splits", f"{len(names['split'])}; 80% of the rows to learn from, 20% to test on"),
        ("Preparation", "; ".join(recipes)),
        ("Hiding of degrees", ", ".join(names["mechanism"])),
        ("Fits", ", ".join(f"{count} {status}" for status, count in statuses.items())),
    ]
    if moments:
        first, last = (f"{each[:16].replace('T', ' ')} UTC" for each in (moments[0], moments[-1]))
        pairs.append(("Finished", first if first == last else f"{first} to {last}"))
    return pairs


class View(NamedTuple):
    """What one choice of metric, rate and setting shows."""

    key: str  # of the choices: the places of metric, rate and setting among the options
    metric: str
    rate: float
    standing: results.Standing

    def file(self, kind: str) -> str:
        """Return the name of a file with what is shown."""
        return f"{kind}-{file_name(self.metric)}-{100 * self.rate:.4g}"


def _results(rows):
    """Return the blocks on scores, wins, tests and curves of a run, and the choices among them.

    At least one of the rows of the store must be "ok". Cosine at half of the degrees is what is
    chosen at first, if it is there.
    """
    metrics = results.measured(rows)
    rates = sorted(set(rows["rate"]))
    settings = sorted(set(rows[SETTING].itertuples(index=False, name=None)))
    groups = dict(list(rows.groupby(["rate", *SETTING])))
    axes = product(enumerate(settings), enumerate(rates), enumerate(metrics))
    views = []
    for (s, setting), (r, rate), (m, metric) in axes:
        standing = results.standing(groups.get((rate, *setting), rows[:0]), metric)
        views.append(View(f"{m}-{r}-{s}", metric, rate, standing))
    scores, wins, tests = (
        d.Chosen(name, {view.key: content(view) for view in views})
        for name, content in {"scores": _scores, "wins": _wins, "tests": _tests}.items()
    )
    drawn = [view for view in views if view.standing.nemenyi and view.metric in MAIN_METRICS]
    blocks = [d.Controls(), scores, d.Heading("Wins, ties and losses"), wins]
    blocks += [d.Heading("Do the methods differ?"), tests, *map(_difference, drawn)]
    blocks += [d.Heading("Scores against the missing rate")]
    blocks += _rate_figures(rows, metrics, settings)
    own_splits = ", authors' splits"
    options = {
        "Metric": [f"{_spoken(m)} {'↓↑'[results.higher_is_better(m)]}" for m in metrics],
        "Missing degrees": [_percent(rate) for rate in rates],
        "Setting": [
            f"recipe {recipe}, mechanism {mechanism}{own_splits * (splits == 'authors')}"
            for recipe, mechanism, splits in settings
        ],
    }
    metric = metrics.index("cosine") if "cosine" in metrics else 0
    rate = rates.index(0.5) if 0.5 in rates else 0
    return blocks, d.Choices(options, f"{metric}-{rate}-0")


def _scores(view):
    found, ranks = view.standing.summary, view.standing.mean_ranks
    if found.mean.empty:
        return d.ShownTable(caption="Nothing was run at this missing rate with this setting.")
    about = {"mean_rank": ranks, "name": view.file("scores")}
    table = score_table(found.mean, found.std, found.higher_is_better, **about)
    return replace(table, caption=_scores_caption(view))


def _scores_caption(view):
    summary, gaps = view.standing.summary, view.standing.unfinished
    several = summary.std.notna().to_numpy().any()
    shown = "mean(standard deviation) over splits" if several else "the score of the one split"
    text = (
        f"{_spoken(view.metric).capitalize()} at {_percent(view.rate)} missing degrees: {shown}, "
        f"{'higher' if summary.higher_is_better else 'lower'} is better; best in bold, second "
        "best underlined."
    )
    if summary.mean.isna().to_numpy().any():
        text += " A dash: not run, or failed in at least one split."
    if len(gaps):
        names = listed(
            f"{each.method} on {each.dataset} ({each.found} of {each.wanted})"
            for each in gaps.itertuples()
        )
        text += f" Unfinished, with fewer splits than others: {names}."
    return text


def _wins(view):
    pairs, scores = view.standing.wins, view.standing.ground.scores
    if pairs is None:
        return d.ShownTable(caption="There are no two methods with scores on a common dataset.")
    totals = pairs.groupby(level="method", sort=False).sum()
    against, overall = (
        {name: f"{wins}/{ties}/{losses}" for name, wins, ties, losses in frame.itertuples()}
        for frame in (pairs, totals)
    )
    rows = [
        [str(name), text, *(against.get((name, other), "") for other in scores)]
        for name, text in overall.items()
    ]
    columns = [d.Header(name) for name in ("method", "against all", *map(str, scores))]
    caption = (
        "Wins/ties/losses of the method in the row against the one in the column, over "
        f"{counted(len(scores), 'dataset')}."
    )
    return d.ShownTable(columns, rows, caption=caption, name=view.file("wins"))


def _tests(view):
    """Return what the tests say, or why there are none."""
    ground, nemenyi = view.standing.ground, view.standing.nemenyi
    n_datasets, n_methods = ground.scores.shape
    if view.standing.friedman is None:
        wanted = "The tests need 3 methods, and 2 datasets on which each of them has a score"
        texts = [f"{wanted}; methods here: {n_methods}, datasets: {n_datasets}."]
    else:
        texts = [
            f"Friedman's test over {n_methods} methods and {n_datasets} datasets: "
            f"{_friedman(view.standing.friedman)}",
            f"Nemenyi's critical difference at the level {results.TEST_LEVEL:g} is "
            f"{nemenyi.critical_difference:.3f}: mean ranks at least that far apart differ "
            "significantly.",
        ]
        if view.metric not in MAIN_METRICS:
            texts[1] += f" The diagram is drawn for {listed(map(_spoken, MAIN_METRICS))} only."
    if ground.left_out:
        texts.append(f"Left out, because they have no score at all: {listed(ground.left_out)}.")
    if ground.dropped:
        names = listed(
            f"{dataset} (no score of {listed(methods)})"
            for dataset, methods in ground.dropped.items()
        )
        texts.append(f"Datasets left out of ranks, wins and tests: {names}.")
    return texts


def _friedman(test):
    """Conclude only where both tests agree: on few datasets, alike ranks make F infinite."""
    if max(test.p_value, test.f_p_value) <= results.TEST_LEVEL:
        verdict = "the methods are not all equal"
    elif min(test.p_value, test.f_p_value) > results.TEST_LEVEL:
        verdict = "no difference between the methods is shown"
    else:
        verdict = "the two do not agree, so more datasets are needed to conclude"
    f_test = f"F of Iman and Davenport {test.f_statistic:.3f} ({_p_value(test.f_p_value)})"
    if math.isinf(test.f_statistic):
        f_test = (
            f"the F of Iman and Davenport has no finite value ({_p_value(test.f_p_value)}), "
            "because all datasets rank the methods in the same order"
        )
    return (
        f"chi-squared {test.statistic:.3f} ({_p_value(test.p_value)}); {f_test}. At the level "
        f"{results.TEST_LEVEL:g}, {verdict}."
    )


def _p_value(value):
    """Write p = 0.012, or p < 0.001."""
    text = "p < 0.001" if value < 0.001 else f"p = {value:.3f}"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _difference(view):
    """Return Demšar's diagram for a view."""
    result = view.standing.nemenyi
    caption = (
        f"Mean ranks by {_spoken(view.metric)} at {_percent(view.rate)} missing degrees. Methods "
        "under one bar do not differ significantly."
    )
    parts = (result.mean_ranks, result.critical_difference, result.groups)
    draw = partial(critical_difference, *parts)
    return d.picture(draw, caption, view.file("ranks"), when=view.key)


def _rate_figures(rows, metrics, settings):
    """Return the figures of each main metric against the missing rate, for each setting."""
    groups = dict(list(rows.groupby(SETTING)))
    figures = [
        _against_rate(groups[setting], metric, f"{m}-*-{s}")
        for (s, setting), (m, metric) in product(enumerate(settings), enumerate(metrics))
        if metric in MAIN_METRICS and groups[setting]["rate"].nunique() > 1
    ]
    if not figures:
        figures = [d.Note("There is one missing rate, so there is no curve to draw.")]
    if rows["rate"].nunique() < 2:
        return figures
    drawn = listed(_spoken(name) for name in metrics if name in MAIN_METRICS)
    text = f"This figure is drawn for {drawn} only."
    others = [at for at, name in enumerate(metrics) if name not in MAIN_METRICS]
    return figures + [d.Note(text, when=f"{at}-*-*") for at in others]


def _against_rate(rows, metric, key):
    frame = results.against_rate(rows, metric)
    higher = results.higher_is_better(metric)
    ranks = frame.groupby(["dataset", "rate"])["mean"].rank(ascending=not higher)
    order = frame.assign(rank=ranks).groupby("method")["rank"].mean().sort_values(kind="stable")
    part = frame[frame["method"].isin(order.index[:MOST_LINES])]
    caption = f"{_spoken(metric).capitalize()} against the missing rate, one panel per dataset."
    if part["std"].notna().any():
        caption += " Bars: one standard deviation."
    if len(order) > MOST_LINES:
        caption += f" Of {len(order)} methods, the {MOST_LINES} best by mean rank are drawn."
    draw = partial(metric_against_rate, part, metric)
    return d.picture(draw, caption, f"rates-{metric}", when=key)


def _spoken(metric):
    return metric.replace("_", " ")


def _percent(rate):
    """Write 50% for 0.5."""
    return f"{100 * rate:.4g}%"


def _time_figure(rows):
    """Return the bars of run time, over the rates and splits of all settings."""
    mean, _ = results.mean_and_std(rows, "fit_seconds")
    frame = mean.melt(ignore_index=False, var_name="method", value_name="seconds")
    known = frame["seconds"].dropna()
    if known.empty or not (known > 0).all():
        return d.Note("There are no times of fits to draw.")
    draw = partial(run_time, frame.reset_index(), label="time of the fits (s)", width=FULL)
    caption = "CPU time of one fit (mean over rates and splits), added up over the datasets"
    return d.picture(draw, f"{caption}; logarithmic.", "run-time")


def _costs_table(rows):
    """Return what fits of each method cost: time, memory, iterations."""
    columns = {
        "method": d.Header("method"),
        "fit_seconds": d.Header("fit (s)", ".4g"),
        "predict_seconds": d.Header("predict (s)", ".4g"),
        "megabytes": d.Header("memory (MB)", ".1f"),
        "n_iter": d.Header("iterations", ".0f"),
        "not_converged": d.Header("not converged", ".0f"),
        "fits": d.Header("fits"),
    }
    frame = results.costs(rows).reset_index()
    frame["megabytes"] = frame["peak_memory"] / 1e6
    # A method that is meant to stop at its last iteration does not warn.
    warned = rows.loc[rows["reason"].str.startswith(ConvergenceWarning.__name__), "method"]
    meant = frame["not_converged"].eq(0) | frame["method"].isin(warned)
    frame["not_converged"] = frame["not_converged"].where(meant)
    caption = (
        "Means over the fits that succeeded, in CPU seconds; memory is the peak above what was "
        "in use before. Methods that failed somewhere are averaged over their other fits."
    )
    if not meant.all():
        caption += (
            " A dash under not converged: the method is meant to stop after a number of "
            "iterations, and did."
        )
    return d.ShownTable.of(frame, columns, caption=caption, name="run-time")


def _remarks_blocks(rows):
    """Return the failures and warnings of a run, the most frequent first."""
    noted = results.remarks(rows)
    if noted.empty:
        return [d.Paragraph("Nothing failed, and no fit gave a warning.")]
    columns = {
        "method": d.Header("method"),
        "what": d.Header("what"),
        "reason": d.Header("reason", words=True),
        "cells": d.Header("fits"),
        "datasets": d.Header("datasets", words=True),
        "rates": d.Header("missing degrees", words=True),
    }
    shown = noted.head(MOST_REMARKS)
    shown = shown.assign(
        what=[("warning", "fair") if s == "ok" else (s, "bad") for s in shown["status"]],
        datasets=shown["datasets"].map(listed),
        rates=[listed(map(_percent, rates)) for rates in shown["rates"]],
    )
    more = len(noted) - MOST_REMARKS
    hidden = [d.Paragraph(f"{more} more kinds are in the file.")] if more > 0 else []
    return [d.ShownTable.of(shown, columns, name="failures"), *hidden]
