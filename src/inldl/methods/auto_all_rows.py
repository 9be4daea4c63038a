"""AutoInLDL for any number of rows: choose on a sample, then learn from all where they are."""

from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from inldl.engines import is_outside_memory
from inldl.engines.base import one_blas_thread
from inldl.methods import auto_fitting as _auto_fitting
from inldl.methods.auto_fitting import (
    BOOSTED,
    CONSTANT,
    NETWORK,
    Budget,
    MemberReport,
    Notes,
    predict_prepared,
)
from inldl.methods.boosted import learn_alone
from inldl.methods.kernel_base import MECHANISM_NOTES, error_of, stacked
from inldl.methods.kernel_features import FOLDS, draw_sample
from inldl.progress import RowCounter
from inldl.randomness import seed_from
from inldl.rows.checks import check_degrees, degree_facts
from inldl.rows.partial import PartialRows
from inldl.solvers.landmark_kernel import KernelSweeps, LandmarkKernel, Sample
from inldl.uncertainty.heldout import numbered_folds

HELD_OUT = 0.2  # of the sample: tells when to stop, weighs the members, and gives intervals
BUDGET_SHARE = 0.5  # of the time is for the sample
SOFTMAX, GROWN = "kernel-softmax", (BOOSTED, NETWORK)
LANDMARKS = 250  # as the sample's softmax has; twice as many are tried, and so on
GROWTH, MOST_LANDMARKS = 0.3, 4000  # ten times the rows may have twice the landmarks
ROWS_PER_LANDMARK = 4
PAYS = 0.002  # share of the error that twice the landmarks must save
MOST_SWEEPS, GAIN = 4, 5e-4  # share of the error that a sweep must save for another to follow
DAMPINGS = (1.0, 30.0, 1000.0)  # of steps; the next one is tried where held-out rows lose
FIRST_ALPHA = 0.1  # where the sample had no time to choose one
MORE, MOST_OF_FEATURES = 4, 20_000_000  # times the rows for trees, up to so many features of all
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
            held = _learn_from_all(model, rows, sample, numbers, data)
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
    if not {SOFTMAX, *GROWN} & set(model._names()):
        return f"only {SOFTMAX}, {BOOSTED} and {NETWORK} can learn from more"
    return None


