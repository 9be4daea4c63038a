"""Parts of the page of a table that was looked at."""

from functools import partial

import numpy as np

from ._table_parts import bounded, number, share
from .figures import hidden_mass, holes_per_row, missing_map
from .figures._names import shortened
from .page import Table, paragraph
from .style import FULL

MOST = 30
"""Rows of a list in which the first are the most important ones."""

MOST_COLUMNS = 1000


def missing_parts(inspection, observed, space):
    """Return pictures and tables of what is missing.

    Parameters
    ----------
    inspection : Inspection
        What was found.
    observed : array-like of bool of shape (n, C) or None
        Where degrees are observed.
    space : Space
        What is left of the size of the page.
    """
    holes = partial(holes_per_row, inspection.by_row["rows"], width=FULL)
    caption = "How many rows have no missing degree, one, two, and so on."
    return [
        _map(inspection, observed, space),
        bounded(_labels(inspection.by_label)),
        space.drawing(holes, caption, "holes-per-row"),
        bounded(_counts(inspection.by_row)),
        bounded(_patterns(inspection)),
    ]


def _map(inspection, observed, space):
    labels, missing = inspection.labels, inspection.by_label["missing"]
    if observed is not None:
        draw = partial(missing_map, observed, labels, missing=missing)
        caption = "Which degrees are observed; rows with the same holes stand together."
    else:
        patterns = inspection.patterns
        cells = [[label not in hidden for label in labels] for hidden in patterns["hidden"]]
        draw = partial(missing_map, cells, labels, counts=patterns["rows"], missing=missing)
        caption = (
            f"The {len(patterns)} most frequent sets of missing degrees: those of "
            f"{patterns['rows'].sum():,} of {inspection.n_rows:,} rows."
        )
    return space.drawing(draw, f"{caption} Above: the share missing of each label.", "missing")


def _labels(by_label):
    rows = [
        [
            str(each.label),
            str(each.observed),
            share(each.missing),
            number(each.mean),
            number(each.smallest),
            number(each.largest),
            share(each.zeros),
        ]
        for each in by_label.itertuples()
    ]
    head = ["label", "observed", "missing", "mean", "smallest", "largest", "zeros"]
    caption = "The observed degrees of each label. Zeros: the share of them that are 0."
    return Table(head, rows, caption=caption, name="labels")


def _counts(by_row):
    rows = [[str(each.holes), str(each.rows)] for each in by_row.itertuples() if each.rows]
    return Table(["missing degrees", "rows"], rows, caption="The same in numbers.", name="holes")


def _patterns(inspection):
    short = dict(zip(inspection.labels, shortened(inspection.labels), strict=True))
    rows = [
        [
            str(at),
            str(each.rows),
            share(each.rows / inspection.n_rows),
            str(each.holes),
            (_listed([short[name] for name in each.hidden]), "text"),
        ]
        for at, each in enumerate(inspection.patterns.itertuples(), 1)
    ]
    head = ["place", "rows", "share of rows", "missing", ("which", "text")]
    caption = "The most frequent sets of missing degrees."
    return Table(head, rows, caption=caption, name="patterns")


def _listed(names, most=8):
    """Return names in a row; of many the first."""
    if len(names) > most + 1:
        names = [*names[:most], f"and {len(names) - most} others"]
    return ", ".join(names) or "none"


def randomness_parts(inspection, space):
    """Return what is known about why degrees are missing.

    Parameters
    ----------
    inspection : Inspection
        What was found.
    space : Space
        What is left of the size of the page.
    """
    size = inspection.size
    parts = [paragraph(size.verdict)]
    if np.isfinite([size.hidden, size.expected, size.lower, size.upper]).all():
        parts += _size(size, space)
    if inspection.by_label["hidden_mean"].notna().any():
        parts.append(bounded(_hidden_means(inspection.by_label)))
    return [*parts, *_dependence(inspection.dependence)]


