"""A study: predict rows of a panel from the other rows of their units, and of their times.

What a row shares with the others of its unit is a level and a path along time, a Gaussian process
around a base such as the mean of all rows. Kernels and bases are mixed by their errors at degrees
that are hidden in the shape of the real holes: a spell is a run of rows of a unit that lack the
same labels, and it is placed where known rows lie on the same sides of it. `complete` then fills
near the prediction, in proportion to it, or as normal errors have it, again mixed by these errors.

`panels.py` compares it with the package, which knows nothing of units and times yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from inldl.rows.partial import PartialRows
from inldl.solvers.gaussian import error_covariance, fill_in_proportion, given_observed
from inldl.solvers.linear import weights_towards
from inldl.uncertainty.hiding import MOST_WEIGHT, raked

Array = np.ndarray
NEAREST = 40  # rows of a unit that are used at most, the nearest in time
PANEL_ROUNDS = 6  # of estimating levels of units and effects of times in turns
LEVEL_PRIOR, TIME_PRIOR = 0.5, 2.0  # rows that say that a unit, or a time, is like all others
UNIT_FOLDS = 5  # trials in which a part of the units gets the holes of others
DISTANCES = (2, 4, 8)  # rows to the nearest known one, in classes
KNOWN_ELSEWHERE = (0.1, 0.6)  # share of the rows of a time that have the label, in classes
MOST_HOLES = (0.3, 0.7, 0.999)  # share of the labels that a row lacks, in classes
TRIAL_ROWS = 4000  # of the units that trials are made with
JUDGED_CELLS = 1500  # hidden degrees that are enough; trials are repeated for fewer
REPETITIONS = 4  # at most
PULL = 20.0  # one over the variance with which weights are expected around equal ones
LEAST_WEIGHT = 0.01  # of a way that is used
LEAST_VARIANCE = 1e-12


@dataclass(frozen=True)
class Panel:
    """Where rows belong."""

    unit: Array  # (n,) of int, from 0
    time: Array | None = None  # (n,) of float; None if rows of a unit have no order

    def __len__(self) -> int:
        return len(self.unit)

    def take(self, rows: Array) -> Panel:
        """Return some of the rows."""
        return Panel(self.unit[rows], None if self.time is None else self.time[rows])

    @property
    def positions(self) -> Array:
        """Where rows stand along time, in steps that are usual between two times."""
        if self.time is None:
            return np.zeros(len(self))
        steps = np.diff(np.unique(self.time))
        return self.time / (np.median(steps) if len(steps) else 1.0)

    def units(self) -> list[Array]:
        """Return the numbers of the rows of each unit, in the order of time."""
        order = np.lexsort((self.positions, self.unit))
        return np.split(order, np.flatnonzero(np.diff(self.unit[order])) + 1)


@dataclass(frozen=True)
class Kernel:
    r"""How alike rows of a unit are: :math:`s (1 + k(|t - t'| / r))` for times t and t'.

    The 1 is the level of the unit and k its path, Matern's function of a `smoothness`. What a row
    has alone is of variance 1.
    """

    signal: float
    smoothness: float | None = None  # None: there is no path
    reach: float = 1.0  # steps of time

    def __call__(self, distance: Array) -> Array:
        """Return the covariances of rows at distances in time."""
        if self.smoothness is None:
            return np.full(distance.shape, self.signal)
        x = np.sqrt(2 * self.smoothness) * distance / self.reach
        polynomial = {0.5: 1.0, 1.5: 1 + x, 2.5: 1 + x + x**2 / 3}[self.smoothness]
        return self.signal * (1 + polynomial * np.exp(-x))


KERNELS = (
    Kernel(0.0),  # the base alone
    Kernel(3.0),
    Kernel(10.0, 0.5, 10.0),
    Kernel(1e4, 0.5, 200.0),  # nearly linear between the nearest rows
    Kernel(1e3, 1.5, 10.0),
    Kernel(10.0, 1.5, 40.0),
    Kernel(1.0, 2.5, 150.0),
)


@dataclass
class Paths:
    """Predict each degree from the other rows of its unit.

    A degree that is missing is predicted from all rows of the unit in which its label is known.
    A degree that is known is predicted as if it was missing with the holes of its row: without
    the row, and without others that lack all that the row lacks.
    """

    panel: Panel
    y: Array  # (n, C) degrees, NaN = unobserved
    kernels: tuple[Kernel, ...] = KERNELS
    # How much rows count for others, which is the same for units with the same times
    _weights: dict[tuple[int, bytes, bytes], Array] = field(default_factory=dict)

    def predict(
        self, base: Array, wanted: Array | None = None, used: Array | None = None
    ) -> Array:
        """Return predictions of shape (n_kernels, n, C), around a base of shape (n, C).

        Only rows that are `wanted` are predicted, by kernels that are `used`, both boolean arrays;
        the others keep the base.
        """
        which = range(len(self.kernels)) if used is None else np.flatnonzero(used)
        errors, positions = self.y - base, self.panel.positions
        out = np.repeat(base[None], len(self.kernels), axis=0)
        for unit in self.panel.units():
            if wanted is not None and not wanted[unit].any():
                continue
            at, known = positions[unit], ~np.isnan(self.y[unit])
            targets_of = np.ones(len(unit), bool) if wanted is None else wanted[unit]
            for rows, labels, sources in self._parts(known, targets_of):
                for targets, near, left_out in _nearest(at, rows, sources):
                    values = errors[np.ix_(unit[near], labels)]
                    for k in which:
                        weights = self._weights_of(k, at, targets, near, left_out)
                        out[k][np.ix_(unit[targets], labels)] += weights @ values
        return out

    def _parts(self, known: Array, wanted: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Yield rows and labels of a unit that are predicted from the same rows, and these.

        Rows that are among them are predicted without their own degrees.
        """
        columns, kind = np.unique(known, axis=1, return_inverse=True)
        companions = [_companions(known, row) for row in range(len(known))]
        in_blocks = np.array([len(each) > 0 for each in companions])
        for j, seen in enumerate(columns.T):
            labels, sources = np.flatnonzero(kind.ravel() == j), np.flatnonzero(seen)
            if not len(sources):
                continue
            for rows in (wanted & ~seen, wanted & seen & ~in_blocks):
                if rows.any():
                    yield np.flatnonzero(rows), labels, sources
            for block, rows in _by_block(companions, np.flatnonzero(wanted & seen & in_blocks)):
                others = np.setdiff1d(sources, block)
                if len(others):
                    yield rows, labels, others

    def _weights_of(
        self, k: int, at: Array, targets: Array, sources: Array, left_out: bool
    ) -> Array:
        """Return how much each source counts for each target; kept for units with equal times."""
        start = at[sources[0]]
        key = k, (at[targets] - start).tobytes() + bytes(left_out), (at[sources] - start).tobytes()
        if key not in self._weights:
            kernel, times = self.kernels[k], at[sources]
            noisy = kernel(np.abs(times[:, None] - times)) + np.eye(len(sources))
            if left_out:  # each target is a source; its own value must not count
                inverse = np.linalg.inv(noisy)
                weights = np.eye(len(sources)) - inverse / np.diag(inverse)[:, None]
                weights = weights[np.searchsorted(sources, targets)]
            else:
                common = kernel(np.abs(at[targets][:, None] - times))
                weights = np.linalg.solve(noisy, common.T).T
            self._weights[key] = weights
        return self._weights[key]


