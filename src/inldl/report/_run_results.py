"""The results of a run by metric, missing rate and setting: tables, sentences and figures."""

from dataclasses import dataclass
from functools import partial
from itertools import product

import pandas as pd

from inldl._text import counted, listed
from inldl.experiments.results import ALPHA, Standing, against_rate, standing
from inldl.metrics import METRICS

from .document import Choices, Chosen, Column, Controls, Figure, Heading, Note, Table
from .figures import critical_difference, metric_against_rate
from .figures._panels import shortened
from .style import better
from .tables import ScoreTable

MAIN_METRICS = ("cosine", "intersection", "chebyshev", "clark", "canberra", "kl_divergence")
"""The metrics of which figures are drawn: all metrics would make the page too large."""

SETTING = ["recipe", "mechanism", "splits"]
MOST_LINES = 8  # methods in one figure of curves: more cannot be told apart
_LONGEST = 30


@dataclass(frozen=True)
class View:
    """What one choice of metric, rate and setting shows."""

    key: str
    metric: str
    rate: float
    standing: Standing

    @property
    def drawn(self) -> bool:
        """Return whether there are figures of its metric."""
        return self.metric in MAIN_METRICS


@dataclass(frozen=True)
class RunResults:
    """All views of a run.

    Parameters
    ----------
    metrics, rates, settings : list
        The choices; a setting is a tuple of recipe, mechanism and kind of splits.
    views : list of View
        One for each combination.
    """

    metrics: list[str]
    rates: list[float]
    settings: list[tuple[str, str, str]]
    views: list[View]

    @property
    def choices(self) -> Choices:
        """Return what the reader can choose; at first cosine at half of the degrees, if there."""
        metric = self.metrics.index("cosine") if "cosine" in self.metrics else 0
        rate = self.rates.index(0.5) if 0.5 in self.rates else 0
        options = {
            "Metric": [f"{spoken(name)} {better(name, '↓↑')}" for name in self.metrics],
            "Missing degrees": [percent(rate) for rate in self.rates],
            "Setting": [_setting_name(each) for each in self.settings],
        }
        return Choices(options, f"{metric}-{rate}-0")


def run_results(rows) -> RunResults:
    """Return the views of the rows of a store, at least one of which is "ok"."""
    found = rows[rows["status"] == "ok"]
    metrics = [name for name in METRICS if name in rows and found[name].notna().any()]
    rates = sorted(set(rows["rate"]))
    settings = sorted(set(rows[SETTING].itertuples(index=False, name=None)))
    groups = dict(list(rows.groupby(["rate", *SETTING])))
    views = [
        View(
            f"{m}-{r}-{s}", metric, rate, standing(groups.get((rate, *setting), rows[:0]), metric)
        )
        for (s, setting), (r, rate), (m, metric) in product(
            enumerate(settings), enumerate(rates), enumerate(metrics)
        )
    ]
    return RunResults(metrics, rates, settings, views)


def result_blocks(rows, run):
    """Return the blocks that show scores, wins, tests and curves of rows and their views."""
    scores, wins, tests = (
        Chosen(name, {view.key: content(view) for view in run.views})
        for name, content in {"scores": _scores, "wins": _wins, "tests": _tests}.items()
    )
    return [
        Controls(),
        scores,
        Heading("Wins, ties and losses"),
        wins,
        Heading("Do the methods differ?"),
        tests,
        *(_difference(view) for view in run.views if view.standing.nemenyi and view.drawn),
        Heading("Scores against the missing rate"),
        *_rate_figures(rows, run),
    ]


def _scores(view):
    found, ranks = view.standing.summary, view.standing.mean_ranks
    if found.mean.empty:
        return Table([], [], caption="Nothing was run at this missing rate with this setting.")
    table = ScoreTable(found.mean, found.std, found.higher_is_better, mean_rank=ranks)
    return table.block(caption=_scores_caption(view), name=_file("scores", view))


