"""Predict the rows of a panel by a mixture of ways, judged by spells that are hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from inldl.completion.paths import Ways
from inldl.rows.panel import Panel
from inldl.solvers.gaussian import fill_in_proportion
from inldl.uncertainty import hiding
from inldl.uncertainty.heldout import HeldOutSample

Array = np.ndarray
TRIAL_CELLS = 16_000  # of the units that trials are made with
JUDGED_CELLS = 1500  # hidden degrees that are enough; trials are repeated for fewer
REPETITIONS = 4  # at most
PATH_ROWS = 1 << 12  # that are predicted at once
HELD_OUT_UNITS, STRETCHES = 5, 10  # of fewer units, stretches of each are held out
ROW_FOLDS = 5  # in which all rows are predicted without those of the fold


class PanelModel:
    """Predict the rows of a panel from each other.

    Ways are mixed by their mean absolute errors at degrees that are hidden in the shape of the
    holes.

    Parameters
    ----------
    panel : Panel
        Where the rows belong.
    y : ndarray of shape (n, n_labels)
        Degrees, NaN = unobserved.
    told : ndarray of shape (n, n_labels), optional
        What features tell of the rows, each without its own degrees.
    tell : callable, optional
        Returns the same for some rows if only some of their degrees are known: takes the numbers
        of rows, and what is left of their degrees.
    weights : ndarray of shape (n_bases, n_scales, n_shapes), optional
        Of the ways of `inldl.completion.paths`; `learn` finds them.
    seed : int, default=0
        Of where spells are hidden.
    """

    def __init__(
        self,
        panel: Panel,
        y: Array,
        told: Array | None = None,
        tell: Callable[[Array, Array], Array] | None = None,
        weights: Array | None = None,
        seed: int = 0,
    ) -> None:
        self.panel, self.y, self.told, self.tell = panel, y, told, tell
        self.weights: Any = weights
        self.seed = seed

    def learn(self, ahead: bool = False) -> HeldOutSample | None:
        """Find the weights; return rows with hidden spells, and predictions of what is hidden.

        Spells have the shape of the holes, or are the last times of units if predictions are to
        go `ahead`. Returns None if nothing like that can be hidden; weights stay as they are then,
        or are those before any error is known.
        """
        rows = some_rows(self.panel, self.y.shape[1], self.seed)
        panel, y = self.panel.take(rows).renumbered(), self.y[rows]
        told = None if self.told is None else self.told[rows]
        trials = list(hiding.hide_last(panel, y, self.seed)) if ahead else self._trials(panel, y)
        if not trials:
            if self.weights is None:
                self.weights = Ways(panel, y, told).trust
            return None
        if ahead:  # the next row of each unit counts
            counts = np.concatenate([trial.spell < len(y) for trial in trials]).astype(float)
        else:
            counts = hiding.likeness(panel, y, trials)
        found = []
        for trial in trials:
            told = None if self.tell is None else self.tell(rows, trial.left)
            ways = Ways(panel, trial.left, told)
            found.append(ways.predict(trial.rows))
        errors = [_errors(y, trial, each) for trial, each in zip(trials, found, strict=True)]
        n_spells = hiding.independent(panel, trials, counts)
        mean = np.average(np.concatenate(errors, axis=1), axis=1, weights=counts)
        weights = hiding.weights_by_errors(mean, n_spells, ways.trust.ravel())
        self.weights = weights.reshape(ways.shape)
        tried = [np.tensordot(self.weights, each, 3) for each in found]
        return _sample_of(panel, y, trials, tried, counts, n_spells, rows)

    def _trials(self, panel: Panel, y: Array) -> list[hiding.HiddenSpells]:
        """Return trials; with other seeds until they hide enough."""
        trials: list[hiding.HiddenSpells] = []
        for repetition in range(REPETITIONS):
            trials += hiding.hide_spells(panel, y, self.seed + repetition)
            if sum(len(trial.row) for trial in trials) >= JUDGED_CELLS:
                break
        return trials

    def _mixed(self, ways: Ways, rows: Array) -> Array:
        weights, found = self.weights, np.empty((len(rows), self.y.shape[1]))
        for start in range(0, len(rows), PATH_ROWS):
            some = slice(start, start + PATH_ROWS)
            found[some] = np.tensordot(weights, ways.predict(rows[some], weights > 0), 3)
        return found

    def predict_own(self) -> Array:
        """Return predictions of the rows, each by the paths of others that know what it lacks.

        What paths are taken around was estimated with the row. That is so of hidden rows as well.
        """
        ways = Ways(self.panel, self.y, self.told)
        return self._mixed(ways, np.arange(len(self.y)))

    def hold_out(self) -> HeldOutSample:
        """Return some rows with predictions that were made without them, if no spells can be."""
        kept = some_rows(self.panel, self.y.shape[1], self.seed)
        found, holes = np.empty((len(kept), self.y.shape[1])), np.isnan(self.y)
        fold = np.random.default_rng([self.seed, 5]).permutation(len(kept)) % ROW_FOLDS
        for at in (np.flatnonzero(fold == number) for number in range(ROW_FOLDS)):
            left = self.y.copy()
            left[kept[at]] = np.nan
            found[at] = self._mixed(Ways(self.panel, left, self.told), kept[at])
        return HeldOutSample(
            found,
            self.y[kept],
            kept.astype(np.uint64),
            _held_out_together(self.panel)[kept],
            spread_features=far_from_known(self.panel, holes)[kept],
            n_spells=0.0 if holes.any() else None,
        )

    def predict(self, panel: Panel, y: Array, told: Array | None = None) -> Array:
        """Return predictions of other rows of the same panel, of which `y` is known."""
        if told is not None and self.told is not None:
            told = np.concatenate([self.told, told])
        ways = Ways(self.panel.joined(panel), np.concatenate([self.y, y]), told)
        return self._mixed(ways, np.arange(len(self.y), len(self.y) + len(y)))


def _errors(y, trial, predicted):
    """Return the absolute errors of each way at hidden degrees, if it fills in proportion."""
    ways, left = predicted.reshape(-1, *predicted.shape[3:]), trial.left[trial.rows]
    filled = np.array([fill_in_proportion(left, each)[trial.at, trial.label] for each in ways])
    return np.abs(filled - y[trial.row, trial.label])


def some_rows(panel: Panel, n_labels: int, seed: int = 0) -> Array:
    """Return the rows of some units, all if they are few; of one long series, its end."""
    units, most = panel.units, max(TRIAL_CELLS // n_labels, 1)
    order = np.random.default_rng([seed, 3]).permutation(len(units))
    sizes = np.cumsum([len(units[i]) for i in order])
    n_units = max(1, int(np.searchsorted(sizes, most, side="right")))
    return np.sort(np.concatenate([units[i][-most:] for i in order[:n_units]]))


def far_from_known(panel: Panel, holes: Array) -> Array:
    """Return for each row how far its holes are from known rows of the unit, and on how few sides.

    That is the largest distance, in rows, and the smallest number of sides.
    """
    distance, sides = hiding.distances(panel, holes)
    far = np.where(holes, distance, 0).max(axis=1)
    return np.stack([far, np.where(holes, sides, 2).min(axis=1)], axis=1).astype(float)


def _held_out_together(panel: Panel) -> Array:
    """Return the group of each row: its unit, or a stretch of time if units are few."""
    if panel.n_units >= HELD_OUT_UNITS:
        return panel.unit
    group = np.empty(len(panel), int)
    for number, unit in enumerate(panel.units):
        group[unit] = number * STRETCHES + np.arange(len(unit)) * STRETCHES // len(unit)
    return group


def _sample_of(panel, y, trials, tried, counts, n_spells, numbers):
    """Return the rows of trials with their predictions; cells count by how like holes they are."""
    rows = np.concatenate([trial.rows for trial in trials])
    parts = np.split(counts, np.cumsum([len(trial.row) for trial in trials])[:-1])
    left, hidden, far = [], [], []
    for trial, part in zip(trials, parts, strict=True):
        table = np.zeros((len(trial.rows), y.shape[1]))
        table[trial.at, trial.label] = part
        hidden.append(table)
        left.append(trial.left[trial.rows])
        far.append(far_from_known(panel, np.isnan(trial.left))[trial.rows])
    return HeldOutSample(
        np.concatenate(tried),
        y[rows],
        numbers[rows].astype(np.uint64),
        _held_out_together(panel)[rows],
        spread_features=np.concatenate(far),
        left=np.concatenate(left),
        hidden=np.concatenate(hidden),
        n_spells=n_spells,
    )
