"""Redraw the pictures of the documentation.

    python examples/draw_docs.py [--folder docs/images] [start how_sure ...]

The Python blocks of each page make the tables, so the pictures match the page. Without page names,
all pictures are drawn, which takes a few minutes. The page about faces needs the public dataset
SJAFFE, which is downloaded if necessary.
"""

import argparse
import contextlib
import os
import re
import runpy
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

import draw_guide
from inldl import TableModel, WInLDL, hide
from inldl.datasets import load_budget_shares
from inldl.report import (
    comparison,
    completion_map,
    influence,
    map_of_places,
    reliability,
    save,
)
from inldl.tables import TableFile, compare, complete_table, fit_table, read_table
from inldl.tables.inspect import inspect_file
from inldl_paper.experiments import Store, grid, run, summarize
from inldl_paper.experiments.statistics import nemenyi
from inldl_paper.figures import critical_difference, metric_against_rate

DOCS = Path(__file__).parents[1] / "docs"
BUDGET = ["food", "fuel", "clothes", "alcohol", "transport", "other"]
ROWS = 24
WIDTH = 6.0  # inches: a page of text on a screen


def main(folder, pages):
    """Draw the pictures of some pages, or of all pages, into a folder."""
    for page in pages or PAGES:
        for name, figure in PAGES[page]().items():
            save(figure, folder / name)
            print(f"Wrote {folder / name}", flush=True)


def draw_start():
    """Return the pictures of `start.md`."""
    with tables_of("start.md") as names:
        table = read_table("trips.csv", list(names["truth"]))
    before = table.degrees
    after = TableModel().fit(table.features, before).complete(table.features, before)
    return {
        "start_bars.svg": draw_guide.bars_with_holes(before[:6], after[:6]),
        "start_before_after.svg": completion_map(
            before[:ROWS], after[:ROWS], list(before), width=WIDTH
        ),
    }


def draw_choice():
    """Return the picture of `choose_a_method.md`."""
    tried = {
        "alloys": (["zinc", "tin", "lead", "iron"], ["winldl", "knn", "auto"]),
        "colours": (["red", "green", "blue"], ["winldl", "knn", "kernel-ridge", "auto"]),
        "strangers": (BUDGET, ["winldl", "knn"]),
    }
    found = {}
    with tables_of("choose_a_method.md"):
        for name, (labels, methods) in tried.items():
            table = read_table(f"{name}.csv", labels)
            found[name] = compare(table.features, table.degrees, methods).table.set_index("method")
    return {"choose_three.svg": draw_guide.errors_beside_the_mean(found)}


def draw_sureness():
    """Return the pictures of `how_sure.md`."""
    with tables_of("how_sure.md", blocks=None) as names:
        X, truth, (train, test) = names["X"], names["truth"], names["split"](0)
    model = WInLDL(cross_fit=5).fit(X.iloc[train], hide(truth.iloc[train], 0.4, random_state=0))
    some = X.iloc[test[:60]]
    bounds = (np.asarray(each)[:, 0] for each in model.predict_interval(some, 0.9))
    predicted, food = np.asarray(model.predict(some))[:, 0], truth["food"].to_numpy()[test[:60]]
    kept = pd.Series({what: found.mean() for what, found in names["kept"].items()})
    return {
        "sure_intervals.svg": draw_guide.intervals(predicted, *bounds, food, "share of food"),
        "sure_wrong.svg": draw_guide.coverages(kept),
    }


def draw_weighting():
    """Return the picture of `your_own_weighting.md`."""
    with tables_of("your_own_weighting.md") as names:
        own = names["ChiSquaredWeighting"]()
    return {"weighting.svg": draw_guide.weights(own, "chi-squared")}


def draw_ranks():
    """Return the diagram of `comparing_methods.md`."""
    with tables_of("comparing_methods.md") as names:
        methods = ["winldl", "inldl-a", "bfgs-ldl", "ridge", "knn", "constant-mean"]
        files = [f"{name}.npz" for name in names["tables"]]
        run(grid(files, methods, rates=[0.5], recipe="standard"), "run.sqlite")
        cosine = summarize(Store("run.sqlite").frame(), "cosine")
    test = nemenyi(cosine.mean, cosine.higher_is_better)
    parts = test.mean_ranks, test.critical_difference, test.groups
    return {"papers_ranks.svg": critical_difference(*parts, width=WIDTH)}


def draw_survey():
    """Return the pictures of `complete_a_table.md`."""
    with tables_of("complete_a_table.md"):
        table = read_table("survey.csv", BUDGET)
        learned = fit_table(table.file)
        done = complete_table(table.file, learned.model, "whole.csv", scale=table.scale)
    return {
        "complete_before_after.svg": completion_map(
            done.before[:ROWS], done.after[:ROWS], BUDGET, width=WIDTH
        ),
        "complete_reliability.svg": reliability(learned.completion.reliability()),
    }


