"""Draw which methods differ: Demšar's diagram of critical differences."""

from inldl.report.figures._panels import shortened, widest
from inldl.report.style import FULL, GREY, drawn, new_figure
from inldl.rows.checks import check_number

AXIS_NAME = "mean rank"

# All lengths are in inches.
EDGE = 0.05  # white at each side
RULER = 0.26  # from the top to the ruler of the critical difference
AXIS = 0.60  # from the top to the axis of ranks
BARS = 0.12  # from the axis to the first bar
BAR = 0.08  # from one bar to the next
LINE = 0.17  # from one name to the next

LONGEST = 18  # characters of a name in a narrow figure


@drawn
def critical_difference(mean_ranks, cd, groups, *, width=FULL):
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
    first_name = AXIS + BARS + BAR * (1 + max((level for *_, level in bars), default=-1)) + 0.06
    half = (len(ranks) + 1) // 2 if width > 5 else 0  # a narrow figure has names at one side
    height = first_name + LINE * max(half, len(ranks) - half) - LINE / 2 + EDGE
    figure = new_figure(width, height)
    figure.set_layout_engine("none")
    # The axes span the figure and count inches from its upper left corner.
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    if width <= 5:
        ranks.index = shortened(ranks.index, LONGEST)
    best, worst = ranks.iloc[:half], ranks.iloc[half:].iloc[::-1]
    left = 2 * EDGE + widest(figure, [AXIS_NAME, *map(_caption, best.index, best)])
    right = width - (2 * EDGE + widest(figure, map(_caption, worst.index, worst)))
    place = _scale(len(ranks), cd, left + 0.15, right - 0.15)
    _draw_axis(axes, place, len(ranks))
    _draw_ruler(axes, place, cd)
    _draw_bars(axes, place, bars)
    _draw_names(axes, place, best, first_name, left, "right")
    _draw_names(axes, place, worst, first_name, right, "left")
    return figure


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


def _caption(name, rank):
    return f"{name} ({rank:.2f})"


def _scale(count, cd, left, right):
    """Return a function from rank to inches; a ruler longer than the axis has room too."""
    if right - left < 0.5:
        raise ValueError("The names leave no room for the ranks: shorten them, or widen width.")
    inches_per_rank = (right - left) / max(count - 1, cd)
    return lambda rank: left + (rank - 1) * inches_per_rank


def _draw_axis(axes, place, count):
    """Draw the ranks 1 to `count`; where they stand close, number some of them only."""
    axes.plot([place(1), place(count)], [AXIS, AXIS], color="black", linewidth=0.8)
    numbered = _numbered(count, place(2) - place(1))
    for rank in range(1, count + 1):
        tick = 0.06 if rank in numbered else 0.03
        axes.plot([place(rank)] * 2, [AXIS - tick, AXIS], color="black", linewidth=0.8)
        if rank in numbered:
            axes.text(place(rank), AXIS - 0.08, f"{rank}", ha="center", va="bottom")
    axes.text(place(1) - 0.12, AXIS, AXIS_NAME, ha="right", va="center", color=GREY)


def _numbered(count, spacing):
    """Return the ranks to number, with at least a quarter of an inch between two of them."""
    if spacing > 0.25:
        return range(1, count + 1)
    if 2 * spacing > 0.25 and count < 10:
        return range(1, count + 1, 2)
    step = next((step for step in (5, 10, 20) if (step - 1) * spacing > 0.25), count)
    return [1, *range(step, count + 1, step)]


def _draw_ruler(axes, place, cd):
    """Draw the critical difference as a length, above the axis."""
    start, end = place(1), place(1 + cd)
    axes.plot([start, end], [RULER, RULER], color="black", linewidth=0.8, label="CD")
    for x in (start, end):
        axes.plot([x, x], [RULER - 0.04, RULER + 0.04], color="black", linewidth=0.8)
    axes.text(start, RULER - 0.05, f"CD = {cd:.2f}", ha="left", va="bottom")


def _draw_bars(axes, place, bars):
    """Draw one thick bar per group, a little longer than the ranks it spans."""
    for low, high, level in bars:
        ends = [place(low) - 0.03, place(high) + 0.03]
        y = AXIS + BARS + BAR * level
        axes.plot(ends, [y, y], color="black", linewidth=3, solid_capstyle="butt", label="group")


def _draw_names(axes, place, ranks, first, end, align):
    """Hang the names of one side from the axis, the outermost rank on the highest line."""
    gap = EDGE / 2 if align == "right" else -EDGE / 2
    for line, (name, rank) in enumerate(ranks.items()):
        x, y = place(rank), first + LINE * line
        axes.plot([x, x, end + gap], [AXIS, y, y], color=GREY, linewidth=0.8, label=name)
        axes.text(end - gap, y, _caption(name, rank), ha=align, va="center")
