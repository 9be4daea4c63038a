"""What sums of rows tell: the scale of shares, and why some do not sum to the whole.

Numbers that mean missing, and two scales in one table, are looked for only where rows are refused,
or where numbers are taken for counts, which have no sum that they must have.
"""

import re

import numpy as np

from inldl.tables.table import SCALE_NAMES, SEVERAL_ROWS, WHOLE, span
from inldl.text import counted, shortened

# 0, numbers below 0, and the largest ones of a width, which surveys keep for "no answer" and such
_CODE = re.compile(r"0|-[1-9][0-9]*|9+|[789]\.?[789]|9+[78]|7{3,}|8{3,}|9+\.9+")
MOST_CODES = 3
# Rows this close to a whole show its scale; whether they are exact is checked later. Whole numbers
# may be counts, of which some rows come near to 100 by chance.
_NEAR, _NEAR_WHOLE = 0.1, 0.02
_ALIKE = 0.01  # how far sums of complete rows may lie apart to be one number
_MIXED = 0.02  # of the whole: rows of another scale sum to it but for that
_APART = 5  # times as often as numbers of its size: a code stands apart
_GAP = 0.2  # of the range of all other numbers: one that is so far apart may mean missing
_LEAST_COUNT = 10  # zeros stand apart from counts that are at least that


def codes_for_missing(values, whole, gap) -> list[float]:
    """Return numbers in cells of all rows with a wrong sum, whose sums are possible without them.

    Rows are to sum to `whole`, but for `gap`. The list is empty if no such numbers look as if they
    meant missing. Zeros do so only beside rows without any: where each row has some, a label may
    have been forgotten.
    """
    codes: list[float] = []
    values, off = values.copy(), _wrong(values, whole, gap)
    while off.any() and len(codes) < MOST_CODES:
        found, rows = np.unique(values[off], return_counts=True)
        for k in np.argsort(-rows, kind="stable"):
            cells = values == found[k]
            with_it = cells.any(axis=1)
            several = (off & with_it).sum() >= max(SEVERAL_ROWS, with_it.sum() / 2)
            if several and _CODE.fullmatch(f"{found[k]:.10g}"):
                break
        else:
            return []
        codes.append(float(found[k]))
        values[cells] = np.nan
        off = _wrong(values, whole, gap)
    full = ~np.isnan(values).any(axis=1)
    return [] if off.any() or (0 in codes and full.sum() < SEVERAL_ROWS) else codes


def _wrong(values, whole, gap):
    sums, holes = np.nansum(values, axis=1), np.isnan(values).any(axis=1)
    return (sums > whole + gap) | (~holes & (sums < whole - gap))


def code_of_fractions(values) -> list[float]:
    """Return numbers that keep rows from summing to 1 or to 100, of a table taken for counts."""
    for whole in WHOLE.values():
        codes = codes_for_missing(values, whole, _MIXED * whole)
        rest = values[~np.isin(values, codes).any(axis=1)]
        if codes and (~np.isnan(rest).any(axis=1)).sum() >= SEVERAL_ROWS:
            return codes
    return []


def say_missing(codes) -> str:
    """Return what to do if some numbers mean missing."""
    words = ",".join(f"{code:.10g}" for code in codes)
    it = "it means" if len(codes) == 1 else "they mean"
    return f"if {it} missing, say --na {words} (na='{words}' in Python)"


def rows_of_other_scale(values, sums, wrong, scale) -> np.ndarray:
    """Return which rows are fractions among percentages, or the other way round.

    The `sums` of some rows are `wrong`; if these rows are of no other scale, none is. The known
    shares of a percentage with holes fit those of other rows, but for their scale.
    """
    known, whole = ~np.isnan(values), WHOLE[scale]
    holes = ~known.all(axis=1)
    other = next(each for each in WHOLE.values() if each != whole)
    like = np.where(holes, sums <= (1 + _MIXED) * other, np.abs(sums / other - 1) <= _MIXED)
    like &= sums > (0 if other < whole else 1 + _MIXED)
    right = ~like & (holes | (np.abs(sums / whole - 1) <= _MIXED))
    for pattern in np.unique(known[like & holes], axis=0):
        ends = values[right & known[:, pattern].all(axis=1)][:, pattern].sum(axis=1)
        low, high = (ends.min(), ends.max()) if len(ends) >= SEVERAL_ROWS else (np.nan, np.nan)
        rows, scaled = like & (known == pattern).all(axis=1), sums * whole / other
        far = (_APART * sums < low) | (sums > _APART * high)
        like[rows] = (far & (scaled >= low / 2) & (scaled <= 2 * high))[rows]
    several = wrong.any() or like.sum() >= SEVERAL_ROWS
    return like & several & right.any() & ~(wrong & ~like).any()


