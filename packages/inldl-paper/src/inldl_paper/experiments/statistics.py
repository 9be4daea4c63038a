"""Compare methods over many problems: ranks, wins, and the Friedman test and its follow-ups.

Every function takes ``scores``, a frame with one row per problem (a dataset, or a dataset at one
missing rate) and one column per method, and whether higher scores are better. Equal scores are
ties, so round the scores first if differences in the last digits mean nothing.
"""

import itertools
import math
import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from inldl.rows.checks import check_number

__all__ = [
    "FriedmanResult",
    "NemenyiResult",
    "friedman",
    "mean_ranks",
    "nemenyi",
    "ranks",
    "wilcoxon_holm",
    "wins_ties_losses",
]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FriedmanResult:
    """The result of `friedman`.

    Attributes
    ----------
    statistic, p_value : float
        Friedman's chi-squared, corrected for ties, and its p-value.
    f_statistic, f_p_value : float
        The F of Iman and Davenport, which is less conservative, and its p-value.
    tie_correction : float
        ``statistic * tie_correction`` is chi-squared without the correction for ties, which some
        papers print. 1 without ties.
    """

    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    tie_correction: float


@dataclass(frozen=True, eq=False)
class NemenyiResult:
    """The result of `nemenyi`: everything that a critical-difference diagram shows.

    Attributes
    ----------
    mean_ranks : Series
        Mean rank of each method.
    critical_difference : float
        Mean ranks that differ by this much or more differ significantly.
    p_values : DataFrame
        Methods x methods, 1 on the diagonal.
    groups : tuple of tuples
        The largest sets of two or more methods, best first, in which no two differ
        significantly: the bars of the diagram.
    alpha : float
        Level of the test.
    """

    mean_ranks: pd.Series
    critical_difference: float
    p_values: pd.DataFrame
    groups: tuple[tuple[Hashable, ...], ...]
    alpha: float


def ranks(scores: pd.DataFrame, higher_is_better: bool) -> pd.DataFrame:
    """Rank the methods on each problem; 1 is best, and ties get the mean of their ranks.

    Examples
    --------
    >>> import pandas as pd
    >>> from inldl_paper.experiments.statistics import ranks
    >>> ranks(pd.DataFrame({"A": [0.9, 0.5], "B": [0.8, 0.5]}, ["Movie", "Gene"]), True)
             A    B
    Movie  1.0  2.0
    Gene   1.5  1.5
    """
    return _merits(scores, higher_is_better).rank(axis=1, ascending=False)


def mean_ranks(scores: pd.DataFrame, higher_is_better: bool) -> pd.Series:
    """Average the ranks of each method over the problems."""
    return ranks(scores, higher_is_better).mean().rename("mean rank")


def wins_ties_losses(
    scores: pd.DataFrame, higher_is_better: bool, tolerance: float = 0.0
) -> pd.DataFrame:
    """Count the problems on which each method beats, ties with and loses to each other one.

    Parameters
    ----------
    scores, higher_is_better : DataFrame and bool
        As in every function here.
    tolerance : float
        Scores that differ by at most this much are ties.

    Returns
    -------
    DataFrame
        Columns wins, ties, losses; one row per (method, opponent). The totals of each method
        are ``table.groupby(level="method", sort=False).sum()``.

    Examples
    --------
    >>> import pandas as pd
    >>> from inldl_paper.experiments.statistics import wins_ties_losses
    >>> scores = pd.DataFrame({"A": [0.9, 0.5, 0.4], "B": [0.8, 0.5, 0.3]})
    >>> wins_ties_losses(scores, True).loc[("A", "B")].tolist()
    [2, 1, 0]
    """
    check_number("tolerance", tolerance, low=0)
    merits = _merits(scores, higher_is_better)
    values, methods = merits.to_numpy(), list(merits.columns)
    margins = values[:, :, None] - values[:, None, :]
    counts = {
        "wins": (margins > tolerance).sum(axis=0).ravel(),
        "ties": (np.abs(margins) <= tolerance).sum(axis=0).ravel(),
        "losses": (margins < -tolerance).sum(axis=0).ravel(),
    }
    index = pd.MultiIndex.from_product([methods, methods], names=["method", "opponent"])
    return pd.DataFrame(counts, index=index)[~np.eye(len(methods), dtype=bool).ravel()]


