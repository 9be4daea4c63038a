"""How the holes of a table lie: single cells, whole rows, spells, a label in a region or a period.

Explanations compete. Each predicts whether a cell is missing from other cells only: those of its
unit, its neighbours in time, other units at its time, rows with the same other holes, or from
features. What counts is the share of the deviance that it explains. Size is blamed only for what
they leave, or where an edge of size parts the missing degrees from the known ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import xlogy
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.tree import DecisionTreeRegressor

from inldl.rows import missingness
from inldl.rows.panel import Panel
from inldl.rows.partial import PartialRows

Array = np.ndarray
EXPLAINED = 0.3  # of the deviance: an explanation
LEAST_GAIN = 12.0  # of the deviance: less may be chance
NO_WORSE = 0.1  # of the deviance: one explanation is as good as another
MOMENT = 8  # rows of several units that count as of one time, if they have different ones
FEWEST_AT_EDGE = 10  # rows that show it
TREE = {"max_leaf_nodes": 16, "min_samples_leaf": 10, "random_state": 0}


@dataclass(frozen=True, eq=False)
class Holes:
    """Holes of a table that lie alike.

    The kind is "cells" (at random), "rows" (whole ones), "spells" (runs in time of a unit),
    "region" (of units), "period" (the same times of units), "label" (nowhere recorded),
    "features" (these tell), "design" (few patterns), "small" or "large" (more often missing),
    "suppressed" (below a size), or "largest" (only those are recorded).
    """

    kind: str
    cells: Array  # (n, C) of bool
    units: Array | None = None  # where the holes are, if units explain them
    times: Array | None = None  # those of a period


def find_holes(
    y: Array, panel: Panel | None = None, features: Array | None = None, *, totals: bool = True
) -> list[Holes]:
    """Return how the holes of degrees lie, the most frequent kind first.

    Parameters
    ----------
    y : ndarray of shape (n, C)
        Degrees, NaN = missing; rows sum to 1.
    panel : Panel, optional
        Where the rows belong.
    features : ndarray of shape (n, k), optional
        Encoded features, which may tell why degrees are missing.
    totals : bool, default=True
        Whether rows sum to 1, so that sizes can tell it.
    """
    holes = np.isnan(y)
    empty = holes.all(axis=1)
    if not holes.any():
        return []
    if totals and (kind := _edge_of_size(y[~empty])):
        return [Holes(kind, holes)]
    if empty.sum() <= 2 * len(y) * holes.mean(axis=0).prod():  # as by chance
        empty[:] = False
    found, loose = [], np.zeros_like(holes)
    if empty.any():
        rows = holes & empty[:, None]
        found.append(_placed(rows, np.arange(len(y)), panel) or Holes("rows", rows))
    for cells in _alike(holes & ~empty[:, None]):
        if (holes[:, cells.any(axis=0)] | empty[:, None]).all():
            found.append(Holes("label", cells))
        elif placed := _placed(cells, np.flatnonzero(~empty), panel):
            found.append(placed)
        else:
            loose |= cells
    if loose.any():
        free = totals & ~sum((each.cells for each in found), np.zeros_like(holes)).any(axis=1)
        found.append(_unplaced(y, loose, free, panel, features))
    return sorted(found, key=lambda each: -each.cells.sum())


def _edge_of_size(y: Array) -> str:
    """Return "largest" or "suppressed" if size parts the holes from the degrees, else nothing.

    Only rows tell that hide a label which other rows know.
    """
    holes = np.isnan(y)
    telling, recorded = (holes & ~holes.all(axis=0)).any(axis=1), (~holes).sum(axis=1)
    if telling.sum() < FEWEST_AT_EDGE:
        return ""
    rows, usual = PartialRows(y[telling]), np.bincount(recorded).argmax()
    mean, below = rows.rest / rows.holes.sum(axis=1), missingness.bounds_of_largest(rows.y)
    if _nearly_all(mean <= np.nanmin(y)) and (recorded != usual).any():
        return "suppressed"
    as_many = (recorded == usual).mean() >= missingness.EQUALLY_MANY
    return "largest" if as_many and _nearly_all(np.isfinite(below)) else ""


def _nearly_all(rows):
    return rows.mean() >= missingness.CONSISTENT


def _alike(holes):
    """Return the holes of labels, of those together that are missing in the same rows."""
    groups: dict[bytes, list[int]] = {}
    for j in np.flatnonzero(holes.any(axis=0)):
        groups.setdefault(holes[:, j].tobytes(), []).append(j)
    return [holes & np.isin(np.arange(holes.shape[1]), js) for js in groups.values()]


def _placed(cells, rows, panel):
    """Return holes that unit and time explain among some rows, or None."""
    if panel is None:
        return None
    panel, h = panel.take(rows), cells[rows].any(axis=1).astype(float)
    near, when = _neighbours(h, panel), _moments(panel)
    of_unit, run, of_time = (
        _explained(h, x) for x in (_others(h, panel.unit), near, _others(h, when))
    )
    if max(of_unit, run, of_time) < EXPLAINED:
        return None
    if of_unit >= max(run, of_time) - NO_WORSE:
        share = pd.Series(h).groupby(panel.unit).mean()
        return Holes("region", cells, share.index[share >= share.max() / 2].to_numpy())
    units = np.unique(panel.unit[h * near > 0] if run > of_time else panel.unit)
    inside = np.isin(panel.unit, units)
    some, h = panel.take(inside), h[inside]
    usual = pd.Series(h).groupby(some.time).mean()
    together = _explained(h, _others(h, _moments(some)))
    if len(units) == 1:  # a period is at an end of the series
        together = usual.iloc[[0, -1]].max()
    if together < min(1 - EXPLAINED, run - NO_WORSE):
        return Holes("spells", cells, units)
    times = usual.index[usual >= usual.max() / 2].to_numpy()
    then = np.isin(some.time, times)
    share = pd.Series(h[then]).groupby(some.unit[then]).mean()
    return Holes("period", cells, share.index[share >= 0.5].to_numpy(), times)


def _moments(panel):
    """Return numbers of times, of which several are one if few units have a row at each."""
    ranks = pd.Series(panel.positions).rank(method="min").to_numpy()
    return (ranks - 1) // min(len(np.unique(panel.unit)), MOMENT)


def _others(h, group):
    """Return how much is missing of the other rows of a group; NaN if there are none."""
    rows = pd.Series(h).groupby(group)
    others = (rows.transform("size") - 1).replace(0, np.nan)
    return ((rows.transform("sum") - h) / others).to_numpy()


def _neighbours(h, panel):
    """Return how much is missing of the rows before and after in the same unit, NaN if none."""
    if panel.time is None:
        return np.full(len(h), np.nan)
    order = np.lexsort((panel.positions, panel.unit))
    sides = pd.Series(h[order]).groupby(panel.unit[order])
    near = np.empty(len(h))
    near[order] = pd.concat([sides.shift(1), sides.shift(-1)], axis=1).mean(axis=1)
    return near


def _explained(h, near):
    """Return the share of the deviance that a rising function of `near` explains."""
    predicted, known = np.full(len(h), h.mean()), ~np.isnan(near)
    if known.any():
        predicted[known] = IsotonicRegression().fit(near[known], h[known]).predict(near[known])
    return _better(h, h.mean(), np.clip(predicted, 0, 1))


def _better(h, rate, predicted):
    """Return the share of the deviance from a rate that predictions take away."""
    chance, left = (-2 * (xlogy(h, p) + xlogy(1 - h, 1 - p)).sum() for p in (rate, predicted))
    return 1 - left / chance if chance - left >= LEAST_GAIN else 0.0


def _unplaced(y, cells, free, panel, features):
    """Return holes that unit and time do not explain; size is tested in rows `free` of others."""
    h = cells[:, cells.any(axis=0)].astype(float)
    strata = np.zeros(len(y), int) if panel is None else panel.unit
    if features is not None and features.shape[1] and len(y) >= missingness.FEWEST_ROWS:
        tree, folds = DecisionTreeRegressor(**TREE), KFold(5, shuffle=True, random_state=0)
        told = cross_val_predict(tree, features, h, cv=folds).reshape(h.shape)
        if _better(h, h.mean(axis=0), np.clip(told, 0.5 / len(h), 1 - 0.5 / len(h))) > EXPLAINED:
            return Holes("features", cells)
        strata = tree.fit(features, h).apply(features) if panel is None else strata
    size = missingness.mechanism_of(y[free], expected=usual_of(y[free], strata[free]))
    if size != "random":
        return Holes("small" if size == "rest" else size, cells)
    return Holes("design" if _few_patterns(cells) else "cells", cells)


def _few_patterns(holes):
    """Say whether rows with the same other holes tell whether a cell is missing."""
    near = []
    for j in np.flatnonzero(holes.any(axis=0)):
        bits = np.packbits(np.delete(holes, j, axis=1), axis=1)
        group = pd.DataFrame(bits).groupby(list(range(bits.shape[1]))).ngroup()
        near.append(_others(holes[:, j].astype(float), group.to_numpy()))
    h = holes[:, holes.any(axis=0)].T.astype(float).ravel()
    return _explained(h, np.concatenate(near)) > 0.5


def usual_of(y: Array, strata: Array) -> Array:
    """Return the means of labels over the other rows of a stratum, or all rows if none has it."""
    frame = pd.DataFrame(y)
    groups = frame.groupby(strata)
    others = (groups.transform("count") - frame.notna()).replace(0, np.nan)
    usual = (groups.transform("sum") - frame.fillna(0)) / others
    return usual.fillna(frame.mean()).to_numpy()