def _companions(known: Array, row: int) -> Array:
    """Return the rows of a unit that lack all that a row lacks, with it; none if it is alone."""
    lacking = ~known[row]
    if not lacking.any():
        return np.empty(0, int)
    alike = np.flatnonzero(~known[:, lacking].any(axis=1))
    return alike if len(alike) > 1 else alike[:0]


def _by_block(companions: list[Array], rows: Array) -> Iterator[tuple[Array, Array]]:
    """Yield each set of companions, and which of the rows have it."""
    blocks: dict[bytes, list[int]] = {}
    for row in rows:
        blocks.setdefault(companions[row].tobytes(), []).append(row)
    for some in blocks.values():
        yield companions[some[0]], np.array(some)


def _nearest(at: Array, rows: Array, sources: Array) -> Iterator[tuple[Array, Array, bool]]:
    """Yield rows with the sources that are used for them, and whether the rows are among these."""
    inside = bool(np.isin(rows, sources).any())
    if len(sources) <= 2 * NEAREST:
        if len(sources) > inside:  # something is left if a row is left out
            yield rows, sources, inside
        return
    for row in rows:
        others = sources[sources != row]
        near = np.argsort(np.abs(at[others] - at[row]), kind="stable")[:NEAREST]
        yield np.array([row]), np.sort(others[near]), False


def mean_base(y: Array) -> Array:
    """Return the mean of each label, for all rows."""
    return np.broadcast_to(np.nanmean(y, axis=0), y.shape).copy()


