"""Draw tables: what is missing, rows before and after, what each feature does."""

import math

import numpy as np
import pandas as pd

from inldl.report import style
from inldl.report.style import COLUMN, FULL, GREY, PALE, TEXT_LINE, Drawing, drawn
from inldl.text import counted

SHADES = "Blues"  # from white to dark: printed in grey it keeps its order
TWO_SIDED = "PuOr_r"
MOST_DRAWN_FEATURES = 15
MOST_DRAWN_ROWS, MOST_NAMED_ROWS = 400, 60
LETTER = 0.08  # inches of a letter
LONGEST_ROW = 14  # characters of the name of a row
OBSERVED = "#0072b2"
SQUARE = 0.11  # inches of a row of a table
SCALE = 0.6  # inches for the scale of colours and its numbers
HOLE = {"facecolor": PALE, "edgecolor": GREY, "hatch": "//////", "linewidth": 0}


@drawn
def completion_map(before, after, labels, *, width=FULL) -> Drawing:
    """Draw a table with holes and the same table filled, in one scale of colours.

    Holes are hatched, and a dot marks each cell that was filled.

    Parameters
    ----------
    before, after : array-like of shape (n, C)
        Degrees, NaN = hole; about 60 rows can be distinguished. If `after` is a frame, its index
        names the rows.
    labels : sequence of str
        Names of the columns. Many labels put the maps one above the other.
    """
    rows = getattr(after, "index", None)
    before, after = _pair(before, after, labels)
    figure = style.new_figure(width, 1)
    space = width - 0.5 - style.widest(figure, _row_names(rows))
    side_by_side = space / 2 / len(labels) > TEXT_LINE + 0.01
    slot = space / (2 if side_by_side else 1) / len(labels)
    panels = figure.subplots(*((1, 2) if side_by_side else (2, 1)))
    scale = _scale(before, after)
    for axes, degrees, title in zip(panels, (before, after), ("before", "after"), strict=True):
        image = _squares(axes, degrees, cmap=SHADES, norm=scale)
        axes.set_title(title)
        names = style.name_columns(axes, labels, slot)
    for axes in panels[:1] if side_by_side else panels:
        _name_rows(axes, rows, before)
    handles = _fillings(panels[1], scale(after), np.isnan(before) & ~np.isnan(after))
    figure.set_figheight((_tall(before, rows) + names + 0.3) * (1 if side_by_side else 2) + SCALE)
    _colour_bar(image, panels, "share")
    return style.legend_above(figure, handles)


@drawn
def predicted_map(predicted, labels, *, width=FULL) -> Drawing:
    """Draw rows of degrees as squares.

    Parameters
    ----------
    predicted : array-like of shape (n, C)
        Degrees; about 60 rows can be distinguished. The index of a frame names them.
    labels : sequence of str
        Names of the columns.
    """
    rows = getattr(predicted, "index", None)
    degrees, _ = _pair(predicted, predicted, labels)
    axes = style.single_panel(width, 1)
    space = width - 0.5 - style.widest(axes.figure, _row_names(rows))
    image = _squares(axes, degrees, cmap=SHADES, norm=_scale(degrees, degrees))
    names = style.name_columns(axes, labels, space / len(labels))
    _name_rows(axes, rows, degrees)
    axes.figure.set_figheight(_tall(degrees, rows) + names + SCALE)
    _colour_bar(image, axes, "share")
    return axes.figure


def _row_names(rows):
    return [] if rows is None else style.shortened(rows, LONGEST_ROW)


def _name_rows(axes, rows, values):
    """Name as many rows as have room, by an index, or say how many there are."""
    if rows is None:
        axes.set_ylabel(counted(len(values), "row"))
        return
    tall = _tall(values, rows)
    step = math.ceil(TEXT_LINE * len(values) / tall)
    style.name_rows(axes, rows, LONGEST_ROW, step)
    (title,) = style.shortened([rows.name or "row"], min(LONGEST_ROW, int(tall / LETTER)))
    axes.set_ylabel(title if step == 1 else f"{title} (one in {step} is named)")


