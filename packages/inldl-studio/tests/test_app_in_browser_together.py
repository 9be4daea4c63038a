"""Two people at once, many cells at once, undo and redo, and nothing that is lost or silent."""

import time

import pytest

from budget_survey import LABELS, budget_survey
from inldl_studio.changing import Change
from studio_client import running_studio

pytest.importorskip("selenium")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from accessible import violations
from studio_page import (
    cell,
    choose,
    completed,
    find,
    go,
    opened,
    press,
    survey,
    text,
    until,
)  # fmt: skip

NAMES = LABELS.split(",")


@pytest.fixture
def studio(tmp_path):
    with running_studio(tmp_path / "work", people=["Ada", "Emmy"]) as client:
        yield client


def typed(page, row, label, number, *keys):
    page.execute_script(f"document.querySelector('.grid').scrollTop = {max(0, row - 5) * 30}")
    until(page, f"document.querySelector('.grid [data-position=\"{row}\"]')?.textContent")
    script = "arguments[0].scrollIntoView({ block: 'center' })"
    page.execute_script(script, cell(page, row, label))
    cell(page, row, label).click()
    page.switch_to.active_element.send_keys(number, *keys)


def edits(studio):
    return sorted(edit[:3] for edit in studio.workspace.tables()[0]["edits"])


def paste(page, content):
    script = """const data = new DataTransfer(); data.setData('text/plain', arguments[0]);
        const how = { clipboardData: data, bubbles: true, cancelable: true };
        document.activeElement.dispatchEvent(new ClipboardEvent('paste', how));"""
    page.execute_script(script, content)


def missing(label, other):
    """Return a row in which two labels side by side are missing."""
    holes = budget_survey(40)[[label, other]].isna().all(axis=1)
    return int(holes.to_numpy().argmax())


@pytest.mark.slow
def test_many_cells_undo_and_redo_also_after_a_restart(page, studio, tmp_path):
    opened(page, survey(tmp_path))
    completed(page)
    row = missing("food", "fuel")
    typed(page, row, "food", Keys.SHIFT + Keys.ARROW_RIGHT + Keys.NULL)
    until(page, "document.querySelectorAll('.grid [aria-selected=true]').length === 2")
    paste(page, "0.02\t0,03\r\n")
    until(page, "document.querySelectorAll('.cell.edited').length === 2")
    assert edits(studio) == [[row, "food", 0.02], [row, "fuel", 0.03]]
    press(page, "Fill with estimates")
    until(page, "document.querySelector('.notice')?.innerText.includes('nothing to change')")
    # Undone without scrolling, the cells are drawn again at once.
    press(page, "Undo")
    until(page, "!document.querySelector('.cell.edited')")
    assert edits(studio) == []
    press(page, "Redo")
    until(page, "document.querySelectorAll('.cell.edited').length === 2")
    # A known share can be made missing; the studio ends and starts again.
    known = int(budget_survey(40)["food"].notna().to_numpy().argmax())
    typed(page, known, "food", Keys.SHIFT + Keys.ARROW_DOWN + Keys.NULL)
    press(page, "Clear")
    until(page, "document.querySelector('.cell.emptied')")
    page.get("about:blank")
    with running_studio(tmp_path / "work", people=["Ada"]) as again:
        page.get(again.address + "#" + again.workspace.tables()[0]["id"])
        until(page, "document.querySelector('.cell.emptied')")
        cell(page, 0, "food").click()
        page.switch_to.active_element.send_keys(Keys.CONTROL + "z")
        until(page, "!document.querySelector('.cell.emptied')")
        press(page, "List of changes")
        until(page, "document.querySelectorAll('.change-list tbody tr').length === 5")
        assert "Made missing (undone)" in text(page, ".change-list")
        page.get("about:blank")


@pytest.mark.slow
def test_two_people_see_each_other(page, studio, tmp_path):
    opened(page, survey(tmp_path))
    completed(page)
    ada, place = page.current_window_handle, page.current_url.partition("#")[2]
    page.switch_to.new_window("tab")
    page.get(f"{studio.addresses['Emmy']}#{place}")
    until(page, "document.querySelector('.grid .filled')")
    emmy = page.current_window_handle
    row = missing("food", "fuel")
    typed(page, row, "food", "0.02" + Keys.ENTER)
    until(page, "document.querySelector('.cell.edited')")
    assert "edited by Emmy" in cell(page, row, "food").get_attribute("aria-label")
    page.switch_to.window(ada)
    until(page, "document.querySelector('.cell.edited')")
    assert "edited by Emmy" in cell(page, row, "food").get_attribute("aria-label")
    # Both write into one cell before they see each other; the second one is asked.
    page.execute_script("Object.defineProperty(document, 'hidden', { get: () => true })")
    page.switch_to.window(emmy)
    typed(page, row, "fuel", "0.03" + Keys.ENTER)
    until(page, "document.querySelectorAll('.cell.edited').length === 2")
    page.switch_to.window(ada)
    typed(page, row, "fuel", "0.04" + Keys.ENTER)
    until(page, "document.querySelector('.notice.problem')")
    told = text(page, ".notice")
    assert f"Emmy has changed 'fuel' of row {row + 1} meanwhile; there is 0.03 now." in told
    assert edits(studio) == [[row, "food", 0.02], [row, "fuel", 0.03]]
    press(page, "Use mine")
    mine = f"""[...document.querySelectorAll('[data-position="{row}"].edited')]
        .some((each) => each.textContent === '0.04')"""
    until(page, mine)
    assert edits(studio) == [[row, "food", 0.02], [row, "fuel", 0.04]]
    page.switch_to.window(emmy)
    until(page, mine)
    page.close()
    page.switch_to.window(ada)