def effects_base(panel: Panel, y: Array, smooth: Kernel | None = None) -> Array:
    """Return the mean of each label, plus the level of the unit, plus the effect of the time.

    The effects of times are shrunk, or smoothed along time by a kernel.
    """
    seen = ~np.isnan(y)
    means = np.nanmean(y, axis=0)
    times, when = np.unique(panel.positions, return_inverse=True)
    n_units = panel.unit.max() + 1
    of_units, of_times = _sums(panel.unit, seen, n_units), _sums(when, seen, len(times))
    smoother = _shrink if smooth is None else _smoother(times, smooth, of_times)
    effects = np.zeros((len(times), y.shape[1]))
    for _ in range(PANEL_ROUNDS):
        rest = np.where(seen, y - means - effects[when], 0)
        levels = _sums(panel.unit, rest, n_units) / (of_units + LEVEL_PRIOR)
        if panel.time is not None:
            rest = np.where(seen, y - means - levels[panel.unit], 0)
            effects = smoother(_sums(when, rest, len(times)), of_times)
    return np.clip(means + levels[panel.unit] + effects[when], 0, 1)


def _sums(groups: Array, values: Array, n_groups: int) -> Array:
    """Return the sums of the rows of each group."""
    out = np.zeros((n_groups, values.shape[1]))
    np.add.at(out, groups, values)
    return out


def _shrink(sums: Array, counts: Array) -> Array:
    return sums / (counts + TIME_PRIOR)


def _smoother(times: Array, kernel: Kernel, counts: Array) -> Callable[[Array, Array], Array]:
    """Return a function that smooths sums along time; means of few rows count less."""
    common = kernel(np.abs(times[:, None] - times))
    patterns, which = np.unique(counts, axis=1, return_inverse=True)
    weights = []
    for count in patterns.T:
        some = np.flatnonzero(count)
        noisy = common[np.ix_(some, some)] + np.diag(1 / count[some])
        full = np.zeros(common.shape)
        full[:, some] = np.linalg.solve(noisy, common[some]).T / count[some]
        weights.append(full)
    return lambda sums, _: np.stack(
        [weights[i] @ column for i, column in zip(which.ravel(), sums.T, strict=True)], axis=1
    )


@dataclass(frozen=True)
class Spell:
    """Rows of a unit, one after the other in time, that lack the same labels."""

    lacking: Array  # (C,) of bool
    length: int
    known_before: bool
    known_after: bool

    def place(self, holes: Array, generator: np.random.Generator) -> Array:
        """Return rows of a unit, of which `holes` are known, that could have been such a spell."""
        free = np.flatnonzero(~holes[:, self.lacking].any(axis=1))
        if not (self.known_before or self.known_after):
            return free
        length = min(self.length, len(free) - 1)
        first = 0
        if self.known_before:
            first = len(free) - length
            if self.known_after:
                first = int(generator.integers(min(1, first - 1), max(first, 1))) if first else 0
        return free[first : first + length] if length > 0 else free[:0]


def spells_of(holes: Array) -> list[Spell]:
    """Return the spells of a unit whose rows are in the order of time."""
    changes = np.flatnonzero((holes[1:] != holes[:-1]).any(axis=1)) + 1
    out = []
    for run in np.split(np.arange(len(holes)), changes):
        lacking = holes[run[0]]
        if lacking.any():
            known = ~holes[:, lacking].any(axis=1)
            out.append(Spell(lacking, len(run), known[: run[0]].any(), known[run[-1] :].any()))
    return out


@dataclass(frozen=True)
class HiddenSpells:
    """A trial: a table with further degrees hidden, and which of these count."""

    left: Array  # (n, C) what is left of the degrees
    rows: Array  # (m,) where hidden degrees stand that the sum of the row does not give
    labels: Array  # (m,)


def hide_spells(panel: Panel, y: Array, seed: int) -> Iterator[HiddenSpells]:
    """Yield trials: parts of the units get the holes of others, then all units at once.

    All at once, what a time has in common is hidden with it, as it is where a label was not asked
    in some years anywhere.
    """
    generator = np.random.default_rng([seed, 2])
    ordered = panel if panel.time is not None else Panel(panel.unit, generator.random(len(panel)))
    units, holes = ordered.units(), np.isnan(y)
    spells = [spells_of(holes[unit]) for unit in units]
    order = generator.permutation(len(units))
    parts = [order[fold::UNIT_FOLDS] for fold in range(UNIT_FOLDS)] if len(units) > 1 else []
    parts += [order] if panel.time is not None else []
    donors = [number for number, of_unit in enumerate(spells) if of_unit]
    for receivers in parts:
        left = y.copy()
        together = len(receivers) == len(units)
        for receiver in receivers if donors else ():
            own = together and bool(spells[receiver])
            donor = receiver if own else donors[generator.integers(len(donors))]
            size = len(units[receiver]) / len(units[donor])
            how = min(size, 1), together, generator
            _place(left, units[receiver], spells[donor], *how)
        hidden = np.isnan(left) & ~holes & (np.isnan(left).sum(axis=1, keepdims=True) > 1)
        if hidden.any():
            yield HiddenSpells(left, *np.nonzero(hidden))


