"""AutoInLDL for any number of rows: choose on a sample, then learn from all where they are."""

from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np

from inldl.engines import is_outside_memory, one_blas_thread
from inldl.methods.auto import fitting as _auto_fitting
from inldl.methods.auto.all_rows import SOFTMAX, AllRows
from inldl.methods.auto.fitting import CONSTANT, error_of, predicted
from inldl.methods.kernel_features import FEWEST_OBSERVED
from inldl.methods.missing_degrees import NOTES
from inldl.randomness import mixed_bits, seed_from
from inldl.rows.checks import DegreeFacts, check_degrees, degree_facts

HELD_OUT = 0.2  # of the sample: tells when to stop, weighs the members, and gives intervals
BUDGET_SHARE = 0.5  # of the time is for the sample


def is_large(X, y, sample_weight=None):
    """Say whether there may be more rows than are learned from at once, or not in memory."""
    if is_outside_memory(X, y):
        return True
    shape = getattr(X, "shape", None)
    n = shape[0] if shape else len(X) if hasattr(X, "__len__") else 0
    if n > _auto_fitting.SAMPLE_ROWS and sample_weight is not None:
        n = np.count_nonzero(np.asarray(sample_weight))
    return n > _auto_fitting.SAMPLE_ROWS


def fit_large(model, rows, header):
    """Fit AutoInLDL to rows that may be many, and anywhere.

    The parameters of the model have been checked, and it knows the columns of the rows. These are
    a `RowSource` with weights and bounds, of which `header` is the header of `PartialRows`.
    """
    started, n, seed = perf_counter(), rows.X.shape[0], seed_from(model.random_state)
    numbers, sample = drawn(rows, seed)
    partial = header.block(sample.y, **sample.arrays)
    y = partial.feasible() if partial.constrained else sample.y
    weights = None if partial.weight is None else partial.weight.astype(float)
    with one_blas_thread():  # the same sums for any n_jobs
        about = {"partial": partial, "seed": seed}
        data = model._prepare(sample.X, y, rows.label_names, weights, **about)
        data = replace(data, started=started)
        reason = _why_sample_only(model, n, data, partial)
        if reason is None:
            held = _learn_from_all(model, rows, sample, data)
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
    model._keep_errors(sample.X, model._learned_from(sample.y, data.known), partial=partial)
    return model


def _why_sample_only(model, n, data, partial):
    """Return why the rows outside of the sample are not learned from; None if they are."""
    if n <= _auto_fitting.SAMPLE_ROWS:
        return "there are no others"
    if partial.constrained:
        return "bounds and sums of missing degrees can be used only there"
    if model.known == "ratios":
        return "ratios can be scaled only there"
    if data.mechanism in NOTES:
        return "degrees that are missing because of their size can be filled in only there"
    if SOFTMAX not in model._names():
        return f"only {SOFTMAX} can learn from more"
    return None


def _learn_from_all(model, rows, sample, data):
    """Learn from the sample, then from all rows; return which of the sample were held out."""
    held = _held_out(data)
    rest = np.setdiff1d(np.arange(len(data.y)), held)
    learned, judged = data.take(rest), data.take(held)
    model._fit_prepared(learned, share=BUDGET_SHARE)
    learned, judged = (replace(data, columns=model.columns_) for data in (learned, judged))
    parts = {name: predicted(member, judged) for name, member in model.members_.items()}
    constant = np.tile(model.constant_, (len(held), 1))
    before = error_of(judged.y, predicted(model, judged), judged.weights)

    fitting = AllRows(model, rows, learned, judged)
    found = fitting.learn(sample.take(held), parts.get(SOFTMAX))
    if found is not None:
        model.members_[SOFTMAX], parts[SOFTMAX] = found, found(judged.scaled)
    model._combine(judged, {CONSTANT: constant, **parts}, of=learned)
    fitting.report(parts | {CONSTANT: constant}, before)
    return held


def _held_out(data):
    """Return rows of the sample that are not learned from; each label is left in others."""
    n = len(data.y)
    held = np.zeros(n, bool)
    held[np.random.default_rng([data.seed, 1]).permutation(n)[: int(n * HELD_OUT)]] = True
    seen = ~np.isnan(data.known)
    for label in np.flatnonzero(~seen[~held].any(axis=0)):
        held[seen[:, label]] = False
    return np.flatnonzero(held)


def drawn(rows, seed):
    """Return the numbers of sampled rows in order, and these rows in memory.

    All are taken if there are at most `SAMPLE_ROWS`. Labels that are rarely observed in the sample
    get more rows in which they are. Rows without weight are left out.
    """
    n, most = rows.X.shape[0], _auto_fitting.SAMPLE_ROWS
    if n <= most:
        return _counting(np.arange(n), rows.take(np.arange(n)))
    chosen = np.random.default_rng(seed).choice(n, most, replace=False, shuffle=False)
    numbers, sample = _counting(np.sort(chosen), rows.take(np.sort(chosen)))
    lacking = np.flatnonzero((~np.isnan(sample.y)).sum(axis=0) < FEWEST_OBSERVED)
    if lacking.size:
        more = _rows_with(rows, lacking, seed)
        numbers = np.union1d(numbers, more)
        numbers, sample = _counting(numbers, rows.take(numbers))
        seen = ~np.isnan(sample.y).all(axis=0)
        check_degrees([DegreeFacts(seen, None, None, not len(numbers))], rows.label_names)
    return numbers, sample


def _counting(numbers, sample):
    """Return the rows that have a weight."""
    weights = sample.arrays.get("sample_weight")
    if weights is None or weights.all():
        return numbers, sample
    kept = np.flatnonzero(weights)
    return numbers[kept], sample.take(kept)


def _rows_with(rows, labels, seed):
    """Return numbers of rows in which some labels are observed, `FEWEST_OBSERVED` of each."""
    found = rows.each_degrees(partial(_first_by_chance, labels=labels, seed=seed))
    chosen = []
    for each in zip(*found, strict=True):
        places, numbers = np.concatenate(each, axis=1)
        chosen.append(numbers[np.argsort(places, kind="stable")[:FEWEST_OBSERVED]])
    return np.concatenate(chosen).astype(np.int64)


def _first_by_chance(y, first_row, labels, seed):
    """Return places in a random order of all rows, and row numbers, for each of some labels."""
    y = np.asarray(y)
    found = []
    for label in labels:
        numbers = first_row + np.flatnonzero(~np.isnan(y[:, label]))
        places = _places(numbers, seed)
        first = np.argsort(places, kind="stable")[:FEWEST_OBSERVED]
        found.append(np.array([places[first], numbers[first]]))
    return found


def _places(numbers, seed):
    """Return a number for each row that looks random, and does not depend on its block."""
    bits = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    return (mixed_bits(bits) >> np.uint64(11)).astype(np.float64)
