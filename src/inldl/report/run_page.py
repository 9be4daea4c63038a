"""The page of a run: what was run, scores, tests, times, failures, how to do it again."""

from pathlib import Path

import numpy as np
import pandas as pd

from inldl.experiments.protocol import RECIPES
from inldl.experiments.results import bench_commands, costs, environments, remarks
from inldl.experiments.store import KEYS, MEASUREMENTS
from inldl.metrics import METRICS

from ._run_figures import Space, difference_figures, rate_figures, time_figure
from ._run_views import MAIN_METRICS, listed, percent, run_views, spoken
from .page import Page, Section, Table, code, heading, paragraph, script_json, terms

SIZE = 1_900_000
"""Bytes that a page may have; figures that do not fit are left out."""

MOST_REMARKS = 200
_NUMBERS = ("rate", "split")
_PACKAGES = ("inldl", "numpy", "scipy", "scikit-learn", "numba", "pandas")


def write_page(rows: pd.DataFrame, out: str | Path, *, title: str = "Results of a run") -> None:
    """Write one HTML page that shows a run and needs no other file.

    Parameters
    ----------
    rows : DataFrame
        Rows of a store, ``Store("run.sqlite").frame()``.
    out : str or path-like
        The file to write; it is replaced only when the new page is whole.
    title : str
        The title of the page.
    """
    run_page(rows, title).write(out)


def run_page(rows: pd.DataFrame, title: str = "Results of a run") -> Page:
    """Return the page that `write_page` writes."""
    rows = _checked(rows)
    if rows.empty:
        return Page(title, [paragraph("This run has no finished cell yet.")])
    scored = (rows["status"] == "ok").any()
    views, results, times = _results(rows) if scored else (None, [_NO_SCORES], [])
    sections = [
        Section("What was run", [_what(rows)]),
        Section("Results", results),
        *([Section("Run time", times)] if times else []),
        Section("Failures and warnings", _remarks(rows)),
        Section("Environment", _environment(rows)),
        Section("How to reproduce", _reproduce(rows)),
    ]
    return Page(title, [paragraph(_summary(rows))], sections, views)


def _checked(rows):
    needed = [*KEYS, *MEASUREMENTS, "status", "reason", "finished", "environment"]
    missing = [name for name in needed if name not in rows.columns]
    if missing:
        raise ValueError(
            f"rows lacks the column(s) {', '.join(missing)}: give the frame of a store, "
            'Store("run.sqlite").frame().'
        )
    for name in [*KEYS, "status", "reason", "finished", "environment"]:
        kind = (int, float, np.number) if name in _NUMBERS else str
        good = [isinstance(value, kind) and value == value for value in rows[name]]
        _refuse(rows, name, ~np.array(good, bool))
    numbers = [*MEASUREMENTS, *(name for name in METRICS if name in rows.columns)]
    # A column in which nothing was measured comes without a type from the database.
    found = {name: pd.to_numeric(rows[name], errors="coerce").astype(float) for name in numbers}
    for name, values in found.items():
        _refuse(rows, name, (values.isna() & rows[name].notna()).to_numpy())
    return rows.assign(**found)


def _refuse(rows, name, bad):
    if bad.any():
        row = int(np.argmax(bad))
        value = rows[name].iloc[row]
        raise ValueError(
            f"Row {row} of the run (counted from 0) has {str(value)[:40]!r} as its {name}, which "
            "no run of inldl writes; delete that row, or run the cells again to another file."
        )


def _summary(rows):
    ok = int((rows["status"] == "ok").sum())
    failed = len(rows) - ok
    counts = [
        (len(rows), "fit"),
        (rows["method"].nunique(), "method"),
        (rows["dataset"].nunique(), "dataset"),
        (rows["rate"].nunique(), "missing rate"),
        (rows["split"].nunique(), "split"),
    ]
    fits, methods, datasets, rates, splits = (f"{n} {noun}{'s' * (n != 1)}" for n, noun in counts)
    end = "all ended well" if not failed else f"{ok} ended well, {failed} did not"
    return f"{methods} on {datasets}, {rates}, {splits}: {fits}, {end}."


def _what(rows):
    names = {name: sorted(set(rows[name])) for name in KEYS}
    statuses = rows["status"].value_counts()
    moments = sorted(filter(None, rows["finished"]))
    pairs = [
        ("Datasets", ", ".join(names["dataset"])),
        ("Methods", ", ".join(names["method"])),
        ("Missing rates", ", ".join(map(percent, names["rate"]))),
        ("Splits", f"{len(names['split'])}; 80% of the rows to learn from, 20% to be judged by"),
        ("Preparation", "; ".join(map(_recipe, names["recipe"]))),
        ("Hiding of degrees", ", ".join(names["mechanism"])),
        ("Fits", ", ".join(f"{count} {status}" for status, count in statuses.items())),
    ]
    if moments:
        first, last = (f"{each[:16].replace('T', ' ')} UTC" for each in (moments[0], moments[-1]))
        pairs.append(("Finished", first if first == last else f"{first} to {last}"))
    return terms(pairs)