@pytest.mark.slow
def test_a_number_that_came_while_typing_is_not_overwritten(
    page, second_chromium, studio, tmp_path
):
    """Ada types into a cell, Emmy saves a number in it in her own browser, Ada presses Enter."""
    ada, emmy = page, second_chromium
    opened(ada, survey(tmp_path))
    completed(ada)
    emmy.get(f"{studio.addresses['Emmy']}#{ada.current_url.partition('#')[2]}")
    until(emmy, "document.querySelector('.grid .filled')")
    row = missing("food", "fuel")
    typed(ada, row, "food", ".02")
    typed(emmy, row, "food", "0.05" + Keys.ENTER)
    until(emmy, "document.querySelector('.cell.edited')")
    revision = studio.workspace.tables()[0]["revision"]
    heard = f"fetch('api/tables/{studio.workspace.tables()[0]['id']}')"
    script = f"const done = arguments[0]; {heard}.then(r => r.json()).then(t => done(t.revision))"
    assert ada.execute_async_script(script) == revision
    time.sleep(1)  # her page asks every .7 seconds
    ada.switch_to.active_element.send_keys(Keys.ENTER)
    until(ada, "document.querySelector('.notice.problem')")
    assert "Emmy has changed 'food'" in text(ada, ".notice")
    assert edits(studio) == [[row, "food", 0.05]]
    # Ada has done nothing that she could undo; what Emmy did is not hers. Undo works anywhere.
    press(ada, "Close")
    script = "document.activeElement.blur(); document.body.dispatchEvent(new KeyboardEvent("
    ada.execute_script(script + "'keydown', { key: 'z', ctrlKey: true, bubbles: true }))")
    until(ada, "document.querySelector('.notice')?.innerText.includes('nothing to undo')")
    press(emmy, "List of changes")
    emmy.execute_script("document.activeElement.blur()")
    ActionChains(emmy).key_down(Keys.CONTROL).send_keys("z").key_up(Keys.CONTROL).perform()
    until(emmy, "document.querySelector('.notice')?.innerText.includes('Undone')")
    assert edits(studio) == []
    emmy.get("about:blank")


@pytest.mark.slow
def test_all_rows_are_filled_and_copied_also_those_never_in_sight(page, studio, tmp_path):
    """Choosing all rows means all, and other rows in their places are not chosen."""
    opened(page, survey(tmp_path, 700))
    completed(page, "constant-mean")
    holes = budget_survey(700)[NAMES].isna().to_numpy().sum()
    cell(page, 0, "food").click()
    ActionChains(page).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).perform()
    until(page, "document.querySelector('.chosen').innerText.includes('4,200 cells')")
    page.execute_script("""window.copied = null; document.addEventListener('copy', (event) => {
        if (event.target.tagName === 'TEXTAREA') window.copied = event.target.value; }, true)""")
    ActionChains(page).key_down(Keys.CONTROL).send_keys("c").key_up(Keys.CONTROL).perform()
    until(page, "window.copied")
    lines = page.execute_script("return window.copied").split("\n")
    assert len(lines) == 700
    assert all(len(line.split("\t")) == 6 for line in lines)
    press(page, "Fill with estimates")
    until(page, "document.querySelector('.notice')?.innerText.includes('Filled with estimates')")
    assert len(edits(studio)) == holes
    cell(page, 0, "food").click()
    page.switch_to.active_element.send_keys(Keys.SHIFT + Keys.ARROW_DOWN + Keys.NULL)
    until(page, "document.querySelector('.chosen').innerText.includes('2 cells')")
    choose(page, "Which rows", "doubt")
    until(page, "!document.querySelector('.chosen').innerText.includes('2 cells')")


@pytest.mark.slow
def test_a_click_elsewhere_keeps_what_was_typed(page, studio, tmp_path):
    opened(page, survey(tmp_path))
    completed(page)
    row = missing("food", "fuel")
    typed(page, row, "food", "0.02")
    find(page, ".grid-box .legend").click()
    until(page, "document.querySelector('.cell.edited')")
    assert edits(studio) == [[row, "food", 0.02]]
    typed(page, row, "fuel", "7")
    find(page, ".grid-box .legend").click()
    until(page, "document.querySelector('.notice.problem')")
    assert text(page, ".notice").startswith("7 was not kept: 7 is too much for 'fuel'")
    # Files do not contain the edit, and the page says so.
    go(page, "report")
    assert "What is here does not contain these changes." in text(page, ".stale")
    go(page, "predict")
    assert "What is here does not contain these changes." in text(page, ".stale")


