"""Draw the figures of a run: ranks, scores against the missing rate, run times."""

import numpy as np

from inldl.report import style
from inldl.report.style import COLUMN, FULL, GREY, Drawing, drawn
from inldl.rows.checks import check_number
from inldl_paper.figures.axes import line_handles, log_axis

BAR = 0.2  # inches per bar
NAME = 0.17  # inches from one name of the diagram of ranks to the next
RULER = 2.2  # lines of text from the axis of ranks up to the ruler
BAR_OF_RANKS = {
    "color": "black", "linewidth": 3, "solid_capstyle": "projecting", "label": "group"
}  # fmt: skip
LONGEST_RANKED = 18  # characters of a name in a narrow figure


@drawn
def run_time(frame, *, label="total time of the fits (s)", width=COLUMN) -> Drawing:
    """Draw the sum of the seconds of each method, the fastest at the top.

    A method that lacks datasets says so behind its name: its sum is not the whole.

    Parameters
    ----------
    frame : DataFrame
        Columns method, dataset, seconds, one row per method and dataset.
    """
    style.need_columns(frame, "method", "dataset", "seconds")
    known = frame.dropna(subset="seconds")
    if known.duplicated(["method", "dataset"]).any():
        raise ValueError("The frame must have one row per method and dataset: summarise repeats.")
    totals = known.groupby("method")["seconds"].sum().sort_values(kind="stable")
    if totals.empty or not (totals > 0).all():
        raise ValueError("Every method needs a positive number of seconds in the column seconds.")
    present = known.groupby("method")["dataset"].nunique()
    wanted = frame["dataset"].nunique()
    counts = present[totals.index]
    names = [
        name if count == wanted else f"{name} ({count} of {wanted} datasets)"
        for name, count in zip(style.shortened(counts.index), counts, strict=True)
    ]
    axes = style.single_panel(width, 0.55 + BAR * len(totals))
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
def critical_difference(mean_ranks, cd, groups, *, width=FULL) -> Drawing:
    """Draw mean ranks on a line, with bars under methods that do not differ.

    The best method is at the left; equal ranks hang from the same point. A narrow figure has all
    names at the right, the long ones shortened.

    Parameters
    ----------
    mean_ranks : Series
        Mean rank of each method, 1 is best.
    cd : float
        The critical difference: ranks further apart than this differ.
    groups : list of lists of str
        Methods that do not differ from each other, one bar each; a group of one has no bar.
    """
    ranks = _checked_ranks(mean_ranks, cd, groups)
    bars = _levels([ranks[list(group)] for group in groups if len(group) > 1], len(ranks) / 12)
    narrow = width <= 5
    ranks.index = style.shortened(ranks.index, LONGEST_RANKED if narrow else style.LONGEST_NAME)
    half = 0 if narrow else (len(ranks) + 1) // 2
    best, worst = ranks.iloc[:half], ranks.iloc[half:].iloc[::-1]
    # Heights are in lines of text, counted down from the axis of ranks.
    first = 1.5 + 0.5 * max((level for *_, level in bars), default=0)
    last = first + max(len(best), len(worst)) - 0.5
    end = max(len(ranks), 1 + cd)
    gap = (end - 1) / 40
    axes = style.single_panel(width, NAME * (last + RULER + 1))
    axes.set(xlim=(1 - gap, end + gap), ylim=(last, -RULER - 1), yticks=[])
    _draw_axis(axes, len(ranks), cd, gap)
    for low, high, level in bars:
        y = 0.6 + 0.5 * level
        axes.plot([low, high], [y, y], **BAR_OF_RANKS)
    _draw_names(axes, best, first, 1, -gap)
    _draw_names(axes, worst, first, end, gap)
    return axes.figure


def _checked_ranks(mean_ranks, cd, groups):
    """Return the ranks from best to worst, after refusing what cannot be drawn."""
    check_number("cd", cd, above=0)
    ranks = mean_ranks.astype(float).sort_values(kind="stable")
    count = len(ranks)
    if count < 2 or ranks.index.has_duplicates:
        raise ValueError("mean_ranks needs at least two methods, each of them once.")
    if not ranks.between(1, count).all():
        raise ValueError(f"mean_ranks of {count} methods must lie between 1 and {count}.")
    unknown = [name for group in groups for name in group if name not in ranks.index]
    if unknown:
        raise ValueError(f"groups has {unknown[0]!r}, which has no rank in mean_ranks.")
    return ranks


def _levels(groups, apart):
    """Return (lowest rank, highest rank, level) of each group; bars on one level stay apart."""
    ends, bars = [], []
    for low, high in sorted((min(group), max(group)) for group in groups):
        free = [level for level, end in enumerate(ends) if end + apart < low]
        level = free[0] if free else len(ends)
        ends[level : level + 1] = [high]
        bars.append((low, high, level))
    return bars


def _draw_axis(axes, count, cd, gap):
    """Draw the ranks 1 to `count`, and above them the critical difference as a length."""
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.spines.top.set(visible=True, position=("data", 0), bounds=(1, count))
    axes.xaxis.tick_top()
    axes.set_xticks(range(1, count + 1))
    axes.text(1 - gap, 0, "mean rank", ha="right", va="center", color=GREY)
    ruler = {"color": "black", "marker": "|", "linewidth": 0.8, "label": "CD"}
    axes.plot([1, 1 + cd], [-RULER, -RULER], **ruler)
    axes.text(1, -RULER - 0.3, f"CD = {cd:.2f}", va="bottom")


def _draw_names(axes, ranks, first, end, gap):
    """Hang the names of one side from the axis, the outermost rank on the highest line."""
    align = "left" if gap > 0 else "right"
    for line, (name, rank) in enumerate(ranks.items()):
        x, y = [rank, rank, end + gap], [0, first + line, first + line]
        axes.plot(x, y, color=GREY, linewidth=0.8, label=name)
        axes.text(end + 1.5 * gap, y[-1], f"{name} ({rank:.2f})", ha=align, va="center")


def draw_error_line(axes, x, mean, std, look, name) -> None:
    """Draw means joined by a line, and thin bars of one standard deviation."""
    axes.errorbar(x, mean, yerr=std, label=str(name), elinewidth=0.7, capsize=0, **look)


@drawn
def metric_against_rate(frame, metric, *, methods=None, width=FULL) -> Drawing:
    """Draw a score against the missing rate, one panel per dataset.

    Bars are one standard deviation to each side. The panels have scales of their own.

    Parameters
    ----------
    frame : DataFrame
        Columns dataset, method, rate (a share between 0 and 1), mean, std.
    metric : str
        What the score is; the direction is added to the name of a known metric.
    """
    style.need_columns(frame, "dataset", "method", "rate", "mean", "std")
    look = style.looks(frame["method"], methods)
    word = style.better(metric)
    label = f"{metric.replace('_', ' ')}\n({word} is better)" if word else metric
    panels = style.small_multiples(style.in_order(frame["dataset"]), label, width)
    rates = np.unique(frame["rate"].astype(float))
    for dataset, axes in panels.items():
        for method, part in frame[frame["dataset"] == dataset].groupby("method", sort=False):
            part = part.sort_values("rate")
            draw_error_line(axes, part["rate"], part["mean"], part["std"], look[method], method)
        axes.set_xticks(rates, [f"{100 * rate:.4g}" for rate in rates])
    figure = axes.figure
    figure.supxlabel("missing degrees (%)")
    present = set(frame["method"])
    return style.legend_above(
        figure, line_handles({n: each for n, each in look.items() if n in present})
    )
