"""Tables of shares, six kinds of holes, and what a row leaves for its holes."""

import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from inldl.datasets import load

KINDS = ("10%", "30%", "60%", "largest", "censored", "rows")
FIELD = ("SJAFFE", "SBU_3DFE", "Movie", "Yeast_spo", "Yeast_heat")
MOST_LEVELS = 20  # of a column of text; others are left out
FIELD_ROWS, COMPONENTS = 300, 10
FEWEST_SEEN = 3  # positive values of a part; with fewer there is nothing to learn it from
FEWEST_JUDGED = 10  # holes; with fewer a cell compares luck


@dataclass(frozen=True)
class Cell:
    """A table with holes: features, true shares, shares with NaN, and limits of holes or None."""

    table: str
    kind: str
    trial: int
    X: np.ndarray
    truth: np.ndarray
    y: np.ndarray
    upper: np.ndarray | None

    @property
    def key(self):
        """The table, the kind of holes and the trial."""
        return self.table, self.kind, self.trial

    @cached_property
    def holes(self):
        """Which shares are missing."""
        return np.isnan(self.y)

    @cached_property
    def judged(self):
        """Which holes the sum of their row does not give."""
        return self.holes & (self.holes.sum(axis=1) > 1)[:, None]

    @cached_property
    def floor(self):
        """Half of the smallest positive share of each part: what logarithms take for 0."""
        return half_of_smallest(self.truth)

    @cached_property
    def logs(self):
        """Logarithms of the shares with holes, as the peers get them."""
        return np.log(np.where(self.y == 0, half_of_smallest(self.y), self.y))

    @cached_property
    def limits(self):
        """The limit of each part, or None: here all holes of a part have the same."""
        return None if self.upper is None else np.nanmin(self.upper, axis=0, initial=1)

    def close(self, values):
        """Return the shares with holes filled in proportion to values, none above its limit.

        What is neither finite nor positive counts as 0, and what a peer left missing as the mean
        of its part.
        """
        values = np.where(np.isnan(values), np.nanmean(self.y, axis=0), values)
        values = np.where(self.holes, np.clip(values, 0, 1e6), 0)
        values[values.sum(axis=1) == 0] = 1
        values = np.where(self.holes, np.maximum(values, 1e-300), 0)
        rest = np.maximum(1 - np.nansum(self.y, axis=1), 0)
        most = np.ones_like(values) if self.upper is None else self.upper
        most, filled = np.where(self.holes, most, 0), np.zeros_like(values)
        for _ in range(values.shape[1]):  # each pass gives what is left to those below their limit
            free = np.where(filled < most, values, 0)
            left = np.maximum(rest - filled.sum(axis=1), 0)
            share = left / np.maximum(free.sum(axis=1), 1e-300)
            filled = np.minimum(filled + free * share[:, None], most)
        return np.where(self.holes, filled, self.y)


def half_of_smallest(y):
    return 0.5 * np.nanmin(np.where(y > 0, y, np.nan), axis=0)


def seeded(*names):
    return np.random.default_rng([zlib.crc32(str(name).encode()) for name in names])


def encoded(frame):
    """Return numbers and levels of text as standardised columns, without constant ones."""
    text = frame.select_dtypes(exclude="number").columns
    frame = frame.drop(columns=[c for c in text if frame[c].nunique() > MOST_LEVELS])
    if frame.shape[1]:
        frame = pd.get_dummies(frame, drop_first=True)
    X = frame.to_numpy(float)
    X = np.where(np.isnan(X), np.nanmean(X, axis=0) if X.size else 0, X)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0))[:, spread > 0] / spread[spread > 0]


def of_folder(path, most_rows):
    """Return the features of a table and its shares, at most some rows of it."""
    frame = pd.read_csv(path)
    y = frame.filter(regex="^y_").to_numpy(float)
    good = np.flatnonzero(~np.isnan(y).any(axis=1) & (np.nansum(y, axis=1) > 0))
    if len(good) > most_rows:
        good = np.sort(seeded(path.stem).permutation(good)[:most_rows])
    return encoded(frame.filter(regex="^x_").iloc[good]), y[good]


def of_field(name):
    """Return principal components of the features of a set, and its shares."""
    X, y = load(name, return_X_y=True)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    rows = np.sort(seeded(name).permutation(len(y))[:FIELD_ROWS])
    X, y = encoded(pd.DataFrame(X[rows])), np.asarray(y, dtype=float)[rows]
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    return (U * s)[:, :COMPONENTS] / s[0] * np.sqrt(len(X)), y


def tables(folder, field, most_rows):
    """Yield the name of each table, its features, and shares that sum to 1."""
    for path in sorted(Path(folder).glob("*.csv")) if folder else []:
        yield path.stem, *closed(*of_folder(path, most_rows))
    for name in field:
        yield name, *closed(*of_field(name))


def closed(X, y):
    y = y[:, (y > 0).any(axis=0)]
    return X, y / y.sum(axis=1, keepdims=True)


def hide(table, kind, trial, X, truth):
    """Return a cell, or None if some part would be seen too seldom or too few holes be judged.

    Two kinds are without chance; after the first trial they take 80% of the rows.
    """
    rng, upper = seeded(table, kind, trial), None
    n_parts = truth.shape[1]
    if kind in ("largest", "censored") and trial:
        rows = np.sort(rng.permutation(len(truth))[: round(0.8 * len(truth))])
        X, truth = X[rows], truth[rows]
    if kind == "largest":
        order = np.argsort(np.argsort(-truth, axis=1, kind="stable"), axis=1)
        mask = order >= (n_parts + 1) // 2
    elif kind == "censored":
        limit = np.quantile(truth, 0.25, axis=0)
        mask = truth < limit
        upper = np.where(mask, limit, np.nan)
    elif kind == "rows":
        mask = np.zeros(truth.shape, bool)
        mask[rng.permutation(len(truth))[: round(0.3 * len(truth))]] = True
    else:
        mask = rng.random(truth.shape) < float(kind[:-1]) / 100
    cell = Cell(table, kind, trial, X, truth, np.where(mask, np.nan, truth), upper)
    seen = ((~mask) & (truth > 0)).sum(axis=0)
    enough = cell.judged.sum() >= FEWEST_JUDGED and seen.min() >= FEWEST_SEEN
    return cell if enough else None
