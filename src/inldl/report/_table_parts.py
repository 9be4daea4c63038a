"""Parts that pages about a table share: words, pictures, and the same numbers as a table."""

from functools import partial

import numpy as np

from .figures import errors_by_label, influence, reliability
from .figures._maps import most_influential
from .page import Section, Table, paragraph, terms
from .style import FULL

SIZE = 700_000
"""Bytes that the pictures of a page may have; those that do not fit are left out."""

MOST_CELLS = 8_000
"""Cells that a table in a page may have."""


def number(value, form=".4f"):
    """Return a number as text, with a dash for NaN."""
    return "–" if value is None or value != value else format(value, form)


def share(value):
    """Return a share in percent, with a dash for NaN."""
    return number(value, ".1%")


def intro(summary, facts, notes):
    """Return the result in a sentence, the facts, and what the owner of a table should know."""
    return [paragraph(summary), terms(facts), *(paragraph(note, kind="note") for note in notes)]


def bounded(table):
    """Return the table, or a note if it is too large for a page."""
    if len(table.rows) * len(table.head) > MOST_CELLS:
        return paragraph("The table of these numbers is left out to keep the page small.")
    return table.html()


def held_out_summary(held_out):
    """Return a sentence that tells how far off predictions are.

    Parameters
    ----------
    held_out : HeldOut or None
        Degrees beside what was predicted without them.
    """
    overall = None if held_out is None else held_out.overall()
    if not overall or not overall["n"]:
        return "No degree could be held out, so this page cannot tell how good the model is."
    unit = f" {held_out.unit}" if held_out.unit else ""
    form = ".2f" if held_out.unit else ".3f"
    return (
        f"Over {overall['n']:,} observed degrees the model missed by "
        f"{number(overall['mae'], form)}{unit} on average; guessing the mean of each label misses "
        f"by {number(overall['constant_mae'], form)}."
    )


def unit_of(held_out):
    """Return the unit of the degrees, or nothing for fractions."""
    return "" if held_out is None else held_out.unit


def _in(unit):
    return f", in {unit}" if unit else ""


def held_out_sections(held_out, space):
    """Return the sections that tell how good predictions are; none if nothing was held out.

    Parameters
    ----------
    held_out : HeldOut or None
        Degrees beside what was predicted without them.
    space : Space
        What is left of the size of the page.
    """
    overall = None if held_out is None else held_out.overall()
    if not overall or not overall["n"]:
        return []
    texts = [held_out.how, *_explained(overall["explained"])]
    return [
        Section("How good it is", [paragraph(*texts), *_by_label(held_out, space)]),
        Section("Whether it can be trusted", _reliability(held_out, overall, space)),
    ]


def _explained(explained):
    if explained != explained:
        return []
    guess = "guessing the mean of each label"
    if explained <= 0:
        return [f"The model is no better than {guess}: it tells nothing about a single row."]
    saved = f"The model takes away {explained:.0%} of the mean squared error of {guess}."
    return [saved if explained > 0.05 else f"{saved} That is hardly better."]


def _by_label(held_out, space):
    frame = held_out.by_label()
    seen, form = frame[frame["n"] > 0], _form(held_out)
    caption = (
        "The error of each label: the model (dot) beside guessing the mean of the label "
        f"(diamond). Root mean square error{_in(held_out.unit)}; further left is better."
    )
    rows = [
        [
            str(each.label),
            str(each.n),
            number(each.rmse, form),
            number(each.constant_rmse, form),
            number(each.mae, form),
            share(each.explained),
            number(each.bias, form),
        ]
        for each in frame.itertuples()
    ]
    head = ["label", "degrees", "error", "error of the mean", "mean absolute error"]
    table = Table(
        [*head, "explained", "bias"],
        rows,
        caption=f"The same in numbers{_in(held_out.unit)}. Explained: the share of the squared "
        "error of the mean that the model takes away, below zero where it is worse. Bias: "
        "predicted minus observed, on average.",
        name="errors-by-label",
    )
    picture = space.drawing(partial(errors_by_label, seen, width=FULL), caption, "errors-by-label")
    return [picture, bounded(table)]


