"""Methods of other packages that `docs/auto.md` compares with; `inldl bench` takes them by name.

    PYTHONPATH=benchmarks inldl bench --methods rivals:ChosenRidge,rivals:CatBoost ...

They need LightGBM and CatBoost (pip install lightgbm catboost).
"""

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.linear_model import RidgeCV

from inldl.solvers.completion import projected

PENALTIES = np.logspace(-2, 5, 15)


class _OneByOne(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A regressor for each label, learned from the rows where it is observed, then projected."""

    def fit(self, X, y):
        """Learn from what is observed."""
        X, y = np.asarray(X), np.asarray(y)
        seen = [~np.isnan(column) for column in y.T]
        self.models_ = [self._model().fit(X[s], c[s]) for s, c in zip(seen, y.T, strict=True)]
        return self

    def predict(self, X):
        """Return distributions."""
        return projected(np.column_stack([m.predict(np.asarray(X)) for m in self.models_]))


class ChosenRidge(_OneByOne):
    """Ridge regression with a penalty that leave-one-out chooses for each label."""

    def _model(self):
        return RidgeCV(alphas=PENALTIES)


class LightGBM(_OneByOne):
    """LightGBM as it is, with 200 trees."""

    def _model(self):
        from lightgbm import LGBMRegressor

        return LGBMRegressor(n_estimators=200, n_jobs=1, verbose=-1, random_state=0)


class CatBoost(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """CatBoost's loss for several targets of which some are missing."""

    def fit(self, X, y):
        """Learn from what is observed."""
        from catboost import CatBoostRegressor

        self.model_ = CatBoostRegressor(
            loss_function="MultiRMSEWithMissingValues",
            iterations=300,
            thread_count=1,
            random_seed=0,
            verbose=0,
            allow_writing_files=False,
        ).fit(np.asarray(X), np.asarray(y))
        return self

    def predict(self, X):
        """Return distributions."""
        return projected(np.asarray(self.model_.predict(np.asarray(X))))