def _size(size, space):
    caption = (
        "What rows with holes hide on average, minus what they would hide if holes were random, "
        "with an interval of 95%. Left of the line small degrees are missing more often than "
        "large ones, right of it large ones. Only a p value below 0.01 is taken as a sign that "
        "holes are not random."
    )
    draw = partial(hidden_mass, size.hidden - size.expected, size.lower, size.upper, width=FULL)
    how = (
        "The degrees of a row sum to 1, so what a row hides in total is known: 1 minus its "
        f"observed degrees. In the {size.n_rows:,} rows with holes and observed degrees it is "
        "compared with the means of the labels that they hide."
    )
    names = ["hidden", "expected", "difference", "from", "to", "p value"]
    values = [size.hidden, size.expected, size.hidden - size.expected, size.lower, size.upper]
    row = ["per row", *map(number, values), number(size.p_value, ".3g")]
    table = Table(
        ["hidden mass", *names], [row], caption="The same in numbers.", name="hidden-mass"
    )
    return [paragraph(how), space.drawing(draw, caption, "hidden-mass"), table.html()]


def _hidden_means(by_label):
    rows = [
        [
            str(each.label),
            number(each.mean),
            number(each.hidden_mean),
            number(each.hidden_p, ".3g"),
        ]
        for each in by_label.itertuples()
    ]
    caption = (
        "The mean of the observed degrees of each label, and that of the hidden ones as the sums "
        "of the rows tell it. A p value below 0.01 says that they differ; a dash, that it cannot "
        "be told."
    )
    head = ["label", "mean where observed", "mean where hidden", "p value"]
    return Table(head, rows, caption=caption, name="hidden-means")


def _dependence(found):
    if found.empty:
        return [paragraph("No feature could be compared with the holes.")]
    rows = [
        [
            str(each.label),
            (str(each.feature), "text"),
            (str(each.value), "text"),
            number(each.correlation, ".3f"),
            number(each.p_value, ".3g"),
        ]
        for each in found.head(MOST).itertuples()
    ]
    more = f" The first {MOST} of {len(found):,} are shown." if len(found) > MOST else ""
    caption = (
        "Whether a label is missing more often (correlation above 0) or less often (below 0) "
        "where a feature has this value; rank correlations, and p values that allow for the "
        f"number of comparisons.{more}"
    )
    head = ["label", ("feature", "text"), ("value", "text"), "correlation", "p value"]
    return [Table(head, rows, caption=caption, name="dependence").html()]


def problem_parts(inspection):
    """Return the rows that cannot be distributions, and those without an observed degree."""
    if not inspection.problems:
        return [paragraph("All rows can be distributions, and have observed degrees.")]
    rows = [
        [
            str(each.n_rows),
            ("cannot be right", "bad") if each.severe else ("to be known", "fair"),
            (each.what, "text"),
            (", ".join(map(str, each.examples)), "text"),
            (each.advice, "text"),
        ]
        for each in inspection.problems
    ]
    head = ["rows", "kind", ("what", "text"), ("such as", "text"), ("what to do", "text")]
    return [Table(head, rows, name="problems").html()]


def column_parts(inspection):
    """Return what the columns of features are."""
    features = inspection.features
    if features.empty:
        return [paragraph("The table has no columns of features.")]
    rows = [
        [
            str(each.column),
            str(each.kind) if each.usable else (str(each.kind), "bad"),
            share(each.holes),
            str(each.distinct),
            (_remark(each, inspection.copies), "text"),
        ]
        for each in features.head(MOST_COLUMNS).itertuples()
    ]
    head = ["column", "kind", "missing", "distinct values", ("remark", "text")]
    more = ""
    if len(features) > MOST_COLUMNS:
        more = f" The first {MOST_COLUMNS} of {len(features):,} are shown."
    caption = f"What each column is taken for. Red: it must be changed or left out.{more}"
    return [Table(head, rows, caption=caption, name="columns").html()]


def _remark(each, copies):
    if each.column not in copies:
        return str(each.remark)
    label, correlation = copies[each.column]
    return f"a linear copy of the label {label} (correlation {correlation:.4f}) {each.remark}"
