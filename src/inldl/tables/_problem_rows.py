"""Rows of degrees that cannot be distributions."""

from dataclasses import dataclass

import numpy as np

from inldl._validation import is_off, sum_tolerance

SHOWN = 5


@dataclass(frozen=True)
class Problem:
    """Rows that share a problem.

    Attributes
    ----------
    what : str
        The problem: "a share below 0".
    advice : str
        What to do about it.
    severe : bool
        Whether such rows cannot be distributions at all.
    n_rows : int
        How many there are.
    examples : tuple of str
        The first few in words, such as "Line 7 (sum 1.2)".
    """

    what: str
    advice: str
    severe: bool
    n_rows: int
    examples: tuple


def find_problems(y, where, whole=1.0):
    """Return the problems that rows have, worst first, and which rows have no severe one.

    A row counts for its first problem only.

    Parameters
    ----------
    y : ndarray of shape (n, C)
        Any numbers, NaN = unobserved.
    where : callable
        Turns the number of a row into words.
    whole : float
        What rows sum to in the units of the table.

    Returns
    -------
    problems : list of Problem
    valid : ndarray of bool of shape (n,)
    """
    valid, free, problems = np.ones(len(y), bool), np.ones(len(y), bool), []
    for what, advice, severe, rows, numbers in _checks(y, f"{whole:g}"):
        rows = rows & free
        if rows.any():
            first = np.flatnonzero(rows)[:SHOWN]
            examples = tuple(f"{where(int(i))}{_in_brackets(numbers, i, whole)}" for i in first)
            problems.append(Problem(what, advice, severe, int(rows.sum()), examples))
            free &= ~rows
            valid &= ~(rows & severe)
    return problems, valid


def _checks(y, whole):
    """Yield each problem, the rows that have it, and a number that shows it."""
    tolerance, holes = sum_tolerance(y.dtype), np.isnan(y)
    n_seen = y.shape[1] - holes.sum(axis=1)
    with np.errstate(invalid="ignore"):  # inf - inf
        sums = np.where(holes, 0, y).sum(axis=1)
    smallest, largest = np.fmin.reduce(y, axis=1), np.fmax.reduce(y, axis=1)
    correct = "correct the numbers, or empty cells that are unknown"
    yield "a share below 0", correct, True, smallest < 0, ("share", smallest)
    above = largest > 1 + tolerance
    yield f"a share above {whole}", correct, True, above, ("share", largest)
    over = (n_seen < y.shape[1]) & (is_off(sums - 1, y))
    yield f"known shares that sum to more than {whole}", correct, True, over, ("sum", sums)
    off = (n_seen == y.shape[1]) & is_off(np.abs(sums - 1), y)
    divide = "correct the numbers, or divide each such row by its sum (normalize)"
    yield f"a sum other than {whole}", divide, True, off, ("sum", sums)
    nothing = "such a row can be predicted from its features, but little is learned from it"
    yield "no known share", nothing, False, n_seen == 0, None


def _in_brackets(numbers, row, whole):
    return "" if numbers is None else f" ({numbers[0]} {whole * numbers[1][row]:.6g})"
