"""Detect whether degrees are fractions, percentages or counts."""

import numpy as np

WHOLE = {"fraction": 1.0, "percent": 100.0}  # what the degrees of a row sum to in the file
SCALE_NAMES = {"fraction": "fractions", "percent": "percentages", "count": "counts"}
SEVERAL_ROWS = 3  # that show a pattern
# Rows this close to a whole show its scale; whether they are exact is checked later. Whole numbers
# may be counts, of which some rows come near to 100 by chance.
_NEAR, _NEAR_WHOLE = 0.1, 0.02
_ALIKE = 0.01  # how far sums of complete rows may lie apart to be one number


def whole_of(scale) -> float:
    """Return what shares in a table sum to; counts are shown as fractions."""
    return WHOLE.get(scale, 1.0)


def span(numbers) -> str:
    """Return "99 to 101", or "99" if all numbers look the same."""
    ends = f"{numbers.min():.6g}", f"{numbers.max():.6g}"
    return " to ".join(dict.fromkeys(ends))


class ScaleEvidence:
    """Gather what tells the scale of degrees, some rows at a time."""

    def __init__(self):
        self._rows, self._largest, self._whole = 0, -np.inf, True
        self._sums = np.empty(0)  # the smallest and the largest of complete rows
        self._near = {(scale, near): 0 for scale in WHOLE for near in (_NEAR, _NEAR_WHOLE)}

    def add(self, values) -> None:
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

    def scale(self) -> tuple[str, str]:
        """Return the scale, and a sentence that says why."""
        scale, reason = self._complete() if self._rows else self._incomplete()
        return scale, f"The shares are read as {SCALE_NAMES[scale]}: {reason}."

    def why_counts(self) -> str:
        """Return the start of a sentence that says why the shares were read as counts."""
        reason = f"No row is complete and the largest share is {self._largest:g}"
        if self._rows:
            reason = f"Complete rows sum to {span(self._sums)}, not to 1 or 100"
        return f"{reason}, so the shares were read as counts"

    @property
    def alike(self) -> float | None:
        """Return what all complete rows sum to, but for rounding; None if sums vary."""
        if self._rows < SEVERAL_ROWS or np.ptp(self._sums) > _ALIKE * self._sums.max():
            return None
        mean = float(self._sums.mean())
        return mean if np.ptp(self._sums) == 0 else float(f"{mean:.3g}")

    def _complete(self):
        near = _NEAR_WHOLE if self._whole else _NEAR
        for scale, whole in WHOLE.items():
            if 2 * self._near[scale, near] >= self._rows:
                half = 2 * self._near[scale, near] == self._rows
                which = "half of the" if half else "most"
                return scale, f"{which} complete rows sum to about {whole:g}"
        if self._largest <= 1:
            return "fraction", "none is above 1"
        return "count", "most complete rows sum neither to about 1 nor to about 100"

    def _incomplete(self):
        reason = f"no row is complete and the largest share is {self._largest:g}"
        if self._largest == -np.inf:
            reason = "none is observed"
        fitting = [scale for scale, whole in WHOLE.items() if self._largest <= whole]
        return (fitting or ["count"])[0], reason
