"""Projection onto the simplex, and the row work of one iteration of WInLDL around it.

Neighbouring rows lie along the lanes of vectors: a matrix is held as labels x rows, so that no sum
goes across a vector, whatever the number of labels. The rows of a block are taken in groups of as
many as a vector has lanes, and some groups together, so that what passes from one step to the next
stays in the first cache. Three steps each go once over the labels of a group; running sums stay in
registers.

The projection of x is z = max(x - t, 0), where the threshold t solves sum(max(x - t, 0)) = mass.
With the entries above t known, t follows from their sum. In WInLDL, which ones those are hardly
changes from one iteration to the next, so the sums are taken while x is made:

- inside: where no entry of a group was 0 the last time, over all entries. That was right if the
  smallest entry is not below t.
- at the edge: over the entries above the last t, a step of Newton's method. That was right if no
  entry lies between the last t and the new one, hence if the step is not longer than the distance
  of the nearest entry.

Only groups where it was not right need more passes. After a step of Newton's method t is never
above the solution; from there on the entries above t are nested sets that only shrink. Without an
iteration before, all entries are tried first: on real data that is right for most rows.

A place in an array is a number that counts its elements, `0 * lanes` where it is 0: Numba would
compile a function once more for a plain 0.
"""

import numpy as np

from inldl.kernels.compile import (
    VECTOR_BYTES,
    any_above,
    fill,
    if_above,
    if_nan,
    kernel,
    load,
    magnitude,
    store,
)

ENTRIES_AT_ONCE = 2048  # about as many are worked on together


