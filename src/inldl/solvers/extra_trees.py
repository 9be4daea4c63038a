"""Extremely randomised trees."""

import numpy as np

from inldl import kernels


class ExtraTrees:
    """Extremely randomised trees whose mean predicts a number `y` from features.

    A leaf has at least `min_leaf` rows, and a split looks at a share `max_features` of them.
    """

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray,
        *,
        n_trees: int,
        seed: int,
        min_leaf: int = 2,
        max_features: float = 0.5,
    ) -> None:
        columns = np.ascontiguousarray(X.T, dtype=np.float32)
        n_tried = max(1, int(max_features * len(columns)))
        y = np.ascontiguousarray(y, dtype=np.float64)
        self._trees = kernels.grow_forest(columns, y, n_trees, n_tried, min_leaf, seed)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return what is expected of each row."""
        return kernels.forest_mean(np.ascontiguousarray(X, dtype=np.float32), *self._trees)
