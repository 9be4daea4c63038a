"""Give all figures one look: readable at print size, in grey, and by the colour-blind.

Here are the style, the legends and axes, and panels with names of any length.
"""

import functools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from inspect import getdoc, signature
from itertools import cycle, pairwise
from typing import Any

from inldl.metrics import METRICS

Drawing = Any  # a matplotlib.figure.Figure: matplotlib is optional
Axes = Any

COLUMN = 3.5
"""Width in inches of one column of a journal."""

FULL = 7.0
"""Width in inches of a whole page of a journal."""

GREY = "#595959"
PALE = "#d0d0d0"
PANEL = 1.55  # height of a small panel in inches
LONGEST_NAME = 28  # characters
LONGEST_TITLE = 17  # characters over one of several narrow panels
TEXT_LINE = 0.132  # inches from one line of text to the next

# Okabe and Ito's palette without yellow, which is too pale for a line on white.
COLOURS = ["#000000", "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "<", ">"]
DASHES = ["-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5))]


def looks(column, given=None) -> dict[Any, dict[str, Any]]:
    """Return the keywords of a line with markers, for every name in a column.

    Its place there, or among the given names, decides on its colour, marker and dashes.
    """
    names = in_order(column, given)
    parts = zip(names, cycle(COLOURS), cycle(MARKERS), cycle(DASHES), strict=False)
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.3}
    return {name: {"color": c, "marker": m, "linestyle": d, **edge} for name, c, m, d in parts}


@contextmanager
def house_style() -> Iterator[None]:
    """Use the settings in assets inside the block, whatever the user's own settings are."""
    try:
        from matplotlib import style
    except ImportError as error:
        raise ImportError("Figures need matplotlib: pip install 'inldl[report]'") from error
    with style.context(["default", str(files("inldl.report") / "assets/house.mplstyle")]):
        yield


_SHARED_DOC = {
    "label": "str\n    What the numbers are; it stands beside their axis.",
    "methods": "list of str, optional\n"
    "    All names of the study: the look of a line depends on its place among them.",
    "width": "float\n    Width of the figure in inches.",
}


def drawn(function) -> Callable[..., Drawing]:
    """Draw the figure of `function` in the house style and fix its layout.

    The layout is computed once: drawing again, or at another resolution, moves nothing. The
    docstring gets what figures share: the parameters in `_SHARED_DOC`, and the figure.
    """

    @functools.wraps(function)
    def draw(*args, **kwargs):
        with house_style():
            figure = function(*args, **kwargs)
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
            for axes in figure.axes:
                _drop_crowded_labels(axes.xaxis)
        return figure

    vars(draw)["is_figure"] = True
    names = [name for name in signature(function).parameters if name in _SHARED_DOC]
    parts = [getdoc(function) or "", *(f"{name} : {_SHARED_DOC[name]}" for name in names)]
    draw.__doc__ = "\n".join([*parts, "\nReturns\n-------\nmatplotlib.figure.Figure"])
    return draw


def _drop_crowded_labels(axis):
    """Label only one in two (three, ...) of hand-set ticks if all labels have no room."""
    from matplotlib.ticker import FixedLocator

    if not isinstance(axis.get_major_locator(), FixedLocator):
        return
    labels = axis.get_ticklabels()
    boxes = [label.get_window_extent() for label in labels]
    step = 1
    while any(after.x0 < box.x1 + 4 for box, after in pairwise(boxes[::step])):
        step += 1
    texts = [label.get_text() for label in labels]
    axis.set_ticklabels(["" if at % step else text for at, text in enumerate(texts)])


def new_figure(width, height) -> Drawing:
    """Return an empty figure of that size in inches that can measure its own texts."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure: Drawing = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.05, h_pad=0.05, wspace=0.02, hspace=0.02)
    return figure


def legend_above(figure, handles, title=None) -> Drawing:
    """Put a legend above all panels, make the figure higher for it, and return the figure."""
    place = {"loc": "outside upper center", "borderaxespad": 0.4, "title": title}
    height = fitted_legend(figure, handles, figure.get_figwidth() - 0.1, **place)
    figure.set_figheight(figure.get_figheight() + height)
    return figure


def fitted_legend(owner, handles, width, **place) -> float:
    """Give the owner a legend of as few lines as `width` inches allow; return its height."""
    count = len(handles)
    for lines in range(1, count + 1):
        legend = owner.legend(handles=handles, ncols=-(-count // lines), **place)
        size = legend.get_window_extent()
        if size.width <= width * owner.figure.dpi or lines == count:
            break
        legend.remove()
    return size.height / owner.figure.dpi


def better(metric, words=("lower", "higher")) -> str:
    """Return the word for the better scores of a metric, or nothing if it is not known."""
    return words[METRICS[metric].higher_is_better] if metric in METRICS else ""


def need_columns(frame, *columns) -> None:
    """Refuse a frame that is empty or lacks one of the columns."""
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(
            f"The frame lacks the column(s) {', '.join(map(repr, missing))}; it has "
            f"{', '.join(map(repr, frame.columns))}."
        )
    if frame.empty:
        raise ValueError("The frame has no rows, so there is nothing to draw.")


def in_order(column, given=None) -> list[Any]:
    """Return the names in `column` in order of appearance, or all of the `given` ones instead."""
    names = list(dict.fromkeys(column))
    if given is None:
        return names
    unknown = [name for name in names if name not in given]
    if unknown:
        raise ValueError(f"The frame has {unknown[0]!r}, which is not among {list(given)}.")
    return list(given)


def small_multiples(names, label, width) -> dict[Any, Axes]:
    """Return a dict of axes with one panel per name, as many side by side as the width holds."""
    columns = 2 if len(names) == 4 else min(len(names), max(1, round(width / 2.2)))
    height = 0.3 + PANEL * -(-len(names) // columns)
    panels = titled_panels(names, width, height, columns)
    for at, axes in enumerate(panels.values()):
        axes.locator_params(axis="y", nbins=6)
        axes.set_ylabel(label if at % columns == 0 else "")
    return panels


def titled_panels(names, width, height, columns, **options) -> dict[Any, Axes]:
    """Return a dict of axes with one panel per name, in as many columns as that."""
    figure = new_figure(width, height)
    rows = -(-len(names) // columns)
    grid = figure.subplots(rows, columns, squeeze=False, **options).ravel()
    for axes in grid[len(names) :]:
        axes.remove()
    titles = shortened(names, LONGEST_TITLE if width <= 5 and columns > 1 else 2 * LONGEST_NAME)
    for title, axes in zip(titles, grid, strict=False):
        axes.set_title(title)
    return dict(zip(names, grid, strict=False))


def single_panel(width, height=2.3) -> Axes:
    """Return the axes of a figure with one panel."""
    return new_figure(width, height).subplots()


def two_panels(width, height, *shares) -> tuple[Axes, Axes]:
    """Return the axes of two panels, one over the other, with heights in these proportions."""
    figure = new_figure(width, height)
    panels = figure.subplots(2, 1, sharex=True, height_ratios=shares)
    figure.align_ylabels(panels)
    return panels


def shortened(names, most=LONGEST_NAME) -> list[str]:
    """Return names on one line each, the middle of long ones left out: ends tell names apart.

    Where that makes two names the same, all of them get their number.
    """
    different = len({str(name) for name in names})
    names = [_one_line(name) for name in names]
    short = [_cut(name, most) for name in names]
    if len(set(short)) == different:
        return short
    return [f"{at} {_cut(name, most - len(f'{at} '))}" for at, name in enumerate(names, 1)]


def _one_line(name):
    printable = "".join(sign if sign.isprintable() else " " for sign in str(name))
    return " ".join(printable.split())


def _cut(text, most):
    end = (most - 1) // 3
    return text if len(text) <= most else f"{text[: most - 1 - end]}…{text[-end:]}"


def widest(figure, texts) -> float:
    """Return the inches that the longest of the texts takes."""
    drawn = [figure.text(0, 0, text) for text in texts]
    width = max((text.get_window_extent().width for text in drawn), default=0)
    for text in drawn:
        text.remove()
    return width / figure.dpi


def name_columns(axes, names, slot) -> float:
    """Write the names under columns that are `slot` inches wide, and return the height it takes.

    Names that do not fit side by side stand upright; of those that still do not fit, every
    second (third, ...) is written.
    """
    names = shortened(names, 20)
    width = widest(axes.figure, names)
    upright = width + 0.08 > slot
    step = max(1, math.ceil(TEXT_LINE / slot)) if upright else 1
    _tick(axes.xaxis, names, step)
    axes.tick_params(axis="x", length=0, rotation=90 if upright else 0)
    if step > 1:
        axes.set_xlabel(f"one label in {step} is named")
    return (width if upright else TEXT_LINE) + TEXT_LINE * (step > 1) + 0.1


def name_rows(axes, names, most=LONGEST_NAME, step=1) -> float:
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
