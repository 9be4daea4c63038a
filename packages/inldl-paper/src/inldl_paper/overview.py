"""The page of the repeated experiments: ours beside the printed numbers, figures, theorems."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import pandas as pd

from inldl.metrics import METRICS
from inldl.report.document import (
    Code,
    Content,
    Document,
    Facts,
    Figure,
    Header,
    Paragraph,
    Section,
    ShownTable,
)
from inldl.report.style import FULL
from inldl.text import counted, listed
from inldl_paper import figures, study
from inldl_paper import study_figures as drawn_from
from inldl_paper.experiments import statistics
from inldl_paper.experiments.protocol import RATES
from inldl_paper.experiments.results import environments
from inldl_paper.provenance import environment_table
from inldl_paper.scores import score_table, score_text
from inldl_paper.theory import counterexample

LATEX_LABELS = {"table2": "datasets", "table3": "cosine", "table4": "clark"}  # of LaTeX
MARKS = {"same": "good", "within one std": "fair", "differs": "bad", "failed": "bad"}
HALF_A_UNIT = 5e-5  # half a unit of the fourth digit, which the paper prints
TITLES = {
    "table2": "Table 2: the datasets (rows x features x labels)",
    "table3": "Table 3: cosine, half of the degrees missing (higher is better)",
    "table4": "Table 4: Clark distance, half of the degrees missing (lower is better)",
    "table5": "Table 5: weighting schemes, cosine (higher is better)",
}
WHOSE = {
    "authors": "the authors' own five partitions and missing degrees",
    "seeded": "seeded ones, because the authors' are not public",
}


@dataclass(frozen=True)
class Results:
    """What a repetition has to show: rows of a finished `study.plan`, and what did not run."""

    rows: pd.DataFrame
    not_run: Mapping[str, str]  # datasets, and why
    command: str

    @cached_property
    def datasets(self) -> list[str]:
        """The datasets that were run, with their names in the paper."""
        return [name for name in study.DATASETS if name not in self.not_run]

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables of the paper beside ours, and all scores, in long form."""
        tables = {"table2": study.shapes(self.not_run)}
        tables |= {f"table{at}": study.comparison(self.rows, at) for at in (3, 4, 5)}
        tables["run_by_run"] = study.run_by_run(self.rows)
        parts = [
            _long(*study.scores(self.rows, metric, rate=rate)).assign(metric=metric, rate=rate)
            for metric in study.PAPER_METRICS
            for rate in RATES
        ]
        return tables | {"scores": pd.concat(parts, ignore_index=True)}


def _long(mean, std):
    both = mean.stack(future_stack=True), std.stack(future_stack=True)
    frame = pd.concat(both, axis=1, keys=["mean", "std"]).dropna(subset="mean")
    return frame.rename_axis(["dataset", "method"]).reset_index()


def captions(results: Results) -> dict[str, ShownTable]:
    """Return the tables that have ours beside the printed numbers, by the names of their files."""
    made = {name: _beside(name, results.tables[name]) for name in TITLES}
    return {name: replace(table, caption=TITLES[name]) for name, table in made.items()}


def layouts(results: Results) -> dict[str, ShownTable]:
    """Return our numbers in the layout of the paper, for LaTeX: datasets x methods."""
    half = "half of the degrees missing"
    made = {"table2": _datasets(results.tables["table2"])}
    for name, metric in (("table3", "cosine"), ("table4", "clark")):
        made[name] = _scores(results, metric, title=f"{metric.capitalize()}, {half}")
    for target in ("imputed", "zero"):
        title = f"Cosine of weighting schemes, {half}; {target} targets of missing degrees"
        about = {"title": title, "table": 5, "variant": target}
        made[f"table5_{target}"] = _scores(results, "cosine", **about)
    return made | {f"rates_{name}": _at_all_rates(results, name) for name in study.PAPER_METRICS}


def _datasets(table):
    """Return the table of datasets in the paper's layout, with our shapes where we ran them."""
    columns = [Header(each) for each in ("dataset", "examples", "features", "labels")]
    shapes = table["ours"].where(table["ours"] != "", table["printed"])
    rows = [
        [name, *shape.split(" x ")] for name, shape in zip(table["dataset"], shapes, strict=True)
    ]
    return ShownTable(columns, rows, caption="Datasets.", name="table2")


def _scores(results, metric, *, title, **about):
    mean, std = study.scores(results.rows, metric, **about)
    higher = METRICS[metric].higher_is_better
    ranks = statistics.mean_ranks(mean.dropna(), higher) if len(mean.dropna()) else None
    return score_table(mean, std, higher, title=title, mean_rank=ranks)


def _at_all_rates(results, metric):
    """Return the scores of a metric at all missing rates, one line per dataset and rate."""
    parts = {rate: study.scores(results.rows, metric, rate=rate) for rate in RATES}
    stacked = []
    for at in (0, 1):
        frame = pd.concat({rate: pair[at] for rate, pair in parts.items()}).swaplevel()
        frame = frame.loc[[name for name in study.DATASETS if name in frame.index]]
        stacked.append(frame.set_axis([f"{name}, {rate:.0%}" for name, rate in frame.index]))
    title = f"{metric.capitalize()} by dataset and share of missing degrees"
    higher = METRICS[metric].higher_is_better
    return score_table(*stacked, higher, title=title, name=f"rates-{metric}")


