"""Fit the members of AutoInLDL in time, and keep what was chosen and why."""

from dataclasses import replace
from time import perf_counter

import numpy as np
from sklearn.base import clone

from inldl.engines import row_blocks
from inldl.methods.auto.summary import AutoReport, MemberReport, Notes
from inldl.methods.kernel_features import ROWS_FOR_KERNEL, choose_kernel, sample_rows
from inldl.rows.cells import count_known, known_cells
from inldl.solvers.stacking import simplex_weights

CONSTANT = "constant-mean"
RIVAL = "kernel-ridge"  # which others must not be far behind on few rows
LIGHT = 0.01  # weights below it are as good as none
MOST_ROWS = 100_000  # that are learned from at once, in memory; see `_auto_rows` for more
PILOT = 500  # rows of a trial whose time is extrapolated
RACE = 1000  # rows on which a costly member must show that it may matter
ENOUGH = 1500  # known degrees, or sums of missing ones, to judge by
NOT_LIGHT = 0.1  # beyond this weight it matters, whatever other rows may say
FAR = 1.05  # errors beyond as many times those of its rival are not made up for by more rows


def error_of(y, predicted, weights=None):
    """Return the root mean square of the error at what is known of the rows."""
    known, there = known_cells(y, predicted)
    squares = (known - there) ** 2
    if weights is None:
        return float(np.sqrt(np.nanmean(squares)))
    total = float((weights @ np.nan_to_num(squares)).sum())
    return float(np.sqrt(total / count_known(y, weights)))


def stacked(y, held_out, names, weights=None):
    """Return the weights, not negative and of sum 1, with the least error at what is known.

    `weights` are those of rows.
    """
    cells = [known_cells(y, held_out[name]) for name in names]
    known = cells[0][0]
    seen = ~np.isnan(known)
    parts = np.column_stack([there[seen] for _, there in cells])
    each = None if weights is None else np.broadcast_to(weights[:, None], seen.shape)[seen]
    return dict(zip(names, simplex_weights(parts, known[seen], each).tolist(), strict=True))


def predicted(member, data):
    """Return what a member, or the whole model, predicts for prepared rows."""
    out = np.empty(data.y.shape)
    for dense, part in row_blocks(data.dense, out):
        part[:] = member._degrees(dense, data.columns.scaled(dense))
    return out


class Budget:
    """Count the seconds of a fit, and say how many rows its next part can afford.

    It began at `started`, by `time.perf_counter`, and may take `seconds`; None is no limit.
    """

    def __init__(self, seconds, started):
        self.seconds, self.started = seconds, started

    @property
    def elapsed(self):
        """Seconds since the fit began."""
        return perf_counter() - self.started

    def allows(self, seconds):
        """Say whether so many seconds more are within the budget."""
        return self.seconds is None or self.elapsed + seconds < self.seconds

    def rows(self, trial, n, share):
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
    """Judge whether a member is far behind its rival, and of no use beside it.

    Both are fitted to `data`, a `Prepared`; `theirs` are held-out predictions of the rival. If it
    `ends`, the member is fitted for the race only, so that nothing follows.
    """

    def __init__(self, data, theirs, ends=False):
        self.data, self.theirs, self.ends = data, theirs, ends
        self.lost, self.won, self.judged = False, False, 0

    def __call__(self, ours, rows):
        """Say whether to go on, by the held-out predictions that there are so far."""
        if count_known(self.data.y[rows]) >= ENOUGH:
            self.judge(ours, rows)
        return not (self.lost or (self.ends and self.won))

    def judge(self, ours, rows):
        """Judge by held-out predictions of some rows."""
        part = self.data.take(rows)
        both = {0: self.theirs[rows], 1: ours}
        error, own = (error_of(part.y, each, part.weights) for each in both.values())
        weight = stacked(part.y, both, [0, 1], part.weights)[1]
        self.judged, self.gap = len(rows), own / error - 1
        self.lost = own >= FAR * error and weight <= LIGHT
        self.won = own < FAR * error or weight > NOT_LIGHT

    def told(self, name):
        """Return why the member is left out."""
        return (
            f"On {self.judged} rows the error of {name} is {self.gap:.0%} larger than that of "
            "kernel ridge, and a mean of the two is no better, so it was left out."
        )


