"""Render documents as text on a terminal, as Markdown, and their tables as LaTeX."""

import re
import sys

from inldl.text import printable, say

PIPE_WIDTH = 110  # characters of a line where nobody says how wide the output is
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
    for text in document.notes:
        say(text)
    for section in document.sections:
        for block in section.blocks if not section.page_only else ():
            if block.kind == "table":
                _print_table(block)
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


def _print_table(table):
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else PIPE_WIDTH).print(_aligned(table))


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
