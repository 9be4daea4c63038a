"""The studio in a real browser: from a file to a downloaded result, with mistakes on the way."""

import os
import signal
from pathlib import Path

import pandas as pd
import pytest

from budget_survey import LABELS, budget_survey
from downloads import downloaded
from studio_client import running_studio

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


@pytest.fixture
def studio(tmp_path):
    with running_studio(tmp_path / "work", largest=2**20) as client:
        yield client


def test_a_file_is_understood_and_another_refused(page, tmp_path):
    """Reading the columns takes a process of its own, so this takes some seconds."""
    assert page.execute_script("return document.activeElement.tagName") == "BODY"
    send(page, written(tmp_path / "files" / "letter.pdf", b"%PDF"))
    until(page, "document.querySelector('.drop .problem')")
    assert "known kind of table" in text(page, ".drop .problem")
    opened(page, survey(tmp_path))
    assert "6 labels" in text(page)
    labels = page.execute_script(
        "return [...document.querySelectorAll('.chip')].map(each => each.textContent)"
    )
    assert labels == NAMES


@pytest.mark.slow
def test_from_a_file_to_the_downloaded_result(page, studio, tmp_path):
    path = survey(tmp_path)
    opened(page, path)
    # Nobody has chosen labels.
    find(page, "[aria-label='Names of columns, with * for any letters']").send_keys("*" + Keys.TAB)
    choose(page, "Role for these columns", "ignored")
    press(page, "Apply")
    until(page, "document.querySelector('p.problem')")
    assert "No column is marked as a label" in text(page)
    assert not find(page, "button.primary").is_enabled()
    for name in NAMES:
        choose(page, f"Role of {name}", "label")
        until(
            page, f"[...document.querySelectorAll('.chip')].some(c => c.textContent === '{name}')"
        )
    choose(page, "Role of key", "id")
    until(page, "document.querySelector('.role-id')")
    for name in ("totexpend", "income", "age"):
        choose(page, f"Role of {name}", "feature")
        until(
            page, f"document.querySelector('[aria-label=\"Role of {name}\"]').value === 'feature'"
        )
    # Look at it, then complete it, and stop.
    press(page, "Look at it first")
    until(page, "document.querySelector('article.document table')")
    assert "6 labels" in text(page, "article")
    press(page, "Complete the table")
    until(page, "document.querySelector('.job progress')")
    press(page, "Stop")
    until(page, "document.querySelector('.job .told')")
    assert "Stopped" in text(page, ".job")
    completed(page)
    holes = budget_survey(40)["food"].isna()
    row = int(holes.to_numpy().argmax())
    assert "filled in; likely between" in cell(page, row, "food").get_attribute("aria-label")
    # A number that is too large, then one that fits; complete again.
    cell(page, row, "food").click()
    page.switch_to.active_element.send_keys("7" + Keys.ENTER)
    until(page, "document.querySelector('.tip.problem:not([hidden])')")
    assert "too much for 'food'" in text(page, ".tip")
    find(page, ".cell-input").send_keys(Keys.CONTROL + "a")
    find(page, ".cell-input").send_keys("0.1" + Keys.ENTER)
    until(page, "document.querySelector('.cell.edited')")
    assert "1 cell edited; the table was completed before that." in text(page, ".changes")
    press(page, "Complete again")
    until(page, "document.querySelector('.changes')?.innerText.includes('used in this result')")
    # What to ask next: an answer is an edit.
    press(page, "List them")
    until(page, "document.querySelector('.questions li input')")
    first = find(page, ".questions li input")
    first.send_keys("0.01" + Keys.TAB)
    until(page, "document.querySelector('.changes').innerText.includes('2 cells edited')")
    # Take it along.
    go(page, "report")
    until(page, "document.querySelector('.files')")
    press(page, "The table")
    found = downloaded(page, "survey-completed.csv")
    Path(page.downloads, "survey-completed.csv").unlink()
    lines = found.splitlines()
    frame = pd.read_csv(tmp_path / "files" / "survey.csv")
    assert lines[0] == path.read_text().splitlines()[0]
    assert len(lines) == len(frame) + 1
    assert ",0.1," in lines[row + 1]
    assert path.read_text() == budget_survey(40).to_csv(index=False)
    press(page, "The report")
    assert downloaded(page, "survey-report.html").startswith("<!doctype html>")
    press(page, "As Excel")
    until_there = Path(page.downloads, "survey-completed.xlsx")
    until_downloaded(until_there)
    assert pd.read_excel(until_there)["food"].notna().all()
    until_there.unlink()


HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'


