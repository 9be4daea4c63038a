"""Pages with advice: the method that suits a table, and the missing shares worth asking for."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from inldl.report.document import Document, Header, Items, Paragraph, Section, ShownTable, picture
from inldl.report.figures import comparison as comparison_figure
from inldl.tables.audit import error, form_of, in_unit
from inldl.tables.comparison import Comparison
from inldl.tables.model import TableModel
from inldl.tables.questions import Asked
from inldl.text import counted

FEW_QUESTIONS = 10  # on a terminal


def comparison_page(
    comparison: Comparison, title: str = "Methods on a table", notes: Sequence[str] = ()
) -> Document:
    """Return the page of methods that were compared on a table.

    Parameters
    ----------
    comparison : Comparison
        What `inldl.tables.compare` found.
    title : str
        The title.
    notes : list of str
        How the table was understood.
    """
    unit = in_unit(comparison.unit)
    caption = (
        "The error of each method at shares that it had not seen: hidden from rows that it knew "
        "(completing), and of rows that it did not know (predicting). The dashed line is the mean "
        "of each column: a method that does not stay left of it has learned nothing."
    )
    draw = partial(comparison_figure, comparison.table, recommended=comparison.recommended)
    sentence = f"Errors are root mean squares{unit}, ± their standard errors; lower is better."
    figure = picture(draw, caption, "comparison")
    blocks = [figure, _methods(comparison), Paragraph(sentence)]
    failed = comparison.table[comparison.table["reason"] != ""]
    failures = [f"{each.method} failed: {each.reason}" for each in failed.itertuples()]
    sections = [Section("Errors", blocks)]
    if failures:
        sections.append(Section("Methods that failed", [Items(failures)]))
    facts = [("Recommended", comparison.recommended), ("Rows", f"{comparison.n_rows:,}")]
    return Document(title, [comparison.why], facts, [*notes, *comparison.notes], sections)


def _methods(comparison):
    """Return the numbers of the methods."""
    table = comparison.table
    completing, predicting = (
        form_of(comparison.unit, table[f"{kind}_rmse"]) for kind in ("completing", "predicting")
    )
    numbers = {
        "completing_rmse": Header("completing", completing),
        "completing_se": Header("±", completing),
        "predicting_rmse": Header("predicting", predicting),
        "predicting_se": Header("±", predicting),
        "cosine": Header("cosine", ".4f"),
        "seconds": Header("seconds", ".2f"),
    }
    more = {
        "behind": Header("behind the best", completing, page_only=True),
        "behind_se": Header("±", completing, page_only=True),
        "completing_mae": Header("completing: mean absolute error", completing, page_only=True),
        "predicting_mae": Header("predicting: mean absolute error", predicting, page_only=True),
    }
    chosen = (table["method"] == comparison.recommended).to_numpy()
    marks = np.where(chosen, "best", "").tolist()
    failed = np.where(table["reason"] != "", "failed", "")
    shown = table.assign(
        remark=np.where(chosen, "recommended", failed),
        beats=[
            ("yes", "good") if each else ("no", "bad") for each in table["better_than_constant"]
        ],
        **{name: list(zip(table[name], marks, strict=True)) for name in (*numbers, *more)},
    )
    caption = (
        "The same in numbers, the recommended method in bold. Beats the mean: by more than two "
        "standard errors of the difference. Behind the best: how much larger the error is that "
        "decides. Seconds: of one fit."
    )
    beats = {"remark": Header(""), "beats": Header("beats the mean", page_only=True)}
    columns = {"method": Header("method"), **numbers, **beats, **more}
    return ShownTable.of(shown, columns, caption, "methods")


def questions_page(
    asked: Asked,
    model: TableModel,
    table: str,
    out: str,
    notes: Sequence[str] = (),
    most: int = FEW_QUESTIONS,
) -> Document:
    """Return the page of a list of missing shares to ask for.

    Parameters
    ----------
    asked : Asked
        What `inldl.tables.ask_table` returned.
    model : TableModel
        The model that chose them.
    table, out : str
        The names of the file and of the list.
    notes : sequence of str
        How the table was understood.
    most : int
        How many questions are shown, from the first.
    """
    n_missing = asked.suggestion.n_missing
    facts = [("Table", table), ("Questions", out), ("Method", str(model.method))]
    facts.append(("Rows", f"{asked.n_rows:,}"))
    if not n_missing:
        summary = [f"No share is missing in {counted(asked.n_rows, 'row')}: nothing to ask for."]
    elif not len(asked.table):
        summary = [
            "Nothing to ask for: the sums of the rows give all missing shares, or the budget is "
            "too small for an answer."
        ]
    else:
        summary = _worth(asked)
    shown = [_questions(asked, most)] if len(asked.table) else []
    sections = [Section("What to ask for first", shown)] if shown else []
    return Document(f"What to ask about {table}", summary, facts, notes, sections)


def _worth(asked):
    """Return sentences on what the answers are worth."""
    suggestion, table = asked.suggestion, asked.table
    cells, rows = counted(len(table), "missing share"), counted(table["row"].nunique(), "row")
    errors = suggestion.rmse, suggestion.rmse_after
    before, after = (error(rmse * asked.whole, asked.unit) for rmse in errors)
    cost = "" if (table["cost"] == 1).all() else f", for {table['cost'].sum():,.6g} in all"
    return [
        f"The list has {cells} in {rows}{cost}, of {suggestion.n_missing:,} that are missing.",
        f"If all are answered, the expected error of the completed table falls from {before} to "
        f"{after} (root mean square over the shares that are missing now).",
        'Fill in the column "answer", and give the list to inldl complete with --answers.',
    ]


def _questions(asked, most):
    """Return the first questions as a table."""
    table = asked.table.iloc[:most]
    form = form_of(asked.unit or table["estimate"].max() > 1)  # counts, or percentages
    ids = list(table.columns[2 : table.columns.get_loc("label")])
    columns = {"rank": Header("rank"), "row": Header("row")}
    columns |= {name: Header(name, words=True) for name in [*ids, "label"]}
    numbers = {"estimate": "estimate", "low": "from", "high": "to"}
    columns |= {name: Header(heading, form) for name, heading in numbers.items()}
    columns["expected_error"] = Header("error then", form_of(asked.unit, table["expected_error"]))
    caption = (
        f"The first {len(table):,} of {len(asked.table):,} questions, the best first. Error then: "
        "what is expected once this one and all before it are answered."
    )
    return ShownTable.of(table, {**columns, "cost": Header("cost", ".4g")}, caption, "questions")
