"""Why degrees are missing, and what to say about a table that was looked at."""

from dataclasses import dataclass

import numpy as np
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
from inldl.text import counted, listed

PERCENT = "percent"
CONFIDENCE = 0.95
UNKNOWN_TOTALS = "the totals of rows with a missing count are not known"
UNKNOWN_SCALES = "known shares are ratios, whose sum says nothing about the missing ones"
STRONG = 0.1  # a weaker correlation explains less than a hundredth of the holes
SHOWN_RELATIONS, REMARKS = 3, 20
RARE = 10  # observed degrees of a label, from which little is learned
FEW_HOLES = 5  # rows in which a label is hidden: fewer tell nothing about it


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
    # to tell), "rows" if a row is either complete or empty, "placed" if units and times explain
    # the holes, "unknown" or "complete"
    answer: str = "unknown"
    verdict: str = ""  # the same as a sentence, with the numbers that show it
    # Which shares are missing, as a sentence, if their size seems to decide that
    mechanism: str = ""


def size_test(y, labels, whole=1.0, *, untestable="", expected=None) -> SizeTest:
    """Return the `SizeTest` of degrees whose rows can all be distributions.

    Its numbers are in the units of a table whose rows sum to `whole`. `untestable` says why the
    sums of rows say nothing about their holes, if they do not. `expected` degrees are as in
    `inldl.rows.missingness.hidden_mass`.
    """
    observed, partial = ~np.isnan(y), PartialRows(y).partial
    answer, verdict = _untestable(observed, partial, labels, untestable)
    mass = None if answer else hidden_mass(y, expected)
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
    mechanism = ""
    if answer in ("small", "large"):
        mechanism = f"{answer.capitalize()} shares are missing more often."
    if answer == "small" and mechanism_of(y, expected=expected) == "rest":
        mechanism = _recorded(observed[partial])
        answer, verdict = "largest", f"{mechanism} {verdict}"
    return SizeTest(**numbers, answer=answer, verdict=verdict, mechanism=mechanism)


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


def _words(n_rows, hidden, expected, lower, upper, p_value, settled, unit):
    """Return what the numbers of a `SizeTest` say: in a word, and in a sentence."""
    sums = (
        f"the missing shares of a row sum to {amount(hidden, unit)} on average; missing at "
        f"random, they would sum to {amount(expected, unit)}."
    )
    if settled >= 0.9:
        rows = "the one row" if n_rows == 1 else f"{settled:.0%} of the rows"
        return "zeros", (
            f"Missing shares seem to be zeros: in {rows} with missing shares "
            "the known ones already sum to the whole."
        )
    if p_value >= LEVEL:
        if (upper - lower) / 2 > expected / 2:
            return "few", f"Too few rows to tell whether shares are missing at random: {sums}"
        limit = f"p = {p_value:.2g}; below {LEVEL:g} would count against it"
        return "random", f"Shares seem to be missing at random ({limit}): {sums}"
    if abs(hidden - expected) < SMALL_EFFECT * expected:
        return "random", f"Shares seem to be missing almost at random: {sums}"
    which = "small" if hidden < expected else "large"
    return which, f"{which.capitalize()} shares are missing more often: {sums}"


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


def list_findings(results, placed=(), *, totals=True) -> list[str]:
    """Return the findings of an inspection, given its fields, most important first.

    `placed` are sentences on how the holes lie. Without `totals`, the sums of rows with holes are
    not known.
    """
    features, found = results["features"], results["dependence"]
    given_by_sum = totals and all(each.kind != "other sum" for each in results["problems"])
    strong = found[(found["p_value"] < LEVEL) & (found["correlation"].abs() >= STRONG)]
    strong = strong[:0] if results["size"].answer == "placed" else strong  # it says the same
    return [
        *_problems(results, severe=True),
        *_rare_labels(results["by_label"]),
        *_about_columns(features[~features["usable"]]),
        *_copies(results["copies"]),
        *_bounded(results["by_label"]),
        *placed,
        *_size(results["size"], strong),
        *_labels_by_size(results["by_label"], results["size"], results["unit"]),
        *_dependence(strong),
        *_problems(results, severe=False),
        *(_single_holes(results["by_row"]) if given_by_sum else ()),
        *_remarks(features[features["usable"] & (features["remark"] != "")]),
    ]


def _problems(results, severe):
    for problem in results["problems"]:
        if problem.severe == severe:
            rows = f"{problem.n_rows:,} of {results['n_rows']:,}"
            more = ", ..." if problem.n_rows > len(problem.examples) else ""
            examples = ", ".join(problem.examples) + more
            yield f"Rows with {problem.what} ({rows}): {examples}; {problem.advice}."


def _rare_labels(by_label):
    observed = by_label["observed"]
    for label in by_label["label"][observed == 0]:
        yield (
            f"No share of {label!r} is known: inldl complete can only guess it, from what the "
            "known shares of each row leave; fill in some rows, or drop it."
        )
    rare = by_label[(observed > 0) & (observed < RARE)]
    if len(rare) > SHOWN_RELATIONS:
        most = counted(rare["observed"].max(), "row")
        yield (
            f"Labels that are known in at most {most}: {listed(map(repr, rare['label']))}; so few "
            "tell little. Fill in more, or join labels."
        )
        return
    for row in rare.itertuples():
        yield (
            f"The label {row.label!r} is known in only {counted(row.observed, 'row')}; fill in "
            "more, or join it with another label."
        )


