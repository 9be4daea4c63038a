"""Play asking through on a table whose degrees are known: hide them, and ask in rounds."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd
from scipy.integrate import trapezoid
from sklearn.utils import _safe_indexing

from inldl.completion.asking import RowErrors, choose_questions
from inldl.datasets import hide
from inldl.progress import listening
from inldl.rows.checks import as_degrees, check_number, names_or_numbers
from inldl.tables.ask import check_asked, errors_of
from inldl.tables.audit import error_unit
from inldl.tables.model import TableModel
from inldl.tables.table import whole_of
from inldl.tables.table_rows import RowsToFill, sample_rows

ASK = "ask"
ALL_ROUNDS = 0.5  # of the hidden degrees are asked for in all rounds together
FEWEST = 20  # rows that are needed
COVERAGE = 0.9  # of the intervals whose widths are compared


@dataclass(frozen=True, eq=False)
class RoundState:
    """What is known before a round."""

    X: object  # (n, k) the features
    y: np.ndarray  # (n, C) degrees, NaN = not known yet
    errors: RowErrors  # what a model that was fitted to them says about the errors
    width: np.ndarray  # (n, C) widths of 90% intervals, 0 where a degree is known


@dataclass(frozen=True, eq=False)
class AskingTrial:
    """How errors fall with what is asked for.

    Attributes
    ----------
    curves : DataFrame
        Columns strategy, round, asked (degrees asked for so far), cost (of them), and rmse: the
        root mean squared error over all degrees that were hidden, of which those that were asked
        for count as 0.
    areas : dict of str to float
        The mean of each curve over what was spent, relative to its start.
    n_rows, n_hidden : int
        Rows that took part, and degrees that were hidden.
    unit : str
        Of the errors: "percentage points", or nothing for fractions.
    notes : list of str
        What a user should know about how it was done.
    """

    curves: pd.DataFrame
    areas: dict
    n_rows: int
    n_hidden: int
    unit: str = ""
    notes: list = field(default_factory=list)


def simulate_asking(
    X,
    y,
    method="auto",
    *,
    by="cell",
    row_cost=1.0,
    cell_cost=None,
    hidden=0.5,
    rounds=5,
    max_rows=500,
    random_state=0,
    scale="fraction",
    strategies=None,
) -> AskingTrial:
    """Hide known degrees and ask for them in rounds, beside other ways to choose what to ask.

    All strategies start from the same holes. In each round, a method is fitted to what is known,
    a strategy chooses degrees for the same budget, and their true values are put in. In all rounds
    together, about half of the hidden degrees are asked for.

    Parameters
    ----------
    X : frame or array of shape (n, k)
        The features.
    y : frame or array of shape (n, C)
        Degrees; only rows without a missing one take part.
    method : str or estimator, default="auto"
        What completes the table, as in `TableModel`.
    by, row_cost, cell_cost
        As in `inldl.suggest`.
    hidden : float, default=0.5
        The share of the degrees that is hidden.
    rounds : int, default=5
        How often to ask.
    max_rows : int, default=500
        Of a longer table a random sample of as many rows takes part.
    random_state : int, default=0
        For the sample, the holes, and what is asked for at random.
    scale : {"fraction", "percent", "count"}, default="fraction"
        "percent" gives errors in percentage points.
    strategies : dict of str to callable, optional
        Further ones: each takes a `RoundState`, a budget, prices (a dict with first_cost and
        more_cost) and a generator, and returns rows and labels in the order of asking. What
        exceeds the budget is left out.

    Returns
    -------
    AskingTrial
    """
    prices = check_asked(None, by, row_cost, cell_cost)
    check_number("rounds", rounds, low=1, integer=True)
    check_number("hidden", hidden, above=0, below=1)
    X, y, notes = _known_rows(X, y, max_rows, random_state)
    truth, labels = as_degrees(y), list(names_or_numbers(y))
    start = _hidden(truth, hidden, random_state)
    chosen = STRATEGIES | {ASK: partial(_ask, by=by)} | (strategies or {})
    trial = _Trial(X, truth, np.isnan(start), labels, method, prices, rounds)
    with listening(None) as report:  # not the parts of each fit
        first, curves = trial.fit(start), []
        for name, strategy in chosen.items():
            generator = np.random.default_rng([random_state, 1])
            for row in trial.play(strategy, first, generator):
                curves.append({"strategy": name, **row})
                report(name, len(curves) / (len(chosen) * (rounds + 1)))
    curves = pd.DataFrame(curves)
    curves["rmse"] *= whole_of(scale)
    areas = {name: _area(part) for name, part in curves.groupby("strategy", sort=False)}
    unit = error_unit(whole_of(scale))
    return AskingTrial(curves, areas, len(truth), int(trial.hidden.sum()), unit, notes)


def _known_rows(X, y, max_rows, random_state):
    """Return the rows without a missing degree, or a sample of them, and notes."""
    whole = np.flatnonzero(~np.isnan(as_degrees(y)).any(axis=1))
    if len(whole) < FEWEST:
        raise ValueError(
            f"Only {len(whole)} rows have all their shares, and trying out what to ask for needs "
            f"{FEWEST}; use a table with more known shares."
        )
    notes = []
    if len(whole) < len(y):
        notes.append(f"Rows with missing shares were left out: {len(y) - len(whole):,}.")
    if len(whole) > max_rows:
        notes.append(f"A random sample of {max_rows:,} of {len(whole):,} rows was used.")
        whole = whole[sample_rows(len(whole), max_rows, [random_state, 2])]
    return _safe_indexing(X, whole), _safe_indexing(y, whole), notes


def _hidden(truth, share, random_state):
    """Return the table with a share of its degrees hidden, but some of each label known."""
    left = hide(truth, share, random_state=random_state)
    lost = np.isnan(left).all(axis=0)
    left[:2, lost] = truth[:2, lost]
    return left


def _area(part):
    """Return the mean of a curve over what was spent, relative to its start."""
    cost, rmse = part["cost"].to_numpy(), part["rmse"].to_numpy()
    if not (rmse[0] > 0 and cost[-1] > 0):
        return 1.0
    return float(trapezoid(rmse, cost) / cost[-1] / rmse[0])


class _Trial:
    """The table, which degrees of it are hidden, and what a round may cost."""

    def __init__(self, X, truth, hidden, names, method, prices, rounds):
        self.X, self.truth, self.hidden, self.names = X, truth, hidden, names
        self.method, self.prices, self.rounds = method, prices, rounds
        price = (prices["first_cost"] + prices["more_cost"]) / 2
        self.budget = max(1.0, ALL_ROUNDS * hidden.sum() / rounds) * price

    def fit(self, y):
        """Return the state of a round: the method fitted to what is known."""
        model = TableModel(self.method).fit(self.X, pd.DataFrame(y, columns=self.names))
        rows = RowsToFill.of(model, self.X, y)
        _, low, high = rows.fill_with_intervals(COVERAGE)
        return RoundState(self.X, y, errors_of([rows]), high - low)

    def play(self, strategy, state, generator):
        """Yield what was asked for so far and the error, before the first round and after each."""
        asked, cost = 0, 0.0
        for number in range(self.rounds + 1):
            if number:
                rows, labels = strategy(state, self.budget, self.prices, generator)
                rows, labels, spent = within_budget(rows, labels, self.budget, **self.prices)
                y = state.y.copy()
                y[rows, labels] = self.truth[rows, labels]
                asked, cost, state = asked + len(rows), cost + spent, self.fit(y)
            errors = (state.errors.filled - self.truth)[self.hidden]
            rmse = float(np.sqrt(np.mean(errors**2)))
            yield {"round": number, "asked": asked, "cost": cost, "rmse": rmse}


def within_budget(
    rows, labels, budget, first_cost=1.0, more_cost=1.0
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the first of some questions that a budget is enough for, and what they cost."""
    rows, labels = np.asarray(rows, int), np.asarray(labels, int)
    again = np.ones(len(rows), bool)
    again[np.unique(rows, return_index=True)[1]] = False
    cost = np.where(again, more_cost, first_cost)
    n = int(np.searchsorted(np.cumsum(cost), budget * (1 + 1e-9), side="right"))
    return rows[:n], labels[:n], float(cost[:n].sum())


