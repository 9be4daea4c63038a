"""Find out whether degrees are fractions, percentages or counts, and make them fractions."""

import numpy as np

from inldl._validation import check_choice, sum_tolerance

WHOLE = {"fraction": 1.0, "percent": 100.0}
# Rows this close to a whole show its scale; whether they are exact is checked later. Whole numbers
# may be counts, of which some rows come near to 100 by chance.
_NEAR, _NEAR_WHOLE = 0.1, 0.02
_WORDS = {"fraction": "fractions", "percent": "percentages", "count": "counts"}


def find_scale(values):
    """Return the scale of the degrees, and why."""
    sums = values.sum(axis=1)
    sums = sums[np.isfinite(sums)]
    if not len(sums):
        return _scale_of_largest(np.nanmax(values))
    near = _NEAR_WHOLE if _are_whole(values) else _NEAR
    for scale, whole in WHOLE.items():
        if np.mean(np.abs(sums / whole - 1) <= near) >= 0.5:
            return scale, f"most complete rows sum to about {whole:g}"
    if np.nanmax(values) <= 1:
        return "fraction", "none is above 1"
    return "count", "most complete rows sum neither to about 1 nor to about 100"


def _scale_of_largest(largest):
    for scale, whole in WHOLE.items():
        if largest <= whole:
            return scale, f"no row is complete and the largest degree is {largest:g}"
    return "count", f"no row is complete and the largest degree is {largest:g}"


def _are_whole(values):
    known = values[~np.isnan(values)]
    return bool((known == np.rint(known)).all())


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
        check_choice("scale", scale, ("auto", *WHOLE, "count"))
        if not part:
            self._refuse_unobserved()
        self._refuse(~(self.values >= 0) & ~np.isnan(self.values), "is below 0")
        self._refuse(np.isinf(self.values), "is not finite")
        notes = []
        if scale == "auto":
            scale, reason = find_scale(self.values)
            notes = [f"The degrees are taken as {_WORDS[scale]}: {reason}."]
        if scale == "count":
            return self._shares_of_counts(), scale, notes
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

    def _shares_of_counts(self):
        self._refuse_count_holes()
        sums = self.values.sum(axis=1, keepdims=True)
        self._refuse_zero_sums(sums)
        return self.values / sums

    def _refuse_count_holes(self):
        holes = np.isnan(self.values)
        if holes.any():
            row, column = (int(i) for i in np.argwhere(holes)[0])
            raise ValueError(
                f"{self.where(row)}, column {self.labels[column]!r}: a count is missing, so the "
                "total of the row is unknown; give fractions or percentages of the total instead "
                "(or scale='fraction' or 'percent' if the numbers are such)."
            )

    def _refuse_zero_sums(self, sums):
        if (sums == 0).any():
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
        advice = f"correct it, or give scale='count' if the columns are no {_WORDS[scale]}"
        self._refuse(y > 1 + tolerance, f"is above {whole:g}", advice)
        sums = np.nansum(y, axis=1)
        complete = ~np.isnan(y).any(axis=1)
        self._refuse_sums(~complete & (sums > 1 + tolerance), sums, whole, "more than")
        off = complete & (np.abs(sums - 1) > tolerance)
        if not normalize:
            self._refuse_sums(off, sums, whole, "not")
        elif off.any():
            self._refuse_zero_sums(np.where(complete, sums, 1))
            y[off] /= sums[off, None]
            notes.append(f"Complete rows that were divided by their sums: {off.sum()}.")
        return y

    def _refuse_sums(self, bad, sums, whole, compared):
        if not (self.check and bad.any()):
            return
        row = int(np.argmax(bad))
        advice = "correct them"
        if compared == "not":
            advice += (
                ", or give normalize=True (--normalize on the command line) to divide each "
                "complete row by its sum"
            )
        raise ValueError(
            f"{self.where(row)}: the observed degrees ({self._span()}) sum to "
            f"{sums[row] * whole:.6g}, {compared} {whole:g} ({bad.sum()} such row(s)); {advice}."
        )
