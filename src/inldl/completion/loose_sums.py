"""Complete rows whose sums are only about 1: what a row lacks is one more label."""

from dataclasses import replace

import numpy as np

from inldl.completion.asking import RowErrors
from inldl.completion.completer import Completer
from inldl.rows.density import GammaDegrees
from inldl.rows.partial import add_slack
from inldl.uncertainty.hiding import Refilled


class LooseSums:
    """Fill the holes of rows whose sums vary.

    Where complete rows sum to 0.95 or 1.01, a missing degree does not follow from the others of
    its row. All degrees are divided by the largest sum S. What a row then lacks to 1 is a label of
    its own, known for complete rows and missing in all others, so that a `Completer` learns how
    large it is, how it goes with the other labels, and how unsure it makes them.

    It has the interface of a `Completer`: rows and predictions of `n_labels` degrees, of which
    only the predictions sum to 1.
    """

    def __init__(self, n_jobs=None):
        self.n_jobs = n_jobs

    def fit(self, rows, predicted, groups=None, expected=None) -> "LooseSums":
        """Learn from rows, as `Completer.fit` does."""
        y = rows.y if expected is None else expected
        self.sum_ = largest_sum(y)
        sums = y.sum(axis=1)  # NaN where there are holes
        self.lack_ = float(np.nanmean(np.append(1 - sums / self.sum_, np.nan)))
        expected = None if expected is None else add_slack(expected / self.sum_)
        opened, slack = self._opened(rows, predicted)
        self.completer_ = Completer(n_jobs=self.n_jobs).fit(opened, slack, groups, expected)
        self.weights_ = self.completer_.weights_
        return self

    @property
    def refilled_(self) -> Refilled | None:
        """Degrees that were hidden and filled again, without those of the label that is added."""
        found = self.completer_.refilled_
        if found is None:
            return None
        ours = self._ours(found)
        kept = {name: values[ours] for name, values in vars(found).items()}
        degrees = {name: kept[name] * self.sum_ for name in ("degrees", "filled")}
        return replace(found, **kept | degrees | {"left": self._closed(kept["left"])})

    @property
    def hole_weights_(self) -> np.ndarray | None:
        """How much each of them counts, see `Completer`."""
        weights = self.completer_.hole_weights_
        return None if weights is None else weights[self._ours(self.completer_.refilled_)]

    @property
    def limited_(self) -> bool:
        """Whether some degrees of the rows were not observed, but had limits."""
        return self.completer_.limited_

    @property
    def top_k_(self) -> GammaDegrees | None:
        """What fills holes if only the largest degrees are recorded, see `Completer`."""
        return self.completer_.top_k_

    @staticmethod
    def _ours(found) -> np.ndarray:
        """Return which degrees are not of the label that is added."""
        return found.label < found.left.shape[1] - 1

    def most_errors(self, y, filled) -> np.ndarray:
        """Return the largest sum of absolute errors that the holes of each row can have.

        What a row may lack counts among them, so it is a little more than that.
        """
        opened = add_slack(y / self.sum_), add_slack(filled / self.sum_)
        return self.completer_.most_errors(*opened) * self.sum_

    def fill(self, rows, predicted) -> np.ndarray:
        """Return the rows with their holes filled."""
        return self._kept(rows, self.completer_.fill(*self._opened(rows, predicted)))

    def fill_with_intervals(self, rows, predicted, coverage) -> np.ndarray:
        """Return the rows with their holes filled, and the ends of intervals."""
        opened, slack = self._opened(rows, predicted)
        return self._kept(rows, self.completer_.fill_with_intervals(opened, slack, coverage))

    def row_errors(self, rows, predicted) -> RowErrors:
        """Return what is known about the errors; what a row lacks is one more unknown."""
        errors = self.completer_.row_errors(*self._opened(rows, predicted))
        filled, spread = self._kept(rows, errors.filled), errors.spread * self.sum_
        return replace(errors, filled=filled, spread=spread)

    def draw(self, rows, predicted, n_draws, seed, first=0) -> np.ndarray:
        """Return completed tables that differ as far as their holes are unsure."""
        opened, slack = self._opened(rows, predicted)
        return self._kept(rows, self.completer_.draw(opened, slack, n_draws, seed, first))

    def _opened(self, rows, predicted):
        """Return rows and predictions with what they lack as one more label."""
        return rows.with_slack(self.sum_), add_slack(predicted * (1 - self.lack_))

    def _closed(self, rows):
        return rows[..., :-1] * self.sum_

    def _kept(self, rows, filled):
        """Return what was filled in, with the given degrees to the bit."""
        return np.where(rows.holes, self._closed(filled), rows.y)


def learn_completer(kept, n_jobs=None) -> Completer | LooseSums:
    """Return what a `HeldOutSample` tells about completing, learned when first asked for."""

    def learn(kept):
        kind = LooseSums if kept.loose else Completer
        expected = None if kept.lower is None else kept.degrees
        return kind(n_jobs=n_jobs).fit(kept.rows(), kept.predicted, kept.groups, expected)

    return kept.learned("completer", learn)


def largest_sum(y) -> float:
    """Return the largest sum of the known degrees of a row, or 1 if all are smaller."""
    return float(np.nansum(y, axis=1).max(initial=1.0))
