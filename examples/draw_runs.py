"""Draw the pictures of the documentation that need long runs: ranks, a report, mu, growth.

    python examples/draw_runs.py [--folder docs/images] [--runs docs/_build/runs]

The runs take about an hour and need public datasets, which are downloaded if necessary. A stopped
run resumes where it was. Chromium takes the screenshot of the report.
"""

import argparse
import shutil
from pathlib import Path

from draw_docs import DOCS, WIDTH
from inldl.report import save
from inldl_paper import figures, run_page
from inldl_paper.experiments import Store, grid, run
from inldl_paper.experiments.statistics import nemenyi
from inldl_paper.figures import critical_difference
from inldl_paper.study import plan
from inldl_paper.study_figures import growth, mu_histories, mu_metrics

YEAST = [f"Yeast_{name}" for name in ("alpha", "cdc", "diau", "dtt", "elu", "heat", "spo")]
DATASETS = ["Movie", "Natural_Scene", "SBU_3DFE", "SCUT_FBP", "SJAFFE", *YEAST, "emotion6"]
OTHERS = ["extra-trees", "boosting", "knn", "ridge", "constant-mean", "constant-uniform"]


def main(folder, runs, datasets):
    """Finish the runs and draw."""
    runs.mkdir(parents=True, exist_ok=True)
    rows = compared(runs / "auto.sqlite", datasets)
    save(ranks(rows), folder / "auto_ranks.svg")
    photograph(rows[rows["recipe"] == "standard"], runs / "report.html", folder / "report.png")
    rows = the_paper(runs / "paper.sqlite")
    save(figures.mu_study(mu_metrics(rows, "SBU3DFE"), mu_histories(rows, "SBU3DFE")),
         folder / "mu.svg")  # fmt: skip
    curves = figures.growth(*growth(rows), label="CPU seconds of a fit", width=WIDTH)
    save(curves, folder / "growth.svg")


def compared(store, datasets):
    """Return the rows behind `auto.md`: each method with the features that suit it."""
    cells = []
    for name in datasets:
        recipe = "authors" if name == "Movie" else "standard"
        options = {"rates": [0.1, 0.5, 0.9], "splits": 3}
        cells += grid([name], ["auto", *OTHERS], recipe=recipe, **options)
        cells += grid([name], ["winldl"], recipe="authors", **options)
    run(cells, store, jobs=2)
    return Store(store).frame()


def ranks(rows):
    """Return the critical-difference diagram over the datasets, by the mean of all rates."""
    scores = rows[rows["status"] == "ok"].groupby(["dataset", "method"])["cosine"].mean().unstack()
    test = nemenyi(scores, True)
    parts = test.mean_ranks, test.critical_difference, test.groups
    return critical_difference(*parts, width=WIDTH)


def photograph(rows, page, picture):
    """Write the report of a run, and take a screenshot of its results."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    run_page(rows).write(page)
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--window-size=1160,1290"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
    try:
        driver.get(page.resolve().as_uri())
        driver.execute_script(
            "[...document.querySelectorAll('h2')].find(h => h.textContent == 'Results')"
            ".scrollIntoView()"
        )
        driver.get_screenshot_as_file(str(picture))
    finally:
        driver.quit()


def the_paper(store):
    """Return the rows behind two figures of the paper."""
    cells = [
        cell
        for cell in plan(["SBU3DFE"])
        if cell.dataset.startswith("random(") or cell.method.startswith("winldl")
    ]
    run(cells, store, jobs=1)  # one at a time, since they are timed
    return Store(store).frame()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=DOCS / "images", help="where to write")
    parser.add_argument(
        "--runs", type=Path, default=DOCS / "_build" / "runs", help="where to keep the runs"
    )
    parser.add_argument("--datasets", nargs="+", default=DATASETS, help="datasets to run")
    options = parser.parse_args()
    main(options.folder, options.runs, options.datasets)
