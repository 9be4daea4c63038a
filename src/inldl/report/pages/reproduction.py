"""Write the reproduction of the paper: a folder with tables, figures and a page of each kind."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from inldl.experiments.paper import RUN_TIME
from inldl.files.replacing import write_text
from inldl.report import figures
from inldl.report.document import Code, Document, Facts, Figure, Header, Section, ShownTable
from inldl.report.scores import score_text
from inldl.report.style import COLUMN, FULL

MARKS = {"same": "good", "within one std": "fair", "differs": "bad", "failed": "bad"}
TITLES = {
    2: "Table 2: the datasets (rows x features x labels)",
    4: "Table 4: cosine, half of the degrees missing (higher is better)",
    5: "Table 5: Clark distance, half of the degrees missing (lower is better)",
    6: "Table 6: weighting schemes, cosine (higher is better)",
}


def reproduction_figures(found, width=COLUMN) -> list[Figure]:
    """Return the figures of a `Reproduction`; those with one panel are `width` inches wide."""
    total = "CPU seconds of a fit, summed over the datasets"
    label, bound = "CPU seconds of a fit", "bound on the expected risk"
    degrees = found.degree_errors, found.degree_counts
    n_datasets = found.run_times["dataset"].nunique()
    drawn = {
        "figure2_relative_error": (
            partial(figures.relative_error_by_size, found.relative_errors),
            "Figure 2: mean relative error of small and large degrees (those below .01 are left "
            "out). The paper shows Flickr and Fbp5500, where small degrees are fitted worse.",
        ),
        "error_by_degree": (
            partial(figures.error_by_degree, *degrees, width=width),
            f"What weighting changes on {found.mu_dataset}: error by the size of the true degree, "
            "and the number of degrees of each size.",
        ),
        "figure4_run_time": (
            partial(figures.run_time, found.run_times, label=total, width=width),
            f"Figure 4: run time of each method as published, on {n_datasets} datasets with one "
            f"thread. The paper prints {RUN_TIME} s for WInLDL on all ten, on another "
            "machine.",
        ),
        "figure5_mu": (
            partial(figures.mu_study, found.mu_metrics, found.mu_histories),
            f"Figure 5 on {found.mu_dataset}: the metrics relative to mu = 2, and the largest "
            "change of a degree in each iteration. The paper says that mu changes only the speed.",
        ),
        "table1_growth": (
            partial(figures.growth, found.growth, found.exponents, label=label, width=width),
            "Table 1 by measurement: time of a fit against the number of rows (40 features, 6 "
            "labels), and the slope.",
        ),
        "theorem2_bound": (
            partial(figures.risk_bound, found.bounds, label=bound, width=width),
            f"Theorem 2 with the norms of the fit on {found.mu_dataset}, at 95% confidence: the "
            "bound against the number of rows for three largest weights, and the weighted "
            "empirical risk to which it falls.",
        ),
    }
    return [Figure(draw, caption, name) for name, (draw, caption) in drawn.items()]


def write_reproduction(found, folder) -> tuple[Document, list[Path]]:
    """Write the tables (Markdown, LaTeX, CSV), the figures (SVG, PDF, PNG) and two overviews.

    Files of an earlier call are replaced. Returns the document of the overviews, and their paths:
    ``README.md`` and ``report.html``.
    """
    folder = Path(folder)
    for name in ("figures", "tables"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for block in reproduction_figures(found):
        figure = block.draw()
        for suffix in ("svg", "pdf", "png"):
            figures.save(figure, folder / "figures" / f"{block.name}.{suffix}")
    for number, table in found.tables.items():
        shown = replace(_table(number, table), caption=TITLES[number])
        stem = folder / "tables" / shown.name
        write_text(stem.with_suffix(".csv"), table.to_csv(index=False))
        write_text(stem.with_suffix(".md"), shown.markdown())
        write_text(stem.with_suffix(".tex"), shown.latex())
    document, page = reproduction_page(found), folder / "report.html"
    document.write(page)
    readme = write_text(folder / "README.md", document.markdown())
    return document, [readme, page]


def reproduction_page(found) -> Document:
    """Return the page of a `Reproduction` of the paper."""
    counts = [(f"Table {number}", _counts(table)) for number, table in found.tables.items()]
    tables = [
        Section(TITLES[number], [_table(number, table)], page_only=True)
        for number, table in found.tables.items()
    ]
    environment = [(str(name), str(value)) for name, value in found.environment.items()]
    again = Code("inldl reproduce --out reproduction")
    return Document(
        "The paper, measured again",
        _introduction(found),
        sections=[
            Section("In short", [Facts(counts)]),
            *tables,
            Section("Figures", reproduction_figures(found, width=FULL), page_only=True),
            Section("Where it was measured", [Facts(environment)], page_only=True),
            Section("How to do it again", [again], page_only=True),
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


def _introduction(found):
    there = ", ".join(sorted({*found.run_times["dataset"]}))
    reasons = {}
    for name, why in found.not_run.items():
        reasons.setdefault(why, []).append(name)
    missing = "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())
    return [
        "Every table and figure of the paper that there is data for, measured again. A number is "
        "the mean over five splits with the sample standard deviation; 'stds apart' is the "
        "difference in units of the printed deviation. 'same' agrees to all four printed digits.",
        f"Run on {there}.",
        f"Not run: {missing}." if missing else "All ten datasets were run.",
    ]
