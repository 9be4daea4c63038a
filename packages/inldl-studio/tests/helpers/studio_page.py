"""Working with the page of the studio in a real browser."""

import time

from selenium.common.exceptions import StaleElementReferenceException

from budget_survey import budget_survey


def until(browser, script):
    """Wait until something is true on the page, as long as it takes."""
    for _ in range(3_000):  # some minutes, for a busy machine
        if browser.execute_script(f"return Boolean({script})"):
            return
        time.sleep(0.05)
    raise AssertionError(f"{script}: {browser.execute_script('return document.body.innerText')}")


def find(browser, selector):
    return browser.find_element("css selector", selector)


def text(browser, selector="main"):
    return browser.execute_script(
        "return document.querySelector(arguments[0]).innerText", selector
    )


def press(browser, label):
    """Click on the button or the link with a text."""
    xpath = f"//*[self::button or self::a][normalize-space()='{label}']"
    for _ in range(100):
        try:
            found = browser.find_element("xpath", xpath)
            browser.execute_script("arguments[0].scrollIntoView({ block: 'center' })", found)
            return found.click()
        except StaleElementReferenceException:  # it was drawn again
            time.sleep(0.05)
    raise AssertionError(f"no button {label}")


def send(browser, path):
    find(browser, "#file").send_keys(str(path))


def go(browser, view):
    script = "location.hash = location.hash.split('/')[0] + '/' + arguments[0]"
    browser.execute_script(script, view)
    until(browser, f"document.querySelector('main').dataset.ready === '{view}'")


def written(path, content):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def survey(tmp_path, rows=40, name="survey.csv"):
    return written(tmp_path / "files" / name, budget_survey(rows).to_csv(index=False))


def opened(page, path):
    send(page, path)
    until(page, "document.querySelector('table.roles')")


def cell(page, row, label):
    """Return a cell of the table by its row in view, from 0."""
    script = """const at = [...document.querySelectorAll('.grid-head .cell')]
        .findIndex(each => each.innerText.split(' ')[0] === arguments[1]);
        return document.querySelector(`[data-position="${arguments[0]}"][data-column="${at}"]`)"""
    return page.execute_script(script, row, label)


def choose(page, name, value):
    script = """const box = document.querySelector(`[aria-label="${arguments[0]}"]`);
        box.value = arguments[1]; box.dispatchEvent(new Event('change'));"""
    page.execute_script(script, name, value)


def completed(page, method="winldl"):
    """Complete the open table with a fast method."""
    go(page, "table")
    script = """const box = document.querySelector('.run select'); box.value = arguments[0];
        box.dispatchEvent(new Event('change'));"""
    page.execute_script(script, method)
    until(page, f"document.querySelector('.run small').textContent.length > 3 && '{method}'")
    time.sleep(0.3)
    press(page, "Complete the table")
    until(page, "document.querySelector('aside.ask')")
    until(page, "document.querySelector('.grid .filled')")


def until_downloaded(path):
    for _ in range(6000):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} was not downloaded")
