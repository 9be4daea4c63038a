"""How far an interval must reach around a prediction of a label to hold its degree."""

import math

import numpy as np

GROUPS = 5  # of similar predictions, for each of which the usual size of an error is estimated
PRIOR = 20  # errors of average size that each group starts with, so that small ones are not wild
SHARES = (0.5, 0.2, 0.8)  # of an interval that may lie below the prediction


class LabelErrors:
    """The errors of the held-out predictions of one label, beside the observed degrees.

    The `scale` says how large errors are expected to be, relative to others of predictions of the
    same size.
    """

    def __init__(self, predicted, degrees, scale=1.0):
        errors = (degrees - predicted) / scale
        self.predicted, self.errors = predicted, errors
        self.centres, self.sizes = [0.0], [1.0]
        if not len(errors):  # only bounds of the label are known
            return
        groups = np.array_split(np.argsort(predicted, kind="stable"), min(GROUPS, len(errors)))
        total = PRIOR * np.abs(errors).mean()
        self.centres = [predicted[rows].mean() for rows in groups]
        self.sizes = [
            (np.abs(errors[rows]).sum() + total) / (len(rows) + PRIOR) for rows in groups
        ]
        self.errors = errors / self.size(predicted)

    def size(self, predicted):
        """Return the usual absolute error of predictions of the given sizes; never 0."""
        sizes = np.interp(predicted, self.centres, self.sizes)
        return np.maximum(sizes, np.finfo(float).tiny)

    def rank(self, coverage):
        """Return how many of the errors must be covered; it may be one more than there are."""
        return math.ceil((len(self.errors) + 1) * coverage - 1e-9)

    def around(self, predicted, coverage, scale=1.0):
        """Return the lower and the upper ends of intervals around predictions."""
        below, above = self._reach(coverage)
        return self._interval(predicted, below * scale, above * scale)

    def _reach(self, coverage):
        """Return how many sizes an interval reaches below and above a prediction.

        A lopsided interval must be narrower by more than chance, since choosing costs coverage.
        """
        rank = self.rank(coverage)
        if rank > len(self.errors):
            return np.inf, np.inf
        reaches, widths = [], []
        for share in SHARES:
            scores = np.maximum(self.errors / (1 - share), -self.errors / share)
            radius = np.partition(scores, rank - 1)[rank - 1]
            reaches.append((share * radius, (1 - share) * radius))
            lower, upper = self._interval(self.predicted, *reaches[-1])
            handicap = 0 if share == 0.5 else 2 / math.sqrt(len(scores))
            widths.append((upper - lower).mean() * (1 + handicap))
        return reaches[np.argmin(widths)]

    def _interval(self, predicted, below, above):
        size = self.size(predicted)
        return (predicted - below * size).clip(0, 1), (predicted + above * size).clip(0, 1)
