"""The page of what a table with suppressed cells gives away."""

from collections.abc import Sequence
from functools import partial

from inldl.report.document import Document, Header, Paragraph, Section, ShownTable, picture
from inldl.report.figures import map_of_kinds
from inldl.report.pages.advice import MOST_LISTED
from inldl.report.style import FULL
from inldl.tables.disclosure import COVERAGE, Disclosure
from inldl.text import counted

LEGEND = {
    "computed": ("computed by anybody", "#d55e00"),
    "narrow": ("nearly computed", "#e69f00"),
    "suppress": ("to be suppressed, too", "#cc79a7"),
    "guessed": ("found by a model", "#56b4e9"),
    "open": ("safe", "#0072b2"),
    "published": ("published", "#f4f4f4"),
}


def disclosure_page(found: Disclosure, table: str, notes: Sequence[str] = ()) -> Document:
    """Return the page.

    Parameters
    ----------
    found : Disclosure
        What `inldl.tables.disclosure.audit_table` returned.
    table : str
        The name of the file.
    notes : sequence of str
        How the table was understood.
    """
    n, near = len(found.cells), f"{found.near:.0%}"
    computed, narrow, guessed = (found.count(kind) for kind in ("computed", "narrow", "guessed"))
    summary = [
        f"{counted(n, 'cell')} are suppressed. Anybody can compute {computed:,} of them exactly, "
        f"and {narrow:,} more to within {near}, from the totals and bounds alone.",
        f"Of {guessed:,} more, a model is {COVERAGE:.0%} sure to within {near}.",
        *_advice(found),
    ]
    summary = summary if n else ["No cell is missing, so none is suppressed."]
    facts = [("Table", table), ("Rows", f"{len(found.kinds):,}")]
    facts.append(("Labels", f"{len(found.kinds.columns):,}"))
    caption = "The table; rows with most cells that are given away, if there are many."
    draw = partial(map_of_kinds, found.kinds, LEGEND, width=FULL)
    sections = [Section("Where they are", [picture(draw, caption, "disclosure")], page_only=True)]
    known = found.cells[found.cells["kind"] != "open"]
    if len(known):
        text = (
            "Least and most: what totals and bounds allow. Low and high: between these a model is "
            f"{COVERAGE:.0%} sure that the number is."
        )
        shown = _listed(known, ("least", "most", "estimate", "low", "high", "kind"), "given-away")
        sections.append(Section("Cells that are given away", [Paragraph(text), shown]))
    if len(found.further):
        shown = _listed(found.further, ("value",), "further-cells")
        text = "If these published cells were suppressed, too, the others would be safe."
        sections.append(Section("Further cells to suppress", [Paragraph(text), shown]))
    return Document(f"What {table} gives away", summary, facts, notes, sections)


def _advice(found):
    """Return what to do."""
    if not found.count("computed", "narrow"):
        return ["Totals and bounds give none of them away."] if len(found.cells) else []
    if not len(found.further):
        return ["No further cells would protect them: suppress totals, or merge rows or labels."]
    text = f"If {counted(len(found.further), 'further cell')} were suppressed, too, "
    rest = "none" if not found.n_open else f"{found.n_open:,}"
    return [f"{text}{rest} of them could be computed to within {found.near:.0%}."]


def _listed(frame, numbers, name):
    """Return the first of some cells as a table."""
    shown = frame.iloc[:MOST_LISTED]
    words = [column for column in shown.columns if column not in (*numbers, "row")]
    columns = {"row": Header("row")} | {each: Header(each, words=True) for each in words}
    columns |= {each: Header(each, "" if each == "kind" else ".6g") for each in numbers}
    caption = f"{len(shown):,} of {counted(len(frame), 'cell')}."
    return ShownTable.of(shown, columns, caption, name)
