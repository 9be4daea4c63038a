"""What is made of rows by a completer that has learned: fills, intervals, draws, errors."""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import norm

from inldl.completion.asking import RowErrors
from inldl.rows.density import FILL_ROWS, GammaDegrees
from inldl.rows.grid import Tail, rank_correlation
from inldl.rows.missingness import fill_top_k, most_errors, top_k_rows
from inldl.rows.partial import PartialRows, add_slack
from inldl.solvers.gaussian import DrawScale, error_covariance
from inldl.uncertainty.conformal import error_features
from inldl.uncertainty.draws import NUMBERS, TRIALS, JointNormal, Learned, covariates, draw_rows

FEWEST_FOR_DRAWS = 100  # degrees that are needed to weigh the centre of draws
WIDTH = 0.9  # the coverage of intervals whose widths tell the sizes of errors
BLOCK = 1 << 14  # rows that are filled at once


class FillsRows:
    """Fill the holes of rows with what a completer has learned, which states its attributes."""

    members_: Any
    weights_: dict[str, float]
    errors_: Any
    top_k_: GammaDegrees | None
    limited_: bool
    _rows: Any  # that were learned from, with their predictions, limits and hidden degrees
    _predicted: np.ndarray
    _limits: PartialRows
    _refilled: Any
    _lack: float | None  # what rows of loose sums lack to 1, on average
    _whole: float

    def _opened(self, rows, predicted):
        """Return rows in double precision, and predictions; with one more label for loose sums."""
        rows = replace(rows, y=rows.y.astype(np.float64, copy=False))
        if self._lack is None:
            return rows, predicted
        return rows.with_slack(self._whole), add_slack(predicted * (1 - self._lack))

    def _closed(self, rows, tables):
        """Return tables without that label, and with the given degrees to the bit, in place."""
        tables = tables[..., : self._n_labels]
        np.multiply(tables, self._whole, out=tables)
        np.copyto(tables, rows.y, where=~rows.holes)
        return tables

    def most_errors(self, y, filled) -> np.ndarray:
        """Return the largest sum of absolute errors that the holes of each row can have."""
        if self._lack is not None:
            y, filled = (add_slack(table / self._whole) for table in (y, filled))
        return most_errors(self._with_bounds(PartialRows(y)), filled) * self._whole

    def _with_bounds(self, rows):
        """Return rows whose holes are at most the recorded degrees, if these are the largest."""
        return rows if self.top_k_ is None else top_k_rows(rows.y)

    @cached_property
    def limited_degrees_(self) -> GammaDegrees:
        """Return how degrees vary around what is expected of them."""
        y, found, tail = self._rows.y, self._refilled, None
        if found is not None:
            around = found.filled, found.degrees, found.label
        else:
            row, label = np.nonzero(~np.isnan(y))
            around = self._predicted[row, label], y[row, label], label
        if self.limited_:
            expected = self._filled(self._limits, self._predicted)[0]
            tail = Tail.learn(self._limits, expected, rank_correlation(*around))
        return GammaDegrees.of_errors(*around, y.shape[1], tail)

    def fill(self, rows, predicted) -> np.ndarray:
        """Return the rows with their holes filled.

        Parameters
        ----------
        rows, predicted : PartialRows, ndarray of shape (n, n_labels)
            The rows, and predictions; those made without the rows, if these were learned from.
        """

        def complete(some, predicted, _):
            return self._filled(some, predicted)[0]

        within = self.limited_degrees_.fill_around
        return self._closed(rows, self._tables(rows, predicted, 1, complete, within)[0])

    def fill_with_intervals(self, rows, predicted, coverage, joint=False) -> np.ndarray:
        """Return the rows with their holes filled, and the ends of intervals.

        If `joint`, a share `coverage` of the rows has all its holes in their intervals.
        """

        def complete(some, predicted, _):
            filled, about = self._filled(some, predicted)
            ends, each = np.empty((2, *filled.shape)), coverage_of_holes(some, coverage, joint)
            for level in np.unique(each):
                at = np.flatnonzero(each == level)
                ends[:, at] = self._ends(some.take(at), filled[at], about[at], level)
            return filled, *ends

        def within(*tables):
            each = coverage_of_holes(tables[-1], coverage, joint)
            return self.limited_degrees_.intervals(*tables, coverage=each[:, None])

        return self._closed(rows, self._tables(rows, predicted, 3, complete, within))

    def _tables(self, rows, predicted, n_tables, complete, within, at_once=BLOCK):
        """Return so many tables of rows, of shape (n_tables, n, n_labels).

        `complete(rows, predicted, start)` makes them of a block of rows, without their limits, and
        `within(*tables, rows)` makes others of those that have limits.
        """
        rows, predicted = self._opened(rows, predicted)
        tables = np.empty((n_tables, *rows.y.shape))
        for at, block in rows.blocks(at_once):
            tables[:, at] = complete(block, predicted[at], at.start)
        limited = rows.limited_rows
        for some in np.split(limited, range(FILL_ROWS, len(limited), FILL_ROWS)):
            if len(some):
                tables[:, some] = within(*tables[:, some], rows.take(some))
        return tables

    def _ends(self, rows, filled, about, coverage):
        """Return the ends of the intervals of completed rows, as far as their sums allow."""
        most = self._with_bounds(rows.unconstrained()).possible[1]
        reach = np.where(rows.open_holes, self._reach(rows, about, coverage), 0)
        upper = np.maximum(np.minimum(filled + reach, most), filled)
        return np.maximum(filled - reach, 0), upper

    def row_errors(self, rows, predicted) -> RowErrors:
        """Return what is known about the errors at the holes of rows, a `RowErrors`.

        Their sizes are geometric means of spreads and of what widths of intervals say.
        """

        def complete(some, predicted, _):
            filled, about = self._filled(some, predicted)
            low, high = self._ends(some, filled, about, WIDTH)
            return filled, self._reach(some, about), high - low

        def within(filled, spread, width, limited):
            return self.limited_degrees_.fill_around(filled, limited), spread, width

        filled, spread, width = self._tables(rows, predicted, 3, complete, within)
        opened, _ = self._opened(rows, predicted)
        spread = np.where(np.isnan(opened.forced()), spread, 0)
        spread = np.sqrt(spread * width / (2 * norm.ppf((1 + WIDTH) / 2)))
        if opened.constrained:
            low, high = opened.possible
            spread = np.minimum(spread, (high - low) / np.sqrt(12))  # as if all were as probable
        covariance = error_covariance(self._rows.y - self.members_.predicted)
        return RowErrors(self._closed(rows, filled), spread * self._whole, covariance)

    def draw(self, rows, predicted, n_draws, seed, first=0) -> np.ndarray:
        """Return completed tables that differ from each other as far as their holes are unsure.

        Parameters
        ----------
        rows, predicted
            As for `fill`.
        n_draws, seed : int
            The number of tables, and the seed of the random numbers.
        first : int, default=0
            The number of the first row, if these are some rows of a table.

        Returns an array of shape (n_draws, n, n_labels).
        """

        def complete(some, predicted, start):
            generator = np.random.default_rng([seed, 1, first + start])
            return self._drawn(some, predicted, n_draws, seed, generator)

        def within(filled, *others):
            draws = self.limited_degrees_.draw(filled, others[-1], n_draws, of_limited)
            return filled, *draws

        of_limited = np.random.default_rng([seed, 2, first])
        at_once = NUMBERS // ((2 * TRIALS + n_draws) * self._rows.y.shape[1])
        about = 1 + n_draws, complete, within, min(BLOCK, max(1, at_once))
        return self._closed(rows, self._tables(rows, predicted, *about)[1:])

    def _could_learn(self, n_draws, seed):
        """Return what could have been learned: the same for all pieces of a table."""
        if (n_draws, seed) not in self._learned:
            rows, known = self._rows, covariates(self._rows, self._predicted)
            normal = self.members_.members[self.members_.names.index("normal")]
            start = normal.fill(rows, self.members_.predicted)[0]
            chain = JointNormal(rows.y, known, start, DrawScale(rows.y))
            learned = Learned(chain, n_draws, np.random.default_rng([seed, 0]))
            judged = self._refilled
            if self.top_k_ is None and judged is not None and len(judged.row) >= FEWEST_FOR_DRAWS:
                learned.weigh(known[judged.row], judged)
            self._learned = {(n_draws, seed): learned}
        return self._learned[n_draws, seed]

    def _drawn(self, rows, predicted, n_draws, seed, generator):
        """Return filled rows, and draws: by what all rows share, and by chance of their own."""
        filled, about = self._filled(rows, predicted)
        out = np.repeat(filled[None], 1 + n_draws, axis=0)
        unsure = np.isnan(rows.forced()).any(axis=1)
        if unsure.any():
            known = covariates(rows, predicted)[unsure]
            rows, filled = rows.unconstrained().take(unsure), filled[unsure]
            spread, learned = self._reach(rows, about[unsure]), self._could_learn(n_draws, seed)
            around = learned.around(rows.y, known, filled, generator)
            about = learned.scale, *around, spread
            out[1:, unsure] = draw_rows(self._with_bounds(rows), *about)
        return out

    def _reach(self, rows, about, coverage=None):
        """Return how far degrees may be from what is filled in, see `ErrorModel.reach`."""
        reach = self.errors_.reach(rows, about, coverage)
        if self.top_k_ is None:
            return reach
        normal = 1.0 if coverage is None else norm.ppf((1 + coverage) / 2)
        return np.maximum(reach, normal * fill_top_k(self.top_k_, top_k_rows(rows.y))[1])

    def _filled(self, rows, predicted):
        """Return completed rows, without their constraints, and what tells the sizes of errors."""
        rows = rows.unconstrained()
        fills, variance = self.members_.fills(rows, predicted)
        filled = self.members_.mixed(list(self.weights_.values()), rows, fills)
        if self._as_predicted:  # members make rows worse of which nothing is known
            empty = rows.holes.all(axis=1)
            filled[empty] = rows.take(empty).project(predicted[empty])
        if self.top_k_ is not None:
            filled = fill_top_k(self.top_k_, top_k_rows(rows.y))[0]
        return filled, error_features(rows, filled, variance, fills)


def coverage_of_holes(rows, coverage, joint) -> np.ndarray:
    """Return the coverage of each hole with which all of a row have `coverage`, if `joint`.

    Errors of m holes sum to 0, so m - 1 of them are taken as independent.
    """
    free = np.maximum(rows.open_holes.sum(axis=1) - 1, 1) if joint else np.ones(len(rows))
    return coverage ** (1 / free)
