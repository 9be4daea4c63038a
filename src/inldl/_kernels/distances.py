"""Distances of rows to landmarks that BLAS cannot compute."""

from inldl._kernels.compile import kernel


@kernel
def l1_distances(Z, L, D):
    """Put the sums of absolute differences of rows of Z (n, k) and columns of L (k, m) into D.

    Four rows share each load of L, and the landmarks lie along the vector lanes.
    """
    n, k = Z.shape
    m = L.shape[1]
    D[:] = 0
    for group in range(0, n - n % 4, 4):
        d0, d1, d2, d3 = D[group], D[group + 1], D[group + 2], D[group + 3]
        for q in range(k):
            z0, z1, z2, z3 = Z[group, q], Z[group + 1, q], Z[group + 2, q], Z[group + 3, q]
            landmarks = L[q]
            for j in range(m):
                d0[j] += abs(z0 - landmarks[j])
                d1[j] += abs(z1 - landmarks[j])
                d2[j] += abs(z2 - landmarks[j])
                d3[j] += abs(z3 - landmarks[j])
    for i in range(n - n % 4, n):
        for q in range(k):
            z, landmarks, d = Z[i, q], L[q], D[i]
            for j in range(m):
                d[j] += abs(z - landmarks[j])
    return D
