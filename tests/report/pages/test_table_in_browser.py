"""The pages of a table in a real browser: nothing is lost on a phone or beside the screen."""

import numpy as np
import pandas as pd
import pytest

from file_results import model_of, written_of
from inldl.report import comparison_page, completion_page
from inldl.tables.comparison import DEFAULT, Comparison

SCHEMES = ["light", "dark"]
ERRORS = ["rmse", "se", "mae"]


def compared(folder):
    """Write the page of a comparison of all methods that are compared by default."""
    rng = np.random.default_rng(0)
    errors = [f"{task}_{what}" for task in ("completing", "predicting") for what in ERRORS]
    columns = [*errors, "cosine", "behind", "behind_se", "seconds"]
    table = pd.DataFrame(rng.random((len(DEFAULT), len(columns))), columns=columns)
    table.insert(0, "method", list(DEFAULT))
    table = table.assign(better_than_constant=True, reason="")
    page = folder / "compared.html"
    comparison_page(Comparison(table, DEFAULT[0], "It is best.", 100, [])).write(page)
    return page, table


def page_of(n_labels, folder):
    """Write the page of 40 completed rows with ids and intervals."""
    rng = np.random.default_rng(0)
    labels = [f"label {j}" for j in range(n_labels)]
    names = pd.Index([f"town {number}" for number in range(40)], name="town")
    after = pd.DataFrame(rng.dirichlet(np.ones(n_labels), 40), index=names, columns=labels)
    before = after.mask(rng.random(after.shape) < 0.4)
    ends = tuple((after * factor).where(before.isna()) for factor in (0.9, 1.1))
    page = folder / f"completed-{n_labels}.html"
    written = written_of(before, after, labels, ends=ends if n_labels < 10 else (), coverage=0.9)
    completion_page(written, None, model_of(labels), "towns.csv", "completed.csv").write(page)
    return page, after


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    made = {n_labels: page_of(n_labels, folder) for n_labels in (4, 12, 24)}
    return made | {"comparison": compared(folder)}


@pytest.fixture
def opened(driver, pages):
    """Return a function that opens a page on a screen."""

    def load(name, width, scheme="light"):
        size = {"width": width, "height": 740, "deviceScaleFactor": 1, "mobile": width < 500}
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        driver.get(pages[name][0].as_uri())
        return driver

    yield load
    assert driver.get_log("browser") == []


SEEN = """return [...document.querySelectorAll("figure.drawing svg text")]
    .filter(each => each.checkVisibility())
    .map(each => [each.textContent, each.getBoundingClientRect()])
    .map(([text, box]) => [text, box.left, box.right, box.height])"""
HINT = """const hint = document.querySelector("figure.table .sideways");
    return hint ? hint.textContent : "" """
LAST = """const box = document.querySelector("figure.table .scroll");
    box.scrollLeft = arguments[0];
    return [box.querySelector("thead th:last-child").getBoundingClientRect().right,
        box.getBoundingClientRect().right, innerWidth, document.documentElement.scrollWidth]"""


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("n_labels", [4, 24])
def test_both_pictures_are_seen_on_a_phone(opened, n_labels, scheme):
    seen = opened(n_labels, 390, scheme).execute_script(SEEN)
    texts = [text for text, *_ in seen]
    assert texts.count("before") == texts.count("after") == 1
    assert min(left for _, left, _, _ in seen) >= 0
    assert max(right for _, _, right, _ in seen) <= 390
    heights = {text: height for text, *_, height in seen}
    assert heights["before"] >= 9  # letters that can be read


def test_a_wide_screen_has_the_wide_picture_only(opened):
    driver = opened(4, 1280)
    texts = [text for text, *_ in driver.execute_script(SEEN)]
    assert texts.count("before") == texts.count("after") == 1
    count = """return [...document.querySelectorAll("figure.drawing svg")]
        .map(each => each.checkVisibility())"""
    assert driver.execute_script(count) == [True, False]


def test_errors_at_both_tasks_are_seen_on_a_phone(opened):
    seen = opened("comparison", 390).execute_script(SEEN)
    assert {"completing rows with holes", "predicting new rows"} < {text for text, *_ in seen}
    assert max(right for _, _, right, _ in seen) <= 390


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", [12, "comparison"])
def test_all_columns_are_seen_at_once(opened, name, scheme):
    driver = opened(name, 1280, scheme)
    right, box, screen, page = driver.execute_script(LAST, 0)
    assert right <= box <= screen
    assert page <= screen
    assert driver.execute_script(HINT) == ""


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("n_labels", "width"), [(24, 1280), (4, 390), (24, 390)])
def test_of_columns_that_do_not_fit_it_is_said_that_they_are_there(
    opened, n_labels, width, scheme
):
    driver = opened(n_labels, width, scheme)
    assert driver.execute_script(HINT) == f"Scroll sideways to see all {n_labels + 1} columns."
    right, box, screen, page = driver.execute_script(LAST, 1e5)
    assert right <= box + 1 <= screen + 1
    assert page <= screen


def test_the_hint_follows_the_width_of_the_screen(opened):
    driver = opened(4, 390)
    assert driver.execute_script(HINT)
    size = {"width": 1280, "height": 740, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_script("window.dispatchEvent(new Event('resize'))")
    assert driver.execute_script(HINT) == ""


def test_numbers_are_taken_along_without_their_intervals(opened, pages):
    driver = opened(4, 1280)
    text = driver.execute_script("return csv(document.querySelector('figure.table table'))")
    lines = [line.split(",") for line in text.splitlines()]
    _, after = pages[4]
    assert lines[0] == ["town", *after.columns]
    numbers = np.array([line[1:] for line in lines[1:]], dtype=float)
    np.testing.assert_allclose(numbers, after, atol=5.1e-5)
    latex = driver.execute_script("return latex(document.querySelector('figure.table'))")
    assert "–" not in latex.partition("tabular")[2]
