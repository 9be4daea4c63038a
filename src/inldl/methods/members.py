"""Members of AutoInLDL: kernel ridge and softmax regression, extra trees, any regressor."""

from typing import ClassVar

import numpy as np
from sklearn.base import clone

from inldl.methods.baselines import RegressorLDL
from inldl.methods.kernel_base import KernelDistributionEstimator, KernelFeatureEstimator
from inldl.methods.kernel_features import (
    FINE,
    SoftmaxFolds,
    choose_alpha,
    choose_kernel,
    kernel_features,
)
from inldl.methods.parameters import AutoOrNotNegative, Count, Positive, parameters
from inldl.rows.checks import check_ratios
from inldl.rows.density import constant_distribution
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import projected
from inldl.solvers.landmark_kernel import AllColumns, Basis
from inldl.solvers.masked_ridge import fit_completed, leave_one_out, spread_of
from inldl.solvers.softmax import softmax

STRENGTHS = (0.0, 1.0, 10.0, 100.0, 1e3, 1e4)  # of the penalty for labels in order
TOL = 1e-4  # changes of filled degrees that are not worth another fit
ROWS_PER_TREE = 20_000
LARGEST = float(np.finfo(np.float32).max)  # that trees can split


@parameters
class KernelRidgeLDL(KernelFeatureEstimator):
    r"""Kernel ridge regression whose kernel and penalty are chosen by leave-one-out.

    Each label is regressed on kernel features of the rows where it is observed; one
    eigendecomposition gives the residuals with every row left out, in closed form, and one kernel
    and one penalty for all labels are those with the smallest sum of their squares. With these,
    five folds of the rows are each predicted from the others. Then the holes are filled near these
    predictions, such that rows sum to 1 and labels that are harder to predict give way more, and
    the model is fitted to all rows; this is repeated.

    Parameters
    ----------
    max_iter : int, default=10
        How often holes are filled and the model is fitted again.

    Attributes
    ----------
    kernel_, scale_, alpha_ : str, float, float
        What was chosen.
    coef_, intercept_ : ndarray of shape (n_landmarks, n_labels) and (n_labels,)
        Coefficients of the kernel features, and the bias of each label.
    n_iter_ : int
        Fits done.

    Examples
    --------
    >>> from inldl.methods import KernelRidgeLDL
    >>> from inldl import hide
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(300, random_state=0)
    >>> model = KernelRidgeLDL(random_state=0).fit(X, hide(y, 0.5, random_state=0))
    >>> model.kernel_
    'rbf'
    """

    max_iter: Count = 10

    def _train(self, data):
        self.map_ = self._fitted_map(data)
        features, y, weights = self.map_.transform(data.affordable), data.y, data.weights
        self.alpha_ = self.alpha
        if self.alpha == "auto":
            self.alpha_ = choose_alpha(features, y, data.seed, self.n_jobs, weights, data.fold)
        raw = leave_one_out(features, y, self.alpha_, self.n_jobs, weights, data.parts)
        options = {"max_iter": self.max_iter, "tol": TOL, "weights": weights}
        fitted = fit_completed(features, y, raw, self.alpha_, **options)
        self.coef_, self.intercept_, self.n_iter_ = fitted
        self.held_out_ = projected(raw)

    def _degrees(self, dense, scaled):
        return projected(self.map_.transform(scaled, self.coef_) + self.intercept_)

    def _add_degrees(self, graph, dense, scaled):
        about = self.map_, scaled, self.coef_, self.intercept_
        return graph.projection(graph.kernel_scores(*about))


