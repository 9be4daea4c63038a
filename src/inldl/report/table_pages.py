"""Pages for people with a table: a completed table, a model, a test, an inspection, a choice."""

from functools import partial

from inldl.metrics import METRICS

from ._inspection_parts import column_parts, missing_parts, problem_parts, randomness_parts
from ._run_figures import Space
from ._table_parts import (
    SIZE,
    bounded,
    completed_parts,
    held_out_sections,
    held_out_summary,
    influence_sections,
    intro,
    number,
    predicted_parts,
    unit_of,
)
from .figures import comparison as comparison_figure
from .figures import completion_map, predicted_map
from .page import Page, Section, Table, code, paragraph

FILLED = (
    "A filled degree is what the features predict, moved by what the errors of that prediction at "
    "the observed degrees of the row tell (if this was of use at degrees that were hidden on "
    "purpose), and such that the row sums to the whole."
)


def completion_page(
    title, facts, notes, before, after, labels, held_out=None, influence=None, *, summary=None
):
    """Return the page of a completed table.

    Parameters
    ----------
    title : str
        The title.
    facts : list of (str, str)
        Terms and what they stand for, such as ("Rows", "500").
    notes : list of str
        Sentences that the owner of the table should read.
    before, after : DataFrame or array of shape (n, C)
        About 60 rows before and after, NaN = hole. The index of `after` names the rows.
    labels : sequence of str
        Names of the labels.
    held_out : HeldOut, optional
        Degrees that were hidden on purpose, beside what was filled in.
    influence : DataFrame of shape (features, labels), optional
        By how much the error of each label rises when a feature is shuffled.
    summary : str, optional
        What is said first; the errors at `held_out` by default.

    Returns
    -------
    Page
        ``page.write("completed.html")`` writes it.
    """
    space = Space(SIZE)
    rows = f"{len(after)} row{'s' * (len(after) != 1)}"
    caption = (
        f"{rows} of the table, before and after. Hatched cells were not observed, a dot marks a "
        "degree that was filled in; observed degrees stay as they are. The stronger the "
        "colour, the larger."
    )
    picture = space.drawing(partial(completion_map, before, after, labels), caption, "completion")
    sections = [
        Section(
            "Before and after",
            [paragraph(FILLED), picture, completed_parts(before, after, labels)],
        ),
        *held_out_sections(held_out, space),
        *influence_sections(influence, space, unit_of(held_out)),
    ]
    summary = held_out_summary(held_out) if summary is None else summary
    return Page(title, intro(summary, facts, notes), sections)


def prediction_page(title, facts, n_rows, predicted, labels):
    """Return the page of predicted rows.

    Parameters
    ----------
    title, facts
        As in `completion_page`.
    n_rows : int
        Number of predicted rows.
    predicted : DataFrame or array of shape (n, C)
        About 60 of them. The index names the rows.
    labels : sequence of str
        Names of the labels.
    """
    rows = f"{len(predicted)} row{'s' * (len(predicted) != 1)}"
    caption = f"{rows} of the {n_rows:,}. The stronger the colour, the larger the degree."
    draw = partial(predicted_map, predicted, labels)
    parts = [
        Space(SIZE).drawing(draw, caption, "prediction"),
        predicted_parts(predicted, labels),
    ]
    summary = (
        f"{n_rows:,} row{'s' * (n_rows != 1)} were predicted. How good that is, only known "
        "degrees of such rows can tell: the command inldl evaluate compares with them."
    )
    return Page(title, intro(summary, facts, []), [Section("Predicted degrees", parts)])


def model_page(title, facts, notes, held_out=None, influence=None, report=""):
    """Return the page of a fitted model.

    Parameters
    ----------
    title, facts, notes, influence
        As in `completion_page`.
    held_out : HeldOut, optional
        Training degrees beside predictions that were made without their rows.
    report : str
        What the model says about itself; lines are kept.
    """
    space = Space(SIZE)
    sections = [
        *held_out_sections(held_out, space),
        *influence_sections(influence, space, unit_of(held_out)),
    ]
    if report:
        sections.append(Section("What the model says", [code(report)]))
    return Page(title, intro(held_out_summary(held_out), facts, notes), sections)


