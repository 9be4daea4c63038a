"""Ask for missing degrees of public tables, beside other ways to choose what to ask.

90% of the degrees are hidden. In each of a few rounds, all strategies have a method fitted to what
is known, and the same budget for answers; the error is the root mean squared one over all degrees
that were hidden at first, of which answered ones count as 0. Printed are the areas under the
curves of the error against what was spent, relative to the start, as means over seeds, and
Wilcoxon's signed-rank test over the datasets. The row strategy of scikit-activeml (greedy sampling
in the features and the target, GSi) takes part if the package is there. Needs the public datasets
(downloaded, or found in INLDL_DATA):

    python benchmarks/asking.py --rows 200 --seeds 0 1 --row-cost 1 3
    python benchmarks/asking.py --scale
"""

import argparse
import time
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.integrate import trapezoid
from scipy.stats import wilcoxon
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from inldl import TableModel, hide
from inldl.completion import completer
from inldl.completion.asking import RowErrors, choose_questions
from inldl.datasets import load
from inldl.tables.filled_rows import RowsToFill
from kept import Results, Table, digits, resumed

DATASETS = (
    "SJAFFE", "Movie", "SCUT_FBP", "SBU_3DFE", "Natural_Scene", "emotion6", "Yeast_alpha",
    "Yeast_cdc", "Yeast_diau", "Yeast_dtt", "Yeast_elu", "Yeast_heat", "Yeast_spo",
)  # fmt: skip
WIDE, COMPONENTS = 60, 30
ASK, GREEDY = "ask", "scikit-activeml GSi"
ALL_ROUNDS = 0.5  # of the hidden degrees are asked for in all rounds together
COVERAGE = 0.9  # of the intervals whose widths are compared


@dataclass(frozen=True, eq=False)
class Standing:
    """What is known before a round."""

    X: object  # (n, k) the features
    y: np.ndarray  # (n, C) degrees, NaN = not known yet
    errors: RowErrors  # what a model that was fitted to them says about the errors
    width: np.ndarray  # (n, C) widths of 90% intervals, 0 where a degree is known


class Trial:
    """Known degrees that are hidden, and asked for in rounds by several strategies.

    All strategies start from the same holes. In each round, a method is fitted to what is known,
    a strategy chooses degrees for the same budget, and their true values are put in. A strategy
    takes a `Standing`, a budget, prices and a generator, and returns rows and labels in the order
    of asking; what exceeds the budget is left out.
    """

    def __init__(self, X, y, method, *, hidden=0.5, rounds=5, random_state=0, row_cost=1.0):
        self.X, self.truth, self.method, self.rounds = X, np.asarray(y, float), method, rounds
        self.seed, self.prices = random_state, {"first_cost": row_cost, "more_cost": 1.0}
        self.start = hide(self.truth, hidden, random_state=random_state)
        lost = np.isnan(self.start).all(axis=0)
        self.start[:2, lost] = self.truth[:2, lost]  # some of each label are known
        self.hidden = np.isnan(self.start)
        price = (row_cost + 1.0) / 2
        self.budget = max(1.0, ALL_ROUNDS * self.hidden.sum() / rounds) * price

    def fit(self, y):
        """Return what is known before a round: the method fitted to the degrees so far."""
        model = TableModel(self.method).fit(self.X, y)
        rows = RowsToFill.of(model, self.X, y)
        _, low, high = rows.fill(COVERAGE)
        return Standing(self.X, y, rows.row_errors(), np.nan_to_num(high - low))

    def curves(self, strategies):
        """Return a frame: strategy, round, asked (degrees so far), cost (of them), and rmse."""
        first, found = self.fit(self.start), []
        for name, strategy in strategies.items():
            generator = np.random.default_rng([self.seed, 1])
            found += [{"strategy": name, **row} for row in self.play(strategy, first, generator)]
        return pd.DataFrame(found)

    def play(self, strategy, standing, generator):
        """Yield what was asked for so far and the error, before the first round and after each."""
        asked, cost = 0, 0.0
        for number in range(self.rounds + 1):
            if number:
                wanted = strategy(standing, self.budget, self.prices, generator)
                rows, labels, spent = within_budget(*wanted, self.budget, **self.prices)
                y = standing.y.copy()
                y[rows, labels] = self.truth[rows, labels]
                asked, cost, standing = asked + len(rows), cost + spent, self.fit(y)
            errors = (standing.errors.filled - self.truth)[self.hidden]
            rmse = float(np.sqrt(np.mean(errors**2)))
            yield {"round": number, "asked": asked, "cost": cost, "rmse": rmse}


