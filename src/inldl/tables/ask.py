"""Which missing degrees of a table to ask for next."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from inldl.completion.asking import choose_questions
from inldl.methods.intervals import check_coverage
from inldl.methods.pipelines import check_able, last_step
from inldl.rows.checks import as_degrees, check_choice, check_number, names_or_numbers
from inldl.tables.filled_rows import RowsToFill
from inldl.tables.model import TableModel

ASKING = (
    "Only ratios of shares are known (--ratios, --total none), so nobody can say what an answer "
    "would be worth. Questions need a table of shares."
)


@dataclass(frozen=True, eq=False)
class Suggestion:
    """Missing degrees to ask for, the best first.

    Attributes
    ----------
    table : DataFrame
        One row for each of them, with the columns

        rank
            From 1. With ``by="row"`` all degrees of a row have the same.
        row, label
            Where it is: the place of the row, from 0, and the name of the label.
        estimate, low, high
            What would be filled in, and its interval.
        gain
            By how much the answer reduces the expected squared error of the completed table,
            summed over its cells, once the answers before it are there.
        rmse
            What the expected root mean squared error of all missing degrees is then; those that
            were answered count as 0.
        cost
            What the answer costs.
    rmse : float
        The expected root mean squared error of all missing degrees before anything is asked.
    n_missing : int
        How many degrees are missing.
    coverage : float
        Of the intervals.
    """

    table: pd.DataFrame
    rmse: float
    n_missing: int
    coverage: float = 0.9

    @property
    def rmse_after(self) -> float:
        """Return the expected error once all questions are answered."""
        return float(self.table["rmse"].iloc[-1]) if len(self.table) else self.rmse


def suggest(
    model,
    X,
    y,
    budget=10,
    *,
    by="cell",
    row_cost=1.0,
    cell_cost=None,
    coverage=0.9,
    lower=None,
    upper=None,
    sums=None,
) -> Suggestion:
    """Suggest which missing shares to ask for, so that the completed table improves most.

    Guide: :doc:`/ask`.

    The errors of the missing degrees of a row go together: they sum to 0, and some labels are
    large where others are small. So an answer also tells about the other holes of its row. What
    it is worth is computed from the covariance of these errors, see
    `inldl.completion.asking`. The sizes of the errors are those that were found at known degrees
    which were hidden on purpose.

    Parameters
    ----------
    model : str or estimator
        What completes the table: a name as in ``inldl methods``, such as "auto", or an estimator
        of this library, `inldl.TableModel` among them. A fitted one is used as it is; one that is
        not is cloned, and fitted to `X` and `y`. It may be the last step of a `Pipeline`.
    X : array-like or frame of shape (n_samples, n_features)
        The features; None if there are none.
    y : array-like or frame of shape (n_samples, n_labels)
        Degrees, NaN = unobserved.
    budget : float, default=10
        What all answers together may cost: with the default prices, how many to ask for. None
        ranks all missing degrees.
    by : {"cell", "row"}, default="cell"
        Whether to ask for single degrees, or for all missing ones of a row. The last one of a row
        follows from the others, and is not asked for.
    row_cost : float or array-like of shape (n_samples,), default=1.0
        What the first answer in a row costs.
    cell_cost : float or array-like of shape (n_samples,), optional
        What each further answer in the same row costs; as much as the first by default.
    coverage : float, default=0.9
        The share of unobserved degrees that should lie in their intervals.
    lower, upper, sums
        What else is known of unobserved degrees, as in `complete`.

    Returns
    -------
    Suggestion
        Its `table` has a row for each degree to ask for, the best first. The same input gives the
        same list.

    Examples
    --------
    >>> from inldl import hide, suggest
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(50, random_state=0)
    >>> found = suggest("winldl", X, hide(y, 0.5, random_state=0), budget=3)
    >>> found.table[["rank", "row", "label"]].shape
    (3, 3)
    >>> found.rmse_after < found.rmse
    True
    """
    check_coverage(coverage)
    given = as_degrees(y)
    prices = check_asked(budget, by, row_cost, cell_cost, len(given))
    X = pd.DataFrame(index=range(len(given))) if X is None else X
    bounds = {"lower": lower, "upper": upper, "sums": sums}
    model, X = _fitted(model, X, y, bounds)
    rows = RowsToFill.of(model, X, y, **bounds)
    return suggestion(rows, names_or_numbers(y), budget, by, prices, coverage)


def check_asked(budget, by, row_cost, cell_cost, n=0) -> dict[str, Any]:
    """Refuse what cannot be asked for; return the prices by the names in `choose_questions`.

    Prices are numbers, or arrays with one for each of n rows. Without a `cell_cost`, further
    answers in a row cost as much as the first.
    """
    check_choice("by", by, ("cell", "row"))
    if budget is not None:
        check_number("budget", budget, above=0)
    cell_cost = row_cost if cell_cost is None else cell_cost
    for name, price in (("row_cost", row_cost), ("cell_cost", cell_cost)):
        values = np.asarray(price)
        if values.dtype.kind not in "iuf" or values.shape not in ((), (n,)):
            raise ValueError(
                f"{name} must be a number, or a number for each of the {n} rows, got {price!r}."
            )
        bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
        if bad.size:
            where = f" in row {bad[0]} (counted from 0)" if values.ndim else ""
            raise ValueError(
                f"{name} is {values.flat[bad[0]]:g}{where}, which is not a price; give a number "
                "above 0."
            )
    return {"first_cost": row_cost, "more_cost": cell_cost}


def _fitted(model, X, y, bounds):
    """Return the estimator, fitted, and what it sees of the features."""
    known = bounds if isinstance(model, str) else {}
    model = TableModel(model) if isinstance(model, str) else model
    inner = getattr(model, "estimator", model)  # of a search
    inner = inner[-1] if isinstance(inner, Pipeline) else inner
    check_able(inner, "complete_interval")
    refuse_asking(inner)
    try:
        check_is_fitted(model)
    except NotFittedError:
        model = clone(model).fit(X, y, **known)
    return last_step(model, X, "complete_interval")


def refuse_asking(model) -> None:
    """Refuse to say what to ask for with a model or estimator of ratios."""
    if getattr(model, "known", "") == "ratios":
        raise ValueError(ASKING)


def suggestion(rows, labels, budget, by, prices, coverage) -> Suggestion:
    """Return a `Suggestion` for the `RowsToFill` of a table.

    The `prices` are what `check_asked` returns.
    """
    refuse_asking(rows.model)
    errors, n_missing = rows.row_errors(), int(rows.rows.holes.sum())
    most = np.inf if budget is None else budget
    found = choose_questions(errors, most, whole_rows=by == "row", **prices)
    some, at = np.unique(found.row, return_inverse=True)
    _, low, high = rows.take(some).fill(coverage)
    left = np.maximum(found.before - np.cumsum(found.gain), 0) / max(n_missing, 1)
    rank = np.arange(1, len(found.row) + 1)
    if by == "row":
        rank = np.cumsum(np.append(True, found.row[1:] != found.row[:-1])[: len(rank)])
    table = {
        "rank": rank,
        "row": found.row,
        "label": np.asarray(labels, dtype=object)[found.label],
        "estimate": errors.filled[found.row, found.label],
        "low": low[at, found.label],
        "high": high[at, found.label],
        "gain": found.gain,
        "rmse": np.sqrt(left),
        "cost": found.cost,
    }
    rmse = float(np.sqrt(found.before / max(n_missing, 1)))
    return Suggestion(pd.DataFrame(table), rmse, n_missing, coverage)
