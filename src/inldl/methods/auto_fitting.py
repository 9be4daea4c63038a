"""Fit the members of AutoInLDL within a time budget; report what was chosen and why."""

from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from inldl.engines.base import row_blocks
from inldl.errors import warn_user
from inldl.methods.kernel_base import error_of
from inldl.methods.kernel_features import ROWS_FOR_KERNEL, KernelChoice, choose_kernel, sample_rows
from inldl.progress import report
from inldl.rows.density import count_known
from inldl.rows.partial import PartialRows
from inldl.solvers.linear import simplex_weights

CONSTANT = "constant-mean"
BOOSTED = "boosted"
FOREST, NETWORK = "forest", "network"  # which are fitted fold by fold, and can stop early
LIGHTEST = 0.01  # weights below it are as good as none
SAMPLE_ROWS = 100_000  # that are learned from at once, in memory; `all_rows` learns from more
PILOT = 500  # rows of a trial whose time is extrapolated
RACE, RACE_OF_EACH = 1000, 10  # rows, or for each feature, on which members show what they can
ENOUGH = 1500  # known degrees, or sums of missing ones, to judge by
NOT_LIGHT = 0.1  # beyond this weight it matters, whatever other rows may say
FAR_BEHIND = 1.05  # times the error of its rival: more rows do not make up for it
RULES_OUT = 1.5  # times the least error of a member, which others that are alike cannot repair
HOPELESS, GAINED = 0.3, 0.1  # share by which kernels err too much; the power of rows they may gain


@dataclass
class MemberReport:
    """Held-out error, weight and training rows of a member.

    The error is the root of the mean squared error at the observed degrees of training rows, and
    at the sum of the missing ones of a row, each predicted without that row. `chosen` is the
    penalty that was chosen, if there is one.
    """

    error: float
    weight: float
    rows: int
    seconds: float
    chosen: dict = field(default_factory=dict)


@dataclass
class AutoReport:
    """What AutoInLDL chose, and the held-out errors behind it; `print` shows a table.

    Parameters
    ----------
    rows : int
        Training rows.
    kernel, scale : str, float
        The kernel, and its scale relative to the median distance.
    kernel_errors : list of (str, float, float)
        Each kernel and scale that was tried, and its leave-one-out error.
    members : dict of str to MemberReport
        The members that were fitted, and the constant mean.
    error : float
        The error of the combination.
    notes : list of str
        What was left out or made smaller, and why.
    curve : list of (str, int, float)
        Members that were fitted to fewer rows, how many, and their held-out error.
    """

    rows: int
    kernel: str
    scale: float
    kernel_errors: list
    members: dict
    error: float
    notes: list
    curve: list = field(default_factory=list)

    def __str__(self):
        tried = ", ".join(f"{k} {s:g}: {e:.5f}" for k, s, e in self.kernel_errors)
        lines = [
            f"{self.kernel} kernel of scale {self.scale:g}; leave-one-out errors: {tried}.",
            f"{'member':16}{'error':>9}{'weight':>8}{'rows':>9}{'seconds':>9}",
        ]
        for name, member in self.members.items():
            chosen = "".join(f"  {key}={value:g}" for key, value in member.chosen.items())
            lines.append(
                f"{name:16}{member.error:9.5f}{member.weight:8.3f}{member.rows:9d}"
                f"{member.seconds:9.1f}{chosen}"
            )
        lines.append(f"{'combined':16}{self.error:9.5f}")
        lines.append("Errors are root mean squares at held-out degrees and sums of missing ones.")
        if self.curve:
            few = "; ".join(f"{name} {rows:,} rows {e:.5f}" for name, rows, e in self.curve)
            lines.append(f"With fewer rows: {few}.")
        return "\n".join([*lines, *self.notes])


class Notes:
    """Notes of a fit: reported as progress, printed if `verbose`, and kept in a list.

    `budget` is the `Budget` of the fit.
    """

    def __init__(self, budget, verbose):
        self.budget, self.verbose = budget, verbose
        self.kept, self._cuts = [], []
        self.parts, self._begun = 1, 0

    def begin(self, text) -> None:
        """Report that the next of the `parts` begins."""
        report(text, min(self._begun / self.parts, 1.0))
        self._begun += 1

    def say(self, text) -> None:
        """Report what is done."""
        shown = f"AutoInLDL {self.budget.elapsed:6.1f} s: {text}"
        report(text, printed=shown if self.verbose else "")

    def add(self, text) -> None:
        """Report a note, and keep it."""
        self.kept.append(text)
        self.say(text)

    def cut(self, text) -> None:
        """Note what was cut to keep the time budget."""
        self._cuts.append(f"{text}, to keep the time budget.")
        self.add(self._cuts[-1])

    def warn(self) -> None:
        """Warn of what was cut."""
        if self._cuts:
            warn_user(" ".join(self._cuts))


