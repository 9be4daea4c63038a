"""Columns about the rows of a table: ids, weights, groups; and rows that equal each other."""

from dataclasses import replace

import numpy as np
import pandas as pd

from inldl.completion.examples import row_keys
from inldl.errors import DataError
from inldl.rows.checks import WEIGHTLESS
from inldl.rows.density import mean_degrees
from inldl.rows.partial import PartialRows
from inldl.tables.columns.kinds import ID, NEARLY_ID, RUNNING
from inldl.tables.columns.values import level_name
from inldl.tables.table import Table
from inldl.text import counted, listed

COPIES = 0.9  # share of the rows with equal features that must have equal degrees, too


def sample_rows(n, most, seed) -> np.ndarray:
    """Return the numbers of n rows, of a sorted random sample if there are more than `most`."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def id_columns(file, model) -> list[str]:
    """Return the columns that name the rows of a file, if there are some.

    They are those that the user says, else the first that the model has left out as an id. An id
    of several columns of a long table consists of features, but names the rows as well.
    """
    if file.ids or file.things:
        return list(file.ids or file.things)
    left_out = model.encoder_.dropped_
    found = [
        name
        for choice in (ID, RUNNING, NEARLY_ID)
        for name in file.features
        if left_out.get(name) == choice.reason
    ]
    return found[:1]


def id_texts(features, ids) -> list[str]:
    """Return the ids of rows as texts, those of several columns with commas in between."""
    columns = (features[name] for name in ids)
    cells = zip(*columns, strict=True) if ids else [()] * len(features)
    return [", ".join(filter(None, map(_text, row))) for row in cells]


def _text(cell):
    if pd.isna(cell):
        return ""
    return level_name(cell) if isinstance(cell, float) else str(cell).strip()


def take_column(features, name, file, option) -> pd.Series:
    """Take a column from the features, which says something else about the rows."""
    verb, done = {"--group": ("group", "grouped"), "--weight": ("weigh", "weighed")}[option]
    if name in features:
        return features.pop(name)
    if name in file.labels:
        raise ValueError(f"The column {name!r} is named in {option} and as a label; name it once.")
    if name in file.source.names:
        raise ValueError(
            f"Rows cannot be {done} by {name!r}, because --id, --ignore, --features or --long "
            f"leaves that column out; name it in {option} only, which leaves it out as well."
        )
    known = listed(map(repr, features), 20) or "there are none"
    raise ValueError(f"No column {name!r} to {verb} by is among the features ({known}).")


def take_weights(features, name, file, rows=None) -> np.ndarray | None:
    """Take the column of weights from the features, and return the weights; None if no name.

    They are divided by their mean, so that only their ratios matter.
    """
    if name is None:
        return None
    cells = take_column(features, name, file, "--weight")
    weights = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if bad.size:
        cell = cells.iloc[bad[0]]
        shown = repr(cell) if isinstance(cell, str) else f"{cell:g}"
        error = DataError(
            "Column {column} has {value} in {row}, which is not a weight; give a number that is "
            "not negative, 0 to leave the row out.",
            column=name,
            value="no number" if pd.isna(cell) else shown,
            row=int(bad[0]),
        )
        raise error.placed(file.place_of(rows))
    if not weights.any():
        raise ValueError(f"All weights in column {name!r} are 0; {WEIGHTLESS.partition('; ')[2]}")
    return weights / weights.mean()


def rows_that_count(table, weights) -> tuple[Table, np.ndarray | None, int]:
    """Return the table and the weights without the rows of weight 0, and how many these are."""
    if weights is None or weights.all():
        return table, weights, 0
    kept = np.flatnonzero(weights)
    names = ("y", "sums", "votes", "lower", "upper", "totals")
    given = {name: getattr(table, name) for name in names}
    parts = {name: None if values is None else values[kept] for name, values in given.items()}
    parts["groups"] = {labels: sums[kept] for labels, sums in table.groups.items()}
    rows = kept if table.rows is None else table.rows[kept]
    features = table.features.iloc[kept].reset_index(drop=True)
    counted = replace(table, **parts, features=features, rows=rows)
    return counted, weights[kept] / weights[kept].mean(), len(weights) - len(kept)


def votes_of(table) -> np.ndarray:
    """Return the number of votes of each row of a table of counts."""
    if table.votes is None:
        raise ValueError(
            f"--votes needs counts, but the shares are read as {_KINDS[table.scale]}; give a "
            "table of counts, or weigh rows by a column with --weight."
        )
    return table.votes


_KINDS = {"fraction": "fractions", "percent": "percentages"}


def weights_notes(name, n_left_out, weights, votes) -> list[str]:
    """Return sentences about rows that count more than others.

    `weights` are those of some rows that were learned from, and `votes` their votes or None.
    """
    notes = []
    if name is not None:
        notes.append(f"Rows count by their weights in column {name!r}.")
    if n_left_out:
        rows = "1 row has" if n_left_out == 1 else f"{n_left_out:,} rows have"
        notes.append(f"{rows} the weight 0 and did not count.")
    if votes is not None:
        least, most = int(votes.argmin()), int(votes.argmax())
        ratio = weights[most] / weights[least] if weights[least] > 0 else np.inf
        told = "Rows count by their votes"
        if votes[most] > votes[least] and name is None and np.isfinite(ratio):
            told += f": one of {votes[most]:,.0f} counts {ratio:.2g} times as much as one of "
            told += f"{votes[least]:,.0f}"
        notes.append(f"{told}.")
    return notes


def group_numbers(groups, n) -> np.ndarray:
    """Return the number of the group of each row; refuse rows without one."""
    groups = np.asarray(groups, dtype=object)
    if groups.shape != (n,):
        raise ValueError(f"groups must name one group for each of {n} rows, got {groups.shape}.")
    empty = np.flatnonzero(pd.isna(groups))
    if empty.size:
        raise ValueError(f"Row {empty[0]} has no group; name one for each row.")
    return np.unique(groups.astype(str), return_inverse=True)[1]


def distinct_rows(encoded, degrees) -> np.ndarray | None:
    """Return the first of all equal rows, or None if there are no copies.

    Rows with the same features are copies if nearly all of these have the same degrees, too; else
    they are people who happen to look alike.
    """
    _, alike, counts = np.unique(row_keys(encoded), return_inverse=True, return_counts=True)
    if counts.max() == 1:
        return None
    whole = row_keys(np.column_stack([alike, np.where(np.isnan(degrees), -1, degrees)]))
    _, first, same, copies = np.unique(
        whole, return_index=True, return_inverse=True, return_counts=True
    )
    shared = counts[alike] > 1
    if (copies[same] == counts[alike])[shared].mean() < COPIES:
        return None
    return np.sort(first)


def copies_note(n_copies) -> str:
    """Return a sentence on rows that stand in a table more than once."""
    equal = "equals" if n_copies == 1 else "equal"
    return f"{counted(n_copies, 'row')} {equal} an earlier one and did not count again."


def weights_of_copies(encoded, degrees, weights, once) -> np.ndarray | None:
    """Return the weights of the first of equal rows: those of all their copies together."""
    if weights is None or once is None:
        return weights
    keys = row_keys(np.column_stack([encoded, np.where(np.isnan(degrees), -1, degrees)]))
    which = np.unique(keys, return_inverse=True)[1]
    return np.bincount(which, weights)[which][once]


def means_of_labels(degrees, weights=None, ratios=False) -> np.ndarray:
    """Return the means of the labels, which sum to 1; of `ratios`, those that agree with them."""
    if ratios:
        return PartialRows(degrees, weight=weights).constant_distribution()
    means = mean_degrees(degrees, weights)
    return means / means.sum() if means.sum() > 0 else np.full(len(means), 1 / len(means))


def notes_on_counts(read) -> list[str]:
    """Return a note on the units of a table of counts."""
    whole = "sum" if read.totals is None else "total"
    return [f"Shares are fractions of the {whole} of their row."] if read.scale == "count" else []
