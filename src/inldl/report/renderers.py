"""Render documents: text on a terminal, HTML pages, Markdown, and their tables as LaTeX.

A page needs no network and no other file. Its markup is in assets.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from inldl.report.figures import svg
from inldl.text import printable, say

if TYPE_CHECKING:
    from jinja2 import Environment

PIPE_WIDTH = 110  # characters of a line where nobody says how wide the output is
MOST_CELLS = 8_000  # of a table in a page
WIDEST = 10_000  # characters of a table that is not shown on a terminal

_TEXT_MARKS = {"": "{} ", "best": "{}*", "second": "{}_"}
_MARKDOWN_MARKS = {"best": "**{}**", "second": "<u>{}</u>"}
_LATEX_MARKS = {"best": r"\textbf{{{}}}", "second": r"\underline{{{}}}"}
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # after the end of a row a bare [ or * belongs to it
    "*": "{*}",
    "–": "--",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def show(document) -> None:
    """Print a document without what only a page has room for.

    The summary comes last, where it is seen first.
    """
    from rich.console import Console

    for text in document.notes:
        say(text)
    for section in document.sections:
        for block in section.blocks if not section.page_only else ():
            if block.kind == "table":
                Console(width=None if sys.stdout.isatty() else PIPE_WIDTH).print(_aligned(block))
            elif block.kind in _LINES:  # pictures are for pages
                for text in _LINES[block.kind](block):
                    say(text)
    for text in document.summary:
        say(text)


_LINES = {
    **dict.fromkeys(("paragraph", "note", "heading", "code"), lambda block: [block.text]),
    "items": lambda block: [f"- {text}" for text in block.texts],
    "facts": lambda block: [  # one line each, whatever the names
        f"{name}: {value}".replace("\n", " ") for name, value in block.pairs
    ],
}


def _aligned(table, marks=None):
    """Return a table of rich; numbers stand to the right, and long names are folded."""
    from rich.table import Table
    from rich.text import Text

    shown = [at for at, column in enumerate(table.columns) if not column.page_only]
    aligned = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for at in shown:
        column = table.columns[at]
        if column.words or at == 0:
            aligned.add_column(column.name, overflow="fold")
        else:
            aligned.add_column(column.name, justify="right", no_wrap=True)
    for cells in _escaped(table, [*table.rows, *table.foot], printable, marks or {}):
        aligned.add_row(*(Text(cells[at]) for at in shown))
    return aligned


def table_text(table) -> str:
    """Return a table as aligned text, the two best of a row with a star and a line."""
    from rich.console import Console

    console = Console(width=WIDEST, color_system=None)
    with console.capture() as capture:
        console.print(_aligned(table, _TEXT_MARKS))
    lines = [line.rstrip() for line in capture.get().splitlines()]
    return "\n".join([*_caption(table, _one_line, _TEXT_MARKS), *lines])


def _one_line(name):
    return " ".join(name.split())


def _caption(table, escape, marks):
    """Return the caption, and what the marks of ranked scores mean, if there is such a text."""
    texts = [escape(table.caption)] if table.caption else []
    if table.ranked:
        best, second = marks["best"].format("Best"), marks["second"].format("second best")
        texts.append(f"{best} and {second} of the row.")
    return [" ".join(texts)] if texts else []


def _escaped(table, rows, escape, marks):
    """Return the cells of rows as another language writes them."""
    return [
        [marks.get(cell.mark, "{}").format(escape(cell.text)) for cell in cells]
        for cells in table.cells(rows)
    ]


def markdown_table(table) -> str:
    """Return a table as Markdown; all columns but the first are set to the right."""
    head = [markdown_text(column.name) for column in table.columns]
    rule = [":--", *("--:" for _ in head[1:])]
    body = _escaped(table, [*table.rows, *table.foot], markdown_text, _MARKDOWN_MARKS)
    lines = ["| " + " | ".join(cells) + " |" for cells in [head, rule, *body]]
    caption = _caption(table, markdown_text, _MARKDOWN_MARKS)
    return "\n\n".join([*caption, "\n".join(lines)])


def markdown_text(text) -> str:
    """Escape what Markdown would read; a pipe as an entity, which no table parser splits at."""
    signs = re.sub(r"([\\`*_\[\]<>&~#$])", r"\\\1", _one_line(text))
    return signs.replace("|", "&#124;")


def markdown_document(document, folder) -> str:
    """Return a document as Markdown; its figures are .svg files in the folder."""
    parts = [f"# {markdown_text(document.title)}", *map(markdown_text, document.summary)]
    for section in document.sections:
        parts.append(f"## {markdown_text(section.title)}")
        parts += [_MARKDOWN[block.kind](block, folder) for block in section.blocks]
    return "\n\n".join(parts) + "\n"


def _markdown_facts(block, folder):
    return "\n".join(f"- {markdown_text(name)}: {markdown_text(x)}" for name, x in block.pairs)


def _markdown_figure(block, folder):
    caption = markdown_text(block.caption)
    return f"![{caption.partition(': ')[0]}]({folder}/{block.name}.svg)\n\n{caption}"


_MARKDOWN = {
    "facts": _markdown_facts,
    "table": lambda block, folder: markdown_table(block),
    "figure": _markdown_figure,
    "code": lambda block, folder: f"    {block.text}",
    "heading": lambda block, folder: f"### {markdown_text(block.text)}",
    **dict.fromkeys(("paragraph", "note"), lambda block, folder: markdown_text(block.text)),
}


def latex_table(table, label="") -> str:
    """Return a table as a floating LaTeX ``table*`` with rules around its parts."""
    if not re.fullmatch(r"[\w:.+/-]*", label):
        raise ValueError(
            f"label must consist of letters, digits and : . + / - _ only, got {label!r}."
        )
    head = " & ".join(latex_text(column.name) for column in table.columns) + r" \\"
    parts = [_escaped(table, rows, latex_text, _LATEX_MARKS) for rows in (table.rows, table.foot)]
    lines = [[" & ".join(cells) + r" \\" for cells in part] for part in parts if part]
    return "\n".join(
        [
            r"\begin{table*}",
            r"\centering",
            *(rf"\caption{{{text}}}" for text in _caption(table, latex_text, _LATEX_MARKS)),
            *([rf"\label{{{label}}}"] if label else []),
            rf"\begin{{tabular}}{{l{'c' * (len(table.columns) - 1)}}}",
            r"\toprule",
            "\n\\midrule\n".join("\n".join(part) for part in [[head], *lines]),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table*}",
        ]
    )


def latex_text(text) -> str:
    """Escape what LaTeX would read."""
    return "".join(_LATEX.get(sign, sign) for sign in _one_line(text))


def html_page(document) -> str:
    """Return the page of a document."""
    environment = template_environment()
    views = script_json(_views(document))
    shown = pictures(document, document.most_bytes - len(views))
    environment.globals |= {"document": document, "pictures": shown, "most_cells": MOST_CELLS}
    data = views if document.choices else ""
    return environment.get_template("page.html.j2").render(data=data)


def html_table(table) -> str:
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
        if space <= 0:
            drawn[figure] = Picture(problem="This figure is left out to keep the page small.")
            continue
        try:
            drawn[figure] = Picture(_drawing(figure.draw, figure.caption, f"d{number}-"))
        except ValueError as error:
            drawn[figure] = Picture(problem=f"This figure cannot be drawn: {error}")
        space -= len(drawn[figure].svg)
    for number, figure in enumerate(figures):
        if figure.narrow is not None and drawn[figure].svg and space > 0:
            narrow = _drawing(figure.narrow, figure.caption, f"n{number}-")
            drawn[figure] = replace(drawn[figure], narrow=narrow)
            space -= len(narrow)
    return drawn


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
