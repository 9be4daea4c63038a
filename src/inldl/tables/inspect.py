"""Look at a table before anything is learned from it."""

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from inldl.rows.checks import check_2d, check_choice, is_off, names_or_numbers, sum_tolerance
from inldl.rows.holes import find_holes
from inldl.rows.inputs import check_rows
from inldl.tables import findings
from inldl.tables.assumptions import FORGOTTEN, sentences_on_zeros
from inldl.tables.columns import as_frame
from inldl.tables.columns.dates import ORDERS
from inldl.tables.features import describe_features, find_copies, find_dependence
from inldl.tables.findings import SizeTest
from inldl.tables.holes import Places, sentences_on_holes, size_in_panel
from inldl.tables.options import PanelOptions
from inldl.tables.table import Table, whole_of
from inldl.tables.table_rows import notes_on_counts, sample_rows, take_weights

LEAST_CORRELATED = 1000  # rows, whatever the number of features
CORRELATED_CELLS = 1_000_000  # of the features for correlations: more tell nothing new
HIDDEN_MEAN_ROWS = 200_000  # for the means of hidden degrees
PATTERNS = 10
_DOUBTED = ("negative", "large", "sum exceeded", "other sum")  # kinds of problems
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
    holes : list of Holes
        How the holes lie, the most frequent kind first.
    maps : dict of str to DataFrame
        The share of cells that are missing by unit and time, for each label if few have holes;
        empty if the table has no units and times.
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
    holes: list = field(default_factory=list)
    maps: dict = field(default_factory=dict)


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
    places=None,
    doubts=(),
) -> Inspection:
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
    places : Places, optional
        The units and times of the rows, as ``Places.of(X)`` finds them: size is not blamed for
        holes that these explain.
    doubts : sequence of str
        Sentences on numbers that cannot be right, which explain wrong sums.

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
    X = as_frame(X)
    labels, degrees = list(names_or_numbers(y)), _degrees(X, y)
    whole, holes = whole_of(scale), np.isnan(degrees)
    bounds = [np.full(holes.shape, np.nan) if b is None else np.asarray(b) for b in (lower, upper)]
    problems, valid = _problems(degrees, bounds, where or "Row {}".format, whole, doubts)
    bounded = holes & ~np.isnan(bounds).all(axis=0)
    middle = (_filled(bounds[0], 0) + _filled(bounds[1], 1)) / 2
    possible = np.where(bounded, middle, degrees)[valid]  # bounds say why a degree is missing
    some = possible[sample_rows(len(possible), HIDDEN_MEAN_ROWS, random_state)]
    most = max(LEAST_CORRELATED, CORRELATED_CELLS // max(X.shape[1], 1))
    rows = sample_rows(len(degrees), most, random_state)
    part, sampled = degrees[rows], X.iloc[rows]
    by_row = np.bincount(holes.sum(axis=1), minlength=len(labels) + 1)
    untestable = _untestable_by_sums(degrees, holes, totals, whole)
    hidden_means = (np.nan, np.nan) if untestable else findings.estimate_hidden_means(some)
    panel = None if places is None else places.panel.take(np.flatnonzero(valid))
    lying = find_holes(some if panel is None else possible, panel, totals=not untestable)
    results = {
        "n_rows": len(degrees),
        "n_features": X.shape[1],
        "labels": labels,
        "missing": float(holes.mean()),
        "by_label": _by_label(degrees, labels, hidden_means, whole, bounded),
        "by_row": pd.DataFrame({"holes": np.arange(len(by_row)), "rows": by_row}),
        "patterns": _patterns(holes, labels),
        "size": size_in_panel(possible, labels, lying, panel, whole, untestable=untestable),
        "dependence": find_dependence(sampled, part, labels),
        "problems": problems,
        "features": describe_features(X, where, ORDERS[dates]),
        "copies": find_copies(sampled, np.where(valid[rows, None], part, np.nan), labels),
        "notes": _notes(len(rows), len(some), len(degrees)),
        "unit": findings.PERCENT if whole > 1 else "",
        "holes": lying,
        "maps": {} if places is None or not holes.any() else places.maps(degrees, labels),
    }
    zeros = results["size"].answer == "zeros"
    sentences = [] if zeros else sentences_on_holes(lying, possible, labels, places)
    found = findings.list_findings(results, sentences, totals=not untestable)
    return Inspection(**results, findings=[*doubts, *found])


def inspect_file(file, options=None, **keywords) -> tuple[Inspection, Table, list[str]]:
    """Look at a table in a file.

    A column of weights is checked, and is no feature; the rows are looked at as they stand.
    Returns an `Inspection`, the `Table` that was read, and sentences on how it was understood.
    The `options` are `PanelOptions`, the `keywords` fields of it in place of those.
    """
    options = PanelOptions.of(options, **keywords)
    weight = options.weight
    read = file.read(scale=options.scale, check=False)
    take_weights(read.features, weight, file)
    how = {"totals": read.scale != "count" or read.totals is not None, "scale": read.scale}
    lower, upper = (np.where(read.known.bounded, end, np.nan) for end in read.known.box)
    how |= {"lower": lower, "upper": upper, "dates": options.dates, "doubts": read.doubts}
    columns = pd.concat([read.ids, read.features], axis=1)
    places = how["places"] = Places.of(columns, options.unit, options.time, options.dates)
    found = inspect_table(read.features, read.degrees, file.source.where, **how)
    if file.options.zeros == "true" and read.scale != "count" and not read.doubts:
        rounded = sentences_on_zeros(read.y, read.labels, whole_of(read.scale))
        found = replace(found, findings=[*found.findings, *rounded])
    notes = [*read.notes, *([] if places is None else places.structure.notes)]
    notes += notes_on_counts(read)
    if weight is not None:
        notes.append(f"The column {weight!r} can weigh rows, but here each row counts once.")
    return found, read, notes


def _filled(values, by):
    """Return an array with a number in place of NaN."""
    return np.where(np.isnan(values), by, values)


def _untestable_by_sums(y, holes, totals, whole):
    """Return why the sums of rows tell nothing about their holes, or nothing if they do."""
    if not holes.any():
        return ""
    if not totals:
        return findings.UNKNOWN_TOTALS
    with np.errstate(invalid="ignore"):  # inf - inf
        off = is_off(np.abs(y.sum(axis=1) - 1), y)[~holes.any(axis=1)]
    if off.sum() <= len(off) / 2:
        return ""
    return f"most complete rows do not sum to {whole:g}, so what a row hides is not known"


def _degrees(X, y):
    degrees = np.asarray(y, dtype=np.float64)
    check_2d(degrees)
    check_rows(X, degrees)
    if not degrees.size:
        raise ValueError("The table has no rows or no labels; there is nothing to look at.")
    return degrees


def _problems(y, bounds, where, whole, doubts):
    """Return the problems that rows have, worst first, and which rows have no severe one.

    A row counts for its first problem only. `where` turns the number of a row into words, and
    `whole` is what rows sum to in the units of the table. `doubts` say what to do about them.
    """
    valid, free, problems = np.ones(len(y), bool), np.ones(len(y), bool), []
    for kind, what, advice, rows, name, numbers in _checks(y, *bounds, f"{whole:g}"):
        rows = rows & free
        if rows.any():
            severe, first = kind != "empty", np.flatnonzero(rows)[:EXAMPLE_ROWS].tolist()
            shown = (f" ({name} {whole * numbers[i]:.6g})" if name else "" for i in first)
            examples = tuple(f"{where(i)}{number}" for i, number in zip(first, shown, strict=True))
            advice = "see above" if doubts and kind in _DOUBTED else advice
            problems.append(RowProblem(kind, what, advice, severe, int(rows.sum()), examples))
            free &= ~rows
            valid &= ~(rows & severe)
    return problems, valid


def _checks(y, low, high, whole):
    """Yield each problem: kind, words, advice, which rows, and the name and values of a number."""
    holes = np.isnan(y)
    complete = ~holes.any(axis=1)
    with np.errstate(invalid="ignore"):  # inf - inf
        sums = np.where(holes, 0, y).sum(axis=1)
    smallest, largest = np.fmin.reduce(y, axis=1), np.fmax.reduce(y, axis=1)
    correct = "correct the numbers, or empty cells that are unknown"
    yield "negative", "a share below 0", correct, smallest < 0, "share", smallest
    above = largest > 1 + sum_tolerance(y.dtype)
    yield "large", f"a share above {whole}", correct, above, "share", largest
    what = f"known shares that sum to more than {whole}"
    yield "sum exceeded", what, correct, ~complete & is_off(sums - 1, y), "sum", sums
    nothing = "remove the row, which says nothing, or empty its cells if they are unknown"
    yield "zeros", "nothing but zeros", nothing, complete & (largest == 0), "", sums
    off = complete & is_off(np.abs(sums - 1), y)
    accept = "correct the numbers, or accept such sums: --normalize, in Python normalize=True"
    if (off & (sums < 1)).sum() > complete.sum() / 2:
        accept = f"{FORGOTTEN}{accept}"
    yield "other sum", f"a sum other than {whole}", accept, off, "sum", sums
    nothing = "such a row can be predicted, but little is learned from it"
    yield "empty", "no known share", nothing, holes.all(axis=1), "", sums
    if np.isnan(low).all() and np.isnan(high).all():
        return
    ends = _filled(low, 0), _filled(high, np.inf)
    least, most = (np.where(holes, end, y).sum(axis=1) for end in ends)
    what = f"bounds that do not let them sum to {whole}"
    advice = "correct the bounds or the known shares"
    for bad, end in ((is_off(least - 1, y), least), (is_off(1 - most, y), most)):
        yield "bounds", what, advice, bad & ~complete, "sum", end


def _notes(n_correlated, n_estimated, n):
    notes = []
    if n_correlated < n:
        notes.append(f"Correlations come from a random sample of {n_correlated:,} rows.")
    if n_estimated == HIDDEN_MEAN_ROWS < n:
        notes.append(f"Means of missing shares come from a random sample of {n_estimated:,} rows.")
    return notes


def _by_label(y, labels, hidden, whole, bounded):
    """Return numbers about each label; `hidden` are means of missing degrees and p values."""
    frame = pd.DataFrame(y)
    observed = frame.count()
    with np.errstate(invalid="ignore"):  # inf - inf
        mean = frame.mean()
    return pd.DataFrame(
        {
            "label": labels,
            "observed": observed,
            "missing": frame.isna().mean(),
            "mean": whole * mean,
            "smallest": whole * frame.min(),
            "largest": whole * frame.max(),
            "zeros": frame.eq(0).sum() / observed,
            "hidden_mean": whole * hidden[0],
            "hidden_p": hidden[1],
            "bounded": bounded.sum(axis=0),
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
