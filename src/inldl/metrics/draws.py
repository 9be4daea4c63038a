"""Score draws against true degrees: how near they are, and how well their spread fits."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from inldl.metrics.registry import FLOOR, FloatArray, mean_of_rows
from inldl.rows.checks import as_degrees


def crps(y: npt.ArrayLike, draws: Iterable[npt.ArrayLike], *, log: bool = False) -> float:
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
    truth, drawn = truth[seen], np.sort(drawn[:, seen], axis=0)
    if log:
        truth, drawn = (np.log(np.maximum(values, FLOOR)) for values in (truth, drawn))
    # Of sorted draws, the i-th is added in i differences and subtracted in m - 1 - i.
    apart = (2.0 * np.arange(m) - m + 1) @ drawn / (m * (m - 1))
    return mean_of_rows(np.abs(drawn - truth).mean(axis=0) - apart)


def energy_score(y: npt.ArrayLike, draws: Iterable[npt.ArrayLike]) -> float:
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
    return mean_of_rows(np.where(seen.any(axis=1), scores, np.nan))


def _checked(y: npt.ArrayLike, draws: Iterable[npt.ArrayLike]) -> tuple[FloatArray, FloatArray]:
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
