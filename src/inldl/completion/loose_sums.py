"""Complete rows whose sums are only about 1: what a row lacks is one more label."""

from dataclasses import replace

import numpy as np

from inldl.completion.completer import Completer
from inldl.rows.side import NOTHING


class LooseSums:
    """Fill the holes of rows whose sums vary.

    Where complete rows sum to 0.95 or 1.01, a missing degree does not follow from the others of
    its row. All degrees are divided by the largest sum S. What a row then lacks to 1 is a label of
    its own, known for complete rows and missing in all others, so that a `Completer` learns how
    large it is, how it goes with the other labels, and how unsure it makes them.

    It has the face of a `Completer`: rows and predictions of `n_labels` degrees, of which only the
    predictions sum to 1.
    """

    def __init__(self, n_jobs=None):
        self.n_jobs = n_jobs

    def fit(self, y, predicted, groups=None, beside=NOTHING, limits=None):
        """Learn from rows, as `Completer.fit` does."""
        self.sum_ = largest_sum(y)
        sums = y.sum(axis=1)  # NaN where there are holes
        self.lack_ = float(np.nanmean(np.append(1 - sums / self.sum_, np.nan)))
        opened = self._opened(y, predicted)
        about = groups, beside, self._limits(limits)
        self.completer_ = Completer(n_jobs=self.n_jobs).fit(*opened, *about)
        self.weights_ = self.completer_.weights_
        return self

    @property
    def refilled_(self):
        """Degrees that were hidden and filled again, without those of the label that is added."""
        found = self.completer_.refilled_
        if found is None:
            return None
        ours = self._ours(found)
        kept = {name: values[ours] for name, values in vars(found).items()}
        degrees = {name: kept[name] * self.sum_ for name in ("degrees", "filled")}
        return replace(found, **kept | degrees | {"left": self._closed(kept["left"])})

    @property
    def hole_weights_(self):
        """How much each of them counts, see `Completer`."""
        weights = self.completer_.hole_weights_
        return None if weights is None else weights[self._ours(self.completer_.refilled_)]

    @property
    def limited_(self):
        """Whether some degrees of the rows were not observed, but had limits."""
        return self.completer_.limited_

    @property
    def largest_(self):
        """What fills holes if only the largest degrees are recorded, see `Completer`."""
        return self.completer_.largest_

    @staticmethod
    def _ours(found):
        """Return which degrees are not of the label that is added."""
        return found.label < found.left.shape[1] - 1

    def most_errors(self, y, filled):
        """Return the largest sum of absolute errors that the holes of each row can have.

        What a row may lack counts among them, so it is a little more than that.
        """
        opened = with_lack(y / self.sum_), with_lack(filled / self.sum_)
        return self.completer_.most_errors(*opened) * self.sum_

    def fill(self, y, predicted, beside=NOTHING, limits=None):
        """Return the rows with their holes filled."""
        opened, limits = self._opened(y, predicted), self._limits(limits)
        return self._kept(y, self.completer_.fill(*opened, beside, limits))

    def fill_with_intervals(self, y, predicted, coverage, beside=NOTHING, limits=None):
        """Return the rows with their holes filled, and the ends of intervals."""
        opened, limits = self._opened(y, predicted), self._limits(limits)
        found = self.completer_.fill_with_intervals(*opened, coverage, beside, limits)
        return self._kept(y, found)

    def row_errors(self, y, predicted, beside=NOTHING, limits=None):
        """Return what is known about the errors; what a row lacks is one more unknown."""
        opened, limits = self._opened(y, predicted), self._limits(limits)
        found = self.completer_.row_errors(*opened, beside, limits)
        filled, spread = self._kept(y, found.filled), found.spread * self.sum_
        return replace(found, filled=filled, spread=spread)

    def draw(self, y, predicted, n_draws, seed, first=0, beside=NOTHING, limits=None):
        """Return completed tables that differ as far as their holes are unsure."""
        opened, about = self._opened(y, predicted), (beside, self._limits(limits))
        return self._kept(y, self.completer_.draw(*opened, n_draws, seed, first, *about))

    def _limits(self, limits):
        """Return limits of rows with one more label, which has none."""
        return None if limits is None else limits.with_lack(self.sum_)

    def _opened(self, y, predicted):
        """Return rows and predictions with what they lack as one more label."""
        return with_lack(y / self.sum_), with_lack(predicted * (1 - self.lack_))

    def _closed(self, rows):
        return rows[..., :-1] * self.sum_

    def _kept(self, y, found):
        """Return what was found, with the given degrees to the bit."""
        return np.where(np.isnan(y), self._closed(found), y)


def largest_sum(y):
    """Return the largest sum of the known degrees of a row, or 1 if all are smaller."""
    return float(np.nansum(y, axis=1).max(initial=1.0))


def with_lack(rows):
    """Return rows with one more label: what they lack to 1, which is missing if a degree is."""
    return np.hstack([rows, 1 - rows.sum(axis=1, keepdims=True)])
