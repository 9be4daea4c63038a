"""What is said about a table: completed, predicted, learned from, tested.

Each function returns a `Document`, which the commands print and write as a page. They name files
by `table` (what was read) and `out` (what was written).
"""

from functools import partial

import numpy as np
import pandas as pd

from inldl.report.document import Code, Column, Document, Facts, Paragraph, Section, Table, picture
from inldl.report.figures import completion_map, predicted_map
from inldl.report.pages.error_sections import error_sentences, quality_sections
from inldl.report.style import better
from inldl.tables.audit import error, form_of
from inldl.tables.findings import (
    depends_on_size,
    notes_on_completing,
    notes_on_known,
    notes_on_zeros,
)
from inldl.text import counted, listed

FILLED = (
    "A share is filled in from the known shares of its row, and from the features if there are "
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
FEW_LEARNED = 0.05  # of the rows of a test; as many may be alike by chance
EARLIER = (
    "The model was fitted before, so its error on this table is not known; inldl evaluate "
    "measures it on rows with known shares."
)


def completion_page(
    title,
    facts,
    notes,
    before,
    after,
    labels,
    held_out=None,
    influence=None,
    *,
    summary=None,
    ends=(),
    coverage=None,
    how=FILLED,
):
    """Return what is said about a completed table.

    Parameters
    ----------
    title : str
        The title.
    facts : list of (str, str)
        Names and what they stand for, such as ("Rows", "500").
    notes : list of str
        What the owner of the table should know.
    before, after : DataFrame or array of shape (n, C)
        About 60 rows before and after, NaN = missing. The index of `after` names the rows; its
        name is the heading of their names, "row" by default.
    labels : sequence of str
        Names of the labels.
    held_out : HeldOut, optional
        Shares that were hidden on purpose, beside what was filled in.
    influence : DataFrame of shape (features, labels), optional
        By how much the error of each label rises when a feature is shuffled.
    summary : str or list of str, optional
        What is said first; the error at `held_out` by default.
    ends : pair of DataFrame or array of shape (n, C), optional
        The lower and the upper ends of the intervals of what was filled in, NaN elsewhere.
    coverage : float, optional
        How many of the true shares such intervals contain, such as 0.9.
    how : str
        How shares were filled in.

    Returns
    -------
    Document
        ``page.write("completed.html")`` writes it.
    """
    caption = (
        f"{counted(len(after), 'row')} of the table, before and after. Hatched cells were "
        "missing, a dot marks a share that was filled in; known shares stay as they are. The "
        "stronger the colour, the larger."
    )
    marks = np.where(np.isnan(np.asarray(before, dtype=float)), "best", "")
    told = f"The completed rows; shares that were filled in are bold.{_below(ends, coverage)}"
    blocks = [
        Paragraph(how),
        picture(partial(completion_map, before, after, labels), caption, "completion"),
        _rows(after, marks, labels, told, "completed", ends),
    ]
    shown = Section("Before and after", blocks, page_only=True)
    sections = [shown, *quality_sections(held_out, influence)]
    return Document(title, _sentences(summary, held_out), facts, notes, sections)


def _sentences(summary, held_out):
    if summary is None:
        return error_sentences(held_out)
    return [summary] if isinstance(summary, str) else summary


def _rows(shares, marks, labels, caption, name, ends=()):
    """Return a table of rows of shares, with their intervals if there are some."""
    index = getattr(shares, "index", pd.RangeIndex(1, len(shares) + 1))
    values = np.asarray(shares, dtype=float)
    form = form_of(np.fmax.reduce(values, axis=None, initial=0) > 1)
    columns = [Column(str(index.name or "row")), *(Column(str(each), form) for each in labels)]
    parts = [values.tolist(), marks.tolist()] + ([_intervals(*ends, form)] if len(ends) else [])
    rows = [
        [str(each), *zip(*line, strict=True)] for each, *line in zip(index, *parts, strict=True)
    ]
    return Table(columns, rows, caption=caption, name=name)


def _intervals(lower, upper, form):
    """Return each interval as a text, and nothing where there is none."""

    def interval(low, high):
        if np.isnan(low):
            return ""
        return "exact" if low == high else f"{low:{form}}–{high:{form}}"

    ends = (np.asarray(each, dtype=float).tolist() for each in (lower, upper))
    return [list(map(interval, *lines)) for lines in zip(*ends, strict=True)]


def _below(ends, coverage):
    """Return the end of a caption that says what stands below the shares."""
    if not len(ends):
        return ""
    told = "" if coverage is None else f"; about {coverage:.0%} of them contain the true share"
    return f" Small numbers below are intervals{told}."


def completed(written, learned, model, table, out, influence=None):
    """Return what is said about a completed file; `learned` is None if the model is older."""
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
    labels = list(written.after.columns)
    about = (f"{table}, completed", facts, notes, written.before, written.after, labels)
    intervals = {"ends": written.ends, "coverage": written.coverage}
    how = BELOW_RECORDED if written.below_recorded else FILLED
    return completion_page(*about, held_out, influence, summary=summary, how=how, **intervals)


def _filled_in(written):
    if not written.n_filled:
        return [f"No share is missing in {counted(written.n_rows, 'row')}: the copy is the same."]
    shares = counted(written.n_filled, "missing share")
    texts = [f"Filled in {shares} in {counted(written.n_filled_rows, 'row')}."]
    if written.n_exact:
        some = "all" if written.n_exact == written.n_filled else f"{written.n_exact:,}"
        texts.append(f"The sums of the rows give {some} of them exactly.")
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
        return notes_on_zeros(written.size)
    earlier = held_out is None
    told = {"earlier": earlier, "estimated": not earlier and not held_out.unknown}
    return notes_on_completing(written.size, written.below_recorded, **told)


def _measured_at(learned):
    """Return the shares that tell how good filled ones are, and what they are.

    They are those of new rows where no share could be hidden, or most are missing in whole rows.
    """
    whole_rows = learned.n_empty > learned.n_missing / 2
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


def prediction_page(title, facts, n_rows, predicted, labels, notes=(), *, ends=(), coverage=None):
    """Return what is said about predicted rows.

    Parameters
    ----------
    title, facts, notes, ends, coverage
        As in `completion_page`.
    n_rows : int
        Number of predicted rows.
    predicted : DataFrame or array of shape (n, C)
        About 60 of them. The index names the rows.
    labels : sequence of str
        Names of the labels.
    """
    shown = f"{counted(len(predicted), 'row')} of the {n_rows:,}"
    caption = f"{shown}. The stronger the colour, the larger the share."
    marks = np.full(np.shape(predicted), "")
    told = f"The same in numbers.{_below(ends, coverage)}"
    blocks = [
        Paragraph("To see how good they are, run inldl evaluate on rows with known shares."),
        picture(partial(predicted_map, predicted, labels), caption, "prediction"),
        _rows(predicted, marks, labels, told, "predicted", ends),
    ]
    summary = [f"Predicted {listed(labels, 20)} for {counted(n_rows, 'row')}."]
    sections = [Section("Predicted shares", blocks, page_only=True)]
    return Document(title, summary, facts, notes, sections)


def predicted(written, model, table, out, notes=()):
    """Return what is said about a file with predictions; `notes` say how it was read."""
    facts = [("Table", table), ("Predicted table", out), ("Method", str(model.method))]
    labels, notes = list(written.after.columns), [*notes, *written.notes]
    title = f"{table}, predicted"
    about = (title, facts, written.n_rows, written.after, labels, notes)
    return prediction_page(*about, ends=written.ends, coverage=written.coverage)


def model_page(title, facts, notes, held_out=None, influence=None, report="", *, summary=None):
    """Return what is said about a fitted model.

    Parameters
    ----------
    title, facts, notes, influence, summary
        As in `completion_page`.
    held_out : HeldOut, optional
        Training shares beside predictions that were made without their rows.
    report : str
        What the model says about itself; lines are kept.
    """
    sections = quality_sections(held_out, influence)
    if report:
        sections.append(Section("What the model says", [Code(report)], page_only=True))
    return Document(title, _sentences(summary, held_out), facts, notes, sections)


def fitted(learned, table, influence=None):
    """Return what is said about a model that was fitted to a file."""
    labels = learned.model.label_names_
    facts = [("Table", table), ("Method", str(learned.model.method))]
    facts.append(("Labels", ", ".join(labels)))
    notes = [*learned.notes, *notes_on_known(learned.size)]
    error = "Error at known shares" if depends_on_size(learned.size) else "Expected error"
    measured = ("known shares of rows that were left out", error)
    measured = OF_RATIOS if learned.model.known == "ratios" else measured
    summary = [
        f"Learned {counted(len(labels), 'label')} from {counted(learned.n_rows, 'row')} with "
        f"{learned.missing:.1%} of the shares missing.",
        *error_sentences(learned.new_rows, *measured),
    ]
    report = str(getattr(learned.model.estimator_, "report_", ""))
    about = (f"A model of {table}", facts, notes, learned.new_rows)
    return model_page(*about, influence, report, summary=summary)


def evaluation_page(title, facts, notes, metrics, held_out, *, summary=None):
    """Return what is said about a model that was tested on a table.

    Parameters
    ----------
    title, facts, notes, summary
        As in `completion_page`.
    metrics : DataFrame
        One row per metric, by name; one column per method, such as "model", "constant mean".
    held_out : HeldOut
        Shares of the table beside what was predicted.
    """
    columns = [Column("measure"), *(Column(str(name)) for name in metrics.columns)]
    rows = [
        [str(name), *(Column("", form_of("", row)).cell(x).text for x in row), better(name)]
        for name, *row in metrics.astype(float).itertuples()
    ]
    caption = (
        "Means over the rows of the table. Only known shares count; in kl_divergence, the missing "
        "shares of a row count as one, whose sum is known."
    )
    table = Table([*columns, Column("better is")], rows, caption=caption, name="metrics")
    sections = [Section("Scores", [table]), *quality_sections(held_out)]
    return Document(title, _sentences(summary, held_out), facts, notes, sections)


def evaluated(found, model, table, notes=()):
    """Return what is said about a model that was tested on a file."""
    metrics = pd.DataFrame({"model": found.metrics, "constant mean": found.constant})
    facts = [("Table", table), ("Method", str(model.method)), ("Rows", f"{found.n_rows:,}")]
    summary = error_sentences(found.held_out, f"known shares of {counted(found.n_rows, 'row')}")
    if found.n_learned > FEW_LEARNED * found.n_rows:
        summary.append(
            f"The model was fitted to {found.n_learned:,} of these rows; new rows have larger "
            "errors."
        )
    covered = found.held_out.overall()["coverage"]
    if covered is not None:
        summary.append(f"The {found.coverage:.0%} intervals contain {covered:.1%} of the shares.")
    if found.bounded is not None:
        summary += _bounded_sentences(found.bounded)
    return evaluation_page(
        f"The model on {table}", facts, notes, metrics, found.held_out, summary=summary
    )


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


def model_facts(info):
    """Return what a model file says about itself; `info` is from `inldl.files.model_info`."""
    facts = {key: value for key, value in info.items() if key != "info"} | info["info"]
    write = {list: lambda names: listed(names, 20), float: "{:.4g}".format}
    pairs = [(key, write.get(type(value), str)(value)) for key, value in facts.items()]
    return Document("A model file", sections=[Section("What it holds", [Facts(pairs)])])
