"""Read the rows of a file into memory, all of them or some."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from inldl.tables.table import Piece

FEWEST = 20  # observed degrees of a label in a sample of rows, where there are as many


def gather(file, most_rows=None) -> tuple[Piece, np.ndarray | None]:
    """Return the rows of a file as one piece, and their numbers if only some are kept.

    About `most_rows` are drawn, or all are taken. Memory is taken once: floats go to their place,
    columns of another kind are joined later.
    """
    most, keep = file.source.most_rows(), None
    if most_rows is not None and most_rows < most:
        keep = _Draw(most_rows / most, len(file.labels))
        most = int(most_rows + 10 * most_rows**0.5 + 100)  # more are never drawn by chance
        most += FEWEST * len(file.labels)
    values, floats = np.empty((most, len(file.labels))), np.empty((len(file.features), most))
    columns = dict(zip(file.features, floats, strict=True))
    others: dict[str, list] = {}
    text: dict[str, None] = {}
    rows: list[Any] = []
    done, parts = 0, []
    for piece in file._pieces(file.features, None):
        rows.append(slice(None) if keep is None else keep(piece))
        part = piece.without_features(rows[-1])
        place = slice(done, done + part.size)
        values[place] = part.values
        parts.append(replace(part, values=values[place]))
        text |= dict.fromkeys(name for name in file.features if name not in piece.features)
        if not (others or text) and (piece.features.dtypes == np.float64).all():  # all at once
            floats[:, place], done = piece.features.to_numpy()[rows[-1]].T, place.stop
            continue
        for name, cells in piece.features.items():
            column = columns[name]
            if name in others or cells.dtype != np.float64:
                before = [pd.Series(column[:done])] if done else []
                others.setdefault(name, before).append(cells[rows[-1]])
            else:
                column[place] = cells.to_numpy()[rows[-1]]
        done = place.stop
    numbered = np.flatnonzero(np.concatenate(rows)) if keep and rows else None
    if not (others or text):
        features = pd.DataFrame(floats[:, :done].T, columns=file.features, copy=False)
        return Piece.joined(parts, values[:done], features), numbered
    columns = {name: column[:done] for name, column in columns.items()}
    columns |= {name: pd.concat(cells, ignore_index=True) for name, cells in others.items()}
    columns |= _texts(file.source, list(text), rows)
    return Piece.joined(parts, values[:done], pd.DataFrame(columns)), numbered


def _texts(source, names, rows):
    """Return columns of text, of each piece the rows that are kept."""
    pieces = zip(source.pieces((), names, names), rows, strict=True) if names else ()
    parts = [piece.features[kept] for piece, kept in pieces]
    return dict(pd.concat(parts, ignore_index=True)) if parts else {}


class _Draw:
    """Draw a share of the rows of each piece, the same ones each time.

    The first rows in which a label is observed are taken as well, so that rare labels are seen.
    """

    def __init__(self, share, n_labels):
        self._share, self._lacking = share, [FEWEST] * n_labels

    def __call__(self, piece):
        chosen = np.random.default_rng([0, piece.first]).random(piece.size) < self._share
        for j, lacking in enumerate(self._lacking):
            rows = np.flatnonzero(~np.isnan(piece.values[:, j]))[:lacking]
            chosen[rows] = True
            self._lacking[j] -= len(rows)
        return chosen
