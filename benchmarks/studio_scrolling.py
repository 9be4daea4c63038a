"""Scroll a table of 100,000 rows on the page of the studio, in a real Chromium.

The page is scrolled by a script, a step in each frame: by three rows, as a wheel does, by a
screen, and to random places, as one drags the bar. Printed are the times between frames, how many
of the frames show rows that have not come yet, and the CPU time of the page's main thread for each
frame. Frames come every 17 ms at best; on a busy machine only the CPU times mean something. It
needs Chromium with its driver, and selenium:

    python benchmarks/studio_scrolling.py
"""

import argparse
import json
import shutil
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from inldl.tables import TableFile
from inldl_studio.grid import completed_cells, write_grid
from inldl_studio.jobs import Jobs
from inldl_studio.server import listening, make_server
from inldl_studio.workspace import Workspace

LABELS = [f"share{number}" for number in range(1, 9)]
PARTS = ("TaskDuration", "ScriptDuration", "RecalcStyleDuration", "LayoutDuration")
STEPS = {"wheel (3 rows)": 90, "a screen": 600, "random places": 0}
SCROLL = """
const [step, frames, done] = arguments, view = document.querySelector('.grid');
const times = []; let last = null, empty = 0, left = frames, seed = 1;
view.scrollTop = 0;
function frame(now) {
  if (last !== null) times.push(now - last);
  last = now;
  const cell = view.querySelector('.grid-rows .cell.number:not(:empty)');
  if (!cell) empty++;
  if (!left--) return done({ times, empty });
  seed = (seed * 48271) % 2147483647;
  view.scrollTop = step ? view.scrollTop + step : seed / 2147483647 * view.scrollHeight;
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
"""


def completed_table(workspace, n_rows):
    """Make a completed table with numbers of no meaning; return its id."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(len(LABELS)), n_rows).round(4)
    before = np.where(rng.random(shares.shape) < 0.4, np.nan, shares)
    frame = pd.DataFrame(before, columns=LABELS)
    frame.insert(0, "household", [f"H{number:06}" for number in range(n_rows)])
    frame["income"], frame["age"] = rng.integers(100, 900, n_rows), rng.integers(18, 90, n_rows)
    incoming = workspace.incoming()
    frame.to_csv(incoming / "many.csv", index=False)
    table = workspace.add(incoming, "many.csv", (incoming / "many.csv").stat().st_size)
    roles = {**dict.fromkeys(LABELS, "label"), "household": "id"}
    settings = {**table["settings"], "roles": roles}
    workspace.change(table["id"], 1, settings=settings)
    run = workspace.new_run(table["id"], "complete", settings=settings, edits=[])
    folder = workspace.run_folder(table["id"], run["id"])
    with completed_cells(folder) as add:
        ends = np.repeat(np.where(np.isnan(before), shares, np.nan), 2, axis=1)
        ends[:, 0::2] *= 0.5
        add(SimpleNamespace(values=before), shares, ends)
    file = TableFile(workspace.file_of(table["id"]), LABELS, id=["household"])
    write_grid(folder, file, "fraction", completed=True, intervals=True)
    document = {"title": "", "summary": ["Numbers of no meaning."], "facts": [], "notes": []}
    result = {"files": {}, "document": {**document, "sections": []}, "unasked": ""}
    (folder / "result.json").write_text(json.dumps(result))
    workspace.write_run({**run, "status": "done"})
    return table["id"]


@contextmanager
def served(folder, n_rows):
    """Serve a studio with such a table; give the address of its page."""
    workspace = Workspace(folder)
    table, jobs = completed_table(workspace, n_rows), Jobs(workspace)
    with listening(0) as listener:
        server, addresses, _ = make_server(workspace, jobs, 2**30, listener)
        [address] = addresses.values()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"{address}#{table}/table"
        finally:
            server.should_exit = True
            thread.join()
            jobs.close()


@contextmanager
def browser():
    """Start Chromium without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--window-size=1440,900"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
    driver.set_script_timeout(600)
    try:
        yield driver
    finally:
        driver.quit()


def cpu(page):
    """Return the CPU seconds of the main thread of the page: all, and some parts."""
    found = page.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    found = {each["name"]: each["value"] for each in found}
    return np.array([found[name] for name in PARTS])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--frames", type=int, default=300)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as place,
        served(Path(place), options.rows) as address,
        browser() as page,
    ):
        page.get(address)
        while not page.execute_script("return document.querySelector('.grid .filled')"):
            time.sleep(0.1)
        page.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        for name, step in STEPS.items():
            before = cpu(page)
            found = page.execute_async_script(SCROLL, step, options.frames)
            times = np.array(found["times"])
            work, script, style, layout = (cpu(page) - before) / options.frames * 1000
            middle, high, most = np.percentile(times, [50, 95, 100])
            print(
                f"{name}: {len(times)} frames, median {middle:.1f} ms, 95% {high:.1f}, longest "
                f"{most:.1f}; CPU {work:.1f} ms a frame (script {script:.1f}, style {style:.1f}, "
                f"layout {layout:.1f}); {found['empty']} frames without rows",
                flush=True,
            )


if __name__ == "__main__":
    main()