@parameters
class KernelSoftmaxLDL(KernelFeatureEstimator):
    r"""Softmax regression on kernel features.

    With :math:`q = \mathrm{softmax}(b + \varphi W)` it minimises

    .. math:: \sum_{ij \text{ observed}} (q_{ij} - d_{ij} \log q_{ij})
              + \frac{\alpha}{2} \|W\|^2

    by L-BFGS. The kernel is chosen by leave-one-out ridge regression as in
    :class:`inldl.methods.KernelRidgeLDL`, the penalty by five folds of the rows.

    Parameters
    ----------
    smoothness : float or "auto", default=0
        For labels in order, such as ages and ratings: s adds
        :math:`\frac{\alpha s}{2} \sum_j \|w_{j-1} - 2 w_j + w_{j+1}\|^2`, with
        :math:`w_j` the coefficients of label j. Scores of neighbouring labels then change alike,
        and in the limit linearly from label to label. "auto" tries 0, 1, 10, ... as long as the
        distance of held-out predictions falls that mass has to be moved where degrees are known.

    Attributes
    ----------
    held_out_ : ndarray of shape (n_samples, n_labels)
        Predictions of the training rows, each made without the degrees of that row's fold,
        at a kernel and a penalty that were chosen with them.
    kernel_, scale_, alpha_, smoothness_ : str, float, float, float
        What was chosen.
    coef_, intercept_ : ndarray of shape (n_landmarks, n_labels) and (n_labels,)
        Coefficients of the kernel features, and the bias of each label.

    Examples
    --------
    >>> from inldl.methods import KernelSoftmaxLDL
    >>> from inldl import hide
    >>> from inldl.datasets import make_distributions
    >>> X, y = make_distributions(300, random_state=0)
    >>> model = KernelSoftmaxLDL(random_state=0).fit(X, hide(y, 0.5, random_state=0))
    >>> bool(model.predict(X).min() > 0)
    True
    """

    smoothness: AutoOrNotNegative = 0.0
    n_landmarks: Count = 250

    def _train(self, data):
        self.map_ = self._fitted_map(data)
        self.of_all_ = self.kernel == "linear" and data.columns.reducer_ is not None
        if self.of_all_:
            basis = self.map_ = AllColumns.of(data.dense, data.weights)
        else:
            basis = Basis.of(self.map_, data.scaled, data.weights)
        features = basis.features(data.dense if self.of_all_ else data.single)
        about = data.weights, basis.squares, data.seed, self.n_jobs
        least = np.inf
        for smoothness in STRENGTHS if self.smoothness == "auto" else (self.smoothness,):
            how = {"fold": data.fold, "smoothness": smoothness}
            folds = SoftmaxFolds(features, data.y, *about, **how)
            alpha = folds.best_alpha() if self.alpha == "auto" else self.alpha
            held_out, V = folds.cross_fit(alpha)
            moved = np.abs(np.nancumsum(held_out - data.y, axis=1)).sum(axis=1)
            if (error := np.average(moved, weights=data.weights)) >= least:
                break
            least, self.held_out_ = error, held_out
            self.alpha_, self.smoothness_ = alpha, smoothness
            self.coef_, self.intercept_ = basis.split(V)

    def _degrees(self, dense, scaled):
        columns = dense if self.of_all_ else scaled
        return softmax(self.map_.transform(columns, self.coef_) + self.intercept_)

    def _add_degrees(self, graph, dense, scaled):
        if not self.of_all_:
            about = self.map_, scaled, self.coef_, self.intercept_
            return graph.softmax(graph.kernel_scores(*about))
        coef = self.coef_ / self.map_.unit[:, None]
        return graph.softmax(
            graph.scores(dense, coef.T, self.intercept_ - self.map_.center @ coef)
        )


