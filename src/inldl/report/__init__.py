"""Show what was measured: figures, tables, and documents for the terminal and as pages.

Nothing but the layout is computed here.
"""

from typing import TYPE_CHECKING, Any

from .comparison_page import comparison_page
from .document import Document
from .figures import FIGURES, save, svg
from .inspection_page import inspection_page
from .run_page import write_page
from .table_pages import (
    completion_page,
    evaluation_page,
    model_page,
    prediction_page,
)
from .tables import ScoreTable

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
