"""Hide observed degrees on purpose, as holes are: one in each row, or spells of a panel.

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
from scipy.optimize import brentq

from inldl.rows.density import evenly_spaced, log_size
from inldl.rows.missingness import mechanism_of
from inldl.rows.panel import Panel
from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import TINY

Array = np.ndarray
MOST_NUMBERS = 2_500_000  # of all hidden degrees with their rows
FEWEST_OF_LABEL = 4  # hidden degrees, even if that is more
MOST_WEIGHT = 5.0  # of a hidden degree, relative to the mean
ROUNDS = 3  # of meeting margins one after the other
# Where sizes decide more strongly, too few degrees like the missing ones are observed
STEEPEST_WEIGHTS = 1.0
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
class HiddenCells:
    """Observed degrees that are hidden, one in each row of `left`; then what fills them again."""

    row: Array  # (m,) where they stand
    label: Array  # (m,)
    left: Array  # (m, n_labels) what is left of their rows
    degrees: Array  # (m,) what they are
    filled: Array | None = None  # (m,) what was filled in by what was learned without them
    # (m,) how much each counts, so that rows with many holes count as they do among all holes
    weights: Array | None = None

    @property
    def at(self) -> tuple[Array, Array]:
        """Where they stand in `left`."""
        return np.arange(len(self.row)), self.label

    def take(self, chosen) -> HiddenCells:
        """Return some of them."""
        arrays = {name: a[chosen] for name, a in vars(self).items() if a is not None}
        return HiddenCells(**arrays)

    @classmethod
    def together(cls, parts) -> HiddenCells:
        """Return several as one."""
        names = [name for name, a in vars(parts[0]).items() if a is not None]
        return cls(**{n: np.concatenate([getattr(part, n) for part in parts]) for n in names})


def hide_each_label(y, seed, rows=None) -> HiddenCells:
    """Hide each observed degree of some rows, one at a time.

    A row keeps the holes it has. If it has no other hole, the sum would give the hidden degree
    away; such a row also gets the holes of a row that misses the label, or one at random if there
    is no such row with several holes. Tables with many labels are thinned out evenly.
    """
    rows = np.arange(len(y)) if rows is None else rows
    generator = np.random.default_rng([seed, 1])
    most = max(FEWEST_OF_LABEL, MOST_NUMBERS // y.shape[1] ** 2)
    labels = range(y.shape[1])
    return HiddenCells.together([_hide_label(y, j, rows, most, generator) for j in labels])


def _hide_label(y, label, rows, most, generator):
    holes, n_labels = np.isnan(y), y.shape[1]
    rows = rows[~holes[rows, label]]
    rows = rows[evenly_spaced(len(rows), most)]
    left = y[rows]
    left[:, label] = np.nan
    alone = np.flatnonzero(np.isnan(left).sum(axis=1) == 1)
    like = np.flatnonzero(holes[:, label] & (holes.sum(axis=1) > 1))
    if len(like):
        left[alone] = np.where(holes[generator.choice(like, len(alone))], np.nan, left[alone])
    elif n_labels > 1:
        other = (label + generator.integers(1, n_labels, len(alone))) % n_labels
        left[alone, other] = np.nan
    return HiddenCells(rows, np.full(len(rows), label), left, y[rows, label])


def raked(weights, margins) -> Array:
    """Return weights whose sums over groups are in the wanted proportions, nearly in all margins.

    A margin is the group of each weight, and a wanted sum for each group; those of the last margin
    are met. Groups without a weight are left out.
    """
    for group, want in margins * ROUNDS:
        have = np.bincount(group, weights, minlength=len(want))
        want = np.where(have > 0, want, 0)
        if want.any():
            weights = weights * (want / np.where(have > 0, have, 1))[group]
    return weights


def share_of_holes(left, y) -> Array:
    """Return weights with which rows of `left` have as many holes as those of `y`.

    They are 1 if y has no row with several holes.
    """
    n_labels = y.shape[1]
    have, want = (np.isnan(a).sum(axis=1) for a in (left, y))
    want = np.bincount(want, minlength=n_labels + 1) * np.arange(n_labels + 1.0)
    want[:2] = 0
    if not want.any():
        return np.ones(len(left))
    weights = (want / np.maximum(np.bincount(have, minlength=n_labels + 1), 1))[have]
    if not weights.any():
        return np.ones(len(left))
    return np.minimum(weights / weights.mean(), MOST_WEIGHT)


def weights_of_holes(y, refilled) -> Array | None:
    r"""Return weights with which observed degrees, `refilled`, are like the missing ones of `y`.

    Rows with many holes count as they do by the weights so far, each label as often as it is
    missing, and the mean is that of the missing degrees, which the sums of the rows give: the
    weight of a degree d is multiplied by :math:`(C d + 0.1)^{-b}`, with the b that does it.
    Returns None if sizes decide what is missing and b is beyond -1 and 1: hardly any observed
    degrees are like the missing ones then.
    """
    holes, weights = np.isnan(y), refilled.weights
    if not holes.any():
        return weights
    rest = np.where(holes.any(axis=1), PartialRows(y).rest, 0)
    size, mean = log_size(refilled.degrees, y.shape[1]), rest.sum() / holes.sum()
    n_holes = np.isnan(refilled.left).sum(axis=1)
    margins = [(n_holes, np.bincount(n_holes, weights)), (refilled.label, holes.sum(axis=0))]

    def tilted(b):
        return raked(weights * np.exp(-b * size), margins)

    def excess(b):
        return np.average(refilled.degrees, weights=tilted(b)) - mean

    beyond = np.sign(excess(STEEPEST_WEIGHTS)) == np.sign(excess(-STEEPEST_WEIGHTS))
    if beyond and mechanism_of(y, fewest=1) != "random":
        return None
    if beyond:  # by chance
        return tilted(min(-STEEPEST_WEIGHTS, STEEPEST_WEIGHTS, key=lambda b: abs(excess(b))))
    return tilted(brentq(excess, -STEEPEST_WEIGHTS, STEEPEST_WEIGHTS))


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
        yield from _trial(y, left, hidden, spell)


def _trial(y, left, hidden, spell):
    """Yield a trial if it hides something, and leaves some of each label that is known."""
    if hidden.any() and (np.isnan(left).all(axis=0) == np.isnan(y).all(axis=0)).all():
        yield HiddenSpells(left, *np.nonzero(hidden), spell[hidden])


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
        yield from _trial(y, left, (spell >= 0) & ~np.isnan(y), spell)


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
