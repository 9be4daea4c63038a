"""Write score tables as plain text, Markdown, LaTeX, CSV and HTML, and documents as Markdown."""

import re

import pandas as pd

from .html import template_environment

NOTE = "mean(standard deviation), {direction}; {best} and {second} of the row"

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


def text(table):
    """Align the columns; a star marks the best, a low line the second best."""
    marks = {"": " ", "best": "*", "second": "_"}
    body = [
        [_one_line(name), *(cell.text + marks[cell.mark] for cell in cells)]
        for name, cells in table.rows() + table.footer()
    ]
    lines = [["dataset", *(_one_line(name) for name in table.methods)], *body]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligned = [_aligned(line, widths) for line in lines]
    note = NOTE.format(direction=table.direction, best="* best", second="_ second best")
    return "\n".join([*_title_lines(table), *aligned, note])


def _aligned(line, widths):
    first, *others = widths
    cells = [f"{cell:>{width}}" for cell, width in zip(line[1:], others, strict=True)]
    return "  ".join([f"{line[0]:<{first}}", *cells]).rstrip()


def _title_lines(table):
    return [_one_line(table.title)] if table.title else []


def _one_line(name):
    return " ".join(name.split())


def markdown(table):
    """Write a pipe table, the best in bold and the second best underlined."""
    marks = {"": "{}", "best": "**{}**", "second": "<u>{}</u>"}
    head = ["dataset", *(markdown_text(name) for name in table.methods)]
    body = [
        [markdown_text(name), *(marks[cell.mark].format(cell.text) for cell in cells)]
        for name, cells in table.rows() + table.footer()
    ]
    note = NOTE.format(direction=table.direction, best="**best**", second="<u>second best</u>")
    title = [markdown_text(table.title), ""] if table.title else []
    return "\n".join([*title, pipe_table(head, body), "", note])


def pipe_table(head, body):
    """Write cells that are Markdown already; all columns but the first are set to the right."""
    rule = [":--", *("--:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *body])


def plain_markdown(head, rows):
    """Write rows of plain text as a pipe table."""
    return pipe_table([*map(markdown_text, head)], [[*map(markdown_text, row)] for row in rows])


def markdown_text(name):
    """Escape what Markdown would read; a pipe as an entity, which no table parser splits at."""
    signs = re.sub(r"([\\`*_\[\]<>&~#$])", r"\\\1", _one_line(name))
    return signs.replace("|", "&#124;")


def latex(table, label=""):
    """Write a floating table in the style of booktabs."""
    if not re.fullmatch(r"[\w:.+/-]*", label):
        raise ValueError(
            f"label must consist of letters, digits and : . + / - _ only, got {label!r}."
        )
    groups = [[_latex_row(name, cells) for name, cells in table.rows()]]
    groups += [[_latex_row(name, cells)] for name, cells in table.footer()]
    note = NOTE.format(
        direction=table.direction, best=r"\textbf{best}", second=r"\underline{second best}"
    )
    title = _latex(table.title).rstrip(".") + ". " if table.title else ""
    caption = f"{title}{note[0].upper()}{note[1:]}."
    return booktabs(["Dataset", *table.methods], groups, caption, label)


def booktabs(head, groups, caption, label=""):
    """Write a floating table; the rows, in groups between rules, and the caption are LaTeX."""
    return "\n".join(
        [
            r"\begin{table*}",
            r"\centering",
            rf"\caption{{{caption}}}",
            *([rf"\label{{{label}}}"] if label else []),
            rf"\begin{{tabular}}{{l{'c' * (len(head) - 1)}}}",
            r"\toprule",
            " & ".join(map(_latex, head)) + r" \\",
            r"\midrule",
            "\n\\midrule\n".join("\n".join(group) for group in groups),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table*}",
        ]
    )


def plain_latex(head, rows, caption, label=""):
    """Write rows of plain text as a floating table."""
    lines = [" & ".join(map(_latex, row)) + r" \\" for row in rows]
    return booktabs(head, [lines], _latex(caption), label)


def _latex_row(name, cells):
    marks = {"": "{}", "best": r"\textbf{{{}}}", "second": r"\underline{{{}}}"}
    texts = [marks[cell.mark].format(_latex(cell.text)) for cell in cells]
    return " & ".join([_latex(name), *texts]) + r" \\"


def _latex(name):
    return "".join(_LATEX.get(sign, sign) for sign in _one_line(name))


def csv(table):
    """Write one line per dataset and method, numbers in full precision."""
    index = pd.MultiIndex.from_product(
        [table.mean.index, table.mean.columns], names=["dataset", "method"]
    )
    columns = {"mean": table.mean.to_numpy().ravel(), "std": table.std.to_numpy().ravel()}
    return pd.DataFrame(columns, index=index).to_csv(lineterminator="\n")


def html(table):
    """Write a table whose cells carry their numbers; the ranks stand in ``<tfoot>``."""
    return template_environment().get_template("scores.html.j2").render(table=table).rstrip()


def markdown_document(document, folder):
    """Write a document as Markdown; its figures are .svg files in the folder."""
    parts = [f"# {markdown_text(document.title)}", *map(markdown_text, document.summary)]
    for section in document.sections:
        parts.append(f"## {markdown_text(section.title)}")
        parts += [_MARKDOWN[block.kind](block, folder) for block in section.blocks]
    return "\n\n".join(parts) + "\n"


def _markdown_facts(block, folder):
    return "\n".join(f"- {markdown_text(name)}: {markdown_text(x)}" for name, x in block.pairs)


def _markdown_table(block, folder):
    rows = [[text for text, _ in row] for row in block.cells(block.rows)]
    return plain_markdown([column.name for column in block.columns], rows)


def _markdown_figure(block, folder):
    caption = markdown_text(block.caption)
    return f"![{caption.partition(': ')[0]}]({folder}/{block.name}.svg)\n\n{caption}"


_MARKDOWN = {
    "facts": _markdown_facts,
    "table": _markdown_table,
    "figure": _markdown_figure,
    "code": lambda block, folder: f"    {block.text}",
}
