"""What is filled in in a table, added up a piece at a time."""

import numpy as np

from inldl.completion.loose_sums import largest_sum, with_lack
from inldl.io._scale import WHOLE
from inldl.solvers.completion import fill_forced
from inldl.tables._missingness import COUNTS, RATIOS, judge_size

MOST_ROWS = 200_000  # that tell why degrees are missing


class Tally:
    """Count the degrees that a model fills in, and keep what tells why they were missing.

    Parameters
    ----------
    file : TableFile
        What is completed.
    model : Model
        Fitted.
    scale : str
        How the degrees stand in the file.
    """

    def __init__(self, file, model, scale):
        self._labels, self._scale, self._whole = file.labels, scale, WHOLE.get(scale, 1.0)
        self._step = max(1, -(-file.source.most_rows() // MOST_ROWS))
        self._loose = model.examples_ is not None and model.examples_.loose
        self._ratios = model.known == "ratios"
        self._completer = None if self._ratios else model._completer()
        self._counts, self._most, self._rows = np.zeros(4, int), 0.0, []
        self._n_bounded = 0

    def add(self, piece, y, completed, limits=None):
        """Add a piece, of which `y` are the degrees as fractions."""
        missing = np.isnan(y)
        exact = (
            0 if self._loose or self._ratios else missing.sum() - np.isnan(fill_forced(y)).sum()
        )
        self._counts += piece.size, missing.sum(), exact, missing.any(axis=1).sum()
        self._n_bounded += 0 if piece.bounds is None else int(piece.bounds.given().sum())
        if self._completer is not None:
            self._most += _most_errors(self._completer, y, np.asarray(completed), limits)
        as_given = piece.values / self._whole if self._loose else y
        if limits is not None:  # bounds say why these are missing
            as_given = np.where(limits.told, completed, as_given)
        self._rows.append(as_given[-piece.first % self._step :: self._step])

    def counts(self):
        """Return how many rows, filled degrees, exact ones and filled rows there are."""
        return self._counts.tolist()

    def results(self):
        """Return what else is known of the filled degrees, by the names in `Written`."""
        unsure, known = self._counts[1] - self._counts[2], self._completer is not None
        rows = np.concatenate(self._rows) if self._rows else np.empty((0, len(self._labels)))
        if self._ratios:  # sums of rows tell nothing then
            return {"ratios": True}
        return {
            "n_bounded": self._n_bounded,
            "below_recorded": known and self._completer.largest_ is not None,
            "size": size_of_holes(rows, self._labels, self._scale, self._loose),
            "most_error": self._whole * self._most / unsure if unsure and known else np.nan,
        }


def _most_errors(completer, y, completed, limits):
    """Return the largest sum of absolute errors that filled degrees can have."""
    found = completer.most_errors(y, completed)
    if limits is not None:
        low, high = limits.possible
        worst = np.where(np.isnan(y), np.maximum(completed - low, high - completed), 0)
        found = np.minimum(found, worst.sum(axis=1))
    return found.sum()


def size_of_holes(y, labels, scale, loose, ratios=False):
    """Return what the sums of rows tell about the sizes of missing degrees, a `SizeTest`."""
    y = np.asarray(y, dtype=np.float64)
    if loose:  # then a row hides what it lacks, too
        y, labels = with_lack(y / largest_sum(y)), [*labels, "what is lacking"]
    untold = COUNTS if scale == "count" else RATIOS if ratios else ""
    return judge_size(y, labels, untold=untold)
