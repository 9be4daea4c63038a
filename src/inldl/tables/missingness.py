"""Why degrees are missing: whether their size or the features decide it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from inldl.rows.checks import sum_tolerance
from inldl.rows.missingness import (
    EQUALLY_MANY,
    LEVEL,
    SMALL_EFFECT,
    deviations,
    error_of_sum,
    hidden_mass,
    mechanism_of,
    t_test,
)
from inldl.rows.partial import PartialRows
from inldl.tables.columns.cells import Cells

PERCENT = "percent"
CONFIDENCE = 0.95
UNKNOWN_TOTALS = "the totals of rows with a missing count are not known"
UNKNOWN_SCALES = "known shares are ratios, whose sum says nothing about the missing ones"
FEW_HOLES = 5  # rows in which a label is hidden: fewer tell nothing about it
WORDS = 10  # the most frequent ones of a text column, each of which is looked at
EXPECTED = 5  # rows that a rare word and a missing degree share by chance, else p is not exact
DEPENDENCE = ["label", "feature", "value", "correlation", "p_value"]


def amount(share, unit) -> str:
    """Return a share as a sentence has it: 0.339, or 33.9%."""
    return f"{share:.1f}%" if unit else f"{share:.3f}"


@dataclass(frozen=True)
class SizeTest:
    r"""Tell whether missing depends on the size of a degree.

    The hidden degrees of a row have a mass that is known: 1 minus the observed ones. If holes
    have nothing to do with the degrees, then on average it equals the sum, over the hidden
    labels, of the means :math:`m_j` of the observed degrees. Over all rows the two differ by
    exactly :math:`n (1 - \sum_j m_j)`: the question is whether the means of the labels sum to 1.

    Under that hypothesis the difference is 0 on average, given where the holes are: labels may
    differ in how often they are missing, and holes of a row may come together. Its standard error
    is that of a sum over rows, :math:`\sum_j (d_{ij} - m_j) / n_j` over the observed degrees of
    row i, and the p value is that of a t test whose degrees of freedom count how many rows
    matter (Satterthwaite).

    It cannot see whether extremes of both ends are missing, nor anything about rows without an
    observed degree, nor why: holes that depend on features, which in turn decide the degrees,
    look as if they depended on size.
    """

    n_rows: int  # rows with both holes and observed degrees, which the test is about
    # What they hide, on average; NaN, like all that follows, where there is nothing to test
    hidden: float = np.nan
    expected: float = np.nan  # what they would hide on average if holes were random
    lower: float = np.nan  # an interval of 95% for ``hidden - expected``
    upper: float = np.nan
    p_value: float = np.nan  # how probable so large a difference is if holes are random
    settled: float = np.nan  # the share of these rows whose observed degrees sum to 1 already
    # "small" or "large" if such degrees are missing more often, "largest" if only the largest of
    # each row are recorded, "zeros" if nearly all hidden degrees must be 0, "random", "few" (rows,
    # to tell), "rows" if a row is either complete or empty, "unknown" or "complete"
    answer: str = "unknown"
    verdict: str = ""  # the same as a sentence, with the numbers that show it
    # Which shares are missing, as a sentence, if their size seems to decide that
    mechanism: str = ""


def size_test(y, labels, whole=1.0, *, untestable="") -> SizeTest:
    """Return the `SizeTest` of degrees whose rows can all be distributions.

    Its numbers are in the units of a table whose rows sum to `whole`. `untestable` says why the
    sums of rows say nothing about their holes, if they do not.
    """
    observed, partial = ~np.isnan(y), PartialRows(y).partial
    answer, verdict = _untestable(observed, partial, labels, untestable)
    mass = None if answer else hidden_mass(y)
    if mass is None:
        return SizeTest(int(partial.sum()), answer=answer, verdict=verdict)
    reach = stats.t.ppf((1 + CONFIDENCE) / 2, mass.freedom) * mass.error
    rest = 1 - np.nansum(y[partial], axis=1)
    numbers = {
        "n_rows": len(rest),
        "hidden": whole * mass.hidden,
        "expected": whole * mass.expected,
        "lower": whole * float(mass.difference - reach),
        "upper": whole * float(mass.difference + reach),
        "p_value": mass.p_value,
        "settled": float(np.mean(rest <= sum_tolerance(y.dtype))),
    }
    answer, verdict = _words(**numbers, unit=PERCENT if whole > 1 else "")
    mechanism = f"{_BY_SIZE.format(answer.capitalize())}." if answer in ("small", "large") else ""
    if answer == "small" and mechanism_of(y) == "rest":
        mechanism = _recorded(observed[partial])
        answer, verdict = "largest", f"{mechanism} {verdict}"
    return SizeTest(**numbers, answer=answer, verdict=verdict, mechanism=mechanism)


_BY_SIZE = "{} shares are missing more often"


def _recorded(observed):
    """Say how many of the largest shares of each row are recorded."""
    counts = np.bincount(observed.sum(axis=1))
    if counts.max() < EQUALLY_MANY * len(observed):
        return "Only the larger shares of each row seem to be recorded."
    k = int(counts.argmax())
    what = "largest share of each row seems" if k == 1 else f"{k} largest shares of each row seem"
    return f"Only the {what} to be recorded."


def _untestable(observed, partial, labels, why):
    """Return the answer and a sentence if nothing can be tested, else empty texts."""
    counts = observed.sum(axis=0)
    if not why and observed.all():
        return "complete", "No share is missing."
    if not why and not partial.any():
        return "rows", "Shares are missing in whole rows: every row is either complete or empty."
    if not why and (counts < 2).any():
        why = f"{labels[int(counts.argmin())]!r} is observed less than twice"
    if not why:
        return "", ""
    return "unknown", f"Whether shares are missing at random cannot be tested: {why}."


def _words(hidden, expected, lower, upper, p_value, settled, unit, **_):
    """Return what the numbers of a `SizeTest` say: in a word, and in a sentence."""
    sums = (
        f"the missing shares of a row sum to {amount(hidden, unit)} on average; missing at "
        f"random, they would sum to {amount(expected, unit)}."
    )
    if settled >= 0.9:
        return "zeros", (
            f"Missing shares seem to be zeros: in {settled:.0%} of the rows with missing shares "
            f"the known ones already sum to {'100%' if unit else '1'}."
        )
    if p_value >= LEVEL:
        if (upper - lower) / 2 > expected / 2:
            return "few", f"Too few rows to tell whether shares are missing at random: {sums}"
        limit = f"p = {p_value:.2g}; below {LEVEL:g} would count against it"
        return "random", f"Shares seem to be missing at random ({limit}): {sums}"
    if abs(hidden - expected) < SMALL_EFFECT * expected:
        return "random", f"Shares seem to be missing almost at random: {sums}"
    which = "small" if hidden < expected else "large"
    return which, f"{_BY_SIZE.format(which.capitalize())}: {sums}"


def estimate_hidden_means(y) -> tuple[np.ndarray, np.ndarray]:
    """Estimate the mean of the hidden degrees of each label, and test it against the observed.

    The mass that a row hides is regressed on where its holes are. That is unbiased if holes are
    random, and else as far as the hidden degrees of a label do not depend on which others are
    hidden with them. Rows of `y` can all be distributions.

    Means are NaN for a label that is hidden in fewer than 5 rows that have observed degrees, or
    always together with the same others. A p value is multiplied by the number of labels and at
    most 1 (Bonferroni).
    """
    observed = ~np.isnan(y)
    holes = (~observed)[observed.any(axis=1)].astype(float)
    counts = observed.sum(axis=0)
    y = y[observed.any(axis=1)]
    inverse, known = _inverse(holes)
    known &= (holes.sum(axis=0) >= FEW_HOLES) & (counts >= 2)
    if not known.any():
        return np.full(y.shape[1], np.nan), np.full(y.shape[1], np.nan)
    hidden = np.where(holes.any(axis=1), 1 - np.nansum(y, axis=1), 0)
    found = inverse @ (holes.T @ hidden)
    leverage = np.einsum("ij,ij->i", holes @ inverse, holes)
    residuals = (hidden - holes @ found) / np.sqrt(np.maximum(1 - leverage, 0.1))
    means = np.nansum(y, axis=0) / np.maximum(counts, 1)
    parts = residuals[:, None] * (holes @ inverse) - deviations(y, means, np.maximum(counts, 1))
    error, freedom = error_of_sum(parts)
    p_values = np.minimum(t_test(found - means, error, freedom) * known.sum(), 1)
    return np.where(known, found.clip(0, 1), np.nan), np.where(known, p_values, np.nan)


def _inverse(holes):
    """Return the pseudo-inverse of the products of hole columns, and which labels it tells apart.

    A label is told apart if its own unit vector lies in the span of the rows.
    """
    products = holes.T @ holes
    inverse = np.linalg.pinv(products, rcond=1e-9, hermitian=True)
    return inverse, np.diag(inverse @ products) > 1 - 1e-6


def find_dependence(columns, y, labels) -> pd.DataFrame:
    """Correlate where each label is missing with each feature.

    Numbers and dates are taken as ranks, text as whether it is one of its ten most frequent
    words; whether a feature is itself missing is looked at as well. So only what rises or falls
    with a feature is found.

    The frame has label, feature, value ("larger", "missing", or a word in quotes), rank
    correlation, and p value times the number of tests, at most 1 (Bonferroni); the largest
    correlations come first.
    """
    holes = np.isnan(y).astype(float)
    asked = np.flatnonzero((holes.mean(axis=0) > 0) & (holes.mean(axis=0) < 1))
    if not len(asked):
        return pd.DataFrame(columns=DEPENDENCE)
    names, holes = np.asarray(labels, dtype=object)[asked], holes[:, asked]
    found = []
    for feature, value, numbers in _questions(columns):
        r, p = _missing_correlations(numbers, holes)
        found += [(names[j], feature, value, r[j], p[j]) for j in np.flatnonzero(~np.isnan(p))]
    found = pd.DataFrame(found, columns=DEPENDENCE)
    found["p_value"] = np.minimum(found["p_value"] * len(found), 1)
    order = found["correlation"].abs().sort_values(ascending=False, kind="stable").index
    return found.loc[order].reset_index(drop=True)


def _questions(columns):
    """Yield (feature, value, numbers) for all that can be asked of the features."""
    for name, column in columns.items():
        missing = column.isna()
        if missing.any():
            yield name, "missing", missing.to_numpy(float)
        if Cells(name, column).stored is not None or column.dtype.kind in "mM":
            ranks = column.rank()
            yield name, "larger", ranks.fillna(ranks.mean()).fillna(0).to_numpy(float)
        else:
            words = column.astype(object).map(str, na_action="ignore")
            for word in words.value_counts().index[:WORDS]:
                yield name, repr(word), (words == word).to_numpy(float)


def _missing_correlations(numbers, holes):
    """Return the correlations of a column with the holes of each label, and their p values.

    These are NaN where a column hardly varies, so that its t test would not be exact.
    """
    n, rate = len(holes), holes.mean(axis=0)
    usual = pd.Series(numbers).value_counts().iloc[0]
    exact = (n - usual) * np.minimum(rate, 1 - rate) >= EXPECTED
    if not exact.any():
        return np.zeros(len(rate)), np.full(len(rate), np.nan)
    products = (numbers - numbers.mean()) @ holes / n
    r = (products / (numbers.std() * np.sqrt(rate * (1 - rate)))).clip(-1, 1)
    with np.errstate(divide="ignore"):
        t = np.abs(r) * np.sqrt((n - 2) / (1 - r**2))
    return r, np.where(exact, 2 * stats.t.sf(t, n - 2), np.nan)
