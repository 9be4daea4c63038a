"""The page of a run in a real browser: choosing, sorting, taking along, and fitting the screen."""

import json
import time

import numpy as np
import pytest

from downloads import downloaded
from fabricated_runs import fabricate, fail
from inldl.metrics import METRICS
from inldl_paper import run_page, score_table
from inldl_paper.commands import bench_command
from inldl_paper.experiments import summarize
from inldl_paper.experiments.results import common_ground
from inldl_paper.experiments.statistics import mean_ranks

METHODS = ["winldl", "ldm", "ridge", "package.module:Class_with_a_long_name(argument='a & b')"]
DATASETS = ["Gene", "Movie", "Scene_100%", "random(C=5, k=20, n=1000)"]


@pytest.fixture(scope="module")
def rows():
    made = fabricate(METHODS, DATASETS, [0.1, 0.5])
    broken = (made["method"] == "ridge") & (made["dataset"] == "Movie") & (made["split"] == 1)
    return fail(made, broken & (made["rate"] == 0.1))


@pytest.fixture(scope="module")
def page(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    run_page(rows, "A run <in> a browser", bench_command).write(path)
    return path


@pytest.fixture
def browser(driver, page):
    """Return the browser with the page freshly loaded."""
    driver.get(page.as_uri())
    yield driver
    assert driver.get_log("browser") == []


def find(browser, selector):
    return browser.find_element("css selector", selector)


def choose(browser, place, text):
    from selenium.webdriver.support.ui import Select

    Select(find(browser, f'select[data-choice="{place}"]')).select_by_visible_text(text)


def cells(browser, selector):
    """Return the texts of a table, row by row, also of what is scrolled out of sight."""
    script = """return [...document.querySelector(arguments[0]).rows]
        .map(row => [...row.cells].map(cell => cell.textContent))"""
    return browser.execute_script(script, selector)


def summary_of(rows, metric, rate):
    return summarize(rows[rows["rate"] == rate], metric)


def expected(rows, metric, rate):
    summary = summary_of(rows, metric, rate)
    scores = common_ground(summary).scores
    ranks = mean_ranks(scores, summary.higher_is_better)
    return score_table(summary.mean, summary.std, summary.higher_is_better, mean_rank=ranks)


def texts(table):
    head = [[column.name for column in table.columns]]
    lines = table.cells([*table.rows, *table.foot])
    return head + [[cell.text for cell in cells] for cells in lines]


SCORES = '[data-slot="scores"] table'


def test_the_page_asks_for_nothing_but_itself(browser, page):
    choose(browser, 0, "clark ↓")
    events = [json.loads(each["message"])["message"] for each in browser.get_log("performance")]
    asked = {
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    }
    assert {url for url in asked if not url.startswith("data:")} == {page.as_uri()}
    assert find(browser, "h1").text == "A run <in> a browser"


def test_choosing_shows_the_right_numbers(browser, rows):
    names = {"cosine": "cosine ↑", "clark": "clark ↓", "euclidean": "euclidean ↓"}
    for metric, name in names.items():
        choose(browser, 0, name)
        for rate in (0.1, 0.5):
            choose(browser, 1, f"{100 * rate:g}%")
            assert cells(browser, SCORES) == texts(expected(rows, metric, rate))
            caption = find(browser, '[data-slot="scores"] figcaption').text
            word = "higher" if METRICS[metric].higher_is_better else "lower"
            assert f"{word} is better" in caption
            assert caption.lower().startswith(f"{metric} at {100 * rate:g}%")


def test_choosing_and_going_back_gives_the_first_page_again(browser):
    script = """return [...document.querySelectorAll("[data-slot], [data-when]")]
        .map(each => each.outerHTML)"""
    before = browser.execute_script(script)
    choose(browser, 0, "clark ↓")
    assert browser.execute_script(script) != before
    choose(browser, 0, "cosine ↑")
    assert browser.execute_script(script) == before


def test_figures_and_tests_follow_the_choice(browser):
    script = """return [...document.querySelectorAll("figure.drawing")]
        .filter(each => each.checkVisibility()).map(each => each.dataset.name)"""
    assert browser.execute_script(script) == ["ranks-cosine-50", "rates-cosine", "run-time"]
    choose(browser, 0, "clark ↓")
    choose(browser, 1, "10%")
    assert browser.execute_script(script) == ["ranks-clark-10", "rates-clark", "run-time"]
    assert "Movie (no score of ridge)" in find(browser, '[data-slot="tests"]').text
    choose(browser, 0, "euclidean ↓")
    assert browser.execute_script(script) == ["run-time"]
    assert "drawn for cosine" in find(browser, '[data-slot="tests"]').text


def test_sorting_by_click_and_by_keyboard(browser, rows):
    from selenium.webdriver.common.keys import Keys

    choose(browser, 1, "10%")
    scores = summary_of(rows, "cosine", 0.1).mean
    mean = scores["ridge"]
    upwards = list(mean.dropna().sort_values().index)
    column = list(scores).index("ridge") + 2
    head = find(browser, f"{SCORES} th:nth-child({column})")
    assert head.get_attribute("aria-sort") == "none"

    head.find_element("css selector", "button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert [row[0] for row in cells(browser, SCORES)[1:-1]] == [*upwards, "Movie"]
    assert cells(browser, SCORES)[-1][0] == "mean rank"

    head.find_element("css selector", "button").send_keys(Keys.ENTER)
    assert head.get_attribute("aria-sort") == "descending"
    assert [row[0] for row in cells(browser, SCORES)[1:-1]] == [*upwards[::-1], "Movie"]

    first = find(browser, f"{SCORES} th")
    first.find_element("css selector", "button").send_keys(Keys.SPACE)
    assert first.get_attribute("aria-sort") == "ascending"
    assert head.get_attribute("aria-sort") == "none"
    assert [row[0] for row in cells(browser, SCORES)[1:-1]] == sorted(DATASETS, key=str.casefold)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_fits_the_screen(driver, page, width, scheme):
    size = {"width": width, "height": 740, "deviceScaleFactor": 1, "mobile": width < 500}
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    driver.get(page.as_uri())
    inner, outer = driver.execute_script(
        "return [document.documentElement.scrollWidth, innerWidth]"
    )
    assert inner <= outer == width
    assert _contrast(driver, "body") > 7
    assert _contrast(driver, "figcaption") > 4.5
    pinned = """const box = document.querySelector(".scroll"); box.scrollLeft = 1e4;
        return box.querySelector("tbody th").getBoundingClientRect().left
            - box.getBoundingClientRect().left"""
    assert abs(driver.execute_script(pinned)) < 1


def test_the_page_fits_the_paper(driver, page):
    landscape = {"width": 960, "height": 700, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", landscape)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    driver.get(page.as_uri())
    inner, outer = driver.execute_script(
        "return [document.documentElement.scrollWidth, innerWidth]"
    )
    assert inner <= outer == 960
    assert not find(driver, ".controls").is_displayed()


def _contrast(driver, selector):
    """Return the contrast of text and paper by the formula of WCAG."""
    script = """return [getComputedStyle(document.querySelector(arguments[0])).color,
        getComputedStyle(document.body).backgroundColor]"""
    colours = [each[4:-1].split(",") for each in driver.execute_script(script, selector)]
    shares = np.array(colours, dtype=float) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    low, high = sorted(linear @ [0.2126, 0.7152, 0.0722])
    return (high + 0.05) / (low + 0.05)


def test_the_latex_is_that_of_the_table(browser, rows):
    choose(browser, 1, "10%")
    found = browser.execute_script(
        f"return latex(document.querySelector('{SCORES}').closest('figure'))"
    )
    wanted = expected(rows, "cosine", 0.1).latex()

    def body(text):
        return text[text.index(r"\begin{tabular}") :]

    assert body(found) == body(wanted)


def test_the_csv_has_means_and_deviations_as_printed(browser, rows):
    from io import StringIO

    import pandas as pd

    choose(browser, 1, "10%")
    find(browser, '[data-slot="scores"] .tools a').click()
    text = downloaded(browser, "scores-cosine-10.csv")
    found = pd.read_csv(StringIO(text), index_col=0).loc[DATASETS]
    summary = summary_of(rows, "cosine", 0.1)
    np.testing.assert_allclose(found[METHODS], summary.mean.loc[DATASETS, METHODS], atol=5.1e-5)
    stds = found[[f"{name} std" for name in METHODS]]
    np.testing.assert_allclose(stds, summary.std.loc[DATASETS, METHODS], atol=5.1e-5)


def test_a_figure_can_be_taken_along(browser):
    from xml.etree import ElementTree

    find(browser, 'figure[data-name="run-time"] a').click()
    root = ElementTree.fromstring(downloaded(browser, "run-time.svg"))
    assert root.tag.endswith("svg")
    assert "winldl" in "".join(root.itertext())


def test_the_command_can_be_copied(browser):
    from selenium.webdriver.common.keys import Keys

    button = find(browser, ".code button")
    button.click()
    for _ in range(6000):  # five minutes, for a busy machine
        if button.text == "Copied":
            break
        time.sleep(0.05)
    browser.execute_script("document.body.append(document.createElement('textarea'))")
    area = find(browser, "textarea")
    area.send_keys(Keys.CONTROL, "v")
    assert area.get_property("value") == find(browser, ".code pre").get_property("textContent")
    assert area.get_property("value").startswith("inldl bench")


def test_without_a_script_the_first_table_is_there(driver, page, rows):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get(page.as_uri())
        assert not find(driver, ".controls").is_displayed()
        shown = [each.text for each in driver.find_elements("css selector", f"{SCORES} tbody th")]
        assert shown == list(summary_of(rows, "cosine", 0.5).mean.index)
        assert find(driver, 'figure[data-name="ranks-cosine-50"]').is_displayed()
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_pictures_fit_a_phone_and_can_be_read(browser):
    size = {"width": 390, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    script = """return [...document.querySelectorAll("figure.drawing")]
        .filter(each => each.checkVisibility())
        .map(each => [each.dataset.name, each.querySelector(".scroll")])
        .map(([name, box]) => [name, box.scrollWidth - box.clientWidth])"""
    for metric, name in (("cosine ↑", "cosine"), ("clark ↓", "clark")):
        choose(browser, 0, metric)
        found = dict(browser.execute_script(script))
        assert {"run-time", f"rates-{name}"} < set(found)
        assert any(each.startswith(f"ranks-{name}") for each in found)
        assert set(found.values()) == {0}
    script = """return [...document.querySelectorAll("figure.drawing .narrow text")]
        .filter(each => each.checkVisibility()).map(each => each.getBoundingClientRect())
        .map(box => [box.left, box.right, box.height])"""
    left, right, height = np.transpose(browser.execute_script(script))
    assert left.min() >= 0
    assert right.max() <= 390
    assert np.median(height) >= 9
