"""Say in sentences what a look at a table found, and what to do about it."""

from inldl.tables._missingness import LEVEL, SMALL_EFFECT

STRONG = 0.1  # a weaker correlation explains less than a hundredth of the holes
SHOWN = 3
RARE = 10  # observed degrees of a label, from which little is learned


def list_findings(results, *, totals=True):
    """Return the findings, most important first.

    Parameters
    ----------
    results : dict
        The fields of an `Inspection`.
    totals : bool
        Whether the totals of rows with holes are known.
    """
    severe = [_of_problem(p, results["n_rows"]) for p in results["problems"] if p.severe]
    mild = [_of_problem(p, results["n_rows"]) for p in results["problems"] if not p.severe]
    return [
        *severe,
        *_rare_labels(results["by_label"]),
        *_refused(results["features"]),
        *_copies(results["copies"]),
        *_size(results["size"], _strong(results["dependence"])),
        *_labels_by_size(results["by_label"], results["size"]),
        *_dependence(_strong(results["dependence"])),
        *mild,
        *(_single_holes(results["by_row"]) if totals else ()),
        *_remarks(results["features"]),
    ]


def _of_problem(problem, n):
    more = ", ..." if problem.n_rows > len(problem.examples) else ""
    examples = ", ".join(problem.examples) + more
    what = problem.what
    if problem.n_rows == 1:
        what = {"have": "has", "are": "is"}[what.split()[0]] + what[what.index(" ") :]
        what = what.replace(" do not ", " does not ")
    rows = f"{problem.n_rows} of {n} rows"
    return f"{rows} {what}: {examples}; {problem.advice}."


def _rare_labels(by_label):
    for label, observed in zip(by_label["label"], by_label["observed"], strict=True):
        if observed == 0:
            yield f"The label {label!r} is nowhere observed; drop it, or observe it in some rows."
        elif observed < RARE:
            yield (
                f"The label {label!r} is observed in {observed} row(s) only; observe it more "
                "often, or join it with another label."
            )


def _refused(features):
    for column, remark in features.loc[~features["usable"], ["column", "remark"]].to_numpy():
        yield f"Column {column!r} {remark}."


def _copies(copies):
    for column, (label, r) in copies.items():
        yield (
            f"Column {column!r} is a linear copy of the label {label!r} (correlation {r:.4f}); "
            "remove it, unless it is known for new rows as well."
        )


def _strong(found):
    return found[(found["p_value"] < LEVEL) & (found["correlation"].abs() >= STRONG)]


def _size(size, strong):
    advice = {
        "small": "The means of the observed degrees are too high: do not fill holes with them. "
        "Completing the table uses the sum of each row, which mends a part of it; do not rely "
        "on intervals.",
        "large": "The means of the observed degrees are too low: do not fill holes with them. "
        "Completing the table uses the sum of each row, which mends a part of it; do not rely "
        "on intervals.",
        "zeros": "If an empty cell means 0 in this table, write 0 into it.",
        "few": "Take the completed degrees with care.",
        "random": "Completing a table assumes just that.",
        "unknown": "Find out how it was decided what to observe.",
    }
    if size.answer in advice:
        cause = " Features decide on holes, too, and may be the cause; see below."
        known = len(strong) and size.answer in ("small", "large")
        yield f"{size.verdict} {advice[size.answer]}{cause if known else ''}"


def _labels_by_size(by_label, size):
    """Yield labels whose holes depend on their size if all labels together do not show it."""
    if size.answer != "random":
        return
    far = (by_label["hidden_mean"] - by_label["mean"]).abs() > SMALL_EFFECT * by_label["mean"]
    for row in by_label[far & (by_label["hidden_p"] < LEVEL)].itertuples():
        yield (
            f"Yet the label {row.label!r} is hidden where it is "
            f"{'smaller' if row.hidden_mean < row.mean else 'larger'}: {row.mean:.3f} on average "
            f"where observed, about {row.hidden_mean:.3f} where hidden. Do not fill its holes "
            "with its mean."
        )


def _dependence(strong):
    for row in strong.head(SHOWN).itertuples():
        often = "more" if row.correlation > 0 else "less"
        yield (
            f"{row.label!r} is missing {often} often where {row.feature!r} is {row.value} "
            f"(rank correlation {row.correlation:.2f}); keep that column among the "
            "features, so that completing allows for it."
        )
    if len(strong) > SHOWN:
        yield f"{len(strong) - SHOWN} more such relations of holes and features were found."


def _single_holes(by_row):
    single = int(by_row["rows"].iloc[1])
    if single and len(by_row) > 2:
        yield (
            f"{single} row(s) have a single hole, which is 1 minus the other degrees: completing "
            "fills it exactly."
        )


def _remarks(features):
    told = features[features["usable"] & (features["remark"] != "")]
    for column, remark in told[["column", "remark"]].head(20).to_numpy():
        yield f"Column {column!r} {remark}."
    if len(told) > 20:
        yield f"{len(told) - 20} more columns have remarks; see the list of features."
