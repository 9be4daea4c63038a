"""Show what was measured: figures, tables, and documents for the terminal and as pages.

One function makes the document of each result, and ``document.write("page.html")`` writes it as a
page; `save` writes a figure. Nothing but the layout is computed here.
"""

from typing import TYPE_CHECKING, Any

from inldl.report.document import Document, ShownTable
from inldl.report.figures import FIGURES, save, svg
from inldl.report.pages.advice import asking_trial_page, comparison_page, questions_page
from inldl.report.pages.inspection import inspection_page
from inldl.report.pages.run import run_page
from inldl.report.pages.table import (
    completion_page,
    evaluation_page,
    model_page,
    prediction_page,
)
from inldl.report.scores import score_table

globals().update(FIGURES)
__all__ = [
    "Document",
    "ShownTable",
    "asking_trial_page",
    "comparison_page",
    "completion_page",
    "evaluation_page",
    "inspection_page",
    "model_page",
    "prediction_page",
    "questions_page",
    "run_page",
    "save",
    "score_table",
    "svg",
]
__all__ += sorted(FIGURES)

if TYPE_CHECKING:  # figures are found in their modules

    def __getattr__(name: str) -> Any: ...
