"""Say in sentences what a look at a table found, and what to do about it."""

from inldl.tables.missingness import LEVEL, SMALL_EFFECT, amount
from inldl.text import counted, listed

STRONG = 0.1  # a weaker correlation explains less than a hundredth of the holes
SHOWN_RELATIONS, REMARKS = 3, 20
RARE = 10  # observed degrees of a label, from which little is learned


def list_findings(results, *, totals=True) -> list[str]:
    """Return the findings of an inspection, given its fields, most important first.

    Without `totals`, the sums of rows with holes are not known.
    """
    features, found = results["features"], results["dependence"]
    strong = found[(found["p_value"] < LEVEL) & (found["correlation"].abs() >= STRONG)]
    return [
        *_problems(results, severe=True),
        *_rare_labels(results["by_label"]),
        *_about_columns(features[~features["usable"]]),
        *_copies(results["copies"]),
        *_bounded(results["by_label"]),
        *_size(results["size"], strong),
        *_labels_by_size(results["by_label"], results["size"], results["unit"]),
        *_dependence(strong),
        *_problems(results, severe=False),
        *(_single_holes(results["by_row"]) if totals and not _sums_are_off(results) else ()),
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
        yield f"The label {label!r} has no known share; drop it, or fill in some rows."
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


_BY_SIZE = ("small", "large", "largest")
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
    if size.answer not in _BY_SIZE:
        return []
    advice = _WEIGHED if estimated else _IN_PART
    return [f"{size.mechanism} {_BELOW if below_recorded else advice}"]


def notes_on_zeros(size) -> list[str]:
    """Return a note on shares that are all filled with 0, because known ones are the whole."""
    return [f"{size.verdict} {_ADVICE['zeros']}"] if size.answer == "zeros" else []


def depends_on_size(size) -> bool:
    """Return whether shares of certain sizes are missing more often."""
    return size.answer in _BY_SIZE


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


def _sums_are_off(results):
    """Return whether complete rows have other sums, so that no sum gives a share."""
    return any(problem.kind == "other sum" for problem in results["problems"])


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
