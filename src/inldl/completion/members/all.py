"""Ways to fill the holes of a row from its observed degrees and a prediction.

A member is learned from rows and predictions that were made without them. It maps degrees with
holes and predictions to distributions that keep the observed degrees.
"""

import numpy as np
from joblib import Parallel, delayed

from inldl import kernels
from inldl.completion.hiding import hide_each_label
from inldl.completion.members.normal import Normal
from inldl.rows.cells import mean_degrees
from inldl.rows.side import NOTHING
from inldl.solvers.gaussian import (
    TINY,
    fill_in_proportion,
    fill_near,
    given_observed,
    pairwise_covariance,
)


class Near:
    """Fill near the prediction: labels that are predicted badly move more than others."""

    def __init__(self, y, predicted):
        self.spread = mean_degrees((y - predicted) ** 2) + TINY

    def __call__(self, y, predicted):
        """Return completed rows."""
        return fill_near(y, predicted, self.spread)


class Scaled:
    """Fill in proportion to the prediction, as ratios of degrees may say more than differences."""

    def __init__(self, y, predicted):
        """Learn nothing."""

    def __call__(self, y, predicted):
        """Return completed rows."""
        return fill_in_proportion(y, predicted)


class RootNormal:
    """Fill with what is expected if the errors of square roots are normal.

    They are of one size for small and large degrees. The square of a normal number of mean m and
    variance v has the mean m^2 + v and the variance 4 m^2 v + 2 v^2.
    """

    def __init__(self, y, predicted):
        self.covariance = pairwise_covariance(_root(y) - _root(predicted))

    def __call__(self, y, predicted):
        """Return completed rows."""
        return self.with_variance(y, predicted)[0]

    def with_variance(self, y, predicted):
        """Return completed rows, and the variances of their errors."""
        mean, v = given_observed(_root(y), _root(predicted), self.covariance)
        mean = np.maximum(mean, 0)
        variance = 4 * mean**2 * v + 2 * v**2
        return fill_near(y, mean**2 + v, variance + TINY), variance


class Forests:
    """Fill with extra trees, one forest for each label.

    The forest of a label learns from all rows in which the label is observed. It sees each of
    them as if the label was missing: the other degrees, the missing ones as another member fills
    them without the label, which ones are known, their sum, and the prediction. `hidden` are such
    rows, `filled` what the other member makes of them.
    """

    def __init__(self, hidden, filled, predicted, *, n_trees, seed, n_jobs):
        self.n_jobs, features = n_jobs, _seen(hidden.left, filled, predicted)

        def learn(label, at):
            if not at.any():
                return None
            return kernels.ExtraTrees(
                features[at], hidden.degrees[at], n_trees=n_trees, seed=seed + label
            )

        labels = range(filled.shape[1])
        self.forests = self._each(learn, (hidden.labels == label for label in labels))

    def after(self, y, predicted, filled):
        """Return completed rows, where `filled` is what the member before made of them."""
        holes = np.isnan(y)
        holes &= holes.sum(axis=1, keepdims=True) > 1  # the sum gives a single one
        features = _seen(y, filled, predicted)

        def predict(label, forest):
            rows = holes[:, label]
            if forest is None or not rows.any():
                return filled[rows, label]
            return forest.predict(features[rows])

        found = self._each(predict, self.forests)
        out = filled.copy()
        for label, values in enumerate(found):
            out[holes[:, label], label] = values
        return fill_near(y, out, np.ones(y.shape[1]))

    def _each(self, function, items):
        """Return function(label, item) for all labels; no sum goes over threads."""
        calls = (delayed(function)(label, item) for label, item in enumerate(items))
        return Parallel(n_jobs=self.n_jobs, prefer="threads")(calls)


class Members:
    """All members, learned from the same rows."""

    def __init__(self, y, predicted, n_trees, seed, n_jobs, beside=NOTHING):
        self.contrary, self.means = contrary_labels(y, predicted), predicted.mean(axis=0)
        predicted = self.heard(predicted)
        self.plain = {"near": Near(y, predicted), "scaled": Scaled(y, predicted)}
        self.normal, self.root = Normal(y, predicted, beside), RootNormal(y, predicted)
        self.forests = {}
        if n_trees:
            hidden = hide_each_label(y, seed)
            left, p = hidden.left, predicted[hidden.rows]
            filled = self.root(left, p)
            for name in ("forest", "second forest"):  # each goes on from the one before
                how = {"n_trees": n_trees, "seed": seed, "n_jobs": n_jobs}
                forest = self.forests[name] = Forests(hidden, filled, p, **how)
                filled = forest.after(left, p, filled)

    def heard(self, predicted):
        """Return predictions without what they say about labels that they contradict."""
        return np.where(self.contrary, self.means, predicted)

    @property
    def names(self):
        """Names of the members, in the order of their fills."""
        return [*self.plain, "normal", "root normal", *self.forests]

    def fill_normal(self, y, predicted, beside):
        """Return what the normal member makes of rows."""
        return self.normal(y, self.heard(predicted), beside)

    def fills(self, y, predicted, beside=NOTHING):
        """Return what each member makes of rows, and expected squared errors."""
        predicted = self.heard(predicted)
        filled, variance = self.root.with_variance(y, predicted)
        fills = [member(y, predicted) for member in self.plain.values()]
        fills += [self.normal(y, predicted, beside), filled]
        for forest in self.forests.values():
            fills.append(forest.after(y, predicted, fills[-1]))
        return np.array(fills), variance


def contrary_labels(y, predicted):
    """Return which labels have smaller predictions where their degrees are larger.

    A mean of all other rows is the smaller, the larger the degree of the row itself. Where
    features tell nothing, predictions made without a row are such means: they give it away.
    """
    seen = ~np.isnan(y)
    count = np.maximum(seen.sum(axis=0), 1)
    parts = [np.where(seen, values, 0) for values in (y, predicted)]
    deviations = [np.where(seen, part - part.sum(axis=0) / count, 0) for part in parts]
    return (deviations[0] * deviations[1]).sum(axis=0) < 0


def _root(values):
    return np.sqrt(np.maximum(values, 0))


def _seen(y, filled, predicted):
    """Return what trees see of rows."""
    rest = 1 - np.nansum(y, axis=1, keepdims=True)
    return np.hstack([filled, ~np.isnan(y), rest, predicted])