def say_mixed(n_rows, scale) -> str:
    """Return a sentence on rows of another scale, which follows the place of the first one."""
    other = next(each for each in WHOLE if each != scale)
    more = f" and {counted(n_rows - 1, 'other row')}" if n_rows > 1 else ""
    return (
        f"{more}: the shares look like {SCALE_NAMES[other]}, those of other rows are "
        f"{SCALE_NAMES[scale]}, so {SCALE_NAMES[scale]} and {SCALE_NAMES[other]} are mixed "
        "in one table; write all of them in one way."
    )


def notes_on_last_row(piece, place, can_skip) -> list[str]:
    """Return a sentence if the last row of a piece has nothing but a text, as notes have."""
    cells = piece.features[-1:].dropna(axis=1).to_numpy().ravel().tolist()
    alone = len(cells) == 1 < piece.features.shape[1] and isinstance(cells[0], str)
    if not alone or not np.isnan(piece.values[-1]).all() or piece.constrained:
        return []
    return [
        f"{place(piece.size - 1)} has nothing but {shortened(cells[0])!r}, and is read as a row; "
        f"if it is a note, {'say --skip-last 1' if can_skip else 'remove it'}."
    ]


def notes_on_features(features) -> list[str]:
    """Return sentences on numbers of features that may mean missing: far from all others."""
    notes = []
    for name, column in features.select_dtypes("number").items():
        for code in {column.min(), column.max()} - {0.0}:
            if not _CODE.fullmatch(f"{code:.10g}"):
                continue
            size, rest = int((column == code).sum()), column[column != code].dropna()
            if size >= _APART and (rest - code).abs().min() >= _GAP * np.ptp(rest) > 0:
                notes.append(
                    f"{code:.10g} is in {size:,} cells of {name!r}, far from all other numbers of "
                    f"the column; {say_missing([code])}."
                )
    return notes


def notes_on_codes(values, labels) -> list[str]:
    """Return sentences on counts that may mean missing: 0 and codes that stand apart."""
    known, sizes = np.unique(values[~np.isnan(values)], return_counts=True)
    often, notes = known[(sizes >= _APART) & (known > 9)].tolist(), []
    for code in (code for code in often if _CODE.fullmatch(f"{code:.10g}")):
        near = (known >= code / 2) & (known <= 2 * code) & (known != code)
        size = int(sizes[known == code].sum())
        if size >= _APART * sizes[near].max(initial=1):
            notes.append(
                f"{code:.10g} is in {size:,} cells, far more often than numbers of its size; "
                f"{say_missing([code])}."
            )
    for j, name in enumerate(labels):
        zeros, others = int((values[:, j] == 0).sum()), values[values[:, j] > 0, j]
        small = not len(others) or others.min() < max(_LEAST_COUNT, np.median(others) / _APART)
        if zeros >= SEVERAL_ROWS and not small:
            notes.append(
                f"0 is in {zeros:,} cells of {name!r}, where no other count is below "
                f"{others.min():.10g}; {say_missing([0])}."
            )
            break
    return notes


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
            if (twice := 2 * self._near[scale, near]) >= self._rows:
                least, most = self._sums / whole
                if min(abs(least - 1), abs(most - 1)) > _ALIKE / 2 and (least > 1) == (most > 1):
                    why = "" if least > 1 else ", so a label may be missing (--other)"
                    return scale, f"complete rows sum to {span(self._sums)}, near {whole:g}{why}"
                which = "half of the" if twice == self._rows else "most"
                return scale, f"{which} complete rows sum to about {whole:g}"
        if self._largest <= 1:
            return "fraction", "none is above 1"
        return "count", "most complete rows sum neither to about 1 nor to about 100"

    def _incomplete(self):
        reason = f"no row is complete and the largest share is {self._largest:g}"
        if self._largest == -np.inf:
            reason = "none is observed"
        return next((s for s, whole in WHOLE.items() if self._largest <= whole), "count"), reason