def _place(left, unit, spells, size, together, generator):
    """Hide the spells of a unit in another one, which may have fewer rows."""
    some = generator.random(len(spells)) < size
    for spell in (each for each, chosen in zip(spells, some, strict=True) if chosen):
        whole = not (spell.known_before or spell.known_after)
        if whole and together:  # no unit would be left that has the label
            continue
        rows = unit[spell.place(np.isnan(left[unit]), generator)]
        left[np.ix_(rows, np.flatnonzero(spell.lacking))] = np.nan


def surroundings(panel: Panel, y: Array, rows: Array, labels: Array) -> list[Array]:
    """Return for cells in which classes they are, by what is known around them.

    The classes are of how far the next rows of the unit are that have the label known, and on how
    many sides; of how many rows of the same time have it known; and of the holes of the row.
    """
    holes = np.isnan(y)
    distance, sides = distances(panel, holes)
    near = np.digitize(distance, DISTANCES) + (len(DISTANCES) + 1) * (2 - sides)
    when = np.unique(panel.positions, return_inverse=True)[1]
    of_time = np.zeros((when.max() + 1, y.shape[1]))
    np.add.at(of_time, when, ~holes)
    elsewhere = of_time / np.bincount(when)[:, None]
    lacking = holes.mean(axis=1)
    return [
        near[rows, labels],
        np.digitize(elsewhere[when[rows], labels], KNOWN_ELSEWHERE),
        np.digitize(lacking[rows], MOST_HOLES),
    ]


def distances(panel: Panel, holes: Array) -> tuple[Array, Array]:
    """Return for each cell how many rows of its unit lie between it and the next known ones.

    The second array has on how many sides of it there are known ones: 0, 1 or 2.
    """
    distance, sides = np.empty(holes.shape, int), np.empty(holes.shape, int)
    for unit in panel.units():
        n, row = len(unit), np.arange(len(unit))[:, None]
        last = np.maximum.accumulate(np.where(holes[unit], -n, row), axis=0)
        following = np.minimum.accumulate(np.where(holes[unit], 2 * n, row)[::-1], axis=0)[::-1]
        sides[unit] = (last >= 0).astype(int) + (following < n)
        distance[unit] = np.minimum(np.minimum(row - last, following - row), n)
    return distance, sides


OF_TIMES = Kernel(1.0, 0.5, 6.0)  # how alike the effects of neighbouring times are


class PanelModel:
    """Predict the rows of a panel from each other; `base` are predictions from features."""

    def __init__(self, panel: Panel, y: Array, base: Array, seed: int = 0) -> None:
        self.panel, self.y, self.base = panel, y, base
        self._kernels = KERNELS if panel.time is not None else KERNELS[:2]
        rows = _rows_of_some_units(panel, seed)
        some, self.some_degrees = panel.take(rows), y[rows]
        self.trials = _trials(some, y[rows], seed)
        ways = [self._ways(some, t.left, base[rows], t.rows) for t in self.trials]
        n_ways = len(self._kernels) * len(self._bases(some, y[rows], base[rows]))
        self.weights = np.full(n_ways, 1 / n_ways)
        self.counts = _likeness(some, y[rows], self.trials) if self.trials else np.ones(0)
        if self.trials:
            fills = self.at_hidden([list(of_trial) for of_trial in ways])
            self.weights = weights_towards(self.weights, PULL, fills, self.degrees, self.counts)
        self.tried = [self._mixed(of_trial) for of_trial in ways]
        self.weights[self.weights < LEAST_WEIGHT] = 0
        self.weights /= self.weights.sum()

    @property
    def degrees(self) -> Array:
        """Return the hidden degrees of all trials."""
        return np.concatenate([self.some_degrees[t.rows, t.labels] for t in self.trials])

    def at_hidden(self, tables: list[list[Array]]) -> Array:
        """Return what tables of each trial have at its hidden degrees, as columns."""
        found = [
            np.array([table[t.rows, t.labels] for table in of_trial])
            for t, of_trial in zip(self.trials, tables, strict=True)
        ]
        return np.concatenate(found, axis=1).T

    def predict(self) -> Array:
        """Return predictions of the rows, each without it and others that lack what it lacks."""
        return self._mixed(self._ways(self.panel, self.y, self.base, None, self.weights > 0))

    def _bases(self, panel: Panel, y: Array, base: Array) -> list[Array]:
        """Return what paths are taken around."""
        if panel.unit.max(initial=0) == 0:
            return [mean_base(y)]
        found = [mean_base(y), effects_base(panel, y)]
        if panel.time is not None:
            found.append(effects_base(panel, y, OF_TIMES))
        if np.ptp(base, axis=0).any():  # features tell something
            found += [base, base + effects_base(panel, y - base)]
        return found

    def _ways(self, panel, y, base, rows, used=None):
        """Return what each way predicts, (n_ways, n, C); what is not wanted or used is a base."""
        wanted = None
        if rows is not None:
            wanted = np.zeros(len(y), bool)
            wanted[rows] = True
        out, n_kernels = [], len(self._kernels)
        weights: dict = {}
        for i, around in enumerate(self._bases(panel, y, base)):
            which = None if used is None else used[i * n_kernels : (i + 1) * n_kernels]
            out.append(Paths(panel, y, self._kernels, weights).predict(around, wanted, which))
        return np.concatenate(out)

    def _mixed(self, ways: Array) -> Array:
        return np.clip(np.tensordot(self.weights, ways, 1), 0, 1)


