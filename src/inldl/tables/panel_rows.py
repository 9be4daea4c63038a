"""The panel that the rows of a model make: predictions of its rows, and of rows beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from inldl.completion.panel import PanelModel, far_from_known, some_rows
from inldl.methods.base import DistributionEstimator
from inldl.methods.baselines import ConstantLDL
from inldl.methods.intervals import IntervalMixin
from inldl.rows.checks import as_degrees, check_label_order, label_names
from inldl.rows.density import evenly_spaced
from inldl.rows.panel import Panel
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import fill_in_proportion
from inldl.tables.columns import as_frame
from inldl.tables.filled_rows import widened
from inldl.tables.positions import PanelReader
from inldl.tables.structure import NONE
from inldl.tables.table_rows import with_guesses
from inldl.text import listed
from inldl.uncertainty.conformal import beyond_spells
from inldl.uncertainty.heldout import (
    HeldOutSample,
    degree_keys,
    find_keys,
    fit_weighted,
    row_keys,
    with_every_label,
)
from inldl.uncertainty.hiding import LAST_TIMES

Array = np.ndarray
MOST_HELD_OUT = 20_000  # held out to judge a model: more would not move its error noticeably
DRAWS = 200  # that tell quantiles
TOLD_FOLDS = 2  # of fits for each trial, for methods without held-out predictions of their own
STEPS_AHEAD = 1.5  # of usual length: errors were measured of times that are as near as that


class WithPanel(IntervalMixin, DistributionEstimator):
    """Base of a model that knows the units and times of rows, as `panel_`, or None."""

    panel_: Any = None

    def place(self, training, unit=None, time=None, place=None, dates="auto") -> Any:
        """Return `TrainingRows` with their units and times, if the model can use these."""
        why = ""
        if self.known == "ratios":
            why = "if only ratios of shares are known (--ratios)"
        elif self.cross_fit is None:
            why = "with cross_fit=None, which leaves out what is learned from them"
        elif training.fold_groups is not None:
            why = "beside groups (--group), whose rows are left out together"
        if why and any(map(_is_named, (unit, time))):
            raise ValueError(f"Units and times cannot be used {why}; leave out one of the two.")
        if why:
            unit = time = NONE
        return training.placed(unit, time, place, dates)

    def _place_named(self, X, training, *where):
        """Return rows of features X with their units and times, if its columns have names."""
        if hasattr(X, "columns"):
            return self.place(training, *where)
        if any(map(_is_named, where)):
            raise ValueError(
                "unit, time and place are names of columns, but X has none; give a frame."
            )
        return training

    def _onnx_inputs(self):
        if self.panel_ is not None:
            raise ValueError(
                "The model predicts rows from others of their units and times, which an ONNX file "
                'cannot; fit with unit="none", time="none" (--unit none --time none) to export.'
            )
        return [column.name for column in self.encoder_.columns_]

    def _fit_panel(self, training, n_folds):
        """Learn from the rows of a panel; return those that were held out."""
        rows = replace(training, rows=with_guesses(training.rows))
        self.panel_ = PanelRows.fit(rows, self.estimator_, n_folds)
        unseen, last = training.rows.holes.all(axis=0), self.panel_.last
        for kept in filter(None, (last, self.panel_.sample, self.panel_.new_units)):
            kept.forget(unseen)
        last = last if last.hidden is None else last.take(last.hidden.any(axis=1))
        self.held_out_sample_ = last
        held_out = training.take(last.keys.astype(int))
        self.held_out_, self.held_out_rows_ = last.predicted, held_out.rows.number
        return held_out

    def _predicted(self, X, encoded):
        """Return predictions of rows of encoded features, and of their units and times."""
        predicted = np.asarray(self.estimator_.predict(encoded))
        if self.panel_ is not None:
            predicted = self.panel_.predict(self._framed(X), predicted)
        return self._with_means(predicted)

    def _with_means(self, predicted):
        """Return predictions with the mean of the guesses for a label that nobody recorded."""
        unseen = getattr(self, "unseen_", None)
        if predicted is None or unseen is None or not unseen.any():
            return predicted
        means = np.broadcast_to(np.where(unseen, self.means_, np.nan), predicted.shape)
        return fill_in_proportion(means, predicted)

    def _unfamiliar(self, X, cells):
        """Return which rows have numbers, text, units and times unlike those of the fit."""
        if self.panel_ is None:
            return *self.encoder_._unfamiliar(cells), *np.zeros((2, len(X)), bool)
        others = self.encoder_._unfamiliar(cells, self.panel_.reader.columns)
        return *others, *self.panel_.out_of_place(self._framed(X))

    def _named(self, X):
        """Return X; refuse an array if the model knows units and times by their columns."""
        if self.panel_ is not None and not hasattr(X, "columns"):
            names = listed(map(repr, self.panel_.reader.columns))
            raise ValueError(
                f"The model knows the unit or time of rows from {names}, but X has no names of "
                "columns; give a frame."
            )
        return X

    def _framed(self, X):
        return as_frame(self._named(X), list(self.feature_names_in_))

    def _completion_sample(self):
        if self.panel_ is None:
            return super()._completion_sample()
        return self.panel_.sample

    def _with_few_rows(self):
        found = super()._with_few_rows()
        if self.panel_ is not None:
            found.panel_ = replace(self.panel_, sample=self.panel_.sample.few())
        return found

    def _rows_to_fill(self, X, y, lower, upper, sums):
        if self.panel_ is None:
            return super()._rows_to_fill(X, y, lower, upper, sums)
        check_label_order(self, y)
        known = PartialRows.of(as_degrees(y), lower, upper, sums, label_names(y))
        found = self.rows_to_fill(X, known)
        return found.rows, found.predicted

    def _quantiles(self, X, predicted, levels):
        if self.panel_ is None:
            return super()._quantiles(X, predicted, levels)
        return np.quantile(np.asarray(self.sample(X, DRAWS, 0)), levels, axis=0)

    def _fill_with_intervals(self, rows, predicted, coverage, joint=False):
        found = super()._fill_with_intervals(rows, predicted, coverage, joint)
        unseen, largest = getattr(self, "unseen_", None), self._completer().top_k_ is not None
        if unseen is None or not unseen.any():
            return found
        return found[0], *widened(rows, unseen, *found, only_largest=largest)

    def _intervals(self, X, predicted, coverage):
        if self.panel_ is None:
            return super()._intervals(X, predicted, coverage)
        last, others = self.panel_.last, self.panel_.new_units
        steps = self.panel_.steps_away(self._framed(X))[:, None]
        new, near = np.isinf(steps), np.where(np.isinf(steps), 1, steps)
        if last.hidden is None or self.panel_.time is None:
            ends, wider = self._interval_around(predicted, coverage), np.sqrt(near)
        else:
            ends = self._interval_around(predicted, coverage, near, last)
            wider = beyond_spells(last.n_spells / LAST_TIMES, coverage)
        ends = np.clip([predicted + wider * (end - predicted) for end in ends], 0, 1)
        if not new.any():
            return tuple(ends)
        most = [np.zeros(predicted.shape), np.ones(predicted.shape)]
        if others is not None:
            most = self._interval_around(predicted, coverage, sample=others)
            most = np.minimum(ends[0], most[0]), np.maximum(ends[1], most[1])
        return tuple(np.where(new, most, ends))


def _is_named(columns):
    return columns is not None and str(columns).strip().lower() != NONE


@dataclass(eq=False)
class PanelRows:
    """The rows of a fit with their units and times, and what is learned from these."""

    reader: PanelReader
    unit: Array  # (n,)
    time: Array | None  # (n,)
    period: float | None
    degrees: Array  # (n, n_labels)
    told: Array | None  # (n, n_labels) what features tell of the rows, if there are some
    places: Array  # (n,) by which rows are recognised, see `_places`
    weights: Array  # of the ways of `inldl.completion.paths`, for the holes
    ahead: Array  # the same, for rows of other times
    sample: HeldOutSample  # rows with hidden spells
    last: HeldOutSample  # last rows of units, predicted from those before
    new_units: HeldOutSample | None  # rows with predictions made without their units

    @classmethod
    def fit(cls, training: Any, estimator: Any, n_folds: int | None) -> PanelRows:
        """Learn from rows, and an estimator that was fitted to them."""
        panel, y = training.panel, training.rows.y
        told, tell = None, None
        if not isinstance(estimator, ConstantLDL):  # else features tell nothing
            told, tell = _told(training, estimator, n_folds), partial(_tell, training, estimator)
        new_units = _without_units(training, estimator, n_folds)
        model = PanelModel(panel, y, told, tell)
        found, ahead = model.learn(ahead=True), model.weights
        last = found or replace(new_units or model.hold_out())
        last.predicted = fill_in_proportion(np.full(last.predicted.shape, np.nan), last.predicted)
        sample = model.learn() or model.hold_out()
        for kept in (sample, last, new_units):
            if kept is not None and training.divisors is not None:
                kept.multiply(training.divisors[kept.keys.astype(int)])
        where = panel.unit, panel.time, panel.period, y
        about = told, _places(panel, training.features), model.weights, ahead
        return cls(training.reader, *where, *about, sample, last, new_units)

    def _model(self, weights: Array) -> PanelModel:
        panel = Panel(self.unit, self.time, self.period)
        return PanelModel(panel, self.degrees, self.told, weights=weights)

    def steps_away(self, X: Any) -> Array:
        """Return how far rows are from the next known ones of their unit; inf if it has none.

        That is at least 1.
        """
        panel, known = self._read(X), np.flatnonzero(~np.isnan(self.degrees).all(axis=1))
        fit, steps = Panel(self.unit, self.time).take(known), np.full(len(panel), np.inf)
        times = {fit.unit[rows[0]]: fit.positions[rows] for rows in fit.units if len(rows)}
        for rows in panel.units:
            own, at = times.get(panel.unit[rows[0]]), panel.positions[rows]
            if own is not None:
                after = np.searchsorted(own, at)
                sides = own[np.maximum(after - 1, 0)], own[np.minimum(after, len(own) - 1)]
                steps[rows] = np.maximum(np.abs(np.array(sides) - at).min(axis=0), 1)
        return steps

    def out_of_place(self, X: Any) -> Array:
        """Say which rows are of new units, and which more than a step outside the known times."""
        panel, n_units = self.reader.read(X), len(self.reader.units)
        new = panel.unit >= n_units
        if panel.time is None or self.time is None:
            return np.array([new, np.zeros(len(panel), bool)])
        known = ~np.isnan(self.degrees).all(axis=1) & (self.unit < n_units)
        first, last = np.full(n_units, np.inf), np.full(n_units, -np.inf)
        np.minimum.at(first, self.unit[known], self.time[known])
        np.maximum.at(last, self.unit[known], self.time[known])
        of = np.where(new, 0, panel.unit)
        outside = np.maximum(first[of] - panel.time, panel.time - last[of])
        return np.array([new, ~new & (outside > STEPS_AHEAD)])

    def n_shared(self, X: Any, encoded: Any, y: Array) -> int:
        """Return how many rows have the unit, time, features and degrees of a row of the fit."""
        given = _places(self._read(X), encoded) + 3 * degree_keys(y)
        return int(np.isin(given, self.places + 3 * degree_keys(self.degrees), kind="sort").sum())

    def _read(self, X: Any) -> Panel:
        """Return where rows belong; new units are none of the units of one row of the fit."""
        panel, n_units = self.reader.read(X), len(self.reader.units)
        further = max(int(self.unit.max()) + 1 - n_units, 0)
        return replace(panel, unit=np.where(panel.unit < n_units, 0, further) + panel.unit)

    def predict(self, X: Any, told: Array | None) -> Array:
        """Return predictions of rows; `told` is what features tell of them."""
        panel = self._read(X)
        y = np.full((len(panel), self.degrees.shape[1]), np.nan)
        told = None if self.told is None else told
        return fill_in_proportion(y, self._model(self.ahead).predict(panel, y, told))

    def to_fill(self, X: Any, encoded: Any, y: Array, told: Any) -> tuple[Array, Array]:
        """Return predictions of rows with degrees `y`, and how far holes are from known rows.

        Rows of the fit are recognised by their unit, time, features and holes; one whose holes are
        others now is a new row in its place.
        """
        panel, (predicted, far) = self._read(X), self._learned
        places = _places(panel, encoded)
        keys, known = (p + _hole_keys(d) for p, d in ((places, y), (self.places, self.degrees)))
        at, same = find_keys(known, keys)
        predicted, far, new = predicted[at], far[at], np.flatnonzero(~same)
        if len(new):
            others, model = panel.take(new), self._model(self.weights)
            if self.time is not None:
                again = np.isin(self.places, places[new], kind="sort")[:, None]
                model.y = np.where(again, np.nan, self.degrees)
            predicted[new] = model.predict(others, y[new], self._told_of(places[new], told, new))
            holes = np.isnan(np.concatenate([model.y, y[new]]))
            far[new] = far_from_known(model.panel.joined(others), holes)[len(self.degrees) :]
        return predicted, far

    def _told_of(self, places, told, rows):
        """Return what features tell of rows; of those of the fit, without their degrees."""
        if self.told is None:
            return None
        at, same = find_keys(self.places, places)
        return np.where(same[:, None], self.told[at], told[rows])

    @cached_property
    def _learned(self) -> tuple[Array, Array]:
        """Predictions of the rows of the fit, and how far their holes are."""
        model = self._model(self.weights)
        return model.predict_own(), far_from_known(model.panel, np.isnan(self.degrees))


def _places(panel, encoded):
    """Return a number for each row, by its unit, time and features; of equal rows one each."""
    keys = row_keys(np.column_stack([panel.unit, panel.positions])) + 3 * row_keys(encoded)
    return keys + pd.Series(keys).groupby(keys).cumcount().to_numpy(np.uint64)


def _hole_keys(y):
    return 3 * row_keys(np.isnan(y).astype(float))


def _told(training, estimator, n_folds):
    """Return predictions of rows; of as many as possible, without their degrees."""
    own, rows = getattr(estimator, "held_out_", None), getattr(estimator, "held_out_rows_", None)
    if own is None:
        rows = evenly_spaced(len(training), MOST_HELD_OUT)
        own = training.take(rows).cross_fit(estimator, n_folds)
    if rows is None or len(rows) == len(training):
        return np.asarray(own, dtype=np.float64)
    told = np.asarray(estimator.predict(training.features), dtype=np.float64)
    told[rows] = own
    return told


def _tell(training, estimator, rows, left):
    """Return predictions of rows without their degrees, if only what is `left` is known."""
    some = training.take(rows)
    known = replace(some.rows, y=with_every_label(left))
    if hasattr(estimator, "held_out_"):
        own = fit_weighted(clone(estimator), some.features, known.y, known.weight).held_out_
        if own is not None and len(own) == len(rows):
            return np.asarray(own, dtype=np.float64)
    return replace(some, rows=known).cross_fit(estimator, TOLD_FOLDS)


def _without_units(training, estimator, n_folds):
    """Return some rows with predictions that were made without their units; None if it is one."""
    rows = some_rows(training.panel, training.rows.y.shape[1])
    some = training.take(rows)
    together = None if n_folds is None else some.panel.held_out_together(n_folds)
    if together is None:
        return None
    held_out = replace(some, fold_groups=together).cross_fit(estimator, n_folds)
    return HeldOutSample(held_out, some.rows.y, rows.astype(np.uint64), together)
