"""Draw multiple imputations whose spread matches the uncertainty of the completion.

A draw lies about the completed row. On the scale of logarithms, or of roots where a label has
zeros, it is moved by an error that all rows have in common and by one of its own, and then scaled
to what the row leaves.

What rows have in common is drawn by data augmentation [1]_: on that scale degrees are taken as
normal around a linear function of a few covariates, and holes of the table are drawn from a
distribution, and a distribution from the table, in turns.

.. [1] M. A. Tanner and W. H. Wong, "The Calculation of Posterior Distributions by Data
   Augmentation", Journal of the American Statistical Association 82(398), 1987.
"""

from dataclasses import dataclass
from itertools import islice

import numpy as np

from inldl.errors import warn_user
from inldl.rows.density import evenly_spaced
from inldl.solvers.gaussian import ShareScale, given_observed

TRIALS = 16  # pairs of errors on which moves and scales are fitted
FIT_STEPS = 10  # of the fit
MOST_FACTOR = 1.4  # of errors, which closing makes smaller
PRIOR_SIZES = 20  # squared errors of mean size that those of a label are averaged with
MOST_SPREAD_ON_SCALE = 1.5  # of an error on the scale of draws
SOME = 20  # turns that tell how much they vary
NUMBERS = 4_000_000  # that are held at once
TINY = float(np.finfo(float).tiny) ** 0.5
CHAIN_ROWS = 2000  # that are learned from, evenly spread
ROWS_FOR_EACH = 20  # rows for each number that tells the degrees
FIRST, TURNS = 50, 200  # turns that come before any draw, and over which draws are spread
LONGER, MOST_R = 4, 1.3  # stretches that are tried, and how far halves of one may disagree
CHAIN_PRIOR = 0.3  # squared errors of mean size in each direction that are added to the table's
CHAIN_NOISE = 1e-6  # of the mean variance: keeps the inverse of a covariance within bounds
ZERO_ROUNDING = 1e-12  # of a degree of 0 that is scaled
LEAST_DEVIATION = 1e-9  # deviation of a column, or singular value, that is not rounding


