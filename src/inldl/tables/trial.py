"""Fit methods to a part of the degrees of a table, and add up their errors at the others."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold
from threadpoolctl import threadpool_limits

from inldl.datasets import hide
from inldl.metrics import METRICS, Pair
from inldl.metrics.registry import mean_of_rows
from inldl.tables.audit import Errors
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
    """Return trials that hold out each row once, those of one group together."""
    y, groups, trials = table.rows.y, table.fold_groups, []
    order = np.random.default_rng([random_state, 1]).permutation(len(y))
    parts = np.array_split(order, min(folds, len(y)))
    if groups is not None:
        kind = GroupKFold(min(folds, len(np.unique(groups))), shuffle=True, random_state=0)
        parts = [part for _, part in kind.split(y, groups=groups)]
    for fold in parts:
        out = np.zeros((len(y), 1), bool)
        out[fold] = True
        learned = np.where(out, np.nan, y)
        trials.append(Trial(y, learned, np.flatnonzero(~out), out & ~np.isnan(y), False))
    return trials


@dataclass
class Attempt:
    """What a method did in all trials: its errors, and the CPU seconds of each fit.

    `cosine` is the mean over the rows that it predicted. `warned` counts its warnings, those of
    convergence as one; `reason` says why it failed.
    """

    completing: Any = None  # `Errors`, as those of predicting
    predicting: Any = None
    cosine: float = np.nan
    seconds: list = field(default_factory=list)
    warned: Counter = field(default_factory=Counter)
    reason: str = ""


NOT_CONVERGED = "fits did not converge"


def try_method(method, table, labels, trials, random_state, dates="auto") -> Attempt:
    """Return the `Attempt` of a method, given by its name, in all trials with a table.

    That is given as `TrainingRows`, with the features as a frame.
    """
    result = Attempt()
    errors: dict[bool, list[Errors]] = {True: [], False: []}
    weight, predicted = table.rows.weight, np.zeros(table.rows.y.shape)
    # Threads of OpenMP that wait for each other made boosting 20 times as slow on a busy machine.
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        warnings.simplefilter("always")
        try:
            for trial in trials:
                how = random_state, result.seconds, dates
                found = run_trial(method, table, labels, trial, *how)
                part = Errors.at(trial.judged, found - trial.truth, weight)
                if not trial.completes and table.fold_groups is not None:
                    part = replace(part, row=table.fold_groups[part.row])  # these differ by chance
                errors[trial.completes].append(part)
                predicted += 0 if trial.completes else found
        except Exception as error:  # whatever a method raises is a reason, not an end
            result.reason = " ".join(str(error).split()) or type(error).__name__
    if not result.reason:
        result.completing, result.predicting = map(Errors.joined, errors.values())
        rows = METRICS["cosine"].formula(Pair.of(table.rows.y, predicted))
        result.cosine = mean_of_rows(rows, weight)
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
