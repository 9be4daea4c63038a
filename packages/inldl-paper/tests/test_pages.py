"""The page of a run as a document: what it says, that it is whole, and that names do no harm."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blank_pictures import blank_pictures
from fabricated_runs import fabricate, fail
from inldl.metrics import METRICS
from inldl.report import save, svg
from inldl.report.document import (
    Choices,
    Chosen,
    Code,
    Controls,
    Facts,
    Figure,
    Header,
    Items,
    Note,
    Paragraph,
    Section,
    ShownTable,
)
from inldl.report.document import Document as Page
from inldl.report.renderers import script_json
from inldl_paper import run_page, score_table
from inldl_paper.commands import bench_command
from inldl_paper.experiments import Store, grid, run, summarize
from inldl_paper.experiments.runner import measure
from inldl_paper.experiments.statistics import mean_ranks, wins_ties_losses
from parsed_page import Document

in_words = pytest.mark.usefixtures("without_figures")  # no picture is looked at


def document(rows, **kwargs):
    found = Document(run_page(rows, command=bench_command, **kwargs).html())
    assert found.open == []
    return found


@pytest.fixture(scope="module")
def rows():
    methods = ["winldl", "ldm", "ridge", "constant-mean"]
    return fabricate(methods, ["Gene", "Movie", "Scene", "SJAFFE"], [0.1, 0.5], metrics=METRICS)


@pytest.fixture(scope="module")
def few(rows):
    """Return the rows of one rate with three metrics only: figures take their time."""
    unused = [name for name in METRICS if name not in ("cosine", "clark", "kl_divergence")]
    return rows[rows["rate"] == 0.5].drop(columns=unused)


@pytest.fixture(scope="module")
def page(rows):
    """Return the page of all rows, whose 38 pictures are empty."""
    with blank_pictures():
        return document(rows)


@pytest.fixture(scope="module")
def drawn(few):
    """Return the page of a few rows with its pictures."""
    return document(few)


def test_everything_stands_in_the_one_file(drawn):
    for tag, attributes in drawn.tags:
        assert tag not in {"iframe", "img", "object", "embed", "base"}
        for name in ("src", "href", "xlink:href", "srcset", "action"):
            assert (attributes.get(name) or "#").startswith(("#", "data:"))
    policy = next(a["content"] for t, a in drawn.tags if "http-equiv" in a)
    assert "default-src 'none'" in policy
    assert "script-src 'unsafe-inline'" in policy


def test_style_and_script_fetch_nothing():
    text = Page("Empty").html()
    assert "@import" not in text
    assert "url(" not in text
    assert not re.search(r"https?:", text)


def test_ids_are_unique(drawn):
    ids = [attributes["id"] for _, attributes in drawn.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    assert {"what-was-run", "results", "run-time", "how-to-reproduce"} <= set(ids)
    anchors = {a["href"][1:] for t, a in drawn.tags if t == "a" and "href" in a}
    assert anchors <= set(ids)


def test_the_first_table_is_there_without_a_script(rows, page):
    part = rows[rows["rate"] == 0.5]
    summary = summarize(part, "cosine")
    ranks = mean_ranks(summary.mean, True)
    expected = score_table(summary.mean, summary.std, True, mean_rank=ranks)
    table = page.tables[0]
    assert table[0] == [column.name for column in expected.columns]
    lines = expected.cells([*expected.rows, *expected.foot])
    assert table[1:] == [[cell.text for cell in cells] for cells in lines]


def test_each_view_has_the_numbers_of_its_rows(rows, page):
    views = json.loads(page.data)
    assert len(views) == len(METRICS) * 2
    for m, metric in enumerate(METRICS):
        for r, rate in enumerate([0.1, 0.5]):
            view = views[f"{m}-{r}-0"]
            summary = summarize(rows[rows["rate"] == rate], metric)
            for dataset, *cells in view["scores"]["rows"]:
                texts = [each if isinstance(each, str) else each[0] for each in cells]
                means = [float(text.partition("(")[0]) for text in texts]
                np.testing.assert_allclose(means, summary.mean.loc[dataset], atol=5.1e-5)
            word = "higher" if METRICS[metric].higher_is_better else "lower"
            assert f"{word} is better" in view["scores"]["caption"]


def test_wins_are_those_of_the_statistics(rows, page):
    scores = summarize(rows[rows["rate"] == 0.1], "clark").mean
    pairs = wins_ties_losses(scores, False)
    view = json.loads(page.data)[f"{list(METRICS).index('clark')}-0-0"]["wins"]
    opponents = view["head"][2:]
    for method, _, *cells in view["rows"]:
        for other, text in zip(opponents, cells, strict=True):
            if other == method:
                assert text == ""
            else:
                assert text == "/".join(map(str, pairs.loc[(method, other)]))


def test_figures_are_drawn_for_the_main_metrics(page):
    names = [a["data-name"] for t, a in page.tags if a.get("class") == "drawing"]
    assert len(names) == len(set(names)) == 6 * 2 + 6 + 1
    assert "ranks-kl_divergence-10" in names
    assert "rates-cosine" in names
    assert "ranks-euclidean-10" not in names
    tests = json.loads(page.data)[f"{list(METRICS).index('euclidean')}-0-0"]["tests"]
    assert "drawn for cosine" in tests[1]
    shown = [
        a["data-name"] for t, a in page.tags if a.get("class") == "drawing" and "hidden" not in a
    ]
    assert sorted(shown) == ["ranks-cosine-50", "rates-cosine", "run-time"]


@in_words
@pytest.mark.parametrize(
    ("datasets", "told"),
    [(2, "the two do not agree"), (12, "the methods are not all equal")],
)
def test_alike_ranks_on_two_datasets_prove_nothing(datasets, told):
    """Of the 6 orders of 3 methods, two datasets agree on one by chance once in 6 times."""
    names = [f"Data {number}" for number in range(datasets)]
    rows = fabricate(["a", "b", "c"], names, [0.5], metrics=["cosine"])
    rows["cosine"] = rows["method"].map({"a": 0.9, "b": 0.8, "c": 0.7})
    text = document(rows).text
    assert told in text
    assert "all datasets rank the methods in the same order" in text
    assert not re.search(r"\binf\b", text)


@in_words
def test_a_finite_f_is_given_as_a_number():
    rows = fabricate(["a", "b", "c"], ["Gene", "Movie"], [0.5], 1, metrics=["cosine"])
    rows["cosine"] = [0.9, 0.8, 0.7, 0.9, 0.7, 0.8]  # the last two change places
    text = document(rows).text
    assert re.search(r"F of Iman and Davenport \d+\.\d{3} \(p", text)
    assert "in the same order" not in text


@in_words
def test_only_methods_that_are_meant_to_converge_are_said_not_to():
    """By contract, an estimator warns if it ends at its cap and should have converged before."""
    rows = fabricate(["winldl", "inldl-p", "ridge"], ["Gene"], [0.5], 4, metrics=["cosine"])
    stopped = (rows["method"] == "winldl") | (rows["method"] == "inldl-p") & (rows["split"] > 0)
    rows["converged"] = np.where(rows["method"] == "ridge", np.nan, ~stopped)
    warns = stopped & (rows["method"] == "inldl-p")
    rows["reason"] = np.where(warns, "ConvergenceWarning: InLDLProx did not reach tol.", "")
    found = document(rows)
    (table,) = [each for each in found.tables if "not converged" in each[0]]
    place = table[0].index("not converged")
    assert {row[0]: row[place] for row in table[1:]} == {
        "winldl": "–",
        "inldl-p": "3",
        "ridge": "0",
    }
    assert "A dash under not converged: the method is meant to stop" in found.text
    other = document(rows[rows["method"] != "winldl"])
    assert "A dash under not converged" not in other.text


@in_words
def test_failures_are_told_and_their_datasets_named(few):
    broken = (few["method"] == "ldm") & (few["dataset"] == "Movie") & (few["split"] == 1)
    found = document(fail(few, broken, "ValueError: a <b>bold</b> reason"))
    assert f"{len(few) - 1} succeeded, 1 did not" in found.text
    assert "ValueError: a <b>bold</b> reason" in found.text
    assert "Movie (no score of ldm)" in found.text
    assert found.tables[0][2][2] == "–"
    assert "over 3 datasets" in found.text


def test_a_method_that_always_failed_does_not_empty_the_comparison(few):
    found = document(fail(few, few["method"] == "ldm"))
    assert "no score at all: ldm" in found.text
    assert "Friedman's test over 3 methods and 4 datasets" in found.text


@in_words
def test_a_stopped_run_says_what_it_lacks(few):
    last = (few["method"] == "ldm") & (few["dataset"] == "Gene") & (few["split"] == 2)
    assert "ldm on Gene (2 of 3)" in document(few[~last]).text


@pytest.mark.parametrize(
    ("methods", "datasets", "rates", "splits", "told"),
    [
        (["a"], ["Gene", "Movie"], [0.1, 0.5], 2, "The tests need 3 methods, and 2 datasets"),
        (["a", "b"], ["Gene", "Movie"], [0.5], 2, "methods here: 2, datasets: 2."),
        (["a", "b", "c"], ["Gene"], [0.5], 2, "methods here: 3, datasets: 1."),
        (["a", "b", "c"], ["Gene", "Movie"], [0.5], 1, "the score of the one split"),
        (["a", "b", "c"], ["Gene", "Movie"], [0.3], 2, "no curve to draw"),
        (["a"], ["Gene"], [0.0], 1, "1 fit, all succeeded"),
    ],
)
def test_small_runs(methods, datasets, rates, splits, told):
    found = document(fabricate(methods, datasets, rates, splits))
    assert told in found.text
    assert "nan" not in " ".join(cell for row in found.tables[0] for cell in row)
    assert found.tables[0][0] == ["dataset", *methods]


def test_an_empty_run(few, tmp_path):
    run_page(few.head(0)).write(tmp_path / "page.html")
    assert "no finished cell" in (tmp_path / "page.html").read_text()


def test_a_run_in_which_all_failed(few):
    found = document(fail(few, few["rate"] >= 0))
    assert "No fit succeeded" in found.text
    assert "ValueError: it did not work" in found.text
    assert "inldl bench" in found.text


def test_a_run_from_a_store_in_which_all_failed(tmp_path):
    """Columns without a single number have no type in the database."""
    cells = grid(["random(C=3, k=4, n=60)"], ["ridge(alpha='wrong')"], rates=[0.5], splits=1)
    store = Store(tmp_path / "run.sqlite")
    store.add(measure(cells[0]))
    found = document(store.frame())
    assert "No fit succeeded" in found.text


@pytest.mark.slow
def test_a_real_run(tmp_path):
    names = ["random(C=3, k=4, n=60)", "random(C=4, k=4, n=60)"]
    cells = grid(names, ["winldl", "ridge", "constant-mean"], rates=[0.5], splits=2)
    run(cells, tmp_path / "run.sqlite")
    frame = Store(tmp_path / "run.sqlite").frame()
    run_page(frame, "Three methods").write(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    found = Document(text)
    assert "<title>Three methods</title>" in text
    best = summarize(frame[frame["rate"] == 0.5], "cosine").mean.loc[names[0], "winldl"]
    assert f"{best:.4f}" in found.text
    assert "numpy==" in found.text
    assert [path.name for path in tmp_path.glob("*.html")] == ["page.html"]


@in_words
def test_settings_are_told_apart(few):
    other = fabricate(["winldl", "ldm"], ["Gene"], [0.1], seed=1, recipe="raw")
    found = document(pd.concat([few, other], ignore_index=True))
    views = json.loads(found.data)
    assert "Nothing was run" in views["0-0-0"]["scores"]["caption"]
    expected = summarize(other, "cosine").mean.loc["Gene", "ldm"]
    assert f"{expected:.4f}" in str(views["0-0-1"]["scores"]["rows"])
    assert found.text.count("inldl bench") == 2


def test_infinite_scores_are_shown_but_not_ranked(few):
    endless = few.assign(kl_divergence=few["kl_divergence"].where(few["method"] != "ldm", np.inf))
    view = json.loads(document(endless).data)["2-0-0"]
    assert "inf" in str(view["scores"]["rows"][0])
    assert "ldm" in view["tests"][-1]


def test_what_cannot_be_written(few, tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        run_page(few.head(0)).write(tmp_path / "nowhere" / "page.html")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        run_page(few.head(0)).write(tmp_path)
    with pytest.raises(ValueError, match=r"lacks the column\(s\) status"):
        run_page(few.drop(columns="status"))
    assert list(tmp_path.iterdir()) == []


def test_a_document_as_markdown_holds_no_html():
    blocks = [
        Facts([("processor", "<script>\nx")]),
        ShownTable([Header("dataset"), Header("why", words=True)], [["<i>d", "<u>"]]),
        Figure(None, "On <b>Gene</b>: a [link](x)", "one"),
        Code("inldl reproduce"),
    ]
    page = Page("The <b>paper</b>", ["*no* file"], sections=[Section("<h1>", blocks)])
    text = page.markdown()
    assert not re.search(r"(?<!\\)[<>]", text)
    assert r"\[link\](x)" in text
    assert "](figures/one.svg)" in text
    assert r"- processor: \<script\> x" in text


NASTY = st.text(min_size=1, max_size=60) | st.sampled_from(
    [
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "]]>",
        '"><img src=x onerror=alert(1)>',
        "{{ 7 * 7 }}",
        "{% raw %}",
        "&lt;b&gt;",
        "$\\frac$",
        "日本語",
        "a" * 300,
        "*",
        "_x_",
    ]
)


def _small(methods, datasets):
    return fabricate(methods, datasets, [0.1, 0.5], 1, metrics=["cosine", "euclidean"])


@pytest.fixture(scope="module")
def harmless():
    return document(_small(["a", "b", "c"], ["d", "e"]), title="d")


@settings(max_examples=2)
@given(st.lists(NASTY, min_size=3, max_size=3, unique=True), NASTY)
@example(["<!--<script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}"], "</script><script>x")
def test_names_do_no_harm(harmless, methods, dataset):
    other = "Gene" if dataset != "Gene" else "Movie"
    found = document(_small(methods, [dataset, other]), title=dataset)
    kinds = {"script", "img", "h2", "table", "td", "tr", "select", "form"}
    counted = [[tag for tag, _ in each.tags if tag in kinds] for each in (found, harmless)]
    assert counted[0] == counted[1]
    assert set(json.loads(found.data)["0-1-0"]["scores"]["head"][1:]) == set(methods)


@given(st.text())
def test_parts_show_the_text_they_are_given(text):
    # A carriage return and a NUL are not the same after a browser has read them.
    blocks = [
        Paragraph(text),
        Note(text),
        Items([text]),
        Code(text),
        Facts([(text, text)]),
        ShownTable([Header(text)], [[text]]),
    ]
    found = Document(Page("Title", sections=[Section("Section", blocks)]).html())
    assert found.texts.count(text) >= 8 or not text.strip("\n")  # facts and table show it twice


@given(st.recursive(st.text() | st.integers(), st.lists))
def test_json_cannot_end_its_script(data):
    text = script_json(data)
    assert json.loads(text) == data
    assert not {"<", ">", "&"} & set(text)


def test_a_page_of_ones_own():
    table = ShownTable(
        [
            Header("dataset"),
            Header("printed", ".2f"),
            Header("ours", ".2f"),
            Header("verdict"),
        ],
        [["SJAFFE", 0.9412, (0.949, "best"), ("same", "good")]],
        caption="Ours beside the printed",
    )
    slot = Chosen("a", {"0": ["one"], "1": ["two"]})
    sections = [Section("A title!", [table]), Section("More", [Controls(), slot])]
    choices = Choices({"Pick": ["x", "y"]}, "1")
    found = Document(Page("Own", ["Hello."], sections=sections, choices=choices).html())
    assert found.tables == [
        [["dataset", "printed", "ours", "verdict"], ["SJAFFE", "0.94", "0.95", "same"]]
    ]
    assert ("td", {"class": "good"}) in found.tags
    assert "two" in found.texts
    assert "one" not in found.texts
    assert ("option", {"value": "1", "selected": None}) in found.tags
    assert {a["id"] for t, a in found.tags if t == "section"} == {"a-title", "more"}


def test_compact_drawings_keep_texts_and_lines(tmp_path):
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots()
    axes.plot([0, 1, 2], [0.123456, 0.5, 0.25], marker="o")
    axes.set_title("two  words 1.23456789 <g> & more")
    save(figure, tmp_path / "whole.svg")
    text = (tmp_path / "whole.svg").read_text().partition("</metadata>")[2]
    small = svg(figure, "a title 0.123456", "d1-")
    before, after = Document("<svg>" + text), Document(small)
    assert after.open == before.open == []
    assert len(small) < 0.75 * len(text)
    texts = [t for t in before.texts if t.strip()]
    assert [t for t in after.texts if t.strip()] == ["a title 0.123456", *texts]
    for tag in ("path", "use", "text"):
        assert sum(t == tag for t, _ in after.tags) == sum(t == tag for t, _ in before.tags)
    ids = {a["id"] for _, a in after.tags if "id" in a}
    assert {a["xlink:href"][1:] for t, a in after.tags if t == "use"} <= ids