@pytest.mark.slow
def test_another_way_to_read_the_file_keeps_roles_and_edits(page, studio, tmp_path):
    opened(page, survey(tmp_path))
    assert not find(page, ".options").get_attribute("open")
    choose(page, "Role of age", "ignored")
    until(page, "document.querySelector('.role-ignored')")
    completed(page)
    row = missing("food", "fuel")
    typed(page, row, "food", "0.02" + Keys.ENTER)
    until(page, "document.querySelector('.cell.edited')")
    go(page, "columns")
    before = studio.workspace.tables()[0]["runs"]["look"]
    page.execute_script("document.querySelector('.options').open = true")
    find(page, "#field-cells-that-mean-missing").send_keys("refused" + Keys.TAB)
    until(page, "document.querySelector('table.roles')")
    while studio.workspace.tables()[0]["runs"]["look"] == before:
        until(page, "document.querySelector('h1')")
    until(page, "document.querySelector('[aria-label=\"Role of age\"]')?.value === 'ignored'")
    assert edits(studio) == [[row, "food", 0.02]]


@pytest.mark.slow
def test_signs_are_given_a_meaning_on_the_page(page, studio, tmp_path):
    frame = budget_survey(40).astype({"food": object})
    frame.loc[[1, 2, 3], "food"] = "*"
    path = survey(tmp_path)
    path.write_text(frame.to_csv(index=False))
    opened(page, path)
    assert "in 3 cells, read as missing" in text(page, ".signs")
    find(page, "[aria-label='* stands for 0']").click()
    until(page, "document.querySelector('.signs')?.innerText.includes('read as 0')")
    assert studio.workspace.tables()[0]["settings"]["mark"] == "*=0"


@pytest.mark.slow
def test_the_keyboard_reaches_the_first_steps(page, studio):
    def tab_to(name):
        for _ in range(80):
            ActionChains(page).send_keys(Keys.TAB).perform()
            script = "return document.activeElement.textContent.trim()"
            if page.execute_script(script) == name:
                return page.switch_to.active_element
        raise AssertionError(f"Tab does not reach {name}")

    tab_to("Try it with an example").send_keys(Keys.ENTER)
    until(page, "document.querySelector('table.preview')")
    assert "6 labels" in text(page)
    assert tab_to("Complete the table").is_enabled()


@pytest.mark.slow
def test_axe_finds_nothing_wrong_in_progress_errors_and_conflicts(page, studio, tmp_path):
    found = []

    def look(state):
        for colours in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": colours}]
            page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            found.extend((state, colours, *each) for each in violations(page))

    frame = budget_survey(40).astype({"food": object})
    frame.loc[3, "food"] = "refused"
    path = survey(tmp_path)
    path.write_text(frame.to_csv(index=False))
    opened(page, path)
    assert "refused in 1 cell, read as a word" in text(page, ".signs")
    press(page, "Complete the table")
    until(page, "document.querySelector('.job progress, .told.problem')")
    look("progress")
    until(page, "document.querySelector('.told.problem .meaning')")
    assert "Row 4, column 'food': 'refused' is not a number" in text(page, ".told.problem")
    look("error")
    press(page, "missing")
    until(page, "document.querySelector('aside.ask')")
    row = missing("food", "fuel")
    typed(page, row, "food", ".02")
    change = Change("Emmy", {}, [[row, "food", "0.05"]])
    studio.workspace.change_cells(studio.workspace.tables()[0]["id"], change)
    page.switch_to.active_element.send_keys(Keys.ENTER)
    until(page, "document.querySelector('.notice.problem')")
    look("conflict")
    assert found == []


@pytest.mark.slow
def test_axe_finds_nothing_wrong(page, tmp_path):
    """On every screen, light and dark, on a phone, a tablet and a desk."""
    found = []

    def look(view):
        page.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        for width in (390, 820, 1440):
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            for colours in ("light", "dark"):
                wanted = {"prefers-color-scheme": colours, "prefers-reduced-motion": "reduce"}
                features = [{"name": name, "value": value} for name, value in wanted.items()]
                page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
                found.extend((view, width, colours, *each) for each in violations(page))

    look("home")
    opened(page, survey(tmp_path))
    look("columns")
    completed(page)
    row = missing("food", "fuel")
    typed(page, row, "food", "0.02" + Keys.ENTER)
    until(page, "document.querySelector('.cell.edited')")
    press(page, "List them")
    until(page, "document.querySelector('.questions li input')")
    press(page, "List of changes")
    until(page, "document.querySelector('.change-list table')")
    look("table")
    for view in ("report", "inspect", "predict"):
        go(page, view)
        look(view)
    go(page, "compare")
    press(page, "Compare")
    until(page, "document.querySelector('article.document table')")
    look("compare")
    assert found == []
