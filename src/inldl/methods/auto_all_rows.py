"""AutoInLDL for any number of rows: choose on a sample, then learn from as many as it pays."""

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from inldl.engines import is_outside_memory
from inldl.engines.base import one_blas_thread
from inldl.methods import auto_fitting as _auto_fitting
from inldl.methods.auto_fitting import (
    BOOSTED,
    CONSTANT,
    NETWORK,
    Budget,
    Notes,
    predict_prepared,
)
from inldl.methods.boosted import learn_alone
from inldl.methods.kernel_base import MECHANISM_NOTES, error_of, stacked
from inldl.methods.kernel_features import FOLDS, draw_sample
from inldl.randomness import seed_from
from inldl.rows.checks import check_degrees, degree_facts
from inldl.rows.partial import PartialRows
from inldl.uncertainty.heldout import numbered_folds

HELD_OUT = 0.2  # of the sample: tells when to stop, weighs the members, and gives intervals
BUDGET_SHARE = 0.5  # of the time is for the sample
GROWN = BOOSTED, NETWORK
MORE, MOST_OF_FEATURES = 4, 20_000_000  # times the rows, up to so many features of all
MORE_PAYS = 0.005  # share of the error that they must save for yet more to follow


def is_large(X, y, sample_weight=None) -> bool:
    """Return whether rows exceed the size of a sample, or are not in memory."""
    if is_outside_memory(X, y):
        return True
    shape = getattr(X, "shape", None)
    n = shape[0] if shape else len(X) if hasattr(X, "__len__") else 0
    if n > _auto_fitting.SAMPLE_ROWS and sample_weight is not None:
        n = np.count_nonzero(np.asarray(sample_weight))
    return n > _auto_fitting.SAMPLE_ROWS


def fit_large(model, rows, header, groups=None) -> Any:
    """Fit AutoInLDL to any number of rows, in memory, on disk or in Dask chunks.

    The parameters of the model have been checked, and it knows the columns of the rows. These are
    a `RowSource` with weights and bounds, of which `header` is the header of `PartialRows`; rows
    of one of `groups` are held out together.
    """
    started, n, seed = perf_counter(), rows.X.shape[0], seed_from(model.random_state)
    numbers, sample = draw_sample(rows, _auto_fitting.SAMPLE_ROWS, seed)
    partial = header.block(sample.y, **sample.arrays)
    y = partial.feasible() if partial.constrained else sample.y
    weights = None if partial.weight is None else partial.weight.astype(float)
    with one_blas_thread():  # the same sums for any n_jobs
        about = {"partial": partial, "seed": seed}
        data = model._prepare(sample.X, y, rows.label_names, weights, **about)
        groups = None if groups is None else groups[numbers]
        fold = None if groups is None else numbered_folds(groups, FOLDS, seed)
        data = replace(data, started=started, fold=fold)
        reason = _why_sample_only(model, n, data, partial)
        if reason is None:
            held = _learn_from_more(model, rows, numbers, data)
            sample, numbers, data = sample.take(held), numbers[held], data.take(held)
        else:
            if not rows.in_memory:  # others have been looked through
                check_degrees([degree_facts(y)], rows.label_names)
            model._fit_prepared(data)
            if n > _auto_fitting.SAMPLE_ROWS:
                model.report_.notes.append(
                    f"Learned from a sample of {len(numbers)} of {n} rows: {reason}."
                )
    model.held_out_rows_ = None if len(numbers) == n else numbers
    learned = model._learned_from(sample.y, data.known)
    model._keep_errors(sample.X, learned, groups, partial=partial)
    return model


def _why_sample_only(model, n, data, partial):
    """Return why the rows outside of the sample are not learned from; None if they are."""
    if n <= _auto_fitting.SAMPLE_ROWS:
        return "there are no others"
    if data.fold is not None:
        return "groups of rows can be held out together only there"
    if partial.constrained:
        return "bounds and sums of missing degrees can be used only there"
    if model.known == "ratios":
        return "ratios can be scaled only there"
    if data.mechanism in MECHANISM_NOTES:
        return "degrees that are missing because of their size can be filled in only there"
    if not set(GROWN) & set(model._names()):
        return f"only {' and '.join(GROWN)} can learn from more"
    return None


