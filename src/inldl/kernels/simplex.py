"""Projection onto the simplex, a weighted quadratic problem on it, and the softmax loss.

Data rows lie along the vector lanes: a matrix is held as labels x rows, so that each inner loop
runs over neighbouring rows, needs no horizontal sum, and is vectorised for any number of labels.
Long matrices are walked in groups of lanes that stay in the first cache.

The projection of v is max(v - theta, 0), where theta solves sum(max(v - theta, 0)) = mass. When
every entry stays positive theta is (sum(v) - mass) / C: on real data that is most rows, so
it is tried first. Otherwise Newton's method from the left: the entries above theta are nested
sets that only shrink, so theta is exact once they no longer do.

Three habits keep LLVM vectorising: accumulators are `x += max(d, 0)` or `fmin`/`fmax`, since a
plain running minimum becomes a masked store, which is slow; constants have the dtype of the data;
and slices are rows of C-contiguous arrays.
"""

import numpy as np

from inldl.kernels.compile import kernel

LANES = 64  # rows that are worked on together
MOST_HALVINGS = 200  # halving a bracket as often leaves nothing of it
MOST_MOVES, LOST = 4, 1e-12  # a sum that misses its mass by more was lost in huge values


@kernel
def _column_maximum(V, start, out, L):
    for i in range(L):
        out[i] = V[0, start + i]
    for j in range(1, V.shape[0]):
        v = V[j, start : start + L]
        for i in range(L):
            out[i] = np.fmax(out[i], v[i])


@kernel
def _refine(V, mass, theta, low, work):
    """Raise theta from at most the threshold to the threshold where some entry is below it."""
    C, L = V.shape[0], theta.shape[0]
    undecided = 0
    for i in range(L):
        undecided += low[i] < theta[i]
    if 4 * undecided > L:
        _newton_all(V, mass, theta, work)
    elif undecided > 0:
        row = np.empty(C, V.dtype)
        for i in range(L):
            if low[i] < theta[i]:
                for j in range(C):
                    row[j] = V[j, i]
                theta[i] = _newton_one(row, mass[i], theta[i])


@kernel
def _newton_one(row, mass, theta):
    """Iterate on one row."""
    zero = row.dtype.type(0)
    before = row.dtype.type(row.size + 1)
    while True:
        total, count = zero, zero
        for x in row:
            above = x - theta
            total += max(above, zero)
            count += above > zero
        theta += (total - mass) / count
        if count >= before:
            return theta
        before = count


@kernel
def _newton_all(V, mass, theta, work):
    """Iterate on a group of rows together."""
    L = theta.shape[0]
    zero, one = V.dtype.type(0), V.dtype.type(1)
    total, count, before = work[0], work[1], work[2]
    undecided = L
    for i in range(L):
        before[i] = V.shape[0] + 1
    while undecided > 0:
        for i in range(L):
            total[i] = zero
            count[i] = zero
        for j in range(0, V.shape[0] - 1, 2):  # two labels at a time: half the loads and stores
            v, w = V[j], V[j + 1]
            for i in range(L):
                above, higher = v[i] - theta[i], w[i] - theta[i]
                total[i] += max(above, zero) + max(higher, zero)
                count[i] += (one if above > zero else zero) + (one if higher > zero else zero)
        if V.shape[0] % 2:
            v = V[V.shape[0] - 1]
            for i in range(L):
                above = v[i] - theta[i]
                total[i] += max(above, zero)
                count[i] += above > zero
        undecided = 0
        for i in range(L):
            theta[i] += (total[i] - mass[i]) / count[i]
            undecided += count[i] < before[i]
            before[i] = min(before[i], count[i])  # rounding may let a count rise and fall for ever


@kernel
def project_columns(V, mass) -> None:
    """Project each column of V (labels x rows) onto {z >= 0, sum(z) = mass > 0}, in place.

    Entries of -inf stay out and become 0; each column needs one finite entry.
    """
    C, m = V.shape
    width = max(min(LANES, m), 1)
    zero, share = V.dtype.type(0), V.dtype.type(1) / V.dtype.type(C)
    group, work = np.empty((C, width), V.dtype), np.empty((3, width), V.dtype)
    theta_, low_ = np.empty(width, V.dtype), np.empty(width, V.dtype)
    for start in range(0, m, width):
        L = min(width, m - start)
        theta, low, goal = theta_[:L], low_[:L], mass[start : start + L]
        for i in range(L):
            low[i] = zero
            theta[i] = -goal[i]
        top = work[0]
        _column_maximum(V, start, top, L)
        for j in range(C):  # relative to the largest entry, so that huge values lose nothing
            v, g = V[j, start : start + L], group[j]
            for i in range(L):
                g[i] = v[i] - top[i]
                theta[i] += g[i]
                low[i] = np.fmin(low[i], g[i])
        for i in range(L):
            theta[i] = max(theta[i] * share, -goal[i])
        _refine(group, goal, theta, low, work)
        for j in range(C):
            v, g = V[j, start : start + L], group[j]
            for i in range(L):
                v[i] = max(g[i] - theta[i], zero)