def _tall(values, rows):
    """Return the height of a map in inches; rows with names are as high as a line, if few."""
    return float(np.clip((SQUARE if rows is None else TEXT_LINE) * len(values), 0.6, 3.6))


def _scale(before, after):
    """Return the scale of both maps; the root lets small degrees be seen beside large ones."""
    from matplotlib.colors import PowerNorm

    return PowerNorm(0.5, vmin=0, vmax=np.nan_to_num([before, after]).max() or 1)


def _pair(before, after, labels):
    before, after = (np.asarray(each, dtype=float) for each in (before, after))
    if before.shape != after.shape or before.ndim != 2 or before.shape[1] != len(labels):
        raise ValueError(
            f"before and after must both have one column for each of the {len(labels)} labels; "
            f"their shapes are {before.shape} and {after.shape}."
        )
    if not before.size:
        raise ValueError("The table has no cells, so there is nothing to draw.")
    return before, after


def _squares(axes, values, **colours):
    """Draw one square per value over a hatched ground, which shows where there is none."""
    from matplotlib.patches import Rectangle

    rows, columns = values.shape
    if np.isnan(values).any():
        axes.add_patch(Rectangle((-0.5, -0.5), columns, rows, zorder=-1, **HOLE))
    image = axes.imshow(values, aspect="auto", interpolation="none", **colours)
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), yticks=[])
    axes.spines[:].set_visible(True)
    return image