@pytest.mark.slow
def test_a_hostile_file_stays_text(page, studio, tmp_path):
    """Names and cells are script tags and formulas; nothing of it is run."""
    frame = budget_survey(40).rename(columns={"food": HOSTILE, "fuel": "=HYPERLINK(1)"})
    frame["key"] = [f"{HOSTILE}{i}" for i in range(40)]
    frame["region"] = ["=cmd|' /C calc'!A0", "</script><script>window.hacked=1</script>"] * 20
    opened(page, written(tmp_path / "files" / "hostile.csv", frame.to_csv(index=False)))
    assert HOSTILE in page.execute_script("return document.querySelector('.chip').textContent")
    press(page, "Look at it first")
    until(page, "document.querySelector('article.document table')")
    completed(page)
    assert HOSTILE in page.execute_script(
        'return document.querySelector(\'[data-position="0"][data-column="1"]\').textContent'
    )
    press(page, "List them")
    until(page, "document.querySelector('.questions li')")
    for view in ("columns", "inspect", "table", "report"):
        go(page, view)
        assert page.execute_script("return window.hacked") is None
        tags = "return document.querySelectorAll('main script, main img[onerror]').length"
        assert page.execute_script(tags) == 0
    table = studio.workspace.tables()[0]
    svgs = (studio.workspace.folder / "tables" / table["id"]).rglob("*.svg")
    assert all("<script" not in svg.read_text() for svg in svgs)


@pytest.mark.slow
def test_a_killed_process_and_a_restart(page, studio, tmp_path):
    opened(page, survey(tmp_path))
    go(page, "table")
    press(page, "Complete the table")
    until(page, "document.querySelector('.job progress')")
    (job,) = studio.jobs._running.values()
    os.kill(job.process.pid, signal.SIGKILL)
    until(page, "document.querySelector('.job .problem')")
    assert "ended unexpectedly" in text(page, ".job")
    completed(page)


@pytest.mark.slow
def test_two_tabs_do_not_disturb_each_other(page, studio, tmp_path):
    opened(page, survey(tmp_path))
    completed(page)
    first, address = page.current_window_handle, page.current_url
    page.switch_to.new_window("tab")
    page.get(address)
    until(page, "document.querySelector('.grid .filled')")
    holes = budget_survey(40)["food"].isna().to_numpy()
    cell(page, int(holes.argmax()), "food").click()
    page.switch_to.active_element.send_keys("0.1" + Keys.ENTER)
    until(page, "document.querySelector('.cell.edited')")
    page.close()
    page.switch_to.window(first)
    cell(page, int(holes.argmax()), "fuel").click()
    page.switch_to.active_element.send_keys("0.05" + Keys.ENTER)
    until(page, "document.querySelector('.cell.edited')")
    edits = studio.workspace.tables()[0]["edits"]
    assert ["food", 0.1] in [edit[1:] for edit in edits]


@pytest.mark.slow
def test_the_keyboard_alone(page, studio, tmp_path):
    opened(page, survey(tmp_path))
    go(page, "inspect")
    until(page, "document.querySelector('article.document table')")
    go(page, "table")
    until(page, "document.querySelector('.grid .missing')")
    for _ in range(60):
        page.switch_to.active_element.send_keys(Keys.TAB)
        if page.execute_script("return document.activeElement.matches('.grid-rows .cell')"):
            break
    active = page.switch_to.active_element
    for _ in range(3):
        page.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    page.switch_to.active_element.send_keys(Keys.ARROW_RIGHT * 2)
    until(page, "document.activeElement.dataset.position === '3'")
    assert active is not None
    page.switch_to.active_element.send_keys(Keys.CONTROL + Keys.END)
    until(page, "document.activeElement.dataset.position === '39'")


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_is_wider_than_the_screen(page, tmp_path, width):
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    opened(page, survey(tmp_path, name=f"{'long_name_' * 8}.csv"))
    completed(page)
    script = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    for view in ("columns", "inspect", "table", "report", "compare", "predict"):
        go(page, view)
        assert page.execute_script(script), view


@pytest.mark.slow
def test_a_table_of_many_rows_scrolls(page, tmp_path):
    """Rows are fetched as they come into sight; far more of them than the page holds."""
    lines = "\n".join(f"n{i},{i % 100 / 100},{(100 - i % 100) / 100}" for i in range(30_000))
    opened(page, written(tmp_path / "files" / "many.csv", f"name,a,b\n{lines}\n"))
    go(page, "inspect")
    until(page, "document.querySelector('article.document table')")
    go(page, "table")
    until(page, "document.querySelector('[data-position=\"0\"]')?.textContent")
    page.execute_script("document.querySelector('.grid').scrollTop = 20000 * 30")
    until(page, "document.querySelector('[data-position=\"20005\"]')?.textContent === '20006'")
    assert page.execute_script("return document.querySelectorAll('.grid-row').length") < 80
    # Pages are forgotten after some time, also the first; it comes again.
    for row in range(0, 30_000, 300):
        page.execute_script(f"document.querySelector('.grid').scrollTop = {row * 30}")
        until(page, f"document.querySelector('[data-position=\"{row + 6}\"]')?.textContent")
    page.execute_script("document.querySelector('.grid').scrollTop = 0")
    until(page, "document.querySelector('[data-position=\"0\"]')?.textContent === '1'")
    page.execute_script("[...document.querySelectorAll('.grid-head button')][2].click()")
    until(page, "document.querySelector('[aria-sort=ascending]')")
    find(page, "[aria-label='Show rows that contain']").send_keys("n2999")
    until(page, "document.querySelector('.grid-tools').innerText.includes('11 rows')")