@kernel
def weighted_simplex_columns(B, curvature) -> None:
    """Replace each column b of B by the solution of a weighted quadratic problem on the simplex.

    min sum(h z^2 / 2 - b z) over {z >= 0, sum(z) = 1}, with h > 0 the same column of `curvature`:
    z = max(b - theta, 0) / h. Each single entry bounds theta from below by b - h; from there
    Newton's method as for the projection, which is the case h = 1.
    """
    C = B.shape[0]
    zero = B.dtype.type(0)
    b, inverse = np.empty(C, B.dtype), np.empty(C, B.dtype)
    for i in range(B.shape[1]):
        theta = B[0, i] - curvature[0, i]
        for j in range(C):
            b[j], inverse[j] = B[j, i], 1 / curvature[j, i]
            theta = max(theta, b[j] - curvature[j, i])
        before = np.inf
        while True:
            total, weight = zero, zero
            for j in range(C):
                above = b[j] > theta
                total += (b[j] - theta) * inverse[j] if above else zero
                weight += inverse[j] if above else zero
            if not weight < before:
                break
            theta += (total - 1) / weight
            before = weight
        for j in range(C):
            B[j, i] = max(b[j] - theta, zero) * inverse[j]


@kernel
def project_between(V, spread, lower, upper, mass) -> None:
    """Replace each row v of V (rows x labels) by the nearest point between bounds with a sum.

    min sum((z - v)^2 / (2 s)) over {lower <= z <= upper, sum(z) = mass}, with s > 0 the same row
    of `spread`: z = clip(v - theta s, lower, upper). The sum falls with theta, in straight pieces;
    Newton's method finds theta exactly once it is on the right piece, and a bracket keeps it from
    leaping to and fro. A mass that the bounds do not allow counts as the nearest one they do.
    Beside huge values theta is too coarse for the mass: v is moved by it, and what is left is
    small enough to be solved for again.
    """
    for i in range(V.shape[0]):
        v, s, low, high = V[i], spread[i], lower[i], upper[i]
        for _ in range(MOST_MOVES):
            theta, total = _threshold_between(v, s, low, high, mass[i]), 0.0
            for j in range(v.size):
                v[j] -= theta * s[j]
                total += min(max(v[j], low[j]), high[j])
            if abs(total - mass[i]) <= LOST or np.isinf(theta):
                break
        for j in range(v.size):
            v[j] = min(max(v[j], low[j]), high[j])


@kernel
def _threshold_between(v, s, low, high, mass):
    least, most, left, right = 0.0, 0.0, np.inf, -np.inf
    for j in range(v.size):
        least += low[j]
        most += high[j]
        left = min(left, (v[j] - high[j]) / s[j])
        right = max(right, (v[j] - low[j]) / s[j])
    if not least < mass < most:
        return np.inf if mass <= least else -np.inf
    theta = min(max(0.0, left), right)
    for _ in range(MOST_HALVINGS):
        total, slope = 0.0, 0.0
        for j in range(v.size):
            z = v[j] - theta * s[j]
            total += min(max(z, low[j]), high[j])
            slope += s[j] if low[j] < z < high[j] else 0.0
        gap = total - mass
        left, right = (theta, right) if gap > 0 else (left, theta)
        new = theta + gap / slope if slope > 0 else np.inf
        if new == theta:
            break
        theta = new if left < new < right else (left + right) / 2
    return theta


@kernel
def masked_softmax_rows(scores, degrees, counted) -> float:
    """Return the loss of rows, and put its gradient in the place of their scores.

    The loss is the sum of ``counted * q - degrees * log(q)``, where q is the softmax of a row of
    scores. All are (n, n_labels) in C order; `degrees` are times the weights of their rows, which
    are `counted`, and both are 0 where unobserved.
    """
    n, C = scores.shape
    q, total = np.empty(C), 0.0
    for i in range(n):
        row = scores[i]
        largest = row[0]
        for j in range(1, C):
            largest = max(largest, row[j])
        mass = 0.0
        for j in range(C):
            q[j] = np.exp(np.float64(row[j] - largest))
            mass += q[j]
        log_mass, pull = np.log(mass) + largest, 0.0
        for j in range(C):
            q[j] /= mass
            total += counted[i, j] * q[j] - degrees[i, j] * (row[j] - log_mass)
            pull += counted[i, j] * q[j] - degrees[i, j]
        for j in range(C):
            row[j] = counted[i, j] * q[j] - degrees[i, j] - q[j] * pull
    return total
