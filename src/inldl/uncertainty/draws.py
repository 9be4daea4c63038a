"""Draw completed rows at random, as far from each other as completing is unsure of them.

A draw lies about the completed row. It is moved by an error that all rows have in common and by
one of its own, and projected onto what is possible.
"""

import numpy as np

from inldl.solvers.gaussian import given_observed
from inldl.uncertainty.joint_normal import NormalRows

TRIALS = 16  # pairs of errors on which moves and scales are fitted
FIT_STEPS = 10  # of the fit
LEAST_SCALE_OF_ERRORS, MOST_SCALE_OF_ERRORS = 0.5, 4.0  # scale of a row's errors
SOME = 20  # turns that tell how much they vary
NUMBERS = 4_000_000  # that are held at once
TINY = float(np.finfo(float).tiny) ** 0.5


class Learned:
    """What could have been learned about a table, drawn at random; the same for all its rows.

    `chain` draws it `n_draws` times. `weight` is that of what is expected of normal rows; the rest
    is that of what was filled in.
    """

    def __init__(self, chain, n_draws, generator):
        self._chain, self.n_draws, self.weight = chain, n_draws, 0.0
        turns = chain.draw(n_draws, generator)
        self._mean = NormalRows.mean(turns)
        self._drawn, self._some = (_last(turns, n) for n in (n_draws, SOME))

    def weigh(self, told, refilled) -> None:
        """Weigh what is expected by degrees that were hidden and filled again.

        Among the numbers between what was filled in and what is expected, those of the weight
        are nearest to the degrees. What is expected was learned from these degrees too, and
        seems nearer by as much as it varies with what could have been learned (Mallows' C_p).
        """
        known, at = self._chain.known(told), (np.arange(len(told)), refilled.label)
        expected = self._mean.expected(refilled.left, known)[at]
        drawn = [rows.expected(refilled.left, known)[at] for rows in self._some]
        variance = np.mean((np.array(drawn) - expected) ** 2, axis=0)
        apart = expected - refilled.filled
        gain = refilled.weights @ (apart * (refilled.degrees - refilled.filled) - variance)
        self.weight = float(np.clip(gain / max(refilled.weights @ apart**2, TINY), 0, 1))

    def around(self, y, told, filled, generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where draws of rows lie, the errors they have in common, and their own.

        Of all rows are known y, NaN = unobserved, what else is told, and what was filled in.
        """
        known, holes = self._chain.known(told), np.isnan(y)
        expected = self._mean.expected(y, known)
        shared, errors = np.empty((2, self.n_draws, *y.shape))
        for i, rows in enumerate(self._drawn):
            shared[i] = (rows.expected(y, known) - expected) * self._chain.share
            errors[i] = own_errors(y, rows, 1, generator)[0]
        errors = np.concatenate([own_errors(y, self._mean, TRIALS, generator), errors])
        variance = given_observed(y, known @ self._mean.coef, self._mean.covariance)[1]
        errors /= np.sqrt(np.maximum((variance * holes).sum(axis=1, keepdims=True), TINY))
        return filled + self.weight * (expected - filled), shared, errors


def _last(turns, n):
    """Return the last of each of n stretches; what comes first has most to do with the start."""
    every = len(turns) // n
    return turns[every - 1 :: every]


def own_errors(y, rows, n_draws, generator) -> np.ndarray:
    """Draw the errors of the holes of rows, given that the other degrees have none.

    A normal vector minus what is expected of it once its observed part is known has just the
    covariance that is left at the holes. The draws have the shape (n_draws, n, n_labels).
    """
    errors = rows.errors(n_draws * len(y), generator)
    none = np.tile(np.where(np.isnan(y), np.nan, 0.0), (n_draws, 1))
    found = given_observed(none, errors, rows.covariance)[0]
    return np.where(np.isnan(none), found, 0).reshape(n_draws, *y.shape)


def draw_rows(rows, centre, shared, errors, spread) -> np.ndarray:
    """Return draws of rows that leave something to two holes at least, (n_draws, n, C).

    `centre` (n, C), once projected onto what is possible, is the mean of the draws. `shared`
    (n_draws, n, C) are errors that rows have in common, `errors` (TRIALS + n_draws, n, C) their
    own, whose variances sum to 1 in each row. The squares of `spread` (n, C) sum to the variance
    of a row's draws, as far as degrees that are not negative can have it, unless errors in common
    have more.
    """
    mean, spread = rows.project(centre), np.where(rows.holes, spread, 0)
    errors, spread = _together(errors, shared * rows.holes, spread)
    errors = _of_sum_0(errors, spread)
    trials, errors = errors[:TRIALS], errors[TRIALS:]
    move, scale = _fitted(rows, mean, spread, np.concatenate([trials, -trials]))
    return _projected(_repeated(rows, len(errors)), mean + move + scale * errors)


def _together(errors, shared, spread):
    """Return own errors plus errors in common, and the spread of their sums.

    The variances of a row sum to those of its spread. Errors in common that have more belong to a
    row far from all others. What is expected of it is hardly known, but a linear model overstates
    that, and the spread understates it, as few degrees that were hidden are in such rows: the
    geometric mean is taken.
    """
    whole, common = (spread**2).sum(axis=1), (shared**2).mean(axis=0).sum(axis=1)
    wider = np.sqrt(np.maximum(common / np.maximum(whole, TINY), 1))[:, None]
    own = np.sqrt(np.maximum(whole - common, 0))[:, None] * errors
    shared = (shared / np.sqrt(wider))[np.arange(-TRIALS, len(shared)) % len(shared)]
    return own + shared, spread * np.sqrt(wider)


def _of_sum_0(errors, spread):
    """Return errors whose rows sum to 0; what they lack goes to labels that vary most."""
    share = spread**2 / np.maximum((spread**2).sum(axis=1, keepdims=True), TINY)
    return errors - share * errors.sum(axis=2, keepdims=True)


def _fitted(rows, mean, spread, errors):
    """Return a move of each degree, and a scale of the errors of each row.

    Projecting onto degrees that are not negative raises the small ones and cuts errors short.
    With move and scale the projected trials have the mean and the total variance that they should.
    """
    possible = mean * np.maximum(rows.possible[1] - mean, 0)  # of a degree between 0 and the most
    target = np.minimum(spread**2, possible).sum(axis=1)
    chance = (errors**2).mean(axis=0).sum(axis=1) / np.maximum((spread**2).sum(axis=1), TINY)
    target *= chance  # as much more or less than the trials happen to vary before they are cut
    move, scale = np.zeros(mean.shape), np.ones((len(mean), 1))
    repeated = _repeated(rows, len(errors))
    for _ in range(FIT_STEPS):
        draws = _projected(repeated, mean + move + scale * errors)
        variance = ((draws - mean) ** 2).mean(axis=0).sum(axis=1)
        ratio = np.sqrt((target + TINY) / (variance + TINY))[:, None]
        move += np.where(rows.holes, mean - draws.mean(axis=0), 0)
        scale = np.clip(scale * ratio, LEAST_SCALE_OF_ERRORS, MOST_SCALE_OF_ERRORS)
    return move, scale


def _repeated(rows, n_draws):
    """Return the rows as often as there are draws."""
    return rows.take(np.tile(np.arange(len(rows)), n_draws))


def _projected(repeated, draws):
    """Return draws (n_draws, n, C) projected onto what rows, repeated as often, allow."""
    return repeated.project(draws.reshape(repeated.y.shape)).reshape(draws.shape)
