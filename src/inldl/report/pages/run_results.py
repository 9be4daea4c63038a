"""The results of a run by metric, missing rate and setting: tables, sentences and figures."""

import math
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import pandas as pd

from inldl.experiments.results import TEST_LEVEL, Standing, against_rate, standing
from inldl.metrics import METRICS
from inldl.report.document import (
    Choices,
    Chosen,
    Content,
    Controls,
    Header,
    Heading,
    Note,
    ShownTable,
    picture,
)
from inldl.report.figures import critical_difference, metric_against_rate
from inldl.report.scores import score_table
from inldl.report.style import better, shortened
from inldl.text import counted, listed

MAIN_METRICS = ("cosine", "intersection", "chebyshev", "clark", "canberra", "kl_divergence")
"""The metrics of which figures are drawn: all metrics would make the page too large."""

SETTING = ["recipe", "mechanism", "splits"]
MOST_LINES = 8  # methods in one figure of curves: more cannot be distinguished
_LONGEST = 30


@dataclass(frozen=True)
class View:
    """What one choice of metric, rate and setting shows."""

    places: tuple[int, int, int]  # of the metric, the rate and the setting among the options
    metric: str
    rate: float
    standing: Standing

    @property
    def key(self) -> str:
        """Return the key of `Choices`."""
        return "-".join(map(str, self.places))

    def file(self, kind: str) -> str:
        """Return the name of a file with what is shown."""
        return f"{kind}-{self.metric}-{100 * self.rate:.4g}"


def run_results(rows) -> tuple[list[Content], Choices]:
    """Return the blocks on scores, wins, tests and curves of a run, and the choices among them.

    At least one of the rows of the store must be "ok". Cosine at half of the degrees is what is
    chosen at first, if it is there.
    """
    found = rows[rows["status"] == "ok"]
    metrics = [name for name in METRICS if name in rows and found[name].notna().any()]
    rates = sorted(set(rows["rate"]))
    settings = sorted(set(rows[SETTING].itertuples(index=False, name=None)))
    groups = dict(list(rows.groupby(["rate", *SETTING])))
    views = [
        View((m, r, s), metric, rate, standing(groups.get((rate, *setting), rows[:0]), metric))
        for (s, setting), (r, rate), (m, metric) in product(
            enumerate(settings), enumerate(rates), enumerate(metrics)
        )
    ]
    metric = metrics.index("cosine") if "cosine" in metrics else 0
    rate = rates.index(0.5) if 0.5 in rates else 0
    options = {
        "Metric": [f"{_spoken(name)} {better(name, '↓↑')}" for name in metrics],
        "Missing degrees": [percent(rate) for rate in rates],
        "Setting": [_setting_name(*each) for each in settings],
    }
    return _blocks(rows, views, metrics, settings), Choices(options, f"{metric}-{rate}-0")


def _setting_name(recipe, mechanism, splits):
    own = ", authors' splits" if splits == "authors" else ""
    return f"recipe {recipe}, mechanism {mechanism}{own}"


def _blocks(rows, views, metrics, settings):
    scores, wins, tests = (
        Chosen(name, {view.key: content(view) for view in views})
        for name, content in {"scores": _scores, "wins": _wins, "tests": _tests}.items()
    )
    drawn = [view for view in views if view.standing.nemenyi and view.metric in MAIN_METRICS]
    return [
        Controls(),
        scores,
        Heading("Wins, ties and losses"),
        wins,
        Heading("Do the methods differ?"),
        tests,
        *map(_difference, drawn),
        Heading("Scores against the missing rate"),
        *_rate_figures(rows, views, metrics, settings),
    ]


def _scores(view):
    found, ranks = view.standing.summary, view.standing.mean_ranks
    if found.mean.empty:
        return ShownTable(caption="Nothing was run at this missing rate with this setting.")
    about = {"mean_rank": ranks, "name": view.file("scores")}
    table = score_table(found.mean, found.std, found.higher_is_better, **about)
    return replace(table, caption=_scores_caption(view))


