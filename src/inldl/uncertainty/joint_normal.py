"""Draw what could have been learned about the rows of a table from what is seen of them.

The degrees of a row are taken as normal around a linear function of a few numbers that are known
of it. Data augmentation [1]_ draws such distributions: it takes turns to draw the holes of the
table from a distribution, and a distribution from the table.

.. [1] M. A. Tanner and W. H. Wong, "The Calculation of Posterior Distributions by Data
   Augmentation", Journal of the American Statistical Association 82(398), 1987.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert

from inldl.rows.density import evenly_spaced
from inldl.solvers.gaussian import given_observed

CHAIN_ROWS = 2000  # that are learned from, evenly spread
CHAIN_NUMBERS = 4_000_000  # of their covariances
ROWS_FOR_EACH = 20  # rows for each number that tells the degrees
FIRST, TURNS = 50, 200  # turns that come before any draw, and over which draws are spread
CHAIN_PRIOR = 0.3  # squared errors of mean size in each direction that are added to the table's
CHAIN_NOISE = 1e-6  # of the mean variance: keeps the inverse of a covariance within bounds
LEAST_DEVIATION = 1e-9  # deviation of a column, or singular value, that is not rounding


@dataclass(frozen=True, eq=False)
class NormalRows:
    """A normal distribution of rows, given what is known of them."""

    coef: np.ndarray  # (r, n_labels) with what is known of a row they give its mean
    # (n_labels, n_labels) of the rows around their means; degrees sum to 1, so its rows sum to 0
    covariance: np.ndarray

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
    """Draw distributions that a table with holes, `y`, may come from.

    A whole row that is drawn from a distribution, plus what is expected of its holes once it is
    known how far it is off at the observed degrees, is a draw of the holes. `told` (n, q) is known
    of the rows beside their degrees, `start` is the table with its holes filled in some way. What
    is learned from some rows only varies more than it would; `share` corrects for it.
    """

    def __init__(self, y, told, start):
        most = min(len(y), CHAIN_ROWS, max(1, CHAIN_NUMBERS // y.shape[1] ** 2))
        rows = evenly_spaced(len(y), most)
        self.share = np.sqrt(len(rows) / len(y))
        self._y, self._start, told = y[rows], start[rows], told[rows]
        self._centre, self._axes = principal_axes(told)
        self._known = self.known(told)
        self._basis = helmert(y.shape[1])  # of all rows that sum to 0
        self._prior = (
            CHAIN_PRIOR * np.var(self._start @ self._basis.T, axis=0).mean() + LEAST_DEVIATION**2
        )

    def known(self, told) -> np.ndarray:
        """Return 1 and the numbers that tell the degrees; in the table their mean square is 1."""
        return np.hstack([np.ones((len(told), 1)), (told - self._centre) @ self._axes])

    def draw(self, n_draws, generator) -> list[NormalRows]:
        """Return the distributions of all turns, of which there are a multiple of `n_draws`."""
        table, found = self._start, []
        for _ in range(FIRST + n_draws * max(1, TURNS // n_draws)):
            rows = self._distribution(table, generator)
            whole = self._known @ rows.coef + rows.errors(len(table), generator)
            table = self._with_holes_like(whole, rows.covariance)
            found.append(rows)
        return found[FIRST:]

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
        n, r = self._known.shape
        table = table @ self._basis.T  # without the sum, which is 1
        coef = self._known.T @ table / n
        errors = table - self._known @ coef
        q = table.shape[1]
        spread = np.linalg.inv(errors.T @ errors + self._prior * np.eye(q))
        sample = generator.standard_normal((max(n - r, q + 1), q)) @ np.linalg.cholesky(spread).T
        covariance = np.linalg.inv(sample.T @ sample)
        noise = generator.standard_normal((r, q)) @ np.linalg.cholesky(covariance).T
        coef = (coef + noise / np.sqrt(n)) @ self._basis
        coef[0] += 1 / (q + 1)
        return NormalRows(coef, self._basis.T @ covariance @ self._basis)


def principal_axes(told) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of columns, and the principal axes that enough rows are there for."""
    n, centre, scale = len(told), told.mean(axis=0), told.std(axis=0)
    varies = scale > LEAST_DEVIATION * np.abs(told).max(axis=0, initial=0)
    told = (told - centre)[:, varies] / scale[varies]
    _, values, axes = np.linalg.svd(told, full_matrices=False)
    most = min((values > LEAST_DEVIATION * values.max(initial=0)).sum(), n // ROWS_FOR_EACH)
    found = np.zeros((len(centre), most))
    found[varies] = axes[:most].T / values[:most] * np.sqrt(n) / scale[varies][:, None]
    return centre, found
