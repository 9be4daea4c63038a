"""Fit methods to a part of the degrees of a table, and add up their errors at the others."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from inldl.datasets import hide
from inldl.metrics import METRICS, Pair
from inldl.metrics.registry import mean_of_rows
from inldl.tables.model import TableModel
from inldl.tables.table_rows import TrainingRows
from inldl.uncertainty.heldout import with_every_label

HIDINGS = 3
KNOWN_WIDTH = 1e-9  # between the bounds of a degree that is as good as known
FOLDS = 5  # of the fits from whose errors completing is learned, as `TableModel` has them


@dataclass(frozen=True, eq=False)
class Trial:
    """One fit, and where its errors count.

    A method is fitted to the rows `rows` of the degrees `learned`, which are those of `truth` and
    NaN where they are held out. It `completes` these rows, or predicts the others; errors count
    where `judged` is True. If sums of rows are `loose`, and not just 1, complete rows are divided
    by them before a method sees them.
    """

    truth: np.ndarray
    learned: np.ndarray
    rows: np.ndarray
    judged: np.ndarray
    completes: bool
    loose: bool = False


def completing_trials(table, hidden, random_state) -> list[Trial]:
    """Return trials that hide a share of the observed degrees of all rows, three times.

    Degrees that the bounds and sums of others give away are not judged.
    """
    y, loose = table.rows.y, table.divisors is not None
    y = y * table.divisors[:, None] if loose else y
    trials = []
    for generator in np.random.default_rng([random_state, 0]).spawn(HIDINGS):
        left, judged = hide_more(y, hidden, generator, loose)
        if table.rows.constrained:
            low, high = table.rows.hide(left).possible
            judged &= high - low > KNOWN_WIDTH
        trials.append(Trial(y, left, np.arange(len(y)), judged, True, loose))
    return trials


def hide_more(y, share, generator, loose=False) -> tuple[np.ndarray, np.ndarray]:
    """Return `y` with a share of its observed degrees hidden, and which of them count.

    Each row keeps an observed degree, and each label. A degree that is the only hole of its row
    does not count: it is 1 minus the others, whatever the method, unless sums of rows are `loose`.
    """
    left, seen = hide(y, share, random_state=generator), ~np.isnan(y)
    kept = np.argmax(np.where(seen, generator.random(y.shape), -1), axis=1)
    bare = np.flatnonzero(np.isnan(left).all(axis=1))
    left[bare, kept[bare]] = y[bare, kept[bare]]
    lost = np.isnan(left).all(axis=0)
    left[:, lost] = y[:, lost]
    judged = seen & np.isnan(left)
    return left, judged if loose else judged & (np.isnan(left).sum(axis=1) > 1)[:, None]


def predicting_trials(table, folds, random_state) -> list[Trial]:
    """Return trials that hold out each row once."""
    y, trials = table.rows.y, []
    order = np.random.default_rng([random_state, 1]).permutation(len(y))
    for fold in np.array_split(order, min(folds, len(y))):
        out = np.zeros((len(y), 1), bool)
        out[fold] = True
        learned = np.where(out, np.nan, y)
        trials.append(Trial(y, learned, np.flatnonzero(~out), out & ~np.isnan(y), False))
    return trials


class TrialErrors:
    """The errors of one method, row by row, summed over trials of one kind.

    `squared`, `absolute` and `count` are sums over the judged degrees of a row, times its weight;
    `cosine` is that of its judged degrees in the last trial, or NaN.
    """

    def __init__(self, n, weights=None) -> None:
        self.weights = weights
        self.sums = np.zeros((3, n))
        self.squared, self.absolute, self.count = self.sums
        self.cosine = np.full(n, np.nan)

    def add(self, y, found, judged) -> None:
        """Add the errors of degrees `found` where they are judged."""
        off = np.where(judged, found - np.where(judged, y, 0), 0)
        sums = np.stack([off**2, np.abs(off), judged]).sum(axis=2)
        self.sums += sums if self.weights is None else sums * self.weights
        rows = judged.any(axis=1)
        truth = np.where(judged, y, np.nan)[rows]
        self.cosine[rows] = METRICS["cosine"].formula(Pair.of(truth, found[rows]))

    def rmse(self) -> float:
        """Return the root of the mean squared error, or NaN if nothing was judged."""
        return float(np.sqrt(self._mean(self.squared)))

    def mae(self) -> float:
        """Return the mean absolute error, or NaN if nothing was judged."""
        return self._mean(self.absolute)

    def _mean(self, errors):
        return float(errors.sum() / self.count.sum()) if self.count.any() else np.nan

    def mean_cosine(self) -> float:
        """Return the mean cosine of the rows that have one."""
        return mean_of_rows(self.cosine, self.weights)

    def rmse_error(self) -> float:
        """Return the standard error of `rmse`, from the differences between rows."""
        return _spread(self._influence()) if self.count.any() else np.nan

    def behind(self, other) -> tuple[float, float]:
        """Return by how much `rmse` is above that of another, and the standard error of that.

        Both are judged at the same degrees, so rows are compared one by one.
        """
        return self.rmse() - other.rmse(), _spread(self._influence() - other._influence())

    def _influence(self):
        """Return what each row adds to the deviation of `rmse` from its expectation."""
        total, rmse = self.count.sum(), self.rmse()
        if not rmse > 0:
            return np.zeros(len(self.count))
        return (self.squared - rmse**2 * self.count) / (2 * rmse * total)


def _spread(parts):
    """Return the standard error of a sum of independent parts whose mean is 0."""
    n = np.count_nonzero(parts)
    return float(np.sqrt(np.square(parts).sum() * n / max(n - 1, 1)))


@dataclass
class Attempt:
    """What a method did in all trials: its errors, and the CPU seconds of each fit.

    `warned` counts its warnings, those of convergence as one; `reason` says why it failed.
    """

    completing: TrialErrors
    predicting: TrialErrors
    seconds: list = field(default_factory=list)
    warned: Counter = field(default_factory=Counter)
    reason: str = ""


NOT_CONVERGED = "fits did not converge"


def try_method(method, table, labels, trials, random_state, dates="auto") -> Attempt:
    """Return the `Attempt` of a method, given by its name, in all trials with a table.

    That is given as `TrainingRows`, with the features as a frame.
    """
    about = len(table), table.rows.weight
    result = Attempt(TrialErrors(*about), TrialErrors(*about))
    # Threads of OpenMP that wait for each other made boosting 20 times as slow on a busy machine.
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        warnings.simplefilter("always")
        try:
            for trial in trials:
                how = random_state, result.seconds, dates
                found = run_trial(method, table, labels, trial, *how)
                errors = result.completing if trial.completes else result.predicting
                errors.add(trial.truth, found, trial.judged)
        except Exception as error:  # whatever a method raises is a reason, not an end
            result.reason = " ".join(str(error).split()) or type(error).__name__
    for warning in caught:
        converged = not issubclass(warning.category, ConvergenceWarning)
        text = " ".join(str(warning.message).split()) if converged else NOT_CONVERGED
        result.warned[text] += 1
    return result


def run_trial(method, table, labels, trial, random_state, seconds, dates="auto") -> np.ndarray:
    """Return the degrees that a method gives in a trial, and append the CPU time of its fit."""
    X, learned, divisors = table.features, trial.learned, None
    known = with_every_label(learned[trial.rows])
    if trial.loose:
        (known, divisors), learned = divided(known), divided(learned)[0]
    rows = table.rows.take(trial.rows).hide(known)
    rows = replace(rows, number=np.arange(len(rows)))
    folds = FOLDS if trial.completes else None  # to learn how to complete
    model = TableModel(method, cross_fit=folds, random_state=random_state)
    start = time.process_time()
    training = TrainingRows(X.iloc[trial.rows], rows, divisors)
    model.fit_prepared(model.prepare(training, labels, dates))
    if trial.completes:
        y = pd.DataFrame(learned, index=X.index, columns=labels)
        return model.complete(X, y, **table.rows.hide(learned).arguments()).to_numpy()
    seconds.append(time.process_time() - start)
    out = np.zeros(learned.shape)
    new = np.setdiff1d(np.arange(len(X)), trial.rows)
    out[new] = model.predict(X.iloc[new]).to_numpy()
    return out


def divided(y) -> tuple[np.ndarray, np.ndarray]:
    """Divide complete rows by their sums, and others whose sum exceeds 1; return the sums, too."""
    sums = np.nansum(y, axis=1)
    some = (~np.isnan(y).any(axis=1) | (sums > 1)) & (sums > 0)
    sums = np.where(some, sums, 1.0)
    return y / sums[:, None], sums
