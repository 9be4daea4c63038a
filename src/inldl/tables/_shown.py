"""Some rows of a table for a picture, evenly drawn from all."""

import numpy as np
import pandas as pd

from inldl.tables._cell_values import level_name
from inldl.tables.columns import ID, NEARLY_ID, RUNNING

SHOWN = 48  # rows of a picture


def id_columns(file, model):
    """Return the columns that name the rows of a file, if there are some.

    They are those that the user says, else the first that the model has left out as an id. An id
    of several columns of a long table consists of features, but names the rows as well.
    """
    keys = getattr(file.source, "keys", None)
    if file.ids or keys:
        return list(file.ids or keys.id)
    left_out = model.encoder_.dropped_
    found = [
        name
        for choice in (ID, RUNNING, NEARLY_ID)
        for name in file.features
        if left_out.get(name) == choice.reason
    ]
    return found[:1]


class ShownRows:
    """Keep some rows for a picture, evenly drawn from all pieces, in the units of the file."""

    def __init__(self, file, labels, whole, ids=()):
        self._labels, self._whole, self._ids = labels, whole, list(ids)
        self._step = max(1, -(-file.source.most_rows() // SHOWN))
        self._rows = [], []
        self._ends = [], []

    def keep(self, piece, before, after, ends=()):
        """Keep the rows of a piece that are shown, and the `paired_ends` of their intervals."""
        chosen = np.arange(-piece.first % self._step, piece.size, self._step)
        names = self._names(piece, chosen)
        parts = [np.asarray(values) * self._whole for values in (before, after)]
        parts += [pairs[:, side::2] for pairs in ends for side in (0, 1)]
        for kept, values in zip((*self._rows, *self._ends), parts, strict=False):
            kept.append(pd.DataFrame(values[chosen], index=names, columns=self._labels))

    def _names(self, piece, chosen):
        """Return the ids of the rows, and the number of a row that has none."""
        numbers = piece.first + chosen + 1
        if not self._ids:
            return numbers
        texts = id_texts(piece.features.iloc[chosen], self._ids)
        names = [text or f"row {number}" for text, number in zip(texts, numbers, strict=True)]
        return pd.Index(names, name=", ".join(self._ids))

    def frames(self):
        """Return the rows before and after."""
        empty = pd.DataFrame(columns=self._labels, dtype=float)
        return [pd.concat(kept or [empty]) for kept in self._rows]

    def ends(self):
        """Return the lower and the upper ends of the intervals, or nothing without any."""
        return tuple(pd.concat(kept) for kept in self._ends if kept)


def id_texts(features, ids):
    """Return the ids of rows as texts, those of several columns with commas in between."""
    columns = (features[name] for name in ids)
    cells = zip(*columns, strict=True) if ids else [()] * len(features)
    return [", ".join(filter(None, map(_text, row))) for row in cells]


def _text(cell):
    if pd.isna(cell):
        return ""
    return level_name(cell) if isinstance(cell, float) else str(cell).strip()
