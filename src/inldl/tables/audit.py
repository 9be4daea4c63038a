"""Measure how well a model does on degrees that it has not seen.

Errors are in the units of the table: fractions of 1, or percentages where it has these. A unit is
the word for it, or nothing for fractions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import fill_in_proportion
from inldl.tables.table import whole_of
from inldl.text import counted, listed

POINTS = "percentage points"
SHOWN_ROUNDING = 0.025  # of an error, by which the printed one may differ
MOST_DECIMALS = 8
UNEQUAL = 100  # ratio of the mean shares of labels from which errors of ratios are given, too
COMPUTED = 1e-9  # smaller errors come from rounding in computing


def form_of(unit, errors=()) -> str:
    """Return the format of shares and errors: percentages need fewer decimals than fractions.

    Small errors get more decimals, up to eight, so that rounding changes them by at most 2.5%.
    """
    least = min((each for each in errors if each > COMPUTED), default=1.0)
    needed = math.ceil(math.log10(0.5 / SHOWN_ROUNDING / least) - 1e-9)
    return f".{min(max(2 if unit else 4, needed), MOST_DECIMALS)}f"


def error_unit(whole) -> str:
    """Return the unit of errors in a table whose rows sum to `whole`."""
    return POINTS if whole > 1 else ""


def in_unit(unit) -> str:
    """Return the end of a caption that names the unit."""
    return f", in {unit}" if unit else ""


def error(value, unit) -> str:
    """Return an error as a sentence has it: 0.0576, or 5.76 percentage points."""
    return f"{value:{form_of(unit, [value])}} {unit}".rstrip()


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors at some cells of a table: predicted minus observed."""

    off: np.ndarray  # (m,) the errors
    row: np.ndarray  # (m,) the row of each
    weight: np.ndarray  # (m,) how much each counts; if all are 0, they count equally

    @classmethod
    def at(cls, cells, off, row_weight=None) -> Errors:
        """Return the errors at `cells` of an array; they count as much as their rows."""
        row = np.nonzero(cells)[0]
        weight = np.ones(len(row)) if row_weight is None else row_weight[row]
        return cls(off[cells], row, weight)

    @classmethod
    def joined(cls, parts) -> Errors:
        """Return the errors of several predictions of the same rows."""
        names = ("off", "row", "weight")
        return cls(*(np.concatenate([getattr(part, n) for part in parts]) for n in names))

    def mean(self, values) -> float:
        """Return the weighted mean of values at the cells, or NaN if there are none."""
        if not len(values):
            return np.nan
        return float(np.average(values, weights=self.weight if self.weight.any() else None))

    @property
    def rmse(self) -> float:
        """Return the root of the mean squared error."""
        return self.mean(self.off**2) ** 0.5

    @property
    def mae(self) -> float:
        """Return the mean absolute error."""
        return self.mean(np.abs(self.off))

    def rmse_error(self) -> float:
        """Return the standard error of `rmse`, from the differences between rows."""
        return _spread(self._influence()) if len(self.off) else np.nan

    def behind(self, other) -> tuple[float, float]:
        """Return by how much `rmse` is above that of another, and the standard error of that.

        Both are errors at the same cells, so rows are compared one by one.
        """
        return self.rmse - other.rmse, _spread(self._influence() - other._influence())

    def _influence(self):
        """Return what each row adds to the deviation of `rmse` from its expectation."""
        square = self.mean(self.off**2)
        if not square > 0:
            return np.zeros(self.row.max(initial=-1) + 1)
        parts = self.weight * (self.off**2 - square)
        return np.bincount(self.row, parts) / (2 * square**0.5 * self.weight.sum())