def reproduction_figures(results: Results) -> list[Figure]:
    """Return the figures of the paper, and those that go with its tables."""
    rows, datasets = results.rows, results.datasets
    dataset = study.mu_dataset(datasets)
    sizes = drawn_from.relative_error_by_size(rows, datasets)
    times = drawn_from.run_times(rows)
    label, bound = "CPU seconds of a fit", "bound on the expected risk"
    mu = drawn_from.mu_metrics(rows, dataset), drawn_from.mu_histories(rows, dataset)
    drawn = {
        "figure2_relative_error": (
            partial(figures.relative_error_by_size, sizes),
            "Figure 2: mean relative error of small and large degrees (those below .01 are left "
            "out). The paper shows Flickr and Fbp5500, where small degrees are fitted worse. "
            + drawn_from.effect_on_small_degrees(sizes),
        ),
        "error_by_degree": (
            partial(figures.error_by_degree, *drawn_from.error_by_degree(rows, dataset)),
            f"What weighting changes on {dataset}: error by the size of the true degree, and the "
            "number of degrees of each size.",
        ),
        "figure3_run_time": (
            partial(figures.run_time, times, label=f"{label}, summed over the datasets"),
            "Figure 3: run time of each method as published, with one thread, on "
            f"{counted(times['dataset'].nunique(), 'dataset')}. The paper prints "
            f"{study.RUN_TIME} s for WInLDL on all ten, on another machine.",
        ),
        "figure4_mu": (
            partial(figures.mu_study, *mu),
            f"Figure 4 on {dataset}: the metrics relative to mu = 2, and the largest change of a "
            "degree in each iteration. The paper says that mu changes only the speed.",
        ),
        **{f"table1_growth_{axis}": _growth(rows, axis, label) for axis in study.GROWING_SIZES},
        "theorem2_bound": (
            partial(figures.risk_bound, drawn_from.bound_curves(dataset), label=bound),
            f"Theorem 2 with the norms of the fit on {dataset}, at 95% confidence: the bound "
            "against the number of rows for three largest weights, and the weighted empirical "
            "risk to which it falls.",
        ),
    }
    found = [Figure(draw, caption, name) for name, (draw, caption) in drawn.items()]
    return found + _rank_diagrams() + _rate_curves(results)


def _growth(rows, axis, label):
    words = figures.paper.GROWING
    others = ", ".join(
        f"{size} {words[name]}" for name, size in study.BASE.items() if name != axis
    )
    times, slopes = drawn_from.growth(rows, axis)
    told = "slopes" if slopes.notna().any() else "no slopes, for which the sizes are too alike"
    caption = (
        f"Table 1 by measurement: time of a fit against {words[axis]} ({others}), and {told}."
    )
    draw = partial(figures.growth, times, slopes, by=axis, label=label)
    return draw, caption


def _rank_diagrams():
    """Return the diagrams of mean ranks of the printed tables."""
    drawn = []
    for table, metric in ((3, "cosine"), (4, "clark")):
        test = statistics.nemenyi(study.printed_results(table)[0], metric == "cosine")
        parts = test.mean_ranks, test.critical_difference, test.groups
        caption = f"Mean ranks in the printed table {table} ({metric}); {_not_separated(test)}"
        draw = partial(figures.critical_difference, *parts)
        drawn.append(Figure(draw, caption, f"printed_ranks_{metric}"))
    return drawn


def _rate_curves(results):
    frame = results.tables["scores"]
    several = frame.groupby("dataset")["rate"].transform("nunique") > 1
    return [
        Figure(
            partial(
                figures.metric_against_rate, frame[several & (frame["metric"] == metric)], metric
            ),
            f"{metric.capitalize()} against the share of missing degrees.",
            f"rates_{metric}",
        )
        for metric in study.PAPER_METRICS
        if several.any()
    ]


def _not_separated(test):
    """Say which methods Nemenyi's test does not separate from WInLDL."""
    near = test.p_values.loc["WInLDL"] > 0.05
    names = [name for name in near.index[near] if name != "WInLDL"]
    what = (
        f"does not separate WInLDL from {listed(names)}" if names else "separates WInLDL from all"
    )
    gap = f"critical difference {test.critical_difference:.2f}"
    return f"at the 5% level Nemenyi's test {what} ({gap})."


def overview(results: Results, drawn: list[Figure]) -> Document:
    """Return the page of all tables and figures."""
    counts = [(title.partition(":")[0], _counts(results.tables[n])) for n, title in TITLES.items()]
    details: dict[str, list[Content]] = {
        title: [_beside(name, results.tables[name])] for name, title in TITLES.items()
    }
    details["Split by split"] = _split_by_split(results.tables["run_by_run"])
    details["Five metrics, five missing rates"] = [
        _at_all_rates(results, metric) for metric in study.PAPER_METRICS
    ]
    details["Are the differences significant?"] = _significance(results)
    details["Figures"] = _wide(drawn)
    details["The theorems"] = _theorems(study.mu_dataset(results.datasets))
    details["Where it was measured"] = [environment_table(environments(results.rows))]
    details["How to do it again"] = [Code(results.command)]
    return Document(
        "The paper, measured again",
        _introduction(results),
        sections=[
            Section("In short", [Facts(counts)]),
            *(Section(title, blocks, page_only=True) for title, blocks in details.items()),
        ],
        most_bytes=10_000_000,
    )


