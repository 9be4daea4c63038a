"""What is written at the holes of a table: degrees in the units of the file, rounded."""

import numpy as np

from inldl.rows.checks import sum_tolerance
from inldl.tables.numbers import DECIMALS

_UNIT = 10.0**6  # of a filled degree; the largest of a row takes the rest, with more decimals
_NEAR = 1e-6  # of a whole number


class Fills:
    """What to write at the holes of some rows, NaN elsewhere.

    Each row then sums to the whole, or to the sum of the completed one if that is another. `y` and
    `completed` are fractions; the `whole` of each row, and limits, are in the units of the file.
    """

    def __init__(self, y, completed, whole, limits=None):
        self._holes, whole = np.isnan(y), np.broadcast_to(whole, len(y))[:, None]
        filled = np.where(self._holes, np.clip(completed, 0, 1), y)
        totals = filled.sum(axis=1)
        totals = np.where(np.abs(totals - 1) <= 2 * sum_tolerance(completed.dtype), 1, totals)
        self._wanted = np.where(self._holes, filled, 0).astype(np.float64) * whole
        self._left = (totals - np.nansum(y, axis=1)) * whole[:, 0]
        self._known = np.where(self._holes, 0, y) * whole
        self._lower, self._upper = np.zeros(y.shape), np.full(y.shape, np.inf)
        self._groups = {} if limits is None else limits.groups
        if limits is not None:
            self._lower = np.where(np.isnan(limits.lower), 0, limits.lower)
            self._upper = np.where(np.isnan(limits.upper), np.inf, limits.upper)

    def rounded(self):
        """Return degrees of up to six decimals; the largest one takes the rest."""
        return self._in_parts(_rounded)

    def whole(self, where):
        """Return whole numbers, those with the largest remainders rounded up.

        Rows in which this cannot be are refused; `where` turns a row into words.
        """
        fills = self._in_parts(_largest_remainders)
        sums, holes = np.nansum(fills, axis=1), self._holes.any(axis=1)
        bad = holes & (np.abs(sums - self._left) > _NEAR * np.maximum(1, self._left))
        if bad.any():
            raise ValueError(
                f"{where(int(np.argmax(bad)))}: no whole numbers fit the total, the known counts "
                "and the bounds of this row; correct them, or leave out whole=True (--whole)."
            )
        return fills

    def _in_parts(self, fill):
        """Fill the holes of each group of labels whose sum is known, then the others."""
        out, rest, left = np.full(self._holes.shape, np.nan), self._holes.copy(), self._left.copy()
        if not rest.any():
            return out
        for columns, sums in self._groups.items():
            part = np.zeros(rest.shape, bool)
            part[:, columns] = rest[:, columns] & ~np.isnan(sums)[:, None]
            lacking = sums - self._known[:, columns].sum(axis=1)
            self._put(fill, part, lacking, out)
            left -= np.where(part.any(axis=1), lacking, 0)
            rest &= ~part
        self._put(fill, rest, left, out)
        return out

    def _put(self, fill, part, left, out):
        """Fill the holes `part`, which have `left` together, into `out`."""
        rows = np.flatnonzero(part.any(axis=1))
        if len(rows):
            ends = self._lower[rows], self._upper[rows]
            found = fill(self._wanted[rows], part[rows], np.maximum(left[rows], 0), *ends)
            out[rows] = np.where(part[rows], found, out[rows])


def _rounded(wanted, holes, left, lower, upper):
    """Return rounded numbers within their bounds that have the sum `left` in each row.

    The one with the most room on both sides takes the rest; without bounds that is the largest.
    """
    rows = np.arange(len(wanted))
    wanted = np.clip(wanted, lower, upper)
    room = np.where(holes, np.minimum(wanted - lower, upper - wanted), -1)
    taker = np.argmax(room, axis=1)
    fills = np.where(holes, np.clip(np.rint(wanted * _UNIT) / _UNIT, lower, upper), 0)
    fills[rows, taker] = 0
    # Many holes rounded up can take more than is left; rounded down they cannot.
    short = left - fills.sum(axis=1) < lower[rows, taker]
    down = np.clip(np.floor(wanted[short] * _UNIT) / _UNIT, lower[short], upper[short])
    fills[short] = np.where(holes[short], down, 0)
    fills[rows, taker] = 0
    rest = np.round(left - fills.sum(axis=1), DECIMALS)
    fills[rows, taker] = np.clip(rest, lower[rows, taker], upper[rows, taker])
    return fills


def _largest_remainders(wanted, holes, left, lower, upper):
    """Return whole numbers near the `wanted` ones, within bounds and with the sum `left`."""
    lower, upper = np.ceil(lower - _NEAR), np.floor(upper + _NEAR)
    fills = np.where(holes, np.clip(np.floor(wanted + _NEAR), lower, upper), 0)
    rows = np.arange(len(wanted))
    while True:
        lacking = np.rint(left - fills.sum(axis=1))
        up = np.where(holes & (fills < upper), wanted - fills, -np.inf)
        down = np.where(holes & (fills > lower), wanted - fills, np.inf)
        best, worst = up.argmax(axis=1), down.argmin(axis=1)
        more = (lacking > 0) & np.isfinite(up[rows, best])
        less = (lacking < 0) & np.isfinite(down[rows, worst])
        if not (more | less).any():
            return fills
        fills[rows[more], best[more]] += 1
        fills[rows[less], worst[less]] -= 1
