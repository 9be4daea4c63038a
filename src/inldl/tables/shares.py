"""Check the shares of a table, and make fractions of them."""

from dataclasses import dataclass, replace

import numpy as np

from inldl.errors import DataError
from inldl.rows.aggregates import Counts
from inldl.rows.checks import MOST_ROUNDING, rounding_gap, sum_tolerance
from inldl.rows.partial import PartialRows
from inldl.tables import assumptions
from inldl.tables.hints import (
    ScaleEvidence,
    code_of_fractions,
    codes_for_missing,
    notes_on_codes,
    rows_of_other_scale,
    say_missing,
    say_mixed,
)
from inldl.tables.table import SCALE_NAMES, SEVERAL_ROWS, WHOLE, span
from inldl.text import counted

_CORRECT = "correct it, or leave the cell empty"
_ROUNDED_COUNTS = 1e-4  # of a total: sums of large counts may miss it by so much
ROUNDING = 1e-9  # what a computation may leave of 0
_NORMALIZE = (
    ", or give normalize=True (--normalize on the command line) to divide each such row by its sum"
)
_COUNTED = (
    ", or give scale='count' (--scale count) and the column of their total (--total) if they are "
    "counts"
)


@dataclass(frozen=True, eq=False)
class Shares:
    """Degrees of some rows of a file as fractions."""

    known: PartialRows  # degrees, bounds and sums of labels
    scale: str  # how they stand in the file
    notes: list[str]  # sentences on what was detected
    # (n,) what rows were divided by because a user asked for it, if their sums vary
    divisors: np.ndarray | None = None
    totals: np.ndarray | None = None  # (n,) totals of counts that stand in the file
    doubts: tuple[str, ...] = ()  # what would be refused: numbers that may mean missing, a mix


