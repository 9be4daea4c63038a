"""What the columns of a table seem to be, and what they tell about its labels."""

import numpy as np
import pandas as pd
from scipy import stats

from inldl.errors import DataError
from inldl.tables.columns import Cells
from inldl.tables.columns.encoder import MAX_LEVELS, choose
from inldl.tables.table import gather
from inldl.text import counted

NEARLY_EMPTY = 0.95
COPY = 0.999  # a larger correlation with a label is no coincidence
ROWS_FOR_COPY = 10  # fewer prove no copy
WORDS = 10  # the most frequent ones of a text column, each of which is looked at
EXPECTED = 5  # rows that a rare word and a missing degree share by chance, else p is not exact
DEPENDENCE = ["label", "feature", "value", "correlation", "p_value"]
ROLE_ROWS = 50_000  # from which the kinds of columns are detected
MOST_SUMMED = 2_000  # rows that are summed
WIDEST_RUN = 150  # columns side by side that are tried as labels
NEAR_WHOLE = 0.02  # of the whole, by which rounded shares may miss it
COMPLETE = 2  # rows without a missing share, at least, that must sum to the whole
EXAMPLE_CELLS = 3


def describe_features(frame, where=None, date_order=None) -> pd.DataFrame:
    """Return a frame with a row for each column: what it is, and what the encoder makes of it.

    It has the columns kind (number, text, date, empty, constant, id), holes (a share), distinct,
    remark (empty if there is nothing to say) and usable. `where` turns the number of a row into
    words, such as "Line 7". `date_order` says what comes first in dates that leave it open.
    """
    rows: list[tuple] = []
    originals: dict[bytes, list] = {}
    for name, column in frame.items():
        holes = float(column.isna().mean()) if len(column) else 1.0
        kind, remark, usable = _described(name, column, where, date_order)
        remark = remark or _copy_of_another(name, column, originals)
        if not remark and holes > NEARLY_EMPTY:
            remark = f"is empty in {holes:.1%} of the rows"
        rows.append((name, kind, holes, _distinct(name, column), remark, usable))
    return pd.DataFrame(rows, columns=["column", "kind", "holes", "distinct", "remark", "usable"])


def _described(name, column, where, date_order):
    """Return the kind of a column, a remark, and whether a model can be fitted with it there."""
    try:
        choice = choose(name, column, MAX_LEVELS, date_order)
    except DataError as error:
        placed = error if where is None else error.with_place(where)
        return error.facts["kind"], placed.format(error.facts["problem"]), False
    remark = ""
    if choice.reason:
        remark = f"is left out: {choice.reason}"
    elif choice.stray:
        cell, row = choice.stray
        place = f"row {row} (counted from 0)" if where is None else where(row).lower()
        remark = f"is taken as text, because of {cell!r} in {place}; correct the cell if it is a "
        remark += "number"
    elif choice.n_levels > MAX_LEVELS:
        remark = f"has {choice.n_levels} levels; the {MAX_LEVELS} most frequent are kept apart"
    return choice.kind, remark, True


def _distinct(name, column):
    numbers = Cells(name, column).stored
    if numbers is not None:
        return len(np.unique(numbers[~np.isnan(numbers)]))
    try:
        return int(column.nunique())
    except TypeError:  # cells such as lists, which the encoder refuses
        return int(column.astype(str).nunique())


def _copy_of_another(name, column, originals):
    """Return a remark if a column equals an earlier one; remember it among `originals` if not."""
    start = pd.util.hash_pandas_object(column.iloc[:1000], index=False).to_numpy().tobytes()
    for other, cells in originals.get(start, []):
        if cells.equals(column):
            return f"is identical to {other!r}"
    originals.setdefault(start, []).append((name, column))
    return ""


