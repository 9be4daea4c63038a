"""Degrees that are missing because of their size, filled in before a method learns from them."""

import numpy as np

from inldl.methods.kernel_features import FINE, choose_alpha, kernel_features, sample_rows
from inldl.rows.density import GammaDegrees
from inldl.rows.missingness import LEVEL, SMALL_EFFECT, fill_top_k, t_test, top_k_rows
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import projected
from inldl.solvers.masked_ridge import leave_one_out

INFORMATIVE = 0.9  # share of the squared error that predictions from features may leave
CHECKED = 1000  # rows that tell whether features explain the holes
NOTES = {
    "small": "Small degrees are missing more often than large ones",
    "rest": "Only the largest degrees of each row are recorded",
}


def fill_selected(scaled, y, mechanism, seed, n_jobs=None) -> tuple[str, np.ndarray]:
    """Return why degrees are missing, and the degrees to learn from.

    Holes are left to the method if a feature explains that small degrees are missing: the
    `mechanism`, as `inldl.rows.missingness.mechanism_of` returns it, is "random" then, and the
    degrees are `y` itself. Else they are filled with what is expected of hidden degrees of a
    label; of rows with similar features, which are `scaled`, if these tell much and any degree may
    be missing.
    """
    if mechanism == "rest":
        rows = top_k_rows(y)
        return mechanism, fill_top_k(GammaDegrees.learn(rows, by_size=True), rows)[0]
    if _features_explain(scaled, y, seed, n_jobs):
        return "random", y
    return mechanism, _fill_expected(scaled, PartialRows(y), seed, n_jobs, by_size=True)


def fill_limited(scaled, rows, seed, n_jobs=None) -> np.ndarray:
    """Return degrees of which those that have limits are filled with what is expected of them.

    That is learned from all rows; from rows with similar features, if these tell much. Other holes
    are left.
    """
    filled = _fill_expected(scaled, rows, seed, n_jobs, by_size=False)
    return np.where(rows.limited, filled, rows.y)


def _fill_expected(scaled, rows, seed, n_jobs, by_size):
    """Return rows filled with what is expected of holes, which are missing by size or limited."""
    filled = GammaDegrees.learn(rows, by_size=by_size).fill(rows)[0]
    y = filled if by_size else np.where(rows.limited, filled, rows.y)
    prior, judged = projected(_held_out(scaled, y, seed, n_jobs)), rows.y if by_size else y
    mean = np.broadcast_to(np.nanmean(y, axis=0), y.shape)
    # What is filled in from noise would make that noise look like knowledge.
    if _squares(judged, prior) < INFORMATIVE * _squares(judged, mean):
        filled = GammaDegrees.learn(rows, prior, by_size=by_size).fill(rows, prior)[0]
    return filled


def _squares(y, predicted):
    """Return the mean squared error at what is known of rows."""
    known, there = PartialRows(y).cells(predicted)
    return np.nanmean((known - there) ** 2)


def _held_out(scaled, y, seed, n_jobs):
    """Return leave-one-out predictions of a kernel ridge regression."""
    features = kernel_features(scaled, "rbf", 1.0, FINE, seed).transform(scaled)
    return leave_one_out(features, y, choose_alpha(features, y, seed, n_jobs), n_jobs)


def _features_explain(scaled, y, seed, n_jobs):
    """Say whether predictions, learned where degrees are observed, agree with what rows hide.

    They do if holes depend on features only, even if these decide the sizes of the degrees.
    """
    rows = sample_rows(y, CHECKED, seed)
    scaled, y = scaled[rows], y[rows]
    predicted, partial = _held_out(scaled, y, seed, n_jobs), PartialRows(y).partial
    y, predicted = y[partial], predicted[partial]
    expected = np.where(np.isnan(y), predicted, 0).sum(axis=1)
    gaps = 1 - np.nansum(y, axis=1) - expected
    if len(gaps) < 2 or abs(gaps.mean()) < SMALL_EFFECT * abs(expected.mean()):
        return True
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    return bool(t_test(gaps.mean(), error, len(gaps) - 1) >= LEVEL)
