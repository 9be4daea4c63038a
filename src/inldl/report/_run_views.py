"""The numbers of a run by metric, missing rate and setting: scores, wins, and tests."""

from dataclasses import dataclass
from itertools import product

import pandas as pd

from inldl.experiments.results import CommonGround, common_ground, summarize, unfinished
from inldl.experiments.statistics import (
    NemenyiResult,
    friedman,
    mean_ranks,
    nemenyi,
    wins_ties_losses,
)
from inldl.metrics import METRICS

from .page import Table, Views
from .tables import ScoreTable

MAIN_METRICS = ("cosine", "intersection", "chebyshev", "clark", "canberra", "kl_divergence")
"""The metrics of which figures are drawn: all metrics would make the page too large."""

ALPHA = 0.05
SETTING = ["recipe", "mechanism", "splits"]
_NAMED = 8  # names in a sentence


@dataclass(frozen=True)
class View:
    """What one choice of metric, rate and setting shows."""

    key: str
    metric: str
    rate: float
    scores: Table
    wins: Table
    tests: list[str]
    ground: CommonGround
    nemenyi: NemenyiResult | None


@dataclass(frozen=True)
class RunViews:
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
    def first(self) -> str:
        """Return the key of the view seen first: cosine at half of the degrees, if there."""
        metric = self.metrics.index("cosine") if "cosine" in self.metrics else 0
        rate = self.rates.index(0.5) if 0.5 in self.rates else 0
        return f"{metric}-{rate}-0"

    def for_page(self) -> Views:
        """Return the choices and contents for a page."""
        choices = {
            "Metric": [f"{spoken(name)} {'↑' if higher(name) else '↓'}" for name in self.metrics],
            "Missing degrees": [percent(rate) for rate in self.rates],
            "Setting": [setting_name(each) for each in self.settings],
        }
        contents = {
            view.key: {"scores": view.scores, "wins": view.wins, "tests": view.tests}
            for view in self.views
        }
        return Views(choices, contents, self.first)


def run_views(rows) -> RunViews:
    """Return the views of the rows of a store, at least one of which is "ok"."""
    found = rows[rows["status"] == "ok"]
    metrics = [name for name in METRICS if name in rows and found[name].notna().any()]
    rates = sorted(set(rows["rate"]))
    settings = sorted(set(rows[SETTING].itertuples(index=False, name=None)))
    groups = dict(list(rows.groupby(["rate", *SETTING])))
    views = [
        _view(groups.get((rate, *setting)), metric, rate, f"{m}-{r}-{s}")
        for (s, setting), (r, rate), (m, metric) in product(
            enumerate(settings), enumerate(rates), enumerate(metrics)
        )
    ]
    return RunViews(metrics, rates, settings, views)


def _view(rows, metric, rate, key):
    if rows is None:
        rows = pd.DataFrame(
            {name: [] for name in ("dataset", "method", "split", "status", metric)}
        )
    summary = summarize(rows, metric)
    ground = common_ground(summary)
    tests, result = _tests(ground, metric)
    return View(
        key,
        metric,
        rate,
        _scores(summary, ground, rate, unfinished(rows)),
        _wins(ground, metric, rate),
        tests,
        ground,
        result,
    )


def _scores(summary, ground, rate, gaps):
    if summary.mean.empty:
        return Table([], [], caption="Nothing was run at this missing rate with this setting.")
    ranks = None
    if len(ground.scores) and ground.scores.shape[1] > 1:
        ranks = mean_ranks(ground.scores, summary.higher_is_better).reindex(summary.mean.columns)
    table = ScoreTable(summary.mean, summary.std, summary.higher_is_better, mean_rank=ranks)
    return Table(
        ["dataset", *table.methods],
        _cells(table.rows()),
        _cells(table.footer()),
        _scores_caption(summary, rate, gaps),
        _file("scores", summary.metric, rate),
    )


def _cells(rows):
    return [
        [name, *((cell.text, cell.mark) if cell.mark else cell.text for cell in cells)]
        for name, cells in rows
    ]