def find_copies(columns, y, labels) -> dict[str, tuple[str, float]]:
    """Return the columns that are a linear copy of a label: {column: (label, correlation)}."""
    copies = {}
    for name, column in columns.items():
        numbers = Cells(name, column).stored
        if numbers is None:
            continue
        r = _correlations(numbers.astype(float), y)
        j = int(np.argmax(np.abs(r)))
        if abs(r[j]) > COPY:
            copies[name] = (labels[j], float(r[j]))
    return copies


def _correlations(x, y):
    """Return the correlation of x with each label over the rows that have both, or 0."""
    x, y = (pd.DataFrame(np.where(np.isfinite(values), values, np.nan)) for values in (x, y))
    both = y.notna().to_numpy() & x.notna().to_numpy()
    with np.errstate(all="ignore"):  # huge numbers, and columns that do not vary
        r = y.corrwith(x[0]).to_numpy()
    return np.where(np.isfinite(r) & (both.sum(axis=0) >= ROWS_FOR_COPY), r, 0)


def find_dependence(columns, y, labels) -> pd.DataFrame:
    """Correlate where each label is missing with each feature.

    Numbers and dates are taken as ranks, text as whether it is one of its ten most frequent
    words; whether a feature is itself missing is looked at as well. So only what rises or falls
    with a feature is found.

    The frame has label, feature, value ("larger", "missing", or a word in quotes), rank
    correlation, and p value times the number of tests, at most 1 (Bonferroni); the largest
    correlations come first.
    """
    holes = np.isnan(y).astype(float)
    asked = np.flatnonzero((holes.mean(axis=0) > 0) & (holes.mean(axis=0) < 1))
    if not len(asked):
        return pd.DataFrame(columns=DEPENDENCE)
    names, holes = np.asarray(labels, dtype=object)[asked], holes[:, asked]
    found = []
    for feature, value, numbers in _questions(columns):
        r, p = _missing_correlations(numbers, holes)
        found += [(names[j], feature, value, r[j], p[j]) for j in np.flatnonzero(~np.isnan(p))]
    found = pd.DataFrame(found, columns=DEPENDENCE)
    found["p_value"] = np.minimum(found["p_value"] * len(found), 1)
    order = found["correlation"].abs().sort_values(ascending=False, kind="stable").index
    return found.loc[order].reset_index(drop=True)


def _questions(columns):
    """Yield (feature, value, numbers) for all that can be asked of the features."""
    for name, column in columns.items():
        missing = column.isna()
        if missing.any():
            yield name, "missing", missing.to_numpy(float)
        if Cells(name, column).stored is not None or column.dtype.kind in "mM":
            ranks = column.rank()
            yield name, "larger", ranks.fillna(ranks.mean()).fillna(0).to_numpy(float)
        else:
            words = column.astype(object).map(str, na_action="ignore")
            for word in words.value_counts().index[:WORDS]:
                yield name, repr(word), (words == word).to_numpy(float)


def _missing_correlations(numbers, holes):
    """Return the correlations of a column with the holes of each label, and their p values.

    These are NaN where a column hardly varies, so that its t test would not be exact.
    """
    n, rate = len(holes), holes.mean(axis=0)
    usual = pd.Series(numbers).value_counts().iloc[0]
    exact = (n - usual) * np.minimum(rate, 1 - rate) >= EXPECTED
    if not exact.any():
        return np.zeros(len(rate)), np.full(len(rate), np.nan)
    products = (numbers - numbers.mean()) @ holes / n
    r = (products / (numbers.std() * np.sqrt(rate * (1 - rate)))).clip(-1, 1)
    with np.errstate(divide="ignore"):
        t = np.abs(r) * np.sqrt((n - 2) / (1 - r**2))
    return r, np.where(exact, 2 * stats.t.sf(t, n - 2), np.nan)


