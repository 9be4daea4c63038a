"""Find out whether degrees are fractions, percentages or counts, and make them fractions."""

import numpy as np

from inldl._validation import MOST_ROUNDING, check_choice, rounding_gap, sum_tolerance
from inldl.io._rounding import gap_notes, span

ROUNDING = 1e-9  # what a computation may leave of 0
WHOLE = {"fraction": 1.0, "percent": 100.0}
SCALES = ("auto", *WHOLE, "count")
# Rows this close to a whole show its scale; whether they are exact is checked later. Whole numbers
# may be counts, of which some rows come near to 100 by chance.
_NEAR, _NEAR_WHOLE = 0.1, 0.02
_NORMALIZE = (
    ", or give normalize=True (--normalize on the command line) to divide each such row by its sum"
)
_FORGOTTEN = "is a label missing from --labels? Else "
_WORDS = {"fraction": "fractions", "percent": "percentages", "count": "counts"}


class Evidence:
    """Gather what tells the scale of degrees, some rows at a time."""

    def __init__(self):
        self._rows, self._largest, self._whole = 0, -np.inf, True
        self._sums = np.empty(0)  # the smallest and the largest of complete rows
        self._near = {(scale, near): 0 for scale in WHOLE for near in (_NEAR, _NEAR_WHOLE)}

    def add(self, values):
        """Look at some rows."""
        known = values[~np.isnan(values)]
        self._largest = max(self._largest, known.max(initial=-np.inf))
        self._whole = self._whole and bool((known == np.rint(known)).all())
        sums = values.sum(axis=1)
        sums = sums[np.isfinite(sums)]
        self._rows += len(sums)
        if len(sums):
            ends = [*self._sums, sums.min(), sums.max()]
            self._sums = np.array([min(ends), max(ends)])
        for scale, near in self._near:
            self._near[scale, near] += int((np.abs(sums / WHOLE[scale] - 1) <= near).sum())

    def scale(self):
        """Return the scale, and a sentence that says why."""
        scale, reason = self._complete() if self._rows else self._incomplete()
        return scale, f"The degrees are taken as {_WORDS[scale]}: {reason}."

    def why_counts(self):
        """Return the start of a sentence that says why the degrees were taken as counts."""
        reason = f"No row is complete and the largest degree is {self._largest:g}"
        if self._rows:
            reason = f"Complete rows sum to {span(self._sums)}, not to 1 or 100"
        return f"{reason}, so the degrees were taken as counts"

    def _complete(self):
        near = _NEAR_WHOLE if self._whole else _NEAR
        for scale, whole in WHOLE.items():
            if self._near[scale, near] >= self._rows / 2:
                return scale, f"most complete rows sum to about {whole:g}"
        if self._largest <= 1:
            return "fraction", "none is above 1"
        return "count", "most complete rows sum neither to about 1 nor to about 100"

    def _incomplete(self):
        reason = f"no row is complete and the largest degree is {self._largest:g}"
        if self._largest == -np.inf:
            reason = "none is observed"
        fitting = [scale for scale, whole in WHOLE.items() if self._largest <= whole]
        return (fitting or ["count"])[0], reason


