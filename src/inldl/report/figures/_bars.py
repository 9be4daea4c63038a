"""Draw bars and dots: run times, and errors by size, label, method and prediction."""

import numpy as np

from inldl.report.figures._panels import name_rows, single_panel, titled_panels, two_panels
from inldl.report.style import (
    COLUMN,
    FULL,
    GREY,
    LIGHT,
    drawn,
    in_order,
    legend_above,
    log_axis,
    need_columns,
)

BAR = 0.2  # inches per bar
ROW = 0.18  # inches per row of dots
MODEL = {"linestyle": "", "marker": "o", "color": "black"}
CONSTANT = {"linestyle": "", "marker": "D", "markerfacecolor": "white", "markeredgecolor": GREY}
TASKS = {"completing": "completing rows with holes", "predicting": "predicting new rows"}


@drawn
def run_time(frame, *, label="total time of the fits (s)", width=COLUMN):
    """Draw the sum of the seconds of each method, the fastest at the top.

    A method that lacks datasets says so behind its name: its sum is not the whole.

    Parameters
    ----------
    frame : DataFrame
        Columns method, dataset, seconds, one row per method and dataset.
    """
    need_columns(frame, "method", "dataset", "seconds")
    known = frame.dropna(subset="seconds")
    if known.duplicated(["method", "dataset"]).any():
        raise ValueError("The frame must have one row per method and dataset: summarise repeats.")
    totals = known.groupby("method")["seconds"].sum().sort_values(kind="stable")
    if totals.empty or not (totals > 0).all():
        raise ValueError("Every method needs a positive number of seconds in the column seconds.")
    present = known.groupby("method")["dataset"].nunique()
    wanted = frame["dataset"].nunique()
    names = [
        name if count == wanted else f"{name} ({count} of {wanted} datasets)"
        for name, count in present[totals.index].items()
    ]
    axes = single_panel(width, 0.55 + BAR * len(totals))
    bars = axes.barh(np.arange(len(totals)), totals, height=0.7, color=GREY)
    log_axis(axes.xaxis)
    axes.set_yticks(np.arange(len(totals)), names)
    times = [f"{each:.0f}" if each >= 100 else f"{each:.3g}" for each in totals]
    axes.bar_label(bars, times, padding=2)
    axes.set(xlabel=label, ylim=(len(totals) - 0.4, -0.6))
    axes.set_xlim(left=10 ** np.floor(np.log10(0.8 * totals.iloc[0])))
    axes.tick_params(axis="y", length=0)
    return axes.figure


@drawn
def relative_error_by_size(frame, *, label="mean relative error", width=FULL):
    """Draw the errors of small and of large degrees side by side, one panel per dataset.

    Parameters
    ----------
    frame : DataFrame
        Columns dataset, method, size (of the degrees, e.g. "below 0.5"), error.
    """
    need_columns(frame, "dataset", "method", "size", "error")
    table = frame.set_index(["dataset", "size", "method"])["error"]
    if table.index.has_duplicates:
        raise ValueError("The frame must have one error per dataset, method and size.")
    methods, sizes = in_order(frame["method"]), in_order(frame["size"])
    datasets = in_order(frame["dataset"])
    columns = min(len(datasets), max(1, round((width - 0.8) / 2)))
    rows = -(-len(datasets) // columns)
    height = 0.3 + rows * (0.45 + 0.13 * (len(sizes) + 0.5) * len(methods))
    panels = titled_panels(datasets, width, height, columns, sharey=True)
    for dataset, axes in panels.items():
        axes.set_ylim(len(methods) - 0.5, -0.5)
        axes.set_yticks(range(len(methods)), methods)
        axes.tick_params(axis="y", length=0)
        for place, size in enumerate(sizes):
            errors = [table.get((dataset, size, method), np.nan) for method in methods]
            _draw_bars(axes, errors, place, size, len(sizes))
    axes.figure.supxlabel(f"{label} (lower is better)")
    legend_above(axes.figure, axes.containers)
    return axes.figure


def _draw_bars(axes, errors, place, size, sizes):
    """Draw the bars of one size for all methods; shade and hatch tell the sizes apart."""
    height = 0.8 / sizes
    middles = np.arange(len(errors)) + (place - (sizes - 1) / 2) * height
    look = {"edgecolor": "black", "linewidth": 0.5, "label": str(size)}
    look["facecolor"], look["hatch"] = ((LIGHT, ""), (GREY, ""), ("white", "////"))[place % 3]
    axes.barh(middles, errors, height=0.9 * height, **look)


@drawn
def reliability(frame, *, coverage=None, width=COLUMN):
    """Draw what was observed against what was predicted, and below it how often.

    On the diagonal predictions are right on average; below it they are too large.

    Parameters
    ----------
    frame : DataFrame
        Columns predicted, observed (means of a bin), error (standard error of observed), n.
    coverage : float, optional
        Share of the degrees that lay inside their interval, written above the figure.
    """
    need_columns(frame, "predicted", "observed", "error", "n")
    axes, below = two_panels(width, 3.4, 3.4, 1)
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
    legend_above(axes.figure, [*line, dots], title)
    return axes.figure


@drawn
def errors_by_label(frame, *, width=COLUMN):
    """Draw the error of each label beside the error of guessing the mean of the label.

    Parameters
    ----------
    frame : DataFrame
        Columns label, rmse, constant_rmse, n, one row per label, drawn in this order.
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
    """
    numbers = [f"{task}_{end}" for task in TASKS for end in ("rmse", "se")]
    need_columns(frame, "method", *numbers)
    errors = frame[[f"{task}_rmse" for task in TASKS]].notna().to_numpy()
    frame = frame[errors.any(axis=1)].reset_index(drop=True)
    tasks = [task for task, known in zip(TASKS, errors.any(axis=0), strict=True) if known]
    if not tasks:
        raise ValueError("No method has an error, so there is nothing to draw.")
    columns = len(tasks) if width > 5 else 1
    height = 0.35 + (0.4 + ROW * len(frame)) * len(tasks) / columns
    titles = [TASKS[task] for task in tasks]
    panels = titled_panels(titles, width, height, columns, sharey=True)
    for task, axes in zip(tasks, panels.values(), strict=True):
        handles = _task(axes, frame, task, recommended, constant)
        name_rows(axes, frame["method"])
        axes.set_ylim(len(frame) - 0.4, -0.6)
        axes.locator_params(axis="x", nbins=4)
    figure = axes.figure
    figure.get_layout_engine().set(w_pad=0.12)
    figure.supxlabel("root mean square error at held-out shares (lower is better)")
    legend_above(figure, handles)
    return figure


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
