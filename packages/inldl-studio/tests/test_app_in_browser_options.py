"""Settings, answers in a file, ratios, names and contrast, on the page in a real browser."""

import time
import zipfile
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest

from accessible import faint, nameless
from budget_survey import LABELS, budget_survey
from downloads import downloaded
from inldl import hide

pytest.importorskip("selenium")
from selenium.webdriver.common.keys import Keys

from studio_page import (
    cell,
    choose,
    completed,
    find,
    go,
    opened,
    press,
    send,
    survey,
    text,
    until,
    until_downloaded,
    written,
)  # fmt: skip

NAMES = LABELS.split(",")


@pytest.mark.slow
def test_names_for_screen_readers_and_contrast_in_light_and_dark(page, tmp_path):
    opened(page, survey(tmp_path))
    go(page, "inspect")
    until(page, "document.querySelector('article.document table')")
    completed(page)
    press(page, "List them")
    until(page, "document.querySelector('.questions li input')")
    for view in ("columns", "inspect", "table", "report", "compare", "predict"):
        go(page, view)
        page.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert nameless(page) == [], view
        for colours in ("light", "dark"):
            wanted = {"prefers-color-scheme": colours, "prefers-reduced-motion": "reduce"}
            features = [{"name": name, "value": value} for name, value in wanted.items()]
            page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            assert faint(page) == [], (view, colours)


@pytest.mark.slow
def test_a_file_that_is_read_otherwise(page, studio, tmp_path):
    """A line below the table has too few cells; the page has a setting for that at hand.

    The process that waits for work is ended, so that the page is drawn before the look fails.
    """
    while studio.jobs._spare is None:
        time.sleep(0.05)
    studio.jobs._spare.kill()
    studio.jobs._spare.wait()
    lines = [f"n{i},0.{i}1,0.{8 - i}9" for i in range(1, 9)]
    path = written(tmp_path / "files" / "odd.csv", "\n".join(["name,a,b", *lines, "0.5,0.5"]))
    send(page, path)
    until(page, "document.querySelector('.job .problem')")
    assert "Line 10 has 2 cells" in text(page, ".job")
    box = find(page, "#field-lines-below-the-last-row")
    box.send_keys("1" + Keys.TAB)
    until(page, "document.querySelector('table.roles')")
    assert "3 columns" in text(page)


@pytest.mark.slow
def test_units_and_times_are_found_and_can_be_turned_off(page, tmp_path):
    frame = budget_survey(48).drop(columns=["key", "region"])
    frame.insert(0, "household", [f"h{i // 6}" for i in range(48)])
    frame.insert(1, "year", [2001 + i % 6 for i in range(48)])
    opened(page, written(tmp_path / "files" / "households.csv", frame.to_csv(index=False)))
    assert "a series over 'year' for each 'household'" in text(page)
    assert find(page, "[aria-label='Role of household']").get_attribute("value") == "unit"
    assert find(page, "[aria-label='Role of year']").get_attribute("value") == "time"
    go(page, "inspect")
    until(page, "document.querySelector('img[alt^=\"Where shares are missing\"]')")
    completed(page)
    assert "household" in text(page, ".grid-head").split("\n")[1]
    go(page, "report")
    assert "Rows are taken as a series" in text(page)
    go(page, "columns")
    for name in ("household", "year"):
        choose(page, f"Role of {name}", "feature")
    until(page, "!document.querySelector('.role-unit, .role-time')")
    go(page, "inspect")
    until(page, "!document.querySelector('img[alt^=\"Where shares are missing\"]')")
    go(page, "table")
    until(page, "document.querySelector('.changes')?.innerText.includes('were changed')")
    press(page, "Complete again")
    until(page, "!document.querySelector('.changes')?.innerText.includes('were changed')")
    go(page, "report")
    assert "Rows are taken as a series" not in text(page)


@pytest.mark.slow
def test_options_and_answers_in_a_file(page, tmp_path):
    opened(page, survey(tmp_path))
    go(page, "table")
    page.execute_script("document.querySelector('.more').open = true")
    find(page, "#field-multiple-imputations").send_keys("2" + Keys.TAB)
    until(page, "document.activeElement.id === 'field-errors-to-keep-small'")
    completed(page)
    press(page, "List them")
    until(page, "document.querySelector('.questions li input')")
    press(page, "Download the list")
    listed = pd.read_csv(StringIO(downloaded(page, "survey-questions.csv")))
    Path(page.downloads, "survey-questions.csv").unlink()
    listed["answer"] = listed["answer"].astype(float)
    listed.loc[:2, "answer"] = listed["estimate"]
    path = written(tmp_path / "files" / "answers.csv", listed.to_csv(index=False))
    find(page, "#answers").send_keys(str(path))
    until(page, "document.querySelector('.changes')?.innerText.includes('3 cells edited')")
    find(page, "#answers").send_keys(str(survey(tmp_path, name="other.csv")))
    until(page, "document.querySelector('.ask .told')")
    assert "other.csv has no column 'row'" in text(page, ".ask .told")
    go(page, "report")
    press(page, "Multiple imputations")
    packed = Path(page.downloads, "survey-completed-draws.zip")
    until_downloaded(packed)
    with zipfile.ZipFile(packed) as file:
        assert len(file.namelist()) == 2
    packed.unlink()


@pytest.mark.slow
def test_ratios_have_no_intervals_and_no_questions(page, tmp_path):
    frame = budget_survey(40)
    shares = frame[NAMES].fillna(0.1)
    shares = shares.div(shares.sum(axis=1), axis=0)
    frame[NAMES] = hide(shares, 0.3, renormalise=True, random_state=0)
    opened(page, written(tmp_path / "files" / "ratios.csv", frame.to_csv(index=False)))
    page.execute_script("document.querySelector('.options').open = true")
    find(page, "#field-only-ratios-are-known").click()
    until(page, "document.querySelector('.options').open")
    go(page, "table")
    completed(page)
    assert "Questions need a table of shares" in text(page, ".ask")
    assert not find(page, ".doubt").is_displayed()
    row = int(frame["food"].isna().to_numpy().argmax())
    cell(page, row, "food").click()
    page.switch_to.active_element.send_keys("0.1" + Keys.ENTER)
    until(page, "document.querySelector('.tip.problem:not([hidden])')")
    assert "Only ratios" in text(page, ".tip")
