"""Pages of files that were completed, predicted, learned from, and tested on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from inldl.report.document import (
    Code,
    Document,
    Facts,
    Header,
    Paragraph,
    Section,
    ShownTable,
    picture,
    picture_and_table,
)
from inldl.report.figures import completion_map, known_and_filled, moved_means, predicted_map
from inldl.report.pages import error_sentences, quality_sections
from inldl.report.style import FULL, better
from inldl.tables import findings
from inldl.tables.audit import error, form_of
from inldl.tables.groups import CompletedGroup
from inldl.tables.model import TableModel
from inldl.tables.results import Evaluation, FitResult, WriteResult
from inldl.text import counted, listed

FILLED = (
    "A share is filled in from the known shares of its row, {}and from the features if there are "
    "any, so that the row sums to the whole. How much each of them counts was found with shares "
    "that were hidden on purpose."
)
BELOW_RECORDED = (
    "Only the largest shares of each row seem to be recorded. A missing share is filled in with "
    "what can be expected of a smaller one, and never exceeds the smallest recorded share of its "
    "row."
)
RATIOS = (
    "Known shares of these rows were scaled, each row by a factor of its own; their ratios stay "
    "as they are."
)
OF_RATIOS = (
    "known shares of rows that were left out, each as a part of all known shares of its row",
    "Error of ratios",
)
_HELP = "The other groups help: with them, the root mean squared error is {}, without them {}."
_NO_HELP = (
    "The other groups are not used, because they do not clearly help: with them, the root mean "
    "squared error is {}, without them {}."
)
FEW_LEARNED = 0.05  # of the rows of a test; as many may be alike by chance
EARLIER = (
    "The model was fitted before, so its error on this table is not known; inldl evaluate "
    "measures it on rows with known shares."
)


def completion_page(
    written: WriteResult,
    learned: FitResult | None,
    model: TableModel,
    table: str,
    out: str,
    influence: pd.DataFrame | None = None,
) -> Document:
    """Return the page of a completed file.

    Parameters
    ----------
    written : WriteResult
        What `inldl.tables.complete_table` returned.
    learned : FitResult or None
        What `inldl.tables.fit_table` returned; None if the model was fitted before, so that its
        error on this table is not known.
    model : TableModel
        The model that completed the file.
    table, out : str
        The names of the file and of the completed file.
    influence : DataFrame of shape (features, labels), optional
        By how much the error of each label rises when a feature is shuffled.

    Returns
    -------
    Document
        ``page.write("completed.html")`` writes it.
    """
    summary, held_out = _filled_in(written), None
    if written.n_exact == written.n_filled:
        influence = None
    elif learned is None:
        summary.append(EARLIER)
    elif written.ratios:
        held_out = learned.new_rows
        summary += [*error_sentences(learned.completion), *error_sentences(held_out, *OF_RATIOS)]
    else:
        held_out, what = _measured_at(learned)
        summary += [*error_sentences(held_out, what), *_at_most(written, held_out)]
    facts = [("Table", table), ("Completed table", out), ("Method", str(model.method))]
    facts.append(("Rows", f"{written.n_rows:,}"))
    notes = [*([] if learned is None else learned.notes), *_of_holes(written, held_out)]
    notes += written.notes
    sections = [_before_and_after(written, model), *_moved(written.moved)]
    sections += quality_sections(held_out, influence)
    return Document(f"{table}, completed", summary, facts, notes, sections)


def groups_page(groups: Sequence[CompletedGroup], table: str, out: str) -> Document:
    """Return the page of a file in which `complete_groups` completed several groups of shares."""
    summary: list[str] = []
    notes: dict[str, list[str]] = {}
    sections: list[Section] = []
    for group in groups:
        page = completion_page(group.written, group.learned, group.learned.model, table, out)
        first, *others = page.summary
        summary += [f"{group.name}: {first}", *others, _of_others(group)]
        for note in page.notes:
            notes.setdefault(note, []).append(group.name)
        sections += [replace(each, title=f"{each.title}: {group.name}") for each in page.sections]
    texts = [t if len(of) == len(groups) else f"{of[0]}: {t}" for t, of in notes.items()]
    return Document(f"{table}, completed", summary, page.facts, texts, sections)


def _of_others(group):
    """Return a sentence on whether the other groups help to fill in one."""
    unit = group.learned.new_rows.unit
    pair = (error(each, unit) for each in (group.together, group.alone))
    if np.isnan(group.alone) or np.isnan(group.together):
        return "Too few shares are known to tell whether the other groups help; they are not used."
    if group.helped:
        return _HELP.format(*pair)
    return _NO_HELP.format(*pair)


def _before_and_after(written, model):
    caption = (
        f"{counted(len(written.after), 'row')} of the table, before and after. Hatched cells were "
        "missing, a dot marks a share that was filled in; known shares stay as they are. The "
        "stronger the colour, the larger."
    )
    marks = np.where(written.before.isna(), "best", "")
    draw = partial(completion_map, written.before, written.after, list(written.after.columns))
    rows = "The completed rows; shares that were filled in are bold."
    others = "" if model.panel_ is None else "from other rows of its unit and time, "
    blocks = [
        Paragraph(BELOW_RECORDED if written.below_recorded else FILLED.format(others)),
        picture(draw, caption, "completion"),
        _rows(written, marks, rows, "completed"),
    ]
    if written.n_filled and written.pictured:
        caption = (
            "The known shares of each label (grey), and those that were filled in (line). These "
            "are expected values and spread less; multiple imputations (--draws) spread as much."
        )
        blocks.append(picture(partial(known_and_filled, *written.pictured), caption, "filled"))
    return Section("Before and after", blocks, page_only=True)


def _moved(means):
    """Return a section on the means of labels under the departures that a user states."""
    if means is None:
        return []
    as_filled, case, *_ = means.columns
    form = form_of(means.to_numpy().max(initial=0) > 1)
    what = (
        f"Mean shares, with missing ones {as_filled}, and if they differ as --delta says. The "
        f"file is that of {case!r}; expected errors are those of shares {as_filled}."
    )
    rows = [[str(label), *row] for label, *row in means.itertuples()]
    columns = [Header("label"), *(Header(str(name), form) for name in means.columns)]
    table = ShownTable(columns, rows, caption="The mean shares.", name="departures")
    moves = means.sub(means[as_filled], axis=0)
    draw = partial(moved_means, moves, label="change of the mean share", width=FULL)
    blocks = picture_and_table(draw, "How far the mean share of each label moves.", table)
    return [Section("If missing shares differ", [Paragraph(what), *blocks])]


def _rows(written, marks, caption, name):
    """Return a table of rows of shares, with their intervals if there are some."""
    values = written.after.to_numpy(dtype=float)
    form = form_of(np.fmax.reduce(values, axis=None, initial=0) > 1)
    labels = [Header(str(label), form) for label in written.after.columns]
    parts = [values.tolist(), marks.tolist()]
    if len(written.ends):
        parts.append(_intervals(*written.ends, form))
        coverage = f"about {written.coverage:.0%} of them contain the true share"
        if written.joint:
            coverage = f"in about {written.coverage:.0%} of the rows all contain the true shares"
        caption += f" Small numbers below are intervals; {coverage}."
    index = written.after.index
    rows = [[str(row), *zip(*line, strict=True)] for row, *line in zip(index, *parts, strict=True)]
    return ShownTable(
        [Header(str(index.name or "row")), *labels], rows, caption=caption, name=name
    )


def _intervals(lower, upper, form):
    """Return each interval as a text, and nothing where there is none."""

    def interval(low, high):
        if np.isnan(low):
            return ""
        return "exact" if low == high else f"{low:{form}}–{high:{form}}"

    ends = (np.asarray(each, dtype=float).tolist() for each in (lower, upper))
    return [list(map(interval, *lines)) for lines in zip(*ends, strict=True)]


def _filled_in(written):
    if not written.n_filled:
        return [f"No share is missing in {counted(written.n_rows, 'row')}: the copy is the same."]
    shares = counted(written.n_filled, "missing share")
    texts = [f"Filled in {shares} in {counted(written.n_filled_rows, 'row')}."]
    if written.n_exact:
        some = "all" if written.n_exact == written.n_filled else f"{written.n_exact:,}"
        texts.append(f"The known sums give {some} of them exactly.")
    if written.n_bounded:
        many = "All" if written.n_bounded == written.n_filled else f"{written.n_bounded:,}"
        texts.append(f"{many} of them had bounds, and lie within these.")
    if written.ratios:
        texts.append(RATIOS)
    return texts


def _at_most(written, held_out):
    """Return a sentence on the largest error that is possible, where none can be estimated."""
    if not held_out.unknown and written.n_bounded > 0:
        return ["It is not the error of the shares with bounds."]
    if not held_out.unknown or np.isnan(written.most_error):
        return []
    limit = "the known shares of a row leave no more to the others"
    if written.n_bounded:
        limit = "the bounds allow no more"
    elif written.below_recorded:
        limit = "no missing share can be above the smallest recorded one of its row"
    most = error(written.most_error, held_out.unit)
    return [f"On average it is at most {most}, because {limit}."]


def _of_holes(written, held_out):
    """Return notes on why shares are missing; without `held_out` the model was fitted before."""
    if written.size is None:
        return []
    if written.n_exact == written.n_filled or written.size.answer == "zeros":
        return findings.notes_on_zeros(written.size)
    earlier = held_out is None
    known = {"earlier": earlier, "estimated": not earlier and not held_out.unknown}
    return findings.notes_on_completing(written.size, written.below_recorded, **known)


def _measured_at(learned):
    """Return the shares that tell how good filled ones are, and what they are.

    They are those of new rows where no share could be hidden, or most are missing in whole rows,
    unless such rows were hidden among others of their units.
    """
    whole_rows = learned.model.panel_ is None and learned.n_empty > learned.n_missing / 2
    if learned.completion.unknown:
        return learned.completion, ""
    if learned.completion.overall()["n"] and not whole_rows:
        return learned.completion, "known shares that were hidden on purpose"
    why = "too few are known to hide some"
    if whole_rows:
        why = "most of the missing shares are in rows without a known one"
    elif len(learned.model.label_names_) == 2:
        why = "with two labels, a hidden share is 1 minus the other"
    return learned.new_rows, f"known shares of rows that were left out ({why})"


def prediction_page(
    written: WriteResult, model: TableModel, table: str, out: str, notes: Sequence[str] = ()
) -> Document:
    """Return the page of a file with predictions.

    Parameters
    ----------
    written : WriteResult
        What `inldl.tables.predict_table` returned.
    model, table, out
        As in `completion_page`.
    notes : sequence of str
        How the file was read.
    """
    shown = f"{counted(len(written.after), 'row')} of the {written.n_rows:,}"
    labels = list(written.after.columns)
    draw = partial(predicted_map, written.after, labels)
    caption = f"{shown}. The stronger the colour, the larger the share."
    marks = np.full(written.after.shape, "")
    blocks = [
        Paragraph("To see how good they are, run inldl evaluate on rows with known shares."),
        picture(draw, caption, "prediction"),
        _rows(written, marks, "The same in numbers.", "predicted"),
    ]
    return Document(
        f"{table}, predicted",
        [f"Predicted {listed(labels, 20)} for {counted(written.n_rows, 'row')}."],
        [("Table", table), ("Predicted table", out), ("Method", str(model.method))],
        [*notes, *written.notes],
        [Section("Predicted shares", blocks, page_only=True)],
    )


def model_page(learned: FitResult, table: str, influence: pd.DataFrame | None = None) -> Document:
    """Return the page of a model that was fitted to a file.

    Parameters
    ----------
    learned : FitResult
        What `inldl.tables.fit_table` returned.
    table, influence
        As in `completion_page`.
    """
    labels = learned.model.label_names_
    facts = [("Table", table), ("Method", str(learned.model.method))]
    facts.append(("Labels", ", ".join(labels)))
    error = "Error at known shares" if findings.depends_on_size(learned.size) else "Expected error"
    panel, at = learned.model.panel_, "known shares of rows that were left out"
    if panel is not None and panel.time is not None:
        at = "known shares of the last rows of units, each predicted from the rows before it"
    measured = (at, error)
    measured = OF_RATIOS if learned.model.known == "ratios" else measured
    summary = [
        f"Learned {counted(len(labels), 'label')} from {counted(learned.n_rows, 'row')} with "
        f"{learned.missing:.1%} of the shares missing.",
        *error_sentences(learned.new_rows, *measured),
    ]
    sections = quality_sections(learned.new_rows, influence)
    if report := str(getattr(learned.model.estimator_, "report_", "")):
        sections.append(Section("What the model says", [Code(report)], page_only=True))
    notes = [*learned.notes, *findings.notes_on_known(learned.size)]
    return Document(f"A model of {table}", summary, facts, notes, sections)


def evaluation_page(
    evaluation: Evaluation, model: TableModel, table: str, notes: Sequence[str] = ()
) -> Document:
    """Return the page of a model that was tested on a file.

    Parameters
    ----------
    evaluation : Evaluation
        What `inldl.tables.evaluate_table` returned.
    model, table, notes
        As in `prediction_page`.
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
    sections = [Section("Scores", [_scores(evaluation)]), *quality_sections(held_out)]
    return Document(f"The model on {table}", summary, facts, notes, sections)