def suggest_roles(file) -> tuple[pd.DataFrame, int, list[str]]:
    """Look at all columns of a file, and suggest what they are.

    Columns side by side that sum to 1 or 100 in complete rows seem to hold shares. Columns of
    which a model would say that they are ids seem to name the rows. If the file has labels, these
    are the labels.

    Returns a frame with a row for each column (its name, kind, share of missing cells, number of
    distinct values, a remark, a role, and examples of its cells), the number of rows that were
    looked at, and sentences on what was detected and why these columns are taken as labels.
    """
    piece, _ = gather(file, ROLE_ROWS)
    values, frame = piece.values, piece.features
    if file.labels:
        frame = pd.DataFrame(values, columns=file.labels).join(frame)
    if not len(frame):
        raise ValueError(f"{file.path} has a header but no rows; add rows.")
    found = describe_features(frame, file.source.where)
    labels, why = (file.labels, []) if file.labels else _labels(frame)
    ids = (found["kind"] == "id") & ~found["column"].isin(labels)
    role = np.where(found["column"].isin(labels), "label", np.where(ids, "id", "feature"))
    examples = [_examples(frame[name]) for name in found["column"]]
    return found.assign(role=role, examples=examples), len(frame), [*file.notes, *why]


def _examples(column):
    """Return the first cells that differ, as texts."""
    cells = column.dropna().iloc[:200].unique()[:EXAMPLE_CELLS]
    return [f"{cell:g}" if isinstance(cell, float) else str(cell).strip()[:60] for cell in cells]


def _labels(columns):
    """Return the columns that seem to hold shares, and sentences that say why."""
    names, values = _numbers(columns)
    for fits, reason in _REASONS.items():
        for whole in (1.0, 100.0):
            run = _longest(values, whole, fits)
            if run is not None:
                complete = int((~np.isnan(values[:, run])).all(axis=1).sum())
                facts = {"rows": counted(complete, "complete row"), "whole": f"{whole:g}"}
                chosen = names[run]
                return chosen, [f"{counted(len(chosen), 'column')} {reason.format(**facts)}"]
    return [], [
        "No columns were found whose rows sum to 1 or 100; choose the columns with the shares."
    ]


def _numbers(frame):
    """Return the names of all columns and some rows as numbers; NaN for columns of text."""
    values = np.full((min(len(frame), MOST_SUMMED), frame.shape[1]), np.nan)
    for j, (name, column) in enumerate(frame.iloc[:MOST_SUMMED].items()):
        numbers = Cells(name, column).stored
        values[:, j] = np.nan if numbers is None else numbers
    return list(frame), values


def _longest(values, whole, fits):
    """Return the longest run of columns that fits, a slice, or None."""
    with np.errstate(invalid="ignore"):
        low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
        possible = (low >= 0) & (high <= whole * (1 + NEAR_WHOLE))
    edges = np.flatnonzero(np.diff(np.concatenate([[0], possible.astype(int), [0]]))).tolist()
    best, length = None, 1
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        for first in range(start, stop - 1):
            for end in range(min(stop, first + WIDEST_RUN), first + length, -1):
                if fits(values[:, first:end], whole):
                    best, length = slice(first, end), end - first
                    break
    return best


def _sums_to(values, whole):
    """Return whether complete rows sum to the whole, and no row to more."""
    sums, complete = np.nansum(values, axis=1), ~np.isnan(values).any(axis=1)
    if complete.sum() < COMPLETE or np.any(np.fmax.reduce(values, axis=0) == 0):
        return False
    near = np.abs(sums[complete] / whole - 1) <= NEAR_WHOLE
    return near.mean() >= 0.9 and np.mean(sums <= whole * (1 + NEAR_WHOLE)) >= 0.99


def _stays_below(values, whole):
    """Return whether all columns have missing cells, and no row sums to more than the whole."""
    holes = np.isnan(values)
    return bool(holes.any(axis=0).all() and (np.nansum(values, axis=1) <= whole * 1.001).all())


_REASONS = {
    _sums_to: "side by side seem to hold the shares: in {rows}, they sum to about {whole}.",
    _stays_below: (
        "side by side may hold the shares: all have missing cells, and no row sums to more than "
        "{whole}."
    ),
}