@kernel
def winldl_step(
    S, state, given, thresholds, intercept, missing, impute
) -> tuple[np.ndarray, float]:
    """Do the row work of one iteration of WInLDL on a block; S becomes R = Z - U.

    Parameters
    ----------
    S : (C, m)
        The products XW without the intercept; overwritten by R.
    state : (groups, C, 2, lanes)
        Scaled multipliers U and distributions Z; updated in place.
    given : (groups, C, 2, lanes)
        Degrees Y, NaN = unobserved, and A = mu / (Q^2 + mu).
    thresholds : (groups, 2, lanes)
        The thresholds of both projections of a row, NaN if no row of the group is at the edge;
        updated in place. All NaN to begin with.
    intercept : (C,)
        Intercept.
    missing : (C,) or None
        mu / (Q^2 + mu) of the missing degrees; None = each has its own in A.
    impute : bool
        Whether the target of a missing degree is the row's own projection, or 0.

    Returns
    -------
    total : (C,)
        The sums of R over the rows.
    change : float
        The largest change of an entry of Z.
    """
    C, m = S.shape
    lanes = state.shape[3]
    whole, rest = m // lanes, m % lanes
    together = max(ENTRIES_AT_ONCE // (C * lanes), 1)
    size = together * 2 * lanes
    scratch = (_lines(S, size * C), _lines(S, size), _lines(S, size))
    sums = _lines(S, (C + 1) * lanes)  # of R by label and lane, and the largest change
    for i in range(sums.size):
        sums[i] = 0
    rows, shared = (state, given, thresholds), (intercept, missing, impute)
    if rest:  # first, so that what the lanes without a row have added can be set back to 0
        tile = np.zeros((C, lanes), S.dtype)
        _copy(S, whole * lanes, tile, 0 * lanes, rest)
        _step(tile, (whole, whole + 1), rows, shared, scratch, sums)
        _copy(tile, 0 * lanes, S, whole * lanes, rest)
        for i in range(sums.size):
            sums[i] = sums[i] if i % lanes < rest else 0
    for g in range(0, whole, together):
        _step(S, (g, min(g + together, whole)), rows, shared, scratch, sums)
    total = np.zeros(C + 1, S.dtype)
    for i in range(C * lanes):
        total[i // lanes] += sums[i]
    for i in range(C * lanes, sums.size):
        total[C] = max(total[C], sums[i])
    return total[:C], total[C]


@kernel
def _lines(like, size):
    """Return an empty array that starts at a cache line: vectors that span two are slow."""
    memory = np.empty(size + 64 // like.itemsize, like.dtype)
    first = -memory.ctypes.data % 64 // like.itemsize
    return memory[first : first + size]


@kernel
def _copy(source, start, target, place, width):
    """Copy a few neighbouring columns."""
    for j in range(source.shape[0]):
        for i in range(width):
            target[j, place + i] = source[j, start + i]


@kernel
def _step(S, groups, rows, shared, scratch, sums):
    """Do all steps for some groups; S are the products of the block, or of these groups."""
    state, given, thresholds = rows
    intercept, missing, impute = shared
    work, now, _ = scratch
    _fitted(S, groups, intercept, thresholds, scratch)
    _pull(state, given, groups, missing, impute, thresholds, scratch)
    _settle(state, groups, work, now, S, sums)


@kernel
def _fitted(S, groups, intercept, thresholds, scratch):
    """Fitted = S + intercept, and its threshold."""
    C, m = S.shape
    lanes = thresholds.shape[2]
    start = groups[0] * lanes if m > lanes else 0
    work = scratch[0]
    for g in range(groups[1] - groups[0]):
        at = 2 * lanes * (g + groups[0])
        t, edge, sums = _begin(thresholds, at)
        for j in range(C):
            x = load(S, j * m + start + g * lanes) + fill(t, intercept[j])
            store(work, (g * C + j) * 2 * lanes, x)
            sums = _add_above(sums, x - t) if edge else _add_all(sums, x)
        _end(thresholds, at, t, edge, sums, C, scratch, 2 * g * lanes)
    _refine(thresholds, 0 * lanes, C, groups, scratch)


@kernel
def _pull(state, given, groups, missing, impute, thresholds, scratch):
    """Pulled = target + A (fitted + U - target), and its threshold."""
    C, lanes = state.shape[1], state.shape[3]
    work, now, _ = scratch
    for g in range(groups[1] - groups[0]):
        at = (2 * (g + groups[0]) + 1) * lanes
        t, edge, sums = _begin(thresholds, at)
        projected = load(now, 2 * g * lanes) if impute else fill(t, np.inf)
        zero = fill(t, 0.0)
        for j in range(C):
            here = (g * C + j) * 2 * lanes
            place = here + groups[0] * C * 2 * lanes
            x, y, ratio = load(work, here), load(given, place), load(given, place + lanes)
            target = x - projected
            target = if_nan(y, if_above(target, zero, target, zero), y)
            if missing is not None:
                ratio = if_nan(y, fill(t, missing[j]), ratio)
            x = target + ratio * (x + load(state, place) - target)
            store(work, here + lanes, x)
            sums = _add_above(sums, x - t) if edge else _add_all(sums, x)
        _end(thresholds, at, t, edge, sums, C, scratch, (2 * g + 1) * lanes)
    _refine(thresholds, 1 * lanes, C, groups, scratch)


@kernel
def _settle(state, groups, work, now, S, sums):
    """Z = max(pulled - t, 0); U = U + fitted - Z; S = Z - U."""
    C, m = S.shape
    lanes = state.shape[3]
    start = groups[0] * lanes if m > lanes else 0
    change = load(sums, C * lanes)
    zero = fill(change, 0.0)
    for g in range(groups[1] - groups[0]):
        t = load(now, (2 * g + 1) * lanes)
        for j in range(C):
            here = (g * C + j) * 2 * lanes
            place = here + groups[0] * C * 2 * lanes
            u, z = load(state, place), load(state, place + lanes)
            new = load(work, here + lanes) - t
            new = if_above(new, zero, new, zero)
            moved = magnitude(new - z)
            change = if_above(moved, change, moved, change)
            left = load(work, here) + u - new
            r = new - left
            total = load(sums, j * lanes) + r
            store(state, place, left)
            store(state, place + lanes, new)
            store(S, j * m + start + g * lanes, r)
            store(sums, j * lanes, total)
    store(sums, C * lanes, change)


@kernel
def _begin(thresholds, at):
    """Return the last threshold, whether any row was at the edge, and empty sums."""
    t = load(thresholds, at)
    edge = any_above(t, fill(t, -np.inf))
    return t, edge, (fill(t, -1.0), fill(t, 0.0), fill(t, np.inf))


@kernel
def _add_all(sums, x):
    """Add an entry to (sum - 1, unused, smallest entry)."""
    total, count, smallest = sums
    return total + x, count, if_above(smallest, x, x, smallest)


@kernel
def _add_above(sums, above):
    """Add x - t to (sum of the positive ones - 1, their count, smallest magnitude)."""
    total, count, nearest = sums
    zero, distance = fill(above, 0.0), magnitude(above)
    return (
        total + if_above(above, zero, above, zero),
        count + if_above(above, zero, fill(above, 1.0), zero),
        if_above(nearest, distance, distance, nearest),
    )


@kernel
def _newton(t, sums):
    """Return t after a step of Newton's method, and how long the step was."""
    total, count, nearest = sums
    to_largest = fill(t, -1.0) - nearest  # if no entry is above t: to 1 below the largest one
    step = if_above(count, fill(t, 0.0), total / count, to_largest)
    return t + step, magnitude(step)


@kernel
def _end(thresholds, at, t, edge, sums, C, scratch, here):
    """Keep the new threshold; doubt > 0 says that it is not the solution yet."""
    _, now, doubt = scratch
    if edge:
        t, step = _newton(t, sums)
        doubtful, zeros = step - sums[2], fill(t, C) - sums[1]
    else:
        t = sums[0] * fill(t, 1 / C)
        doubtful = zeros = t - sums[2]
    store(now, here, t)
    store(doubt, here, doubtful)
    _keep(thresholds, at, t, zeros)


@kernel
def _keep(thresholds, at, t, zeros):
    """Keep thresholds for the next iteration where rows have zeros."""
    store(thresholds, at, t if any_above(zeros, fill(t, 0.0)) else fill(t, np.nan))


@kernel
def _refine(thresholds, part, C, groups, scratch):
    """Raise doubtful thresholds, at most the solution, to the solution."""
    lanes = thresholds.shape[2]
    work, now, doubt = scratch
    for g in range(groups[1] - groups[0]):
        here = 2 * g * lanes + part
        t = load(now, here)
        if any_above(load(doubt, here), fill(t, 0.0)):
            place, step = g * C * 2 * lanes + part, 2 * lanes
            t, count = _solution(work, place, step, C, t, fill(t, -1.0))
            store(now, here, t)
            _keep(thresholds, here + 2 * groups[0] * lanes, t, fill(t, C) - count)


@kernel
def _solution(x, place, step, C, t, lacking):
    """Raise t, at most the solution, to the solution; return also how many entries are above it.

    The entries of a group start at a place in x, one label every `step`; `lacking` is -mass.
    """
    zero, before = fill(t, 0.0), fill(t, C + 1)
    while True:
        sums = lacking, zero, fill(t, np.inf)
        for j in range(C):
            sums = _add_above(sums, load(x, place + j * step) - t)
        t, moved = _newton(t, sums)
        if not any_above(if_above(before, sums[1], moved, zero), sums[2]):
            return t, sums[1]
        # The least so far: rounding of huge entries may let a count rise and fall for ever.
        before = if_above(before, sums[1], sums[1], before)


@kernel
def project_columns(V, mass) -> None:
    """Project each column of V (labels x rows) onto {z >= 0, sum(z) = mass > 0}, in place.

    Entries of -inf stay out and become 0; each column needs one finite entry. A column with NaN or
    inf becomes NaN, and leaves the others alone.
    """
    C, m = V.shape
    lanes = VECTOR_BYTES // V.itemsize
    rest = m % lanes
    for start in range(0, m - rest, lanes):
        _project(V, start, mass)
    if rest:
        tile, goals = np.zeros((C, lanes), V.dtype), np.ones(lanes, V.dtype)
        _copy(V, m - rest, tile, 0 * lanes, rest)
        goals[:rest] = mass[m - rest :]
        _project(tile, 0 * lanes, goals)
        _copy(tile, 0 * lanes, V, m - rest, rest)


@kernel
def _project(V, start, mass):
    """Project the columns of one group; `start` is the first."""
    C, m = V.shape
    top = load(V, start)
    for j in range(1, C):
        x = load(V, j * m + start)
        top = if_above(x, top, x, top)
    zero = fill(top, 0.0)
    lacking = zero - load(mass, start)
    total, smallest = lacking, zero
    for j in range(C):  # relative to the largest entry, so that huge values lose nothing
        x = load(V, j * m + start) - top
        store(V, j * m + start, x)
        total += x
        smallest = if_above(smallest, x, x, smallest)
    t = total * fill(top, 1 / C)
    t = if_above(lacking, t, lacking, t)
    if any_above(t, smallest):
        for _ in range(2):  # the second time from so near that no rounding is left
            t, _ = _solution(V, start, m, C, t, lacking)
    for j in range(C):
        x = load(V, j * m + start) - t
        store(V, j * m + start, if_above(zero, x, zero, x))
