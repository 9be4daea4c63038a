"""Build one HTML page that needs nothing but itself: no network, no other file.

A page is a title, an introduction and sections; a section is a title and parts. Parts are HTML:
make them with the functions of this module, which escape the text they are given.

>>> from inldl.report.page import Page, Section, Table, paragraph
>>> table = Table(["dataset", "ours"], [["SJAFFE", ("0.9417", "good")]])
>>> page = Page("Results", [paragraph("Two words.")], [Section("Scores", [table.html()])])
>>> page.html()[:15]
'<!doctype html>'

``page.write("results.html")`` replaces the file only when the new one is whole.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from inldl.io._replacing import write_text

Cell = str | tuple[str, str]
"""The text of a cell, or text and mark."""

_MARKUP = {"best": "<strong>{}</strong>", "second": "<u>{}</u>"}


@dataclass(frozen=True)
class Table:
    """A table in a box of its own, sortable by each column.

    Parameters
    ----------
    head : sequence of (str or (str, str))
        Names of the columns.
    rows, foot : sequence of sequences of (str or (str, str))
        Cells, the first of a row is its name. A pair is text and mark: "best" (bold), "second"
        (underlined), "good", "fair" or "bad" (coloured), "text" (words, not a number). Rows in
        `foot` stay when others are sorted.
    caption : str
        What the table shows.
    name : str
        Name of the downloaded file, without suffix; "" for a table that cannot be downloaded.
    """

    head: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    foot: Sequence[Sequence[Cell]] = ()
    caption: str = ""
    name: str = ""

    def html(self) -> str:
        """Return the element."""
        head = "".join(_cell(name, "th", ' scope="col"') for name in self.head)
        foot = f"<tfoot>{_lines(self.foot)}</tfoot>" if self.foot else ""
        label = escape(self.caption or ", ".join(_pair(name)[0] for name in self.head))
        return (
            f'<figure class="table" data-name="{escape(self.name)}">'
            f"<figcaption>{escape(self.caption)}</figcaption>"
            f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
            f'<table style="--columns: {len(self.head)}"><thead><tr>{head}</tr></thead>'
            f"<tbody>{_lines(self.rows)}</tbody>{foot}</table></div></figure>"
        )

    def data(self) -> dict:
        """Return the same for the JSON of a page."""
        return {name: getattr(self, name) for name in ("head", "rows", "foot", "caption", "name")}


def _lines(rows):
    return "".join(
        f"<tr>{_row_name(_pair(first)[0])}{''.join(map(_cell, others))}</tr>"
        for first, *others in rows
    )


def _row_name(text):
    # The title tells the whole of a name that the width cuts off.
    return f'<th scope="row" title="{escape(text)}">{escape(text)}</th>'


def _cell(cell, tag="td", more=""):
    text, mark = _pair(cell)
    shown = _MARKUP.get(mark, "{}").format(escape(text))
    kind = f' class="{escape(mark)}"' if mark else ""
    return f"<{tag}{more}{kind}>{shown}</{tag}>"


def _pair(cell):
    return (cell, "") if isinstance(cell, str) else cell


def paragraph(*texts: str, kind: str = "") -> str:
    """Return one paragraph per text; `kind` is "" or "note" (set apart)."""
    mark = f' class="{kind}"' if kind else ""
    return "".join(f"<p{mark}>{escape(text)}</p>" for text in texts)


def heading(text: str) -> str:
    """Return a heading inside a section."""
    return f"<h3>{escape(text)}</h3>"


def code(text: str) -> str:
    """Return lines to be copied as they are."""
    return f'<div class="code"><pre tabindex="0">{escape(text)}</pre></div>'


def terms(pairs: Sequence[tuple[str, str]]) -> str:
    """Return a list of terms and what they stand for."""
    lines = (f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in pairs)
    return f"<dl>{''.join(lines)}</dl>"


def drawing(svg: str, caption: str, name: str = "", when: str = "", shown: bool = True) -> str:
    """Return a figure.

    Parameters
    ----------
    svg : str
        An ``<svg>`` element, see `inldl.report.svg`.
    caption : str
        What it shows.
    name : str
        Name of the downloaded file, without suffix.
    when : str
        The choices that it belongs to, see `Views`; "" for always.
    shown : bool
        Whether it is seen at first.
    """
    return (
        f'<figure class="drawing" data-name="{escape(name)}"{_when(when, shown)}>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"{svg}</div><figcaption>{escape(caption)}</figcaption></figure>"
    )


def _when(when, shown):
    return (f' data-when="{escape(when)}"' if when else "") + ("" if shown else " hidden")


@dataclass(frozen=True)
class Views:
    """Tables and texts that change with what the reader chooses.

    Parameters
    ----------
    choices : dict of str to list of str
        What can be chosen, and the names of the options; one option only is not offered.
    contents : dict of str to dict of str to (Table or list of str)
        For each key the content of each slot: a table, or paragraphs. A key is the place of the
        chosen option of each choice, e.g. "0-2". In ``drawing(..., when="*-2")`` a star stands
        for any.
    first : str
        The key that is seen at first, also without JavaScript.
    """

    choices: dict[str, Sequence[str]]
    contents: dict[str, dict[str, Table | list[str]]]
    first: str

    def controls(self) -> str:
        """Return the part with which the reader chooses."""
        chosen = map(int, self.first.split("-"))
        fields = [
            _select(place, name, options, start)
            for place, ((name, options), start) in enumerate(
                zip(self.choices.items(), chosen, strict=True)
            )
        ]
        return f'<form class="controls" autocomplete="off" hidden>{"".join(fields)}</form>'

    def slot(self, name: str) -> str:
        """Return the part that changes, filled with what is seen at first."""
        return f'<div data-slot="{escape(name)}">{_content(self.contents[self.first][name])}</div>'

    def data(self) -> dict:
        """Return the contents for the JSON of a page."""
        return {
            key: {
                name: each.data() if isinstance(each, Table) else each
                for name, each in slots.items()
            }
            for key, slots in self.contents.items()
        }


def _select(place, name, options, start):
    listed = "".join(
        f'<option value="{at}"{" selected" * (at == start)}>{escape(option)}</option>'
        for at, option in enumerate(options)
    )
    hidden = " hidden" * (len(options) < 2)
    return f'<label{hidden}>{escape(name)} <select data-choice="{place}">{listed}</select></label>'


def _content(content):
    return content.html() if isinstance(content, Table) else paragraph(*content)


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading.

    Parameters
    ----------
    title : str
        The heading; the list of sections at the top of the page shows it too.
    parts : sequence of str
        HTML.
    """

    title: str
    parts: Sequence[str]

    @property
    def anchor(self) -> str:
        """Return the id that links to the section."""
        return re.sub(r"\W+", "-", self.title.casefold()).strip("-") or "section"