class Learned:
    """What could have been learned about a table, drawn at random; the same for all its rows.

    `chain` draws it `n_draws` times. `weight` is that of what is expected of normal rows; the rest
    is that of what was filled in. `sizes` say how large errors are, relative to those of the mean
    distribution.
    """

    def __init__(self, chain, n_draws, generator):
        self._chain, self.n_draws, self.weight, self.sizes = chain, n_draws, 0.0, 1.0
        turns = chain.draw(n_draws, generator)
        self._mean = NormalRows.mean(turns)
        self._drawn, self._some = (_last(turns, n) for n in (n_draws, SOME))

    @property
    def scale(self) -> ShareScale:
        """Return the scale of the draws."""
        return self._chain.scale

    def weigh(self, covariates, refilled) -> None:
        """Weigh what is expected by degrees that were hidden and filled again.

        Among the numbers between what was filled in and what is expected, those of the weight
        are nearest to the degrees. What is expected was learned from these degrees too, and
        seems nearer by as much as it varies with what could have been learned (Mallows' C_p).
        The sizes of errors are learned from the same degrees.
        """
        known, at, scale = self._chain.known(covariates), refilled.at, self._chain.scale
        left, row = scale.of(refilled.left), refilled.left.copy()
        row[at] = refilled.filled
        filled = scale.of(row)[at]
        row[at] = refilled.degrees
        degrees = scale.of(row)[at]
        expected = self._mean.expected(left, known)[at]
        drawn = [rows.expected(left, known)[at] for rows in self._some]
        variance = np.mean((np.array(drawn) - expected) ** 2, axis=0)
        apart, known_size = expected - filled, self._deviations(left, known)[at]
        relative = ((degrees - filled) / np.maximum(known_size, TINY)) ** 2
        label, weights, n_labels = refilled.label, refilled.weights, left.shape[1]
        count, sums = (np.bincount(label, w, n_labels) for w in (weights, weights * relative))
        mean = sums.sum() / max(count.sum(), TINY)
        self.sizes = np.sqrt((sums + PRIOR_SIZES * mean) / (count + PRIOR_SIZES))
        gain = weights @ (apart * (degrees - filled) - variance)
        self.weight = float(np.clip(gain / max(weights @ apart**2, TINY), 0, 1))

    def _deviations(self, y, known):
        """Return the standard deviations that the mean distribution leaves at the holes."""
        mean = known @ self._mean.coef
        return np.sqrt(given_observed(y, mean, self._mean.covariance)[1])

    def around(self, y, covariates, filled, generator) -> tuple[np.ndarray, ...]:
        """Return where draws of rows lie, the errors they have in common, their own, and sizes.

        Of all rows are known y, NaN = unobserved, covariates, and what was filled in. Errors are
        on the scale of the draws; the variance of each of their own is 1, and `sizes` say how
        large they are.
        """
        scale = self._chain.scale
        known, holes, y = self._chain.known(covariates), np.isnan(y), scale.of(y)
        expected, filled = self._mean.expected(y, known), scale.of(filled)
        shared, errors = np.empty((2, self.n_draws, *y.shape))
        for i, rows in enumerate(self._drawn):
            shared[i] = (rows.expected(y, known) - expected) * self._chain.share
            errors[i] = own_errors(y, rows, 1, generator)[0]
        errors = np.concatenate([own_errors(y, self._mean, TRIALS, generator), errors])
        deviations = self._deviations(y, known)
        errors /= np.maximum(deviations, TINY)
        centre = scale.back(filled + self.weight * (expected - filled))
        return centre, shared * holes, errors * holes, deviations * self.sizes


def covariates(rows, predicted) -> np.ndarray:
    """Return the covariates that draws of rows should correlate with."""
    return predicted if rows.features is None else rows.features


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


def draw_rows(rows, scale, centre, shared, errors, sizes, spread) -> np.ndarray:
    """Return draws of rows that leave something to two holes at least, (n_draws, n, C).

    `centre` (n, C), once closed, is the mean of the draws. On the `scale`, `shared`
    (n_draws, n, C) are errors that rows have in common, and `errors` (TRIALS + n_draws, n, C)
    their own, of variance 1. There are two estimates of how far draws vary, whose geometric mean
    is taken: `sizes` (n, C) on the scale, and `spread` (n, C) of the degrees.
    """
    mean = _closed(rows, centre)
    spread, slopes = np.where(rows.holes, spread, 0), scale.slopes(mean)
    both = np.minimum(np.sqrt(sizes * spread * slopes), MOST_SPREAD_ON_SCALE)
    errors, both = _together(errors, shared, both)
    trials, errors = errors[:TRIALS], errors[TRIALS:]
    spread = np.maximum(spread, both / slopes)
    move, factor = _fitted(rows, scale, mean, spread, np.concatenate([trials, -trials]), both)
    values = scale.back(scale.of(mean) + move + factor * errors)
    return _closed(_repeated(rows, len(errors)), values)


def _together(errors, shared, spread):
    """Return own errors plus errors in common, and the spread of their sums, as is wanted.

    Errors in common that have more belong to a row far from all others. What is expected of it is
    hardly known, but a linear model overstates that, and the spread understates it, as few degrees
    that were hidden are in such rows: the geometric mean is taken.
    """
    common = (shared**2).mean(axis=0)
    wider = np.sqrt(np.maximum(common / np.maximum(spread**2, TINY), 1))
    own = np.sqrt(np.maximum(spread**2 - common, 0)) * errors
    shared = (shared / np.sqrt(wider))[np.arange(-TRIALS, len(shared)) % len(shared)]
    return own + shared, spread * np.sqrt(wider)


