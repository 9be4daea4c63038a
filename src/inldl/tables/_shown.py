"""Some rows of a table for a picture, evenly drawn from all."""

import numpy as np
import pandas as pd

SHOWN = 48  # rows of a picture


class ShownRows:
    """Keep some rows for a picture, evenly drawn from all pieces."""

    def __init__(self, file, labels, whole):
        self._labels, self._whole = labels, whole
        self._step = max(1, -(-file.source.most_rows() // SHOWN))
        self._rows = [], []

    def keep(self, piece, before, after):
        """Keep the rows of a piece that are shown."""
        chosen = np.arange(-piece.first % self._step, piece.size, self._step)
        numbers = piece.first + chosen + 1
        for kept, values in zip(self._rows, (before, after), strict=True):
            cells = np.asarray(values)[chosen] * self._whole
            kept.append(pd.DataFrame(cells, index=numbers, columns=self._labels))

    def frames(self):
        """Return the rows before and after."""
        empty = pd.DataFrame(columns=self._labels, dtype=float)
        return [pd.concat(kept or [empty]) for kept in self._rows]
