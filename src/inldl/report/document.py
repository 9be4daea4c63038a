"""Documents: what a result says, as plain data.

A document is a title, a summary, and sections of blocks. `inldl.report.renderers` prints it and
makes a page of it; it knows a block by its `kind`.

>>> from inldl.report.document import Header, Document, Section, ShownTable
>>> columns = [Header("dataset"), Header("ours", ".4f")]
>>> table = ShownTable(columns, [["SJAFFE", (0.94171, "good")]])
>>> page = Document("Results", ["One dataset was run."], sections=[Section("Scores", [table])])
>>> page.html()[:15]
'<!doctype html>'

``page.write("results.html")`` replaces the file only when the new one is whole.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

from inldl.files.replacing import write_text
from inldl.report import renderers
from inldl.report.style import COLUMN

DASH = "–"  # for a number that is missing


@dataclass(frozen=True, eq=False, kw_only=True)
class Content:
    """A part of a section."""

    # The choices that it belongs to, such as "0-*-1"; a star is any, "" is always.
    when: str = ""

    @property
    def kind(self) -> str:
        """Return the name by which a renderer knows how to show it."""
        return type(self).__name__.removeprefix("Shown").lower()


@dataclass(frozen=True, eq=False)
class Paragraph(Content):
    """A sentence or several."""

    text: str


class Note(Paragraph):
    """A remark that is set apart."""


class Heading(Paragraph):
    """A heading inside a section."""


class Code(Paragraph):
    """Lines to be copied as they are."""


@dataclass(frozen=True, eq=False)
class Items(Content):
    """A list of sentences."""

    texts: Sequence[str]


@dataclass(frozen=True, eq=False)
class Facts(Content):
    """Names and what they stand for, such as ("Rows", "500")."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Header:
    """The heading of a column of a table, and how its values are written."""

    name: str
    form: str = ""  # of numbers, such as ".4f"
    words: bool = False  # it holds sentences or names, which may take several lines
    page_only: bool = False  # a terminal has no room for it

    def cell(self, value: Any) -> "ShownValue":
        """Return what is shown of a value, or of a value with its mark; a dash is for NaN."""
        value, mark, *small = value if isinstance(value, tuple) else (value, "")
        if not isinstance(value, str):
            missing = value is None or value != value
            value = DASH if missing else format(value, self.form)
        return ShownValue(value, mark or ("text" if self.words else ""), *small)


class ShownValue(NamedTuple):
    """What is shown of a value."""

    text: str
    mark: str = ""
    small: str = ""  # written below it in small letters, such as its interval


@dataclass(frozen=True, eq=False)
class ShownTable(Content):
    """A table, sortable where the renderer can do that.

    A value is a text, a number, or a tuple of a value and a mark: "best" (bold), "second"
    (underlined), "good", "fair" or "bad" (coloured). A third part is a text that pages write
    below it, such as its interval.
    """

    columns: Sequence[Header] = ()  # the first one names the rows
    rows: Sequence[Sequence[Any]] = ()
    foot: Sequence[Sequence[Any]] = ()  # rows that stay when others are sorted
    caption: str = ""
    name: str = ""  # of the downloaded file, without suffix; "": it cannot be downloaded
    ranked: bool = False  # "best" and "second" are the standing of a score in its row

    @classmethod
    def of(
        cls, frame: Any, columns: Mapping[str, Header], caption: str = "", name: str = ""
    ) -> Self:
        """Return the table of a frame, with the columns that are named."""
        rows = frame[list(columns)].to_numpy(object)
        return cls(list(columns.values()), rows, caption=caption, name=name)

    def text(self) -> str:
        """Return it as aligned text."""
        return renderers.table_text(self)

    def markdown(self) -> str:
        """Return it as Markdown, with bold and ``<u>`` for the two best of a row."""
        return renderers.markdown_table(self)

    def latex(self, label: str = "") -> str:
        r"""Return it as a LaTeX ``table*`` that needs the package booktabs.

        `label` is the key for ``\ref``, such as "tab:cosine"; none by default.
        """
        return renderers.latex_table(self, label)

    def html(self) -> str:
        """Return it as a ``<figure>`` with a ``<table>``, to be put into a page."""
        return renderers.html_table(self)

    def cells(self, rows: Sequence[Sequence[Any]]) -> list[list[ShownValue]]:
        """Return what is shown of rows; sentences have the mark "text"."""
        return [
            [column.cell(value) for column, value in zip(self.columns, row, strict=True)]
            for row in rows
        ]


@dataclass(frozen=True, eq=False)
class Figure(Content):
    """A picture, drawn only where it is shown."""

    # Returns a ``matplotlib.figure.Figure``; a ValueError says why there is nothing to draw.
    draw: Callable[[], Any]
    caption: str
    name: str = ""  # of the downloaded file, without suffix
    narrow: Callable[[], Any] | None = None  # draws it for a screen as narrow as a phone's


def picture(draw: Callable[..., Any], caption: str, name: str = "", when: str = "") -> Figure:
    """Return a picture that is drawn again for narrow screens; `draw` takes the `width`."""
    return Figure(draw, caption, name, partial(draw, width=COLUMN), when=when)


def picture_and_table(draw: Callable[..., Any], caption: str, table: ShownTable) -> list[Content]:
    """Return a picture, and the table with its numbers, whose name it has."""
    return [picture(draw, caption, table.name), table]


@dataclass(frozen=True)
class Choices:
    """What the reader can choose.

    A key such as "0-2" has the place of the chosen option of each choice.
    """

    options: Mapping[str, Sequence[str]]  # for each choice the names of the options
    first: str  # the key that is chosen at first

    def shows(self, when: str) -> bool:
        """Return whether a block is seen at first."""
        pairs = zip(when.split("-"), self.first.split("-"), strict=True)
        return all(wanted in ("*", place) for wanted, place in pairs)


@dataclass(frozen=True, eq=False)
class Controls(Content):
    """The place where the reader chooses."""


@dataclass(frozen=True, eq=False)
class Chosen(Content):
    """A table, or paragraphs, that change with what the reader chooses."""

    name: str
    contents: Mapping[str, ShownTable | list[str]]  # what is shown for each key of the choices


@dataclass(frozen=True)
class Section:
    """A part of a document with a heading, which no other section has."""

    title: str
    blocks: Sequence[Content]
    page_only: bool = False  # it is too much for a terminal


@dataclass(frozen=True)
class Document:
    """All that a result says.

    Parameters
    ----------
    title : str
        The title.
    summary : sequence of str
        The result in a few sentences.
    facts : sequence of (str, str)
        What the result is about, such as ("Table", "survey.csv").
    notes : sequence of str
        What the reader should know.
    sections : sequence of Section
        The details.
    choices : Choices, optional
        What the reader can choose.
    most_bytes : int
        About how large all pictures together may be; those that do not fit are left out.
    """

    title: str
    summary: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    sections: Sequence[Section] = field(default_factory=list)
    choices: Choices | None = None
    most_bytes: int = 700_000

    def blocks(self) -> list[Content]:
        """Return the blocks of all sections."""
        return [block for section in self.sections for block in section.blocks]

    def html(self) -> str:
        """Return the document as one HTML page that needs no network and no other file."""
        return renderers.html_page(self)

    def markdown(self, folder: str = "figures") -> str:
        """Return the document as Markdown; its figures are .svg files in the folder."""
        return renderers.markdown_document(self, folder)

    def write(self, path: str | Path, *, overwrite: bool = True) -> None:
        """Write the page; a file is replaced only when the new one is whole."""
        write_text(path, self.html(), overwrite=overwrite)