def whole_rows(state, rows) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells of rows in their order; the last hole of a row follows from the others."""
    holes = [np.flatnonzero(np.isnan(state.y[row]))[:-1] for row in rows]
    return np.repeat(rows, [len(each) for each in holes]), np.concatenate([*holes, []])


def _ask(state, budget, prices, generator, by):
    """Return what `inldl.suggest` asks for."""
    found = choose_questions(state.errors, budget, whole_rows=by == "row", **prices)
    return found.row, found.label


def _open_cells(state):
    """Return the cells that are not known, not even by the sum of their row."""
    return np.argwhere(state.errors.spread[:, : state.y.shape[1]] > 0)


def _random(state, budget, prices, generator):
    cells = _open_cells(state)
    return tuple(cells[generator.permutation(len(cells))].T)


def _widest(state, budget, prices, generator):
    cells = _open_cells(state)
    return tuple(cells[np.argsort(-state.width[tuple(cells.T)], kind="stable")].T)


def _most_missing(state, budget, prices, generator):
    missing = np.isnan(state.y).sum(axis=1)
    return whole_rows(state, np.lexsort((generator.random(len(missing)), -missing)))


STRATEGIES = {
    ASK: None,  # the first in pictures
    "random": _random,
    "widest interval": _widest,
    "most-missing row": _most_missing,
}
