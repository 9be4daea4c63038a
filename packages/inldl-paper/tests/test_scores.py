"""Tables of scores, read back by parsers: an XML parser, a Markdown parser."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from inldl_paper import score_table

METHODS = ["WInLDL", "LDM", "IIS-LDL"]
MEAN = pd.DataFrame(
    [[0.94171, 0.92244, 0.91], [0.50001, 0.50002, 0.4], [0.3, np.nan, 0.7]],
    index=["SBU3DFE", "RAF_ML", "Gene"],
    columns=METHODS,
)
STD = pd.DataFrame(
    [[0.0021, 0.0018, 0.012], [0.1, 0.0, 1.25], [0.01, 0.02, np.nan]],
    index=MEAN.index,
    columns=METHODS,
)
# Letters, digits and signs that some format reads in its own way; no control characters.
NAMES = st.text(
    st.sampled_from("aB3 _&%$#{}~^\\|<>*`[]\"'-.é!()=+:/"), min_size=1, max_size=12
).filter(str.strip)


@pytest.fixture
def table():
    return score_table(MEAN, STD, higher_is_better=True, title="Cosine")


def marks(table):
    return {name.text: [cell.mark for cell in cells] for name, *cells in table.cells(table.rows)}


def named(row, *columns, title=""):
    """Return a table with these names and the scores 0.1, 0.2, ..."""
    mean = pd.DataFrame([np.arange(1, len(columns) + 1) / 10], index=[row], columns=columns)
    return score_table(mean, mean / 10, higher_is_better=True, title=title)


def one_line(name):
    return " ".join(name.split())


def test_cells_are_written_in_the_style_of_the_field(table):
    texts = {name.text: [cell.text for cell in cells] for name, *cells in table.cells(table.rows)}
    assert texts == {
        "SBU3DFE": ["0.9417(.0021)", "0.9224(.0018)", "0.9100(.0120)"],
        "RAF_ML": ["0.5000(.1000)", "0.5000(.0000)", "0.4000(1.2500)"],
        "Gene": ["0.3000(.0100)", "–", "0.7000"],
    }


def test_standing_is_decided_by_the_printed_numbers(table):
    assert marks(table) == {
        "SBU3DFE": ["best", "second", ""],
        "RAF_ML": ["best", "best", "second"],
        "Gene": ["second", "", "best"],
    }
    finer = score_table(10 * MEAN, STD, higher_is_better=True)
    assert marks(finer)["RAF_ML"] == ["second", "best", ""]


def test_lower_is_better_turns_the_order(table):
    turned = score_table(MEAN, STD, higher_is_better=False)
    assert marks(turned)["SBU3DFE"] == ["", "second", "best"]
    assert "lower is better" in turned.text()
    assert "higher is better" in table.text()


@given(st.lists(st.floats(-10, 10) | st.just(float("nan")), min_size=1, max_size=8))
def test_no_unmarked_score_prints_better_than_a_marked_one(scores):
    mean = pd.DataFrame([scores])
    table = score_table(mean, mean * np.nan, higher_is_better=True)
    _, *cells = table.cells(table.rows)[0]
    shown = {
        mark: {float(cell.text) for cell in cells if cell.mark == mark and cell.text != "–"}
        for mark in ("best", "second", "")
    }
    assert len(shown["best"]) == (not np.isnan(scores).all())
    assert max(shown["second"], default=-np.inf) < max(shown["best"], default=np.inf)
    assert max(shown[""], default=-np.inf) < max(shown["second"], default=np.inf)
    assert all(cell.mark == "" for cell in cells if cell.text == "–")


def test_small_negative_scores_print_without_a_sign():
    mean = pd.DataFrame({"a": [-0.00001]})
    table = score_table(mean, mean * np.nan, higher_is_better=True)
    assert table.cells(table.rows)[0][1].text == "0.0000"


def test_text_is_aligned(table):
    caption, head, *body = table.text().splitlines()
    assert caption.startswith("Cosine. Mean(standard deviation), higher is better.")
    assert caption.endswith(" Best* and second best_ of the row.")
    assert head.split() == ["dataset", *METHODS]
    ends = [match.end() for match in re.finditer(r"\S+", head)][1:]
    assert all(not line[end : end + 1].strip() for line in body for end in ends)
    assert body[0].split() == ["SBU3DFE", "0.9417(.0021)*", "0.9224(.0018)_", "0.9100(.0120)"]


def markdown_rows(text):
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    cells = [
        "".join(child.content for child in token.children)
        for before, token in pairwise(tokens)
        if before.type in ("th_open", "td_open")
    ]
    width = sum(token.type == "th_open" for token in tokens)
    return [cells[start : start + width] for start in range(0, len(cells), width)]


def test_markdown_marks_the_best(table):
    assert "**0.9417(.0021)** | <u>0.9224(.0018)</u> | 0.9100(.0120) |" in table.markdown()
    html = MarkdownIt("commonmark").enable("table").render(table.markdown())
    assert "<strong>0.9417(.0021)</strong>" in html


@given(NAMES, st.lists(NAMES, min_size=2, max_size=3, unique=True))
def test_markdown_keeps_odd_names(row, columns):
    head, body = markdown_rows(named(row, *columns).markdown())
    assert head == ["dataset", *map(one_line, columns)]
    assert body[0] == one_line(row)


def html_table(table):
    """Return the caption of a table in HTML, and its element."""
    figure = ElementTree.fromstring(table.html())
    return figure.find("figcaption").text, figure.find("div/table")


def test_html_marks_the_best(table):
    caption, root = html_table(table)
    assert caption == "Cosine. Mean(standard deviation), higher is better."
    rows = root.findall("tbody/tr")
    assert [row.find("th").text for row in rows] == list(MEAN.index)
    first = rows[0].findall("td")
    assert [cell.get("class") for cell in first] == ["best", "second", None]
    assert "".join(first[0].itertext()) == "0.9417(.0021)"


@given(NAMES, st.lists(NAMES, min_size=2, max_size=3, unique=True), NAMES)
def test_html_escapes_odd_names(row, columns, title):
    caption, root = html_table(named(row, *columns, title=title))
    assert [cell.text for cell in root.findall("thead/tr/th")] == ["dataset", *columns]
    assert root.find("tbody/tr/th").text == row
    assert caption.startswith(title.rstrip("."))


def latex_body(text):
    """Return the cells of the rows between the rules."""
    lines = text.split("\\toprule\n")[1].split("\\bottomrule")[0].splitlines()
    rows = [line for line in lines if line != "\\midrule"]
    assert all(row.endswith(r" \\") for row in rows)
    return [re.split(r"(?<!\\)&", row[:-3]) for row in rows]


def test_latex_is_a_captioned_booktabs_table(table):
    text = table.latex(label="tab:cosine")
    order = ["\\begin{table*}", "\\caption{Cosine. Mean(standard deviation), higher is better. "]
    order += [r"\textbf{Best} and \underline{second best} of the row.}", "\\label{tab:cosine}"]
    order += ["\\begin{tabular}{lccc}", "\\toprule", "\\midrule", "\\bottomrule"]
    order += ["\\end{tabular}", "\\end{table*}"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert latex_body(text)[1] == [
        "SBU3DFE ", r" \textbf{0.9417(.0021)} ", r" \underline{0.9224(.0018)} ", " 0.9100(.0120)"
    ]  # fmt: skip
    assert latex_body(text)[3][2].strip() == "--"
    assert "\\label" not in table.latex()


def test_latex_escapes_the_signs_of_a_name():
    assert r"a\_b \& 50\%" in named("a_b & 50%", "x").latex()


@given(NAMES, st.lists(NAMES, min_size=2, max_size=3, unique=True), NAMES)
def test_latex_stays_balanced_with_odd_names(row, columns, title):
    text = named(row, *columns, title=title).latex()
    bare = re.sub(r"\\[&%$#_{}]", "", text)
    depth = np.cumsum([(sign == "{") - (sign == "}") for sign in bare])
    assert depth.min() >= 0
    assert depth[-1] == 0
    assert {len(cells) for cells in latex_body(text)} == {1 + len(columns)}
    assert not re.search(r"[%$#~^_<>|]", bare)
    assert not any(cells[0].startswith(("[", "*")) for cells in latex_body(text))


def test_latex_refuses_a_label_that_would_break_it(table):
    with pytest.raises(ValueError, match="label must consist of"):
        table.latex(label="tab}")


def test_mean_ranks_come_last_in_the_order_of_the_columns():
    ranks = pd.Series({"IIS-LDL": 3.0, "WInLDL": 1.25, "LDM": 1.75})
    table = score_table(MEAN, STD, higher_is_better=True, mean_rank=ranks)
    assert table.text().splitlines()[-1].split() == ["mean", "rank", "1.25*", "1.75_", "3.00"]
    assert table.markdown().splitlines()[-1].startswith("| mean rank | **1.25** | <u>1.75</u>")
    foot = html_table(table)[1].findall("tfoot/tr/td")
    assert ["".join(cell.itertext()) for cell in foot] == ["1.25", "1.75", "3.00"]
    assert latex_body(table.latex())[-1][0].strip() == "mean rank"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"std": STD.iloc[::-1]}, "same datasets as rows"),
        ({"std": STD[["LDM"]]}, "same datasets as rows"),
        ({"mean_rank": pd.Series({"LDM": 1.0})}, "one rank per method"),
        ({"mean": pd.concat([MEAN, MEAN])}, "'SBU3DFE' appears twice"),
    ],
)
def test_unfit_input_is_refused(change, message):
    given_values = {"mean": MEAN, "std": STD, "higher_is_better": True, **change}
    with pytest.raises(ValueError, match=message):
        score_table(**given_values)


def test_words_among_the_scores_are_refused():
    with pytest.raises(ValueError, match="must be numbers or missing"):
        score_table(MEAN.astype(object).replace(0.7, "good"), STD, higher_is_better=True)