def friedman(scores: pd.DataFrame, higher_is_better: bool) -> FriedmanResult:
    """Test whether all methods are equally good (Friedman; Iman and Davenport).

    ``F = (N - 1) chi2 / (N (k - 1) - chi2)`` with k - 1 and (k - 1)(N - 1) degrees of freedom, for
    N problems, k methods and chi2 corrected for ties. F is infinite if all problems rank the
    methods in the same order. If all methods tie on all problems, both statistics are 0 with
    p-value 1.
    """
    ranked = ranks(scores, higher_is_better)
    n, k = ranked.shape
    if k < 3:
        raise ValueError(f"friedman needs at least 3 methods, got {k}: use wilcoxon_holm for 2.")
    if n < 2:
        raise ValueError(f"friedman needs at least 2 problems, got {n}: add rows to scores.")
    # The variance of the ranks divided by their variance without ties.
    correction = float(ranked.to_numpy().var(axis=1).mean() * 12 / (k * k - 1))
    if correction == 0:
        return FriedmanResult(0.0, 1.0, 0.0, 1.0, 0.0)
    chi2, p_value = stats.friedmanchisquare(*ranked.to_numpy().T)
    spare = n * (k - 1) - chi2
    # Rounding may give 1e-13 where the exact number is 0.
    f = (n - 1) * chi2 / spare if spare > 1e-9 * n * k else math.inf
    f_p_value = stats.f.sf(f, k - 1, (k - 1) * (n - 1))
    return FriedmanResult(float(chi2), float(p_value), float(f), float(f_p_value), correction)


def nemenyi(scores: pd.DataFrame, higher_is_better: bool, alpha: float = 0.05) -> NemenyiResult:
    """Compare all pairs of methods by their mean ranks (Nemenyi), after `friedman`.

    The critical difference is ``q / sqrt(2) * sqrt(k (k + 1) / (6 N))``, with q the upper
    ``alpha`` quantile of the studentized range of k methods; N is the number of problems.

    Examples
    --------
    >>> import pandas as pd
    >>> from inldl_paper.experiments.statistics import nemenyi
    >>> scores = pd.DataFrame({"A": [7, 8, 9, 9, 8], "B": [5, 6, 7, 8, 7], "C": [1, 2, 1, 1, 2]})
    >>> result = nemenyi(scores, True)
    >>> result.groups, round(result.critical_difference, 3)
    ((('A', 'B'), ('B', 'C')), 1.482)
    """
    check_number("alpha", alpha, above=0, below=1)
    means = mean_ranks(scores, higher_is_better)
    k = _at_least_two_methods(scores)
    # Nemenyi's q is the studentized range over sqrt(2), the standard error of a difference.
    unit = math.sqrt(k * (k + 1) / (6 * len(scores))) / math.sqrt(2)
    critical = float(stats.studentized_range.ppf(1 - alpha, k, np.inf)) * unit
    first, second = np.triu_indices(k, 1)
    p_values = np.eye(k)
    differences = np.abs(means.to_numpy()[first] - means.to_numpy()[second])
    p_values[first, second] = stats.studentized_range.sf(differences / unit, k, np.inf).clip(0, 1)
    p_values[second, first] = p_values[first, second]
    table = pd.DataFrame(p_values, index=means.index, columns=means.index)
    return NemenyiResult(means, critical, table, _groups(means, critical), alpha)