def _learn_from_more(model, rows, numbers, data):
    """Learn from the sample, then from more rows; return which of the sample were held out.

    `numbers` are those of the rows of the sample.
    """
    held = _held_out(data)
    rest = np.setdiff1d(np.arange(len(data.y)), held)
    learned, judged = data.take(rest), data.take(held)
    model._fit_prepared(learned, share=BUDGET_SHARE)
    learned, judged = (replace(data, columns=model.columns_) for data in (learned, judged))
    parts = {name: predict_prepared(member, judged) for name, member in model.members_.items()}
    constant = np.tile(model.constant_, (len(held), 1))
    before = error_of(judged.y, predict_prepared(model, judged), judged.weights)

    fitting = MoreRows(model, rows, learned, judged)
    for name in sorted(parts.keys() & set(GROWN)):
        parts[name] = fitting.grow(name, numbers, parts[name])
    model._combine(judged, {CONSTANT: constant, **parts}, of=learned)
    fitting.report(parts | {CONSTANT: constant}, before)
    return held


def _held_out(data):
    """Return the rows to hold out of the sample; every label stays observed in the others."""
    n = len(data.y)
    held = np.zeros(n, bool)
    held[np.random.default_rng([data.seed, 1]).permutation(n)[: int(n * HELD_OUT)]] = True
    seen = ~np.isnan(data.known)
    for label in np.flatnonzero(~seen[~held].any(axis=0)):
        held[seen[:, label]] = False
    return np.flatnonzero(held)


class MoreRows:
    """Let members of AutoInLDL learn from more of all `rows`, a `RowSource`, than a sample.

    The `model` was fitted to `learned`, the sample without the held-out rows `judged`; both are
    `Prepared`.
    """

    def __init__(self, model, rows, learned, judged):
        self.model, self.rows, self.learned, self.judged = model, rows, learned, judged
        self.n = rows.X.shape[0]
        self.grown = {}  # the rows that a member learned from, and the seconds
        self.budget = Budget(model.time_budget, learned.started)
        self.notes = Notes(self.budget, model.verbose)

    def grow(self, name, numbers, before) -> np.ndarray:
        """Let a member learn from more rows than the sample, as long as held-out rows gain by it.

        `numbers` are those of the sample, from which it predicts `before`. Returns what it
        predicts at last.
        """
        curve, began, size = self.model.report_.curve, perf_counter(), len(self.learned.y)
        curve.append((name, size, self._error(before)))
        most = min(MOST_OF_FEATURES // self.judged.dense.shape[1], self.n - len(self.judged.y))
        rng = np.random.default_rng([self.learned.seed, 5])
        order = rng.choice(self.n, min(most + len(numbers), self.n), replace=False)
        order = order[~np.isin(order, numbers)]
        seconds, kind = self.model.report_.members[name].seconds, type(self.model.members_[name])
        while size < most:
            times = min(MORE * size, most) / size
            if not self.budget.allows(times * seconds):
                self.notes.cut(f"{name} learned from {size} of {self.n} rows")
                break
            size, start = int(times * size), perf_counter()
            more = self._more(order[: size - len(self.learned.y)])
            member = learn_alone(kind, more, self.judged)
            found = member._degrees(self.judged.dense, self.judged.scaled)
            seconds = perf_counter() - start
            curve.append((name, size, self._error(found)))
            self.notes.say(f"{name}, {size:,} rows: error {curve[-1][-1]:.5f}")
            if curve[-1][-1] < curve[-2][-1]:
                self.model.members_[name], before = member, found
                self.grown[name] = size, perf_counter() - began
            if curve[-1][-1] > (1 - MORE_PAYS) * curve[-2][-1]:
                break
        return before

    def _more(self, numbers):
        """Return the features, degrees and weights of rows of these numbers and of the sample."""
        more, learned = self.rows.take(np.sort(numbers)), self.learned
        X = stacked(learned.dense, learned.columns.dense(more.X))
        y = np.vstack([learned.y, PartialRows(more.y).forced()])
        weights = more.arrays.get("sample_weight")
        if weights is not None:
            weights = np.append(learned.weights, weights.ravel())
        return X, y, weights

    def _error(self, predicted):
        """Return the error of predictions of the held-out rows."""
        return error_of(self.judged.y, predicted, self.judged.weights)

    def report(self, parts, before) -> None:
        """Update the report of the model; `parts` are predictions of the held-out rows."""
        model, held = self.model, len(self.judged.y)
        error, members = self._error(model.held_out_), {}
        for name, old in model.report_.members.items():
            found = self._error(parts[name]) if name in parts else old.error
            members[name] = replace(old, error=found, weight=model.weights_.get(name, 0.0))
        for name, (size, seconds) in self.grown.items():
            members[name] = replace(members[name], rows=size, seconds=seconds)
        if self.grown:
            self.notes.add(
                f"Choices were made on a sample of {len(self.learned.y)} rows. With more rows the "
                f"error of all members together went from {before:.5f} to {error:.5f}."
            )
        self.notes.add(f"Errors are measured on {held} rows that were left out.")
        model.report_ = replace(model.report_, rows=self.n, members=members, error=error)
        model.report_.notes += self.notes.kept
        self.notes.warn()