def _fitted(rows, scale, mean, spread, errors, on_scale):
    """Return a move of each degree, and a factor of the errors of each row, on a scale.

    Errors of logarithms raise the mean, and closing changes it. With move and factor the closed
    trials have the mean and the total variance that they should.
    """
    possible = mean * np.maximum(rows.possible[1] - mean, 0)  # of a degree between 0 and the most
    target = np.minimum(spread**2, possible).sum(axis=1)
    # as much more or less than the trials happen to vary before they are closed
    expected, by_chance = ((s / scale.slopes(mean)) ** 2 for s in (on_scale, errors))
    target *= by_chance.mean(axis=0).sum(axis=1) / np.maximum(expected.sum(axis=1), TINY)
    move, factor, start = np.zeros(mean.shape), np.ones((len(mean), 1)), scale.of(mean)
    repeated = _repeated(rows, len(errors))
    for _ in range(FIT_STEPS):
        draws = _closed(repeated, scale.back(start + move + factor * errors))
        variance = ((draws - mean) ** 2).mean(axis=0).sum(axis=1)
        ratio = np.sqrt((target + TINY) / (variance + TINY))[:, None]
        move += np.where(rows.holes, start - scale.of(draws.mean(axis=0)), 0)
        factor = np.clip(factor * ratio, 1, MOST_FACTOR)
    return move, factor


def _repeated(rows, n_draws):
    """Return the rows as often as there are draws."""
    return rows.take(np.tile(np.arange(len(rows)), n_draws))


def _closed(repeated, values):
    """Return values, of one or more draws, that are scaled to what rows leave to their holes."""
    table = values.reshape(repeated.y.shape)
    closed = repeated.project(table, np.maximum(table, TINY))
    if not repeated.constrained:  # a 0 stays one, but for rounding
        closed[(table <= 0) & (closed < ZERO_ROUNDING) & repeated.holes] = 0
    return closed.reshape(values.shape)


@dataclass(frozen=True, eq=False)
class NormalRows:
    """A normal distribution of rows, given what is known of them."""

    coef: np.ndarray  # (r, n_labels) with what is known of a row they give its mean
    covariance: np.ndarray  # (n_labels, n_labels) of the rows around their means

    def expected(self, y, known) -> np.ndarray:
        """Return rows whose holes have what is expected once the other degrees are known."""
        return np.where(np.isnan(y), given_observed(y, known @ self.coef, self.covariance)[0], y)

    @classmethod
    def mean(cls, several) -> "NormalRows":
        """Return the mean of several distributions."""
        coef, covariance = zip(*((each.coef, each.covariance) for each in several), strict=True)
        return cls(np.mean(coef, axis=0), np.mean(covariance, axis=0))

    def errors(self, n, generator) -> np.ndarray:
        """Draw the errors of n whole rows."""
        values, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.maximum(values, 0))
        return generator.standard_normal((n, len(values))) @ root.T


