"""Find out which method suits a table."""

import time
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from inldl.methods.registry import canonical_method
from inldl.progress import listening
from inldl.rows.checks import check_number, names_or_numbers
from inldl.tables import table_rows
from inldl.tables.audit import error, error_unit
from inldl.tables.columns.encoder import FeatureEncoder
from inldl.tables.options import GroupOptions
from inldl.tables.table import whole_of
from inldl.tables.table_rows import TrainingRows
from inldl.tables.trial import NOT_CONVERGED, completing_trials, predicting_trials, try_method

COMPARING = (
    "Methods are compared on shares that are hidden and filled in, which takes more than ratios "
    "of them; complete the table with a method of your choice."
)
CONSTANT = "constant-mean"
DEFAULT = (
    CONSTANT, "ridge", "winldl", "inldl-p", "inldl-a", "bfgs-ldl", "knn", "ldm", "iis-ldl",
    "edl-lrl", "extra-trees", "boosting", "auto",
)  # fmt: skip
"""What is compared if nothing is named, the fastest first.

It leaves out the parts of auto (kernel-ridge, kernel-softmax, forest), which cost as much as auto,
the methods of later papers (such as hidldl and i2ldl), methods as they were published, and the
other weightings and constants.
"""
_UNITS_LEFT_OUT = (
    "Rows of one unit or group are left out together, so errors of predicting are those of new "
    "ones. Completing is compared on single shares, and without the other rows of a unit."
)
_TIMES_LEFT_OUT = (
    "The rows are one series in time, so stretches of it are left out and predicted, not single "
    "rows."
)
FEW = 50  # rows, with which chance decides more than the method


@dataclass(frozen=True, eq=False)
class Comparison:
    """How well methods do on a table; plain data, ready to be shown.

    Attributes
    ----------
    table : DataFrame
        A row for each method, the lowest error first, with the columns

        method
            Its name.
        completing_rmse, completing_se, completing_mae
            Errors at degrees that were hidden from rows of the table, root mean square (with its
            standard error) and mean absolute.
        predicting_rmse, predicting_se, predicting_mae, cosine
            The same for the observed degrees of rows that were left out, and the mean cosine of
            these rows.
        behind, behind_se
            By how much the first error is above the lowest one, and the standard error of that
            difference; both methods see the same holes, so it is smaller than those of the two.
        seconds
            CPU seconds of one fit, on one core.
        better_than_constant
            Whether the first error is below that of the constant mean by more than two standard
            errors of the difference.
        reason
            Why the method failed, or nothing.
    recommended : str
        The method to take.
    why : str
        A sentence that says why.
    n_rows : int
        How many rows took part.
    notes : list of str
        What a user should know about how it was done.
    unit : str
        Of the errors: "percentage points", or nothing for fractions.
    n_fits : int
        Fits of all methods together.
    elapsed : float
        Seconds that all of it took, by the clock.
    """

    table: pd.DataFrame
    recommended: str
    why: str
    n_rows: int
    notes: list
    unit: str = ""
    n_fits: int = 0
    elapsed: float = np.nan

    @property
    def took(self) -> str:
        """A sentence on what took how long."""
        took = f"all {self.n_fits} fits and what they filled in took {self.elapsed:,.0f} seconds"
        return f"Seconds are of one fit; {took}."


