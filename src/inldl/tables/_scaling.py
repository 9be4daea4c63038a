"""Bring the numbers of an encoded block of rows to their scale, all columns at once."""

from dataclasses import dataclass

import numpy as np

from inldl.tables._columns import NumberColumn
from inldl.tables._refusals import refuse_infinite

_LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True, eq=False)
class Scaling:
    """Hold the source, the fill, the center and the scale of each encoded column.

    Columns of zeros and ones have a center of 0 and a scale of 1, which changes nothing.
    """

    sources: list[str]
    fills: np.ndarray
    centers: np.ndarray
    scales: np.ndarray

    @classmethod
    def of(cls, columns):
        """Collect what `columns` say."""
        sources, rows = [], []
        for column in columns:
            own = [(0.0, 0.0, 1.0)] * len(column.outputs)
            if isinstance(column, NumberColumn):
                own[0] = (column.fill, column.center, column.scale)
            sources += [column.name] * len(own)
            rows += own
        return cls(sources, *np.array(rows).T)

    def apply(self, block, first_row):
        """Scale a block in place; `first_row` is the position of its first row in the table."""
        if np.isnan(block.max()):
            np.copyto(block, self.fills, where=np.isnan(block))
        largest = max(block.max(), -block.min())
        if np.isinf(largest):
            row, column = np.argwhere(np.isinf(block))[0]
            refuse_infinite(self.sources[column], first_row + int(row))
        with np.errstate(over="ignore"):
            self._scale(block, largest)
        if not np.isfinite(block).all():
            np.clip(block, -_LARGEST, _LARGEST, out=block)

    def _scale(self, block, largest):
        # A difference of two such numbers can be too large, that of their halves cannot.
        huge = max(largest, np.abs(self.centers).max()) > _LARGEST / 2
        if huge:
            block /= 2
        block -= self.centers / 2 if huge else self.centers
        block /= self.scales
        if huge:
            block *= 2
