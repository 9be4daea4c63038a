"""Pages of files that were completed, predicted, learned from, and audited."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from inldl.report import document as d
from inldl.report import figures
from inldl.report.pages import error_sentences, quality_sections
from inldl.report.pages.advice import MOST_LISTED
from inldl.report.style import FULL
from inldl.tables import findings
from inldl.tables.audit import error, form_of
from inldl.tables.disclosure import COVERAGE, Disclosure
from inldl.tables.groups import CompletedGroup
from inldl.tables.model import TableModel
from inldl.tables.results import FitResult, WriteResult
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
LEGEND = {
    "computed": ("computed by anybody", "#d55e00"),
    "narrow": ("nearly computed", "#e69f00"),
    "suppress": ("to be suppressed, too", "#cc79a7"),
    "guessed": ("found by a model", "#56b4e9"),
    "open": ("safe", "#0072b2"),
    "published": ("published", "#f4f4f4"),
}
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
) -> d.Document:
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
    return d.Document(f"{table}, completed", summary, facts, notes, sections)


def groups_page(groups: Sequence[CompletedGroup], table: str, out: str) -> d.Document:
    """Return the page of a file in which `complete_groups` completed several groups of shares."""
    summary: list[str] = []
    notes: dict[str, list[str]] = {}
    sections: list[d.Section] = []
    for group in groups:
        page = completion_page(group.written, group.learned, group.learned.model, table, out)
        first, *others = page.summary
        summary += [f"{group.name}: {first}", *others, _of_others(group)]
        for note in page.notes:
            notes.setdefault(note, []).append(group.name)
        sections += [replace(each, title=f"{each.title}: {group.name}") for each in page.sections]
    texts = [t if len(of) == len(groups) else f"{of[0]}: {t}" for t, of in notes.items()]
    return d.Document(f"{table}, completed", summary, page.facts, texts, sections)


def _of_others(group):
    """Return a sentence on whether the other groups help to fill in one."""
    unit = group.learned.new_rows.unit
    together, alone = (error(each, unit) for each in (group.together, group.alone))
    if np.isnan(group.alone) or np.isnan(group.together):
        return "Too few shares are known to tell whether the other groups help; they are not used."
    verdict = "help" if group.helped else "are not used, because they do not clearly help"
    return (
        f"The other groups {verdict}: with them, the root mean squared error is {together}, "
        f"without them {alone}."
    )


def _before_and_after(written, model):
    caption = (
        f"{counted(len(written.after), 'row')} of the table, before and after. Hatched cells were "
        "missing, a dot marks a share that was filled in; known shares stay as they are. The "
        "stronger the colour, the larger."
    )
    marks = np.where(written.before.isna(), "best", "")
    shown = written.before, written.after, list(written.after.columns)
    draw = partial(figures.completion_map, *shown)
    rows = "The completed rows; shares that were filled in are bold."
    others = "" if model.panel_ is None else "from other rows of its unit and time, "
    blocks = [
        d.Paragraph(BELOW_RECORDED if written.below_recorded else FILLED.format(others)),
        d.picture(draw, caption, "completion"),
        _rows(written, marks, rows, "completed"),
    ]
    if written.n_filled and written.pictured:
        caption = (
            "The known shares of each label (grey), and those that were filled in (line). These "
            "are expected values and spread less; multiple imputations (--draws) spread as much."
        )
        draw = partial(figures.known_and_filled, *written.pictured)
        blocks.append(d.picture(draw, caption, "filled"))
    return d.Section("Before and after", blocks, page_only=True)


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
    columns = [d.Header("label"), *(d.Header(str(name), form) for name in means.columns)]
    table = d.ShownTable(columns, rows, caption="The mean shares.", name="departures")
    moves = means.sub(means[as_filled], axis=0)
    draw = partial(figures.moved_means, moves, label="change of the mean share", width=FULL)
    blocks = d.picture_and_table(draw, "How far the mean share of each label moves.", table)
    return [d.Section("If missing shares differ", [d.Paragraph(what), *blocks])]


def _rows(written, marks, caption, name):
    """Return a table of rows of shares, with their intervals if there are some."""
    values = written.after.to_numpy(dtype=float)
    form = form_of(np.fmax.reduce(values, axis=None, initial=0) > 1)
    labels = [d.Header(str(label), form) for label in written.after.columns]
    parts = [values.tolist(), marks.tolist()]
    if len(written.ends):
        parts.append(_intervals(*written.ends, form))
        coverage = f"about {written.coverage:.0%} of them contain the true share"
        if written.joint:
            coverage = f"in about {written.coverage:.0%} of the rows all contain the true shares"
        caption += f" Small numbers below are intervals; {coverage}."
    index = written.after.index
    rows = [[str(row), *zip(*line, strict=True)] for row, *line in zip(index, *parts, strict=True)]
    columns = [d.Header(str(index.name or "row")), *labels]
    return d.ShownTable(columns, rows, caption=caption, name=name)


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
) -> d.Document:
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
    draw = partial(figures.predicted_map, written.after, labels)
    caption = f"{shown}. The stronger the colour, the larger the share."
    marks = np.full(written.after.shape, "")
    blocks = [
        d.Paragraph("To see how good they are, run inldl evaluate on rows with known shares."),
        d.picture(draw, caption, "prediction"),
        _rows(written, marks, "The same in numbers.", "predicted"),
    ]
    return d.Document(
        f"{table}, predicted",
        [f"Predicted {listed(labels, 20)} for {counted(written.n_rows, 'row')}."],
        [("Table", table), ("Predicted table", out), ("Method", str(model.method))],
        [*notes, *written.notes],
        [d.Section("Predicted shares", blocks, page_only=True)],
    )


def model_page(
    learned: FitResult, table: str, influence: pd.DataFrame | None = None
) -> d.Document:
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
    measured = OF_RATIOS if learned.model.known == "ratios" else (at, error)
    summary = [
        f"Learned {counted(len(labels), 'label')} from {counted(learned.n_rows, 'row')} with "
        f"{learned.missing:.1%} of the shares missing.",
        *error_sentences(learned.new_rows, *measured),
    ]
    sections = quality_sections(learned.new_rows, influence)
    if report := str(getattr(learned.model.estimator_, "report_", "")):
        sections.append(d.Section("What the model says", [d.Code(report)], page_only=True))
    notes = [*learned.notes, *findings.notes_on_known(learned.size)]
    return d.Document(f"A model of {table}", summary, facts, notes, sections)


def disclosure_page(found: Disclosure, table: str, notes: Sequence[str] = ()) -> d.Document:
    """Return the page of what `inldl.tables.disclosure.audit_table` found in a file.

    `table` is its name, and `notes` say how it was understood.
    """
    n, near = len(found.cells), f"{found.near:.0%}"
    computed, narrow, guessed = (found.count(kind) for kind in ("computed", "narrow", "guessed"))
    summary = [
        f"{counted(n, 'cell')} are suppressed. Anybody can compute {computed:,} of them exactly, "
        f"and {narrow:,} more to within {near}, from the totals and bounds alone.",
        f"Of {guessed:,} more, a model is {COVERAGE:.0%} sure to within {near}.",
        *_advice(found),
    ]
    summary = summary if n else ["No cell is missing, so none is suppressed."]
    facts = [("Table", table), ("Rows", f"{len(found.kinds):,}")]
    facts.append(("Labels", f"{len(found.kinds.columns):,}"))
    caption = "The table; rows with most cells that are given away, if there are many."
    draw = partial(figures.map_of_kinds, found.kinds, LEGEND, width=FULL)
    shown = d.picture(draw, caption, "disclosure")
    sections = [d.Section("Where they are", [shown], page_only=True)]
    known = found.cells[found.cells["kind"] != "open"]
    if len(known):
        text = (
            "Least and most: what totals and bounds allow. Low and high: between these a model is "
            f"{COVERAGE:.0%} sure that the number is."
        )
        shown = _listed(known, ("least", "most", "estimate", "low", "high", "kind"), "given-away")
        sections.append(d.Section("Cells that are given away", [d.Paragraph(text), shown]))
    if len(found.further):
        shown = _listed(found.further, ("value",), "further-cells")
        text = "If these published cells were suppressed, too, the others would be safe."
        sections.append(d.Section("Further cells to suppress", [d.Paragraph(text), shown]))
    return d.Document(f"What {table} gives away", summary, facts, notes, sections)


def _advice(found):
    """Return what to do."""
    if not found.count("computed", "narrow"):
        return ["Totals and bounds give none of them away."] if len(found.cells) else []
    if not len(found.further):
        return ["No further cells would protect them: suppress totals, or merge rows or labels."]
    text = f"If {counted(len(found.further), 'further cell')} were suppressed, too, "
    rest = "none" if not found.n_open else f"{found.n_open:,}"
    return [f"{text}{rest} of them could be computed to within {found.near:.0%}."]


def _listed(frame, numbers, name):
    """Return the first of some cells as a table."""
    shown = frame.iloc[:MOST_LISTED]
    words = [column for column in shown.columns if column not in (*numbers, "row")]
    columns = {"row": d.Header("row")} | {each: d.Header(each, words=True) for each in words}
    columns |= {each: d.Header(each, "" if each == "kind" else ".6g") for each in numbers}
    caption = f"{len(shown):,} of {counted(len(frame), 'cell')}."
    return d.ShownTable.of(shown, columns, caption, name)


def model_file_page(info: Mapping[str, Any]) -> d.Document:
    """Return the page of a model file; `info` is what `inldl.files.model_info` returned."""
    facts = {key: value for key, value in info.items() if key != "info"} | info["info"]
    write = {list: lambda names: listed(names, 20), float: "{:.4g}".format}
    pairs = [(key, write.get(type(value), str)(value)) for key, value in facts.items()]
    return d.Document("A model file", sections=[d.Section("What it holds", [d.Facts(pairs)])])
