"""Show what was measured: figures, tables, and documents for the terminal and as pages.

One function makes the document of each result, and ``document.write("page.html")`` writes it as a
page; `save` writes a figure. Nothing but the layout is computed here.
"""

from inldl.lazy import lazy_names
from inldl.report.figures import FIGURES

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    dict.fromkeys(["save", "svg", *FIGURES], "inldl.report.figures")
    | {
        "Document": "inldl.report.document",
        "ShownTable": "inldl.report.document",
        "comparison_page": "inldl.report.pages.advice",
        "completion_page": "inldl.report.pages.table",
        "evaluation_page": "inldl.report.pages",
        "inspection_page": "inldl.report.pages.advice",
        "model_page": "inldl.report.pages.table",
        "prediction_page": "inldl.report.pages.table",
        "questions_page": "inldl.report.pages.advice",
    },
)
