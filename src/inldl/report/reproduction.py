"""Write the reproduction of the paper: a folder with tables, figures and a page of each kind."""

from pathlib import Path

from inldl.experiments import printed
from inldl.io._replacing import write_text
from inldl.report import figures
from inldl.report._renderings import markdown_text, plain_latex, plain_markdown
from inldl.report.page import Page, Section, Table, code, drawing, paragraph, terms
from inldl.report.style import COLUMN, FULL
from inldl.report.tables import score_text

TITLES = {
    2: "Table 2: the datasets (rows x features x labels)",
    4: "Table 4: cosine, half of the degrees missing (higher is better)",
    5: "Table 5: Clark distance, half of the degrees missing (lower is better)",
    6: "Table 6: weighting schemes, cosine (higher is better)",
}


def reproduction_figures(found, width=COLUMN):
    """Return the figures of a reproduction by name, each with its caption.

    Parameters
    ----------
    found : inldl.experiments.paper_figures.Reproduction
        What was measured.
    width : float
        Of the figures with a single panel, in inches: a column of a paper, or a page.
    """
    total = "CPU seconds of a fit, summed over the datasets"
    return {
        "figure2_relative_error": (
            figures.relative_error_by_size(found.relative_errors),
            "Figure 2: mean relative error of small and large degrees (those below .01 are left "
            "out). The paper shows Flickr and Fbp5500, where small degrees are fitted worse.",
        ),
        "error_by_degree": (
            figures.error_by_degree(found.degree_errors, found.degree_counts, width=width),
            f"What weighting changes on {found.mu_dataset}: error by the size of the true degree, "
            "and the number of degrees of each size.",
        ),
        "figure4_run_time": (
            figures.run_time(found.run_times, label=total, width=width),
            f"Figure 4: run time of each method as published, {_dataset_count(found)} with "
            f"one thread. The paper prints {printed.RUN_TIME} s for WInLDL on all ten, on another "
            "machine.",
        ),
        "figure5_mu": (
            figures.mu_study(found.mu_metrics, found.mu_histories),
            f"Figure 5 on {found.mu_dataset}: the metrics relative to mu = 2, and the largest "
            "change of a degree in each iteration. The paper says that mu changes only the speed.",
        ),
        "table1_growth": (
            figures.growth(
                found.growth, found.exponents, label="CPU seconds of a fit", width=width
            ),
            "Table 1 by measurement: time of a fit against the number of rows (40 features, 6 "
            "labels), and the slope.",
        ),
        "theorem2_bound": (
            figures.risk_bound(found.bounds, label="bound on the expected risk", width=width),
            f"Theorem 2 with the norms of the fit on {found.mu_dataset}, at 95% confidence: the "
            "bound against the number of rows for three largest weights, and the weighted "
            "empirical risk to which it falls.",
        ),
    }


def write_reproduction(found, folder):
    """Write the tables (Markdown, LaTeX, CSV), the figures (SVG, PDF, PNG) and two overviews.

    Parameters
    ----------
    found : inldl.experiments.paper_figures.Reproduction
        What was measured.
    folder : str or Path
        Where to write; files of an earlier call are replaced.

    Returns
    -------
    list of Path
        The overviews, ``README.md`` and ``report.html``.
    """
    folder = Path(folder)
    for name in ("figures", "tables"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    drawn = reproduction_figures(found)
    for name, (figure, _) in drawn.items():
        for suffix in ("svg", "pdf", "png"):
            figures.save(figure, folder / "figures" / f"{name}.{suffix}")
    for number, table in found.tables.items():
        head, rows = shown_table(number, table)
        stem = folder / "tables" / f"table{number}"
        write_text(stem.with_suffix(".csv"), table.to_csv(index=False))
        write_text(stem.with_suffix(".md"), plain_markdown(head, rows))
        write_text(stem.with_suffix(".tex"), plain_latex(head, rows, TITLES[number]))
    page = folder / "report.html"
    _page(found).write(page)
    return [write_text(folder / "README.md", _overview(found, drawn)), page]


def shown_table(number, table):
    """Return the head and the rows, as text, of a table with ours beside the printed numbers."""
    if number == 2:
        return ["dataset", "printed", "ours", "verdict", "why"], table.values.tolist()
    name = "missing" if number == 6 else "variant"
    rows = [
        [
            line.dataset,
            line.method,
            line.variant,
            score_text(line.printed, line.printed_std),
            score_text(line.ours, line.ours_std),
            f"{line.difference:+.1f}" if line.ours == line.ours else "",
            line.verdict,
            line.why,
        ]
        for line in table.itertuples()
        if line.verdict != "not run"
    ]
    return ["dataset", "method", name, "printed", "ours", "stds apart", "verdict", "why"], rows


def counts(table):
    """Return how many entries have each verdict, as text."""
    found = table["verdict"].value_counts()
    order = ["same", "within one std", "differs", "failed", "not run"]
    return ", ".join(f"{found[each]} {each}" for each in order if each in found)


def _dataset_count(found):
    return f"on {found.run_times['dataset'].nunique()} datasets"


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


def _overview(found, drawn):
    """Return the overview in Markdown."""
    plain = markdown_text  # names of datasets may hold what Markdown or HTML would read
    lines = ["# The paper, measured again", ""]
    for text in _introduction(found):
        lines += [plain(text), ""]
    for number, table in found.tables.items():
        lines += [f"## {TITLES[number]}", "", counts(table), ""]
        lines += [plain_markdown(*shown_table(number, table)), ""]
    for name, (_, caption) in drawn.items():
        title, _, rest = map(plain, caption.partition(": "))
        lines += [f"## {title}", "", rest or title, "", f"![{title}](figures/{name}.svg)", ""]
    lines += ["## Where", ""]
    lines += [f"- {plain(key)}: {plain(str(value))}" for key, value in found.environment.items()]
    return "\n".join(lines)


def _page(found):
    """Return the overview as one HTML page."""
    tables = [
        Section(TITLES[number], [paragraph(counts(table)), _html_table(number, table)])
        for number, table in found.tables.items()
    ]
    pictures = [
        drawing(figures.svg(figure, caption), caption, name)
        for name, (figure, caption) in reproduction_figures(found, width=FULL).items()
    ]
    return Page(
        "The paper, measured again",
        [paragraph(*_introduction(found))],
        [
            *tables,
            Section("Figures", pictures),
            Section("Where it was measured", [terms([*found.environment.items()])]),
            Section("How to do it again", [code("inldl reproduce --out reproduction")]),
        ],
    )


def _html_table(number, table):
    marks = {"same": "good", "within one std": "fair", "differs": "bad", "failed": "bad"}
    head, rows = shown_table(number, table)
    rows = [
        [(cell, marks[cell]) if cell in marks else cell for cell in row[:-1]] + [(row[-1], "text")]
        for row in rows
    ]
    return Table(head, rows, name=f"table{number}").html()
