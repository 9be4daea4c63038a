"""Pages of results; here are errors and features, which several have, and the page of a test."""

from collections.abc import Sequence
from functools import partial

from inldl.report import document as d
from inldl.report.figures import errors_by_label, influence, reliability
from inldl.report.figures.maps import most_influential
from inldl.report.style import FULL, better
from inldl.tables.audit import error, form_of, in_unit
from inldl.tables.model import TableModel
from inldl.tables.results import Evaluation
from inldl.text import counted

FEW_LEARNED = 0.05  # of the rows of a test; as many may be alike by chance
FEW = 50  # shares: an error that is measured on fewer is a rough estimate


def _overall(held_out):
    """Return the errors over all shares, or None if there are no shares."""
    overall = None if held_out is None else held_out.overall()
    return overall if overall and overall["n"] else None


def error_sentences(held_out, what="known shares", name="Expected error") -> list[str]:
    """Return sentences that say how large the error is, measured on `what`."""
    overall = _overall(held_out)
    if overall is None:
        why = "" if held_out is None else held_out.unknown
        return [f"The error cannot be estimated: {why or 'too few shares are known'}."]
    found, means = overall["mae"], overall["constant_mae"]
    form = form_of(held_out.unit, (found, means))
    texts = [
        f"{name}: {f'{found:{form}} {held_out.unit}'.rstrip()} (using column means: "
        f"{means:{form}}), the mean absolute error at {overall['n']:,} {what}."
    ]
    if factors := held_out.factors():
        texts.append(
            "Some labels have far larger shares than others. On average a share is off by a "
            f"factor of {factors[0]:.2f} (using column means: {factors[1]:.2f})."
        )
    if overall["mae"] >= means:
        texts.append("This is no better than column means.")
    if overall["n"] < FEW:
        texts.append(f"This is a rough estimate: only {overall['n']} shares could be used.")
    return texts


def quality_sections(held_out, influences=None) -> list[d.Section]:
    """Return the sections that show how good predictions are, and what the features do.

    There are none on errors if nothing was held out, and none on features without a frame of
    influences.
    """
    sections, overall = {}, _overall(held_out)
    if overall is not None:
        texts = [d.Paragraph(text) for text in (held_out.how, *_explained(overall["explained"]))]
        sections["How good it is"] = [*texts, *_by_label(held_out)]
        sections["Can it be trusted?"] = _reliability(held_out, overall["coverage"])
    if influences is not None and influences.size:
        unit = "" if held_out is None else held_out.unit
        sections["What the features do"] = _influence(influences, unit)
    return [d.Section(title, blocks, page_only=True) for title, blocks in sections.items()]


def _explained(explained):
    if explained != explained:
        return []
    if explained <= 0:
        return ["The model is no better than the column means."]
    saved = f"The squared error is {explained:.0%} smaller than that of the column means."
    return [saved if explained > 0.05 else f"{saved} That is hardly better."]


def _by_label(held_out):
    frame = held_out.by_label()
    form = form_of(held_out.unit, frame["rmse"])
    caption = (
        "The error of each label: the model (dot) and the mean of the column (diamond). Root mean "
        f"square error{in_unit(held_out.unit)}; further left is better."
    )
    columns = {
        "label": d.Header("label"),
        "n": d.Header("shares"),
        "rmse": d.Header("error", form),
        "constant_rmse": d.Header("error of the mean", form),
        "mae": d.Header("mean absolute error", form_of(held_out.unit, frame["mae"])),
        "explained": d.Header("explained", ".1%"),
        "bias": d.Header("bias", form),
    }
    numbers = (
        f"The same in numbers{in_unit(held_out.unit)}. Explained: by how much the squared error "
        "is smaller than that of the mean; below zero it is larger. Bias: predicted minus "
        "observed, on average."
    )
    draw = partial(errors_by_label, frame[frame["n"] > 0], width=FULL)
    table = d.ShownTable.of(frame, columns, numbers, "errors-by-label")
    return d.picture_and_table(draw, caption, table)