def wilcoxon_holm(
    scores: pd.DataFrame,
    higher_is_better: bool,
    reference: Hashable = None,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Test pairs of methods with Wilcoxon's signed-rank test and Holm's correction.

    Problems on which the two methods tie are left out; if they tie on all, the p-value is 1. scipy
    decides whether p-values are exact or from the normal approximation.
    Differences are rounded to 12 digits of the largest score, because .3 - .2 and .2 - .1 tie
    on paper but not in floating point.

    Parameters
    ----------
    scores, higher_is_better : DataFrame and bool
        As in every function here.
    reference : column name, optional
        Compare this method with each of the others. By default all pairs are compared.
    alpha : float
        Level of the family of tests.

    Returns
    -------
    DataFrame
        One row per (method, opponent), with columns ``better`` (the one that the signed ranks
        favour, or None), ``statistic`` (the smaller sum of ranks), ``p_value`` (two-sided),
        ``p_holm`` and ``significant`` (``p_holm <= alpha``).
    """
    check_number("alpha", alpha, above=0, below=1)
    merits = _merits(scores, higher_is_better)
    _at_least_two_methods(merits)
    pairs = _pairs(list(merits.columns), reference)
    scaled = merits / (merits.abs().to_numpy().max() or 1.0)
    tests = [_signed_ranks((scaled[a] - scaled[b]).to_numpy().round(12)) for a, b in pairs]
    favours, statistics, p_values = zip(*tests, strict=True)
    adjusted = _holm(np.array(p_values))
    better = [{1: a, -1: b}.get(sign) for sign, (a, b) in zip(favours, pairs, strict=True)]
    index = pd.MultiIndex.from_tuples(pairs, names=["method", "opponent"])
    columns = {
        "better": pd.Series(better, index, dtype=object),  # in which None stays None
        "statistic": statistics,
        "p_value": p_values,
        "p_holm": adjusted,
        "significant": adjusted <= alpha,
    }
    return pd.DataFrame(columns, index)


def _groups(means: pd.Series, critical: float) -> tuple[tuple[Hashable, ...], ...]:
    ordered = means.sort_values(kind="stable")
    groups, reached = [], 0
    for start, end in enumerate(np.searchsorted(ordered, ordered + critical)):
        if end > max(reached, start + 1):  # neither inside the last group nor alone
            groups.append(tuple(ordered.index[start:end]))
            reached = end
    return tuple(groups)


def _pairs(methods: list[Any], reference: Hashable) -> list[tuple[Any, Any]]:
    if reference is None:
        return list(itertools.combinations(methods, 2))
    if reference not in methods:
        known = ", ".join(repr(m) for m in methods)
        raise ValueError(
            f"reference {reference!r} is not a method in scores; choose from {known}."
        )
    return [(reference, method) for method in methods if method != reference]


def _signed_ranks(differences: FloatArray) -> tuple[int, float, float]:
    """Return the sign of the rank sum, the smaller sum of ranks, and the p-value."""
    nonzero = differences[differences != 0]
    if not nonzero.size:
        return 0, 0.0, 1.0
    total = np.sign(nonzero) @ stats.rankdata(np.abs(nonzero))
    with warnings.catch_warnings():  # scipy warns when it leaves the exact p-value
        warnings.simplefilter("ignore")
        statistic, p_value = stats.wilcoxon(differences)
    return int(np.sign(total)), float(statistic), float(p_value)


def _holm(p_values: FloatArray) -> FloatArray:
    """Multiply the smallest p-value by m, the next by m - 1, ..., and keep their order."""
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1)
    return adjusted


def _merits(scores: pd.DataFrame, higher_is_better: bool) -> pd.DataFrame:
    """Check the scores, and return them as floats for which higher is better."""
    if not isinstance(scores, pd.DataFrame):
        raise TypeError(
            f"scores must be a DataFrame of problems x methods, got {type(scores).__name__}."
        )
    if not isinstance(higher_is_better, bool | np.bool_):
        raise TypeError(f"higher_is_better must be True or False, got {higher_is_better!r}.")
    if scores.empty:
        raise ValueError(f"scores has shape {scores.shape}: give at least 1 problem and 1 method.")
    _check_columns(scores)
    values = scores.to_numpy(dtype=np.float64, na_value=np.nan)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"scores has {values[row, column]} for method {scores.columns[column]!r} on problem "
            f"{scores.index[row]!r}: drop that method or that problem."
        )
    return pd.DataFrame(
        values if higher_is_better else -values, index=scores.index, columns=scores.columns
    )


def _check_columns(scores: pd.DataFrame) -> None:
    for name, dtype in zip(scores.columns, scores.dtypes, strict=True):
        if not pd.api.types.is_numeric_dtype(dtype):
            raise ValueError(
                f"column {name!r} of scores does not contain numbers: if it names the problems, "
                "make it the index with set_index."
            )
    if not scores.columns.is_unique:
        name = scores.columns[scores.columns.duplicated()][0]
        raise ValueError(f"scores has two columns named {name!r}: give each method its own name.")


def _at_least_two_methods(scores: pd.DataFrame) -> int:
    if scores.shape[1] < 2:
        raise ValueError("scores has only 1 method: add another to compare it with.")
    return scores.shape[1]
