"""Combine estimates from several completed tables by Rubin's rules."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from inldl.rows.checks import check_number

__all__ = ["Pooled", "pool"]


@dataclass(frozen=True, eq=False)
class Pooled:
    """Estimates that were combined by Rubin's rules; each array has the shape of one estimate.

    Attributes
    ----------
    estimate : ndarray
        The mean of the estimates.
    within : ndarray
        The mean of their variances: what would be left if no degree was missing.
    between : ndarray
        The variance of the estimates: what the missing degrees add.
    total : ndarray
        The variance of `estimate`.
    df : ndarray
        The degrees of freedom of its t distribution.
    n_draws : int
        The number of completed tables.
    """

    estimate: np.ndarray
    within: np.ndarray
    between: np.ndarray
    total: np.ndarray
    df: np.ndarray
    n_draws: int

    @property
    def error(self) -> np.ndarray:
        """Return the standard error of `estimate`."""
        return np.sqrt(self.total)

    @property
    def missing_share(self) -> np.ndarray:
        """Return the share of `total` that is due to the missing degrees; 0 where `total` is 0."""
        return _ratio((1 + 1 / self.n_draws) * self.between, self.total)

    def interval(self, coverage: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the lower and the upper ends of intervals of the given coverage."""
        check_number("coverage", coverage, above=0, below=1)
        reach = stats.t.ppf((1 + coverage) / 2, self.df) * self.error
        return self.estimate - reach, self.estimate + reach


def pool(
    estimates: npt.ArrayLike,
    variances: npt.ArrayLike | None = None,
    *,
    complete_df: float | None = None,
) -> Pooled:
    r"""Combine estimates from several completed tables into one, by Rubin's rules.

    Guide: :doc:`/draws`.

    With :math:`q_1, \dots, q_m` the estimates and :math:`u_1, \dots, u_m` their variances,

    .. math::

        \bar q = \tfrac1m \textstyle\sum_i q_i, \quad W = \tfrac1m \sum_i u_i, \quad
        B = \tfrac1{m - 1} \sum_i (q_i - \bar q)^2, \quad T = W + (1 + \tfrac1m) B .

    The intervals are those of a t distribution with :math:`\nu = (m - 1) / \lambda^2` degrees of
    freedom, where :math:`\lambda = (1 + \frac1m) B / T`. If the degrees of freedom
    :math:`\nu_0` of the analysis of a complete table are given, they are
    :math:`1 / (1/\nu + 1/\nu')` with :math:`\nu' = (1 - \lambda) \nu_0 (\nu_0 + 1) / (\nu_0 + 3)`.

    Parameters
    ----------
    estimates : array-like of shape (m, ...)
        One estimate, or one array of estimates such as coefficients, of each table.
    variances : array-like of the same shape, optional
        Their squared standard errors. Without them the intervals are for what the table itself
        would give if nothing was missing, not for the population that its rows come from.
    complete_df : float, optional
        Degrees of freedom of the analysis of a complete table, such as rows minus coefficients.

    Returns
    -------
    Pooled

    References
    ----------
    D. B. Rubin, "Multiple Imputation for Nonresponse in Surveys", Wiley, 1987.

    J. Barnard and D. B. Rubin, "Small-sample degrees of freedom with multiple imputation",
    Biometrika 86(4), 1999.

    Examples
    --------
    >>> from inldl import pool
    >>> found = pool([4.0, 5.0, 6.0], [1.0, 1.0, 1.0])
    >>> found.estimate.item(), found.total.round(4).item(), found.df.round(4).item()
    (5.0, 2.3333, 6.125)
    """
    q = _checked("estimates", estimates)
    u = np.zeros_like(q) if variances is None else _checked("variances", variances)
    m = len(q)
    if m < 2:
        raise ValueError("Pooling needs the estimates of at least two completed tables, got 1.")
    if u.shape != q.shape:
        raise ValueError(
            f"variances have the shape {u.shape} but estimates have {q.shape}; give one variance "
            "for each estimate."
        )
    if (u < 0).any():
        raise ValueError("A variance is negative; give the squares of standard errors.")
    if variances is None and complete_df is not None:
        raise ValueError("complete_df is of use with variances only; give both, or neither.")
    W, B = u.mean(axis=0), q.var(axis=0, ddof=1)
    T = W + (1 + 1 / m) * B
    df = _degrees_of_freedom((1 + 1 / m) * B, T, m, complete_df)
    return Pooled(q.mean(axis=0), W, B, T, df, m)


def _degrees_of_freedom(added, total, m, complete_df):
    """Return them; infinite where nothing varies and those of a complete table are not known."""
    share = _ratio(added, total)
    with np.errstate(divide="ignore"):
        inverse = share**2 / (m - 1)
        if complete_df is not None:
            check_number("complete_df", complete_df, above=0)
            observed = (1 - share) * complete_df * (complete_df + 1) / (complete_df + 3)
            inverse = inverse + 1 / observed
        return 1 / inverse


def _ratio(part, whole):
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


def _checked(name, values):
    values = np.asarray(values, dtype=np.float64)
    if not values.ndim or not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite numbers, one or one array for each table.")
    return values
