"""What a run says: what was run, scores, tests, times, failures, how to do it again."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from inldl._text import counted, listed
from inldl.experiments.protocol import RECIPES
from inldl.experiments.results import (
    bench_commands,
    costs,
    environments,
    mean_over_all,
    remarks,
)
from inldl.experiments.store import KEYS, MEASUREMENTS
from inldl.metrics import METRICS

from ._run_results import percent, result_blocks, run_results, short_names
from .document import (
    MISSING,
    Code,
    Column,
    Document,
    Facts,
    Figure,
    Note,
    Paragraph,
    Section,
    Table,
)
from .figures import run_time
from .style import FULL

MOST_BYTES = 1_750_000
"""Of tables to choose from and figures; figures that do not fit are left out."""

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


def run_page(rows: pd.DataFrame, title: str = "Results of a run") -> Document:
    """Return the document that `write_page` writes."""
    rows = _checked(rows)
    if rows.empty:
        return Document(title, ["This run has no finished cell yet."])
    scored = (rows["status"] == "ok").any()
    run = run_results(rows) if scored else None
    sections = [
        Section("What was run", [Facts(_what(rows))]),
        Section("Results", result_blocks(rows, run) if run else [Note(_NO_SCORES)]),
        *([Section("Run time", [_time_figure(rows), _costs(rows)])] if run else []),
        Section("Failures and warnings", _remarks(rows)),
        Section("Environment", [_environment(rows)]),
        Section("How to reproduce", _reproduce(rows)),
    ]
    choices = run.choices if run else None
    summary = [_summary(rows)]
    return Document(title, summary, sections=sections, choices=choices, most_bytes=MOST_BYTES)


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
    methods, datasets, rates, splits = (
        counted(rows[column].nunique(), noun)
        for column, noun in [
            ("method", "method"),
            ("dataset", "dataset"),
            ("rate", "missing rate"),
            ("split", "split"),
        ]
    )
    end = "all ended well" if not failed else f"{ok} ended well, {failed} did not"
    fits = counted(len(rows), "fit")
    return f"{methods} on {datasets}, {rates}, {splits}: {fits}, {end}."


def _what(rows):
    names = {name: sorted(set(rows[name])) for name in KEYS}
    statuses = rows["status"].value_counts()
    moments = sorted(filter(None, rows["finished"]))
    pairs = [
        ("Datasets", ", ".join(names["dataset"])),
        ("Methods", ", ".join(names["method"])),
        ("Missing rates", ", ".join(map(percent, names["rate"]))),
        ("Splits", f"{len(names['split'])}; 80% of the rows to learn from, 20% to test on"),
        ("Preparation", "; ".join(map(_recipe, names["recipe"]))),
        ("Hiding of degrees", ", ".join(names["mechanism"])),
        ("Fits", ", ".join(f"{count} {status}" for status, count in statuses.items())),
    ]
    if moments:
        first, last = (f"{each[:16].replace('T', ' ')} UTC" for each in (moments[0], moments[-1]))
        pairs.append(("Finished", first if first == last else f"{first} to {last}"))
    return pairs


def _recipe(name):
    return f"{name} ({RECIPES[name].about})" if name in RECIPES else name


_NO_SCORES = "No fit ended well, so there are no scores; the reasons are below."


def _time_figure(rows):
    """Return the bars of run time, over the rates and splits of all settings."""
    mean = mean_over_all(rows, "fit_seconds")
    frame = mean.rename(columns=short_names(mean.columns)).melt(
        ignore_index=False, var_name="method", value_name="seconds"
    )
    known = frame["seconds"].dropna()
    if known.empty or not (known > 0).all():
        return Note("There are no times of fits to draw.")
    caption = (
        "CPU time of one fit (mean over rates and splits), added up over the datasets; "
        "logarithmic."
    )
    draw = partial(run_time, frame.reset_index(), label="time of the fits (s)", width=FULL)
    return Figure(draw, caption, "run-time")


def _costs(rows):
    columns = {
        "method": Column("method"),
        "fit_seconds": Column("fit (s)", ".4g"),
        "predict_seconds": Column("predict (s)", ".4g"),
        "megabytes": Column("memory (MB)", ".1f"),
        "n_iter": Column("iterations", ".0f"),
        "not_converged": Column("not converged"),
        "fits": Column("fits"),
    }
    frame = costs(rows).reset_index()
    frame["megabytes"] = frame["peak_memory"] / 1e6
    caption = (
        "Means over the fits that ended well, in CPU seconds; memory is the peak above what was "
        "in use before. Methods that failed somewhere are averaged over what is left."
    )
    return Table.of(frame, columns, caption=caption, name="run-time")


def _remarks(rows):
    noted = remarks(rows)
    if noted.empty:
        return [Paragraph("Nothing failed, and no fit gave a warning.")]
    columns = [
        Column("method"),
        Column("what"),
        Column("reason", words=True),
        Column("fits"),
        Column("datasets", words=True),
        Column("missing degrees", words=True),
    ]
    lines = [
        [
            each.method,
            ("warning", "fair") if each.status == "ok" else (each.status, "bad"),
            each.reason,
            each.cells,
            listed(each.datasets),
            listed(map(percent, each.rates)),
        ]
        for each in noted.head(MOST_REMARKS).itertuples()
    ]
    more = len(noted) - MOST_REMARKS
    hidden = [Paragraph(f"{more} more kinds are in the file.")] if more > 0 else []
    return [Table(columns, lines, name="failures"), *hidden]


def _environment(rows):
    found = environments(rows)
    if not found:
        return Paragraph("The rows do not say where they were computed.")
    names = list(dict.fromkeys(name for each, _ in found for name in each))
    lines = [[name, *(str(each.get(name, MISSING)) for each, _ in found)] for name in names]
    columns = [Column("part"), *(Column(f"{count} fits", words=True) for _, count in found)]
    return Table(columns, lines)


def _reproduce(rows):
    parts = {}
    commands = bench_commands(rows)
    if commands:
        parts["The same fits, on the same splits and holes:"] = "\n\n".join(commands)
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