def stacking_weights(y, held_out, names, weights=None) -> dict[Any, float]:
    """Return stacking weights, not negative and of sum 1, with the least held-out error.

    `weights` are those of rows.
    """
    rows = PartialRows(y)
    cells = [rows.cells(held_out[name]) for name in names]
    known = cells[0][0]
    seen = ~np.isnan(known)
    parts = np.column_stack([there[seen] for _, there in cells])
    each = None if weights is None else np.broadcast_to(weights[:, None], seen.shape)[seen]
    return dict(zip(names, simplex_weights(parts, known[seen], each).tolist(), strict=True))


def predict_prepared(member, data) -> np.ndarray:
    """Predict prepared rows with a member, or with the whole model."""
    out = np.empty(data.y.shape)
    for dense, part in row_blocks(data.dense, out):
        part[:] = member._degrees(dense, data.columns.scaled(dense))
    return out


class Budget:
    """A time budget of a fit: how many rows its next part can afford.

    It began at `started`, by `time.perf_counter`, and may take `seconds`; None is no limit.
    """

    def __init__(self, seconds, started):
        self.seconds, self.started = seconds, started

    @property
    def elapsed(self) -> float:
        """Seconds since the fit began."""
        return perf_counter() - self.started

    def allows(self, seconds) -> bool:
        """Return whether so many seconds more are within the budget."""
        return self.seconds is None or self.elapsed + seconds < self.seconds

    def rows(self, trial, n, share) -> int:
        """Return how many of `n` rows fit into a share of the time that is left, 0 if too few.

        `trial` does the work on a given number of rows, and returns the seconds that all other
        rows will cost whether they are learned from or not. It is called only if there is a limit,
        and enough rows that the trial is small beside the work.
        """
        if self.seconds is None:
            return n
        left = (self.seconds - self.elapsed) * share
        if n <= 2 * PILOT or left <= 0:
            return n if left > 0 else 0
        before = self.elapsed
        others = trial(PILOT)
        took = self.elapsed - before
        affordable = int(PILOT * (left - took - others) / took)
        return min(n, affordable) if affordable >= PILOT else 0


class Race:
    """Judge whether a member has a much larger error than a rival, and no stacking weight.

    Held-out predictions of the `rival` of `data` are `theirs`. If it `ends`, nothing follows.
    """

    def __init__(self, data, rival, theirs, ends=False):
        self.data, self.rival, self.theirs, self.ends = data, rival, theirs, ends
        self.lost, self.won, self.judged = False, False, 0

    def __call__(self, ours, rows):
        """Return whether to go on, by the held-out predictions so far."""
        if count_known(self.data.y[rows]) >= ENOUGH:
            self.judge(ours, rows)
        return not (self.lost or (self.ends and self.won))

    def judge(self, ours, rows) -> None:
        """Judge by held-out predictions of some rows."""
        part = self.data.take(rows)
        both = {0: self.theirs[rows], 1: ours}
        error, self.own = (error_of(part.y, each, part.weights) for each in both.values())
        weight = stacking_weights(part.y, both, [0, 1], part.weights)[1]
        self.judged, self.gap = len(rows), self.own / error - 1
        self.lost = self.own >= FAR_BEHIND * error and weight <= LIGHTEST
        self.won = self.own < FAR_BEHIND * error or weight > NOT_LIGHT

    def explain(self, name) -> str:
        """Return why the member is left out."""
        return (
            f"On {self.judged} rows the error of {name} is {self.gap:.0%} larger than that of "
            f"{self.rival}, and a mean of the two is no better, so it was left out."
        )


