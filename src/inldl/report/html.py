"""Make one HTML page of a document: no network, no other file. The markup is in assets."""

from __future__ import annotations

import json
import re
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from inldl.report.figures import svg

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_CELLS = 8_000
"""Cells that a table in a page may have."""


def render(document) -> str:
    """Return the page of a document."""
    environment = template_environment()
    views = script_json(_views(document))
    environment.globals |= {
        "document": document,
        "pictures": pictures(document, document.most_bytes - len(views)),
        "most_cells": MOST_CELLS,
    }
    data = views if document.choices else ""
    return environment.get_template("page.html.j2").render(data=data)


def render_table(table) -> str:
    """Return the figure of a table."""
    blocks: Any = template_environment().get_template("blocks.html.j2").module
    return str(blocks.whole_table(table))


def template_environment() -> Environment:
    """Return what reads the templates in assets; texts are escaped unless they are `safe`."""
    try:
        from jinja2 import Environment, PackageLoader
    except ImportError as error:
        raise ImportError("Pages need jinja2: pip install 'inldl[report]'") from error
    loader = PackageLoader("inldl.report", "assets")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["anchor"] = _anchor
    environment.globals["asset"] = lambda name: loader.get_source(environment, name)[0]
    return environment


def _anchor(title):
    """Return the id that links to a section."""
    return re.sub(r"\W+", "-", title.casefold()).strip("-") or "section"


def _views(document):
    """Return what the script of the page shows for each choice."""
    views = {}
    for block in document.blocks():
        if block.kind == "chosen":
            for key, content in block.contents.items():
                data = content if isinstance(content, list) else table_data(content)
                views.setdefault(key, {})[block.name] = data
    return views


def table_data(table) -> dict[str, Any]:
    """Return a table as the script of the page fills it in."""

    def plain(rows):
        return [[_cell_data(cell) for cell in row] for row in table.cells(rows)]

    head = [[column.name, "text"] if column.words else column.name for column in table.columns]
    parts = {"head": head, "rows": plain(table.rows), "foot": plain(table.foot)}
    return {**parts, "caption": table.caption, "name": table.name}


def _cell_data(cell):
    return list(cell) if cell.small else [cell.text, cell.mark] if cell.mark else cell.text


def script_json(data) -> str:
    """Return JSON that cannot end the script element it stands in."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@dataclass(frozen=True)
class Picture:
    """A drawn figure, or why there is none."""

    svg: str = ""
    narrow: str = ""  # the same for a narrow screen, if it is drawn for one
    problem: str = ""


def pictures(document, space) -> dict[Any, Picture]:
    """Draw the figures, those that are seen at first before the others, as long as they fit.

    Only then are they drawn for narrow screens: those that have no room for it are scrolled.
    """
    figures = [block for block in document.blocks() if block.kind == "figure"]
    figures.sort(key=lambda each: bool(each.when) and not document.choices.shows(each.when))
    drawn = {}
    for number, figure in enumerate(figures):
        drawn[figure] = _picture(figure, number) if space > 0 else _NO_SPACE
        space -= len(drawn[figure].svg)
    for number, figure in enumerate(figures):
        if figure.narrow is not None and drawn[figure].svg and space > 0:
            with suppress(ValueError):  # long names may leave no room
                narrow = _drawing(figure.narrow, figure.caption, f"n{number}-")
                drawn[figure] = replace(drawn[figure], narrow=narrow)
                space -= len(narrow)
    return drawn


_NO_SPACE = Picture(problem="This figure is left out to keep the page small.")


def _picture(block, number):
    try:
        return Picture(_drawing(block.draw, block.caption, f"d{number}-"))
    except ValueError as error:
        return Picture(problem=f"This figure cannot be drawn: {error}")


def _drawing(draw, caption, prefix):
    """Return what is drawn, as a part of a page whose ids start with the prefix."""
    with warnings.catch_warnings():
        # The browser draws the letters, with fonts that have more of them than matplotlib's.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        figure = draw()
        figure.patch.set_visible(False)  # the paper shows through, light or dark
        for axes in figure.axes:
            axes.patch.set_visible(False)
        return svg(figure, caption, prefix)