def _spread(parts):
    """Return the standard error of a sum of independent parts whose mean is 0."""
    n = np.count_nonzero(parts)
    return float(np.sqrt(np.square(parts).sum() * n / max(n - 1, 1)))


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Observed degrees, and what was predicted without them: one entry per degree.

    Attributes
    ----------
    observed, predicted, constant : ndarray of shape (m,)
        The degree, the prediction, and what the constant mean gives in its place: for missing
        degrees of given rows the means moved or scaled to what the row leaves (or as they are, if
        the sums of rows vary), whichever is best.
    label, row : ndarray of int of shape (m,)
        Where it stands.
    labels : list of str
        Names of the labels.
    how : str
        A sentence on how the predictions were made.
    lower, upper : ndarray of shape (m,) or None
        Ends of the intervals.
    unit : str
        What the numbers are: "percentage points", or nothing for fractions.
    weights : ndarray of shape (m,) or None
        How much each degree counts; None is equally much.
    unknown : str
        Why no error is given, if there are no degrees for that reason.
    """

    observed: np.ndarray
    predicted: np.ndarray
    constant: np.ndarray
    label: np.ndarray
    row: np.ndarray
    labels: list
    how: str
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None
    unit: str = ""
    weights: np.ndarray | None = None
    unknown: str = ""

    @classmethod
    def of(cls, y, predicted, constant, labels, how="", ends=(), weights=None) -> HeldOut:
        """Return the known degrees of rows, with what is predicted there.

        Each degree counts as much as its row by `weights`.
        """
        row, label = at = np.nonzero(~np.isnan(y))
        y, predicted, constant = (values[at] for values in (y, predicted, constant))
        lower, upper = [end[at] for end in ends] or (None, None)
        found = cls(y, predicted, constant, label, row, list(labels), how, lower, upper)
        return found if weights is None else replace(found, weights=weights[row])

    def in_units_of(self, scale) -> HeldOut:
        """Return the same in the units of a table: percentages, or fractions as they are."""
        names, whole = ("observed", "predicted", "constant", "lower", "upper"), whole_of(scale)
        if whole == 1:
            return self
        numbers = {name: getattr(self, name) for name in names}
        scaled = {name: whole * x for name, x in numbers.items() if x is not None}
        return replace(self, **scaled, unit=error_unit(whole))

    def overall(self) -> dict:
        """Return rmse, mae, constant_rmse, constant_mae, explained, n and coverage (or None)."""
        numbers, coverage = self._errors(slice(None)), None
        if self.lower is not None and len(self.observed):
            covered = (self.lower <= self.observed) & (self.observed <= self.upper)
            coverage = self._of(self.predicted).mean(covered)
        return numbers | {"coverage": coverage}

    def by_label(self) -> pd.DataFrame:
        """Return a frame with the same for each label, and the mean of predicted - observed."""
        rows = []
        for j, name in enumerate(self.labels):
            at = self.label == j
            bias = float(np.mean((self.predicted - self.observed)[at])) if at.any() else np.nan
            rows.append({"label": name, **self._errors(at), "bias": bias})
        return pd.DataFrame(rows)

    def _of(self, predicted, at=slice(None)):
        """Return the errors of some predictions."""
        weights = np.ones(len(self.observed)) if self.weights is None else self.weights
        return Errors((predicted - self.observed)[at], self.row[at], weights[at])

    def _errors(self, at):
        """Return the errors of some predictions, and those of the constant mean."""
        model, constant = self._of(self.predicted, at), self._of(self.constant, at)
        explained = 1 - model.rmse**2 / constant.rmse**2 if constant.rmse > 0 else np.nan
        return {
            "n": len(model.off),
            "rmse": model.rmse,
            "mae": model.mae,
            "constant_rmse": constant.rmse,
            "constant_mae": constant.mae,
            "explained": explained,
        }

    def factors(self) -> tuple[float, float] | None:
        """Return by which factor predictions, and the constant mean, are off on average.

        It is the exponential of the mean absolute error of logarithms, without shares of 0. None
        if labels are not of very different sizes.
        """
        sizes = pd.Series(self.observed).groupby(self.label).mean()
        if not len(sizes) or sizes.max() <= UNEQUAL * sizes.min():
            return None
        at = (self.observed > 0) & (self.predicted > 0) & (self.constant > 0)
        weights = self._of(self.predicted, at)
        logs = (np.log(each[at] / self.observed[at]) for each in (self.predicted, self.constant))
        found, constant = (float(np.exp(weights.mean(np.abs(each)))) for each in logs)
        return found, constant

    def reliability(self, bins=10) -> pd.DataFrame:
        """Return the mean prediction and the mean degree of groups of similar predictions.

        The groups divide the range of the predictions evenly; `error` is the standard error of
        the mean degree.
        """
        low, high = (self.predicted.min(), self.predicted.max()) if len(self.predicted) else (0, 1)
        inner = np.linspace(low, high, bins + 1)[1:-1]
        group = np.searchsorted(inner, self.predicted, side="right")
        cells = pd.DataFrame({"predicted": self.predicted, "observed": self.observed})
        groups = cells.groupby(group)
        table = groups.mean().assign(error=groups["observed"].sem(), n=groups.size())
        return table.reset_index(drop=True)


@dataclass(frozen=True)
class Bounded:
    """How predictions agree with degrees of which only bounds are known."""

    n: int  # such degrees
    within: float  # share of the predictions that lie within the bounds
    distance: float  # by which the others miss the nearest bound on average; 0 if there are none
    unit: str = ""  # of the distance: "percentage points", or nothing for fractions


def measure_new_rows(model, y, weights=None) -> HeldOut:
    """Measure the predictions of training rows that were each made without the row.

    `y` are the degrees that the model was fitted to; `weights` those of its held-out rows.
    """
    y = np.asarray(y)[model.held_out_rows_]
    how = f"Each of {len(y):,} rows was predicted by a model that had not seen it."
    if getattr(model, "panel_", None) is not None and model.panel_.time is not None:
        how = f"Each of {len(y):,} rows, the last of their units, was predicted from those before."
    predicted, constant = model.held_out_, _means_of_others(y, weights)
    if model.known == "ratios":
        how += " Each share is compared as a part of all known shares of its row."
        y, predicted, constant = as_ratios(y, predicted, np.broadcast_to(model.means_, y.shape))
    return HeldOut.of(y, predicted, constant, model.label_names_, how, weights=weights)


FEWEST_SPELLS = 10  # that tell how large errors are
FEW_SPELLS = (
    "it is measured by hiding known shares in the way that others are missing, and the table has "
    "room for only {} like that, too few to tell; intervals are wider for it"
)


def measure_completion(model) -> HeldOut:
    """Measure how well degrees that are hidden on purpose are completed.

    Each known degree is hidden once, and filled in by what was learned without its row. Degrees
    count as often as such are missing: in rows with as many holes, of the same label, and so that
    their mean is that of the missing ones. If hardly any known degrees are like the missing ones,
    no error is given.
    """
    labels = list(model.label_names_)
    if (counts := getattr(model, "log_counts_", None)) is not None:
        how = f"{len(counts.truth):,} known counts were hidden on purpose, one at a time."
        about = counts.label, np.arange(len(counts.label)), labels, how
        return HeldOut(counts.truth, counts.found, counts.plain, *about, unit="counts")
    if model.known == "ratios":
        return _nothing(labels, "only ratios of known shares are given")
    if (unseen := getattr(model, "unseen_", np.zeros(1, bool))).any():
        names = listed([repr(labels[j]) for j in np.flatnonzero(unseen)])
        return _nothing(labels, f"no share of {names} is known, so none can be hidden to try it")
    completer, kept = model._completer(), model._completion_sample()
    found, weights = completer.refilled_, completer.hole_weights_
    if weights is None:
        return _nothing(labels, "" if found is None else _unlike(completer))
    how = (
        f"{len(found.degrees):,} known shares were hidden on purpose, one at a time, and filled "
        "in by what was learned without their rows. Each counts as often as shares like it are "
        "missing."
    )
    if kept.n_spells is not None:
        if kept.n_spells < FEWEST_SPELLS:
            return _nothing(labels, FEW_SPELLS.format(counted(round(kept.n_spells), "hole")))
        how = (
            f"{len(found.degrees):,} known shares were hidden on purpose, in runs of rows as the "
            "missing ones are, and filled in by what was learned without them."
        )
    means = _means_of_others(kept.degrees)[found.row]
    at = np.arange(len(found.row))
    fills = PartialRows(found.left).project(means), fill_in_proportion(found.left, means)
    ways = [filled[at, found.label] for filled in fills]
    if kept.loose:  # a row need not sum to 1, and nor need the means
        ways.append(means[at, found.label])
    constant = min(ways, key=lambda way: np.average(np.abs(way - found.degrees), weights=weights))
    about = found.label, found.row, labels, how
    return HeldOut(found.degrees, found.filled, constant, *about, weights=weights)


def as_ratios(y, *predictions) -> tuple[np.ndarray, ...]:
    """Return the known ratios of rows, and those that each array of predictions gives instead."""
    cells = [PartialRows(y, total=np.nan).cells(predicted) for predicted in predictions]
    return cells[0][0], *(ratios for _, ratios in cells)


def _nothing(labels, why):
    """Return that no error is given, and why."""
    rows = np.empty((0, len(labels)))
    return replace(HeldOut.of(rows, rows, rows, labels), unknown=why)


def _unlike(completer):
    """Return why known degrees do not show the error at missing ones."""
    if completer.limited_:
        return "the missing shares have bounds, and no share like them is known"
    if completer.top_k_ is not None:
        return (
            "only the largest shares of each row seem to be recorded, so no share as small as the "
            "missing ones is known"
        )
    return (
        "whether a share is missing depends so much on its size that hardly any like the missing "
        "ones are known"
    )


def measure_bounds(known, predicted, weights=None, scale="fraction") -> Bounded | None:
    """Compare predictions with bounds of missing degrees, which `known` has; None without any."""
    at, (low, high) = known.bounded, known.box
    if not at.any():
        return None
    missed = np.maximum(np.maximum(low - predicted, predicted - high), 0)
    errors = Errors.at(at, missed, weights)
    outside = errors.mean(errors.off > COMPUTED)
    distance = errors.mae / outside if outside else 0.0
    whole = whole_of(scale)
    return Bounded(len(errors.off), 1 - outside, whole * distance, error_unit(whole))


def _means_of_others(y, weights=None):
    """Return for each row the means of the degrees that other rows have."""
    weight = np.ones((len(y), 1)) if weights is None else weights[:, None]
    seen, degrees = weight * ~np.isnan(y), weight * np.where(np.isnan(y), 0, y)
    count = seen.sum(axis=0)
    left = count - seen
    return (degrees.sum(axis=0) - degrees) / np.where(left > 1e-12 * count, left, 1)