def evaluation_page(title, facts, notes, metrics, held_out):
    """Return the page of a model that was tried on a table.

    Parameters
    ----------
    title, facts, notes
        As in `completion_page`.
    metrics : DataFrame
        One row per metric, by name; one column per method, such as "model", "constant mean".
    held_out : HeldOut
        Degrees of the table beside what was predicted.
    """
    space = Space(SIZE)
    rows = [
        [_with_arrow(name), *map(number, line)]
        for name, line in zip(metrics.index, metrics.to_numpy(dtype=float), strict=True)
    ]
    caption = "Means over the rows of the table. ↑ higher is better, ↓ lower is better."
    table = Table(["metric", *map(str, metrics.columns)], rows, caption=caption, name="metrics")
    sections = [Section("Scores", [bounded(table)]), *held_out_sections(held_out, space)]
    return Page(title, intro(held_out_summary(held_out), facts, notes), sections)


def _with_arrow(name):
    if name not in METRICS:
        return str(name)
    return f"{name.replace('_', ' ')} {'↑' if METRICS[name].higher_is_better else '↓'}"


def inspection_page(inspection, observed=None, title="A look at a table"):
    """Return the page of a table that was looked at before anything is learned from it.

    Parameters
    ----------
    inspection : Inspection
        What `inldl.tables.inspect_table` found.
    observed : array-like of bool of shape (n, C), optional
        Where degrees are observed; without it the most frequent patterns of holes are drawn.
    title : str
        The title.
    """
    space = Space(SIZE)
    summary = (
        f"{inspection.n_rows:,} rows with {len(inspection.labels)} labels and "
        f"{inspection.n_features} columns of features; {inspection.missing:.1%} of the degrees "
        "are missing."
    )
    findings = inspection.findings or ["Nothing stands out."]
    sections = [
        Section("What to know, and what to do", [paragraph(*findings)]),
        Section("What is missing", missing_parts(inspection, observed, space)),
        Section("Whether it is missing at random", randomness_parts(inspection, space)),
        Section("Rows that need a look", problem_parts(inspection)),
        Section("The columns of features", column_parts(inspection)),
    ]
    return Page(title, [paragraph(summary), paragraph(*inspection.notes, kind="note")], sections)


def comparison_page(comparison, title="Methods on a table"):
    """Return the page of methods that were compared on a table.

    Parameters
    ----------
    comparison : Comparison
        What `inldl.tables.compare` found.
    title : str
        The title.
    """
    caption = (
        "The error of each method at degrees that it had not seen: hidden from rows that it knew "
        "(completing), and of rows that it did not know (predicting). The dashed line is guessing "
        "the mean of each label: a method that does not stay left of it has learned nothing."
    )
    draw = partial(comparison_figure, comparison.table, recommended=comparison.recommended)
    picture = Space(SIZE).drawing(draw, caption, "comparison")
    facts = [
        ("Recommended", comparison.recommended),
        ("Rows that took part", f"{comparison.n_rows:,}"),
    ]
    sections = [
        Section("Errors", [picture, bounded(_methods(comparison))]),
        *_failures(comparison.table),
    ]
    return Page(title, intro(comparison.why, facts, comparison.notes), sections)


_ERRORS = {
    "completing_rmse": "completing: error",
    "completing_se": "standard error",
    "predicting_rmse": "predicting: error",
    "predicting_se": "standard error",
}
_MORE = {
    "behind": "behind the best",
    "behind_se": "standard error",
    "completing_mae": "completing: mean absolute error",
    "predicting_mae": "predicting: mean absolute error",
    "cosine": "predicting: cosine",
}


def _methods(comparison):
    """Return the numbers of the methods that did not fail."""
    rows = []
    for each in comparison.table.to_dict("records"):
        mark = "best" if each["method"] == comparison.recommended else ""
        errors, more = (
            [(number(each[name]), mark) for name in names] for names in (_ERRORS, _MORE)
        )
        beats = ("yes", "good") if each["better_than_constant"] else ("no", "bad")
        seconds = number(each["seconds"], ".3g")
        if not each["reason"]:
            rows.append([each["method"], *errors, beats, seconds, *more])
    caption = (
        "The same in numbers, the recommended method in bold. Errors are root mean square errors. "
        "Beats the mean: by more than two standard errors of the difference. Behind the best: how "
        "much larger the error is that decides."
    )
    head = ["method", *_ERRORS.values(), "beats the mean", "seconds of a fit", *_MORE.values()]
    return Table(head, rows, caption=caption, name="methods")


def _failures(table):
    rows = [
        [each["method"], (each["reason"], "text")]
        for each in table.to_dict("records")
        if each["reason"]
    ]
    if not rows:
        return []
    table = Table(["method", ("reason", "text")], rows, name="failures")
    return [Section("Methods that failed", [table.html()])]
