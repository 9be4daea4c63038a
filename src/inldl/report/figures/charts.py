"""Draw curves, bars, dots and ranks: scores and errors of many kinds, run times, differences."""

import numpy as np

from inldl.report import style
from inldl.report.style import COLUMN, FULL, GREY, PALE, Drawing, drawn

DOTS = 0.18  # inches per row of dots
MODEL = {"linestyle": "", "marker": "o", "color": "black"}
CONSTANT = {"linestyle": "", "marker": "D", "markerfacecolor": "white", "markeredgecolor": GREY}
BINS, MOST_PANELS = 20, 12
TASKS = {"completing": "completing rows with holes", "predicting": "predicting new rows"}


@drawn
def reliability(frame, *, coverage=None, width=COLUMN) -> Drawing:
    """Draw what was observed against what was predicted, and below it how often.

    On the diagonal predictions are right on average; below it they are too large.

    Parameters
    ----------
    frame : DataFrame
        Columns predicted, observed (means of a bin), error (standard error of observed), n.
    coverage : float, optional
        Share of the degrees that lay inside their interval, written above the figure.
    """
    style.need_columns(frame, "predicted", "observed", "error", "n")
    axes, below = style.two_panels(width, 3.4, 3.4, 1)
    highest = np.maximum(frame["predicted"], frame["observed"] + frame["error"].fillna(0)).max()
    end = 1.05 * highest or 1
    line = axes.plot([0, end], [0, end], color=GREY, linewidth=0.8, label="perfect on average")
    look = {"elinewidth": 0.9, "label": "mean ± standard error", **MODEL}
    dots = axes.errorbar(frame["predicted"], frame["observed"], yerr=frame["error"], **look)
    below.vlines(frame["predicted"], 0, frame["n"], color=GREY, linewidth=3)
    axes.set(ylabel="observed share", xlim=(-0.02 * end, end), ylim=(-0.02 * end, end))
    below.set(xlabel="predicted share", ylabel="shares")
    below.set_ylim(bottom=0)
    below.locator_params(axis="y", nbins=3)
    below.locator_params(axis="x", nbins=6)
    title = None if coverage is None else f"{coverage:.0%} of the shares lie in their interval"
    return style.legend_above(axes.figure, [*line, dots], title)


@drawn
def errors_by_label(frame, *, width=COLUMN) -> Drawing:
    """Draw the error of each label beside the error of guessing the mean of the label.

    Parameters
    ----------
    frame : DataFrame
        Columns label, rmse, constant_rmse, n, one row per label, drawn in this order.
    """
    style.need_columns(frame, "label", "rmse", "constant_rmse", "n")
    axes = style.single_panel(width, 0.75 + DOTS * len(frame))
    places = np.arange(len(frame))
    axes.hlines(places, frame["rmse"], frame["constant_rmse"], color=PALE, linewidth=2, zorder=1)
    guess = axes.plot(frame["constant_rmse"], places, label="mean of the label", **CONSTANT)
    model = axes.plot(frame["rmse"], places, label="model", **MODEL)
    style.name_rows(axes, frame["label"], 28 if width > 5 else 20)
    axes.set(ylim=(len(frame) - 0.4, -0.6), xlabel="root mean square error\n(lower is better)")
    axes.set_xlim(left=0)
    axes.locator_params(axis="x", nbins=8 if width > 5 else 4)
    return style.legend_above(axes.figure, [*model, *guess])


@drawn
def moved_means(frame, *, label="mean share", width=COLUMN) -> Drawing:
    """Draw the mean of each label in several cases; the first one is what the others move from.

    Parameters
    ----------
    frame : DataFrame
        One row per label, drawn in this order, and one column per case.
    """
    axes = style.single_panel(width, 0.75 + DOTS * len(frame))
    places, names = np.arange(len(frame)), style.shortened(frame.columns)
    axes.hlines(places, frame.min(axis=1), frame.max(axis=1), color=PALE, linewidth=2, zorder=1)
    looks, handles = [CONSTANT, *style.looks(names[1:]).values()], []
    for name, column, look in zip(names, frame, looks, strict=True):
        handles += axes.plot(frame[column], places, label=name, **look | {"linestyle": ""})
    style.name_rows(axes, frame.index, 28 if width > 5 else 20)
    axes.set(ylim=(len(frame) - 0.4, -0.6), xlabel=label)
    axes.locator_params(axis="x", nbins=8 if width > 5 else 4)
    return style.legend_above(axes.figure, handles)