def compare(
    X,
    y,
    methods=None,
    *,
    folds=5,
    hidden=0.2,
    max_rows=5000,
    random_state=0,
    scale="fraction",
    sample_weight=None,
    lower=None,
    upper=None,
    sums=None,
    divisors=None,
    dates="auto",
    panel=None,
) -> Comparison:
    """Find the method that suits a table, by hiding known shares from each method.

    Guide: :doc:`/choose_a_method`.

    Completing: a share of the observed degrees is hidden, at random and three times; a method
    learns from what is left of all rows and completes them. Predicting: each row is predicted by
    a method that has not seen it. All methods see the same holes and folds.

    What the known degrees of a row tell about the others is used with every method, the constant
    mean included. Of the methods that are better than the constant mean (or as good at completing
    and better at predicting) and complete as well as the best (their error is at most one
    standard error of the difference behind), the one that predicts best is recommended; the
    constant mean if none is better.

    Parameters
    ----------
    X : DataFrame of shape (n, k)
        The features: numbers, text and holes.
    y : DataFrame or array of shape (n, C)
        Degrees, NaN = unobserved.
    methods : list of str, optional
        Names as in ``inldl methods``. By default the thirteen of `DEFAULT`, which take some
        minutes for 5000 rows, half of the time for auto. The constant mean always takes part.
    folds : int, default=5
        Parts of the rows, each of which is predicted from the others.
    hidden : float, default=0.2
        Share of the observed degrees that is hidden.
    max_rows : int, default=5000
        Of a longer table a random sample of as many rows is used.
    random_state : int, default=0
        For sample, holes, folds and methods.
    scale : {"fraction", "percent", "count"}, default="fraction"
        How the degrees stand in the table; "percent" gives errors in percentage points.
    sample_weight : array-like of shape (n,), optional
        How much each row counts, when methods learn and when their errors are averaged; 0 leaves
        a row out.
    lower, upper, sums
        Bounds of missing degrees, and sums of groups of labels, as in the `fit` of `TableModel`.
        Methods that can learn from them do, and all complete within them.
    divisors : array-like of shape (n,), optional
        What rows were divided by, if complete ones do not all sum to the same: the `sums` of what
        `inldl.tables.read_table` returns. Methods then complete rows as they were before, and
        bounds and sums of labels are not used.
    dates : {"auto", "day-first", "month-first"}, default="auto"
        As in `FeatureEncoder`.
    panel : Panel, optional
        Where rows belong. Rows of one unit are then left out together, so that predictions are
        those of new units; of one series, stretches of time are left out.

    Returns
    -------
    Comparison

    Notes
    -----
    Degrees are hidden at random. If the holes of the table are not random, errors at them may be
    larger; see `inspect_table`. A degree that is the only hole of its row does not count, since
    the others give it away; so with two labels methods are compared by predicting alone.

    Examples
    --------
    >>> from inldl.datasets import hide, make_distributions
    >>> from inldl.tables import compare
    >>> X, y = make_distributions(59, random_state=0)
    >>> y = hide(y, 0.3, random_state=0)
    >>> found = compare(X, y, ["winldl", "bfgs-ldl"])
    >>> found.recommended
    'winldl'
    """
    _check(folds, hidden, max_rows, random_state)
    start = time.perf_counter()
    methods = [methods] if isinstance(methods, str) else methods or DEFAULT
    names = list(dict.fromkeys([*map(canonical_method, methods), CONSTANT]))
    labels = list(names_or_numbers(y))
    limits = {"lower": lower, "upper": upper, "sums": sums}
    groups = None if panel is None else panel.held_out_together(folds)
    table = _training_rows(X, y, sample_weight, limits, divisors, labels, groups)
    n_rows = len(table)
    table = table.take(table_rows.sample_rows(n_rows, max_rows, random_state))
    notes = []
    if len(table) < n_rows:
        notes.append(f"A random sample of {max_rows:,} of the {n_rows:,} rows was used.")
    if len(table) < FEW:
        notes.append(f"With fewer than {FEW} rows, chance may decide which method is best.")
    n_rows, table = len(table), _without_copies(table, dates)
    notes += table_rows.copies_notes(n_rows - len(table))
    if groups is not None:
        notes.append(_TIMES_LEFT_OUT if panel.one_series else _UNITS_LEFT_OUT)
    completing = completing_trials(table, hidden, random_state)
    trials = [*completing, *predicting_trials(table, folds, random_state)]
    attempts = {}
    with listening(None) as report:  # not the parts of each fit
        for i, name in enumerate(names):
            report(f"{name} ({i + 1} of {len(names)})", i / len(names))
            attempts[name] = try_method(name, table, labels, trials, random_state, dates)
    kind = "completing" if any(trial.judged.any() for trial in completing) else "predicting"
    if kind == "predicting":
        reason = "With two labels, a hidden share is 1 minus the other"
        if len(labels) > 2:
            reason = "Too few shares could be hidden to measure how well methods complete"
        notes.append(f"{reason}; predicting decides.")
    found = _comparison(attempts, kind, len(table), notes, whole_of(scale))
    return replace(found, n_fits=len(names) * len(trials), elapsed=time.perf_counter() - start)


