"""Which holes of a table to ask for: those whose answers reduce its expected squared error most.

The errors at the holes of a row are taken as normal, with the covariance S. The expected squared
error of the row is the trace of S. Once hole j is answered, the covariance is S - S_j S_j' / S_jj,
so the answer is worth the sum of S_ij^2 / S_jj over all holes i of the row. After each answer the
other holes of the row are worth less, which keeps a list of questions diverse.
"""

from dataclasses import dataclass

import numpy as np

ASKING_NOISE = 1e-3  # of the mean variance: keeps the inverse of a covariance within bounds
NOTHING = 1e-9  # of the expected squared error of a row, which is rounding
NUMBERS = 4_000_000  # of the covariances that are held at once
EQUAL = 1e-9  # gains that differ by less, relative to the largest, differ by rounding
TINY = float(np.finfo(float).tiny) ** 0.5


@dataclass(frozen=True, eq=False)
class RowErrors:
    """What is known about the errors at the holes of a table."""

    filled: np.ndarray  # (n, C) the table with its holes filled
    # (n, q) the expected root mean squared errors at the holes, 0 elsewhere. There may be more
    # columns than labels: what else is unknown of a row comes last, and nobody asks for it
    spread: np.ndarray
    covariance: np.ndarray  # (q, q) of the errors of whole rows

    def covariances(self, rows) -> np.ndarray:
        """Return the covariances of the errors of some rows, of shape (len(rows), C, C)."""
        n_labels = self.filled.shape[1]
        found = error_covariances(self.spread[rows], self.covariance)
        return np.ascontiguousarray(found[:, :n_labels, :n_labels])

    def blocks(self) -> list[np.ndarray]:
        """Return the numbers of the rows that have errors, in blocks of a bearable size."""
        rows = np.flatnonzero(self.spread.any(axis=1))
        size = max(1, NUMBERS // len(self.covariance) ** 2)
        return [rows[start : start + size] for start in range(0, len(rows), size)]


@dataclass(frozen=True, eq=False)
class Questions:
    """Holes to ask for, in the order of what they are worth for their price."""

    row: np.ndarray  # (m,) where they are
    label: np.ndarray  # (m,)
    # (m,) by how much each answer reduces the expected squared error of the table, summed over its
    # cells, once those before it are known
    gain: np.ndarray
    cost: np.ndarray  # (m,) what each answer costs
    before: float  # the expected squared error of the table, summed over its cells


def choose_questions(
    errors, budget, *, whole_rows=False, first_cost=1.0, more_cost=1.0
) -> Questions:
    """Choose the holes to ask for within a budget.

    The holes of a row are asked for one after another, that which is worth most first. What a
    part of such a path is worth for its price decides when it is its turn, so that a row that is
    dear to open is asked for several holes at once. With `whole_rows`, all holes of a row are
    asked for or none. Prices are those of the first answer in a row and of each further one:
    numbers, or arrays with one for each row.
    """
    n, n_labels = errors.filled.shape
    first, more = (np.broadcast_to(np.asarray(c, float), n) for c in (first_cost, more_cost))
    depth = n_labels if whole_rows else int(_most_cells(budget, first, more, n_labels))
    before, found = 0.0, [np.empty((0, 5))]
    for rows in errors.blocks():
        S = errors.covariances(rows)
        before += float(np.trace(S, axis1=1, axis2=2).sum())
        labels, gains = greedy_paths(S, depth)
        costs = np.repeat(more[rows, None], depth, axis=1)
        costs[:, :1] = first[rows, None]
        worth = _of_whole_rows(gains, costs) if whole_rows else best_slopes(gains, costs)
        at, step = np.nonzero(gains)
        found.append(np.stack([a[at, step] for a in (worth, labels, gains, costs)], axis=1))
        found[-1] = np.insert(found[-1], 1, rows[at], axis=1)
    worth, row, label, gain, cost = np.concatenate(found).T
    order = np.argsort(-worth, kind="stable")  # of equal worth, the earlier row comes first
    row, label, gain, cost = (a[order] for a in (row.astype(int), label.astype(int), gain, cost))
    kept = affordable(row, cost, budget, whole_rows)
    return Questions(row[kept], label[kept], gain[kept], cost[kept], before)


def _most_cells(budget, first, more, n_labels):
    """Return how many holes of one row the budget is enough for."""
    if not len(first) or budget < first.min():
        return 0
    return np.clip(1 + (budget - first.min()) / np.maximum(more.min(), TINY), 1, n_labels)


def error_covariances(spread, covariance) -> np.ndarray:
    """Return the covariances of the errors at the holes of rows, of shape (n, C, C).

    With B the `covariance` of the errors of whole rows before it is known that they sum to 0, and
    R the correlations that it leaves at the m holes once the other degrees are known, the spreads
    s, 0 where a degree is known, give T_ij = s_i s_j R_ij. That the errors sum to 0 is one more
    thing to know:

        S = f * (T - T 1 1' T / (1' T 1))

    The factor f makes up for what the sum takes away if all spreads of the row are the same, which
    for unrelated errors is m / (m - 1). Where the spreads contradict the sum, as a large and a
    small one of two holes do, the small one counts.
    """
    patterns, which = np.unique(spread > 0, axis=0, return_inverse=True)
    R, m, which = _correlations(patterns, covariance), patterns.sum(axis=1), which.ravel()
    left = np.trace(_of_sum_0(R.copy()), axis1=1, axis2=2)
    factor = np.where(m > 1, m / np.maximum(left, NOTHING), 0)
    S = R[which] * spread[:, :, None]
    S *= (spread * factor[which, None])[:, None, :]
    return _of_sum_0(S)


def _of_sum_0(S):
    """Return covariances once it is known that the sums are 0; they are written over."""
    sums = S.sum(axis=2)
    total = np.maximum(sums.sum(axis=1), TINY)
    S -= sums[:, :, None] * (sums / total[:, None])[:, None, :]
    return S


def _correlations(patterns, covariance):
    """Return the correlations at the holes of each pattern once the other degrees are known.

    The covariance is that of errors that sum to 0. For unrelated errors of one size it is that of
    independent ones, v I, minus v / C, which is added again.
    """
    C = len(covariance)
    v = np.trace(covariance) / max(C - 1, 1) + TINY
    free = covariance / v + 1 / C + ASKING_NOISE * np.eye(C)
    precision = np.linalg.inv(free)
    both = patterns[:, :, None] & patterns[:, None, :]
    K = np.linalg.inv(np.where(both, precision, np.eye(C)))
    scale = np.sqrt(np.einsum("nii->ni", K))
    return np.where(both, K / (scale[:, :, None] * scale[:, None, :]), 0)


def greedy_paths(S, depth) -> tuple[np.ndarray, np.ndarray]:
    """Ask for `depth` holes of each row one after another, that which is worth most first.

    Returns their labels in this order, and by how much each reduces the expected squared error: 0
    once nothing is left. The covariances `S` of shape (n, C, C) are changed.
    """
    n = len(S)
    labels, gains = np.zeros((n, depth), int), np.zeros((n, depth))
    rows, least = np.arange(n), NOTHING * np.trace(S, axis1=1, axis2=2)
    for step in range(depth):
        worth = worths(S, least)
        most = worth.max(axis=1, keepdims=True)
        best = (worth >= (1 - EQUAL) * most).argmax(axis=1)  # of equal ones the first
        labels[:, step], gains[:, step] = best, worth[rows, best]
        column = S[rows, :, best]
        variance = np.where(gains[:, step] > 0, column[rows, best], np.inf)
        S -= column[:, :, None] * (column / variance[:, None])[:, None, :]
    return labels, gains


def worths(S, least=0.0) -> np.ndarray:
    """Return what the answer at each hole is worth: the sum of S_ij^2 / S_jj over i.

    Holes whose variance is at most `least` are known but for rounding, and worth nothing.
    """
    variance = np.einsum("nii->ni", S)
    known = variance <= np.reshape(least, (-1, 1)) + TINY
    return np.einsum("nij,nij->nj", S, S) / np.where(known, np.inf, variance)


def best_slopes(gains, costs) -> np.ndarray:
    """Return what each step of a path is worth for its price, as part of the best stretch of it.

    A stretch from step i to j gains g_i + ... + g_j for c_i + ... + c_j. Those with the largest
    such ratios, the first of them first, are the sides of the least concave curve above the path:

        worth_k = min over i <= k of max over j >= k of (g_i + ... + g_j) / (c_i + ... + c_j)

    It never rises along a path, so that no step comes before the one that it follows.
    """
    worth = np.full(gains.shape, np.inf)
    for start in range(gains.shape[1]):
        gained, spent = (np.cumsum(a[:, start:], axis=1) for a in (gains, costs))
        ratio = gained / np.maximum(spent, TINY)
        best = np.maximum.accumulate(ratio[:, ::-1], axis=1)[:, ::-1]
        worth[:, start:] = np.minimum(worth[:, start:], best)
    return worth


def _of_whole_rows(gains, costs):
    """Return what whole paths are worth for their price, for each of their steps."""
    spent = np.where(gains > 0, costs, 0).sum(axis=1, keepdims=True)
    worth = gains.sum(axis=1, keepdims=True) / np.maximum(spent, TINY)
    return np.broadcast_to(worth, gains.shape)


def affordable(row, cost, budget, whole_rows=False) -> np.ndarray:
    """Return which questions fit into a budget, the first ones first.

    What is too dear is left out, and so is all that follows it in its row; cheaper questions
    further down may still fit. With `whole_rows`, the questions of a row stand together, and are
    taken together.
    """
    starts = np.arange(len(row))
    if whole_rows:
        starts = np.flatnonzero(np.append(True, row[1:] != row[:-1])[: len(row)])
    prices = np.add.reduceat(cost, starts) if len(row) else cost
    left, dear, fits = budget * (1 + 1e-12), set(), []  # sums of prices are rounded
    for where, price in zip(row[starts].tolist(), prices.tolist(), strict=True):
        fits.append(price <= left and where not in dear)
        if fits[-1]:
            left -= price
        else:
            dear.add(where)
    return np.repeat(np.array(fits, bool), np.diff(np.append(starts, len(row))))