def _bounded(by_label):
    if number := int(by_label["bounded"].sum()):
        names = by_label["label"][by_label["bounded"] > 0]
        yield (
            f"Missing shares with bounds, such as <5: {number:,} ({listed(map(repr, names))}). "
            "Completing stays within their bounds."
        )


def _about_columns(features):
    return [f"Column {row.column!r} {row.remark}." for row in features.itertuples()]


def _copies(copies):
    for column, (label, r) in copies.items():
        yield (
            f"Column {column!r} is a linear copy of the label {label!r} (correlation {r:.4f}); "
            "remove it, unless it is known for new rows as well."
        )


_BIASED = (
    "The known shares are too {} on average, so do not fill in their means. Completing uses the "
    "sum of each row, which corrects a part of it; do not rely on the intervals."
)
_ADVICE = {
    "small": _BIASED.format("large"),
    "large": _BIASED.format("small"),
    "largest": (
        "Completing fills in nothing above the smallest recorded share of a row. Its error cannot "
        "be estimated, because no share as small as the missing ones is known."
    ),
    "zeros": (
        "If an empty cell means 0 in this table, write 0 into it. If missing labels were dropped "
        "and the others rescaled to the whole, complete it with --ratios (known='ratios' in "
        "Python); without that every missing share becomes 0."
    ),
    "few": "Take the completed shares with care.",
    "random": "Completing a table assumes this.",
    "rows": "Whether that is chance cannot be tested; only features can tell about such rows.",
    "unknown": "Find out why shares are missing.",
}


def _size(size, strong):
    if size.answer in _ADVICE:
        biased = size.answer in ("small", "large")
        cause = " Features may be the cause; see below." if biased and len(strong) else ""
        yield f"{size.verdict} {_ADVICE[size.answer]}{cause}"


_WEIGHED = (
    "The expected error takes this into account, which makes it a rougher estimate. Intervals do "
    "not; do not rely on them."
)
_IN_PART = "The sums of the rows correct a part of this; do not rely on intervals."
_BELOW = "Shares are filled in with at most the smallest recorded share of their row."
_ABOVE = (
    "The model was fitted to other rows, so it fills in shares above the smallest recorded one, "
    "too; complete the table without --model."
)
_AS_IF = (
    "The model was fitted to rows in which only the largest shares are recorded, and fills in "
    "these rows in the same way."
)


def notes_on_completing(size, below_recorded, *, estimated, earlier) -> list[str]:
    """Return notes on a table in which missing depends on the size of shares.

    `below_recorded` says whether shares were filled in as where only the largest are recorded,
    `estimated` whether an error is given, `earlier` whether the model was fitted to another table.
    """
    if earlier and below_recorded != (size.answer == "largest"):
        return [f"{size.mechanism} {_AS_IF if below_recorded else _ABOVE}".strip()]
    if not depends_on_size(size):
        return []
    advice = _WEIGHED if estimated else _IN_PART
    return [f"{size.mechanism} {_BELOW if below_recorded else advice}"]


def notes_on_zeros(size) -> list[str]:
    """Return a note on shares that are all filled with 0, because known ones are the whole."""
    return [f"{size.verdict} {_ADVICE['zeros']}"] if size.answer == "zeros" else []


def depends_on_size(size) -> bool:
    """Return whether shares of certain sizes are missing more often."""
    return size.answer in ("small", "large", "largest")


def notes_on_known(size) -> list[str]:
    """Return a note on an error that was measured on known shares, if others are missing."""
    if not depends_on_size(size):
        return []
    known = "smaller" if size.answer == "large" else "larger"
    return [
        f"{size.mechanism} The error is that of known shares, which are {known} on average than "
        "the missing ones."
    ]


def _labels_by_size(by_label, size, unit):
    """Yield labels whose holes depend on their size if all labels together do not show it."""
    if size.answer != "random":
        return
    far = (by_label["hidden_mean"] - by_label["mean"]).abs() > SMALL_EFFECT * by_label["mean"]
    for row in by_label[far & (by_label["hidden_p"] < LEVEL)].itertuples():
        where = "smaller" if row.hidden_mean < row.mean else "larger"
        known, hidden = (amount(share, unit) for share in (row.mean, row.hidden_mean))
        yield (
            f"But {row.label!r} is missing where it is {where}: {known} on average where it is "
            f"known, about {hidden} where it is missing. Do not fill in its mean."
        )


def _dependence(strong):
    for row in strong.head(SHOWN_RELATIONS).itertuples():
        often = "more" if row.correlation > 0 else "less"
        yield (
            f"{row.label!r} is missing {often} often where {row.feature!r} is {row.value} "
            f"(rank correlation {row.correlation:.2f}); keep that column, so that completing "
            "takes it into account."
        )
    if len(strong) > SHOWN_RELATIONS:
        more = len(strong) - SHOWN_RELATIONS
        yield f"There {'is' if more == 1 else 'are'} {counted(more, 'more relation')} like this."


def _single_holes(by_row):
    single = int(by_row["rows"].iloc[1])
    if single and len(by_row) > 2:
        yield (
            f"Rows with a single missing share: {single:,}. It follows from the sum of the row, "
            "so completing fills it in exactly."
        )


def _remarks(features):
    yield from _about_columns(features.head(REMARKS))
    if len(features) > REMARKS:
        yield f"{len(features) - REMARKS} more columns have remarks; see the list of features."
