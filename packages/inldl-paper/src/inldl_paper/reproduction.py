"""Repeat the experiments of the paper, and show each table and figure beside the printed one."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from inldl.datasets import load
from inldl.files.replacing import make_folder, write_text
from inldl.report import save
from inldl.report.document import (
    Code,
    Document,
    Facts,
    Figure,
    Header,
    Section,
    ShownTable,
)
from inldl.report.renderers import show
from inldl.report.style import FULL
from inldl.text import say
from inldl_paper import figures, study
from inldl_paper.experiments import Cell, Store
from inldl_paper.experiments.results import environments
from inldl_paper.provenance import environment_table
from inldl_paper.scores import score_text

MARKS = {"same": "good", "within one std": "fair", "differs": "bad", "failed": "bad"}
TITLES = {
    2: "Table 2: the datasets (rows x features x labels)",
    4: "Table 4: cosine, half of the degrees missing (higher is better)",
    5: "Table 5: Clark distance, half of the degrees missing (lower is better)",
    6: "Table 6: weighting schemes, cosine (higher is better)",
}


def reproduce(
    out: Path,
    compute: Callable[[Iterable[Cell], Path], Any],
    *,
    datasets: str | None = None,
    quick: bool = False,
) -> None:
    """Compute what the paper printed, and write tables, figures and two overviews into a folder.

    Parameters
    ----------
    out : Path
        The folder. Results of an earlier call in it are used again.
    compute : callable
        Computes cells and adds their rows to a store, given the cells and the path of the store,
        as ``inldl_paper.experiments.run`` does.
    datasets : str, optional
        Names, separated by commas; all datasets of the paper by default.
    quick : bool, default=False
        The two small datasets unless others are given, and fewer sizes.
    """
    all_names, few = study.DATASETS, study.QUICK
    wanted = study.paper_names(datasets) if datasets is not None else (few if quick else all_names)
    make_folder(out)
    not_run = {name: "not asked for" for name in all_names if name not in wanted}
    not_run |= _missing(wanted)
    for name, why in not_run.items():
        say(f"Not run: {name}, {why}.")
    there = [name for name in wanted if name not in not_run]
    if not there:
        raise ValueError("None of the paper's datasets is available; see `inldl datasets`.")
    store = out / "run.sqlite"
    compute(study.plan(there, quick=quick), store)
    say("Drawing the figures ...")
    document, pages = write_reproduction(Store(store).frame(), not_run, out)
    show(document)
    say(f"Wrote {' and '.join(map(str, pages))}")


def _missing(names):
    """Return the datasets that can be neither found nor downloaded, and why."""
    missing = {}
    for name in names:
        try:
            load(name)
        except OSError as error:
            say(error, err=True)
            missing[name] = "its file is not there and could not be downloaded"
    return missing


def reproduction_figures(rows, datasets) -> list[Figure]:
    """Return the figures of the paper, from the rows of a finished `plan` of the datasets."""
    times, dataset = study.run_times(rows), study.mu_dataset(datasets)
    total = "CPU seconds of a fit, summed over the datasets"
    label, bound = "CPU seconds of a fit", "bound on the expected risk"
    mu = study.mu_metrics(rows, dataset), study.mu_histories(rows, dataset)
    drawn = {
        "figure2_relative_error": (
            partial(figures.relative_error_by_size, study.relative_error_by_size(rows, datasets)),
            "Figure 2: mean relative error of small and large degrees (those below .01 are left "
            "out). The paper shows Flickr and Fbp5500, where small degrees are fitted worse.",
        ),
        "error_by_degree": (
            partial(figures.error_by_degree, *study.error_by_degree(rows, dataset)),
            f"What weighting changes on {dataset}: error by the size of the true degree, and the "
            "number of degrees of each size.",
        ),
        "figure4_run_time": (
            partial(figures.run_time, times, label=total),
            f"Figure 4: run time of each method as published, on {times['dataset'].nunique()} "
            f"datasets with one thread. The paper prints {study.RUN_TIME} s for WInLDL on all "
            "ten, on another machine.",
        ),
        "figure5_mu": (
            partial(figures.mu_study, *mu),
            f"Figure 5 on {dataset}: the metrics relative to mu = 2, and the largest change of a "
            "degree in each iteration. The paper says that mu changes only the speed.",
        ),
        "table1_growth": (
            partial(figures.growth, *study.growth(rows), label=label),
            "Table 1 by measurement: time of a fit against the number of rows (40 features, 6 "
            "labels), and the slope.",
        ),
        "theorem2_bound": (
            partial(figures.risk_bound, study.bound_curves(dataset), label=bound),
            f"Theorem 2 with the norms of the fit on {dataset}, at 95% confidence: the bound "
            "against the number of rows for three largest weights, and the weighted empirical "
            "risk to which it falls.",
        ),
    }
    return [Figure(draw, caption, name) for name, (draw, caption) in drawn.items()]


def write_reproduction(rows, not_run, folder) -> tuple[Document, list[Path]]:
    """Write the tables (Markdown, LaTeX, CSV), the figures (SVG, PDF, PNG) and two overviews.

    `rows` are those of a finished `plan`, and `not_run` says which datasets are not available,
    and why. Files of an earlier call are replaced. Returns the document of the overviews, and
    their paths: ``README.md`` and ``report.html``.
    """
    folder = Path(folder)
    for name in ("figures", "tables"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    drawn = reproduction_figures(rows, [name for name in study.DATASETS if name not in not_run])
    for block in drawn:
        figure = block.draw()
        for suffix in ("svg", "pdf", "png"):
            save(figure, folder / "figures" / f"{block.name}.{suffix}")
    tables = {2: study.shapes(not_run)}
    tables |= {number: study.comparison(rows, number) for number in (4, 5, 6)}
    for number, table in tables.items():
        shown = replace(_table(number, table), caption=TITLES[number])
        stem = folder / "tables" / shown.name
        write_text(stem.with_suffix(".csv"), table.to_csv(index=False))
        write_text(stem.with_suffix(".md"), shown.markdown())
        write_text(stem.with_suffix(".tex"), shown.latex())
    document, page = _overview(rows, not_run, tables, drawn), folder / "report.html"
    document.write(page)
    readme = write_text(folder / "README.md", document.markdown())
    return document, [readme, page]


def _overview(rows, not_run, tables, drawn):
    """Return the page of all tables and figures."""
    counts = [(f"Table {number}", _counts(table)) for number, table in tables.items()]
    wide = [replace(block, draw=partial(block.draw, width=FULL)) for block in drawn]
    details = {TITLES[number]: [_table(number, table)] for number, table in tables.items()}
    details |= {
        "Figures": wide,
        "Where it was measured": [environment_table(environments(rows))],
        "How to do it again": [Code("inldl reproduce --out reproduction")],
    }
    return Document(
        "The paper, measured again",
        _introduction(tables[4], not_run),
        sections=[
            Section("In short", [Facts(counts)]),
            *(Section(title, blocks, page_only=True) for title, blocks in details.items()),
        ],
        most_bytes=10_000_000,
    )


def _table(number, table):
    """Return a table with ours beside the printed numbers."""
    head, rows = ["dataset", "printed", "ours", "verdict", "why"], table.to_numpy()
    if number != 2:
        head[1:1] = ["method", "missing" if number == 6 else "variant"]
        head.insert(5, "stds apart")
        rows = [_compared(line) for line in table.itertuples() if line.verdict != "not run"]
    columns = [Header(name, words=name == "why") for name in head]
    marked = [[(cell, MARKS.get(cell, "")) for cell in row] for row in rows]
    return ShownTable(columns, marked, name=f"table{number}")


def _compared(line):
    return [
        line.dataset,
        line.method,
        line.variant,
        score_text(line.printed, line.printed_std),
        score_text(line.ours, line.ours_std),
        f"{line.difference:+.1f}" if line.ours == line.ours else "",
        line.verdict,
        line.why,
    ]


def _counts(table):
    """Return how many entries have each verdict, as text."""
    found = table["verdict"].value_counts()
    return ", ".join(f"{found[each]} {each}" for each in [*MARKS, "not run"] if each in found)


def _introduction(compared, not_run):
    there = ", ".join(sorted({*compared.loc[compared["ours"].notna(), "dataset"]}))
    reasons = {}
    for name, why in not_run.items():
        reasons.setdefault(why, []).append(name)
    missing = "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())
    return [
        "Every table and figure of the paper that there is data for, measured again. A number is "
        "the mean over five splits with the sample standard deviation; 'stds apart' is the "
        "difference in units of the printed deviation. 'same' agrees to all four printed digits.",
        f"Run on {there}.",
        f"Not run: {missing}." if missing else "All ten datasets were run.",
    ]