def area(part):
    """Return the mean of a curve over what was spent, relative to its start."""
    cost, rmse = part["cost"].to_numpy(), part["rmse"].to_numpy()
    return float(trapezoid(rmse, cost) / cost[-1] / rmse[0])


def within_budget(rows, labels, budget, first_cost=1.0, more_cost=1.0):
    """Return the first of some questions that a budget is enough for, and what they cost."""
    rows, labels = np.asarray(rows, int), np.asarray(labels, int)
    again = np.ones(len(rows), bool)
    again[np.unique(rows, return_index=True)[1]] = False
    cost = np.where(again, more_cost, first_cost)
    n = int(np.searchsorted(np.cumsum(cost), budget * (1 + 1e-9), side="right"))
    return rows[:n], labels[:n], float(cost[:n].sum())


def whole_rows(standing, rows):
    """Return the cells of rows in their order; the last hole of a row follows from the others."""
    holes = [np.flatnonzero(np.isnan(standing.y[row]))[:-1] for row in rows]
    return np.repeat(rows, [len(each) for each in holes]), np.concatenate([*holes, []])


def ask(standing, budget, prices, generator):
    """Ask for what `inldl.suggest` suggests."""
    found = choose_questions(standing.errors, budget, **prices)
    return found.row, found.label


def open_cells(standing):
    """Return the cells that are not known, not even by the sum of their row."""
    return np.argwhere(standing.errors.spread[:, : standing.y.shape[1]] > 0)


def random_cells(standing, budget, prices, generator):
    """Ask for cells in a random order."""
    cells = open_cells(standing)
    return tuple(cells[generator.permutation(len(cells))].T)


def widest(standing, budget, prices, generator):
    """Ask for the cells with the widest intervals."""
    cells = open_cells(standing)
    return tuple(cells[np.argsort(-standing.width[tuple(cells.T)], kind="stable")].T)


def most_missing(standing, budget, prices, generator):
    """Ask for all holes of the rows with most of them."""
    missing = np.isnan(standing.y).sum(axis=1)
    return whole_rows(standing, np.lexsort((generator.random(len(missing)), -missing)))


STRATEGIES = {
    ASK: ask,
    "random": random_cells,
    "widest interval": widest,
    "most-missing row": most_missing,
}


def random_rows(standing, budget, prices, generator):
    """Ask for all holes of rows, in a random order."""
    return whole_rows(standing, generator.permutation(len(standing.y)))


def greedy_sampling(standing, budget, prices, generator):
    """Ask for rows that are far from known ones in features and in what is predicted.

    The target is the label with the largest errors; rows of which all is known are its examples.
    """
    from skactiveml.pool import GreedySamplingTarget
    from skactiveml.regressor import SklearnRegressor

    holes = np.isnan(standing.y).sum(axis=1)
    label = int(np.argmax((standing.errors.spread**2).sum(axis=0)))
    target = np.where(holes < 2, standing.errors.filled[:, label], np.nan)
    candidates = np.flatnonzero(holes > 1)
    query = GreedySamplingTarget(method="GSi", random_state=0)
    n = min(len(candidates), 1 + int(budget / prices["first_cost"]))
    model = SklearnRegressor(Ridge(1.0))
    rows = query.query(standing.X, target, model, candidates=candidates, batch_size=n)
    return whole_rows(standing, rows)