def _fillings(axes, shade, filled):
    """Put a dot on each filled cell, and return what a legend shows."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    look = {"marker": "o", "markersize": 1.8, "markeredgewidth": 0}
    _marks(axes, filled, shade > 0.6, **look)
    dot = Line2D([], [], color="black", linestyle="", label="filled in", **look)
    return [Patch(label="missing", **HOLE), dot]


def _marks(axes, marked, dark, **look):
    """Mark cells, in black on a pale square and in white on a dark one."""
    for cells, colour in ((marked & dark, "white"), (marked & ~dark, "black")):
        row, column = np.nonzero(cells)
        axes.plot(column, row, color=colour, linestyle="", **look)


def _colour_bar(image, panels, label):
    """Put the scale of colours below the panels; lengths are shares of the figure."""
    figure = image.get_figure()
    width, height = figure.get_size_inches()
    space = {"shrink": 0.7, "pad": 0.16 / height, "fraction": 0.16 / height, "aspect": 6 * width}
    bar = figure.colorbar(image, ax=panels, label=label, location="bottom", **space)
    bar.ax.locator_params(nbins=4 if width > 5 else 3)


@drawn
def influence(frame, *, label="influence", width=FULL) -> Drawing:
    """Draw what the most influential features do to each label.

    With numbers below zero there are two colours, and a dash marks what is below zero.

    Parameters
    ----------
    frame : DataFrame of shape (features, labels)
        Numbers; the features with the largest sums of absolute values are drawn, at most 15.
    """
    style.need_columns(frame)
    top = most_influential(frame)
    values = top.to_numpy(dtype=float)
    axes = style.single_panel(width, 1)
    signed = bool((values < 0).any())
    limit = np.nan_to_num(np.abs(values)).max() or 1
    colours = {"cmap": TWO_SIDED if signed else SHADES, "vmin": -limit if signed else 0}
    image = _squares(axes, values, vmax=limit, **colours)
    names = style.name_rows(axes, top.index, 28 if len(top.columns) < 20 else 20)
    slot = (width - 0.2 - names) / len(top.columns)
    below = style.name_columns(axes, top.columns, slot)
    # Printed in grey, the two colours look the same.
    look = {"marker": "_", "markersize": min(4, 35 * slot), "markeredgewidth": 0.8}
    _marks(axes, values < 0, np.abs(values) > 0.6 * limit, **look)
    axes.figure.set_figheight(max(0.5, 0.17 * len(top)) + below + SCALE)
    _colour_bar(image, axes, f"{label} (dash: below zero)" if signed else label)
    return axes.figure


def most_influential(frame) -> pd.DataFrame:
    """Return the rows with the largest sums of absolute values, the largest first."""
    sums = pd.Series(np.nansum(np.abs(frame.to_numpy(dtype=float)), axis=1))
    return frame.iloc[sums.sort_values(ascending=False, kind="stable").index[:MOST_DRAWN_FEATURES]]


@drawn
def missing_map(observed, labels, *, counts=None, missing=None, width=FULL) -> Drawing:
    """Draw which cells of a table are observed, and above it the share missing of each label.

    Rows with few holes stand at the top, rows with the same holes next to each other. Of
    many rows, 400 at even steps are drawn; the shares are those of all rows.

    Parameters
    ----------
    observed : array-like of bool of shape (n, C)
        True where a degree was observed.
    labels : sequence of str
        Names of the columns.
    counts : array-like of int of shape (n,), optional
        How many rows of the table look like each of these; one by default.
    missing : array-like of shape (C,), optional
        The shares, where `observed` is not the whole table.
    """
    observed = np.asarray(observed, dtype=bool)
    if observed.ndim != 2 or not observed.size or observed.shape[1] != len(labels):
        raise ValueError(
            f"observed must have rows and one column for each of the {len(labels)} labels; its "
            f"shape is {observed.shape}."
        )
    counts = np.ones(len(observed), int) if counts is None else np.asarray(counts)
    if missing is None:
        missing = np.average(~observed, axis=0, weights=counts)
    tall = float(np.clip(0.06 * counts.sum(), 0.9, 2.4))
    above, below = style.two_panels(width, 1, 0.8, tall)
    above.bar(np.arange(len(labels)), 100 * np.asarray(missing), width=0.7, color=GREY)
    above.set(ylabel="missing\n(%)", ylim=(0, 100), yticks=[0, 50, 100])
    handles = _pattern(below, observed, counts)
    names = style.name_columns(below, labels, (width - 0.8) / len(labels))
    above.tick_params(axis="x", length=0, labelbottom=False)
    above.figure.set_figheight(0.8 + tall + names + 0.25)
    return style.legend_above(above.figure, handles)


def _pattern(axes, observed, counts):
    """Draw the cells of the sorted rows, and return what a legend shows."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    order = np.lexsort([*observed.T[::-1], -observed.sum(axis=1)])
    rows = int(counts.sum())
    shown = np.linspace(0, rows - 1, min(rows, MOST_DRAWN_ROWS)).round()
    picked = order[np.searchsorted(np.cumsum(counts[order]), shown, side="right")]
    colours = {"cmap": ListedColormap([PALE, OBSERVED]), "vmin": 0, "vmax": 1}
    _squares(axes, observed[picked].astype(float), **colours)
    axes.set_ylabel(f"{counted(rows, 'row')}, sorted")
    return [Patch(color=OBSERVED, label="known"), Patch(color=PALE, label="missing")]


