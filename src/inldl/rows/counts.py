r"""Fill in counts such that all known sums hold, those of rows and those over rows.

A missing count that can have few values k is taken to have the probabilities of a Poisson
distribution between its bounds, :math:`\mu^k e^{hk} / k!`. Here :math:`\mu` is what is expected of
it, and h what its sums demand: it is the same for all counts of a row, plus the same for all
counts that a known sum over rows binds. Other counts lie within their bounds near what is
expected, at a distance of h times their variance. So the filled counts are the most probable ones
in the sense of entropy, and the nearest ones by their variances. Of a label with a known sum over
rows, only the differences between its rows are expected, which are trusted half.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, gammaln, logit

from inldl.rows.aggregates import STEPS, CountGraph
from inldl.rows.grid import TRUSTED_CORRELATION
from inldl.rows.partial import PartialRows

Array = np.ndarray
MOST_VALUES = 33  # that a count can have to be taken as whole
LEAST_EXPECTED = 1e-3
LEAST_KNOWN, RELATIVE = 1e-6, 1e-3  # variances; the latter relative to the mean of all holes
LEAST_OVER = 1e-3  # variance beyond that of a Poisson distribution, relative to that
EDGE, MOST_SLOPE = 1e-6, 10.0
FREE = 100.0  # variance of an unknown sum, relative to that of its counts
FIRST_STEPS = 8  # of Newton's method, before it is known what sums leave no choice
MOST_PRICE = 50.0  # the logarithm of how much more probable a count can be than the next


class _WholeNumbers:
    """Counts that have the probabilities of a negative binomial distribution between bounds."""

    def __init__(self, lower: Array, upper: Array, mean: Array, over: Array):
        most = int(np.ptp([lower, upper], 0).max(initial=0))
        self.values = k = lower[:, None] + np.arange(most + 1)
        over = np.maximum(over, LEAST_OVER)[:, None]
        log = gammaln(k + mean[:, None] / over) - gammaln(k + 1) + k * np.log(over / (1 + over))
        self._log = np.where(k <= upper[:, None], log, -np.inf)
        self.weights = np.empty(k.shape)  # the probabilities at the last prices

    def moments(self, price: Array) -> tuple[Array, Array]:
        """Return means and variances at some prices."""
        log = self._log + np.clip(price, -MOST_PRICE, MOST_PRICE)[:, None] * self.values
        self.weights = np.exp(log - log.max(axis=1, keepdims=True))
        self.weights /= self.weights.sum(axis=1, keepdims=True)
        mean = (self.weights * self.values).sum(axis=1)
        return mean, (self.weights * (self.values - mean[:, None]) ** 2).sum(axis=1)


@dataclass(frozen=True, eq=False)
class _BoundedNumbers:
    """Numbers between bounds that change with prices as logistic curves do."""

    lower: Array
    width: Array
    place: Array  # on the curve, without a price
    slope: Array  # how that changes with the price

    @classmethod
    def of(cls, graph: CountGraph, at: Array, values: Array, variance: Array) -> _BoundedNumbers:
        """Return numbers at some edges near values of the holes; their sums are nearly free."""
        usual = max(float(variance.mean()) if len(variance) else 0.0, LEAST_KNOWN)
        variance = FREE * graph.with_unknown_sums(np.maximum(variance, RELATIVE * usual))
        variance[: graph.n_holes] /= FREE
        lower, width = graph.lower[at], np.maximum((graph.upper - graph.lower)[at], LEAST_KNOWN)
        share = (graph.with_unknown_sums(values)[at] - lower) / width
        share = np.clip(share, EDGE, 1 - EDGE)
        slope = np.maximum(variance[at], LEAST_KNOWN) / (width * share * (1 - share))
        return cls(lower, width, logit(share), np.minimum(slope, MOST_SLOPE))

    def moments(self, price: Array) -> tuple[Array, Array]:
        """Return numbers at some prices, and how they change with these."""
        share = expit(self.place + self.slope * np.clip(price, -MOST_PRICE, MOST_PRICE))
        return self.lower + self.width * share, self.width * share * (1 - share) * self.slope


class FilledCounts:
    """Counts in the holes of rows that have all known sums.

    Parameters
    ----------
    rows : PartialRows
        The rows; they are counts.
    expected, variance : ndarray of shape (n, n_labels)
        What is expected of the degrees without the sums over rows, and the variance of that; of
        whole counts also without bounds.
    """

    def __init__(self, rows: PartialRows, expected: Array, variance: Array):
        assert rows.counts is not None
        self.rows, self.graph = rows, CountGraph.of(rows)
        graph, at = self.graph, (self.graph.row, self.graph.label)
        self._units = rows.counts.total[graph.row]
        self._mean, self._spread = expected[at] * self._units, variance[at] * self._units**2
        start, found = graph.with_unknown_sums(self._mean), False
        self.flow, self.certain = start, np.zeros(len(start), bool)
        if graph.whole and graph.over_rows:  # begin near what is found, or it takes long
            found = self._fill(start, FIRST_STEPS)
            start = graph.rounded(self.flow)
        start = graph.some_flow(start)
        self.certain = graph.certain(start)
        if not found or self.certain.any():
            found = self._fill(start)
            self.flow = self.flow if found else start

    def _fill(self, start: Array, steps: int = STEPS) -> bool:
        """Set the flow near what is expected; say whether it was found."""
        graph, n = self.graph, self.graph.n_holes
        n_values = (graph.upper - graph.lower)[:n] + 1
        self.few = np.flatnonzero(~self.certain[:n] & (n_values <= MOST_VALUES) & graph.whole)
        self._whole = self._whole_numbers(self.few)
        about = self._mean, self._spread, self.few, steps
        self.flow, self.slope, found = self._balanced(start, *about)
        return found

    def _balanced(
        self, start: Array, values: Array, variance: Array, few: Array, steps: int = STEPS
    ) -> tuple[Array, Array, bool]:
        """Return a flow near values of the holes, how it changes with prices, and if it was found.

        What is certain stays as it is at the `start`; `few` are those of few whole values.
        """
        graph, slope = self.graph, np.zeros(len(start))
        rest = ~self.certain
        rest[few] = False
        others = _BoundedNumbers.of(graph, np.flatnonzero(rest), values, variance)

        def response(price: Array) -> tuple[Array, Array]:
            z = start.copy()
            z[rest], slope[rest] = others.moments(price[rest])
            if len(few):
                z[few], slope[few] = self._whole.moments(price[few])
            return z, slope

        flow, found = graph.balanced(response, steps)
        return np.clip(flow, graph.lower, graph.upper), slope, found

    def _whole_numbers(self, few: Array) -> _WholeNumbers:
        """Return how counts of few values are distributed."""
        graph = self.graph
        size = np.log(np.maximum(self._mean[few], LEAST_EXPECTED))
        summed, label = graph.summed[few], graph.label[few]
        n_labels = self.rows.y.shape[1]
        count = np.bincount(label[summed], minlength=n_labels)
        usual = np.bincount(label[summed], size[summed], minlength=n_labels) / np.maximum(count, 1)
        trust = np.where(summed, TRUSTED_CORRELATION, 1.0)
        over = np.where(summed, 0, self._spread[few] / np.exp(size) - 1)
        mean = np.exp(trust * size + (1 - trust) * usual[label])
        return _WholeNumbers(graph.lower[few], graph.upper[few], mean, over)

    def degrees(self, flow: Array | None = None) -> Array:
        """Return the rows with the filled counts, or those of another flow, as degrees."""
        return self._put(self.flow if flow is None else flow, self.rows.y)

    def rounded(self, degrees: Array) -> Array:
        """Return rows whose counts are whole numbers near those of some completed rows."""
        graph = self.graph
        near = degrees[graph.row, graph.label] * self._units
        return self.degrees(graph.rounded(graph.with_unknown_sums(near)))

    def _put(self, numbers: Array, elsewhere: Array) -> Array:
        """Return a table of degrees that has counts at its holes."""
        graph, out = self.graph, elsewhere.astype(np.float64)
        out[graph.row, graph.label] = numbers[: graph.n_holes] / self._units
        return out

    def drawn(self, degrees: Array, generator: np.random.Generator) -> Array:
        """Return rows at random, near degrees that were drawn without the sums over rows."""
        graph, n = self.graph, self.graph.n_holes
        values = degrees[graph.row, graph.label] * self._units
        if len(self.few):
            level = generator.random((len(self.few), 1))
            at = (np.cumsum(self._given_sums, axis=1) < level).sum(axis=1, keepdims=True)
            k = self._whole.values
            values[self.few] = np.take_along_axis(k, np.minimum(at, k.shape[1] - 1), 1)[:, 0]
        about = values, self.slope[:n], np.empty(0, int)
        flow, _, found = self._balanced(self.flow, *about)
        return self.degrees(flow if found else self.graph.some_flow(flow))

    def ranges(self) -> tuple[Array, Array]:
        """Return the smallest and the largest degrees that bounds and sums allow at the holes."""
        nothing = np.full(self.rows.y.shape, np.nan)
        low, high = self.graph.ranges(self.flow, np.arange(self.graph.n_holes))
        return self._put(low, nothing), self._put(high, nothing)

    def are_certain(self) -> Array:
        """Return which degrees have one value only."""
        out = np.zeros(self.rows.y.shape, bool)
        out[self.graph.row, self.graph.label] = self.certain[: self.graph.n_holes]
        return out

    @cached_property
    def _given_sums(self) -> Array:
        """Probabilities of the values of counts of few, once their sums are known.

        The other counts of a sum are taken as normal.
        """
        graph, k = self.graph, self._whole.values
        own = self.slope[self.few]
        weights = np.log(np.maximum(self._whole.weights, LEAST_KNOWN**50))
        off = (k - self.flow[self.few, None]) ** 2 / 2
        for ends in (graph.tail, graph.head):
            at_node = np.bincount(ends, self.slope, minlength=len(graph.supply))
            at_node[-1] = np.inf  # its sum is no sum of counts
            others = at_node[ends[self.few]] - own
            weights = weights - off / np.maximum(others, LEAST_KNOWN)[:, None]
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    def intervals(self, lower: Array, upper: Array, coverage: Array) -> tuple[Array, Array]:
        """Return ends of intervals; `lower` and `upper` are those before sums over rows are known.

        The `coverage` is one of each row.
        """
        graph, n = self.graph, self.graph.n_holes
        at = graph.row, graph.label
        moved = self.flow[:n] - self._mean[:n]
        ends = np.array([end[at] * self._units + moved for end in (lower, upper)])
        if len(self.few):
            level = np.broadcast_to(coverage, len(self.rows))[graph.row[self.few]]
            ends[:, self.few] = shortest_runs(self._whole.values, self._given_sums, level)
        ends = np.clip(ends, graph.lower[:n], graph.upper[:n])
        low, high = np.minimum(ends[0], self.flow[:n]), np.maximum(ends[1], self.flow[:n])
        low, high = (np.where(self.certain[:n], self.flow[:n], end) for end in (low, high))
        nothing = np.full(self.rows.y.shape, np.nan)
        return self._put(low, nothing), self._put(high, nothing)


def shortest_runs(values: Array, weights: Array, coverage: Array) -> tuple[Array, Array]:
    """Return the first and the last of the fewest values in a row that have that probability."""
    below = np.pad(np.cumsum(weights, axis=1), ((0, 0), (1, 0)))
    best, ends = np.full(len(values), -np.inf), np.zeros((2, len(values)), int)
    n = values.shape[1]
    for length in range(1, n + 1):
        within = below[:, length:] - below[:, : n + 1 - length]
        first = within.argmax(axis=1)
        held = within[np.arange(len(values)), first]
        better = best < coverage
        ends[:, better] = first[better], first[better] + length - 1
        best = np.where(better, held, best)
    low, high = (np.take_along_axis(values, end[:, None], 1)[:, 0] for end in ends)
    return low, high