def _wide(drawn):
    return [replace(block, draw=partial(block.draw, width=FULL)) for block in drawn]


def _beside(name, table):
    """Return a table with ours beside the printed numbers."""
    head, rows = ["dataset", "printed", "ours", "verdict", "why"], table.to_numpy()
    if name != "table2":
        head[1:1] = ["method", "missing" if name == "table5" else "variant", "splits"]
        head.insert(6, "stds apart")
        rows = [_compared(line) for line in table.itertuples() if line.verdict != "not run"]
    columns = [Header(each, words=each == "why") for each in head]
    marked = [[(cell, MARKS.get(cell, "")) for cell in row] for row in rows]
    return ShownTable(columns, marked, name=name)


def _compared(line):
    apart = f"{line.difference:+.1f}".replace("-", "\N{MINUS SIGN}")
    return [
        line.dataset,
        line.method,
        line.variant,
        line.splits,
        score_text(line.printed, line.printed_std),
        score_text(line.ours, line.ours_std),
        apart if line.ours == line.ours else "",
        line.verdict,
        line.why,
    ]


def _counts(table):
    """Return how many entries have each verdict, as text."""
    found = table["verdict"].value_counts()
    return ", ".join(f"{found[each]} {each}" for each in [*MARKS, "not run"] if each in found)


def _split_by_split(table):
    """Return what the authors' program gave on each of their splits, and what we get."""
    if table.empty:
        return [Paragraph("SBU3DFE, for which the authors' splits are known, was not run.")]
    largest = table["difference"].abs().max()
    text = (
        f"The largest of the {len(table)} differences from the authors' program is {largest:.5f}, "
        f"{'less' if largest < HALF_A_UNIT else 'more'} than half a unit of the fourth digit."
    )
    columns = {
        "split": Header("split"),
        "metric": Header("metric"),
        "authors": Header("authors' program", ".6f"),
        "ours": Header("ours", ".6f"),
        "difference": Header("difference", "+.6f"),
    }
    return [Paragraph(text), ShownTable.of(table, columns, name="run-by-run")]


def _significance(results):
    """Return what Nemenyi's test says about the printed tables, and about ours."""
    blocks: list[Content] = [
        Paragraph(f"Printed table {table}: {_not_separated(statistics.nemenyi(means, higher))}")
        for table, higher in ((3, True), (4, False))
        for means in study.printed_results(table)[:1]
    ]
    for metric in study.PAPER_METRICS:
        mean = study.scores(results.rows, metric)[0].dropna()
        if len(mean) < 2:
            continue
        test = statistics.nemenyi(mean, METRICS[metric].higher_is_better)
        on = f"Our {metric} on {counted(len(mean), 'dataset')}"
        blocks.append(Paragraph(f"{on}: {_not_separated(test)}"))
    return blocks


def _theorems(dataset):
    """Return what is wrong with theorem 1, what holds, and how large the complexity is."""
    found = counterexample(random_state=0)
    estimate, error, term = drawn_from.complexity_of_maps(dataset)
    return [
        Paragraph(
            "Theorem 1 as printed can fail where the weights of a row differ between labels. In "
            f"the counterexample of inldl_paper.theory the bound is {found.printed_bound:.3f} at "
            f"95% confidence, and the expected risk {found.expected_risk:.3f}. With the "
            "complexities of the single labels added up, in place of that of their sum, it holds "
            f"for all weights: {found.valid_bound:.3f} here."
        ),
        Paragraph(
            f"The linear maps of theorem 2 with the norm of the fit on {dataset} have the "
            f"empirical complexity {estimate:.3f} (standard error {error:.3f}); the term of the "
            f"theorem that bounds it is {term:.3f}."
        ),
    ]


def _introduction(results):
    there = results.datasets
    reasons: dict[str, list[str]] = {}
    for name, why in results.not_run.items():
        reasons.setdefault(why, []).append(name)
    missing = "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())
    splits = {whose: [name for name in there if study.splits_of(name) == whose] for whose in WHOSE}
    used = [f"{listed(names)}: {WHOSE[whose]}" for whose, names in splits.items() if names]
    return [
        "Every table and figure of the paper that there is data for, measured again. A number is "
        "the mean over five splits with the sample standard deviation; 'stds apart' is the "
        "difference in units of the printed deviation. 'same' agrees to all four printed digits.",
        f"Run on {', '.join(there)}.",
        f"Splits at half of the degrees missing. {'; '.join(used)}. Other rates: seeded splits.",
        f"Not run: {missing}." if missing else "All ten datasets were run.",
    ]
