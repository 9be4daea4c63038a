"""Photograph the studio for the documentation.

    python examples/draw_studio.py [--folder docs/images]

A table of household budgets is taken from the file to the completed table in a real browser, which
takes a minute or two. It needs Chromium with its driver, and selenium.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys

from inldl import hide
from inldl.datasets import load_budget_shares

DOCS = Path(__file__).parents[1] / "docs"
SMALL = 1000, 640  # the size of a picture of the film
COLOURS = 256  # of a picture, so that it stays small


def main(folder):
    """Write the pictures into a folder."""
    with tempfile.TemporaryDirectory() as place, studio(Path(place)) as address, browser() as page:
        page.get(address)
        until(page, "document.querySelector('table.roles')")
        photograph(page, folder / "studio_columns.png", 1200, 760)
        film(page, folder)
        page.get("about:blank")
        page.get(address)
        until(page, "document.querySelector('.grid .filled')")
        go(page, "table")
        until(page, "document.querySelector('aside.ask')")
        press(page, "List them")
        until(page, "document.querySelector('.questions li')")
        size(page, 1440, 960)
        press(page, "›")
        until(page, "document.querySelector('.tip:not([hidden])')")
        photograph(page, folder / "studio.png", 1440, 960)
        photograph(page, folder / "studio_narrow.png", 390, 780, dark=True)


def film(page, folder):
    """Write small pictures of the way from a file to what is handed on."""

    def shot(number):
        photograph(page, folder / f"studio_film_{number}.png", *SMALL)

    shot(2)
    page.execute_script("location.hash = ''")
    until(page, "document.querySelector('main').dataset.ready === 'home'")
    shot(1)
    page.back()
    until(page, "document.querySelector('table.preview')")
    press(page, "Complete the table")
    until(page, "document.querySelector('.job progress')")
    page.execute_script("document.querySelector('.job').scrollIntoView()")
    photograph(page, folder / "studio_film_3.png", *SMALL, top=False)
    until(page, "document.querySelector('.grid .filled')")
    scroll_to(page, ".grid-tools")
    photograph(page, folder / "studio_film_4.png", *SMALL, top=False)
    cell = page.find_element("css selector", ".grid-rows .cell.filled")
    cell.click()
    cell.send_keys(Keys.SHIFT + 3 * Keys.ARROW_DOWN + Keys.ARROW_RIGHT + Keys.NULL)
    photograph(page, folder / "studio_film_5.png", *SMALL, top=False)
    page.execute_script("document.querySelector('.divide').open = true")
    page.find_element("id", "field-names").send_keys("Ada, Emmy")
    press(page, "List them")
    until(page, "document.querySelector('.questions li')")
    scroll_to(page, "aside.ask")
    photograph(page, folder / "studio_film_6.png", *SMALL, top=False)
    go(page, "report")
    shot(7)
    go(page, "columns")


def scroll_to(page, selector):
    """Bring a part of the page to its top."""
    page.execute_script("document.querySelector(arguments[0]).scrollIntoView()", selector)


def survey():
    """Return a survey of household budgets in which shares are missing."""
    X, y = load_budget_shares(return_X_y=True, as_frame=True)
    names = pd.Series([f"H{number:03}" for number in range(1, 301)], name="household")
    shares = hide((100 * y[:300]).round(2), 0.4, random_state=0)
    return pd.concat([names, X[:300], shares], axis=1)


@contextmanager
def studio(folder):
    """Start the studio with the survey; give its address."""
    survey().to_csv(folder / "survey.csv", index=False)
    command = [sys.executable, "-m", "inldl", "studio", "survey.csv", "--no-browser"]
    command += ["--folder", "work"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield re.search(r"http\S+", process.stdout.readline())[0]
        finally:
            process.terminate()


@contextmanager
def browser():
    """Start Chromium without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
    try:
        size(driver, 1200, 760)
        yield driver
    finally:
        driver.quit()


def size(page, width, height, dark=False):
    """Make the screen so wide and so high, light or dark."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    colours = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [colours]})


def until(page, script):
    """Wait until something is true on the page."""
    while not page.execute_script(f"return Boolean({script})"):
        time.sleep(0.1)
    time.sleep(0.5)  # what is fetched after it


def go(page, view):
    """Go to a step."""
    page.execute_script("location.hash = location.hash.split('/')[0] + '/' + arguments[0]", view)
    until(page, f"document.querySelector('main').dataset.ready === '{view}'")


def press(page, text):
    """Click on the button with a text."""
    page.find_element("xpath", f"//button[normalize-space()='{text}']").click()


def photograph(page, path, width, height, dark=False, top=True):
    """Write a picture of the screen with few colours, from the top of the page or from here."""
    size(page, width, height, dark)
    if top:
        page.execute_script("scrollTo(0, 0)")
    time.sleep(0.7)
    page.get_screenshot_as_file(str(path))
    with Image.open(path) as picture:
        how = {"method": Image.Quantize.MAXCOVERAGE, "dither": Image.Dither.NONE}
        few = picture.convert("RGB").quantize(COLOURS, **how)
    few.save(path, optimize=True)
    print(f"Wrote {path}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=DOCS / "images", help="where to write")
    main(parser.parse_args().folder)
