"""Draw which degrees of a table are missing."""

import numpy as np

from inldl._text import counted

from ..style import COLUMN, FULL, GREY, LIGHT, drawn, legend_above
from ._panels import name_columns, single_panel, two_panels

MOST_ROWS = 400
OBSERVED = "#0072b2"


@drawn
def missing_map(observed, labels, *, counts=None, missing=None, width=FULL):
    """Draw which cells of a table are observed, and above it the share missing of each label.

    Rows with few holes stand at the top, rows with the same holes beside each other. Of
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
    observed, counts = _checked(observed, labels, counts)
    if missing is None:
        missing = np.average(~observed, axis=0, weights=counts)
    tall = float(np.clip(0.06 * counts.sum(), 0.9, 2.4))
    above, below = two_panels(width, 1, 0.8, tall)
    above.bar(np.arange(len(labels)), 100 * np.asarray(missing), width=0.7, color=GREY)
    above.set(ylabel="missing\n(%)", ylim=(0, 100), yticks=[0, 50, 100])
    handles = _pattern(below, observed, counts)
    names = name_columns(below, labels, (width - 0.8) / len(labels))
    above.tick_params(axis="x", length=0, labelbottom=False)
    above.figure.set_figheight(0.8 + tall + names + 0.25)
    legend_above(above.figure, handles)
    return above.figure


def _checked(observed, labels, counts):
    observed = np.asarray(observed, dtype=bool)
    if observed.ndim != 2 or not observed.size or observed.shape[1] != len(labels):
        raise ValueError(
            f"observed must have rows and one column for each of the {len(labels)} labels; its "
            f"shape is {observed.shape}."
        )
    return observed, np.ones(len(observed), int) if counts is None else np.asarray(counts)


def _pattern(axes, observed, counts):
    """Draw the cells of the sorted rows, and return what a legend shows."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    order = np.lexsort([*observed.T[::-1], -observed.sum(axis=1)])
    rows, columns = int(counts.sum()), observed.shape[1]
    shown = np.linspace(0, rows - 1, min(rows, MOST_ROWS)).round()
    picked = order[np.searchsorted(np.cumsum(counts[order]), shown, side="right")]
    colours = {"cmap": ListedColormap([LIGHT, OBSERVED]), "vmin": 0, "vmax": 1}
    place = {"aspect": "auto", "interpolation": "none", "extent": (-0.5, columns - 0.5, rows, 0)}
    axes.imshow(observed[picked].astype(float), **colours, **place)
    axes.set(ylabel=f"{counted(rows, 'row')}, sorted", yticks=[])
    axes.spines[:].set_visible(True)
    return [Patch(color=OBSERVED, label="observed"), Patch(color=LIGHT, label="missing")]


@drawn
def holes_per_row(counts, *, width=COLUMN):
    """Draw how many rows have no hole, one hole, two holes, and so on.

    Parameters
    ----------
    counts : array-like of shape (C + 1,)
        Number of rows with 0, 1, ..., C holes.
    """
    counts = np.asarray(counts, dtype=float)
    if counts.ndim != 1 or not counts.sum() > 0:
        raise ValueError("counts must hold the number of rows with 0, 1, 2, ... holes.")
    axes = single_panel(width, 2.0)
    bars = axes.bar(np.arange(len(counts)), counts, width=0.8, color=GREY)
    if len(counts) <= 4 * width:
        axes.bar_label(bars, [f"{count:.0f}" if count else "" for count in counts], padding=1)
    axes.set(xlabel="missing degrees of a row", ylabel="rows", xlim=(-0.7, len(counts) - 0.3))
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(integer=True)
    axes.margins(y=0.12)
    return axes.figure


@drawn
def hidden_mass(difference, lower, upper, *, width=COLUMN):
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
    axes = single_panel(width, 1.05)
    reach = 1.3 * max(abs(lower), abs(upper)) or 1
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)
    sides = [[difference - lower], [upper - difference]]
    axes.errorbar(difference, 0, xerr=sides, color="black", marker="o", capsize=3)
    axes.text(0.01, 0.98, "← small ones missing", transform=axes.transAxes, va="top")
    axes.text(0.99, 0.98, "large ones missing →", transform=axes.transAxes, va="top", ha="right")
    axes.set(xlim=(-reach, reach), ylim=(-1, 1.6), yticks=[])
    axes.set_xlabel("hidden minus expected degree, per row")
    axes.locator_params(axis="x", nbins=5)
    axes.spines["left"].set_visible(False)
    return axes.figure