def compare_file(
    file, methods=None, options=None, *, max_rows=2000, **keywords
) -> tuple[Comparison, list[str]]:
    """Compare methods on a table in a file.

    Returns a `Comparison`, and sentences on how the table was understood. `methods` and
    `max_rows` are as in `inldl.tables.compare`; the `options` are `GroupOptions`, the `keywords`
    fields of it in place of those.
    """
    options = GroupOptions.of(options, **keywords)
    if file.totals.unknown:
        raise ValueError(COMPARING)
    read = file.read(scale=options.scale, normalize=options.normalize)
    weights = table_rows.take_weights(read.features, options.weight, file)
    how = {"max_rows": max_rows, "scale": read.scale, "dates": options.dates}
    how |= {"sample_weight": weights, "divisors": read.sums, **read.known.arguments()}
    panel, notes = table_rows.panel_of(read, options)
    found = compare(read.features, read.degrees, methods, panel=panel, **how)
    notes = [*file.notes, *notes, *table_rows.notes_on_counts(read), *_notes_on_sums(read)]
    return found, notes


def _notes_on_sums(read):
    """Return notes on a table whose sums vary."""
    if read.sums is None:
        return []
    notes = [
        "Complete rows do not all have the same sum. Completing takes this into account, as inldl "
        "complete does; predictions are compared with rows that are divided by their sums."
    ]
    bounded = bool(read.known.bounded.any())
    unused = ["bounds"] * bounded + ["sums of labels"] * bool(read.known.groups)
    if unused:
        notes.append(
            f"Methods are compared without the {' and '.join(unused)} of missing shares; inldl "
            "complete takes them into account."
        )
    return notes


def _check(folds, hidden, max_rows, random_state):
    check_number("folds", folds, low=2, integer=True)
    check_number("hidden", hidden, above=0, below=1)
    check_number("max_rows", max_rows, low=3, integer=True)
    check_number("random_state", random_state, low=0, integer=True)


def _training_rows(X, y, sample_weight, limits, divisors, labels, groups):
    """Return the rows that count, in double precision; refuse what cannot be compared on."""
    divisors = None if divisors is None else np.asarray(divisors)
    about = {"divisors": divisors, "fold_groups": groups}
    table = TrainingRows.of(X, y, sample_weight, limits, **about)
    rows = replace(table.rows, y=table.rows.y.astype(np.float64))
    table = replace(table, rows=rows if divisors is None else rows.unconstrained())
    if len(table) < 3:
        raise ValueError(
            f"The table has {len(table)} row(s); methods are compared on at least three."
        )
    unseen = np.flatnonzero(table.rows.holes.all(axis=0))
    if unseen.size:
        raise ValueError(
            f"No share of {labels[unseen[0]]!r} is known, so no method can be judged by it; leave "
            "it out to compare methods (inldl complete fills it in by the sums of the rows)."
        )
    return table


def _without_copies(table, dates):
    """Return the rows that do not equal an earlier one; these would be known too well.

    The weights of copies are added up.
    """
    encoder = FeatureEncoder(dates=dates).fit(table.features)
    if not encoder.columns_:
        raise ValueError(
            "No feature column tells rows apart, so all methods would predict the same; complete "
            "the table with the default."
        )
    rows = replace(table.rows, number=np.arange(len(table)))
    distinct = replace(table, features=encoder.transform(table.features), rows=rows).distinct()
    if len(distinct) < 3:
        return table
    return replace(distinct, features=table.features.iloc[distinct.rows.number])


