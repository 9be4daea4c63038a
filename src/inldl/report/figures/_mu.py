"""Draw what the penalty parameter mu changes: the scores, and the speed of convergence."""

import numpy as np

from inldl.metrics import METRICS

from ..style import (
    FULL,
    drawn,
    in_order,
    legend_over,
    log_axis,
    looks,
    need_columns,
    new_figure,
)
from ._panels import error_line, line_handles, reference_line


@drawn
def mu_study(frame, histories, *, reference=2, label="change per iteration", width=FULL):
    """Draw the scores against mu, and how fast the fit settles for each mu.

    Parameters
    ----------
    frame : DataFrame
        Columns mu (positive), metric, mean, std.
    histories : dict of float to array
        For each mu the changes iteration by iteration.
    reference : float
        The mu to which the scores are compared, in percent: so metrics of any scale share a panel.
    label : str
        What changes in `histories`.
    width : float
        Width of the figure in inches; the panels stand side by side from 5 inches on.

    Returns
    -------
    matplotlib.figure.Figure
        The arrow behind a known metric points to its better side.
    """
    need_columns(frame, "mu", "metric", "mean", "std")
    beside = width >= 5
    figure = new_figure(width, 2.2 if beside else 4.4)
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.08)
    scores, speed = figure.subplots(*((1, 2) if beside else (2, 1)))
    room = (width / 2 if beside else width) - 0.7
    heights = [
        legend_over(scores, _draw_scores(scores, frame, reference), room),
        legend_over(speed, _draw_histories(speed, histories, label), room),
    ]
    figure.set_figheight(figure.get_figheight() + (max(heights) if beside else sum(heights)))
    return figure


def _draw_scores(axes, frame, reference):
    """Draw each metric as its distance from the reference in percent; return the handles."""
    names = in_order(frame["metric"])
    look = looks(names)
    for name in names:
        part = frame[frame["metric"] == name].sort_values("mu")
        scale = part.loc[part["mu"] == reference, "mean"]
        if len(scale) != 1:
            raise ValueError(f"The metric {name!r} needs one row with mu = {reference}.")
        percent = 100 / scale.iloc[0]
        change = part["mean"] * percent - 100
        error_line(axes, part["mu"], change, part["std"] * percent, look[name], name)
    reference_line(axes, 0)
    _mu_axis(axes, np.unique(frame["mu"].astype(float)))
    axes.set_ylabel(f"change from μ = {reference:g} (%)")
    return line_handles({_with_arrow(name): style for name, style in look.items()})


def _mu_axis(axes, values):
    log_axis(axes.xaxis)
    axes.minorticks_off()
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set_xlabel("μ")


def _with_arrow(metric):
    if metric not in METRICS:
        return metric
    return f"{metric} {'↑' if METRICS[metric].higher_is_better else '↓'}"


def _draw_histories(axes, histories, label):
    """Draw one curve per mu, with a few markers each; return the handles."""
    if not histories:
        raise ValueError("histories is empty: give the changes of at least one mu.")
    look = looks(sorted(histories))
    for mu, style in look.items():
        changes = np.asarray(histories[mu], dtype=float)
        changes = np.where(changes > 0, changes, np.nan)  # 0 has no place on a log scale
        iterations = np.arange(1, len(changes) + 1)
        every = max(1, len(changes) // 8)
        axes.plot(iterations, changes, label=f"{mu:g}", markevery=every, **style.line())
    log_axis(axes.yaxis)
    axes.set(xlabel="iteration", ylabel=label)
    return line_handles({f"μ = {mu:g}": style for mu, style in look.items()})
