"""Pages for people with a table: what they say, that they are small, and that names do no harm."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest

from downloads import downloaded
from file_results import evaluation_of, learned_of, model_of, written_of
from inldl.metrics import METRICS, evaluate
from inldl.report import (
    comparison_page,
    completion_page,
    evaluation_page,
    inspection_page,
    model_page,
    prediction_page,
)
from inldl.tables.audit import HeldOut
from inldl.tables.comparison import Comparison, compare
from inldl.tables.holes import Places
from inldl.tables.inspect import inspect_table
from parsed_page import Document

EVIL = "<script>alert(1)</script>"
TABLE = "survey <2024>.csv"
NOTES = ["The column 'id' was left out.", EVIL]
MEGABYTE = 1_000_000
in_words = pytest.mark.usefixtures("without_figures")  # no picture is looked at


def labels_of(count, evil=False):
    names = [f"label {j}" for j in range(count)]
    return [EVIL, "x" * 300, *names[2:]] if evil else names


def held_out(labels, noise=0.05, m=600):
    """Return degrees beside predictions that are off by about as much as `noise`."""
    rng = np.random.default_rng(0)
    observed = rng.beta(1, 3, m)
    predicted = np.clip(observed + rng.normal(0, noise, m), 0, 1)
    constant = np.full(m, observed.mean())
    bounds = predicted - noise, predicted + noise
    label = np.arange(m) % len(labels)
    how = "20% of the observed degrees of 60 rows were hidden <on purpose>."
    return HeldOut(observed, predicted, constant, label, np.arange(m), labels, how, *bounds)


def degrees(n, n_labels):
    rng = np.random.default_rng(0)
    after = rng.dirichlet(np.full(n_labels, 0.5), n)
    return np.where(rng.random(after.shape) < 0.4, np.nan, after), after


def influence_of(labels, n_features=30, evil=False):
    rng = np.random.default_rng(1)
    names = [f"feature {k}{EVIL * 10 if evil else ''}" for k in range(n_features)]
    return pd.DataFrame(rng.normal(size=(n_features, len(labels))), index=names, columns=labels)


def inspected(n, n_labels, evil=False):
    rng = np.random.default_rng(2)
    y = rng.dirichlet(np.full(n_labels, 0.7), n)
    y[rng.random(y.shape) < 0.6 * (y < 0.5 / n_labels) + 0.1] = np.nan
    y[1], y[3], y[4, 0] = np.nan, 1, -0.2
    town = rng.choice([f"A{EVIL}", "B", "C"], n)
    X = pd.DataFrame({"age": rng.uniform(18, 90, n), f"town {EVIL}": town, "one": 1.0})
    return X, pd.DataFrame(y, columns=labels_of(n_labels, evil))


def compared():
    names = ["auto", "winldl", f"package:{EVIL}", "constant-mean", "ldm"]
    errors = np.array([0.04, 0.05, 0.06, 0.09, np.nan])
    columns = ["completing_rmse", "completing_se", "completing_mae", "predicting_rmse"]
    columns += ["predicting_se", "predicting_mae", "cosine", "behind", "behind_se", "seconds"]
    table = pd.DataFrame(np.outer(errors, np.arange(1, 11)), columns=columns)
    table.insert(0, "method", names)
    table["better_than_constant"] = [True, True, True, False, False]
    table["reason"] = ["", "", "", "", f"broken {EVIL}"]
    return Comparison(table, "auto", f"auto is best {EVIL}.", 1234, [f"A sample {EVIL}."])


def completion(n=60, n_labels=40, evil=False, held=None, influence=None, **more):
    """Return the page of a completed file; with `held` its model was fitted to it."""
    labels = labels_of(n_labels, evil)
    written = written_of(*degrees(n, n_labels), labels, **more)
    learned = None if held is None else learned_of(held, labels, NOTES)
    return completion_page(written, learned, model_of(labels), TABLE, "out.csv", influence)


def model(held, influence=None, report="", labels=None):
    """Return the page of a model."""
    return model_page(learned_of(held, labels or held.labels, NOTES, report), TABLE, influence)


def evaluation(scores, held, table=TABLE):
    """Return the page of a test of a model."""
    return evaluation_page(evaluation_of(scores, held), model_of(held.labels), table, NOTES)


def prediction(after, labels, table=TABLE):
    """Return the page of 300 predicted rows, of which some are shown."""
    written = written_of(np.full(np.shape(after), np.nan), after, labels, n_rows=300)
    return prediction_page(written, model_of(labels), table, "out.csv")


def every_page(n_labels, evil):
    labels = labels_of(n_labels, evil)
    held, features = held_out(labels), influence_of(labels, evil=evil)
    scores = pd.DataFrame({"model": [0.9], "constant mean": [0.8]}, index=[EVIL])
    X, y = inspected(100, n_labels, evil)
    found = inspect_table(X, y)
    pages = {
        "completion": completion(60, n_labels, evil, held, features),
        "prediction": prediction(degrees(60, n_labels)[1], labels, EVIL),
        "model": model(held, features, EVIL),
        "evaluation": evaluation(scores, held, EVIL),
        "inspection": inspection_page(found, y.notna().to_numpy(), EVIL),
        "patterns": inspection_page(found),
        "comparison": comparison_page(compared(), EVIL),
    }
    return {name: page.html() for name, page in pages.items()}


@pytest.fixture(scope="module")
def pages():
    """Return all pages of a table with forty labels and names that mean harm."""
    return every_page(40, evil=True)


def document(page):
    found = Document(page if isinstance(page, str) else page.html())
    assert found.open == []
    return found


def table_of(page, head):
    """Return the table whose first column has this name, as a frame of texts."""
    (rows,) = [table for table in page.tables if table[0][0] == head]
    return pd.DataFrame(rows[1:], columns=rows[0])


NAMES = ["completion", "prediction", "model", "evaluation", "inspection", "patterns", "comparison"]


@pytest.mark.parametrize("name", NAMES)
def test_pages_are_whole_small_and_harmless(pages, name):
    text = pages[name]
    assert len(text.encode()) < MEGABYTE
    found = document(text)
    assert EVIL in found.text
    assert sum(tag == "script" for tag, _ in found.tags) == 1
    assert not any(key.startswith("on") for _, each in found.tags for key in each)
    for _, attributes in found.tags:
        for key in ("src", "href", "xlink:href"):
            assert (attributes.get(key) or "#").startswith(("#", "data:"))
    ids = [each["id"] for _, each in found.tags if "id" in each]
    assert len(ids) == len(set(ids))
    assert "cannot be drawn" not in found.text
    assert "left out to keep the page small" not in found.text


@pytest.mark.parametrize("name", NAMES)
def test_each_picture_has_a_caption_and_each_table_a_file(pages, name):
    found = document(pages[name])
    figures = [each for tag, each in found.tags if tag == "figure"]
    assert any(each["class"] == "drawing" for each in figures)
    files = [(each["class"], each["data-name"]) for each in figures]
    assert all(file for _, file in files)
    assert len(files) == len(set(files))
    labels = [each["aria-label"] for tag, each in found.tags if tag == "svg"]
    assert all(len(label) > 40 for label in labels)


@in_words
def test_a_completion_page_shows_rows_errors_and_influence():
    labels = labels_of(5)
    held, features = held_out(labels), influence_of(labels)
    found = document(completion(60, 5, held=held, influence=features))
    before, after = degrees(60, 5)

    rows = table_of(found, "row")
    np.testing.assert_allclose(rows[labels].astype(float), after, atol=5.1e-5)
    bold = sum(tag == "strong" for tag, _ in found.tags)
    assert bold == np.isnan(before).sum()

    errors, wanted = table_of(found, "label"), held.by_label()
    np.testing.assert_allclose(errors["error"].astype(float), wanted["rmse"], atol=5.1e-5)
    np.testing.assert_allclose(errors["bias"].astype(float), wanted["bias"], atol=5.1e-5)

    groups, wanted = table_of(found, "group"), held.reliability()
    np.testing.assert_allclose(
        groups["mean observed"].astype(float), wanted["observed"], atol=5.1e-5
    )

    shown = table_of(found, "feature")
    order = features.abs().sum(axis=1).sort_values(ascending=False).index[:15]
    assert list(shown["feature"]) == list(order)
    np.testing.assert_allclose(shown[labels].astype(float), features.loc[order], rtol=1e-3)
    assert "The 15 of 30 features" in found.text


@in_words
def test_the_result_is_said_in_words_with_the_numbers_and_how():
    held = held_out(labels_of(4))
    found = document(model(held))
    overall = held.overall()
    assert held.how in found.text
    assert (
        f"Expected error: {overall['mae']:.4f} (using column means: "
        f"{np.abs(held.observed - held.observed.mean()).mean():.4f}), "
        "the mean absolute error at 600 known shares of rows that were left out."
    ) in found.text
    assert f"The squared error is {overall['explained']:.0%} smaller" in found.text
    inside = np.mean(np.abs(held.observed - held.predicted) <= 0.05 + 1e-12)
    assert f"{inside:.1%} of the shares lie in their intervals" in found.text


@in_words
def test_numbers_of_percentages_have_their_unit():
    labels = labels_of(4)
    held, features = held_out(labels).in_units_of("percent"), influence_of(labels)
    before, after = degrees(60, 4)
    written, learned = written_of(100 * before, 100 * after, labels), learned_of(held, labels)
    page = completion_page(written, learned, learned.model, TABLE, "out.csv", features)
    found = document(page)
    overall = held.overall()
    assert f"Expected error: {overall['mae']:.2f} percentage points" in found.text
    assert found.text.count("in percentage points") >= 4
    errors = table_of(found, "label")
    np.testing.assert_allclose(errors["error"].astype(float), held.by_label()["rmse"], atol=5e-3)
    rows = table_of(found, "row")
    np.testing.assert_allclose(rows[labels].astype(float), 100 * after, atol=5.1e-3)
    assert "percentage points" not in document(completion(60, 4)).text


@in_words
def test_a_completion_says_how_shares_were_filled_in():
    found = document(completion(5, 3))
    assert "from the known shares of its row, and from the features if there are any" in found.text
    found = document(completion(5, 3, below_recorded=True))
    assert "Only the largest shares of each row seem to be recorded." in found.text


@in_words
def test_a_prediction_page_shows_predictions_and_nothing_else():
    labels, after = labels_of(4), degrees(30, 4)[1]
    frame = pd.DataFrame(after, index=np.arange(1, 300, 10))
    found = document(prediction(frame.set_axis(labels, axis=1), labels))
    rows = table_of(found, "row")
    assert list(rows["row"]) == [str(number) for number in frame.index]
    np.testing.assert_allclose(rows[labels].astype(float), after, atol=5.1e-5)
    assert "for 300 rows." in found.text
    for word in ("not observed", "filled", "ompleted", "`", "held out"):
        assert word not in found.text


@in_words
def test_influence_is_said_to_be_that_of_known_rows():
    labels = labels_of(3)
    found = document(model(held_out(labels), influence_of(labels)))
    assert "some of those that the model has learned from" in found.text


@in_words
def test_a_model_that_is_no_better_than_the_mean_is_said_to_be_so():
    found = document(model(held_out(labels_of(4), noise=0.5)))
    assert "no better than the column means" in found.text
    assert "The squared error is" not in found.text


@in_words
def test_a_model_that_is_hardly_better_is_said_to_be_so():
    held = held_out(labels_of(4))
    near = held.constant + 0.02 * (held.observed - held.constant)
    barely = HeldOut(held.observed, near, held.constant, held.label, held.row, held.labels, "How.")
    text = document(model(barely)).text
    assert "That is hardly better." in text
    assert "interval" not in text


@pytest.mark.parametrize(
    ("held", "words"),
    [
        (None, "its error on this table is not known"),
        (HeldOut(*[np.empty(0)] * 5, ["a", "b"], "How."), "The error cannot be estimated"),
    ],
)
def test_without_held_out_degrees_the_page_says_that_it_cannot_tell(held, words):
    found = document(completion(2, 3, held=held))
    assert words in found.text
    assert [each["id"] for tag, each in found.tags if tag == "section"] == ["before-and-after"]


def test_a_label_that_was_never_held_out_has_dashes():
    labels = labels_of(3)
    held = held_out(labels[:2])
    held = HeldOut(
        held.observed, held.predicted, held.constant, held.label, held.row, labels, "How."
    )
    rows = table_of(document(model(held)), "label")
    assert list(rows.iloc[2][["shares", "error", "explained"]]) == ["0", "–", "–"]


def test_the_report_of_a_model_keeps_its_lines():
    found = document(model(held_out(labels_of(3)), report="one\n  two <three>"))
    assert "one\n  two <three>" in found.texts


@in_words
def test_small_errors_keep_their_digits():
    numbers = {"model": [0.000123, 0.9], "constant mean": [0.02, 0.8]}
    page = evaluation(pd.DataFrame(numbers, ["mae", "cosine"]), held_out(labels_of(3)))
    table = page.sections[0].blocks[0]
    assert [list(row[1:3]) for row in table.rows] == [
        ["0.000123", "0.020000"],
        ["0.9000", "0.8000"],
    ]


def test_an_evaluation_has_all_scores_with_their_direction():
    before, after = degrees(60, 5)
    scores = pd.DataFrame(
        {"model": evaluate(before, after), "constant mean": evaluate(before, after[::-1])}
    )
    page = evaluation(scores, held_out(labels_of(5)))
    rows = table_of(document(page), "measure")
    assert len(rows) == len(scores)
    np.testing.assert_allclose(rows["model"].astype(float), scores["model"], atol=5.1e-5)
    for name, better in zip(rows["measure"], rows["better is"], strict=True):
        assert better == ("higher" if METRICS[name].higher_is_better else "lower")


@in_words
@pytest.mark.parametrize("whole", [True, False])
def test_an_inspection_shows_what_was_found(whole):
    X, y = inspected(200, 4)
    found = inspect_table(X, y, where=lambda row: f"Line {row + 2}")
    page = document(inspection_page(found, y.notna().to_numpy() if whole else None))
    for finding in found.findings:
        assert finding in page.text
    assert found.size.verdict in page.text
    assert f"{np.isnan(y.to_numpy()).mean():.1%} of the shares are missing" in page.text
    labels = [table for table in page.tables if table[0][:2] == ["label", "known"]]
    assert [row[1] for row in labels[0][1:]] == [str(count) for count in y.notna().sum()]
    counts = table_of(page, "missing shares").astype(int).set_index("missing shares")["rows"]
    assert counts.to_dict() == y.isna().sum(axis=1).value_counts().to_dict()
    assert "Line 6 (share -0.2)" in page.text
    columns = table_of(page, "column")
    assert list(columns["column"]) == list(X.columns)
    mass = table_of(page, "sum").iloc[0]
    difference = float(mass["mean"]) - float(mass["expected"])
    assert float(mass["difference"]) == pytest.approx(difference, abs=2e-4)
    assert ("most frequent sets of missing shares: those of" in page.text) is not whole


def test_an_inspection_maps_units_and_times():
    X = pd.DataFrame([(s, y) for s in "abcdef" for y in range(2000, 2010)], columns=["s", "year"])
    y = pd.DataFrame(np.random.default_rng(0).dirichlet([3, 2, 2], len(X)), columns=list("ABC"))
    y.loc[X["year"] < 2004, ["A", "B"]] = np.nan
    found = inspect_table(X, y, places=Places.of(X))
    page = inspection_page(found)
    assert "are missing from 2000 to 2003 for all 6 values of" in document(page).text
    assert "Where shares are missing" in document(page).text
    assert "Where shares are missing" not in document(inspection_page(inspect_table(X, y))).text


def test_an_inspection_of_a_table_without_holes_or_features():
    y = pd.DataFrame({"a": [0.2, 0.5, 0.1], "b": [0.8, 0.5, 0.9]})
    page = document(inspection_page(inspect_table(pd.DataFrame(index=range(3)), y)))
    assert "0.0% of the shares are missing" in page.text
    assert "No share is missing." in page.text
    assert "All rows are valid" in page.text
    assert "no feature columns" in page.text


def test_long_sets_of_missing_labels_are_cut_short():
    y = pd.DataFrame(np.full((6, 30), np.nan), columns=labels_of(30))
    y.iloc[:5, 0] = 0.5
    page = document(inspection_page(inspect_table(pd.DataFrame({"x": np.arange(6.0)}), y)))
    assert table_of(page, "place")["which"][0].endswith("label 8 and 21 more")


@in_words
def test_a_comparison_marks_the_recommended_and_names_failures():
    found = document(comparison_page(compared()))
    (rows,) = found.tables
    names = ["auto", "winldl", f"package:{EVIL}", "constant-mean", "ldm"]
    assert [row[0] for row in rows[1:]] == names
    assert rows[1][1] == "0.0400"
    assert [row[7] for row in rows[1:]] == ["recommended", "", "", "", "failed"]
    assert [row[8] for row in rows[1:]] == ["yes", "yes", "yes", "no", "no"]
    assert sum(tag == "strong" for tag, _ in found.tags) == 10
    assert f"ldm failed: broken {EVIL}" in found.texts
    whole = compared()
    table = whole.table.iloc[:4]
    page = comparison_page(Comparison(table, "auto", "Why.", 5, []))
    assert "Methods that failed" not in document(page).text


@in_words
def test_a_real_comparison_can_be_shown():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=60)})
    share = 1 / (1 + np.exp(-X["x"]))
    y = pd.DataFrame({"a": share / 2, "b": (1 - share) / 2, "c": 0.5})
    found = compare(X, y, ["ridge"])
    page = document(comparison_page(found))
    assert found.why in page.text
    (rows,) = page.tables
    assert {row[0] for row in rows[1:]} == {"ridge", "constant-mean"}


def test_a_table_too_large_for_a_page_is_left_out():
    page = completion(300, 40).html()
    found = document(page)
    assert "left out to keep the page small" in found.text
    assert found.tables == []
    assert len(page.encode()) < MEGABYTE


@in_words
def test_rows_have_the_names_of_the_frame():
    before, after = degrees(3, 3)
    names, labels = ["line 7", EVIL, "line 9"], labels_of(3)
    written = written_of(before, pd.DataFrame(after, names, labels), labels)
    page = completion_page(written, None, model_of(labels), TABLE, "out.csv")
    assert list(table_of(document(page), "row")["row"]) == ["line 7", EVIL, "line 9"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200])
def test_the_pages_fit_the_screen(driver, pages, tmp_path, width, scheme):
    size = {"width": width, "height": 740, "deviceScaleFactor": 1, "mobile": width < 500}
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    for name, text in pages.items():
        path = tmp_path / f"{name}.html"
        path.write_text(text)
        driver.get(path.as_uri())
        inner, outer = driver.execute_script(
            "return [document.documentElement.scrollWidth, innerWidth]"
        )
        assert inner <= outer == width
        broken = """return [...document.querySelectorAll("svg image")]
            .filter(each => each.checkVisibility())
            .filter(each => !(each.getBoundingClientRect().width > 10)).length"""
        assert driver.execute_script(broken) == 0
        seen = """return [...document.querySelectorAll("figure.drawing")].map(each =>
            [...each.querySelectorAll("svg")].filter(each => each.checkVisibility()).length)"""
        assert set(driver.execute_script(seen)) == {1}
    assert driver.get_log("browser") == []


def test_the_numbers_can_be_taken_along(driver, pages, tmp_path):
    path = tmp_path / "completion.html"
    path.write_text(pages["completion"])
    driver.get(path.as_uri())
    link = driver.find_element("css selector", 'figure.table[data-name="completed"] .tools a')
    driver.execute_script("arguments[0].click()", link)
    text = downloaded(driver, "completed.csv")
    found = pd.read_csv(StringIO(text), index_col=0)
    np.testing.assert_allclose(found, degrees(60, 40)[1], atol=5.1e-5)
    assert list(found.columns) == labels_of(40, evil=True)
