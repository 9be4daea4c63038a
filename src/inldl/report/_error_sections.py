"""What is said about errors and features, wherever a model is shown."""

from functools import partial

from inldl.tables._units import error, form_of, in_unit

from .document import Column, Figure, Paragraph, Section, Table
from .figures import errors_by_label, influence, reliability
from .figures._maps import most_influential
from .style import FULL

FEW = 50  # shares: an error that is measured on fewer is a rough estimate


def error_sentences(held_out, what="known shares"):
    """Return sentences that say how large the error is, measured on `what`."""
    overall = None if held_out is None else held_out.overall()
    if not overall or not overall["n"]:
        return ["The error cannot be estimated: too few shares are known."]
    found, means = error(overall["mae"], held_out.unit), overall["constant_mae"]
    texts = [
        f"Expected error: {found} (using column means: {means:{form_of(held_out.unit)}}), "
        f"measured on {overall['n']:,} {what}."
    ]
    if overall["n"] < FEW:
        texts.append(f"This is a rough estimate: only {overall['n']} shares could be used.")
    return texts


def error_sections(held_out):
    """Return the sections that show how good predictions are; none if nothing was held out."""
    overall = None if held_out is None else held_out.overall()
    if not overall or not overall["n"]:
        return []
    texts = [Paragraph(text) for text in (held_out.how, *_explained(overall["explained"]))]
    return [
        Section("How good it is", [*texts, *_by_label(held_out)], page_only=True),
        Section("Can it be trusted?", _reliability(held_out, overall), page_only=True),
    ]


def _explained(explained):
    if explained != explained:
        return []
    if explained <= 0:
        return ["The model is no better than the column means."]
    saved = f"The squared error is {explained:.0%} smaller than that of the column means."
    return [saved if explained > 0.05 else f"{saved} That is hardly better."]


def _by_label(held_out):
    frame, form = held_out.by_label(), form_of(held_out.unit)
    caption = (
        "The error of each label: the model (dot) and the mean of the column (diamond). Root mean "
        f"square error{in_unit(held_out.unit)}; further left is better."
    )
    columns = {
        "label": Column("label"),
        "n": Column("shares"),
        "rmse": Column("error", form),
        "constant_rmse": Column("error of the mean", form),
        "mae": Column("mean absolute error", form),
        "explained": Column("explained", ".1%"),
        "bias": Column("bias", form),
    }
    told = (
        f"The same in numbers{in_unit(held_out.unit)}. Explained: by how much the squared error "
        "is smaller than that of the mean; below zero it is larger. Bias: predicted minus "
        "observed, on average."
    )
    table = Table.of(frame, columns, caption=told, name="errors-by-label")
    draw = partial(errors_by_label, frame[frame["n"] > 0], width=FULL)
    return [Figure(draw, caption, "errors-by-label"), table]


def _reliability(held_out, overall):
    frame, form = held_out.reliability(), form_of(held_out.unit)
    caption = (
        f"What was observed against what was predicted{in_unit(held_out.unit)}, in groups of "
        "similar predictions. On the line the model is right on average; below it predictions "
        "were too large, above it too small. Bars below: how many shares are in each group."
    )
    columns = {
        "group": Column("group"),
        "predicted": Column("mean predicted", form),
        "observed": Column("mean observed", form),
        "error": Column("standard error", form),
        "n": Column("shares", ".0f"),
    }
    groups = frame.assign(group=range(1, len(frame) + 1))
    table = Table.of(groups, columns, caption="The same in numbers.", name="reliability")
    draw = partial(reliability, frame, coverage=overall["coverage"], width=FULL)
    blocks = [Figure(draw, caption, "reliability"), table]
    if overall["coverage"] is not None:
        inside = f"{overall['coverage']:.1%} of the shares lie in their intervals."
        blocks.insert(0, Paragraph(inside))
    return blocks


def influence_sections(frame, unit=""):
    """Return the section on what the features do, or none without a frame of influences."""
    if frame is None or not frame.size:
        return []
    top = most_influential(frame)
    which = f"The {len(top)} of {len(frame)} features" if len(top) < len(frame) else "The features"
    caption = (
        f"{which} with the most influence, and the labels that they change. The stronger the "
        "colour, the more."
    )
    columns = [Column("feature"), *(Column(str(name), ".4g") for name in top.columns)]
    rows = [[str(name), *row] for name, *row in top.astype(float).itertuples()]
    table = Table(columns, rows, caption=f"The same in numbers{in_unit(unit)}.", name="influence")
    draw = partial(influence, frame, label="rise of the error")
    blocks = [Paragraph(_SHUFFLED), Figure(draw, caption, "influence"), table]
    return [Section("What the features do", blocks, page_only=True)]


_SHUFFLED = (
    "Each number is the rise of the root mean square error of a label when the values of the "
    "feature are shuffled among the rows. About zero: the label does not need the feature, or "
    "another feature says the same. The rows are some of those that the model has learned from; "
    "at new rows the influence may be smaller."
)
