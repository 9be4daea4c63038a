"""Members of AutoInLDL for any number of rows: a softmax of the sums of trees, and a network."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse

from inldl import kernels
from inldl.methods.kernel_base import KernelDistributionEstimator, stacked
from inldl.methods.kernel_features import KEPT_BYTES
from inldl.methods.parameters import parameters
from inldl.rows.density import mean_degrees
from inldl.solvers.softmax import learn_network, softmax

MOST_GROWN, ROWS_PER_GROWN = (400, 1500), 10  # trees: few rows need fewer
EVERY, WAITS = 10, 4  # rows judge each EVERY trees, and wait so often
# Leaves, rows of the mean that damp steps, and columns that a tree looks at: so many, and one in
# so many of the others. Held-out rows choose, up to CHOOSE rows; more rows can be bold.
BOLD, CALM, CHOOSE = (31, 5.0, 256, 4), (8, 50.0, 16, 5), 5000
LEAST = 5.0  # rows of a leaf
RATE, SHARE = 0.1, 0.7  # of a Newton step; of the rows, for a tree
LEAST_MEAN, TINY = 1e-3, 1e-12  # degree of the mean that it starts from
MOST_BINS, ROWS_PER_BIN, BINS_OF_ALL, FEWEST_BINS = 255, 16, 16_000, 32
MOST_JUDGED = 256  # columns of a tree
ROWS_FOR_BINS = 20_000
HEAVIEST, BOUNDED = 30.0, 20  # times the mean, the most that a row may weigh
FEWER_FOLDS = {3000: 3, 8000: 2}  # beyond so many rows: more rows need less of a mean


@dataclass
class BoostedTrees:
    """Trees whose leaves add to the scores of labels, and the mean that they start from.

    A row goes from a node to its left child, or to the node after that, in the same tree. The
    child of a leaf is -1 - its row in `value`.
    """

    mean: np.ndarray  # (n_labels,)
    feature: np.ndarray  # (n_nodes,) by which a node splits
    threshold: np.ndarray  # (n_nodes,) up to which rows go to the left
    child: np.ndarray  # (n_nodes,) the left child, counted from the root
    value: np.ndarray  # (n_leaves, n_labels)
    roots: np.ndarray  # (n_trees + 1,) where trees begin, and the last one ends

    def degrees(self, X) -> np.ndarray:
        """Return the degrees of rows."""
        self._check_nodes(X.shape[1])
        scores, feature = np.tile(np.log(self.mean), (X.shape[0], 1)), self.feature
        if sparse.issparse(X):
            used, feature = np.unique(feature, return_inverse=True)
            X = X[:, used].toarray()
        parts = feature, self.threshold, self.child, self.value, self.roots[:-1]
        kernels.add_boosted(np.ascontiguousarray(X), *parts, scores)
        return softmax(scores)

    def add_to(self, graph, dense) -> str:
        """Add the degrees to a graph."""
        sizes = np.diff(self.roots)
        number = np.arange(len(self.child)) - np.repeat(self.roots[:-1], sizes)
        tree = np.repeat(np.arange(len(sizes)), sizes)
        nodes = tree, number, self.feature, self.threshold, self.child, self.child + 1
        sums = graph.trees(dense, nodes, self.value[-1 - self.child[self.child < 0]])
        return graph.softmax(sums + np.log(self.mean)[None])

    def _check_nodes(self, n_features):
        """Refuse nodes of a crafted model file that would lead outside of the arrays."""
        size, parts = len(self.child), (self.feature, self.child, self.roots)
        good = all(a.ndim == 1 and a.dtype.kind in "iu" for a in parts) and len(self.roots) > 1
        good = good and self.feature.shape == self.threshold.shape == (size,)
        good = good and self.mean.ndim == 1 and self.value.shape[1:] == self.mean.shape
        sizes = np.diff(self.roots) if good else np.zeros(1, int)
        if good and self.roots[0] == 0 and self.roots[-1] == size and sizes.min() > 0:
            inner, width = self.child >= 0, np.repeat(sizes, sizes)
            at = np.arange(size) - np.repeat(self.roots[:-1], sizes)
            good = (~inner | ((self.child > at) & (self.child + 1 < width))).all()
            good = good and (inner | (-1 - self.child < len(self.value))).all()
            if good and self.feature.min() >= 0 and self.feature.max() < n_features:
                return
        raise ValueError("The nodes of the boosted trees do not fit together.")


class Binned:
    """Rows of features as numbers of bins, from which trees are grown.

    `weights` are those of rows, or None; rows with NaN in a feature have its last bin.
    """

    def __init__(self, X, y, weights, seed):
        self.y, self.n = np.ascontiguousarray(y, dtype=np.float64), len(y)
        self.weights = _bounded(np.ones(self.n) if weights is None else weights)
        self.kept = _screened(X, self.y, self.weights)
        fair = BINS_OF_ALL // len(self.kept)
        most = int(np.clip(min(self.n // ROWS_PER_BIN, fair), FEWEST_BINS, MOST_BINS))
        few = np.sort(np.random.default_rng([seed, 4]).permutation(self.n)[:ROWS_FOR_BINS])
        self.bins = np.empty((len(self.kept), self.n), np.uint8)
        self.edges = np.zeros((len(self.kept), most + 1))
        self.n_bins = np.empty(len(self.kept), np.int64)
        columns = X.tocsc() if sparse.issparse(X) else X
        for i, j in enumerate(self.kept):
            column = columns[:, [j]].toarray().ravel() if columns is not X else X[:, j]
            edges = _edges(column[few], most)
            self.n_bins[i], self.edges[i, : len(edges)] = len(edges) + 1, edges
            self.bins[i] = np.searchsorted(edges, column)

    def grow(self, train, test, seed, how=BOLD) -> tuple["Grown", np.ndarray]:
        """Return trees that learn from some rows, and their losses at others."""
        mean = np.maximum(
            np.nan_to_num(mean_degrees(self.y[train], self.weights[train])), LEAST_MEAN
        )
        mean /= mean.sum()
        k = len(self.bins)
        n_leaves, damping, some, one_in = how
        n_columns = min(k, some + max(k - some, 0) // one_in, MOST_JUDGED)
        most = int(np.clip(len(train) // ROWS_PER_GROWN, *MOST_GROWN))
        limits = most, n_leaves, LEAST, n_columns, EVERY, WAITS
        rows = self.bins, self.n_bins, self.y, self.weights, (train, test)
        step = RATE, damping * mean * (1 - mean) + TINY, SHARE, seed
        *nodes, losses = kernels.boost_softmax(*rows, np.log(mean), limits, step)
        return Grown(mean, nodes, self.edges, self.kept), losses


class Grown:
    """What `boost_softmax` returned for rows in bins with some edges, of the columns `kept`."""

    def __init__(self, mean, nodes, edges, kept):
        self.mean, self.nodes, self.edges, self.kept = mean, nodes, edges, kept

    def first(self, n_trees) -> BoostedTrees:
        """Return at most so many trees, which split features where bins end."""
        (feature, last, child), value, roots, leaves = self.nodes
        n_trees = min(n_trees, len(roots) - 1)
        some = slice(roots[n_trees])
        parts = self.kept[feature[some]], self.edges[feature[some], last[some]], child[some].copy()
        return BoostedTrees(
            self.mean, *parts, value[: leaves[n_trees]].copy(), roots[: n_trees + 1]
        )


def _bounded(weights):
    """Return weights of mean 1; that of a row is bounded, or no leaf without it had enough."""
    for _ in range(BOUNDED):
        weights = np.minimum(weights, HEAVIEST * weights.mean())
    return weights / weights.mean()


def _screened(X, y, weights):
    """Return the numbers of the columns whose bins fit into memory: those that tell most."""
    (n, k), most = X.shape, max(KEPT_BYTES // len(y), 1)
    if k <= most:
        return np.arange(k, dtype=np.int32)
    own = weights[:, None] / n
    residuals = np.nan_to_num(y - mean_degrees(y, weights))
    squares = X.multiply(X) if sparse.issparse(X) else np.square(X)
    means, spread = X.T @ own[:, 0], squares.T @ own[:, 0]
    shared = X.T @ (own * residuals) - np.outer(means, (own * residuals).sum(axis=0))
    told = np.square(shared).sum(axis=1) / np.maximum(spread - means**2, TINY)
    return np.sort(np.argsort(-told, kind="stable")[:most]).astype(np.int32)


def _edges(column, most):
    """Return the largest values of all bins of a column but the last, which has NaN if any is.

    Values that fill more than two bins have one of their own; the others share the rest.
    """
    missing = np.isnan(column)
    values, counts = np.unique(column[~missing], return_counts=True)
    ends = np.ones(max(len(values) - 1, 0), bool)
    if len(values) > most:
        heavy = counts * most > 2 * counts.sum()
        light = np.where(heavy, 0, counts)
        n_bins = max(most - 2 * np.count_nonzero(heavy), 1)
        number = np.cumsum(light) * n_bins // max(light.sum() + 1, 1)
        ends = heavy[:-1] | heavy[1:] | (np.diff(number) > 0)
    found = (values[:-1] / 2 + values[1:] / 2)[ends]
    return np.append(found, values[-1:]) if missing.any() and values.size else found


def best_count(losses) -> int:
    """Return the number of trees with the least loss of all folds, of which some ended early."""
    longest = max(map(len, losses))
    total = sum(np.pad(each, (0, longest - len(each)), mode="edge") for each in losses)
    return EVERY * (int(np.argmin(total)) + 1)


@parameters
class Boosted(KernelDistributionEstimator):
    """A softmax of scores that trees boost, all labels together.

    The rows are cut into folds, five up to 3000 rows, then three, and two beyond 8000; each of as
    many models predicts the fold whose degrees it has not seen. Held-out rows choose the number
    of trees, and how bold they are; the mean of the models predicts new rows.
    """

    def _train(self, data):
        X, n = data.dense, len(data.y)
        binned = Binned(X, data.y, data.weights, data.seed)
        folds = [(train, test, seed) for seed, train, test, _ in data.folds(_most_folds(n))]
        grown, how = [binned.grow(*folds[0])], BOLD
        if n <= CHOOSE:
            calm = binned.grow(*folds[0], CALM)
            if calm[1].min() < grown[0][1].min():
                grown, how = [calm], CALM
        each = partial(binned.grow, how=how)
        threads = Parallel(n_jobs=self.n_jobs, prefer="threads")
        grown += threads(delayed(each)(*fold) for fold in folds[1:])
        count = best_count([losses for _, losses in grown])
        self.models_, self.held_out_ = [g.first(count) for g, _ in grown], np.empty(data.y.shape)
        for model, (_, test, _) in zip(self.models_, folds, strict=True):
            self.held_out_[test] = model.degrees(X[test])

    def _degrees(self, dense, scaled):
        return np.mean([each.degrees(dense) for each in self.models_], axis=0)

    def _add_degrees(self, graph, dense, scaled):
        return graph.mean([each.add_to(graph, dense) for each in self.models_])

    def _alone(self, X, y, weights, judged):
        n, m = len(y), len(judged.y)
        weights = None if weights is None else np.append(weights, judged.weights)
        binned = Binned(stacked(X, judged.dense), np.vstack([y, judged.y]), weights, judged.seed)
        grown, losses = binned.grow(np.arange(n), np.arange(n, n + m), judged.seed)
        return grown.first(best_count([losses]))


@parameters
class NetworkLDL(KernelDistributionEstimator):
    """A network with two hidden layers and a softmax, for scaled columns.

    Each of as many networks as the boosted trees have folds learns without one of them, and
    predicts it; the mean of the networks predicts new rows.
    """

    def _train(self, data, go_on=None):
        """Fit the networks; `go_on` is asked after each fold, by its predictions, if given."""
        self.held_out_, self.models_, rows = np.empty(data.y.shape), [], np.empty(0, int)
        for seed, train, test, weights in data.folds(_most_folds(len(data.y))):
            self.models_.append(learn_network(data.scaled[train], data.y[train], weights, seed))
            self.held_out_[test] = self.models_[-1](data.scaled[test])
            rows = np.append(rows, test)
            if go_on is not None and not go_on(self.held_out_[rows], rows):
                break

    def _degrees(self, dense, scaled):
        return np.mean([each(scaled) for each in self.models_], axis=0)

    def _add_degrees(self, graph, dense, scaled):
        return graph.mean([graph.network(scaled, each.layers) for each in self.models_])

    def _alone(self, X, y, weights, judged):
        return learn_network(judged.columns.scaled(X), y, weights, judged.seed)


def learn_alone(kind, more, judged) -> Boosted | NetworkLDL:
    """Return the member that has learned from rows, and stopped by others that are `judged`.

    `more` are their features, degrees and weights (or None). `judged` is `Prepared`.
    """
    made = kind(random_state=judged.seed)
    made.models_, made.columns_ = [made._alone(*more, judged)], judged.columns
    made.n_labels_ = judged.y.shape[1]
    for name, value in judged.names.items():
        setattr(made, name, value)
    return made


def _most_folds(n):
    """Return the number of folds for so many rows."""
    return next((folds for rows, folds in reversed(FEWER_FOLDS.items()) if n > rows), None)
