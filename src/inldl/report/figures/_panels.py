"""Arrange panels, and draw the lines that several figures share."""

from ..style import GREY, new_figure

PANEL = 1.55  # height of a small panel in inches


def small_multiples(names, label, width):
    """Return a dict of axes with one panel per name, as many side by side as the width holds."""
    columns = 2 if len(names) == 4 else min(len(names), max(1, round(width / 2.2)))
    rows = -(-len(names) // columns)
    figure = new_figure(width, 0.3 + PANEL * rows)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[len(names) :]:
        axes.remove()
    for axes in grid[: len(names) : columns]:
        axes.set_ylabel(label)
    for name, axes in zip(names, grid, strict=False):
        axes.set_title(name)
        axes.locator_params(axis="y", nbins=6)
    return dict(zip(names, grid, strict=False))


def single_panel(width, height=2.3):
    """Return the axes of a figure with one panel."""
    return new_figure(width, height).subplots()


def line_handles(look, names=None):
    """Return what a legend shows: one line per look, of those in `names`."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], label=str(name), **style.line())
        for name, style in look.items()
        if names is None or name in names
    ]


def error_line(axes, x, mean, std, style, name):
    """Draw means joined by a line, and thin bars of one standard deviation."""
    axes.errorbar(x, mean, yerr=std, label=str(name), elinewidth=0.7, capsize=0, **style.line())


def reference_line(axes, y):
    """Draw a thin level line behind the data."""
    axes.axhline(y, color=GREY, linewidth=0.6, zorder=0)
