"""What a completed table looks like, as a document of pictures with the table behind each."""

from functools import partial

import numpy as np
import pandas as pd

from inldl.report.document import (
    Document,
    Header,
    Paragraph,
    Section,
    ShownTable,
    picture_and_table,
)
from inldl.report.figures import missing_map, moved_means
from inldl.report.style import COLUMN, FULL, GREY, Drawing, drawn, single_panel
from inldl.tables.audit import HeldOut, form_of, in_unit
from inldl_studio.grid import Grid

MOST_DOTS = 1_500  # of a scatter
GROUPS_BY_SIZE = 6  # groups of shares by size, in which as many shares are
FEWEST_DRAWN = 12  # shares that a picture of errors is drawn of


@drawn
def truth_and_estimate(frame: pd.DataFrame, *, width: float = COLUMN) -> Drawing:
    """Draw estimates against the true shares that were hidden from the model.

    Parameters
    ----------
    frame : DataFrame
        Columns observed, predicted.
    """
    axes = single_panel(width, 3.4)
    end = 1.05 * float(frame.to_numpy().max(initial=0)) or 1
    axes.plot([0, end], [0, end], color=GREY, linewidth=0.8)
    some = frame.iloc[np.linspace(0, len(frame) - 1, min(MOST_DOTS, len(frame))).astype(int)]
    axes.plot(some["observed"], some["predicted"], ".", color="black", markersize=3, alpha=0.5)
    axes.set(xlabel="true share", ylabel="estimate", xlim=(0, end), ylim=(0, end))
    return axes.figure


@drawn
def error_by_size(frame: pd.DataFrame, *, width: float = COLUMN) -> Drawing:
    """Draw the error of shares against how large they are.

    Parameters
    ----------
    frame : DataFrame
        Columns largest, rmse: the largest share of each group, and its error.
    """
    axes = single_panel(width, 2.4)
    axes.plot(frame["largest"], frame["rmse"], "o-", color="black", markersize=4)
    axes.set(xlabel="shares up to", ylabel="root mean square error")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    return axes.figure


def pictures_of(grid: Grid, held_out: HeldOut | None) -> Document:
    """Return what is missing, what was filled in, and how good that is."""
    sections = [_means(grid), _missing(grid)]
    if held_out is not None and held_out.overall()["n"] >= FEWEST_DRAWN:
        sections += [_scatter(held_out), _by_size(held_out)]
    return Document("The result in pictures", sections=sections)


def _means(grid):
    """Return the means of labels, of what is known and of all shares."""
    with np.errstate(invalid="ignore"):
        known = np.nanmean(np.where(np.isnan(grid.before).all(axis=0), 0, grid.before), axis=0)
    means = {"known shares": known, "all, with those filled in": np.nanmean(grid.shown, axis=0)}
    frame = pd.DataFrame(means, index=grid.labels)
    form = form_of(grid.facts["whole"] != 1)
    missing = np.isnan(grid.before).mean(axis=0)
    rows = [
        [name, *line, part]
        for (name, *line), part in zip(frame.itertuples(), missing.tolist(), strict=True)
    ]
    columns = [Header("label"), *(Header(name, form) for name in frame), Header("missing", ".1%")]
    table = ShownTable(columns, rows, caption="The means in numbers.", name="means")
    caption = "The mean of each label: of the shares that are known, and of all of them."
    draw = partial(moved_means, frame, label="mean share", width=FULL)
    return Section("Before and after", picture_and_table(draw, caption, table))


def _missing(grid):
    """Return where shares were missing."""
    known = ~np.isnan(np.asarray(grid.before))
    missing = pd.Series(1 - known.mean(axis=0), index=grid.labels)
    columns = [Header("label"), Header("missing", ".1%"), Header("cells", "d")]
    rows = [[name, part, round(part * len(known))] for name, part in missing.items()]
    table = ShownTable(columns, rows, caption="How much of each label is missing.", name="missing")
    caption = "Which shares are known; rows in which the same ones are missing stand together."
    draw = partial(missing_map, known, grid.labels, missing=missing.to_numpy())
    return Section("What was missing", picture_and_table(draw, caption, table))


def _scatter(held_out):
    """Return true shares that were hidden, and what the model takes them for."""
    frame = pd.DataFrame({"observed": held_out.observed, "predicted": held_out.predicted})
    groups = held_out.reliability(GROUPS_BY_SIZE)
    form = form_of(held_out.unit, groups["observed"])
    columns = [Header("estimate", form), Header("true share", form), Header("shares", "d")]
    lines = groups[["predicted", "observed", "n"]].itertuples(index=False)
    caption = "Means of shares with similar estimates."
    table = ShownTable(columns, [list(line) for line in lines], caption=caption, name="scatter")
    caption = (
        "True shares that were hidden on purpose, and their estimates; on the line they agree."
    )
    blocks = picture_and_table(partial(truth_and_estimate, frame), caption, table)
    return Section("True shares and estimates", blocks)


def _by_size(held_out):
    """Return how errors depend on how large shares are."""
    order = np.argsort(held_out.observed, kind="stable")
    parts = [part for part in np.array_split(order, GROUPS_BY_SIZE) if len(part)]
    errors = (held_out.predicted - held_out.observed) ** 2
    found = {
        "smallest": [held_out.observed[part].min() for part in parts],
        "largest": [held_out.observed[part].max() for part in parts],
        "rmse": [np.sqrt(errors[part].mean()) for part in parts],
        "n": [len(part) for part in parts],
    }
    frame = pd.DataFrame(found)
    form = form_of(held_out.unit, frame["rmse"])
    columns = [
        Header("from", form),
        Header("to", form),
        Header("error", form),
        Header("shares", "d"),
    ]
    rows = [list(line) for line in frame.itertuples(index=False)]
    text = f"Root mean square error of estimates{in_unit(held_out.unit)}, by the true share."
    table = ShownTable(columns, rows, caption=text, name="sizes")
    blocks = picture_and_table(partial(error_by_size, frame), text, table)
    largest = frame.loc[frame["rmse"].idxmax()]
    what = f"Errors are largest for shares from {largest['smallest']:{form}} to "
    what += f"{largest['largest']:{form}}."
    return Section("Errors by size", [Paragraph(what), *blocks])
