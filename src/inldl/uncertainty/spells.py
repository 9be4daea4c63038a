"""Hide degrees of a panel on purpose, in the shape of its holes.

A spell is a run of rows of a unit, one after the other in time, that lack the same labels. Spells
are placed in other units, or in the same ones at other times, where known rows lie on the same
sides of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np

from inldl.rows.panel import Panel
from inldl.solvers.gaussian import TINY
from inldl.uncertainty.hiding import MOST_WEIGHT, raked

Array = np.ndarray
UNIT_FOLDS = 5  # trials in which a part of the units gets the holes of others
MOST_HIDDEN = 0.35  # of the rows of a unit, unless one spell is longer: others have to stay known
FEW_UNITS = 20  # of fewer, spells are also placed backwards in time
LAST_TIMES = 3  # of each unit, from each of which on rows are hidden, and steps that are predicted
MOST_LAST, LAST_ROWS = 13, 26  # times if units are few, until there are so many rows
MOST_SPELLS = 30  # that count: more choose no better
SHARPNESS = 2.0  # with which the errors of a spell decide about ways
LEAST_WEIGHT = 0.01  # of a way that is used
FAR_ROWS = (2, 4, 8)  # rows to the nearest known one, in classes
KNOWN_ELSEWHERE = (0.1, 0.6)  # share of the rows of a time that have the label, in classes
LEAST_LIKE = 0.1  # weight of a hidden degree that is unlike any hole
MOST_HOLES = (0.3, 0.7, 0.999)  # share of the labels that a row lacks, in classes


@dataclass(frozen=True, eq=False)
class Spell:
    """Rows of a unit, one after the other in time, that lack the same labels."""

    lacking: Array  # (C,) of bool
    length: int
    known_before: bool
    known_after: bool

    @property
    def whole(self) -> bool:
        """Whether the unit never has these labels together."""
        return not (self.known_before or self.known_after)

    def place(self, holes: Array, generator: np.random.Generator) -> Array:
        """Return rows of a unit with such holes that could have been a spell like this one."""
        free = np.flatnonzero(~holes[:, self.lacking].any(axis=1))
        if self.whole:
            return free
        length = min(self.length, len(free) - self.known_before - self.known_after)
        if length < 1:
            return free[:0]
        first = len(free) - length if self.known_before else 0
        if self.known_before and self.known_after:
            first = int(generator.integers(1, first))
        return free[first : first + length]


def spells_of(holes: Array) -> list[Spell]:
    """Return the spells of a unit whose rows are in the order of time."""
    changes = np.flatnonzero((holes[1:] != holes[:-1]).any(axis=1)) + 1
    found = []
    for run in np.split(np.arange(len(holes)), changes):
        lacking = holes[run[0]]
        if lacking.any():
            known = np.logical_not(holes[:, lacking].any(axis=1))
            sides = bool(known[: run[0]].any()), bool(known[run[-1] :].any())
            found.append(Spell(lacking, len(run), *sides))
    return found


@dataclass(frozen=True, eq=False)
class HiddenSpells:
    """A trial: a panel with further degrees hidden, and which of these the sum does not give."""

    left: Array  # (n, C) what is left of the degrees
    row: Array  # (m,) where hidden degrees stand
    label: Array  # (m,)
    spell: Array  # (m,) the number of the spell that each is of

    @cached_property
    def rows(self) -> Array:
        """Return the rows in which something is hidden."""
        return np.unique(self.row)

    @property
    def at(self) -> Array:
        """Return where the row of each hidden degree stands among these."""
        return np.searchsorted(self.rows, self.row)


def hide_spells(panel: Panel, y: Array, seed: int) -> Iterator[HiddenSpells]:
    """Yield trials: parts of the units get the holes of others, then all units at once.

    All at once, what a time has in common is hidden with it, as it is where a label was not asked
    in some years anywhere. Few units are used again, with time running backwards.
    """
    generator = np.random.default_rng([seed, 2])
    order = panel.positions if panel.time is not None else generator.random(len(panel))
    units, holes = Panel(panel.unit, order).units, np.isnan(y)
    spells = [spells_of(holes[unit]) for unit in units]
    donors = [number for number, found in enumerate(spells) if found]
    shuffled = generator.permutation(len(units))
    parts = [(shuffled[fold::UNIT_FOLDS], 1) for fold in range(UNIT_FOLDS) if len(units) > 1]
    if panel.time is not None:
        parts += [(shuffled, 1), *([(shuffled, -1)] if len(units) < FEW_UNITS else [])]
    for receivers, direction in parts if donors else ():
        left, spell, numbers = y.copy(), np.full(y.shape, -1), count()
        together = len(receivers) == len(units)
        for receiver in receivers:
            own = together and bool(spells[receiver])
            donor = receiver if own else donors[generator.integers(len(donors))]
            size = len(units[receiver]) / len(units[donor]) * _kept(spells[donor], units[donor])
            chosen = [each for each in spells[donor] if generator.random() < size]
            if together:  # else no unit would be left that has the label
                chosen = [each for each in chosen if not each.whole]
            for each, number in zip(chosen, numbers, strict=False):
                unit = units[receiver][::direction]
                rows = unit[each.place(np.isnan(left[unit]), generator)]
                cells = np.ix_(rows, np.flatnonzero(each.lacking))
                left[cells], spell[cells] = np.nan, number
        hidden = (spell >= 0) & (np.isnan(left).sum(axis=1, keepdims=True) > 1)
        if hidden.any() and _same_labels(left, y):
            row, label = np.nonzero(hidden)
            yield HiddenSpells(left, row, label, spell[hidden])


def _kept(spells, unit):
    """Return the share of the spells of a unit that are hidden in another at once."""
    lengths = [each.length for each in spells]
    return min(1.0, max(MOST_HIDDEN * len(unit), np.mean(lengths)) / sum(lengths))


def hide_last(panel: Panel, y: Array, seed: int) -> Iterator[HiddenSpells]:
    """Yield trials: the last rows of units are hidden, and to be predicted from those before.

    Without times these are any rows. Each is a spell, of which the first ones of units have
    numbers below n, the second ones below 2 n, and so on.
    """
    generator = np.random.default_rng([seed, 4])
    order = panel.positions if panel.time is not None else generator.random(len(panel))
    units = Panel(panel.unit, order).units
    n_times = max(LAST_TIMES, min(MOST_LAST, LAST_ROWS // len(units)))
    for back in range(1, n_times + 1):
        ends = [unit[-back:] for unit in units if len(unit) > max(back, 2 * back - LAST_TIMES)]
        left, spell = y.copy(), np.full(y.shape, -1)
        for rows in ends:
            left[rows], judged = np.nan, rows[:LAST_TIMES]
            spell[judged] = (judged + len(y) * np.arange(len(judged)))[:, None]
        hidden = (spell >= 0) & ~np.isnan(y)
        if hidden.any() and _same_labels(left, y):
            row, label = np.nonzero(hidden)
            yield HiddenSpells(left, row, label, spell[hidden])


def _same_labels(left, y):
    """Say whether all labels that are known somewhere still are."""
    return (np.isnan(left).all(axis=0) == np.isnan(y).all(axis=0)).all()


def distances(panel: Panel, holes: Array) -> tuple[Array, Array]:
    """Return for each cell how many rows of its unit lie between it and the next known ones.

    The second array has on how many sides of it there are known ones: 0, 1 or 2.
    """
    distance, sides = np.empty(holes.shape, int), np.empty(holes.shape, int)
    for unit in panel.units:
        n, row = len(unit), np.arange(len(unit))[:, None]
        last = np.maximum.accumulate(np.where(holes[unit], -n, row), axis=0)
        following = np.minimum.accumulate(np.where(holes[unit], 2 * n, row)[::-1], axis=0)[::-1]
        sides[unit] = (last >= 0).astype(int) + (following < n)
        distance[unit] = np.minimum(np.minimum(row - last, following - row), n)
    return distance, sides


def known_elsewhere(panel: Panel, y: Array) -> Array:
    """Return the share of the rows of its time in which the label of each cell is known."""
    when = np.unique(panel.positions, return_inverse=True)[1]
    known = np.stack([np.bincount(when, column) for column in (~np.isnan(y)).T], axis=1)
    return (known / np.bincount(when)[:, None])[when]


def surroundings(panel: Panel, y: Array, row: Array, label: Array) -> list[Array]:
    """Return for cells in which classes they are, by what is known around them.

    The classes are of how far the next rows of the unit are that have the label known, and on how
    many sides; of how many rows of the same time have it known; and of the holes of the row.
    """
    holes = np.isnan(y)
    distance, sides = distances(panel, holes)
    near = np.digitize(distance, FAR_ROWS) + (len(FAR_ROWS) + 1) * (2 - sides)
    return [
        near[row, label],
        np.digitize(known_elsewhere(panel, y)[row, label], KNOWN_ELSEWHERE),
        np.digitize(holes.mean(axis=1)[row], MOST_HOLES),
    ]


def likeness(panel: Panel, y: Array, trials: list[HiddenSpells]) -> Array:
    """Return how much each hidden degree counts, so that together they are like the holes."""
    holes = np.isnan(y) & (np.isnan(y).sum(axis=1, keepdims=True) > 1)
    wanted = surroundings(panel, y, *np.nonzero(holes))
    found = [surroundings(panel, trial.left, trial.row, trial.label) for trial in trials]
    margins = []
    for want, parts in zip(wanted, zip(*found, strict=True), strict=True):
        classes = np.concatenate(parts)
        margins.append((classes, np.bincount(want, minlength=classes.max() + 1).astype(float)))
    weights = raked(np.ones(sum(len(trial.row) for trial in trials)), margins)
    if not weights.any():
        return weights + 1
    return np.clip(weights / weights.mean(), LEAST_LIKE, MOST_WEIGHT)


def independent(panel: Panel, trials: list[HiddenSpells], counts: Array) -> float:
    """Return about how many spells tell something of their own, if degrees count by `counts`.

    A row that is hidden again tells nothing new, and where nobody knows a label at a time, all
    units tell the same.
    """
    if not trials:
        return 0.0
    times = np.unique(panel.positions, return_inverse=True)[1]
    row = np.concatenate([trial.row for trial in trials])
    found = [known_elsewhere(panel, trial.left)[trial.row, trial.label] for trial in trials]
    n_rows, common = 0.0, np.concatenate(found) == 0
    for some, which in ((common, times[row]), (~common, row)):
        total = np.bincount(which[some], counts[some])
        if total.any():
            n_rows += total.sum() / counts.sum() * total.sum() ** 2 / np.square(total).sum()
    lengths = [len(trial.rows) / len(np.unique(trial.spell)) for trial in trials]
    return float(n_rows / np.mean(lengths))


def weights_by_errors(errors: Array, n_spells: float, before: Array | float = 1.0) -> Array:
    """Return weights of ways with such errors at hidden spells.

    One that is worse by a factor weighs less by a power of it than `before`, the larger the more
    spells tell it.
    """
    power = SHARPNESS * min(max(n_spells, 0.0), MOST_SPELLS)
    weights = before * ((errors.min() + TINY) / (errors + TINY)) ** power
    weights[weights < LEAST_WEIGHT * weights.sum()] = 0
    return weights / weights.sum()
