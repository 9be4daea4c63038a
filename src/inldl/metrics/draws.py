"""Score draws against true degrees: how near they are, and how well their spread fits."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from inldl.metrics.registry import FLOOR, FloatArray, mean_of_rows
from inldl.rows.checks import as_degrees
from inldl.rows.inputs import as_weights

Rows = npt.ArrayLike
Draws = Iterable[npt.ArrayLike]
Weights = npt.ArrayLike | None


def crps(y: Rows, draws: Draws, *, log: bool = False, sample_weight: Weights = None) -> float:
    r"""Compute the continuous ranked probability score of draws (lower is better).

    ``E|X - y| - E|X - X'| / 2`` for each degree y, where X and X' are different draws of it. The
    second mean is over all pairs of draws, so that the expected score does not depend on how many
    there are; it can be negative. The score of a single value would be its absolute error.

    Parameters
    ----------
    y : array-like of shape (n, C)
        True degrees; those that are NaN are left out. To judge only what was filled in, put NaN
        where a degree was given.
    draws : array-like of shape (n_draws, n, C)
        Completed tables, such as ``draw`` returns: two or more.
    log : bool, default=False
        Score logarithms instead, so that the errors of small degrees count as well. Degrees below
        1e-6 then count as 1e-6.
    sample_weight : array-like of shape (n,), optional
        How much each row counts.

    Returns
    -------
    float
        The mean over degrees, NaN if there are none.

    Examples
    --------
    >>> from inldl.metrics import crps
    >>> draws = [[[0.4, 0.6]], [[0.6, 0.4]]]
    >>> round(crps([[0.5, 0.5]], draws), 6), round(crps([[0.2, 0.8]], draws), 6)
    (0.0, 0.2)
    """
    truth, drawn = _checked(y, draws)
    seen, m = ~np.isnan(truth), len(drawn)
    weights = as_weights(sample_weight, len(truth))
    weights = None if weights is None else np.repeat(weights, seen.sum(axis=1))
    truth, drawn = truth[seen], np.sort(drawn[:, seen], axis=0)
    if log:
        truth, drawn = (np.log(np.maximum(values, FLOOR)) for values in (truth, drawn))
    # Of sorted draws, the i-th is added in i differences and subtracted in m - 1 - i.
    apart = (2.0 * np.arange(m) - m + 1) @ drawn / (m * (m - 1))
    return mean_of_rows(np.abs(drawn - truth).mean(axis=0) - apart, weights)


def energy_score(y: Rows, draws: Draws, *, sample_weight: Weights = None) -> float:
    r"""Compute the energy score of draws, which judges whole rows (lower is better).

    ``E|X - y|_2 - E|X - X'|_2 / 2`` for each row y, where X and X' are different draws of it:
    `crps` for several labels at once. It also tells whether draws of labels go together as they
    should.

    Parameters
    ----------
    y : array-like of shape (n, C)
        True degrees. Those that are NaN are left out, also in the draws.
    draws : array-like of shape (n_draws, n, C)
        Completed tables, such as ``draw`` returns: two or more.
    sample_weight : array-like of shape (n,), optional
        How much each row counts.

    Returns
    -------
    float
        The mean over rows with a degree that is not NaN; NaN if there are none.

    Examples
    --------
    >>> from inldl.metrics import energy_score
    >>> round(energy_score([[0.2, 0.8]], [[[0.4, 0.6]], [[0.6, 0.4]]]), 4)
    0.2828
    """
    truth, drawn = _checked(y, draws)
    seen, m = ~np.isnan(truth), len(drawn)
    errors = np.where(seen, drawn - truth, 0)  # they differ by as much as the draws
    apart = np.zeros(len(truth))
    for lag in range(1, m):
        apart += np.linalg.norm(errors[lag:] - errors[:-lag], axis=2).sum(axis=0)
    scores = np.linalg.norm(errors, axis=2).mean(axis=0) - apart / (m * (m - 1))
    weights = as_weights(sample_weight, len(truth))
    return mean_of_rows(np.where(seen.any(axis=1), scores, np.nan), weights)


def log_score(y: Rows, concentration: Rows, *, sample_weight: Weights = None) -> float:
    r"""Compute the logarithmic score of Dirichlet distributions (lower is better).

    Minus the logarithm of the density of the known degrees of each row, with what they leave of 1
    as one more part where degrees are missing. Degrees below 1e-6 count as 1e-6.

    Parameters
    ----------
    y : array-like of shape (n, C)
        True degrees; those that are NaN are missing.
    concentration : array-like of shape (n, C)
        The parameters of a Dirichlet distribution of each row, such as ``predict_dirichlet``
        returns.
    sample_weight : array-like of shape (n,), optional
        How much each row counts.

    Returns
    -------
    float
        The mean over rows with a degree that is not NaN; NaN if there are none.

    Examples
    --------
    >>> from inldl.metrics import log_score
    >>> round(log_score([[0.5, 0.5]], [[1, 1]]), 4), round(log_score([[0.5, 0.5]], [[9, 9]]), 4)
    (0.0, -1.2055)
    """
    truth = as_degrees(y, "y").astype(np.float64)
    given = as_degrees(concentration, "concentration").astype(np.float64)
    if given.shape != truth.shape or not (given > 0).all():
        raise ValueError(
            f"concentration must be positive numbers of the shape {truth.shape} of y, one for "
            "each degree."
        )
    seen = ~np.isnan(truth)
    parts = np.column_stack([truth, 1 - np.nansum(truth, axis=1)])
    own = np.column_stack([given, np.where(seen, 0, given).sum(axis=1)])
    known = np.column_stack([seen, ~seen.all(axis=1)])
    parts = np.where(known, np.maximum(parts, FLOOR), 0)
    logs = np.log(np.where(known, parts / parts.sum(axis=1, keepdims=True), 1))
    own = np.where(known, own, 1)
    density = (
        gammaln(given.sum(axis=1)) - gammaln(own).sum(axis=1) + ((own - 1) * logs).sum(axis=1)
    )
    weights = as_weights(sample_weight, len(truth))
    return mean_of_rows(np.where(seen.any(axis=1), -density, np.nan), weights)


def _checked(y: Rows, draws: Draws) -> tuple[FloatArray, FloatArray]:
    """Return true degrees and two or more tables of draws of them, in double precision."""
    truth = as_degrees(y, "y").astype(np.float64)
    drawn = [as_degrees(table, "draws").astype(np.float64) for table in draws]
    if len(drawn) < 2:
        raise ValueError("The score of draws needs two or more of them; draw more.")
    for table in drawn:
        if table.shape != truth.shape:
            raise ValueError(
                f"A table of draws has the shape {table.shape}, but y has {truth.shape}; give "
                "the same rows and labels."
            )
        if np.isnan(table).any():
            raise ValueError("draws hold NaN; give tables without missing degrees.")
    return truth, np.stack(drawn)