def _scores_caption(summary, rate, gaps):
    word = "higher" if summary.higher_is_better else "lower"
    several = summary.std.notna().to_numpy().any()
    shown = "mean(standard deviation) over splits" if several else "the score of the one split"
    text = (
        f"{spoken(summary.metric).capitalize()} at {percent(rate)} missing degrees: {shown}, "
        f"{word} is better; best in bold, second best underlined."
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


def _wins(ground, metric, rate):
    methods = list(ground.scores.columns)
    if len(methods) < 2 or ground.scores.empty:
        return Table([], [], caption="There are no two methods with scores on a common dataset.")
    pairs = wins_ties_losses(ground.scores, higher(metric))
    totals = pairs.groupby(level="method", sort=False).sum()
    text = {pair: "/".join(map(str, line)) for pair, line in _lines(pairs)}
    rows = [
        [str(name), "/".join(map(str, line)), *(text.get((name, other), "") for other in methods)]
        for name, line in _lines(totals)
    ]
    return Table(
        ["method", "against all", *map(str, methods)],
        rows,
        caption="Wins/ties/losses of the method in the row against the one in the column, over "
        f"{_count(len(ground.scores), 'dataset')}.",
        name=_file("wins", metric, rate),
    )


def _lines(frame):
    return zip(frame.index, frame.to_numpy().tolist(), strict=True)


def _tests(ground, metric):
    """Return sentences, and Nemenyi's result if the figure of it is wanted."""
    problems, methods = ground.scores.shape
    told = _left_out(ground)
    if methods < 3:
        few = f"The tests compare 3 methods or more; {methods} of this view has scores."
        return [few.replace("has", "have") if methods != 1 else few, *told], None
    if problems < 2:
        few = f"The tests need 2 datasets on which every method has a score; there is {problems}."
        return [few.replace("is 0", "is none"), *told], None
    result = nemenyi(ground.scores, higher(metric), ALPHA)
    return [*_sentences(ground, metric, result), *told], result


def _sentences(ground, metric, result):
    problems, methods = ground.scores.shape
    test = friedman(ground.scores, higher(metric))
    first = (
        f"Friedman's test over {methods} methods and {problems} datasets: chi-squared "
        f"{test.statistic:.3f} ({p_value(test.p_value)}); F of Iman and Davenport "
        f"{test.f_statistic:.3f} ({p_value(test.f_p_value)}). At the level {ALPHA:g}, "
        f"{_verdict(test)}."
    )
    second = (
        f"Nemenyi's critical difference at the level {ALPHA:g} is "
        f"{result.critical_difference:.3f}: mean ranks at least that far apart differ "
        "significantly."
    )
    if metric not in MAIN_METRICS:
        second += f" The diagram is drawn for {listed(map(spoken, MAIN_METRICS))} only."
    return [first, second]


def _verdict(test):
    """Conclude only where both tests agree: on few datasets, alike ranks make F infinite."""
    if max(test.p_value, test.f_p_value) <= ALPHA:
        return "the methods are not all equal"
    if min(test.p_value, test.f_p_value) > ALPHA:
        return "no difference between the methods is shown"
    return "the two do not agree, so more datasets are needed to conclude"


def _left_out(ground):
    sentences = []
    if ground.left_out:
        sentences.append(
            f"Left out, because they have no score at all: {listed(ground.left_out)}."
        )
    if ground.dropped:
        names = listed(
            f"{dataset} (no score of {listed(methods)})"
            for dataset, methods in ground.dropped.items()
        )
        sentences.append(f"Datasets left out of ranks, wins and tests: {names}.")
    return sentences


def _file(kind, metric, rate):
    return f"{kind}-{metric}-{100 * rate:.4g}"


def _count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def higher(metric):
    """Return whether higher is better."""
    return METRICS[metric].higher_is_better


def spoken(metric):
    """Return the name of a metric as words."""
    return metric.replace("_", " ")


def percent(rate):
    """Write 50% for 0.5."""
    return f"{100 * rate:.4g}%"


def p_value(value):
    """Write p = 0.012, or p < 0.001."""
    text = "p < 0.001" if value < 0.001 else f"p = {value:.3f}"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def listed(names):
    """Join names by commas; of very many only the first are told."""
    names = [str(name) for name in names]
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def setting_name(setting):
    """Describe recipe, mechanism and kind of splits."""
    recipe, mechanism, splits = setting
    own = ", authors' splits" if splits == "authors" else ""
    return f"recipe {recipe}, mechanism {mechanism}{own}"
