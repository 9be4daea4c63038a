"""Write tables as plain text, Markdown, LaTeX, CSV and HTML, and documents as Markdown."""

import re

import pandas as pd

from inldl.report.html import template_environment

NOTE = "mean(standard deviation), {direction}; {best} and {second} of the row"
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


def text(scores):
    """Return an aligned table for a terminal, with a line that explains the marks."""
    marks = {"": " ", "best": "*", "second": "_"}
    body = [
        [_one_line(name), *(cell.text + marks[cell.mark] for cell in cells)]
        for name, cells in scores.rows() + scores.footer()
    ]
    lines = [["dataset", *map(_one_line, scores.methods)], *body]
    first, *others = (max(map(len, column)) for column in zip(*lines, strict=True))
    aligned = [
        "  ".join([name.ljust(first), *map(str.rjust, cells, others)]).rstrip()
        for name, *cells in lines
    ]
    note = NOTE.format(direction=scores.direction, best="* best", second="_ second best")
    title = [_one_line(scores.title)] if scores.title else []
    return "\n".join([*title, *aligned, note])


def _one_line(name):
    return " ".join(name.split())


def markdown(scores):
    """Return a Markdown table, bold and ``<u>`` for the two best."""
    note = NOTE.format(direction=scores.direction, best="**best**", second="<u>second best</u>")
    title = [markdown_text(scores.title), ""] if scores.title else []
    return "\n".join([*title, markdown_table(scores.block()), "", note])


def markdown_table(table):
    """Write a table of a document; all columns but the first are set to the right."""
    head = [markdown_text(column.name) for column in table.columns]
    rule = [":--", *("--:" for _ in head[1:])]
    body = _escaped(table, [*table.rows, *table.foot], markdown_text, _MARKDOWN_MARKS)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *body])


def markdown_text(name):
    """Escape what Markdown would read; a pipe as an entity, which no table parser splits at."""
    signs = re.sub(r"([\\`*_\[\]<>&~#$])", r"\\\1", _one_line(name))
    return signs.replace("|", "&#124;")


def _escaped(table, rows, escape, marks):
    """Return the cells of rows as another language writes them."""
    return [
        [marks.get(cell.mark, "{}").format(escape(cell.text)) for cell in cells]
        for cells in table.cells(rows)
    ]


def latex(scores, label=""):
    r"""Return a LaTeX ``table*`` that needs the package booktabs.

    Parameters
    ----------
    label : str
        The key for ``\ref``, e.g. "tab:cosine"; none by default.
    """
    if not re.fullmatch(r"[\w:.+/-]*", label):
        raise ValueError(
            f"label must consist of letters, digits and : . + / - _ only, got {label!r}."
        )
    note = NOTE.format(
        direction=scores.direction, best=r"\textbf{best}", second=r"\underline{second best}"
    )
    title = latex_text(scores.title).rstrip(".") + ". " if scores.title else ""
    return latex_table(scores.block("Dataset"), f"{title}{note[0].upper()}{note[1:]}.", label)


def latex_table(table, caption, label=""):
    """Write a floating table of a document, with rules around its parts; the caption is LaTeX."""
    head = " & ".join(latex_text(column.name) for column in table.columns) + r" \\"
    parts = [_escaped(table, rows, latex_text, _LATEX_MARKS) for rows in (table.rows, table.foot)]
    lines = [[" & ".join(cells) + r" \\" for cells in part] for part in parts if part]
    return "\n".join(
        [
            r"\begin{table*}",
            r"\centering",
            rf"\caption{{{caption}}}",
            *([rf"\label{{{label}}}"] if label else []),
            rf"\begin{{tabular}}{{l{'c' * (len(table.columns) - 1)}}}",
            r"\toprule",
            "\n\\midrule\n".join("\n".join(part) for part in [[head], *lines]),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table*}",
        ]
    )


def latex_text(name):
    """Escape what LaTeX would read."""
    return "".join(_LATEX.get(sign, sign) for sign in _one_line(name))


def csv(scores):
    """Return the columns dataset, method, mean, std in full precision, without the ranks."""
    axes = [scores.mean.index, scores.mean.columns]
    index = pd.MultiIndex.from_product(axes, names=["dataset", "method"])
    columns = {name: getattr(scores, name).to_numpy().ravel() for name in ("mean", "std")}
    return pd.DataFrame(columns, index=index).to_csv(lineterminator="\n")


def html(scores):
    """Return a ``<table>``; each cell has its number in ``data-value``, for sorting."""
    return template_environment().get_template("scores.html.j2").render(table=scores).rstrip()


def markdown_document(document, folder):
    """Write a document as Markdown; its figures are .svg files in the folder."""
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
