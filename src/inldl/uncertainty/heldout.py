"""Held-out predictions: how they are made, and the sample of rows that is kept with them.

Intervals and completion are learned from predictions of rows that were made without these rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from inldl.randomness import mixed_bits
from inldl.rows.density import GammaDegrees, evenly_spaced, mean_degrees
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import error_covariance, given_observed
from inldl.uncertainty.conformal import Growth, LabelErrors, SizeForest
from inldl.uncertainty.hiding import HiddenCells, hide_each_label

Array = np.ndarray
KEPT_ROWS = 10_000  # more rows take their time and change little
KEPT_DEGREES = 100  # of each label, if so many are observed
TRIAL_ROWS = 50  # that are learned from at once, without trees
KEY_ROWS = 1 << 12  # whose keys are computed at once
COPIES = 0.9  # share of the rows with equal features that must have equal degrees, too
CORRELATED_ROWS = 2000  # are enough to see which features tell the sizes of errors
MOST_PRODUCTS = 10**8  # multiplications for errors given others
FEWEST_CORRELATED = 100  # rows; fewer show nothing about the sizes of errors
MOST_FEATURES = 20  # that degrees and draws go along with; predictions stand for more
MOST_SPREAD_COLUMNS, LEAST_CORRELATION = 3, 0.15
CHANCE_ERRORS = 4.0  # standard errors of a correlation of the best of many columns, by chance


def predict_held_out(
    estimator: Any,
    X: Any,
    y: Array,
    n_folds: int,
    groups: Array | None = None,
    sample_weight: Array | None = None,
) -> Array:
    """Return predictions of the rows of `X`, each made by a clone that did not see the row.

    There are `n_folds` clones; each predicts a random part of the rows, the same ones each time.
    Rows of one group are predicted by the same clone. Weights are for the fits of the clones.
    """
    from sklearn.model_selection import GroupKFold, KFold  # time a plain fit need not pay

    if len(y) < 2:
        raise ValueError("Held-out predictions need at least two rows, got n_samples=1.")
    kind, most = KFold, len(y)
    if groups is not None:
        kind, most = GroupKFold, len(np.unique(groups))
        if most < 2:
            raise ValueError("All rows are of one group; held-out predictions need at least two.")
    folds = kind(min(n_folds, most), shuffle=True, random_state=0)
    out = np.empty_like(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the fit to all rows has said it
        for train, test in folds.split(y, groups=groups):
            weights = {} if sample_weight is None else {"sample_weight": sample_weight[train]}
            model = clone(estimator).fit(X[train], with_every_label(y[train]), **weights)
            out[test] = model.predict(X[test])
    return out


def numbered_folds(groups: Array, n_folds: int, seed: int) -> Array:
    """Return the number of the fold of each row; rows of a group are in one fold."""
    names, group = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        raise ValueError("All rows are of one group; held-out predictions need at least two.")
    return np.random.default_rng(seed).permutation(len(names))[group] % n_folds


def fit_weighted(estimator: Any, X: Any, y: Any, weights: Array | None, **known: Any) -> Any:
    """Fit an estimator, with what else is known; refuse weights if it knows none."""
    if weights is None:
        return estimator.fit(X, y, **known)
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"The fit of {type(estimator).__name__} has no sample_weight, so rows cannot be "
            "weighted; use another method, or leave the weights out."
        )
    return estimator.fit(X, y, sample_weight=weights, **known)


def with_every_label(y: Array) -> Array:
    """Return `y` with a degree for each label that is nowhere observed, which no method accepts.

    It is 0, in the row with the most holes. If that leaves no hole, one degree closes the row.
    """
    unseen = np.flatnonzero(np.isnan(y).all(axis=0))
    if not unseen.size:
        return y
    y, row = y.copy(), int(np.isnan(y).sum(axis=1).argmax())
    y[row, unseen] = 0
    if not np.isnan(y[row]).any():
        y[row, unseen[0]] = max(1 - y[row].sum(), 0)
    return y


@dataclass
class HeldOutSample:
    """Rows of a fit with predictions that were made without them."""

    predicted: Array  # (m, n_labels) the predictions
    # (m, n_labels) what is known of the rows, NaN = unobserved; what is expected within limits
    degrees: Array
    keys: Array  # (m,) by which the rows are recognised, see `row_keys`
    groups: Array | None = None  # (m,) rows of one group are held out together
    loose: bool = False  # whether the sums of rows are only about 1
    # Numbers of features that tell how large errors are, such as a number of votes
    columns: tuple[int, ...] = ()
    spread_features: Array | None = None  # (m, q) these features of the rows
    features: Array | None = None  # (m, k) all features of the rows, if they are few
    # (m, n_labels) between what degrees are, if some are not observed, but expected within limits
    lower: Array | None = None
    upper: Array | None = None
    # Of a panel, whose rows have further degrees hidden in the shape of its holes:
    left: Array | None = None  # (m, n_labels) what is left of them
    hidden: Array | None = None  # (m, n_labels) how much each hidden degree counts, 0 if it is not
    n_spells: float | None = None  # that tell something of their own

    @classmethod
    def of(
        cls,
        X: Any,
        y: Array,
        predicted: Array,
        groups: Array | None = None,
        loose: bool = False,
        partial: PartialRows | None = None,
        keys: Array | None = None,
    ) -> HeldOutSample:
        """Return at most 10000 of the rows, evenly spread, and a few more of rare labels.

        `partial` are the rows, if bounds or sums limit some of their degrees; what is expected of
        these is kept. `keys` are those of the rows, if not those of `X`.
        """
        rows = _kept_rows(y)
        predicted, y = (np.array(a[rows], dtype=np.float64) for a in (predicted, y))
        groups = None if groups is None else np.unique(groups, return_inverse=True)[1][rows]
        X = X[rows]
        keys = row_keys(X) if keys is None else keys[rows]
        kept = cls(predicted, y, keys, groups, loose)
        if partial is not None and partial.constrained:
            partial = partial.take(rows)
            filled = GammaDegrees.learn(partial, predicted).fill(partial, predicted)[0]
            kept.degrees = np.where(partial.limited, filled, y)
            ends = partial.possible
            free = ends[0] < ends[1]  # others follow from the sums
            pairs = zip(partial.box, ends, strict=True)
            kept.lower, kept.upper = (np.where(free, bound, end) for bound, end in pairs)
        errors = np.abs(y - predicted), errors_given_others(y, predicted)
        kept.columns = find_spread_columns(X, *errors)
        kept.spread_features = kept.spread_features_of(X)
        if isinstance(X, np.ndarray) and 0 < X.shape[1] <= MOST_FEATURES:
            kept.features = np.array(X, dtype=np.float64)
        return kept

    def spread_features_of(self, X: Any) -> Array | None:
        """Return the features that tell how large errors are, or None if there are none."""
        return np.array(X[:, list(self.columns)], dtype=np.float64) if self.columns else None

    def side_information(self, X: Any) -> dict[str, Array | None]:
        """Return what `PartialRows` say of the features of rows, by name."""
        features = None if self.features is None else np.array(X, dtype=np.float64)
        return {"spread_features": self.spread_features_of(X), "features": features}

    def n_shared(self, X: Any, degrees: Array) -> int:
        """Return how many rows have the features and the degrees of a row of the fit."""
        known = self.keys + 3 * degree_keys(self.degrees)
        given = row_keys(X) + 3 * degree_keys(degrees)
        return int(np.isin(given, known, kind="sort").sum())

    def few(self) -> HeldOutSample:
        """Return a few of the rows, evenly spread, without groups and bounds."""
        some = self.take(evenly_spaced(len(self.degrees), TRIAL_ROWS))
        return replace(some, groups=None, lower=None, upper=None)

    def take(self, rows: Array) -> HeldOutSample:
        """Return some of the rows."""
        some = {name: a[rows] for name, a in vars(self).items() if isinstance(a, np.ndarray)}
        return replace(self, **some)

    def is_consistent(self, n_labels: int) -> bool:
        """Say whether the arrays are of the same rows and of so many labels, and finite."""
        shapes = {(len(a), n_labels) for a in vars(self).values() if isinstance(a, np.ndarray)}
        same = shapes == {self.predicted.shape} == {self.degrees.shape}
        return same and not np.isinf(self.degrees).any()

    def rows(self) -> PartialRows:
        """Return the rows, without the degrees that are only expected."""
        y, lower, upper = self.degrees, self.lower, self.upper
        if lower is not None and upper is not None:
            y = np.where(lower < upper, np.nan, y)
        rows = PartialRows(y, lower, upper)
        return replace(rows, spread_features=self.spread_features, features=self.features)

    def forget(self, labels: Array) -> None:
        """Make the degrees of some labels unobserved, in place."""
        for values, nothing in ((self.degrees, np.nan), (self.left, np.nan), (self.hidden, 0)):
            if values is not None:
                values[:, labels] = nothing

    def multiply(self, sums: Array) -> None:
        """Multiply the degrees of each row by what they were divided by: sums are about 1."""
        self.degrees, self.loose = self.degrees * sums[:, None], True
        self.left = None if self.left is None else self.left * sums[:, None]

    def hidden_cells(self) -> HiddenCells | None:
        """Return the degrees that were hidden in a panel, each as often as it counts."""
        if self.left is None or self.hidden is None:
            return None
        row, label = np.nonzero(self.hidden)
        ends = np.cumsum(self.hidden[row, label])
        times = np.diff(np.round(ends), prepend=0).astype(int)
        row, label = np.repeat(row, times), np.repeat(label, times)
        return HiddenCells(row, label, self.left[row], self.degrees[row, label])

    def __getstate__(self) -> dict[str, Any]:
        """Return what is stored: not what was learned from it, which is ten times as large."""
        return {k: v for k, v in vars(self).items() if k != "_learned" or "_travels" in vars(self)}

    def with_learned(self) -> HeldOutSample:
        """Return a copy that takes what was learned along, to workers."""
        found = replace(self)
        vars(found).update(_learned=vars(self).get("_learned", {}), _travels=True)
        return found

    def learned(self, name: str, learn: Callable[[HeldOutSample], Any]) -> Any:
        """Return what `learn` makes of the rows, and keep it under a name for the next time."""
        kept = vars(self).setdefault("_learned", {})
        if name not in kept:
            kept[name] = learn(self)
        return kept[name]

    def label_errors(
        self, spread_features: Array | None = None
    ) -> tuple[list[LabelErrors], Array | float]:
        """Return the errors of each label, and how large those of rows with such features are."""
        scale: Array | float = 1.0
        expected = np.ones(len(self.degrees))
        if spread_features is not None:
            rows, sizes = self.learned("sizes of rows", _learn_row_sizes)
            scale = sizes(spread_features) / sizes.mean
            expected[rows] = sizes.expected / sizes.mean
        labels = []
        for p, y in zip(self.predicted.T, self.rows().y.T, strict=True):
            seen = ~np.isnan(y)
            labels.append(LabelErrors(p[seen], y[seen], expected[seen]))
        return labels, scale

    def replace_predictions(self, X: Any, predicted: Array) -> Array:
        """Return predictions in which rows of the fit have those made without them.

        A model fits the observed degrees of its own rows too well, so what its errors there
        tell of the others would be too little.
        """
        at, same = find_keys(self.keys, row_keys(X))
        out = np.array(predicted, dtype=np.float64)
        out[same] = self.predicted[at[same]]
        return out


def _kept_rows(y: Array) -> Array:
    """Return the numbers of rows to keep: evenly spread ones, and more where labels are rare."""
    rows = evenly_spaced(len(y), KEPT_ROWS)
    if len(rows) == len(y):
        return rows
    rare = np.flatnonzero((~np.isnan(y[rows])).sum(axis=0) < KEPT_DEGREES)
    observed = [np.flatnonzero(~np.isnan(y[:, label])) for label in rare]
    more = [where[evenly_spaced(len(where), KEPT_DEGREES)] for where in observed]
    return np.unique(np.concatenate([rows, *more]))


def _learn_row_sizes(kept: HeldOutSample) -> tuple[Array, SizeForest | Growth]:
    """Return rows with observed degrees, and what features tell about the sizes of errors."""
    relative, rows = relative_errors(np.abs(kept.rows().y - kept.predicted))
    assert kept.spread_features is not None
    if kept.n_spells is not None:
        return rows, Growth(kept.spread_features[rows], relative)
    return rows, SizeForest(kept.spread_features[rows], relative, np.arange(len(rows)))


def find_spread_columns(X: Any, *errors: Array) -> tuple[int, ...]:
    """Return the few columns of X that correlate with the sizes of the errors of rows, if any.

    Spearman's correlation of the mean error of a row, relative to the usual one of its labels,
    with the column is more than chance explains, and more than a little. Of several kinds of
    errors, one is enough.
    """
    if not isinstance(X, np.ndarray):
        return ()
    found = np.max([_correlations(X, each) for each in errors], axis=0)
    best = np.argsort(-found, kind="stable")[:MOST_SPREAD_COLUMNS]
    return tuple(int(j) for j in best if found[j] > 0)


def _correlations(X: Array, errors: Array) -> Array:
    """Return how strongly columns go with the sizes of errors; 0 where that may be chance."""
    relative, rows = relative_errors(errors)
    if len(rows) < FEWEST_CORRELATED:
        return np.zeros(X.shape[1])
    some = evenly_spaced(len(rows), CORRELATED_ROWS)
    ranks = rankdata(np.column_stack([X[rows[some]], relative[some]]), axis=0)
    ranks -= ranks.mean(axis=0)
    ranks /= np.maximum(np.linalg.norm(ranks, axis=0), 1e-300)  # 0 if all are equal
    found = np.abs(ranks[:, -1] @ ranks[:, :-1])
    return np.where(found > max(LEAST_CORRELATION, CHANCE_ERRORS / np.sqrt(len(some))), found, 0)


def errors_given_others(y: Array, predicted: Array) -> Array:
    """Return the errors that are left once the others of a row are known, if all are normal.

    Those of predictions may hide what tells them: a number of births tells how far the shares of
    days vary, but not how far all of them are off in a month. NaN where a degree was not hidden.
    """
    out, n_labels = np.full(y.shape, np.nan), y.shape[1]
    rows = evenly_spaced(len(y), min(CORRELATED_ROWS, MOST_PRODUCTS // n_labels**4))
    hidden = hide_each_label(y, 0, rows)
    if len(rows) >= FEWEST_CORRELATED and len(hidden.row) and n_labels > 2:
        covariance = error_covariance(y - predicted)
        expected, _ = given_observed(hidden.left, predicted[hidden.row], covariance)
        out[hidden.row, hidden.label] = np.abs(expected[hidden.at] - hidden.degrees)
    return out


def relative_errors(errors: Array) -> tuple[Array, Array]:
    """Return the mean error of rows relative to the usual ones of their labels, and these rows."""
    seen, usual = ~np.isnan(errors), mean_degrees(errors)
    relative = np.where(seen, errors / np.maximum(usual, np.finfo(float).tiny), 0)
    rows = np.flatnonzero(seen.any(axis=1))
    return relative[rows].sum(axis=1) / seen[rows].sum(axis=1), rows


def row_keys(X: Any) -> Array:
    """Return a number for each row of features; different rows have different ones.

    The bits of each feature are mixed, multiplied by a random odd number, and added up; two rows
    collide with a probability of about 2^-60. Dense and sparse features have the same keys.
    """
    odd = np.random.default_rng(0).integers(0, 2**63, X.shape[1], dtype=np.uint64) * 2 + 1
    if not isinstance(X, np.ndarray):
        X = X.tocsr()
        entries = _mixed(X.data) * odd[X.indices]
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
        return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    keys = np.empty(len(X), np.uint64)
    for start in range(0, len(X), KEY_ROWS):
        rows = slice(start, start + KEY_ROWS)
        keys[rows] = (_mixed(X[rows]) * odd).sum(axis=1, dtype=np.uint64)
    return keys


def find_keys(known: Array, wanted: Array) -> tuple[Array, Array]:
    """Return where keys of rows stand among the known ones, and which do stand there."""
    order = np.argsort(known, kind="stable")
    at = order[np.searchsorted(known, wanted, sorter=order).clip(max=len(order) - 1)]
    return at, known[at] == wanted


def first_of_copies(features: Array, degrees: Array) -> tuple[Array, Array]:
    """Return the first of all equal rows, and for each row which of these it equals.

    Rows with the same features are copies if nearly all of these have the same degrees, too;
    else they are people who happen to look alike, and all rows are returned.
    """
    _, alike, counts = np.unique(row_keys(features), return_inverse=True, return_counts=True)
    whole = row_keys(np.column_stack([alike, degrees]))
    _, first, same, copies = np.unique(
        whole, return_index=True, return_inverse=True, return_counts=True
    )
    shared = counts[alike] > 1
    if not shared.any() or (copies[same] == counts[alike])[shared].mean() < COPIES:
        return np.arange(len(features)), np.arange(len(features))
    return first, same


def degree_keys(y: Array) -> Array:
    """Return a number for each row of degrees; those of nine equal decimals have the same."""
    return row_keys(np.where(np.isnan(y), -1.0, np.round(y, 9)))


def _mixed(values: Array) -> Array:
    """Return the bits of numbers, mixed so that the low ones differ where the high ones do."""
    return mixed_bits(np.ascontiguousarray(values, dtype=np.float64).view(np.uint64))
