"""The softmax loss of rows with holes, and its gradient, in one pass over the scores."""

import numpy as np

from inldl.kernels.compile import kernel


@kernel
def masked_softmax_rows(scores, degrees, counted):
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
