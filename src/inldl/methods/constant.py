"""Constant predictors: what every method must beat."""

from typing import Literal

import numpy as np

from inldl.methods.base import DistributionEstimator
from inldl.methods.parameters import Known, parameters
from inldl.rows.checks import check_ratios
from inldl.rows.density import mean_degrees
from inldl.rows.inputs import validate_features
from inldl.rows.partial import PartialRows


@parameters
class ConstantLDL(DistributionEstimator):
    """Predict the same distribution for every row, whatever its features.

    Parameters
    ----------
    strategy : {"mean", "uniform"}, default="mean"
        "mean" predicts the mean of the observed degrees of each label, scaled to sum to 1;
        "uniform" predicts 1/C.
    known : {"degrees", "ratios"}, default="degrees"
        What a row with holes tells. With "ratios", for rows whose missing labels were dropped and
        the others divided by their sum, "mean" is the distribution that agrees best with them.

    Attributes
    ----------
    distribution_ : ndarray of shape (n_labels,)
        What is predicted.

    Examples
    --------
    >>> import numpy as np
    >>> from inldl.methods import ConstantLDL
    >>> y = np.array([[0.2, 0.3, 0.5], [0.4, np.nan, np.nan]])
    >>> ConstantLDL().fit(np.zeros((2, 1)), y).distribution_.round(3)
    array([0.273, 0.273, 0.455])
    """

    strategy: Literal["mean", "uniform"] = "mean"
    known: Known = "degrees"

    def _to_onnx(self, graph, features):
        return graph.repeated(features, self.distribution_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _learn(self, X, y, weights):
        means = np.zeros(self.n_labels_)
        if self.known == "ratios":
            check_ratios(y)
        if self.strategy == "mean" and self.known == "ratios":
            means = PartialRows(y, weight=weights).constant_distribution()
        elif self.strategy == "mean":
            means = np.maximum(mean_degrees(y, weights), 0)
        uniform = np.full(self.n_labels_, 1 / self.n_labels_)
        self.distribution_ = means / means.sum() if means.sum() > 0 else uniform

    def _predict(self, X):
        X = validate_features(self, X, accept_sparse="csr")
        return np.tile(self.distribution_, (X.shape[0], 1))