def _scores(evaluation):
    rows = []
    for name, score in evaluation.metrics.items():
        pair = (score, evaluation.constant[name])
        texts = (Header("", form_of("", pair)).cell(x).text for x in pair)
        rows.append([name, *texts, better(name)])
    caption = (
        "Means over the rows of the table. Only known shares count; in kl_divergence, the missing "
        "shares of a row count as one, whose sum is known."
    )
    columns = [Header(name) for name in ("measure", "model", "constant mean", "better is")]
    return ShownTable(columns, rows, caption=caption, name="metrics")


def _bounded_sentences(bounded):
    """Return sentences on predictions of cells that have bounds."""
    inside = "All" if bounded.within == 1 else f"{bounded.within:.1%}"
    texts = [
        f"{counted(bounded.n, 'cell')} with bounds, such as <5, did not count. {inside} of their "
        "predictions lie within the bounds."
    ]
    if bounded.within < 1:
        texts.append(
            f"The others miss them by {error(bounded.distance, bounded.unit)} on average."
        )
    return texts


def model_file_page(info: Mapping[str, Any]) -> Document:
    """Return the page of a model file; `info` is what `inldl.files.model_info` returned."""
    facts = {key: value for key, value in info.items() if key != "info"} | info["info"]
    write = {list: lambda names: listed(names, 20), float: "{:.4g}".format}
    pairs = [(key, write.get(type(value), str)(value)) for key, value in facts.items()]
    return Document("A model file", sections=[Section("What it holds", [Facts(pairs)])])
