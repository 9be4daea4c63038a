"""The page of a comparison of methods on a table."""

from functools import partial

import numpy as np

from inldl.report.document import Column, Document, Items, Paragraph, Section, Table, picture
from inldl.report.figures import comparison as comparison_figure
from inldl.tables.audit import form_of, in_unit


def comparison_page(comparison, title="Methods on a table", notes=()):
    """Return what is said about methods that were compared on a table.

    Parameters
    ----------
    comparison : Comparison
        What `inldl.tables.comparison` found.
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
        "completing_rmse": Column("completing", completing),
        "completing_se": Column("±", completing),
        "predicting_rmse": Column("predicting", predicting),
        "predicting_se": Column("±", predicting),
        "cosine": Column("cosine", ".4f"),
        "seconds": Column("seconds", ".2f"),
    }
    more = {
        "behind": Column("behind the best", completing, page_only=True),
        "behind_se": Column("±", completing, page_only=True),
        "completing_mae": Column("completing: mean absolute error", completing, page_only=True),
        "predicting_mae": Column("predicting: mean absolute error", predicting, page_only=True),
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
    beats = {"remark": Column(""), "beats": Column("beats the mean", page_only=True)}
    columns = {"method": Column("method"), **numbers, **beats, **more}
    return Table.of(shown, columns, caption, "methods")