@dataclass(frozen=True)
class Page:
    """A page: title, introduction, sections, and what the reader can choose.

    Parameters
    ----------
    title : str
        The title.
    intro : sequence of str
        Parts, HTML, above the list of sections.
    sections : sequence of Section
        The sections, each with a title of its own.
    views : Views, optional
        Whose slots and controls are among the parts.
    """

    title: str
    intro: Sequence[str] = ()
    sections: Sequence[Section] = field(default_factory=list)
    views: Views | None = None

    def html(self) -> str:
        """Return the whole document."""
        try:
            from jinja2 import Environment, PackageLoader
        except ImportError as error:
            raise ImportError("Pages need jinja2: pip install 'inldl[report]'") from error
        loader = PackageLoader("inldl.report", "assets")
        environment = Environment(loader=loader, autoescape=True, trim_blocks=True)
        style, script = (
            loader.get_source(environment, name)[0] for name in ("page.css", "page.js")
        )
        data = "" if self.views is None else script_json(self.views.data())
        return environment.get_template("page.html.j2").render(
            page=self, style=style, script=script, data=data
        )

    def write(self, path: str | Path, *, overwrite: bool = True) -> None:
        """Write the document; a file is replaced only when the new one is whole."""
        write_text(path, self.html(), overwrite=overwrite)


def script_json(data: object) -> str:
    """Return JSON that cannot end the script element it stands in."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