@drawn
def map_of_kinds(kinds, titles, *, width=FULL) -> Drawing:
    """Draw of which kind each cell of a table is.

    Of many rows, 60 are drawn: those with the most cells of the first kinds.

    Parameters
    ----------
    kinds : DataFrame
        A word in each cell; the index names the rows.
    titles : dict of str to tuple of str
        For each word, what the legend says, and a colour. The most important come first.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    codes = np.select([kinds == word for word in titles], range(len(titles)))
    some = np.sort(np.argsort(codes.mean(axis=1), kind="stable")[:MOST_NAMED_ROWS])
    codes, rows = codes[some], kinds.index[some]
    axes = style.single_panel(width, 1)
    space = width - 0.5 - style.widest(axes.figure, _row_names(rows))
    colours = ListedColormap([colour for _, colour in titles.values()])
    _squares(axes, codes.astype(float), cmap=colours, vmin=-0.5, vmax=len(titles) - 0.5)
    names = style.name_columns(axes, kinds.columns, space / len(kinds.columns))
    _name_rows(axes, rows, codes)
    axes.figure.set_figheight(_tall(codes, rows) + names + 0.1)
    used = [title for code, title in enumerate(titles.values()) if (codes == code).any()]
    handles = [Patch(facecolor=colour, edgecolor=GREY, label=text) for text, colour in used]
    return style.legend_above(axes.figure, handles)


@drawn
def map_of_places(shares, *, width=FULL) -> Drawing:
    """Draw how much is missing by unit and time, in a panel for each title.

    Hatched are units that have no row at a time. Of many units, 400 at even steps are drawn.

    Parameters
    ----------
    shares : dict of str to DataFrame
        By title, the share of cells that are missing: units down, times across. The frames have
        names on both axes, and there is at least one.
    """
    if not shares or any(not frame.size for frame in shares.values()):
        raise ValueError("shares must have a frame with rows and columns for each title.")
    frames = [_at_even_steps(frame) for frame in shares.values()]
    columns = min(len(shares), 1 if width < FULL else 2)
    panels = style.titled_panels(style.shortened(shares), width, 1, columns)
    for at, (axes, frame) in enumerate(zip(panels.values(), frames, strict=True)):
        values = frame.to_numpy(dtype=float)
        image = _squares(axes, values, cmap=SHADES, vmin=0, vmax=1)
        space = width / columns - 0.4 - style.widest(axes.figure, _row_names(frame.index))
        names = style.name_columns(axes, frame.columns, max(space, 0.5) / frame.shape[1])
        axes.set_xlabel(style.shortened([frame.columns.name])[0])
        if at % columns == 0:
            _name_rows(axes, frame.index, values)
    tall = _tall(values, frame.index) + names + 0.5
    image.figure.set_figheight(-(-len(shares) // columns) * tall + SCALE)
    _colour_bar(image, list(panels.values()), "share missing")
    return image.figure


def _at_even_steps(frame):
    n = len(frame)
    return frame.iloc[np.linspace(0, n - 1, min(n, MOST_DRAWN_ROWS)).round().astype(int)]


@drawn
def holes_per_row(counts, *, width=COLUMN) -> Drawing:
    """Draw how many rows have no hole, one hole, two holes, and so on.

    Parameters
    ----------
    counts : array-like of shape (C + 1,)
        Number of rows with 0, 1, ..., C holes.
    """
    counts = np.asarray(counts, dtype=float)
    if counts.ndim != 1 or not counts.sum() > 0:
        raise ValueError("counts must hold the number of rows with 0, 1, 2, ... holes.")
    axes = style.single_panel(width, 2.0)
    bars = axes.bar(np.arange(len(counts)), counts, width=0.8, color=GREY)
    if len(counts) <= 4 * width:
        axes.bar_label(bars, [f"{count:.0f}" if count else "" for count in counts], padding=1)
    axes.set(xlabel="missing shares of a row", ylabel="rows", xlim=(-0.7, len(counts) - 0.3))
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(integer=True)
    axes.margins(y=0.12)
    return axes.figure


@drawn
def hidden_mass(difference, lower, upper, *, width=COLUMN) -> Drawing:
    """Draw by how much rows hide more or less than they would if holes were random.

    Parameters
    ----------
    difference : float
        Mean mass that rows with holes hide, minus what is expected of random holes.
    lower, upper : float
        Ends of an interval around it.
    """
    if not lower <= difference <= upper:
        raise ValueError(f"The difference {difference} must lie between {lower} and {upper}.")
    axes = style.single_panel(width, 1.05)
    reach = 1.3 * max(abs(lower), abs(upper)) or 1
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)
    sides = [[difference - lower], [upper - difference]]
    axes.errorbar(difference, 0, xerr=sides, color="black", marker="o", capsize=3)
    axes.text(0.01, 0.98, "← small ones missing", transform=axes.transAxes, va="top")
    axes.text(0.99, 0.98, "large ones missing →", transform=axes.transAxes, va="top", ha="right")
    axes.set(xlim=(-reach, reach), ylim=(-1, 1.6), yticks=[])
    axes.set_xlabel("missing minus expected share, per row")
    axes.locator_params(axis="x", nbins=5)
    axes.spines["left"].set_visible(False)
    return axes.figure
