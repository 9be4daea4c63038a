"""Pages with advice on a table: a look at it, the method that suits it, what to ask for."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from inldl.report import document as d
from inldl.report.figures import comparison as comparison_figure
from inldl.report.figures import hidden_mass, holes_per_row, map_of_places, missing_map
from inldl.report.style import FULL, shortened
from inldl.tables.audit import error, form_of, in_unit
from inldl.tables.comparison import Comparison
from inldl.tables.model import TableModel
from inldl.tables.questions import Asked
from inldl.text import counted, listed

FEW_QUESTIONS = 10  # on a terminal
MOST_LISTED = 30  # rows of a list in which the first are the most important ones
MOST_LISTED_COLUMNS = 1000


def comparison_page(
    comparison: Comparison, title: str = "Methods on a table", notes: Sequence[str] = ()
) -> d.Document:
    """Return the page of methods that were compared on a table.

    Parameters
    ----------
    comparison : Comparison
        What `inldl.tables.compare` found.
    title : str
        The title.
    notes : list of str
        How the table was understood.
    """
    unit = in_unit(comparison.unit)
    caption = (
        "The error of each method at shares that it had not seen: hidden from rows that it knew "
        "(completing), and of rows that it did not know (predicting). The dashed line is the mean "
        "of each column: a method that does not stay left of it has learned nothing."
    )
    draw = partial(comparison_figure, comparison.table, recommended=comparison.recommended)
    sentence = f"Errors are root mean squares{unit}, ± their standard errors; lower is better."
    drawn = d.picture(draw, caption, "comparison")
    blocks = [drawn, _methods(comparison), d.Paragraph(sentence)]
    rows = comparison.table.itertuples()
    failures = [f"{each.method} failed: {each.reason}" for each in rows if each.reason]
    sections = [d.Section("Errors", blocks)]
    sections += [d.Section("Methods that failed", [d.Items(failures)])] if failures else []
    facts = [("Recommended", comparison.recommended), ("Rows", f"{comparison.n_rows:,}")]
    return d.Document(title, [comparison.why], facts, [*notes, *comparison.notes], sections)


def _methods(comparison):
    """Return the numbers of the methods."""
    table = comparison.table
    errors = (table[f"{kind}_rmse"] for kind in ("completing", "predicting"))
    completing, predicting = (form_of(comparison.unit, each) for each in errors)
    columns = {
        "method": d.Header("method"),
        "completing_rmse": d.Header("completing", completing),
        "completing_se": d.Header("±", completing),
        "predicting_rmse": d.Header("predicting", predicting),
        "predicting_se": d.Header("±", predicting),
        "cosine": d.Header("cosine", ".4f"),
        "seconds": d.Header("seconds", ".2f"),
        "remark": d.Header("remark"),
        "beats": d.Header("beats the mean", page_only=True),
        "behind": d.Header("behind the best", completing, page_only=True),
        "behind_se": d.Header("±", completing, page_only=True),
        "completing_mae": d.Header("completing: mean absolute error", completing, page_only=True),
        "predicting_mae": d.Header("predicting: mean absolute error", predicting, page_only=True),
    }
    chosen = table["method"] == comparison.recommended
    marks = np.where(chosen, "best", "").tolist()
    numbers = [name for name in table.select_dtypes("number") if name in columns]
    failed = np.where(table["reason"] != "", "failed", "")
    beats = {True: ("yes", "good"), False: ("no", "bad")}
    shown = table.assign(
        remark=np.where(chosen, "recommended", failed),
        beats=table["better_than_constant"].map(beats),
        **{name: list(zip(table[name], marks, strict=True)) for name in numbers},
    )
    caption = (
        "The same in numbers, the recommended method in bold. Beats the mean: by more than two "
        "standard errors of the difference. Behind the best: how much larger the error is that "
        "decides. Seconds: CPU time of one fit."
    )
    return d.ShownTable.of(shown, columns, caption, "methods")


def questions_page(
    asked: Asked,
    model: TableModel,
    table: str,
    out: str,
    notes: Sequence[str] = (),
    most: int = FEW_QUESTIONS,
) -> d.Document:
    """Return the page of a list of missing shares to ask for.

    Parameters
    ----------
    asked : Asked
        What `inldl.tables.ask_table` returned.
    model : TableModel
        The model that chose them.
    table, out : str
        The names of the file and of the list.
    notes : sequence of str
        How the table was understood.
    most : int
        How many questions are shown, from the first.
    """
    n_missing = asked.suggestion.n_missing
    facts = [("Table", table), ("Questions", out), ("Method", str(model.method))]
    facts.append(("Rows", f"{asked.n_rows:,}"))
    if not n_missing:
        summary = [f"No share is missing in {counted(asked.n_rows, 'row')}: nothing to ask for."]
    elif not len(asked.table):
        summary = [
            "Nothing to ask for: the sums of the rows give all missing shares, or the budget is "
            "too small for an answer."
        ]
    else:
        summary = _worth(asked)
    shown = [_questions(asked, most)] if len(asked.table) else []
    sections = [d.Section("What to ask for first", shown)] if shown else []
    return d.Document(f"What to ask about {table}", summary, facts, notes, sections)


def _worth(asked):
    """Return sentences on what the answers are worth."""
    suggestion, table = asked.suggestion, asked.table
    cells, rows = counted(len(table), "missing share"), counted(table["row"].nunique(), "row")
    errors = suggestion.rmse, suggestion.rmse_after
    before, after = (error(rmse * asked.whole, asked.unit) for rmse in errors)
    cost = "" if (table["cost"] == 1).all() else f", for {table['cost'].sum():,.6g} in all"
    return [
        f"The list has {cells} in {rows}{cost}, of {suggestion.n_missing:,} that are missing.",
        f"If all are answered, the expected error of the completed table falls from {before} to "
        f"{after} (root mean square over the shares that are missing now).",
        'Fill in the column "answer", and give the list to inldl complete with --answers.',
    ]


def _questions(asked, most):
    """Return the first questions as a table."""
    table = asked.table.iloc[:most]
    form = form_of(asked.unit or table["estimate"].max() > 1)  # counts, or percentages
    ids = list(table.columns[2 : table.columns.get_loc("label")])
    columns = {"rank": d.Header("rank"), "row": d.Header("row")}
    columns |= {name: d.Header(name, words=True) for name in [*ids, "label"]}
    numbers = {"estimate": "estimate", "low": "from", "high": "to"}
    columns |= {name: d.Header(heading, form) for name, heading in numbers.items()}
    then = form_of(asked.unit, table["expected_error"])
    columns |= {"expected_error": d.Header("error then", then), "cost": d.Header("cost", ".4g")}
    caption = (
        f"The first {len(table):,} of {len(asked.table):,} questions, the best first. Error then: "
        "what is expected once this one and all before it are answered."
    )
    return d.ShownTable.of(table, columns, caption, "questions")


def inspection_page(inspection, observed=None, title="A look at a table", notes=()) -> d.Document:
    """Return the page of a table before anything is learned from it.

    Parameters
    ----------
    inspection : Inspection
        What `inldl.tables.inspect_table` found.
    observed : array-like of bool of shape (n, C), optional
        Where shares are known; without it the most frequent patterns of missing shares are drawn.
    title : str
        The title.
    notes : list of str
        How the table was understood.

    Returns
    -------
    Document
        ``page.write("inspection.html")`` writes it.
    """
    findings = inspection.findings or ["Nothing stands out."]
    details = {
        "What is missing": [
            _map(inspection, observed),
            *_places(inspection.maps),
            *_per_row(inspection),
            _patterns(inspection),
        ],
        "Is it missing at random?": _randomness(inspection),
        "Rows to check": [_problems(inspection.problems)],
        "The features": [_features(inspection)],
    }
    sections = [
        d.Section("The labels", [d.Paragraph(_size(inspection)), _labels(inspection)]),
        d.Section("What to know, and what to do", [d.Items(findings)]),
        *(d.Section(name, blocks, page_only=True) for name, blocks in details.items()),
    ]
    return d.Document(title, notes=[*notes, *inspection.notes], sections=sections)


def _size(inspection):
    n = sum(str(remark).startswith("is left out") for remark in inspection.features["remark"])
    columns = counted(inspection.n_features, "feature column") + f" ({n} left out)" * bool(n)
    labels = counted(len(inspection.labels), "label")
    missing = f"{inspection.missing:.1%} of the shares are missing"
    if bounded := int(inspection.by_label["bounded"].sum()):
        missing += f", {bounded:,} of these cells have bounds"
    return f"{counted(inspection.n_rows, 'row')}, {columns}, {labels}; {missing}."


def _labels(inspection):
    form = form_of(inspection.unit)
    columns = {
        "label": d.Header("label"),
        "observed": d.Header("known"),
        "missing": d.Header("missing", ".1%"),
        **({"bounded": d.Header("bounded")} if inspection.by_label["bounded"].any() else {}),
        **{name: d.Header(name, form) for name in ("mean", "smallest", "largest")},
        "zeros": d.Header("zeros", ".1%"),
    }
    unit = in_unit(inspection.unit)
    caption = f"The known shares of each label{unit}. Zeros: how many of them are 0."
    if "bounded" in columns:
        caption += " Bounded: how many missing ones have bounds, such as <5."
    return d.ShownTable.of(inspection.by_label, columns, caption=caption, name="labels")


def _map(inspection, observed):
    labels, missing = inspection.labels, inspection.by_label["missing"]
    cells, counts = observed, None
    caption = "Which shares are known; rows in which the same ones are missing stand together."
    if observed is None:
        hidden, counts = inspection.patterns["hidden"], inspection.patterns["rows"]
        cells = [[label not in each for label in labels] for each in hidden]
        caption = (
            f"The {len(counts)} most frequent sets of missing shares: those of "
            f"{counts.sum():,} of {inspection.n_rows:,} rows."
        )
    draw = partial(missing_map, cells, labels, counts=counts, missing=missing)
    return d.picture(draw, f"{caption} Above: how much of each label is missing.", "missing")


def _places(maps):
    caption = "Where shares are missing: the stronger the colour, the more. Hatched: no such row."
    return [d.picture(partial(map_of_places, maps), caption, "places")] if maps else []


def _per_row(inspection):
    draw = partial(holes_per_row, inspection.by_row["rows"], width=FULL)
    caption = "How many rows have no missing share, one, two, and so on."
    counts = inspection.by_row[inspection.by_row["rows"] > 0]
    columns = {"holes": d.Header("missing shares"), "rows": d.Header("rows")}
    table = d.ShownTable.of(counts, columns, "The same in numbers.", "missing-per-row")
    return d.picture_and_table(draw, caption, table)


def _patterns(inspection):
    found, labels = inspection.patterns, inspection.labels
    short = dict(zip(labels, shortened(labels), strict=True))
    patterns = found.assign(
        place=range(1, len(found) + 1),
        share=found["rows"] / inspection.n_rows,
        which=[listed(map(short.get, hidden)) or "none" for hidden in found["hidden"]],
    )
    columns = {
        "place": d.Header("place"),
        "rows": d.Header("rows"),
        "share": d.Header("share of rows", ".1%"),
        "holes": d.Header("missing"),
        "which": d.Header("which", words=True),
    }
    caption = "The most frequent sets of missing shares."
    return d.ShownTable.of(patterns, columns, caption=caption, name="patterns")


def _randomness(inspection):
    size = inspection.size
    blocks = [d.Paragraph(size.verdict)]
    if np.isfinite([size.hidden, size.expected, size.lower, size.upper]).all():
        blocks += _missing_sums(size, inspection.unit)
    if inspection.by_label["hidden_mean"].notna().any():
        blocks.append(_hidden_means(inspection))
    return [*blocks, _dependence(inspection.dependence)]


def _missing_sums(size, unit):
    how = (
        "The sum of a whole row is known, so the sum of its missing shares is known, too. In the "
        f"{size.n_rows:,} rows with both missing and known shares it is compared with the means "
        "of the labels that are missing."
    )
    caption = (
        "The mean of these sums, minus what it would be if shares were missing at random, with an "
        f"interval of 95%{in_unit(unit)}. Left of the line small shares are missing more often "
        "than large ones, right of it large ones. Only a p value below 0.01 counts as a sign that "
        "shares are not missing at random."
    )
    difference = size.hidden - size.expected
    draw = partial(hidden_mass, difference, size.lower, size.upper, width=FULL)
    names = ["mean", "expected", "difference", "from", "to"]
    columns = [d.Header("sum"), *(d.Header(name, form_of(unit)) for name in names)]
    row = ["missing shares", size.hidden, size.expected, difference, size.lower, size.upper]
    about = {"caption": f"The same in numbers{in_unit(unit)}.", "name": "missing-sums"}
    table = d.ShownTable([*columns, d.Header("p value", ".3g")], [[*row, size.p_value]], **about)
    return [d.Paragraph(how), *d.picture_and_table(draw, caption, table)]


def _hidden_means(inspection):
    form = form_of(inspection.unit)
    columns = {
        "label": d.Header("label"),
        "mean": d.Header("mean where known", form),
        "hidden_mean": d.Header("mean where missing", form),
        "hidden_p": d.Header("p value", ".3g"),
    }
    caption = (
        "The mean of the known shares of each label, and that of the missing ones as estimated "
        f"from the sums of the rows{in_unit(inspection.unit)}. A p value below 0.01 says that "
        "they differ; a dash, that there is no estimate."
    )
    return d.ShownTable.of(inspection.by_label, columns, caption=caption, name="missing-means")


def _dependence(found):
    if found.empty:
        return d.Paragraph("No feature could be compared with what is missing.")
    columns = {
        "label": d.Header("label"),
        "feature": d.Header("feature", words=True),
        "value": d.Header("value", words=True),
        "correlation": d.Header("correlation", ".3f"),
        "p_value": d.Header("p value", ".3g"),
    }
    caption = (
        "Is a label missing more often (correlation above 0) or less often (below 0) where a "
        "feature has this value? Rank correlations, and p values that take the number of "
        f"comparisons into account.{_first(MOST_LISTED, found)}"
    )
    return d.ShownTable.of(found.head(MOST_LISTED), columns, caption=caption, name="dependence")


def _first(most, frame):
    return f" The first {most} of {len(frame):,} are shown." if len(frame) > most else ""


def _problems(problems):
    if not problems:
        return d.Paragraph("All rows are valid, and each has a known share.")
    words = [d.Header(name, words=True) for name in ("what", "such as", "what to do")]
    rows = []
    for each in problems:
        kind = ("impossible", "bad") if each.severe else ("to know", "fair")
        examples = ", ".join(map(str, each.examples))
        rows.append([str(each.n_rows), kind, each.what, examples, each.advice])
    return d.ShownTable([d.Header("rows"), d.Header("kind"), *words], rows, name="problems")


def _features(inspection):
    features = inspection.features
    if features.empty:
        return d.Paragraph("The table has no feature columns.")
    columns = {
        "column": d.Header("column"),
        "marked": d.Header("kind"),
        "holes": d.Header("missing", ".1%"),
        "distinct": d.Header("distinct values"),
        "remark": d.Header("remark", words=True),
    }
    shown = features.head(MOST_LISTED_COLUMNS)
    pairs = zip(shown["kind"], shown["usable"], strict=True)
    shown = shown.assign(
        marked=[(kind, "" if usable else "bad") for kind, usable in pairs],
        remark=[_remark(each, inspection.copies) for each in shown.itertuples()],
    )
    caption = "What each column is taken for. Red: it must be changed or left out."
    caption += _first(MOST_LISTED_COLUMNS, features)
    return d.ShownTable.of(shown, columns, caption, "columns")


def _remark(each, copies):
    if each.column not in copies:
        return str(each.remark)
    label, correlation = copies[each.column]
    return f"a linear copy of the label {label} (correlation {correlation:.4f}) {each.remark}"
