"""Look at a table before anything is learned from it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from inldl.rows.checks import (
    check_2d,
    check_choice,
    check_rows,
    is_off,
    names_or_numbers,
    sum_tolerance,
)
from inldl.tables.columns.dates import ORDERS
from inldl.tables.columns.values import as_table, named_columns
from inldl.tables.features import describe_features, find_copies
from inldl.tables.findings import list_findings
from inldl.tables.missingness import (
    PERCENT,
    UNKNOWN_TOTALS,
    SizeTest,
    estimate_hidden_means,
    find_dependence,
    size_test,
)
from inldl.tables.row_columns import notes_on_counts, take_weights
from inldl.tables.scale import whole_of

CORRELATED_CELLS = 1_000_000  # of the features for correlations: more tell nothing new
HIDDEN_MEAN_ROWS = 200_000  # for the means of hidden degrees
PATTERNS = 10
EXAMPLE_ROWS = 5  # rows that are named of those with a problem


@dataclass(frozen=True)
class RowProblem:
    """Rows that share a problem, how many they are, and the first few in words.

    If it is severe, such rows cannot be distributions at all. What is wrong is a `kind` for
    programs, and `what` in words.
    """

    kind: str
    what: str
    advice: str
    severe: bool
    n_rows: int
    examples: tuple


@dataclass(frozen=True, eq=False)
class Inspection:
    """What a look at a table found; plain data, ready to be shown.

    Attributes
    ----------
    n_rows, n_features : int
        Size of the table.
    labels : list of str
        Names of the labels.
    missing : float
        Share of the degrees that are not observed.
    by_label : DataFrame
        For each label how many degrees are observed, the share that is missing, how many of the
        missing ones have bounds, mean, smallest and largest observed degree, the share of observed
        degrees that are 0, the estimated mean of the hidden degrees, and the p value of the test
        that it equals the observed one.
    by_row : DataFrame
        How many rows have 0, 1, 2, ... holes.
    patterns : DataFrame
        The ten most frequent sets of hidden labels, and how many rows have them.
    size : SizeTest
        Whether missing depends on the size of a degree.
    dependence : DataFrame
        Whether missing depends on features: label, feature, value ("larger", "missing", or a
        word), rank correlation with the holes, adjusted p value.
    problems : list of RowProblem
        Rows that cannot be distributions, and rows without an observed degree.
    features : DataFrame
        For each column its kind, share of holes, number of distinct values, a remark, and whether
        a model can be fitted with it in the table.
    copies : dict of str to tuple
        Columns that are a linear copy of a label: the label and the correlation.
    findings : list of str
        What to know and what to do about it, most important first.
    notes : list of str
        What was computed from a part of the rows.
    unit : str
        What means, smallest and largest degrees, and the numbers of `size` are: "percent", or
        nothing for fractions.
    """

    n_rows: int
    n_features: int
    labels: list
    missing: float
    by_label: pd.DataFrame
    by_row: pd.DataFrame
    patterns: pd.DataFrame
    size: SizeTest
    dependence: pd.DataFrame
    problems: list
    features: pd.DataFrame
    copies: dict
    findings: list
    notes: list
    unit: str = ""


def inspect_table(
    X,
    y,
    where=None,
    random_state=0,
    *,
    totals=True,
    scale="fraction",
    lower=None,
    upper=None,
    dates="auto",
):
    """Look at a table: how much is missing, whether at random, and what cannot be right.

    Parameters
    ----------
    X : DataFrame of shape (n, k)
        The features: numbers, text and holes.
    y : DataFrame or array of shape (n, C)
        Degrees as fractions, NaN = unobserved. They need not be valid.
    where : callable, optional
        Turns the number of a row into words, such as "Line 7". By default "Row i", from 0.
    random_state : int, default=0
        For the sample of rows from which correlations are computed in a large table.
    totals : bool, default=True
        Whether the totals of rows with holes are known. They are not where counts are missing:
        the sum of such a row then tells nothing about its holes.
    scale : {"fraction", "percent", "count"}, default="fraction"
        How the degrees stand in the table; "percent" gives all results in percent.
    lower, upper : array of shape (n, C), optional
        Bounds of missing degrees, NaN where there is none; they are counted.
    dates : {"auto", "day-first", "month-first"}, default="auto"
        As in `FeatureEncoder`.

    Returns
    -------
    Inspection

    Examples
    --------
    >>> from inldl.datasets import hide, load_budget_shares
    >>> from inldl.tables import inspect_table
    >>> X, y = load_budget_shares(return_X_y=True, as_frame=True)
    >>> found = inspect_table(X, hide(y, 0.3, mechanism="small", random_state=0))
    >>> found.size.answer
    'small'
    >>> round(found.missing, 2)
    0.3
    """
    check_choice("dates", dates, ORDERS)
    columns, labels, degrees = named_columns(X), list(names_or_numbers(y)), _degrees(X, y)
    whole = whole_of(scale)
    place = where or (lambda row: f"Row {row}")
    problems, valid = _problems(degrees, place, whole, lower, upper)
    holes = np.isnan(degrees)
    bounded, between = _bounded(holes, lower, upper)
    unexplained = np.where(bounded, between, degrees)  # bounds say why a degree is missing
    possible = unexplained if valid.all() else unexplained[valid]
    some = possible[_sample(len(possible), HIDDEN_MEAN_ROWS, random_state)]
    rows = _sample(len(degrees), CORRELATED_CELLS // max(len(columns), 1), random_state)
    part, sampled = degrees[rows], {name: cells.iloc[rows] for name, cells in columns.items()}
    by_row = np.bincount(holes.sum(axis=1), minlength=len(labels) + 1)
    untold = _untold_by_sums(degrees, holes, totals, whole)
    hidden_means = (np.nan, np.nan) if untold else estimate_hidden_means(some)
    results = {
        "n_rows": len(degrees),
        "n_features": len(columns),
        "labels": labels,
        "missing": float(holes.mean()) if holes.size else 0.0,
        "by_label": _by_label(degrees, holes, labels, *hidden_means, whole).assign(
            bounded=bounded.sum(axis=0)
        ),
        "by_row": pd.DataFrame({"holes": np.arange(len(by_row)), "rows": by_row}),
        "patterns": _patterns(holes, labels),
        "size": size_test(possible, labels, whole, untold=untold),
        "dependence": find_dependence(sampled, part, labels),
        "problems": problems,
        "features": describe_features(columns, where, ORDERS[dates]),
        "copies": find_copies(sampled, np.where(valid[rows, None], part, np.nan), labels),
        "notes": _notes(len(rows), len(some), len(degrees)),
        "unit": PERCENT if whole > 1 else "",
    }
    return Inspection(**results, findings=list_findings(results, totals=not untold))


def inspect_file(file, *, scale="auto", weight=None, dates="auto"):
    """Look at a table in a file.

    A column of weights is checked, and is no feature; the rows are looked at as they stand.
    Returns an `Inspection`, the `Table` that was read, and sentences on how it was understood.
    `scale` is as in `inldl.tables.read_table`, `weight` and `dates` as in `fit_table`.
    """
    read = file.read(scale=scale, check=False)
    take_weights(read.features, weight, file)
    how = {"totals": read.scale != "count" or read.totals is not None, "scale": read.scale}
    how |= {"lower": read.lower, "upper": read.upper, "dates": dates}
    found = inspect_table(read.features, read.degrees, file.source.where, **how)
    return found, read, [*read.notes, *notes_on_counts(read), *_of_weights(weight)]


def _of_weights(name):
    """Return a note on weights that looking at a table takes no account of."""
    if name is None:
        return []
    return [f"The column {name!r} can weigh rows, but here each row counts once."]


def _bounded(holes, lower, upper):
    """Return which missing degrees have bounds, and the middle of these."""
    low, high = (np.full(holes.shape, np.nan) if a is None else a for a in (lower, upper))
    given = ~np.isnan(low) | ~np.isnan(high)
    middle = (np.where(np.isnan(low), 0, low) + np.where(np.isnan(high), 1, high)) / 2
    return holes & given, middle


def _untold_by_sums(y, holes, totals, whole):
    """Return why the sums of rows tell nothing about their holes, or nothing if they do."""
    if not holes.any():
        return ""
    if not totals:
        return UNKNOWN_TOTALS
    with np.errstate(invalid="ignore"):  # inf - inf
        off = is_off(np.abs(y.sum(axis=1) - 1), y)[~holes.any(axis=1)]
    if off.sum() <= len(off) / 2:
        return ""
    return f"most complete rows do not sum to {whole:g}, so what a row hides is not known"


def _degrees(X, y):
    degrees = np.asarray(y, dtype=np.float64)
    check_2d(degrees)
    check_rows(as_table(X), degrees)
    if not degrees.size:
        raise ValueError("The table has no rows or no labels; there is nothing to look at.")
    return degrees


def _sample(n, most, random_state):
    """Return all rows, or a random sample in order if there are more than `most` (or 1000)."""
    most = max(most, 1000)
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, most, replace=False))


def _problems(y, where, whole, lower=None, upper=None):
    """Return the problems that rows have, worst first, and which rows have no severe one.

    A row counts for its first problem only. `where` turns the number of a row into words, and
    `whole` is what rows sum to in the units of the table.
    """
    valid, free, problems = np.ones(len(y), bool), np.ones(len(y), bool), []
    checks = [*_checks(y, f"{whole:g}"), *_checks_of_bounds(y, f"{whole:g}", lower, upper)]
    for kind, what, advice, severe, rows, shown in checks:
        rows = rows & free
        if rows.any():
            examples = []
            for i in np.flatnonzero(rows)[:EXAMPLE_ROWS]:
                number = f" ({shown[0]} {whole * shown[1][i]:.6g})" if shown else ""
                examples.append(f"{where(int(i))}{number}")
            about = kind, what, advice, severe
            problems.append(RowProblem(*about, int(rows.sum()), tuple(examples)))
            free &= ~rows
            valid &= ~(rows & severe)
    return problems, valid


def _checks(y, whole):
    """Yield each problem: kind, words, advice, whether it is severe, rows, and their numbers."""
    tolerance, holes = sum_tolerance(y.dtype), np.isnan(y)
    n_seen = y.shape[1] - holes.sum(axis=1)
    with np.errstate(invalid="ignore"):  # inf - inf
        sums = np.where(holes, 0, y).sum(axis=1)
    smallest, largest = np.fmin.reduce(y, axis=1), np.fmax.reduce(y, axis=1)
    correct = "correct the numbers, or empty cells that are unknown"
    yield "negative", "a share below 0", correct, True, smallest < 0, ("share", smallest)
    above = largest > 1 + tolerance
    yield "large", f"a share above {whole}", correct, True, above, ("share", largest)
    over = (n_seen < y.shape[1]) & (is_off(sums - 1, y))
    what = f"known shares that sum to more than {whole}"
    yield "sum exceeded", what, correct, True, over, ("sum", sums)
    off = (n_seen == y.shape[1]) & is_off(np.abs(sums - 1), y)
    accept = "correct the numbers, or accept such sums: --normalize, in Python normalize=True"
    yield "other sum", f"a sum other than {whole}", accept, True, off, ("sum", sums)
    nothing = "such a row can be predicted from its features, but little is learned from it"
    yield "empty", "no known share", nothing, False, n_seen == 0, None


def _checks_of_bounds(y, whole, lower, upper):
    """Yield the problem of bounds with which no row sums to the whole, in the same way."""
    if lower is None and upper is None:
        return
    holes, none = np.isnan(y), np.full(y.shape, np.nan)
    low, high = (none if each is None else np.asarray(each) for each in (lower, upper))
    least = np.where(holes, np.where(np.isnan(low), 0, low), y).sum(axis=1)
    most = np.where(holes, np.where(np.isnan(high), np.inf, high), y).sum(axis=1)
    advice = "correct the bounds or the known shares"
    what = f"bounds that do not let them sum to {whole}"
    for bad, end in ((is_off(least - 1, y), least), (is_off(1 - most, y), most)):
        rows = bad & holes.any(axis=1)
        yield "bounds", what, advice, True, rows, ("sum", end)


def _notes(n_correlated, n_estimated, n):
    notes = []
    if n_correlated < n:
        notes.append(f"Correlations come from a random sample of {n_correlated:,} rows.")
    if n_estimated == HIDDEN_MEAN_ROWS < n:
        notes.append(f"Means of missing shares come from a random sample of {n_estimated:,} rows.")
    return notes


def _by_label(y, holes, labels, hidden_mean, hidden_p, whole):
    observed = len(y) - holes.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):  # a label that is nowhere observed
        mean = np.where(holes, 0, y).sum(axis=0) / observed
        zeros = (y == 0).sum(axis=0) / observed
    return pd.DataFrame(
        {
            "label": labels,
            "observed": observed,
            "missing": holes.mean(axis=0),
            "mean": whole * mean,
            "smallest": whole * np.fmin.reduce(y, axis=0),
            "largest": whole * np.fmax.reduce(y, axis=0),
            "zeros": zeros,
            "hidden_mean": whole * hidden_mean,
            "hidden_p": hidden_p,
        }
    )


def _patterns(holes, labels):
    """Return the most frequent sets of hidden labels; they are grouped by their bits."""
    sets = pd.DataFrame(np.packbits(holes, axis=1))
    counts = sets.groupby(list(sets.columns), sort=False).size()
    counts = counts.sort_values(ascending=False, kind="stable").head(PATTERNS)
    keys = np.array(counts.index.to_list(), np.uint8).reshape(len(counts), -1)
    hidden = np.unpackbits(keys, axis=1, count=holes.shape[1]).astype(bool)
    names = [tuple(np.asarray(labels, dtype=object)[which]) for which in hidden]
    return pd.DataFrame({"hidden": names, "holes": hidden.sum(axis=1), "rows": counts.to_numpy()})
