"""Ask for missing degrees of public tables, beside other ways to choose what to ask.

90% of the degrees are hidden. In each of a few rounds, all strategies have a method fitted to what
is known, and the same budget for answers; the error is the root mean squared one over all degrees
that were hidden at first, of which answered ones count as 0. Printed are the areas under the
curves of the error against what was spent, relative to the start, as means over seeds, and
Wilcoxon's signed-rank test over the datasets. The row strategy of scikit-activeml (greedy sampling
in the features and the target, GSi) takes part if the package is there. Needs the public datasets
(downloaded, or found in INLDL_DATA):

    python benchmarks/asking.py --rows 200 --seeds 0 1 --row-cost 1
    python benchmarks/asking.py --rows 200 --seeds 0 1 --row-cost 3
    python benchmarks/asking.py --scale
"""

import argparse
import time
import warnings

import numpy as np
from scipy.stats import wilcoxon
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from inldl.completion import completer
from inldl.completion.asking import RowErrors, choose_questions
from inldl.datasets import load
from inldl.tables.ask_trial import ASK, simulate_asking, whole_rows

DATASETS = (
    "SJAFFE", "Movie", "SCUT_FBP", "SBU_3DFE", "Natural_Scene", "emotion6", "Yeast_alpha",
    "Yeast_cdc", "Yeast_diau", "Yeast_dtt", "Yeast_elu", "Yeast_heat", "Yeast_spo",
)  # fmt: skip
WIDE, COMPONENTS = 60, 30
GREEDY = "scikit-activeml GSi"


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
    """Return the strategies that the library does not have."""
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


def compare(options):
    """Print the areas of all strategies on all datasets, and tests of the first against each."""
    areas = {}
    for name in options.datasets:
        found = []
        for seed in options.seeds:
            X, y = table(name, options.rows, seed)
            trial = simulate_asking(
                X, y, options.method, hidden=0.9, rounds=options.rounds, random_state=seed,
                row_cost=options.row_cost, cell_cost=1.0, strategies=others(),
            )  # fmt: skip
            found.append(trial.areas)
            print(
                name,
                seed,
                {key: round(value, 4) for key, value in trial.areas.items()},
                flush=True,
            )
        areas[name] = {key: np.mean([each[key] for each in found]) for key in found[0]}
    names = list(next(iter(areas.values())))
    print(f"\n| data | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
    for name, row in areas.items():
        print(f"| {name} | {' | '.join(f'{row[key]:.3f}' for key in names)} |")
    columns = {key: np.array([row[key] for row in areas.values()]) for key in names}
    print(f"| mean | {' | '.join(f'{columns[key].mean():.3f}' for key in names)} |")
    for key in names:
        if key != ASK and len(areas) > 5:
            p = wilcoxon(columns[ASK], columns[key], alternative="less").pvalue
            wins = int((columns[ASK] < columns[key]).sum())
            print(f"{ASK} below {key}: {wins} of {len(areas)}, p = {p:.4f}")


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--row-cost", type=float, default=1.0)
    parser.add_argument("--method", default="kernel-ridge")
    parser.add_argument("--trees", action="store_true", help="complete with forests, too")
    parser.add_argument("--scale", action="store_true", help="only time the ranking")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.trees:  # they take most of the time, and are the same for all strategies
        completer.ROWS_FOR_TREES = np.inf
    with threadpool_limits(1):
        if options.scale:
            scale()
        else:
            compare(options)


if __name__ == "__main__":
    main()
