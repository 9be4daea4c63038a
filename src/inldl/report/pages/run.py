"""The page of a run: what was run, scores, tests, times, failures, how to do it again."""

from collections.abc import Callable, Mapping
from functools import partial

import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from inldl.experiments.protocol import RECIPES
from inldl.experiments.results import costs, environments, mean_and_std, remarks, repeated_grids
from inldl.experiments.store import KEYS, MEASUREMENTS
from inldl.metrics import METRICS
from inldl.report.document import (
    DASH,
    Code,
    Content,
    Document,
    Facts,
    Header,
    Note,
    Paragraph,
    Section,
    ShownTable,
    picture,
)
from inldl.report.figures import run_time
from inldl.report.pages.run_results import percent, run_results, short_names
from inldl.report.style import FULL
from inldl.text import counted, listed

MOST_BYTES = 1_750_000
"""Of tables to choose from and figures; figures that do not fit are left out."""

MOST_REMARKS = 200
_PACKAGES = ("inldl", "numpy", "scipy", "scikit-learn", "numba", "pandas")


def run_page(
    rows: pd.DataFrame,
    title: str = "Results of a run",
    command: Callable[[Mapping[str, str]], str] | None = None,
) -> Document:
    """Return the page of a run.

    Parameters
    ----------
    rows : DataFrame
        Rows of a store, ``Store("run.sqlite").frame()``.
    title : str
        The title of the page.
    command : callable, optional
        Returns the shell command that computes a grid, given its arguments as texts; without it
        the page has no such commands.
    """
    rows = _checked(rows)
    if rows.empty:
        return Document(title, ["This run has no finished cell yet."])
    sections: dict[str, list[Content]] = {"What was run": [Facts(_what(rows))]}
    choices = None
    if (rows["status"] == "ok").any():
        sections["Results"], choices = run_results(rows)
        sections["Run time"] = [_time_figure(rows), _costs(rows)]
    else:
        why = "No fit succeeded, so there are no scores; the reasons are below."
        sections["Results"] = [Note(why)]
    sections["Failures and warnings"] = _remarks(rows)
    sections["Environment"] = [_environment(rows)]
    sections["How to reproduce"] = _reproduce(rows, command)
    return Document(
        title,
        [_summary(rows)],
        sections=[Section(name, blocks) for name, blocks in sections.items()],
        choices=choices,
        most_bytes=MOST_BYTES,
    )


def _checked(rows):
    """Return the rows with numbers as floats; a column without one has no type in a database."""
    wanted = [*KEYS, "status", "reason", "finished", "environment", *MEASUREMENTS]
    missing = [name for name in wanted if name not in rows.columns]
    if missing:
        raise ValueError(
            f"rows lacks the column(s) {', '.join(missing)}: give the frame of a store, "
            'Store("run.sqlite").frame().'
        )
    numbers = [*MEASUREMENTS, *(name for name in METRICS if name in rows.columns)]
    return rows.astype(dict.fromkeys(numbers, float))


def _summary(rows):
    ok = int((rows["status"] == "ok").sum())
    nouns = {"method": "method", "dataset": "dataset", "rate": "missing rate", "split": "split"}
    methods, *others = (counted(rows[name].nunique(), noun) for name, noun in nouns.items())
    end = "all succeeded" if ok == len(rows) else f"{ok} succeeded, {len(rows) - ok} did not"
    return f"{methods} on {', '.join(others)}: {counted(len(rows), 'fit')}, {end}."


def _what(rows):
    names = {name: sorted(set(rows[name])) for name in KEYS}
    statuses = rows["status"].value_counts()
    moments = sorted(filter(None, rows["finished"]))
    recipes = [
        f"{name} ({RECIPES[name].about})" if name in RECIPES else name for name in names["recipe"]
    ]
    pairs = [
        ("Datasets", ", ".join(names["dataset"])),
        ("Methods", ", ".join(names["method"])),
        ("Missing rates", ", ".join(map(percent, names["rate"]))),
        ("Splits", f"{len(names['split'])}; 80% of the rows to learn from, 20% to test on"),
        ("Preparation", "; ".join(recipes)),
        ("Hiding of degrees", ", ".join(names["mechanism"])),
        ("Fits", ", ".join(f"{count} {status}" for status, count in statuses.items())),
    ]
    if moments:
        first, last = (f"{each[:16].replace('T', ' ')} UTC" for each in (moments[0], moments[-1]))
        pairs.append(("Finished", first if first == last else f"{first} to {last}"))
    return pairs


def _time_figure(rows):
    """Return the bars of run time, over the rates and splits of all settings."""
    mean, _ = mean_and_std(rows, "fit_seconds")
    frame = mean.rename(columns=short_names(mean.columns)).melt(
        ignore_index=False, var_name="method", value_name="seconds"
    )
    known = frame["seconds"].dropna()
    if known.empty or not (known > 0).all():
        return Note("There are no times of fits to draw.")
    draw = partial(run_time, frame.reset_index(), label="time of the fits (s)", width=FULL)
    caption = "CPU time of one fit (mean over rates and splits), added up over the datasets"
    return picture(draw, f"{caption}; logarithmic.", "run-time")


def _costs(rows):
    columns = {
        "method": Header("method"),
        "fit_seconds": Header("fit (s)", ".4g"),
        "predict_seconds": Header("predict (s)", ".4g"),
        "megabytes": Header("memory (MB)", ".1f"),
        "n_iter": Header("iterations", ".0f"),
        "not_converged": Header("not converged", ".0f"),
        "fits": Header("fits"),
    }
    frame = costs(rows).reset_index()
    frame["megabytes"] = frame["peak_memory"] / 1e6
    meant = frame["not_converged"].eq(0) | frame["method"].isin(_meant_to_converge(rows))
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


def _meant_to_converge(rows):
    """Return the methods that warned: one that is meant to stop at its last iteration does not."""
    return set(rows.loc[rows["reason"].str.startswith(ConvergenceWarning.__name__), "method"])


def _remarks(rows):
    noted = remarks(rows)
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


def _environment(rows):
    found = environments(rows)
    if not found:
        return Paragraph("The rows do not say where they were computed.")
    names = list(dict.fromkeys(name for each, _ in found for name in each))
    lines = [[name, *(str(each.get(name, DASH)) for each, _ in found)] for name in names]
    columns = [Header("part"), *(Header(f"{count} fits", words=True) for _, count in found)]
    return ShownTable(columns, lines)


def _reproduce(rows, command):
    parts = {}
    grids = repeated_grids(rows) if command else []
    if grids:
        parts["The same fits, on the same splits and holes:"] = "\n\n".join(map(command, grids))
    if (rows["splits"] == "authors").any():
        parts["The fits on the splits of the authors of the paper:"] = "inldl reproduce"
    for versions, count in environments(rows):
        known = [f"{name}=={versions[name]}" for name in _PACKAGES if name in versions]
        if known:
            python = versions.get("python", "")
            parts[f"Versions of {count} fits, with Python {python}:"] = "\n".join(known)
    parts["All numbers in full precision:"] = _FRAME
    return [block for text, code in parts.items() for block in (Paragraph(text), Code(code))]


_FRAME = """from inldl.experiments import Store
Store("run.sqlite").frame().to_csv("run.csv", index=False)"""