class Fitting:
    """One fit of AutoInLDL to `data`, a `Prepared`; the others are parameters of AutoInLDL."""

    def __init__(self, data, time_budget, n_jobs, verbose):
        self.data, self.n_jobs, self.fitted = data, n_jobs, {}
        self.notes = Notes(data.started, verbose)
        self.budget = Budget(time_budget, data.started)
        self.pace = None  # what the rival of all others predicts for few rows
        self.rows = sample_rows(data.y, MOST_ROWS, data.seed)
        self.learned = data.take(self.rows)
        if len(self.rows) < len(data.y):
            self.notes.add(f"Learned from a sample of {len(self.rows)} of {len(data.y)} rows.")

    def choose_kernel(self):
        """Return the kernel with the smallest leave-one-out error."""
        self.notes.begin("choosing a kernel")
        found = []

        def choose(size):
            data = self._part(size)[1]
            columns = data.columns.with_quantiles(data.dense)
            rows = data.scaled, data.y, data.seed, self.n_jobs
            beside = {"weights": data.weights, "normal": columns.scaled(data.dense)}
            found.append((choose_kernel(*rows, **beside), columns))
            return 0

        n = min(ROWS_FOR_KERNEL, len(self.rows))
        size = self.budget.rows(choose, n, share=0.2)
        if size or not found:
            choose(size or n)
        if size < n:
            self.notes.cut("The kernel was chosen with fewer rows")
        self.choice, columns = found[-1]
        if self.choice.normal:
            self.data = replace(self.data, columns=columns)
            self.learned = replace(self.learned, columns=columns)
            self.notes.add("Features are mapped to normal quantiles, which predicts better here.")
        self.notes.say(f"{self.choice.kernel} kernel of scale {self.choice.scale:g}")
        return self.choice

    def fit(self, name, member, share, rival=None):
        """Fit a member; return its held-out predictions, or None if it is not worth the time.

        That is so if the time budget ends, or if it falls far behind its rival.
        """
        n, began = len(self.rows), self.budget.elapsed
        self.notes.begin(f"fitting {name} to {n:,} rows")
        if rival is not None and n > 2 * RACE and self._loses_on_few_rows(name, member, rival):
            return None
        size = self.budget.rows(lambda rows: self._trial(member, rows), n, share)
        if not size:
            self.notes.cut(f"{name} was left out")
            return None
        if size < n:
            self.notes.cut(f"{name} was fitted to about {size} of {n} rows")
        rows, part = self._part(size)
        if rival is not None and n <= 2 * RACE and len(rows) == n and self.pace is not None:
            if self._loses(name, member, Race(part, self.pace)):
                return None
        else:
            member._fit_prepared(part)
        held_out = self._held_out(member, rows)
        self.fitted[name] = (len(rows), self.budget.elapsed - began, member)
        self.notes.say(f"{name}: held-out error {self._error(held_out):.5f}")
        if name == RIVAL and n <= 2 * RACE:
            self.pace = held_out
        return held_out

    def _loses_on_few_rows(self, name, member, rival):
        """Say whether a member loses a race that costs little beside the fit that it saves."""
        part = self.data.take(sample_rows(self.data.y, RACE, self.data.seed))
        if self.pace is None:
            self.pace = clone(rival)._fit_prepared(part).held_out_
        return self._loses(name, clone(member), Race(part, self.pace, ends=True))

    def _loses(self, name, member, race):
        """Fit a member as long as it keeps up; say whether it did not."""
        member._worth_it = race
        member._fit_prepared(race.data)
        del member._worth_it
        if race.ends and not race.judged:
            race.judge(member.held_out_, np.arange(len(race.data.y)))
        if race.lost:
            self.notes.add(race.told(name))
        return race.lost

    def report(self, held_out, weights, combined):
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
        chosen = (self.choice.kernel, self.choice.scale, self.choice.errors)
        return AutoReport(len(y), *chosen, members, self._error(combined), self.notes.kept)

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
        if size >= len(self.rows):
            return self.rows, self.learned
        rows = sample_rows(self.data.y, size, self.data.seed)
        return rows, self.data.take(rows)

    def _held_out(self, member, rows):
        """Return predictions of all rows; those that were not learned from are held out anyway."""
        if len(rows) == len(self.data.y):
            return member.held_out_
        out = predicted(member, self.data)
        out[rows] = member.held_out_
        return out