def _recipe(name):
    return f"{name} ({RECIPES[name].about})" if name in RECIPES else name


_NO_SCORES = paragraph(
    "No fit ended well, so there are no scores; the reasons are below.", kind="note"
)


def _results(rows):
    """Return the views and the parts of the sections with scores and with times."""
    run = run_views(rows)
    views = run.for_page()
    space = Space(SIZE - len(script_json(views.data())) - 150_000)
    times = [time_figure(rows, space), _costs(rows)]
    differences = difference_figures(run, space)
    curves = rate_figures(rows, run, space) or [
        paragraph("There is one missing rate, so there is no curve to draw.", kind="note")
    ]
    parts = [
        _choosing(run),
        views.controls(),
        views.slot("scores"),
        heading("Wins, ties and losses"),
        views.slot("wins"),
        heading("Do the methods differ?"),
        views.slot("tests"),
        *differences,
        heading("Scores against the missing rate"),
        *curves,
        _other_metrics(run) if len(run.rates) > 1 else "",
    ]
    return views, parts, times


def _choosing(run):
    if len(run.views) < 2:
        return ""
    return (
        "<noscript>"
        + paragraph("With JavaScript the other metrics and missing rates can be chosen here.")
        + "</noscript>"
    )


def _other_metrics(run):
    drawn = listed(spoken(name) for name in run.metrics if name in MAIN_METRICS)
    return "".join(
        f'<div data-when="{at}-*-*" hidden>'
        + paragraph(f"This figure is drawn for {drawn} only.", kind="note")
        + "</div>"
        for at, name in enumerate(run.metrics)
        if name not in MAIN_METRICS
    )


def _costs(rows):
    lines = [
        [
            str(each.Index),
            _number(each.fit_seconds, ".4g"),
            _number(each.predict_seconds, ".4g"),
            _number(each.peak_memory / 1e6, ".1f"),
            _number(each.n_iter, ".0f"),
            str(each.not_converged),
            str(each.fits),
        ]
        for each in costs(rows).itertuples()
    ]
    head = ["method", "fit (s)", "predict (s)", "memory (MB)", "iterations", "not converged"]
    caption = (
        "Means over the fits that ended well, in CPU seconds; memory is the peak above what was "
        "in use before. Methods that failed somewhere are averaged over what is left."
    )
    return Table([*head, "fits"], lines, caption=caption, name="run-time").html()


def _number(value, form):
    return "–" if value != value else format(value, form)  # NaN differs from itself


_TEXTS = [("datasets", "text"), ("missing degrees", "text")]


def _remarks(rows):
    noted = remarks(rows)
    if noted.empty:
        return [paragraph("Nothing failed, and no fit gave a warning.")]
    lines = [
        [
            each.method,
            (("warning", "fair") if each.status == "ok" else (each.status, "bad")),
            (each.reason, "text"),
            str(each.cells),
            (listed(each.datasets), "text"),
            (listed(map(percent, each.rates)), "text"),
        ]
        for each in noted.head(MOST_REMARKS).itertuples()
    ]
    head = ["method", "what", ("reason", "text"), "fits", *_TEXTS]
    parts = [Table(head, lines, name="failures").html()]
    if len(noted) > MOST_REMARKS:
        parts.append(paragraph(f"{len(noted) - MOST_REMARKS} more kinds are in the file."))
    return parts


def _environment(rows):
    found = environments(rows)
    if not found:
        return [paragraph("The rows do not tell where they were computed.")]
    names = list(dict.fromkeys(name for each, _ in found for name in each))
    lines = [[name, *((str(each.get(name, "–")), "text") for each, _ in found)] for name in names]
    head = ["part", *((f"{count} fits", "text") for _, count in found)]
    return [Table(head, lines).html()]


def _reproduce(rows):
    parts = []
    commands = bench_commands(rows)
    if commands:
        parts += [paragraph("The same fits, on the same splits and holes:")]
        parts += [code("\n\n".join(commands))]
    if (rows["splits"] == "authors").any():
        parts += [paragraph("The fits on the splits of the authors of the paper:")]
        parts += [code("inldl reproduce")]
    for versions, count in environments(rows):
        known = [f"{name}=={versions[name]}" for name in _PACKAGES if name in versions]
        if known:
            python = versions.get("python", "")
            parts += [paragraph(f"Versions of {count} fits, with Python {python}:")]
            parts += [code("\n".join(known))]
    parts += [paragraph("All numbers in full precision:")]
    parts += [code(_FRAME)]
    return parts


_FRAME = """from inldl.experiments import Store
Store("run.sqlite").frame().to_csv("run.csv", index=False)"""
