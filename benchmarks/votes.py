"""Measure what it is worth to weigh rows by their votes.

The distributions of a public dataset are taken for what all voters of a row think. Each training
row gets 3 to 30 votes drawn from its distribution, so its shares are noisy. A method learns from
these shares three times: with no weights, with `vote_weights`, and with the votes themselves as
weights. Printed is the mean Kullback-Leibler divergence of its predictions from the distributions
of rows that it has not seen, and by how much `vote_weights` lowers it, with the standard error
over draws.

    python benchmarks/votes.py                    winldl, 10 draws
    python benchmarks/votes.py --method auto --draws 3
"""

import argparse
import warnings

import numpy as np
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from inldl import vote_weights
from inldl.datasets import load
from inldl.methods.registry import make_method
from inldl.metrics import kl_divergence
from kept import Results, Table, digits, resumed

DATASETS = (
    "Movie", "Natural_Scene", "SBU_3DFE", "SCUT_FBP", "SJAFFE", "Emotion6", "Yeast_alpha",
    "Yeast_cdc", "Yeast_diau", "Yeast_dtt", "Yeast_elu", "Yeast_heat", "Yeast_spo",
)  # fmt: skip
ROWS, TRAINED = 500, 0.7
FEWEST, MOST = 3, 30


def draw(X, truth, seed):
    """Return features and shares of some votes to learn from, and rows to predict."""
    rng = np.random.default_rng([seed, 7])
    rows = rng.permutation(len(truth))[:ROWS]
    train, test = np.split(rows, [int(TRAINED * len(rows))])
    scaler = StandardScaler().fit(X[train])
    votes = rng.integers(FEWEST, MOST + 1, len(train))
    counts = rng.multinomial(votes, truth[train])
    return (scaler.transform(X[train]), counts, votes), (scaler.transform(X[test]), truth[test])


def measure(method, X, truth, seed):
    """Return the divergence with no weights, with `vote_weights`, and with votes as weights."""
    (X_train, counts, votes), (X_test, y_test) = draw(X, truth, seed)
    estimator = make_method(method, seed=0)
    weights = vote_weights(X_train, counts, estimator=estimator)
    found = []
    for each in (None, weights, votes / votes.mean()):
        model = make_method(method, seed=0)
        model.fit(X_train, counts / votes[:, None], sample_weight=each)
        found.append(kl_divergence(y_test, model.predict(X_test)))
    return found


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--method", default="winldl")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--out", help="a file of rows that need not be measured again")
    return parser.parse_args(words)


def measured(given):
    """Return the divergences of all draws, a row for each dataset."""

    def one(name):
        X, y = load(name, return_X_y=True)
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
        truth = np.asarray(y, dtype=float)
        truth /= truth.sum(axis=1, keepdims=True)
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            return {"found": [measure(given.method, X, truth, s) for s in range(given.draws)]}

    return resumed(given.out, ("dataset",), [(name,) for name in given.datasets], one)


def results(rows):
    """Return the table, and on how many datasets `vote_weights` is better."""
    lines, better = [], 0
    for row in rows:
        found = np.array(row["found"])
        plain, weighted, by_votes = found.mean(axis=0)
        lower = (found[:, 0] - found[:, 1]) / plain
        error = lower.std(ddof=1) / np.sqrt(len(lower)) if len(lower) > 1 else np.nan
        better += lower.mean() > 0
        numbers = [digits(each) for each in (plain, weighted, by_votes)]
        lines.append([row["dataset"], *numbers, f"{lower.mean():.1%} ± {error:.1%}"])
    columns = ["dataset", "no weights", "`vote_weights`", "votes as weights", "lower by"]
    facts = {"vote_weights is better on": f"{better} of {len(rows)}"}
    return Results({"divergences": Table(columns, lines)}, facts)


def main():
    results(measured(options())).show()


if __name__ == "__main__":
    main()
