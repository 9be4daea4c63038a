"""Arrange panels and names of any length."""

import math

from inldl.report.style import new_figure

PANEL = 1.55  # height of a small panel in inches
LONGEST = 28  # characters of a name
LONGEST_NARROW = 17  # characters of a title over one of several narrow panels
LINE = 0.132  # inches from one line of text to the next


def small_multiples(names, label, width):
    """Return a dict of axes with one panel per name, as many side by side as the width holds."""
    columns = 2 if len(names) == 4 else min(len(names), max(1, round(width / 2.2)))
    height = 0.3 + PANEL * -(-len(names) // columns)
    panels = titled_panels(names, width, height, columns)
    for at, axes in enumerate(panels.values()):
        axes.locator_params(axis="y", nbins=6)
        axes.set_ylabel(label if at % columns == 0 else "")
    return panels


def titled_panels(names, width, height, columns, **options):
    """Return a dict of axes with one panel per name, in as many columns as that."""
    figure = new_figure(width, height)
    rows = -(-len(names) // columns)
    grid = figure.subplots(rows, columns, squeeze=False, **options).ravel()
    for axes in grid[len(names) :]:
        axes.remove()
    titles = shortened(names, LONGEST_NARROW) if width <= 5 and columns > 1 else names
    for title, axes in zip(titles, grid, strict=False):
        axes.set_title(title)
    return dict(zip(names, grid, strict=False))


def single_panel(width, height=2.3):
    """Return the axes of a figure with one panel."""
    return new_figure(width, height).subplots()


def two_panels(width, height, *shares):
    """Return the axes of two panels, one over the other, with heights in these proportions."""
    figure = new_figure(width, height)
    panels = figure.subplots(2, 1, sharex=True, height_ratios=shares)
    figure.align_ylabels(panels)
    return panels


def line_handles(look):
    """Return what a legend shows: one line per look."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], label=str(name), **style.line()) for name, style in look.items()]


def shortened(names, most=LONGEST):
    """Return names on one line each, the middle of long ones left out: ends tell names apart.

    Where that makes two names the same, all of them get their number.
    """
    different = len({str(name) for name in names})
    names = [_one_line(name) for name in names]
    short = [_cut(name, most) for name in names]
    if len(set(short)) == different:
        return short
    numbers = [f"{at} " for at in range(1, len(names) + 1)]
    return [
        number + _cut(name, most - len(number))
        for number, name in zip(numbers, names, strict=True)
    ]


def _one_line(name):
    printable = "".join(sign if sign.isprintable() else " " for sign in str(name))
    return " ".join(printable.split())


def _cut(text, most):
    end = (most - 1) // 3
    return text if len(text) <= most else f"{text[: most - 1 - end]}…{text[-end:]}"


def widest(figure, texts):
    """Return the inches that the longest of the texts takes."""
    drawn = [figure.text(0, 0, text) for text in texts]
    width = max((text.get_window_extent().width for text in drawn), default=0)
    for text in drawn:
        text.remove()
    return width / figure.dpi


def name_columns(axes, names, slot):
    """Write the names under columns that are `slot` inches wide, and return the height it takes.

    Names that do not fit side by side stand upright; of those that still do not fit, every
    second (third, ...) is written.
    """
    names = shortened(names, 20)
    width = widest(axes.figure, names)
    upright = width + 0.08 > slot
    step = max(1, math.ceil(LINE / slot)) if upright else 1
    _tick(axes.xaxis, names, step)
    axes.tick_params(axis="x", length=0, rotation=90 if upright else 0)
    if step > 1:
        axes.set_xlabel(f"one label in {step} is named")
    return (width if upright else LINE) + LINE * (step > 1) + 0.1


def name_rows(axes, names, most=LONGEST, step=1):
    """Write one in `step` names beside its row, and return the width in inches that it takes."""
    names = shortened(names, most)
    _tick(axes.yaxis, names, step)
    axes.tick_params(axis="y", length=0)
    return widest(axes.figure, names)


def _tick(axis, names, step):
    # Not a list of ticks: the house style would thin that out once more.
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    axis.set_major_locator(MultipleLocator(step))
    axis.set_major_formatter(
        FuncFormatter(lambda at, _: names[round(at)] if 0 <= round(at) < len(names) else "")
    )