def _learn_from_all(model, rows, sample, numbers, data):
    """Learn from the sample, then from all rows; return which of the sample were held out.

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

    fitting = AllRows(model, rows, learned, judged)
    grown = [name for name in GROWN if name in parts]
    for name in grown:
        parts[name] = fitting.grow(name, numbers, parts[name])
    if SOFTMAX in parts or not grown:
        found = fitting.learn(sample.take(held), parts.get(SOFTMAX))
        if found is not None:
            model.members_[SOFTMAX], parts[SOFTMAX] = found, found(judged.scaled)
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


class AllRows:
    """Fit the softmax member of AutoInLDL to all `rows`, a `RowSource`.

    The `model` was fitted to `learned`, the sample without the held-out rows `judged`; both are
    `Prepared`.
    """

    def __init__(self, model, rows, learned, judged):
        self.model, self.rows, self.learned, self.judged = model, rows, learned, judged
        self.n, self.seconds, self.sweeps, self.chosen = rows.X.shape[0], 0.0, 0, {}
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

    def learn(self, held, before) -> Any:
        """Return the softmax of all rows but the rows `held`, or None.

        It is None if there is no time for it, or if it predicts the held-out rows no better than
        the softmax of the sample, which predicted `before`.
        """
        began, found = perf_counter(), self._choose()
        if found is None:
            self.notes.cut(f"Learned from a sample of {len(self.learned.y)} of {self.n} rows")
            return None
        model = self._sweep(held, *found)
        self.seconds = perf_counter() - began
        if before is None or self._error(before) > self._error(model(self.judged.scaled)):
            return model
        self.chosen = {}
        self.notes.add(
            f"All {self.n} rows predict no better than a sample of {len(self.learned.y)}."
        )
        return None

    def _choose(self):
        """Choose the number of landmarks; return the sample, parameters, penalty and error."""
        report, data = self.model.report_, self.learned
        order = np.random.default_rng([data.seed, 2]).permutation(len(data.y))
        Z = data.scaled[order]
        landmarks = Z[: self._counts(len(order))[-1]].astype(np.float32)
        width = data.width(report.kernel)
        weights = None if data.weights is None else data.weights[order]

        def sample_with(m):
            kernel = LandmarkKernel(report.kernel, float(report.scale / width), landmarks[:m])
            return Sample(kernel, Z, data.y[order], weights)

        known = report.members.get(SOFTMAX)
        alpha, best = FIRST_ALPHA if known is None else known.chosen["alpha"], None
        for m in self._counts(len(order)):
            if not self._affordable(LandmarkKernel(report.kernel, 1.0, landmarks[:m])):
                self.notes.cut(f"{m} landmarks were not tried")
                break
            sample = sample_with(m)
            found = self._start(sample, alpha)
            self.notes.say(f"{m} landmarks: error {found[-1]:.5f} at held-out rows")
            if best is not None and found[-1] > best[-1] * (1 - PAYS):
                sample = None
                break
            best, alpha = (m, *found), found[1]
        if best is None:
            return None
        m, *found = best
        self.chosen = {"alpha": found[1], "landmarks": m}
        return sample or sample_with(m), *found

    def _counts(self, n):
        """Return the numbers of landmarks to try, for a sample of n rows."""
        growth = (self.n / _auto_fitting.SAMPLE_ROWS) ** GROWTH
        most = min(2 * LANDMARKS * growth * 1.01, MOST_LANDMARKS, n / ROWS_PER_LANDMARK)
        counts = [min(LANDMARKS, n)]
        while 2 * counts[-1] <= most:
            counts.append(2 * counts[-1])
        return counts

    def _start(self, sample, alpha):
        """Fit the sample; return parameters, penalty, and error at the held-out rows."""
        V, found = sample.start(), []
        for each in (alpha, alpha / 10):  # more landmarks may need less of a penalty
            V = sample.learn(V, each)
            found.append((V, each, self._error_at(sample, V)))
        return min(found, key=lambda one: one[-1])

    def _sweep(self, held, sample, V, alpha, error):
        """Improve parameters by sweeps over all rows, as long as the held-out error falls."""
        counter = RowCounter(self.n)
        problem = KernelSweeps(sample.kernel, partial(_scaled, self.learned.columns), counter)
        apart, left_out = problem.start(held.X, held.y, held.arrays.get("sample_weight"))
        n_threads = effective_n_jobs(self.model.n_jobs)
        with self.rows.engine(n_threads, type(self.model).__name__) as engine:
            loaded = engine.load(problem, self.rows)
            total, began = loaded.added[0] - left_out.added[0], perf_counter()

            def loss(*message):
                """Return the sums over all rows, less those of the held-out rows."""
                counter.start(f"sweep {self.sweeps + 1} over {self.n:,} rows")
                every, own = engine.sweep("step", *message), problem.step(apart, *message)[1]
                return [a - b for a, b in zip(every.added, own.added, strict=True)]

            while self.sweeps < MOST_SWEEPS and self._has_time(began):
                slope, before = sample.slope(V, alpha, loss), error
                for damping in DAMPINGS:
                    found = sample.improved(V, alpha, slope, sample.total / total, damping)
                    error = self._error_at(sample, found)
                    V = found if error < before else V
                    if error < before * (1 + GAIN):
                        break
                self.sweeps += 1
                self.notes.say(f"sweep {self.sweeps}: error {error:.5f} at held-out rows")
                if error > before * (1 - GAIN):
                    break
        self.chosen["sweeps"] = self.sweeps
        return sample.model(V)

    def _error(self, predicted):
        """Return the error of predictions of the held-out rows."""
        return error_of(self.judged.y, predicted, self.judged.weights)

    def _error_at(self, sample, V):
        return self._error(sample.model(V)(self.judged.scaled))

    def _affordable(self, kernel):
        """Estimate from a few rows whether two sweeps with a kernel fit into the time budget."""
        if self.budget.seconds is None:
            return True
        Z, began = self.judged.scaled[:2000], perf_counter()
        for _ in kernel.pieces(Z, np.float32):
            pass
        each = 2 * (perf_counter() - began) / len(Z)  # the products take as long as the kernel
        return self.budget.allows(2 * each * self.n / effective_n_jobs(self.model.n_jobs))

    def _has_time(self, began):
        """Return whether another sweep, as long as those before, fits into the time budget."""
        return not self.sweeps or self.budget.allows((perf_counter() - began) / self.sweeps)

    def report(self, parts, before) -> None:
        """Update the report of the model; `parts` are predictions of the held-out rows."""
        model, held = self.model, len(self.judged.y)
        error, members = self._error(model.held_out_), {}
        for name, old in model.report_.members.items():
            found = self._error(parts[name]) if name in parts else old.error
            members[name] = replace(old, error=found, weight=model.weights_.get(name, 0.0))
        for name, (size, seconds) in self.grown.items():
            members[name] = replace(members[name], rows=size, seconds=seconds)
        if self.chosen:
            own = self._error(parts[SOFTMAX]), model.weights_[SOFTMAX]
            members[SOFTMAX] = MemberReport(*own, self.n - held, self.seconds, self.chosen)
            self.notes.add(
                f"Choices were made on a sample of {len(self.learned.y)} rows. {SOFTMAX} then "
                f"learned from {self.n - held} rows in {self.sweeps} sweeps, with "
                f"{self.chosen['landmarks']} landmarks: the error of all members together went "
                f"from {before:.5f} to {error:.5f}."
            )
        self.notes.add(f"Errors are measured on {held} rows that were left out.")
        model.report_ = replace(model.report_, rows=self.n, members=members, error=error)
        model.report_.notes += self.notes.kept
        self.notes.warn()


def _scaled(columns, X):
    """Return scaled columns of a block of features (runs on Dask workers)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return columns.scaled(columns.dense(X))