def _scores_caption(view):
    summary, gaps = view.standing.summary, view.standing.unfinished
    several = summary.std.notna().to_numpy().any()
    shown = "mean(standard deviation) over splits" if several else "the score of the one split"
    text = (
        f"{spoken(summary.metric).capitalize()} at {percent(view.rate)} missing degrees: {shown}, "
        f"{better(summary.metric)} is better; best in bold, second best underlined."
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
        return Table([], [], caption="There are no two methods with scores on a common dataset.")
    totals = pairs.groupby(level="method", sort=False).sum()
    against, overall = (
        {name: f"{wins}/{ties}/{losses}" for name, wins, ties, losses in frame.itertuples()}
        for frame in (pairs, totals)
    )
    rows = [
        [str(name), text, *(against.get((name, other), "") for other in scores)]
        for name, text in overall.items()
    ]
    columns = [Column("method"), Column("against all"), *(Column(str(name)) for name in scores)]
    caption = (
        "Wins/ties/losses of the method in the row against the one in the column, over "
        f"{counted(len(scores), 'dataset')}."
    )
    return Table(columns, rows, caption=caption, name=_file("wins", view))


def _tests(view):
    """Return what the tests say, or why there are none."""
    n_datasets, n_methods = view.standing.ground.scores.shape
    if view.standing.friedman is None:
        wanted = "The tests need 3 methods, and 2 datasets on which each of them has a score"
        texts = [f"{wanted}; methods here: {n_methods}, datasets: {n_datasets}."]
    else:
        texts = [_friedman(view.standing), _nemenyi(view)]
    return [*texts, *_left_out(view.standing.ground)]


def _friedman(standing):
    n_datasets, n_methods = standing.ground.scores.shape
    test = standing.friedman
    return (
        f"Friedman's test over {n_methods} methods and {n_datasets} datasets: chi-squared "
        f"{test.statistic:.3f} ({_p_value(test.p_value)}); F of Iman and Davenport "
        f"{test.f_statistic:.3f} ({_p_value(test.f_p_value)}). At the level {ALPHA:g}, "
        f"{_verdict(test)}."
    )


def _verdict(test):
    """Conclude only where both tests agree: on few datasets, alike ranks make F infinite."""
    if max(test.p_value, test.f_p_value) <= ALPHA:
        return "the methods are not all equal"
    if min(test.p_value, test.f_p_value) > ALPHA:
        return "no difference between the methods is shown"
    return "the two do not agree, so more datasets are needed to conclude"


def _nemenyi(view):
    text = (
        f"Nemenyi's critical difference at the level {ALPHA:g} is "
        f"{view.standing.nemenyi.critical_difference:.3f}: mean ranks at least that far apart "
        "differ significantly."
    )
    if not view.drawn:
        text += f" The diagram is drawn for {listed(map(spoken, MAIN_METRICS))} only."
    return text


def _left_out(ground):
    texts = []
    if ground.left_out:
        texts.append(f"Left out, because they have no score at all: {listed(ground.left_out)}.")
    if ground.dropped:
        names = listed(
            f"{dataset} (no score of {listed(methods)})"
            for dataset, methods in ground.dropped.items()
        )
        texts.append(f"Datasets left out of ranks, wins and tests: {names}.")
    return texts


def _difference(view):
    """Return Demšar's diagram for a view."""
    result = view.standing.nemenyi
    names = short_names(result.mean_ranks.index)
    groups = [[names[name] for name in group] for group in result.groups]
    caption = (
        f"Mean ranks by {spoken(view.metric)} at {percent(view.rate)} missing degrees. Methods "
        "under one bar do not differ significantly."
    )
    ranks = result.mean_ranks.rename(names)
    draw = partial(critical_difference, ranks, result.critical_difference, groups)
    return Figure(draw, caption, _file("ranks", view), when=view.key)


def _rate_figures(rows, run):
    """Return the figures of each main metric against the missing rate, for each setting."""
    groups = dict(list(rows.groupby(SETTING)))
    figures = [
        _against_rate(groups[setting], metric, _leading(run, metric, s), f"{m}-*-{s}")
        for (s, setting), (m, metric) in product(enumerate(run.settings), enumerate(run.metrics))
        if metric in MAIN_METRICS and groups[setting]["rate"].nunique() > 1
    ]
    if not figures:
        figures = [Note("There is one missing rate, so there is no curve to draw.")]
    if len(run.rates) < 2:
        return figures
    drawn = listed(spoken(name) for name in run.metrics if name in MAIN_METRICS)
    told = f"This figure is drawn for {drawn} only."
    others = [at for at, name in enumerate(run.metrics) if name not in MAIN_METRICS]
    return figures + [Note(told, when=f"{at}-*-*") for at in others]


def _leading(run, metric, place):
    """Return the methods with the best mean rank over the rates, at most `MOST_LINES`."""
    views = [each for each in run.views if each.metric == metric]
    found = [each.standing.nemenyi for each in views if each.key.endswith(f"-{place}")]
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
    caption = f"{spoken(metric).capitalize()} against the missing rate, one panel per dataset."
    if part["std"].notna().any():
        caption += " Bars: one standard deviation."
    if len(everything) > len(chosen):
        kind = "first" if methods is None else "best by mean rank"
        caption += f" Of {len(everything)} methods, the {len(chosen)} {kind} are drawn."
    draw = partial(metric_against_rate, part, metric)
    return Figure(draw, caption, f"rates-{metric}", when=key)


def _file(kind, view):
    return f"{kind}-{view.metric}-{100 * view.rate:.4g}"


def spoken(metric):
    """Return the name of a metric as words."""
    return metric.replace("_", " ")


def percent(rate):
    """Write 50% for 0.5."""
    return f"{100 * rate:.4g}%"


def _p_value(value):
    """Write p = 0.012, or p < 0.001."""
    text = "p < 0.001" if value < 0.001 else f"p = {value:.3f}"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _setting_name(setting):
    recipe, mechanism, splits = setting
    own = ", authors' splits" if splits == "authors" else ""
    return f"recipe {recipe}, mechanism {mechanism}{own}"


def short_names(names):
    """Return a dict that shortens long names, each to a name of its own."""
    names = list(dict.fromkeys(names))
    return dict(zip(names, shortened(names, _LONGEST), strict=True))
