"""Show what was measured: figures, tables, and documents for the terminal and as pages.

Nothing but the layout is computed here.
"""

from typing import TYPE_CHECKING, Any

from inldl.report.document import Document
from inldl.report.figures import FIGURES, save, svg
from inldl.report.pages.comparison import comparison_page
from inldl.report.pages.inspection import inspection_page
from inldl.report.pages.run import write_page
from inldl.report.pages.table import (
    completion_page,
    evaluation_page,
    model_page,
    prediction_page,
)
from inldl.report.tables import ScoreTable

globals().update(FIGURES)
__all__ = [
    "Document",
    "ScoreTable",
    "comparison_page",
    "completion_page",
    "evaluation_page",
    "inspection_page",
    "model_page",
    "prediction_page",
    "save",
    "svg",
    "write_page",
]
__all__ += sorted(FIGURES)

if TYPE_CHECKING:  # figures are found in their modules

    def __getattr__(name: str) -> Any: ...