def _comparison(attempts, kind, n_rows, notes, whole):
    good = {name: getattr(each, kind) for name, each in attempts.items() if not each.reason}
    if CONSTANT not in good:
        raise ValueError(f"No method can be fitted to the table: {attempts[CONSTANT].reason}")
    better = {name for name in good if _beats_constant(attempts, good, name)}
    best = min(good, key=lambda name: good[name].rmse)
    rows = {name: _row(attempts[name], errors, good[best], whole) for name, errors in good.items()}
    table = pd.DataFrame.from_dict(rows, orient="index").reindex(list(attempts))
    table.insert(0, "method", table.index)
    table["better_than_constant"] = table["method"].isin(better)
    table["reason"] = [attempt.reason for attempt in attempts.values()]
    table = table.sort_values(f"{kind}_rmse", kind="stable", ignore_index=True)
    unit = error_unit(whole)
    facts = attempts, good, better, kind, n_rows
    recommended, why = _recommend(*facts, lambda x: error(whole * x, unit))
    return Comparison(table, recommended, why, n_rows, notes + _warnings(attempts), unit)


def _beats_constant(attempts, good, name):
    """Say whether a method beats the constant mean at what decides, or is as good and predicts."""
    errors, constant = good[name], good[CONSTANT]
    predicting = attempts[name].predicting, attempts[CONSTANT].predicting
    return _is_better(errors, constant) or (_is_near(errors, constant) and _is_better(*predicting))


def _is_better(errors, constant):
    behind, error = errors.behind(constant)
    return bool(behind + 2 * error < 0)


def _row(attempt, errors, best, whole):
    """Return the numbers of a method that did not fail."""
    row = {}
    for kind in ("completing", "predicting"):
        found = getattr(attempt, kind)
        values = {"rmse": found.rmse, "se": found.rmse_error(), "mae": found.mae}
        row |= {f"{kind}_{measure}": whole * value for measure, value in values.items()}
    behind, error = errors.behind(best)
    row |= {"cosine": attempt.cosine, "behind": whole * behind, "behind_se": whole * error}
    return row | {"seconds": np.median(attempt.seconds or 0)}


def _recommend(attempts, good, better, kind, n_rows, written):
    """Return the name of a method, and a sentence that says why."""
    errors = {name: each.rmse for name, each in good.items()}
    what = "fills in hidden shares" if kind == "completing" else "predicts new rows"
    if not better:
        return CONSTANT, (
            "Nothing beats the constant mean by more than chance: in these "
            f"{n_rows:,} rows the features say nothing about the shares."
        )
    best = min(better, key=errors.get)
    near = [name for name in attempts if name in better and _is_near(good[name], good[best])]
    chosen = min(near, key=lambda name: attempts[name].predicting.rmse)
    why = f"{chosen} {what} with an error (RMSE) of {written(errors[chosen])}"
    if chosen == best:
        why += ", the lowest of all"
    else:
        lowest = written(errors[best])
        why += f", as good as the lowest ({best}, {lowest}), and predicts new rows better"
    return chosen, f"{why}; the constant mean has {written(errors[CONSTANT])}."


def _is_near(errors, best):
    behind, error = errors.behind(best)
    return bool(behind <= error)


def _warnings(attempts):
    """Return what methods warned about, each warning once."""
    notes, warned = [], {}
    for name, attempt in attempts.items():
        for text, count in attempt.warned.items():
            if text == NOT_CONVERGED:
                notes.append(f"{name}: {count} {NOT_CONVERGED}.")
            else:
                warned.setdefault(text, []).append(name)
    return notes + [f"{', '.join(names)}: {text}" for text, names in warned.items()]