class Fitting:
    """One fit of AutoInLDL to `data`, a `Prepared`; the others are parameters of AutoInLDL."""

    def __init__(self, data, time_budget, n_jobs, verbose):
        self.data, self.n_jobs, self.fitted = data, n_jobs, {}
        self.budget = Budget(time_budget, data.started)
        self.notes = Notes(self.budget, verbose)
        self.best, self.curve = None, []  # the error, name and held-out predictions of a member
        self.errors = {}
        self.few = max(RACE, RACE_OF_EACH * data.dense.shape[1])
        self.n = len(data.y)

    def choose_kernel(self) -> KernelChoice:
        """Return the kernel with the smallest leave-one-out error."""
        self.notes.begin("choosing a kernel")
        found = []

        def choose(size):
            data = self._part(size)[1]
            columns = data.columns.with_quantiles(data.dense)
            rows = data.scaled, data.y, data.seed, self.n_jobs
            normal = columns.scaled(data.dense)
            about = {"weights": data.weights, "normal": normal, "fold": data.fold}
            choice = choose_kernel(*rows, **about)
            found.append((choice, columns))
            return 0

        n = min(ROWS_FOR_KERNEL, self.n)
        size = self.budget.rows(choose, n, share=0.2)
        if size or not found:
            choose(size or n)
        if size < n:
            self.notes.cut("The kernel was chosen with fewer rows")
        self.choice, columns = found[-1]
        if n < self.n and self.choice.errors:
            self.curve.append(("kernel ridge", n, min(self.choice.errors.values())))
        if self.choice.normal:
            self.data = replace(self.data, columns=columns)
            self.notes.add("Features are mapped to normal quantiles, which predicts better here.")
        self.notes.say(f"{self.choice.kernel} kernel of scale {self.choice.scale:g}")
        return self.choice

    def fit(self, name, member, share, raced=False) -> np.ndarray | None:
        """Fit a member; return its held-out predictions, or None if it is not worth the time.

        That is so if the time budget ends, or if it is `raced` and falls far behind the best one.
        """
        n, began = self.n, self.budget.elapsed
        self.notes.begin(f"fitting {name} to {n:,} rows")
        raced = raced and self.best is not None
        many = n > 2 * self.few and name != NETWORK  # which gains most by more rows
        if raced and many and self._loses_on_few_rows(name, member):
            return None
        size = self.budget.rows(lambda rows: self._trial(member, rows), n, share)
        if not size:
            self.notes.cut(f"{name} was left out")
            return None
        if size < n:
            self.notes.cut(f"{name} was fitted to about {size} of {n} rows")
        rows, part = self._part(size)
        if raced and not many and len(rows) == n:
            if self._loses(name, member, Race(part, *self.best[1:])):
                return None
        else:
            member._fit_prepared(part)
        held_out = self._held_out(member, rows)
        error = self.errors[name] = self._error(held_out)
        self.fitted[name] = (len(rows), self.budget.elapsed - began, member)
        self.notes.say(f"{name}: held-out error {error:.5f}")
        if self.best is None or error < self.best[0]:
            self.best = error, name, held_out
        return held_out

    def rules_out(self, name, other) -> bool:
        """Return whether a member errs so much that another one is left out, too."""
        found = self.errors.get(name, np.inf)
        hopeless = self.best is not None and found > RULES_OUT * self.best[0]
        if hopeless:
            self.notes.add(f"As {name} errs much more than {self.best[1]}, {other} was left out.")
        return hopeless

    def hopeless_kernel(self, name) -> bool:
        """Return whether kernel ridge on few rows errs too much for a member on all of them."""
        n, found = (
            min(ROWS_FOR_KERNEL, self.n),
            min(self.choice.errors.values(), default=0),
        )
        if self.best is None or n == self.n:
            return False
        gap = found / self.best[0] - 1
        if 1 + gap < (1 + HOPELESS) * (self.n / n) ** GAINED:
            return False
        self.notes.add(
            f"On {n} rows the error of kernel ridge is {gap:.0%} larger than that of "
            f"{self.best[1]}, so {name} was left out."
        )
        return True

    def _loses_on_few_rows(self, name, member):
        """Return whether a member loses to the best one when it learns from a few rows."""
        few = sample_rows(self.data.y, self.few, self.data.seed)
        _, rival, theirs = self.best
        race = Race(self.data.take(few), rival, theirs[few], ends=True)
        lost = self._loses(name, clone(member), race)
        self.curve.append((name, race.judged, race.own))
        return lost

    def _loses(self, name, member, race):
        """Fit a member until it loses; return whether it lost."""
        how = {"go_on": race} if name in (FOREST, NETWORK) else {}
        member._fit_prepared(race.data, **how)
        if race.ends and not race.judged:
            race.judge(member.held_out_, np.arange(len(race.data.y)))
        if race.lost:
            self.notes.add(race.explain(name))
        return race.lost

    def report(self, held_out, weights, combined) -> AutoReport:
        """Return the report."""
        members, y = {}, self.data.y
        for name, predicted in held_out.items():
            rows, seconds, member = self.fitted.get(name, (len(y), 0.0, None))
            alpha = getattr(member, "alpha_", None)
            chosen = {} if alpha is None else {"alpha": alpha}
            members[name] = MemberReport(
                self._error(predicted), weights[name], rows, seconds, chosen
            )
        left_out = [name for name in self.fitted if not weights[name]]
        worse = [n for n in left_out if members[n].error >= members[CONSTANT].error]
        light = [n for n in left_out if n not in worse]
        if worse:
            self.notes.add(f"No better than the constant mean, so not used: {', '.join(worse)}.")
        if light:
            self.notes.add(f"Adds nothing to the others, so not used: {', '.join(light)}.")
        errors = [(*tried, error) for tried, error in self.choice.errors.items()]
        kernel = self.choice.kernel, self.choice.scale, errors
        error = self._error(combined)
        return AutoReport(len(y), *kernel, members, error, self.notes.kept, self.curve)

    def _error(self, predicted):
        return error_of(self.data.y, predicted, self.data.weights)

    def _trial(self, member, size):
        """Fit a member to few rows; return the seconds in which it would predict all rows."""
        part = self._part(size)[1]
        member._fit_prepared(part)
        began = self.budget.elapsed
        member._degrees(part.dense, part.scaled)
        return (self.budget.elapsed - began) * len(self.data.y) / len(part.y)

    def _part(self, size):
        """Return the numbers of about `size` rows, and their data."""
        rows = sample_rows(self.data.y, size, self.data.seed)
        return rows, self.data.take(rows)

    def _held_out(self, member, rows):
        """Return held-out predictions of all rows, given which rows a member learned from."""
        if len(rows) == len(self.data.y):
            return member.held_out_
        out = predict_prepared(member, self.data)
        out[rows] = member.held_out_
        return out