def _rows_of_some_units(panel: Panel, seed: int) -> Array:
    """Return the rows of units that have about `TRIAL_ROWS` rows together, all if they are few."""
    units = panel.units()
    order = np.random.default_rng([seed, 3]).permutation(len(units))
    sizes = np.cumsum([len(units[i]) for i in order])
    n_units = max(1, int(np.searchsorted(sizes, TRIAL_ROWS, side="right")))
    return np.sort(np.concatenate([units[i] for i in order[:n_units]]))


def _trials(panel: Panel, y: Array, seed: int) -> list[HiddenSpells]:
    """Return trials, with other seeds until they hide enough."""
    trials: list[HiddenSpells] = []
    for repetition in range(REPETITIONS):
        trials += hide_spells(panel, y, seed + repetition)
        if sum(len(trial.rows) for trial in trials) >= JUDGED_CELLS:
            break
    return trials


def _likeness(panel: Panel, y: Array, trials: list[HiddenSpells]) -> Array:
    """Return how much each hidden degree counts, so that together they are like the holes."""
    holes = np.isnan(y) & (np.isnan(y).sum(axis=1, keepdims=True) > 1)
    wanted = surroundings(panel, y, *np.nonzero(holes))
    found = [surroundings(panel, trial.left, trial.rows, trial.labels) for trial in trials]
    classes_of = [np.concatenate(classes) for classes in zip(*found, strict=True)]
    margins = [
        (classes, np.bincount(want, minlength=classes.max() + 1).astype(float))
        for want, classes in zip(wanted, classes_of, strict=True)
    ]
    weights = raked(np.ones(sum(len(trial.rows) for trial in trials)), margins)
    return np.minimum(weights / weights.mean(), MOST_WEIGHT) if weights.any() else weights + 1


def complete(panel: Panel, y: Array, base: Array, seed: int = 0) -> tuple[Array, float]:
    """Return completed rows, and the mean absolute error that is expected of them."""
    model = PanelModel(panel, y, base, seed)
    predicted = model.predict()
    if not model.trials:
        return PartialRows(y).project(predicted, np.ones(y.shape[1])), np.nan
    rows = [np.unique(trial.rows) for trial in model.trials]
    errors = [model.some_degrees[at] - q[at] for at, q in zip(rows, model.tried, strict=True)]
    covariance = error_covariance(np.concatenate(errors))

    def fills(y, predicted):
        mean, variance = given_observed(y, predicted, covariance)
        near = PartialRows(y).project(predicted, np.diag(covariance) + LEAST_VARIANCE)
        normal = PartialRows(y).project(mean, variance + LEAST_VARIANCE)
        return [near, fill_in_proportion(y, predicted), normal]

    tried = [fills(t.left, q) for t, q in zip(model.trials, model.tried, strict=True)]
    hidden = model.at_hidden(tried)
    equal = np.full(3, 1 / 3)
    weights = weights_towards(equal, PULL, hidden, model.degrees, model.counts)
    error = np.average(np.abs(hidden @ weights - model.degrees), weights=model.counts)
    return np.tensordot(weights, fills(y, predicted), 1), float(error)
