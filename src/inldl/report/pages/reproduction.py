"""How to compute the rows of a run again, and the reproduction of the paper as a folder."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from inldl.experiments import paper, results
from inldl.files.replacing import write_text
from inldl.report import figures
from inldl.report.document import (
    DASH,
    Code,
    Content,
    Document,
    Facts,
    Figure,
    Header,
    Paragraph,
    Section,
    ShownTable,
    score_text,
)
from inldl.report.style import FULL

MARKS = {"same": "good", "within one std": "fair", "differs": "bad", "failed": "bad"}
TITLES = {
    2: "Table 2: the datasets (rows x features x labels)",
    4: "Table 4: cosine, half of the degrees missing (higher is better)",
    5: "Table 5: Clark distance, half of the degrees missing (lower is better)",
    6: "Table 6: weighting schemes, cosine (higher is better)",
}
_PACKAGES = ("inldl", "numpy", "scipy", "scikit-learn", "numba", "pandas")
_FRAME = """from inldl.experiments import Store
Store("run.sqlite").frame().to_csv("run.csv", index=False)"""


def reproduction_figures(rows, datasets) -> list[Figure]:
    """Return the figures of the paper, from the rows of a finished `plan` of the datasets."""
    times, study = paper.run_times(rows), paper.mu_dataset(datasets)
    total = "CPU seconds of a fit, summed over the datasets"
    label, bound = "CPU seconds of a fit", "bound on the expected risk"
    mu = paper.mu_metrics(rows, study), paper.mu_histories(rows, study)
    drawn = {
        "figure2_relative_error": (
            partial(figures.relative_error_by_size, paper.relative_error_by_size(rows, datasets)),
            "Figure 2: mean relative error of small and large degrees (those below .01 are left "
            "out). The paper shows Flickr and Fbp5500, where small degrees are fitted worse.",
        ),
        "error_by_degree": (
            partial(figures.error_by_degree, *paper.error_by_degree(rows, study)),
            f"What weighting changes on {study}: error by the size of the true degree, and the "
            "number of degrees of each size.",
        ),
        "figure4_run_time": (
            partial(figures.run_time, times, label=total),
            f"Figure 4: run time of each method as published, on {times['dataset'].nunique()} "
            f"datasets with one thread. The paper prints {paper.RUN_TIME} s for WInLDL on all "
            "ten, on another machine.",
        ),
        "figure5_mu": (
            partial(figures.mu_study, *mu),
            f"Figure 5 on {study}: the metrics relative to mu = 2, and the largest change of a "
            "degree in each iteration. The paper says that mu changes only the speed.",
        ),
        "table1_growth": (
            partial(figures.growth, *paper.growth(rows), label=label),
            "Table 1 by measurement: time of a fit against the number of rows (40 features, 6 "
            "labels), and the slope.",
        ),
        "theorem2_bound": (
            partial(figures.risk_bound, paper.bound_curves(study), label=bound),
            f"Theorem 2 with the norms of the fit on {study}, at 95% confidence: the bound "
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
    drawn = reproduction_figures(rows, [name for name in paper.DATASETS if name not in not_run])
    for block in drawn:
        figure = block.draw()
        for suffix in ("svg", "pdf", "png"):
            figures.save(figure, folder / "figures" / f"{block.name}.{suffix}")
    tables = {2: paper.shapes(not_run)}
    tables |= {number: paper.comparison(rows, number) for number in (4, 5, 6)}
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
        "Where it was measured": [environment_table(rows)],
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