class JointNormal:
    """Draw distributions that a table with holes, `y`, may come from, on some scale.

    A whole row that is drawn from a distribution, plus what is expected of its holes once it is
    known how far it is off at the observed degrees, is a draw of the holes. `covariates` (n, q)
    are known of the rows, `start` is the table with its holes filled in some way. What
    is learned from some rows only, `most` of them, varies more than it would; `share` corrects
    for it.
    """

    def __init__(self, y, covariates, start, scale, most=CHAIN_ROWS):
        most = min(len(y), most, max(1, NUMBERS // y.shape[1] ** 2))
        rows = evenly_spaced(len(y), most)
        self.scale, self.share = scale, np.sqrt(len(rows) / len(y))
        self._y, self._start = scale.of(y[rows]), scale.of(start[rows])
        self._centre, self._axes = principal_axes(covariates[rows])
        self._known = self.known(covariates[rows])
        self._prior = np.diag(CHAIN_PRIOR * np.var(self._start, axis=0) + LEAST_DEVIATION**2)

    def known(self, covariates) -> np.ndarray:
        """Return 1 and the numbers that tell the degrees; in the table their mean square is 1."""
        return np.hstack([np.ones((len(covariates), 1)), (covariates - self._centre) @ self._axes])

    def draw(self, n_draws, generator) -> list[NormalRows]:
        """Return the distributions of all turns, of which there are a multiple of `n_draws`.

        If they still depend on the start, the turns go on; if that does not help, it warns.
        """
        n_turns, turns = n_draws * max(1, TURNS // n_draws), self._turns(generator)
        found = [*islice(turns, FIRST)]
        for _ in range(LONGER):
            found = [*islice(turns, n_turns)]
            if has_converged(found):
                return found
        warn_user(
            "The draws depend on where their sequence started: too little is known of some labels "
            "together. What is estimated from them may be less certain than they say."
        )
        return found

    def _turns(self, generator):
        """Yield distributions, drawn in turns with the holes of the table."""
        table = self._start
        while True:
            rows = self._distribution(table, generator)
            yield rows
            whole = self._known @ rows.coef + rows.errors(len(table), generator)
            table = self._with_holes_like(whole, rows.covariance)

    def _with_holes_like(self, whole, covariance):
        """Return the table, its holes drawn: whole rows, given how far they are off elsewhere.

        It is what `given_observed` returns, but quicker for a table of this size.
        """
        noise = (CHAIN_NOISE * np.trace(covariance) + LEAST_DEVIATION**2) * np.eye(len(covariance))
        seen = ~np.isnan(self._y)
        both = seen[:, :, None] & seen[:, None, :]
        off = np.where(seen, self._y - whole, 0)
        pulls = np.linalg.solve(np.where(both, covariance, 0) + noise, off[:, :, None])[:, :, 0]
        return np.where(seen, self._y, whole + pulls @ covariance)

    def _distribution(self, table, generator):
        """Draw a distribution given all degrees: an inverse Wishart, and coefficients."""
        (n, r), q = self._known.shape, table.shape[1]
        coef = self._known.T @ table / n
        errors = table - self._known @ coef
        spread = np.linalg.inv(errors.T @ errors + self._prior)
        sample = generator.standard_normal((max(n - r, q + 1), q)) @ np.linalg.cholesky(spread).T
        covariance = np.linalg.inv(sample.T @ sample)
        noise = generator.standard_normal((r, q)) @ np.linalg.cholesky(covariance).T
        return NormalRows(coef + noise / np.sqrt(n), covariance)


def has_converged(turns) -> bool:
    """Say whether the two halves of a sequence of distributions agree.

    Their means differ little beside the variance within them (the R of Gelman and Rubin), for all
    means of labels and the logarithms of their variances.
    """
    found = [[*rows.coef[0], *np.log(np.diag(rows.covariance))] for rows in turns]
    halves = np.array_split(found, 2)
    within = np.mean([half.var(axis=0) for half in halves], axis=0)
    between = np.var([half.mean(axis=0) for half in halves], axis=0, ddof=1)
    return bool((between <= (MOST_R**2 - 1) * within + TINY).all())


def principal_axes(covariates) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of columns, and the principal axes that enough rows are there for."""
    n, centre, scale = len(covariates), covariates.mean(axis=0), covariates.std(axis=0)
    varies = scale > LEAST_DEVIATION * np.abs(covariates).max(axis=0, initial=0)
    covariates = (covariates - centre)[:, varies] / scale[varies]
    _, values, axes = np.linalg.svd(covariates, full_matrices=False)
    most = min((values > LEAST_DEVIATION * values.max(initial=0)).sum(), n // ROWS_FOR_EACH)
    found = np.zeros((len(centre), most))
    found[varies] = axes[:most].T / values[:most] * np.sqrt(n) / scale[varies][:, None]
    return centre, found
