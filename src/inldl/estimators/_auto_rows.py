"""AutoInLDL for any number of rows: choose on a sample, then learn from all where they are."""

from dataclasses import replace
from time import perf_counter

import numpy as np
from sklearn.base import clone

from inldl._engines import one_blas_thread, row_blocks
from inldl._validation import check_degrees, degree_facts
from inldl.estimators import _auto_fitting
from inldl.estimators._auto_all_rows import SOFTMAX, AllRows
from inldl.estimators._auto_fitting import CONSTANT, error_of
from inldl.estimators._auto_sample import drawn
from inldl.estimators._groups import seed_from
from inldl.estimators._missing_degrees import NOTES
from inldl.solvers.given_limits import limits_of_block

HELD_OUT = 0.2  # of the sample: tells when to stop, weighs the members, and gives intervals
BUDGET = 0.5  # of the time is for the sample


def fit_large(model, rows, labels):
    """Fit AutoInLDL to rows that may be many, and anywhere.

    Parameters
    ----------
    model : AutoInLDL
        Its parameters have been checked, and it knows the columns of the rows.
    rows : RowSource
        The rows, with weights and limits beside them.
    labels : Labels
        What limits are about.
    """
    started, n, seed = perf_counter(), rows.X.shape[0], seed_from(model.random_state)
    numbers, sample = drawn(rows, seed)
    known = {name: a for name, a in sample.beside.items() if name != "sample_weight"}
    limits = limits_of_block(sample.y, labels, **known) if known else None
    y = sample.y if limits is None else limits.any_filled()
    weights = sample.beside.get("sample_weight")
    weights = None if weights is None else weights[:, 0].astype(float)
    with one_blas_thread():  # the same sums for any n_jobs
        about = {"limits": limits, "seed": seed}
        data = model._prepare(sample.X, y, rows.label_names, weights, **about)
        data = replace(data, started=started)
        reason = _why_sample_only(model, n, data, limits)
        if reason is None:
            held = _learn_from_all(model, rows, sample, data)
            sample, numbers, data = sample.take(held), numbers[held], data.take(held)
        else:
            if not rows.in_memory:  # others have been looked through
                check_degrees([degree_facts(y)], rows.label_names)
            model._fit_prepared(data)
            if n > _auto_fitting.MOST_ROWS:
                model.report_.notes.append(
                    f"A sample of {len(numbers)} of {n} rows was learned from: {reason}."
                )
    model.held_out_rows_ = None if len(numbers) == n else numbers
    model._keep_errors(sample.X, model._learned_from(sample.y, data.known), limits=limits)
    return model


def _why_sample_only(model, n, data, limits):
    """Return why the rows outside of the sample are not learned from; None if they are."""
    if n <= _auto_fitting.MOST_ROWS:
        return "there are no others"
    if limits is not None:
        return "bounds and sums of missing degrees are used in the sample only"
    if model.known == "ratios":
        return "ratios are scaled in the sample only"
    if data.mechanism in NOTES:
        return "degrees that are missing because of their size are filled in in the sample only"
    if SOFTMAX not in model._names():
        return f"only {SOFTMAX} can learn from more"
    return None


def _learn_from_all(model, rows, sample, data):
    """Learn from the sample, then from all rows; return which of the sample were held out."""
    held = _held_out(data)
    rest = np.setdiff1d(np.arange(len(data.y)), held)
    learned, judged = data.take(rest), data.take(held)
    first = clone(model)
    if model.time_budget is not None:
        first.time_budget = model.time_budget * BUDGET
    first._fit_prepared(learned)
    vars(model).update({k: v for k, v in vars(first).items() if k.endswith("_")})
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


def predicted(member, data):
    """Return what a member, or the whole model, predicts for prepared rows."""
    out = np.empty(data.y.shape)
    for dense, part in row_blocks(data.dense, out):
        part[:] = member._degrees(dense, data.columns.scaled(dense))
    return out