def scale_ratios(columns, y, weights, seed, n_jobs=None) -> np.ndarray:
    """Return degrees: each row of ratios times what is predicted for its labels without it.

    The predictions are those of a softmax regression on kernel features of scaled columns, whose
    likelihood needs no scale. Its kernel is chosen as others are, with rows scaled by one
    distribution for all.
    """
    check_ratios(y)
    rows = PartialRows(PartialRows(y).ratios, weight=weights)
    first = rows.scaled(constant_distribution(rows))
    choice = choose_kernel(columns, first, seed, n_jobs, weights=weights)
    features = kernel_features(columns, choice.kernel, choice.scale, FINE, seed)
    basis = Basis.of(features, columns, weights)
    found = basis.features(columns.astype(np.float32))
    folds = SoftmaxFolds(found, rows.y, weights, basis.squares, seed, n_jobs, ratios=True)
    return rows.scaled(folds.cross_fit(folds.best_alpha())[0])


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
        X = data.columns.reduced(data.dense)
        if max(X.max(), -X.min()) > LARGEST:
            raise ValueError(
                f"Features beyond {LARGEST:.2g} are too large for trees; scale X first, for "
                "example with sklearn.preprocessing.StandardScaler."
            )
        features = self._fitted_map(data).transform(data.affordable)
        self.held_out_, self.forests_, tests = np.empty(data.y.shape), [], []
        for seed, train, test, weights in data.folds():
            completed = self._completed(features[train], data.y[train], seed, weights)
            target = completed[:, 0] if completed.shape[1] == 1 else completed
            forest = self._forest(len(train), seed).fit(X[train], target, weights)
            forest.n_jobs = None  # threads would add up the trees of a prediction in any order
            self.held_out_[test] = projected(_predict_forest(forest, X[test], self.n_labels_))
            self.forests_.append(forest)
            tests.append(test)
            rows = np.concatenate(tests)
            if go_on is not None and not go_on(self.held_out_[rows], rows):
                break

    def _degrees(self, dense, scaled):
        X = self.columns_.reduced(dense)
        predicted = [_predict_forest(forest, X, self.n_labels_) for forest in self.forests_]
        return projected(np.mean(predicted, axis=0))

    def _add_degrees(self, graph, dense, scaled):
        X = graph.reduced(self.columns_, dense)
        means = [graph.trees(X, *_nodes_of(forest)) for forest in self.forests_]
        return graph.projection(graph.mean(means))

    def _completed(self, features, y, seed, weights):
        """Return y completed by leave-one-out predictions of a ridge regression."""
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


@parameters
class OwnRegressor(KernelDistributionEstimator):
    """A regressor of scikit-learn as a member: each of five learns without a fold of the rows."""

    regressor: object = None

    def _train(self, data):
        self.held_out_, self.models_ = np.empty(data.y.shape), []
        for seed, train, test, weights in data.folds():
            y = data.y[train]
            y[:, np.isnan(y).all(axis=0)] = 1 / y.shape[1]  # of which nothing is known here
            model = clone(self.regressor)
            if not hasattr(model, "complete"):  # then it learns one label at a time
                model = RegressorLDL(model, n_jobs=self.n_jobs)
            free = [key for key, value in model.get_params().items() if value is None]
            seeds = {key: seed for key in free if key.split("__")[-1] == "random_state"}
            own = {} if weights is None else {"sample_weight": weights}
            model.set_params(**seeds).fit(data.dense[train], y, **own)
            self.models_.append(model)
            self.held_out_[test] = model.predict(data.dense[test])

    def _degrees(self, dense, scaled):
        return np.mean([model.predict(dense) for model in self.models_], axis=0)


def _predict_forest(forest, dense, n_labels):
    within = np.clip(dense, -LARGEST, LARGEST)  # beyond all splits, so in the same leaves
    within = np.ascontiguousarray(within, dtype=np.float32)
    trees = [each.tree_.predict(within) for each in forest.estimators_]  # .1 ms less than by it
    return sum(trees).reshape(-1, n_labels) / len(trees)


def _nodes_of(forest):
    """Return the nodes of a forest as ONNX has them, and the values of leaves for their mean.

    The largest number in single precision up to a threshold splits rows in single precision alike.
    """
    trees = [each.tree_ for each in forest.estimators_]
    sizes = [tree.node_count for tree in trees]
    names = ("feature", "threshold", "children_left", "children_right")
    feature, cut, left, right = (np.concatenate([getattr(t, n) for t in trees]) for n in names)
    single = cut.astype(np.float32)
    single = np.where(single > cut, np.nextafter(single, np.float32(-np.inf)), single)
    number = np.concatenate([np.arange(size) for size in sizes])
    nodes = np.repeat(np.arange(len(trees)), sizes), number, feature, single, left, right
    values = np.concatenate([tree.value[:, :, 0] for tree in trees])
    return nodes, values[left < 0] / len(trees)