def _form(held_out):
    return ".2f" if held_out.unit else ".4f"


def _reliability(held_out, overall, space):
    frame, form = held_out.reliability(), _form(held_out)
    caption = (
        f"What was observed against what was predicted{_in(held_out.unit)}, in groups of similar "
        "predictions. On the "
        "line the model is right on average; dots below it were predicted too large, dots above "
        "it too small. Bars below: how many degrees are in each group."
    )
    draw = partial(reliability, frame, coverage=overall["coverage"], width=FULL)
    rows = [
        [str(at), *(number(x, form) for x in each[:3]), str(int(each[3]))]
        for at, each in enumerate(frame.itertuples(index=False), 1)
    ]
    table = Table(
        ["group", "mean predicted", "mean observed", "standard error", "degrees"],
        rows,
        caption="The same in numbers.",
        name="reliability",
    )
    parts = [space.drawing(draw, caption, "reliability"), table.html()]
    if overall["coverage"] is None:
        return parts
    inside = f"{overall['coverage']:.1%} of the degrees lay in their interval."
    return [paragraph(inside), *parts]


def influence_sections(frame, space, unit=""):
    """Return the section on what the features do, or none without a frame.

    Parameters
    ----------
    frame : DataFrame of shape (features, labels) or None
        By how much the error of each label rises when a feature is shuffled.
    space : Space
        What is left of the size of the page.
    unit : str
        Of the errors.
    """
    if frame is None or not frame.size:
        return []
    top = most_influential(frame)
    which = f"The {len(top)} of {len(frame)} features" if len(top) < len(frame) else "The features"
    caption = (
        f"{which} with the most influence, and which labels they move. The stronger the colour, "
        "the more."
    )
    rows = [
        [str(name), *(number(value, ".4g") for value in line)]
        for name, line in zip(top.index, top.to_numpy(dtype=float), strict=True)
    ]
    table = Table(
        ["feature", *map(str, top.columns)],
        rows,
        caption=f"The same in numbers{_in(unit)}.",
        name="influence",
    )
    draw = partial(influence, frame, label="rise of the error")
    picture = space.drawing(draw, caption, "influence")
    return [Section("What the features do", [paragraph(_SHUFFLED), picture, bounded(table)])]


_SHUFFLED = (
    "Each number tells by how much the root mean square error of a label rises when the feature "
    "is shuffled among the rows. About zero: the label does not need it, or another feature "
    "tells the same. The rows are some of those that the model has learned from; at new rows the "
    "influence may be smaller."
)


def completed_parts(before, after, labels):
    """Return a table of the completed rows, in which filled degrees are bold.

    Parameters
    ----------
    before, after : DataFrame or array of shape (n, C)
        Degrees, NaN = hole. The index of `after` names the rows.
    labels : sequence of str
        Names of the columns.
    """
    marks = np.where(np.isnan(np.asarray(before, dtype=float)), "best", "")
    caption = "The completed rows; degrees that were filled in are bold."
    return _rows(after, marks, labels, caption, "completed")


def predicted_parts(predicted, labels):
    """Return a table of predicted rows.

    Parameters
    ----------
    predicted : DataFrame or array of shape (n, C)
        Degrees. The index names the rows.
    labels : sequence of str
        Names of the columns.
    """
    marks = np.full(np.shape(predicted), "")
    return _rows(predicted, marks, labels, "The same in numbers.", "predicted")


def _rows(degrees, marks, labels, caption, name):
    names = degrees.index if hasattr(degrees, "index") else range(1, len(degrees) + 1)
    values = np.asarray(degrees, dtype=float)
    form = ".4f" if np.fmax.reduce(values, axis=None, initial=0) <= 1 else ".2f"  # percentages
    rows = [
        [str(each), *((number(x, form), mark) for x, mark in zip(*line, strict=True))]
        for each, *line in zip(names, values, marks.tolist(), strict=True)
    ]
    return bounded(Table(["row", *map(str, labels)], rows, caption=caption, name=name))