def _reliability(held_out, coverage):
    frame, form = held_out.reliability(), form_of(held_out.unit)
    caption = (
        f"What was observed against what was predicted{in_unit(held_out.unit)}, in groups of "
        "similar predictions. On the line the model is right on average; below it predictions "
        "were too large, above it too small. Bars below: how many shares are in each group."
    )
    columns = {
        "group": d.Header("group"),
        "predicted": d.Header("mean predicted", form),
        "observed": d.Header("mean observed", form),
        "error": d.Header("standard error", form_of(held_out.unit, frame["error"])),
        "n": d.Header("shares", ".0f"),
    }
    groups = frame.assign(group=range(1, len(frame) + 1))
    table = d.ShownTable.of(groups, columns, "The same in numbers.", "reliability")
    draw = partial(reliability, frame, coverage=coverage, width=FULL)
    blocks = d.picture_and_table(draw, caption, table)
    if coverage is None:
        return blocks
    return [d.Paragraph(f"{coverage:.1%} of the shares lie in their intervals."), *blocks]


def _influence(frame, unit):
    top = most_influential(frame)
    which = f"The {len(top)} of {len(frame)} features" if len(top) < len(frame) else "The features"
    caption = (
        f"{which} with the most influence, and the labels that they change. The stronger the "
        "colour, the more."
    )
    columns = [d.Header("feature"), *(d.Header(str(name), ".4g") for name in top.columns)]
    rows = [[str(name), *row] for name, *row in top.astype(float).itertuples()]
    numbers = f"The same in numbers{in_unit(unit)}."
    table = d.ShownTable(columns, rows, caption=numbers, name="influence")
    draw = partial(influence, frame, label="rise of the error")
    return [d.Paragraph(_SHUFFLED), *d.picture_and_table(draw, caption, table)]


_SHUFFLED = (
    "Each number is the rise of the root mean square error of a label when the values of the "
    "feature are shuffled among the rows. About zero: the label does not need the feature, or "
    "another feature says the same. The rows are some of those that the model has learned from; "
    "at new rows the influence may be smaller."
)


def evaluation_page(
    evaluation: Evaluation, model: TableModel, table: str, notes: Sequence[str] = ()
) -> d.Document:
    """Return the page of a model that was tested on a file.

    Parameters
    ----------
    evaluation : Evaluation
        What `inldl.tables.evaluate_table` returned.
    model, table, notes
        As in `inldl.report.prediction_page`.
    """
    rows, held_out = counted(evaluation.n_rows, "row"), evaluation.held_out
    facts = [("Table", table), ("Method", str(model.method)), ("Rows", f"{evaluation.n_rows:,}")]
    summary = error_sentences(held_out, f"known shares of {rows}")
    if evaluation.n_learned > FEW_LEARNED * evaluation.n_rows:
        summary.append(
            f"The model was fitted to {evaluation.n_learned:,} of these rows; new rows have "
            "larger errors."
        )
    covered = held_out.overall()["coverage"]
    if covered is not None:
        promised = f"The {evaluation.coverage:.0%} intervals"
        summary.append(f"{promised} contain {covered:.1%} of the shares.")
    if evaluation.bounded is not None:
        summary += _bounded_sentences(evaluation.bounded)
    sections = [d.Section("Scores", [_scores(evaluation)]), *quality_sections(held_out)]
    return d.Document(f"The model on {table}", summary, facts, notes, sections)


def _scores(evaluation):
    rows = []
    for name, score in evaluation.metrics.items():
        pair = (score, evaluation.constant[name])
        texts = (d.Header("", form_of("", pair)).cell(x).text for x in pair)
        rows.append([name, *texts, better(name)])
    caption = (
        "Means over the rows of the table. Only known shares count; in kl_divergence, the missing "
        "shares of a row count as one, whose sum is known."
    )
    columns = [d.Header(name) for name in ("measure", "model", "constant mean", "better is")]
    return d.ShownTable(columns, rows, caption=caption, name="metrics")


def _bounded_sentences(bounded):
    """Return sentences on predictions of cells that have bounds."""
    inside = "All" if bounded.within == 1 else f"{bounded.within:.1%}"
    texts = [
        f"{counted(bounded.n, 'cell')} with bounds, such as <5, did not count. {inside} of their "
        "predictions lie within the bounds."
    ]
    if bounded.within < 1:
        distance = error(bounded.distance, bounded.unit)
        texts.append(f"The others miss them by {distance} on average.")
    return texts
