"""The page of a run beside its scores: times, failures, machines, how to compute it again."""

from functools import partial

from sklearn.exceptions import ConvergenceWarning

from inldl.experiments import results
from inldl.report.document import (
    DASH,
    Code,
    Content,
    Header,
    Note,
    Paragraph,
    ShownTable,
    picture,
)
from inldl.report.figures import run_time
from inldl.report.style import FULL
from inldl.text import listed

MOST_REMARKS = 200
_PACKAGES = ("inldl", "numpy", "scipy", "scikit-learn", "numba", "pandas")
_FRAME = """from inldl.experiments import Store
Store("run.sqlite").frame().to_csv("run.csv", index=False)"""


def percent(rate) -> str:
    """Write 50% for 0.5."""
    return f"{100 * rate:.4g}%"


def time_figure(rows) -> Content:
    """Return the bars of run time, over the rates and splits of all settings."""
    mean, _ = results.mean_and_std(rows, "fit_seconds")
    frame = mean.melt(ignore_index=False, var_name="method", value_name="seconds")
    known = frame["seconds"].dropna()
    if known.empty or not (known > 0).all():
        return Note("There are no times of fits to draw.")
    draw = partial(run_time, frame.reset_index(), label="time of the fits (s)", width=FULL)
    caption = "CPU time of one fit (mean over rates and splits), added up over the datasets"
    return picture(draw, f"{caption}; logarithmic.", "run-time")


def costs_table(rows) -> ShownTable:
    """Return what fits of each method cost: time, memory, iterations."""
    columns = {
        "method": Header("method"),
        "fit_seconds": Header("fit (s)", ".4g"),
        "predict_seconds": Header("predict (s)", ".4g"),
        "megabytes": Header("memory (MB)", ".1f"),
        "n_iter": Header("iterations", ".0f"),
        "not_converged": Header("not converged", ".0f"),
        "fits": Header("fits"),
    }
    frame = results.costs(rows).reset_index()
    frame["megabytes"] = frame["peak_memory"] / 1e6
    # A method that is meant to stop at its last iteration does not warn.
    warned = rows.loc[rows["reason"].str.startswith(ConvergenceWarning.__name__), "method"]
    meant = frame["not_converged"].eq(0) | frame["method"].isin(warned)
    frame["not_converged"] = frame["not_converged"].where(meant)
    caption = (
        "Means over the fits that succeeded, in CPU seconds; memory is the peak above what was "
        "in use before. Methods that failed somewhere are averaged over their other fits."
    )
    if not meant.all():
        caption += (
            " A dash under not converged: the method is meant to stop after a number of "
            "iterations, and did."
        )
    return ShownTable.of(frame, columns, caption=caption, name="run-time")


def remarks_blocks(rows) -> list[Content]:
    """Return the failures and warnings of a run, the most frequent first."""
    noted = results.remarks(rows)
    if noted.empty:
        return [Paragraph("Nothing failed, and no fit gave a warning.")]
    columns = {
        "method": Header("method"),
        "what": Header("what"),
        "reason": Header("reason", words=True),
        "cells": Header("fits"),
        "datasets": Header("datasets", words=True),
        "rates": Header("missing degrees", words=True),
    }
    shown = noted.head(MOST_REMARKS)
    shown = shown.assign(
        what=[("warning", "fair") if s == "ok" else (s, "bad") for s in shown["status"]],
        datasets=shown["datasets"].map(listed),
        rates=[listed(map(percent, rates)) for rates in shown["rates"]],
    )
    more = len(noted) - MOST_REMARKS
    hidden = [Paragraph(f"{more} more kinds are in the file.")] if more > 0 else []
    return [ShownTable.of(shown, columns, name="failures"), *hidden]


def environment_table(rows) -> Content:
    """Return where the rows of a store were computed."""
    found = results.environments(rows)
    if not found:
        return Paragraph("The rows do not say where they were computed.")
    names = list(dict.fromkeys(name for each, _ in found for name in each))
    lines = [[name, *(str(each.get(name, DASH)) for each, _ in found)] for name in names]
    columns = [Header("part"), *(Header(f"{count} fits", words=True) for _, count in found)]
    return ShownTable(columns, lines)


def how_to_repeat(rows, command) -> list[Content]:
    """Return how to compute the rows of a store again, and how to get at their numbers."""
    parts = {}
    grids = results.repeated_grids(rows) if command else []
    if grids:
        parts["The same fits, on the same splits and holes:"] = "\n\n".join(map(command, grids))
    if (rows["splits"] == "authors").any():
        parts["The fits on the splits of the authors of the paper:"] = "inldl reproduce"
    for versions, count in results.environments(rows):
        known = [f"{name}=={versions[name]}" for name in _PACKAGES if name in versions]
        if known:
            python = versions.get("python", "")
            parts[f"Versions of {count} fits, with Python {python}:"] = "\n".join(known)
    parts["All numbers in full precision:"] = _FRAME
    return [block for text, code in parts.items() for block in (Paragraph(text), Code(code))]
