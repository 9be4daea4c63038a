"""Extra trees on completed distributions."""

from typing import ClassVar

import numpy as np
from sklearn.model_selection import KFold

from inldl.methods.kernel_base import KernelFeatureEstimator
from inldl.methods.kernel_features import choose_alpha
from inldl.methods.parameters import Count, Positive, parameters
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import projected
from inldl.solvers.masked_ridge import leave_one_out, spread_of

FOLDS = 5
ROWS_PER_TREE = 20_000
LARGEST = float(np.finfo(np.float32).max)  # that trees can split


@parameters
class ForestLDL(KernelFeatureEstimator):
    """Extra trees that learn all labels together, from distributions without holes.

    The rows are cut into five folds. Without each fold the holes are filled near the
    leave-one-out predictions of a kernel ridge regression, such that rows sum to 1, and extra
    trees learn the completed distributions. Each of the five forests predicts the fold whose
    degrees it has not seen, and their mean predicts new rows.

    Parameters
    ----------
    n_trees : int, default=30
        Trees of each of the five forests.
    min_samples_leaf : int, default=2
        Rows in a leaf at least.
    max_features : float, default=0.5
        Share of the features that a split looks at.
    alpha : float or "auto", default="auto"
        The penalty of the ridge regression; "auto" chooses it without each fold.

    Attributes
    ----------
    held_out_ : ndarray of shape (n_samples, n_labels)
        Predictions of the training rows, each made without the degrees of that row's fold,
        by a kernel that was chosen with them.
    forests_ : list of ExtraTreesRegressor
        One without each fold. Beyond 20000 rows each tree learns from as many, drawn with
        replacement.

    Examples
    --------
    >>> from inldl.methods import ForestLDL
    >>> from inldl import hide
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(300, random_state=0)
    >>> model = ForestLDL(random_state=0).fit(X, hide(y, 0.5, random_state=0))
    >>> len(model.forests_)
    5
    """

    n_trees: Count = 30
    min_samples_leaf: Count = 2
    max_features: Positive = 0.5
    n_landmarks: Count = 300
    tunable: ClassVar = {"min_samples_leaf": (1, 2, 5, 10), "max_features": (0.3, 0.5, 1.0)}

    def _train(self, data, go_on=None):
        """Fit the forests; `go_on` is asked after each fold, by its predictions, if given."""
        if max(data.dense.max(), -data.dense.min()) > LARGEST:
            raise ValueError(
                f"Features beyond {LARGEST:.2g} are too large for trees; scale X first, for "
                "example with sklearn.preprocessing.StandardScaler."
            )
        features = self._fitted_map(data).transform(data.affordable)
        folds = KFold(min(FOLDS, len(data.y)), shuffle=True, random_state=data.seed)
        self.held_out_, self.forests_, tests = np.empty(data.y.shape), [], []

        for i, (train, test) in enumerate(folds.split(data.y)):
            seed = (data.seed + i) % 2**31
            weights = None if data.weights is None else data.weights[train]
            completed = self._completed(features[train], data.y[train], seed, weights)
            target = completed[:, 0] if completed.shape[1] == 1 else completed
            forest = self._forest(len(train), seed).fit(data.dense[train], target, weights)
            forest.n_jobs = None  # threads would add up the trees of a prediction in any order
            self.held_out_[test] = projected(_predict(forest, data.dense[test], self.n_labels_))
            self.forests_.append(forest)
            tests.append(test)
            rows = np.concatenate(tests)
            if go_on is not None and not go_on(self.held_out_[rows], rows):
                break

    def _degrees(self, dense, scaled):
        predicted = [_predict(forest, dense, self.n_labels_) for forest in self.forests_]
        return projected(np.mean(predicted, axis=0))

    def _completed(self, features, y, seed, weights):
        """Return y without holes, by what a ridge regression on these rows alone predicts."""
        alpha = self.alpha
        if alpha == "auto":
            alpha = choose_alpha(features, y, seed, self.n_jobs, weights)
        raw = leave_one_out(features, y, alpha, self.n_jobs, weights)
        return PartialRows(y).project(raw, spread_of(y, raw, weights))

    def _forest(self, n, seed):
        from sklearn.ensemble import ExtraTreesRegressor  # .2 s that other methods need not pay

        sampled = n > ROWS_PER_TREE
        return ExtraTreesRegressor(
            self.n_trees,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self.max_features,
            bootstrap=sampled,
            max_samples=ROWS_PER_TREE if sampled else None,
            random_state=seed,
            n_jobs=self.n_jobs,
        )


def _predict(forest, dense, n_labels):
    within = np.clip(dense, -LARGEST, LARGEST)  # beyond all splits, so in the same leaves
    return forest.predict(within).reshape(-1, n_labels)