@drawn
def comparison(frame, *, recommended=None, constant="constant-mean", width=FULL) -> Drawing:
    """Draw the errors of methods at completing and at predicting.

    Parameters
    ----------
    frame : DataFrame
        Columns method, completing_rmse, completing_se, predicting_rmse, predicting_se: the error
        at each task and its standard error. Methods are drawn in this order; those without an
        error, and a task without any, are left out.
    recommended : str, optional
        The method to be marked.
    constant : str
        The method whose errors are drawn as lines, if it is in the frame.
    """
    numbers = [f"{task}_{end}" for task in TASKS for end in ("rmse", "se")]
    style.need_columns(frame, "method", *numbers)
    errors = frame[[f"{task}_rmse" for task in TASKS]].notna().to_numpy()
    frame = frame[errors.any(axis=1)].reset_index(drop=True)
    tasks = [task for task, known in zip(TASKS, errors.any(axis=0), strict=True) if known]
    if not tasks:
        raise ValueError("No method has an error, so there is nothing to draw.")
    columns = len(tasks) if width > 5 else 1
    height = 0.35 + (0.4 + DOTS * len(frame)) * len(tasks) / columns
    titles = [TASKS[task] for task in tasks]
    panels = style.titled_panels(titles, width, height, columns, sharey=True)
    for task, axes in zip(tasks, panels.values(), strict=True):
        handles = _task(axes, frame, task, recommended, constant)
        style.name_rows(axes, frame["method"])
        axes.set_ylim(len(frame) - 0.4, -0.6)
        axes.locator_params(axis="x", nbins=4)
    figure = axes.figure
    figure.get_layout_engine().set(w_pad=0.12)
    figure.supxlabel("root mean square error at held-out shares (lower is better)")
    return style.legend_above(figure, handles)


def _task(axes, frame, task, recommended, constant):
    """Draw the dots of one task, and return what a legend shows."""
    chosen = (frame["method"] == recommended).to_numpy()
    star = {"color": "#d55e00", "marker": "*", "markersize": 8, "label": "recommended"}
    dot = {"color": GREY, "marker": "o", "label": "method ± standard error"}
    handles = []
    for rows, look in ((chosen, star), (~chosen, dot)):
        if rows.any():
            means, spread = frame.loc[rows, f"{task}_rmse"], frame.loc[rows, f"{task}_se"]
            places = np.flatnonzero(rows)
            handles.append(axes.errorbar(means, places, xerr=spread, linestyle="", **look))
    for error in frame.loc[frame["method"] == constant, f"{task}_rmse"]:
        line = {"color": GREY, "linestyle": (0, (4, 2)), "linewidth": 0.9, "zorder": 0}
        handles.append(axes.axvline(error, label="constant mean", **line))
    return handles


@drawn
def known_and_filled(before, after, *, width=FULL) -> Drawing:
    """Draw how the known and the filled degrees of each label are distributed.

    Labels with most filled degrees come first; at most 12 are drawn.

    Parameters
    ----------
    before, after : DataFrame of shape (n, C)
        Degrees with holes (NaN), and the same rows completed.
    """
    counts = before.isna().sum().sort_values(ascending=False, kind="stable")
    names = list(counts.index[counts > 0][:MOST_PANELS])
    if not names:
        raise ValueError("No degree is missing, so there is nothing to draw.")
    panels = style.small_multiples(style.shortened(names), "density", width)
    for name, axes in zip(names, panels.values(), strict=True):
        edges, known = np.linspace(0, after[name].max() or 1, BINS + 1), before[name].dropna()
        each = np.full(len(known), 1 / max(len(known), 1) / edges[1])
        axes.hist(known, edges, weights=each, color=PALE, label="known")
        filled = after[name][before[name].isna()]
        axes.hist(filled, edges, density=True, color="#d55e00", histtype="step", label="filled in")
        axes.locator_params(axis="x", nbins=4 if width > 5 else 2)
    handles, _ = axes.get_legend_handles_labels()
    axes.figure.supxlabel("share")
    return style.legend_above(axes.figure, handles)