class Degrees:
    """Check the numbers of the label columns, NaN where unobserved, and make fractions of them.

    What a share may be, and what rounding explains, is known to `inldl.rows.checks`. `columns`
    are the labels, their totals and sums. `where` turns a row into words, such as "Line 7".
    `whole_numbers` says, when it is asked, whether all counts of the file are whole. Without
    `check`, nothing is refused. `hints()` follow where a count is missing, and
    `hints(zeros=True)` where sums are wrong.
    """

    def __init__(self, piece, columns, where, whole_numbers, check=True, hints=None):
        self.values, self.labels = piece.values, columns.labels
        self._piece, self._columns, self.where, self.check = piece, columns, where, check
        self._whole_numbers, self._hints = whole_numbers, hints or (lambda zeros=False: [])
        self._divisors, self._totals, self._doubts = None, piece.totals, list[str]()

    def shares(self, scale, *, normalize=False, part=False) -> Shares:
        """Return the degrees as fractions; a `part` of a table may lack a label altogether."""
        self._check_cells(part)
        self._part, notes = part, list[str]()
        evidence = None
        if self._totals is not None:
            scale, (y, whole) = "count", self._shares_of_totals(notes)
        else:
            scale = "count" if self._columns.unknown and scale == "auto" else scale
            if scale == "auto":
                evidence = ScaleEvidence()
                evidence.add(self._piece.grouped_values(self.labels))
                scale, note = evidence.scale()
                notes.append(note)
            if scale == "count":
                if evidence is not None:
                    self._refuse_codes(code_of_fractions(self.values))
                y, whole = self._shares_of_counts(notes, evidence)
                notes += [] if part else notes_on_codes(self.values, self.labels)
            else:
                y, whole = self._shares_of(scale, normalize, notes), WHOLE[scale]
        notes += assumptions.notes_on_unseen(self._unseen, y)
        known = self._constrained(y, whole, scale, notes)
        if self._totals is not None and known.holes.any():
            whole_numbers = known.constrained and self._whole_numbers()
            known = replace(known, counts=Counts(whole, whole_numbers))
        if self._piece.bounds is not None:
            whole_numbers = scale == "count" and self._whole_numbers()
            notes.append(self._piece.bounds.note(WHOLE.get(scale, np.nan), whole_numbers))
        about = self._divisors, self._totals, tuple(self._doubts)
        return Shares(known, scale, notes, *about)

    def _check_cells(self, part):
        """Refuse numbers that are no shares; rounding errors below 0 become 0."""
        unseen = () if part or not self.check else np.isnan(self.values).all(axis=0)
        self._unseen = [self.labels[j] for j in np.flatnonzero(unseen)]
        if self._unseen and len(self._unseen) == len(self.labels):
            raise ValueError("No share is known; fill in some of them.")
        below = self.values < -ROUNDING
        self._refuse_degree(below, "is below 0", *self._code_below_zero(self.values[below]))
        rounded = (self.values < 0) & (self.values >= -ROUNDING)
        if rounded.any():
            self.values = np.where(rounded, 0, self.values)
        self._refuse_degree(np.isinf(self.values), "is not finite")

    def _refuse(self, bad, sentence, *facts, doubt=False):
        """Refuse the first bad row, or the first bad cell; keep a `doubt` if nothing is refused.

        The sentence has in braces the `facts`, of which arrays are those of rows or cells;
        `place`, where it is; `columns`, the labels; and `number`, how many such rows there are.
        """
        if (self.check or doubt) and bad.any():
            at = tuple(np.argwhere(bad)[0].tolist())
            words = (fact[at] if isinstance(fact, np.ndarray) else fact for fact in facts)
            where, labels = self.where(at[0]), self.labels
            label = labels[at[1]] if len(at) > 1 else None
            columns = f"columns {labels[0]!r} to {labels[-1]!r}"
            number = counted(int(bad.sum()), "such row")
            place = where if label is None else f"{where}, column {label!r}"
            problem = sentence.format(*words, place="", columns=columns, number=number)
            problem = " ".join([problem, *(self._hints(zeros=True) if doubt else ())])
            if not self.check:
                self._doubts.append(f"{place}{problem}")
                return
            raise DataError(
                "{place}{problem}", place=place, problem=problem, at=where, column=label
            )

    def _refuse_degree(self, bad, problem, advice=_CORRECT, doubt=False):
        sentence = f"{{place}}: the share {{:g}} {problem}; {advice}."
        self._refuse(bad, sentence, self.values, doubt=doubt)

    def _code_below_zero(self, numbers):
        """Return what to do about numbers below 0, if one in many cells may mean missing."""
        found, counts = np.unique(numbers, return_counts=True)
        if len(found) != 1 or counts[0] < SEVERAL_ROWS:
            return ()
        return f"it is in {counts[0]:,} cells, so {say_missing(found)}", True

    def _refuse_codes(self, codes):
        """Refuse numbers that look as if they meant missing: rows do not sum up with them."""
        cells, names = np.isin(self.values, codes), " and ".join(f"{c:.10g}" for c in codes)
        are, them = ("is", "it") if len(codes) == 1 else ("are", "them")
        number = counted(int(cells.sum()), "cell")
        why = f"{are} in {number}, and rows do not sum up with {them}; {say_missing(codes)}."
        self._refuse(cells, f"{{place}}: {names} {why}", doubt=True)

    def _refuse_zero_sums(self, sums):
        self._refuse(
            sums == 0,
            "{place}: the shares ({columns}) sum to 0, so they are shares of nothing; remove the "
            "row.",
        )

    def _refuse_sums(self, bad, sums, whole, compared, advice):
        hints = self._hints(zeros=True) if bad.any() else []
        self._refuse(
            bad,
            "{place}: the known shares ({columns}) sum to {:.6g}, {} {:g} ({number}); {}."
            + " {}" * len(hints),
            *(sums * whole, compared, whole, advice, *hints),
        )

    def _shares_of_counts(self, notes, evidence):
        """Return the shares of counts, and the sums of their rows."""
        counts = replace(self._piece, values=self.values).grouped_values(self.labels)
        holes = np.isnan(counts)
        if holes.any() and self._columns.unknown:
            notes.append(assumptions.WITHOUT_TOTALS.format(holes.any(axis=1).sum()))
        elif holes.any():
            hints = self._hints()
            self._refuse(holes, assumptions.missing_count(evidence) + " {}" * len(hints), *hints)
            notes.append(
                f"Rows in which a count is missing: {holes.any(axis=1).sum()}; their totals are "
                "unknown, and the shares are those of the other counts."
            )
        sums = np.nansum(counts, axis=1)
        unknown = self._columns.unknown
        bare = (sums == 0) & ~(holes.any(axis=1) & unknown)
        self._refuse((bare | unknown) & holes.all(axis=1), assumptions.NOTHING_KNOWN)
        self._refuse_zero_sums(np.where(bare, sums, 1))
        if unknown and self._piece.bounds is not None:
            self._refuse(self._piece.bounds.given(), assumptions.BOUNDS_OF_COUNTS)
        sums = np.where(sums == 0, 1, sums)
        return self.values / sums[:, None], sums

    def _shares_of_totals(self, notes):
        """Return the shares of counts whose total stands in a column, and the totals."""
        totals, column = self._totals, self._columns.total
        name = "the total (--total)" if column is None else f"the total (column {column!r})"
        holes, sums = np.isnan(self.values).any(axis=1), np.nansum(self.values, axis=1)
        for bad, problem in (
            (np.isinf(totals) | (totals < 0), "is {:g}; correct it"),
            (totals == 0, "is 0, so there are no shares of it; remove the row"),
            (np.isnan(totals) & holes, "is missing, and so is a count; fill in one of them"),
        ):
            self._refuse(bad, f"{{place}}: {{}} {problem}.", name, totals)
        totals = np.where(np.isnan(totals) | (totals <= 0), np.where(sums > 0, sums, 1), totals)
        gap = self._gap(totals, "count") * totals
        self._refuse_codes(codes_for_missing(self.values, totals, gap))
        gap = self._rounded_gap(sums, totals, gap, holes, notes)
        several = self._columns.each is not None and (~holes).sum() >= SEVERAL_ROWS
        if several and not np.ptp(sums[~holes]):
            gap = ROUNDING * totals  # rounded numbers would sum to several
        short = ~holes & (sums < totals - gap)
        for bad, advice in ((sums > totals + gap, ""), (short, assumptions.FORGOTTEN)):
            self._refuse(
                bad,
                "{place}: the counts ({columns}) sum to {:.10g}, but {} is {:.10g}; {}correct one "
                "of them.",
                *(sums, name, totals, advice),
            )
        if 2 * short.sum() > (~holes).sum():
            # More than their labels sum to: they are totals of something else.
            self._totals, row = None, int(np.argmax(short))
            notes.append(
                f"Complete rows whose counts sum to less than their total: {short.sum():,} "
                f"({self.where(row)}: {sums[row]:.10g} of {totals[row]:.10g}). Is a label missing "
                "from --labels? Here the totals are left aside."
            )
            return self._shares_of_counts(notes, None)
        rounded = ~holes | (sums > totals)  # what rounding leaves of a sum is no share
        return self.values / np.where(rounded & (sums > 0), sums, totals)[:, None], totals

    def _rounded_gap(self, sums, totals, gap, holes, notes):
        """Return by how much sums may miss the totals: a little where several large ones do."""
        known = np.append(self.values[np.isfinite(self.values)], totals)
        unit = next((each for each in (1000, 100, 10) if not (known % each).any()), 1)
        off, most = np.abs(sums - totals), unit * (len(self.labels) + 1) / 2
        near = (off > gap) & (off <= np.minimum(most, _ROUNDED_COUNTS * totals))
        near &= ~holes | (sums > totals)
        if near.sum() < (1 if self._part else SEVERAL_ROWS):
            return gap
        notes.append(
            f"Rows whose counts miss their total, as rounded numbers do: {near.sum():,}, by at "
            f"most {off[near].max():.10g}. They are divided by their sums for learning."
        )
        return np.where(near, off, gap)

    def _constrained(self, y, whole, scale, notes):
        """Return the rows with their bounds and sums, once these are checked."""
        if not self._piece.constrained:
            return PartialRows(y, names=tuple(self.labels))
        whole = np.broadcast_to(np.asarray(whole, float), len(y))
        gap, column = self._gap(whole, scale), whole[:, None]
        given = self._piece.limits(self.labels, scale == "count" and self._whole_numbers())
        lower = np.where(given.holes, given.lower / column, y)
        upper = np.where(given.holes, given.upper / column, y)
        self._refuse_bounds(np.where(given.holes, lower, np.nan), upper, whole, scale)
        sums = None if given.sums is None else given.sums / column
        rows = replace(given, y=y, lower=lower, upper=upper, sums=sums)
        self._check_groups(rows, gap, whole)
        least, most = self._check_sums(rows, gap, whole, scale)
        near = given.holes.any(axis=1) & (least <= 1 + gap) & (most >= 1 - gap)
        factors = np.where(near, np.clip(1, least, most), 1)[:, None]
        if n := int((np.abs(factors - 1) > sum_tolerance(y.dtype)).sum()):
            notes.append(
                "Rows whose bounds or sums of labels miss the whole, as rounded numbers do: "
                f"{n:,}. They are divided to fit it for learning."
            )
        y, lower, upper = y / factors, lower / factors, upper / factors
        upper = np.where(given.holes, np.minimum(upper, 1), y)
        sums = None if sums is None else sums / factors
        return replace(given, y=y, lower=lower, upper=upper, sums=sums)

    def _check_groups(self, rows, gap, whole):
        """Refuse sums that their labels cannot have; round the others to what they can have.

        A `gap` is what rounding explains, `whole` the units of the file, both for each row. A sum
        of observed labels says nothing new, and is left out.
        """
        for j, columns in enumerate(rows.groups):
            low, high = (end[:, columns].sum(axis=1) for end in rows.box)
            total, members = rows.sums[:, j], tuple(self.labels[j] for j in columns)
            for bad, word, end in (
                (total < low - gap, "at least ", low),
                (total > high + gap, "at most ", high),
            ):
                self._refuse(
                    bad,
                    "{place}: column {!r} has {:.6g}, but {} are {}{:.6g} together; correct one "
                    "of them.",
                    self._columns.column_of(members),
                    total * whole,
                    " and ".join(map(repr, members)),
                    np.where(high != low, word, ""),
                    end * whole,
                )
            observed = ~rows.holes[:, columns].any(axis=1)
            rows.sums[:, j] = np.where(observed, np.nan, np.clip(total, low, high))

    def _check_sums(self, rows, gap, whole, scale):
        """Return the least and the most that each row can sum to; refuse what is not the whole."""
        ends = [end.copy() for end in rows.box]
        for j, columns in enumerate(rows.groups):
            known = ~np.isnan(rows.sums[:, j])
            for end in ends:
                end[np.ix_(known, columns)] = 0
                end[known, columns[0]] = rows.sums[known, j]
        least, most = (end.sum(axis=1) for end in ends)
        counts = "" if scale == "count" else _COUNTED
        for bad, word, end, advice in (
            (least > 1 + gap, "at least", least, ""),
            (most < 1 - gap, "at most", most, counts),
        ):
            self._refuse(
                bad,
                "{place}: the cells of the row ({columns}) sum to {} {:.6g}, but the whole is "
                "{:.6g} ({number}); correct them{}.",
                *(word, end * whole, whole, advice),
            )
        return least, most

    def _gap(self, whole, scale):
        """Return what rounding leaves of the sum of a row, as a share of the whole of each row."""
        numbers = np.column_stack([self.values, *self._piece.sums.values()])
        if scale != "count" or self._columns.each is not None:  # one whole for all rows
            return np.maximum(rounding_gap(numbers, whole.max()), sum_tolerance(np.float64))
        if self._whole_numbers():
            return 0.05 / whole  # whole numbers sum to whole numbers
        largest = whole.max(initial=1.0)
        return rounding_gap(numbers, largest) * largest / whole

    def _refuse_bounds(self, lower, upper, whole, scale):
        """Refuse bounds that no share can have."""
        shown = lower * whole[:, None], upper * whole[:, None]
        none = "{place}: no whole number lies between the bounds {:g} and {:g}; correct the cell."
        self._refuse(lower > upper, none, *shown)
        if scale != "count":
            above = f"is above {whole.max(initial=1):g}; correct it, or {_if_no(scale)}."
            high = ~np.isnan(lower) & np.isfinite(upper) & (upper > 1)
            for bad, bound in zip((lower > 1, high), shown, strict=True):
                self._refuse(bad, f"{{place}}: the bound {{:g}} {above}", bound)

    def _refuse_causes(self, wrong, sums, scale, normalize):
        """Refuse rows of another scale, and codes that mean missing where sums are wrong.

        A user who asks to `normalize` knows that rows have other sums.
        """
        whole = WHOLE[scale]
        gap = rounding_gap(self.values, whole) * whole if wrong.any() else 0
        wrong = wrong & (np.abs(sums - whole) > gap)
        if not normalize and (wrong.any() or not self._part):
            mixed = rows_of_other_scale(self.values, sums, wrong, scale)
            self._refuse(mixed, f"{{place}}{say_mixed(int(mixed.sum()), scale)}", doubt=True)
        if wrong.any() and not self._doubts:
            codes = codes_for_missing(self.values, whole, gap)
            self._refuse_codes([] if normalize and 0 in codes else codes)

    def _shares_of(self, scale, normalize, notes):
        whole = WHOLE[scale]
        # No copy of a large table, unless the decimals of its numbers are asked for later.
        y = self.values if whole == 1 and not self._piece.constrained else self.values / whole
        tolerance = sum_tolerance(y.dtype)
        sums = np.nansum(y, axis=1)
        complete = ~np.isnan(y).any(axis=1)
        off = complete & (np.abs(sums - 1) > tolerance)
        over = ~complete & (sums - 1 > tolerance)  # as `wrong_sums` has it, to the last bit
        self._refuse_causes(off | over, sums * whole, scale, normalize)
        if not (off.any() or over.any()):
            return y
        self._refuse_zero_sums(np.where(complete, sums, 1))
        advice = f"correct it, or {_if_no(scale)}"
        self._refuse_degree(y > 1 + tolerance, f"is above {whole:g}", advice)
        few = over & (sums <= 1 + MOST_ROUNDING)
        if normalize:
            self._refuse_sums(over & ~few, sums, whole, "more than", "correct them")
            notes += assumptions.normalized_notes(off, few, f"{whole:g}")
            divided = off | few
            loose = off & (np.abs(sums - 1) > rounding_gap(self.values, whole))
            if loose.any():
                self._divisors = np.where(divided, sums, 1)
                notes.append(
                    f"Complete rows sum to {span(sums[complete] * whole)}, so no missing share "
                    "follows from the others of its row; completed rows have such sums, too."
                )
        else:
            rounded = np.abs(sums - 1) <= rounding_gap(self.values, whole)
            advice = f"correct them{'' if (over & ~few).any() else _NORMALIZE}"
            self._refuse_sums(over & ~rounded, sums, whole, "more than", advice)
            short = (off & ~rounded & (sums < 1)).sum() > complete.sum() / 2
            advice = f"{assumptions.FORGOTTEN if short else ''}correct them{_NORMALIZE}"
            self._refuse_sums(off & ~rounded, sums, whole, "not", advice)
            notes += assumptions.rounded_notes(sums * whole, off & rounded, over & rounded)
            divided = (off | over) & rounded
        y[divided] /= sums[divided, None]
        return y


def _if_no(scale):
    """Return what to do if degrees are counts after all."""
    return f"give scale='count' (--scale count) if the columns are not {SCALE_NAMES[scale]}"