class Degrees:
    """Check the numbers of the label columns and make fractions of them.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        Numbers as they stand in the file, NaN where unobserved.
    labels : list of str
        Names of the columns.
    where : callable
        Turns a row into words, such as "Line 7".
    check : bool
        Whether to refuse what cannot be shares.
    """

    def __init__(self, values, labels, where, *, check=True):
        self.values, self.labels, self.where, self.check = values, labels, where, check

    def fractions(self, scale="auto", *, normalize=False, part=False):
        """Return the degrees as fractions, their scale in the file, and a list of notes.

        A `part` of a table may lack a label altogether.
        """
        check_choice("scale", scale, SCALES)
        if self.check and not part:
            self._refuse_unobserved()
        self._refuse(self.values < -ROUNDING, "is below 0")
        rounded = (self.values < 0) & (self.values >= -ROUNDING)
        if rounded.any():
            self.values = np.where(rounded, 0, self.values)
        self._refuse(np.isinf(self.values), "is not finite")
        notes, evidence = [], None
        if scale == "auto":
            evidence = Evidence()
            evidence.add(self.values)
            scale, note = evidence.scale()
            notes = [note]
        if scale == "count":
            return self._shares_of_counts(notes, evidence), scale, notes
        return self._shares_of(scale, normalize, notes), scale, notes

    def _refuse_unobserved(self):
        unseen = np.isnan(self.values).all(axis=0)
        if unseen.any():
            raise ValueError(
                f"The label column {self.labels[int(np.argmax(unseen))]!r} has no observed value; "
                "drop it from the labels, or observe it in at least one row."
            )

    def _refuse(self, bad, problem, advice="correct it, or leave the cell empty"):
        if self.check and bad.any():
            row, column = (int(i) for i in np.argwhere(bad)[0])
            raise ValueError(
                f"{self.where(row)}, column {self.labels[column]!r}: the degree "
                f"{self.values[row, column]:g} {problem}; {advice}."
            )

    def _shares_of_counts(self, notes, evidence):
        holes = np.isnan(self.values)
        if holes.any():
            self._refuse_count_holes(holes, evidence)
            notes.append(
                f"Rows in which a count is missing: {holes.any(axis=1).sum()}; their totals are "
                "unknown, and the shares are those of the other counts."
            )
        sums = np.nansum(self.values, axis=1, keepdims=True)
        self._refuse_zero_sums(sums)
        return self.values / np.where(sums == 0, 1, sums)

    def _refuse_count_holes(self, holes, evidence):
        if not self.check:
            return
        row, column = (int(i) for i in np.argwhere(holes)[0])
        place = f"{self.where(row)}, column {self.labels[column]!r}"
        if evidence is not None:
            raise ValueError(
                f"{evidence.why_counts()}, and a row with a missing count has no total ({place}): "
                f"{_FORGOTTEN}fill in the count, or say what the numbers are with "
                "scale='fraction' or 'percent' (--scale on the command line)."
            )
        raise ValueError(
            f"{place}: a count is missing, so the total of the row is unknown; give fractions or "
            "percentages of the total instead (or scale='fraction' or 'percent', --scale on the "
            "command line, if the numbers are such)."
        )

    def _refuse_zero_sums(self, sums):
        if self.check and (sums == 0).any():
            row = int(np.argmax(sums == 0))
            raise ValueError(
                f"{self.where(row)}: the degrees ({self._span()}) sum to 0, so they have no "
                "shares; remove the row."
            )

    def _span(self):
        return f"columns {self.labels[0]!r} to {self.labels[-1]!r}"

    def _shares_of(self, scale, normalize, notes):
        whole = WHOLE[scale]
        y = self.values if whole == 1 else self.values / whole  # no copy of a large table
        tolerance = sum_tolerance(y.dtype)
        advice = (
            "correct it, or give scale='count' (--scale count) if the columns are no "
            f"{_WORDS[scale]}"
        )
        self._refuse(y > 1 + tolerance, f"is above {whole:g}", advice)
        sums = np.nansum(y, axis=1)
        complete = ~np.isnan(y).any(axis=1)
        off = complete & (np.abs(sums - 1) > tolerance)
        over = ~complete & (sums > 1 + tolerance)
        if not (off.any() or over.any()):
            return y
        few = over & (sums <= 1 + MOST_ROUNDING)
        if normalize:
            self._refuse_sums(over & ~few, sums, whole, "more than", "correct them")
            self._refuse_zero_sums(np.where(complete, sums, 1))
            return _normalized(y, sums, off, few, notes)
        rounded = np.abs(sums - 1) <= rounding_gap(self.values, whole)
        advice = f"correct them{'' if (over & ~few).any() else _NORMALIZE}"
        self._refuse_sums(over & ~rounded, sums, whole, "more than", advice)
        short = (off & ~rounded & (sums < 1)).sum() > complete.sum() / 2
        advice = f"{_FORGOTTEN if short else ''}correct them{_NORMALIZE}"
        self._refuse_sums(off & ~rounded, sums, whole, "not", advice)
        notes += gap_notes(sums, off & rounded, over & rounded, whole)
        return _divided(y, sums, (off | over) & rounded)

    def _refuse_sums(self, bad, sums, whole, compared, advice):
        if self.check and bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"{self.where(row)}: the observed degrees ({self._span()}) sum to "
                f"{sums[row] * whole:.6g}, {compared} {whole:g} ({bad.sum()} such row(s)); "
                f"{advice}."
            )


def _normalized(y, sums, off, few, notes):
    """Return `y` with some of its rows divided by their sums, in place."""
    for rows, which in ((off, "Complete rows"), (few, "Rows with holes, which become 0,")):
        if rows.any():
            notes.append(
                f"{which} that were divided by their sums: {rows.sum()}; that is for learning, "
                "a file that is written keeps them as they are."
            )
    return _divided(y, sums, off | few)


def _divided(y, sums, rows):
    y[rows] /= sums[rows, None]
    return y
