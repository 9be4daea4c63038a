"""Draw the pictures of the pages about tables again.

    python examples/draw_docs.py [--folder docs/images]

The tables are made by the first Python block of each page, so that the pictures show what the page
shows. The faces need the public dataset SJAFFE, which is downloaded if it is not there. It takes
about three minutes.
"""

import argparse
import contextlib
import os
import re
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from inldl import Model, hide
from inldl.io import read_table
from inldl.report import (
    comparison,
    completion_map,
    influence,
    metric_against_rate,
    reliability,
    save,
)
from inldl.tables import compare, complete_table, fit_table

DOCS = Path(__file__).parents[1] / "docs"
BUDGET = ["food", "fuel", "clothes", "alcohol", "transport", "other"]
ROWS = 24
WIDTH = 6.0  # inches: a page of text on a screen


def main(folder):
    """Draw all pictures into a folder."""
    for draw in (draw_survey, draw_new_rows, draw_faces):
        for name, figure in draw().items():
            save(figure, folder / name)
            print(f"Wrote {folder / name}", flush=True)


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
    whole = Model().fit(table.features, table.degrees).complete(table.features, table.degrees)
    rows = np.linspace(0, len(whole) - 1, ROWS).astype(int)
    maps = completion_map(
        table.degrees.iloc[rows], whole.iloc[rows], list(names["ratings"]), width=WIDTH
    )
    errors = errors_at_holes(names["texture"], names["ratings"])
    print(errors.pivot(index="method", columns="rate", values="mean").round(4))
    curves = metric_against_rate(errors, "mean error at the holes", width=4.5)
    return {"faces_before_after.svg": maps, "faces_errors.svg": curves}


def errors_at_holes(features, truth, rates=(0.2, 0.35, 0.5, 0.65, 0.8, 0.9), times=5):
    """Return the mean error at the holes of each method and rate, over several draws of holes."""
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
    """Return a table as `inldl complete` fills it with each method."""
    names = ("auto", "winldl", "constant-mean")
    return {name: Model(name).fit(features, given).complete(features, given) for name in names}


@contextlib.contextmanager
def tables_of(page):
    """Run the first Python block of a page in a folder of its own, and give what it has named."""
    block = re.search(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), flags=re.DOTALL)
    names, here = {}, Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(None):
                exec(compile(block[1], page, "exec"), names)
            yield names
        finally:
            os.chdir(here)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=DOCS / "images", help="where to write")
    main(parser.parse_args().folder)