def _scores_caption(view):
    summary, gaps = view.standing.summary, view.standing.unfinished
    several = summary.std.notna().to_numpy().any()
    shown = "mean(standard deviation) over splits" if several else "the score of the one split"
    text = (
        f"{_spoken(view.metric).capitalize()} at {percent(view.rate)} missing degrees: {shown}, "
        f"{better(view.metric)} is better; best in bold, second best underlined."
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
        return ShownTable(caption="There are no two methods with scores on a common dataset.")
    totals = pairs.groupby(level="method", sort=False).sum()
    against, overall = (
        {name: f"{wins}/{ties}/{losses}" for name, wins, ties, losses in frame.itertuples()}
        for frame in (pairs, totals)
    )
    rows = [
        [str(name), text, *(against.get((name, other), "") for other in scores)]
        for name, text in overall.items()
    ]
    columns = [Header("method"), Header("against all"), *(Header(str(name)) for name in scores)]
    caption = (
        "Wins/ties/losses of the method in the row against the one in the column, over "
        f"{counted(len(scores), 'dataset')}."
    )
    return ShownTable(columns, rows, caption=caption, name=view.file("wins"))


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
            f"Nemenyi's critical difference at the level {TEST_LEVEL:g} is "
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
    if max(test.p_value, test.f_p_value) <= TEST_LEVEL:
        verdict = "the methods are not all equal"
    elif min(test.p_value, test.f_p_value) > TEST_LEVEL:
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
        f"{TEST_LEVEL:g}, {verdict}."
    )


def _p_value(value):
    """Write p = 0.012, or p < 0.001."""
    text = "p < 0.001" if value < 0.001 else f"p = {value:.3f}"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _difference(view):
    """Return Demšar's diagram for a view."""
    result = view.standing.nemenyi
    names = short_names(result.mean_ranks.index)
    groups = [[names[name] for name in group] for group in result.groups]
    caption = (
        f"Mean ranks by {_spoken(view.metric)} at {percent(view.rate)} missing degrees. Methods "
        "under one bar do not differ significantly."
    )
    ranks = result.mean_ranks.rename(names)
    draw = partial(critical_difference, ranks, result.critical_difference, groups)
    return picture(draw, caption, view.file("ranks"), when=view.key)


def _rate_figures(rows, views, metrics, settings):
    """Return the figures of each main metric against the missing rate, for each setting."""
    groups = dict(list(rows.groupby(SETTING)))
    figures = [
        _against_rate(groups[setting], metric, _leading(views, m, s), f"{m}-*-{s}")
        for (s, setting), (m, metric) in product(enumerate(settings), enumerate(metrics))
        if metric in MAIN_METRICS and groups[setting]["rate"].nunique() > 1
    ]
    if not figures:
        figures = [Note("There is one missing rate, so there is no curve to draw.")]
    if rows["rate"].nunique() < 2:
        return figures
    drawn = listed(_spoken(name) for name in metrics if name in MAIN_METRICS)
    text = f"This figure is drawn for {drawn} only."
    others = [at for at, name in enumerate(metrics) if name not in MAIN_METRICS]
    return figures + [Note(text, when=f"{at}-*-*") for at in others]


def _leading(views, metric, setting):
    """Return the methods with the best mean rank over the rates, at most `MOST_LINES`."""
    found = [each.standing.nemenyi for each in views if each.places[::2] == (metric, setting)]
    ranks = [each.mean_ranks for each in found if each]
    if not ranks:
        return None
    return list(pd.concat(ranks, axis=1).mean(axis=1).sort_values().index[:MOST_LINES])


def _against_rate(rows, metric, methods, key):
    frame = against_rate(rows, metric)
    everything = list(dict.fromkeys(frame["method"]))
    chosen = everything[:MOST_LINES] if methods is None else methods
    names = short_names([*everything, *dict.fromkeys(frame["dataset"])])
    part = frame[frame["method"].isin(chosen)].replace({"method": names, "dataset": names})
    caption = f"{_spoken(metric).capitalize()} against the missing rate, one panel per dataset."
    if part["std"].notna().any():
        caption += " Bars: one standard deviation."
    if len(everything) > len(chosen):
        kind = "first" if methods is None else "best by mean rank"
        caption += f" Of {len(everything)} methods, the {len(chosen)} {kind} are drawn."
    draw = partial(metric_against_rate, part, metric)
    return picture(draw, caption, f"rates-{metric}", when=key)


def _spoken(metric):
    return metric.replace("_", " ")


def percent(rate) -> str:
    """Write 50% for 0.5."""
    return f"{100 * rate:.4g}%"


def short_names(names) -> dict[str, str]:
    """Return a dict that shortens long names, each to a name of its own."""
    names = list(dict.fromkeys(names))
    return dict(zip(names, shortened(names, _LONGEST), strict=True))
