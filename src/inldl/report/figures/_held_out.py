"""Draw how good predictions are that were checked against degrees they had not seen."""

import numpy as np

from ..style import COLUMN, FULL, GREY, LIGHT, drawn, legend_above, need_columns, new_figure
from ._panels import name_rows, single_panel

MODEL = {"linestyle": "", "marker": "o", "color": "black"}
CONSTANT = {"linestyle": "", "marker": "D", "markerfacecolor": "white", "markeredgecolor": GREY}
ROW = 0.18  # inches per row of dots


@drawn
def reliability(frame, *, coverage=None, width=COLUMN):
    """Draw what was observed against what was predicted, and below it how often.

    Parameters
    ----------
    frame : DataFrame
        Columns predicted, observed (means of a bin), error (standard error of observed), n.
    coverage : float, optional
        Share of the degrees that lay inside their interval, written above the figure.
    width : float
        Width of the figure in inches.

    Returns
    -------
    matplotlib.figure.Figure
        On the diagonal predictions are right on average; below it they are too large.
    """
    need_columns(frame, "predicted", "observed", "error", "n")
    figure = new_figure(width, 3.4)
    axes, below = figure.subplots(2, 1, sharex=True, height_ratios=[3.4, 1])
    highest = np.maximum(frame["predicted"], frame["observed"] + frame["error"].fillna(0)).max()
    end = 1.05 * highest or 1
    line = axes.plot([0, end], [0, end], color=GREY, linewidth=0.8, label="perfect on average")
    dots = axes.errorbar(
        frame["predicted"],
        frame["observed"],
        yerr=frame["error"],
        elinewidth=0.9,
        label="mean ± standard error",
        **MODEL,
    )
    below.vlines(frame["predicted"], 0, frame["n"], color=GREY, linewidth=3)
    axes.set(ylabel="observed degree", xlim=(-0.02 * end, end), ylim=(-0.02 * end, end))
    below.set(xlabel="predicted degree", ylabel="degrees")
    below.set_ylim(bottom=0)
    below.locator_params(axis="y", nbins=3)
    below.locator_params(axis="x", nbins=6)
    figure.align_ylabels([axes, below])
    title = None if coverage is None else f"{coverage:.0%} of the degrees lie in their interval"
    legend_above(figure, [*line, dots], title)
    return figure


@drawn
def errors_by_label(frame, *, width=COLUMN):
    """Draw the error of each label beside the error of guessing the mean of the label.

    Parameters
    ----------
    frame : DataFrame
        Columns label, rmse, constant_rmse, n, one row per label, drawn in this order.
    width : float
        Width of the figure in inches.
    """
    need_columns(frame, "label", "rmse", "constant_rmse", "n")
    axes = single_panel(width, 0.75 + ROW * len(frame))
    places = np.arange(len(frame))
    axes.hlines(places, frame["rmse"], frame["constant_rmse"], color=LIGHT, linewidth=2, zorder=1)
    guess = axes.plot(frame["constant_rmse"], places, label="mean of the label", **CONSTANT)
    model = axes.plot(frame["rmse"], places, label="model", **MODEL)
    name_rows(axes, frame["label"], 28 if width > 5 else 20)
    axes.set(ylim=(len(frame) - 0.4, -0.6), xlabel="root mean square error\n(lower is better)")
    axes.set_xlim(left=0)
    axes.locator_params(axis="x", nbins=8 if width > 5 else 4)
    legend_above(axes.figure, [*model, *guess])
    return axes.figure


TASKS = {"completing": "completing rows with holes", "predicting": "predicting new rows"}


@drawn
def comparison(frame, *, recommended=None, constant="constant-mean", width=FULL):
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
    width : float
        Width of the figure in inches.
    """
    numbers = [f"{task}_{end}" for task in TASKS for end in ("rmse", "se")]
    need_columns(frame, "method", *numbers)
    errors = frame[[f"{task}_rmse" for task in TASKS]].notna().to_numpy()
    frame = frame[errors.any(axis=1)].reset_index(drop=True)
    tasks = [task for task, known in zip(TASKS, errors.any(axis=0), strict=True) if known]
    if not tasks:
        raise ValueError("No method has an error, so there is nothing to draw.")
    panels = _task_panels(tasks, len(frame), width)
    for task, axes in panels.items():
        handles = _task(axes, frame, task, recommended, constant)
        axes.set_title(TASKS[task])
        name_rows(axes, frame["method"])
        axes.set_ylim(len(frame) - 0.4, -0.6)
        axes.locator_params(axis="x", nbins=4)
    figure = axes.figure
    figure.supxlabel("root mean square error at held-out degrees (lower is better)")
    legend_above(figure, handles)
    return figure


def _task_panels(tasks, methods, width):
    beside = width > 5
    lines = 1 if beside else len(tasks)
    figure = new_figure(width, 0.35 + (0.4 + ROW * methods) * lines)
    figure.get_layout_engine().set(w_pad=0.12)
    grid = figure.subplots(lines, len(tasks) // lines, sharey=True, squeeze=False).ravel()
    return dict(zip(tasks, grid, strict=True))


def _task(axes, frame, task, recommended, constant):
    """Draw the dots of one task, and return what a legend shows."""
    chosen = (frame["method"] == recommended).to_numpy()
    looks = [
        (chosen, {"color": "#d55e00", "marker": "*", "markersize": 8, "label": "recommended"}),
        (~chosen, {"color": GREY, "marker": "o", "label": "method ± standard error"}),
    ]
    handles = []
    for rows, look in looks:
        if rows.any():
            part, places = frame[rows], np.flatnonzero(rows)
            spread = part[f"{task}_se"]
            bars = axes.errorbar(part[f"{task}_rmse"], places, xerr=spread, linestyle="", **look)
            handles.append(bars)
    for error in frame.loc[frame["method"] == constant, f"{task}_rmse"]:
        line = {"color": GREY, "linestyle": (0, (4, 2)), "linewidth": 0.9, "zorder": 0}
        handles.append(axes.axvline(error, label="constant mean", **line))
    return handles
