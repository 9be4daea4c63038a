"""The figures of a run, small enough that many fit into a page."""

import warnings
from functools import partial
from itertools import count

from inldl.experiments.results import against_rate, mean_over_all

from ._compact import compact
from ._run_views import MAIN_METRICS, SETTING, percent, spoken
from .figures import critical_difference, metric_against_rate, run_time, svg
from .page import drawing, paragraph
from .style import FULL

MOST_LINES = 8  # methods in one figure of curves: more cannot be told apart
_LONGEST = 30


def difference_figures(run, space):
    """Return Demšar's diagram for each view of a main metric, until the space is used up.

    Parameters
    ----------
    run : RunViews
        The views.
    space : Space
        What is left of the size of the page.
    """
    wanted = [view for view in run.views if view.nemenyi and view.metric in MAIN_METRICS]
    wanted.sort(key=lambda view: view.key != run.first)
    return [_difference(view, run.first, space) for view in wanted]


def _difference(view, first, space):
    result = view.nemenyi
    names = short_names(result.mean_ranks.index)
    ranks = result.mean_ranks.rename(names)
    groups = [[names[name] for name in group] for group in result.groups]
    caption = (
        f"Mean ranks by {spoken(view.metric)} at {percent(view.rate)} missing degrees. Methods "
        "under one bar do not differ significantly."
    )
    name = f"ranks-{view.metric}-{100 * view.rate:.4g}"
    draw = partial(critical_difference, ranks, result.critical_difference, groups)
    return space.drawing(draw, caption, name, view.key, view.key == first)


def rate_figures(rows, run, space):
    """Return the figures of each main metric against the missing rate, for each setting."""
    groups = dict(list(rows.groupby(SETTING)))
    first = run.first.split("-")
    parts = []
    for place, setting in enumerate(run.settings):
        for at, metric in enumerate(run.metrics):
            if metric in MAIN_METRICS and groups[setting]["rate"].nunique() > 1:
                shown = first[0] == str(at) and place == 0
                views = [each for each in run.views if each.key.endswith(f"-{place}")]
                methods = _leading([each for each in views if each.metric == metric])
                parts.append(
                    _against_rate(
                        groups[setting], metric, methods, f"{at}-*-{place}", shown, space
                    )
                )
    return parts


def _leading(views):
    """Return the methods with the best mean rank over the rates, at most `MOST_LINES`."""
    import pandas as pd

    ranks = [view.nemenyi.mean_ranks for view in views if view.nemenyi]
    if not ranks:
        return None
    return list(pd.concat(ranks, axis=1).mean(axis=1).sort_values().index[:MOST_LINES])


def _against_rate(rows, metric, methods, key, shown, space):
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
    return space.drawing(draw, caption, f"rates-{metric}", key, shown)


def time_figure(rows, space):
    """Return the bars of run time, over the rates and splits of all settings."""
    mean = mean_over_all(rows, "fit_seconds")
    names = short_names(mean.columns)
    frame = mean.rename(columns=names).melt(
        ignore_index=False, var_name="method", value_name="seconds"
    )
    known = frame.reset_index().dropna(subset="seconds")
    if known.empty or not (known["seconds"] > 0).all():
        return paragraph("There are no times of fits to draw.", kind="note")
    caption = (
        "CPU time of one fit (mean over rates and splits), added up over the datasets; "
        "logarithmic."
    )
    draw = partial(run_time, frame.reset_index(), label="time of the fits (s)", width=FULL)
    return space.drawing(draw, caption, "run-time")


class Space:
    """Draw figures as long as the page has room for them.

    Parameters
    ----------
    size : int
        Bytes that all figures together may take.
    """

    def __init__(self, size):
        self.left = size
        self._number = count()

    def drawing(self, draw, caption, name, when="", shown=True):
        """Return the figure, or a note why it is not there."""
        if self.left <= 0:
            return _note("This figure is left out to keep the page small.", when, shown)
        try:
            picture = _picture(draw, caption, next(self._number))
        except ValueError as error:
            return _note(f"This figure cannot be drawn: {error}", when, shown)
        self.left -= len(picture)
        return drawing(picture, caption, name, when, shown)


def _note(text, when, shown):
    place = f' data-when="{when}"' if when else ""
    return f"<div{place}{'' if shown else ' hidden'}>{paragraph(text, kind='note')}</div>"


def _picture(draw, caption, number):
    with warnings.catch_warnings():
        # The browser draws the letters, with fonts that have more of them than matplotlib's.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        figure = draw()
        figure.patch.set_visible(False)  # the paper shows through, light or dark
        for axes in figure.axes:
            axes.patch.set_visible(False)
        return compact(svg(figure, caption), f"d{number}-")


def short_names(names):
    """Return a dict that shortens long names, each to a name of its own."""
    shorter = {}
    for name in dict.fromkeys(names):
        text = " ".join(str(name).split())
        if len(text) > _LONGEST:
            text = text[: _LONGEST - 1] + "…"
        copies = (text if not number else f"{text} {number + 1}" for number in count())
        shorter[name] = next(each for each in copies if each not in shorter.values())
    return shorter
