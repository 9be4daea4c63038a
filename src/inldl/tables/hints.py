"""What to say of rows that do not sum to the whole: why they do not, and that they are divided.

Numbers that mean missing, and two scales in one table, are looked for only where rows are refused,
or where numbers are taken for counts, which have no sum that they must have.
"""

import re

import numpy as np

from inldl.tables.table import SCALE_NAMES, SEVERAL_ROWS, WHOLE
from inldl.text import counted

# 0, numbers below 0, and the largest ones of a width, which surveys keep for "no answer" and such
_CODE = re.compile(r"0|-[1-9][0-9]*|9+|[789]\.?[789]|9+[78]|7{3,}|8{3,}|9+\.9+")
MOST_CODES = 3
_NEAR = 0.02  # of the whole: rows of another scale sum to it but for that
_APART = 5  # times as often as numbers of its size: a code stands apart
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
        codes = codes_for_missing(values, whole, _NEAR * whole)
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
    like = np.where(holes, sums <= (1 + _NEAR) * other, np.abs(sums / other - 1) <= _NEAR)
    like &= sums > (0 if other < whole else 1 + _NEAR)
    right = ~like & (holes | (np.abs(sums / whole - 1) <= _NEAR))
    for pattern in np.unique(known[like & holes], axis=0):
        usual = values[right][:, pattern].sum(axis=1)
        ends = usual[~np.isnan(usual)]
        low, high = (ends.min(), ends.max()) if len(ends) >= SEVERAL_ROWS else (np.nan, np.nan)
        rows, scaled = like & (known == pattern).all(axis=1), sums * whole / other
        far = (_APART * sums < low) | (sums > _APART * high)
        like[rows] = (far & (scaled >= low / 2) & (scaled <= 2 * high))[rows]
    return like & right.any() & ~(wrong & ~like).any()


def say_mixed(n_rows, scale) -> str:
    """Return a sentence on rows of another scale, which follows the place of the first one."""
    other = next(each for each in WHOLE if each != scale)
    more = f" and {counted(n_rows - 1, 'other row')}" if n_rows > 1 else ""
    return (
        f"{more}: the shares look like {SCALE_NAMES[other]}, those of other rows are "
        f"{SCALE_NAMES[scale]}, so {SCALE_NAMES[scale]} and {SCALE_NAMES[other]} are mixed "
        "in one table; write all of them in one way."
    )


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
        least = max(_LEAST_COUNT, np.median(others) / _APART) if len(others) else np.inf
        if zeros >= SEVERAL_ROWS and others.min(initial=np.inf) >= least:
            notes.append(
                f"0 is in {zeros:,} cells of {name!r}, where no other count is below "
                f"{others.min():.10g}; {say_missing([0])}."
            )
            break
    return notes
