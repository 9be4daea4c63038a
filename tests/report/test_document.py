"""Documents: what is written once, and shown on a terminal and as a page."""

import numpy as np
import pandas as pd
import pytest

from inldl import report
from inldl.report.document import (
    Choices,
    Code,
    Document,
    Facts,
    Figure,
    Header,
    Heading,
    Items,
    Note,
    Paragraph,
    Section,
    ShownTable,
)
from inldl.report.renderers import show
from inldl.report.style import drawn, new_figure


def failing():
    raise ValueError("there is nothing")


@pytest.fixture
def document():
    columns = [
        Header("label"),
        Header("mean", ".2f"),
        Header("more", page_only=True),
    ]
    table = ShownTable(columns, [["a", 0.123, 7], ["b\x1b[2J", (np.nan, "best"), 8]], name="means")
    blocks = [Heading("Part"), Note("By the way."), table, Items(["one", "two"])]
    return Document(
        "A title",
        ["The result."],
        [("Table", "t.csv")],
        ["Mind this."],
        [
            Section("Shown", [*blocks, Figure(failing, "Nothing")]),
            Section("Details", [Paragraph("Too long.")], page_only=True),
            Section("Facts", [Facts([("rows", "3\n4")]), Code("x = 1")]),
        ],
    )


def test_a_terminal_shows_notes_first_and_the_summary_last(document, capsys):
    show(document)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "Mind this.",
        "Part",
        "By the way.",
        "label    mean",
        "a        0.12",
        "b\\x1b[2J    –",
        "- one",
        "- two",
        "rows: 3 4",
        "x = 1",
        "The result.",
    ]


def test_a_page_shows_all_of_it(document):
    text = document.html()
    for shown in ("A title", "t.csv", "Too long.", "<strong>–</strong>", ">more</th>", "<li>two"):
        assert shown in text
    assert "This figure cannot be drawn: there is nothing" in text


def test_figures_are_not_drawn_for_a_terminal(capsys):
    show(Document("", sections=[Section("", [Figure(failing, "Nothing")])]))
    assert capsys.readouterr().out == ""


def test_a_frame_becomes_a_table():
    frame = pd.DataFrame({"unused": 0, "share": [0.5, np.nan], "name": ["a", "b"]})
    columns = {"name": Header("label"), "share": Header("%", ".0%")}
    table = ShownTable.of(frame, columns, caption="Shares")
    texts = [[cell.text for cell in row] for row in table.cells(table.rows)]
    assert texts == [["a", "50%"], ["b", "–"]]
    assert table.caption == "Shares"


def test_what_stands_beside_a_value_is_for_pages(capsys):
    columns = [Header("label"), Header("mean", ".2f")]
    table = ShownTable(columns, [["a", (0.123, "best", "0.1–<0.2")], ["b", (0.5, "", "")]])
    page = Document("", sections=[Section("One", [table])])
    assert "<strong>0.12</strong> <small>0.1–&lt;0.2</small></td>" in page.html()
    assert "<td>0.50</td>" in page.html()
    assert table.markdown().splitlines()[2:] == ["| a | **0.12** |", "| b | 0.50 |"]
    show(page)
    assert "0.2" not in capsys.readouterr().out


def test_a_figure_can_be_drawn_for_narrow_screens():
    wide, narrow = (lambda: _one_line("wide")), (lambda: _one_line("narrow"))
    text = Document("", sections=[Section("One", [Figure(wide, "It", "it", narrow)])]).html()
    assert text.count("<figure") == 1
    assert text.index('class="wide"') < text.index(">wide<") < text.index('class="narrow"')
    assert text.index('class="narrow"') < text.index(">narrow<")
    assert (
        'class="narrow"'
        not in Document("", sections=[Section("One", [Figure(wide, "It", "it")])]).html()
    )


@pytest.mark.parametrize(
    ("when", "seen"), [("1-0", True), ("1-*", True), ("*-*", True), ("0-*", False), ("1-1", False)]
)
def test_what_is_seen_at_first(when, seen):
    assert Choices({"a": ["x", "y"], "b": ["x", "y"]}, "1-0").shows(when) is seen


def test_figures_that_are_seen_at_first_are_drawn_first():
    def figure(name, when):
        return Figure(lambda: _one_line(name), name, name, when=when)

    blocks = [figure("hidden", "1"), figure("seen", "0")]
    choices = Choices({"a": ["x", "y"]}, "0")
    page = Document("", sections=[Section("One", blocks)], choices=choices, most_bytes=500)
    text = page.html()
    assert 'data-name="seen"' in text
    assert 'data-name="hidden"' not in text
    assert text.count("left out to keep the page small") == 1


@drawn
def _one_line(name):
    figure = new_figure(2, 2)
    figure.subplots().set_title(name)
    return figure


def test_every_figure_is_public_without_a_list():
    """A function in `inldl.report.figures` needs no entry elsewhere, and two files are touched."""
    from inldl.report import figures

    assert {"completion_map", "reliability", "influence"} < set(figures.FIGURES)
    for name, function in figures.FIGURES.items():
        assert getattr(report, name) is getattr(figures, name) is function
        assert name in report.__all__