def others():
    """Return strategies that ask for whole rows."""
    found = {"random rows": random_rows}
    try:
        import skactiveml  # noqa: F401
    except ImportError:
        print(f"{GREEDY} is left out: pip install scikit-activeml")
        return found
    return found | {GREEDY: greedy_sampling}


def table(name, n_rows, seed):
    """Return features and degrees of some rows."""
    data = load(name)
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y, dtype=float)
    rows = np.random.default_rng(seed).permutation(len(y))[:n_rows]
    X = (X[rows] - X[rows].mean(axis=0)) / (X[rows].std(axis=0) + 1e-9)
    if X.shape[1] > WIDE:
        X = PCA(COMPONENTS, random_state=0).fit_transform(X)
    return X, y[rows]


def areas_of(given, row_cost, name, seed):
    """Return the area of each strategy on a dataset."""
    X, y = table(name, given.rows, seed)
    how = {"rounds": given.rounds, "random_state": seed, "row_cost": row_cost}
    trial = Trial(X, y, given.method, hidden=0.9, **how)
    curves = trial.curves(STRATEGIES | others()).groupby("strategy", sort=False)
    return {"areas": {strategy: area(part) for strategy, part in curves}}


def measured(given):
    """Return a row for each price of a row, dataset and seed."""
    cases = [
        (cost, name, seed)
        for cost in given.row_cost
        for name in given.datasets
        for seed in given.seeds
    ]
    if not given.trees:  # they take most of the time, and are the same for all strategies
        completer.ROWS_FOR_TREES = np.inf
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        keys = ("row_cost", "dataset", "seed")
        return resumed(given.out, keys, cases, lambda *case: areas_of(given, *case))


def results(rows):
    """Return a table of areas for each price, and tests of the first strategy against others."""
    frame = pd.DataFrame([row | row["areas"] for row in rows])
    names, tables, facts = list(rows[0]["areas"]), {}, {}
    for cost, part in frame.groupby("row_cost"):
        areas = part.groupby("dataset", sort=False)[names].mean()
        lines = [[name, *(digits(each, 3) for each in own)] for name, own in areas.iterrows()]
        lines.append(["mean", *(digits(each, 3) for each in areas.mean())])
        tables[f"areas, a row costs {cost:g}"] = Table(["data", *names], lines)
        for other in names:
            if other != ASK and len(areas) > 5:
                p = wilcoxon(areas[ASK], areas[other], alternative="less").pvalue
                wins = int((areas[ASK] < areas[other]).sum())
                facts[f"a row costs {cost:g}: {ASK} below {other}"] = f"{wins} of {len(areas)}"
                facts[f"a row costs {cost:g}: p, {other}"] = f"{p:.4f}"
    return Results(tables, facts)


def scale(n=100_000, n_labels=10):
    """Print how long ranking takes."""
    rng = np.random.default_rng(0)
    y = rng.dirichlet(np.ones(n_labels), n)
    holes = rng.random(y.shape) < 0.5
    spread = np.where(holes, rng.uniform(0.01, 0.1, y.shape), 0)
    covariance = np.eye(n_labels) - 1 / n_labels
    for budget in (100, np.inf):
        start = time.process_time()
        found = choose_questions(RowErrors(y, spread, covariance), budget)
        seconds = time.process_time() - start
        print(f"{n:,} x {n_labels}, budget {budget}: {len(found.row):,} in {seconds:.1f} s of CPU")


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--row-cost", type=float, nargs="+", default=[1.0])
    parser.add_argument("--method", default="kernel-ridge")
    parser.add_argument("--trees", action="store_true", help="complete with forests, too")
    parser.add_argument("--scale", action="store_true", help="only time the ranking")
    parser.add_argument("--out", help="a file of rows that need not be measured again")
    return parser.parse_args(words)


def main():
    given = options()
    if given.scale:
        with threadpool_limits(1):
            scale()
    else:
        results(measured(given)).show()


if __name__ == "__main__":
    main()