def draw_asking():
    """Return the picture of `ask.md`."""
    X, y = load_budget_shares(return_X_y=True, as_frame=True)
    asking = runpy.run_path(str(DOCS.parent / "benchmarks" / "asking.py"))
    trial = asking["Trial"](X[:300], y[:300], "winldl")
    curves = trial.curves(asking["STRATEGIES"])
    curves["rmse"] *= 100
    return {"ask_errors.svg": draw_guide.error_against_cost(curves, "percentage points")}


def draw_new_rows():
    """Return the pictures of `predict_new_rows.md`."""
    with tables_of("predict_new_rows.md"):
        table = read_table("known.csv", BUDGET)
        learned = fit_table(table.file, "winldl")
    found = compare(table.features, table.degrees)
    print(found.table[["method", "completing_rmse", "behind", "behind_se"]].round(4))
    return {
        "predict_methods.svg": comparison(found.table, recommended=found.recommended),
        "predict_influence.svg": influence(
            learned.influence(), label="rise of the error", width=WIDTH
        ),
    }


def draw_faces():
    """Return the pictures of `faces_with_holes.md`."""
    with tables_of("faces_with_holes.md") as names:
        table = read_table("faces_80.csv", list(names["ratings"]))
    whole = TableModel().fit(table.features, table.degrees).complete(table.features, table.degrees)
    rows = np.linspace(0, len(whole) - 1, ROWS).astype(int)
    maps = completion_map(
        table.degrees.iloc[rows], whole.iloc[rows], list(names["ratings"]), width=WIDTH
    )
    errors = errors_at_holes(names["texture"], names["ratings"])
    print(errors.pivot(index="method", columns="rate", values="mean").round(4))
    curves = metric_against_rate(errors, "mean error at the holes", width=4.5)
    return {"faces_before_after.svg": maps, "faces_errors.svg": curves}


def errors_at_holes(features, truth, rates=(0.2, 0.35, 0.5, 0.65, 0.8, 0.9), times=5):
    """Return the mean error of filled-in degrees by method and rate, over several random draws."""
    rows = []
    for rate in rates:
        errors = {}
        for seed in range(times):
            given = hide(truth, rate, random_state=seed)
            holes = given.isna().to_numpy()
            for name, whole in completed_by(features, given).items():
                off = np.abs(whole.to_numpy() - truth.to_numpy())[holes].mean()
                errors.setdefault(name, []).append(off)
        rows += [
            ("SJAFFE", name, rate, np.mean(found), np.std(found)) for name, found in errors.items()
        ]
    return pd.DataFrame(rows, columns=["dataset", "method", "rate", "mean", "std"])


def completed_by(features, given):
    """Return a table as `inldl complete` completes it, for each method."""
    names = ("auto", "winldl", "constant-mean")
    return {
        name: TableModel(name).fit(features, given).complete(features, given) for name in names
    }


def draw_panels():
    """Return the map of `panels.md`, as `inldl inspect --page` draws it."""
    with tables_of("panels.md"):
        found, _, _ = inspect_file(TableFile("runs.csv", "ag*"))
    return {"panels_holes.svg": map_of_places(found.maps, width=WIDTH)}


def draw_networks():
    """Return the picture of `torch.md`, that of the gallery; it needs PyTorch."""
    if find_spec("torch") is None:
        print("The picture of torch.md needs PyTorch, so it stays as it is.")
        return {}
    names = runpy.run_path(str(DOCS.parent / "examples/gallery/plot_with_torch.py"))
    return {"torch_losses.svg": names["figure"]}


@contextlib.contextmanager
def tables_of(page, blocks=1):
    """Run the first Python blocks of a page in a temporary folder, and yield their variables."""
    text = (DOCS / page).read_text("utf-8")
    names, here = {}, Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(None):
                for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)[:blocks]:
                    exec(compile(block, page, "exec"), names)
            yield names
        finally:
            os.chdir(here)


PAGES = {
    "start": draw_start,
    "complete_a_table": draw_survey,
    "ask": draw_asking,
    "predict_new_rows": draw_new_rows,
    "faces_with_holes": draw_faces,
    "choose_a_method": draw_choice,
    "how_sure": draw_sureness,
    "your_own_weighting": draw_weighting,
    "comparing_methods": draw_ranks,
    "panels": draw_panels,
    "torch": draw_networks,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=DOCS / "images", help="where to write")
    parser.add_argument(
        "pages", nargs="*", choices=[[], *PAGES], metavar="page", help="all by default"
    )
    options = parser.parse_args()
    main(options.folder, options.pages)
