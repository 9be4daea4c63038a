"""Groups of rows by k-means, for the methods that look for structure in groups."""

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state


def seed_from(random_state):
    """Return an int that stands for all chance in one fit."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def group_rows(A, n_groups, seed, weights=None):
    """Return the row numbers of each group that k-means finds, at most `n_groups`, none empty."""
    largest = max(A.max(), -A.min())
    if largest > 1e15:  # the squares of float32 end at 3e38
        A = A / largest
    means = KMeans(min(n_groups, len(A)), random_state=seed)
    with warnings.catch_warnings():  # fewer distinct rows than groups is no trouble here
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = means.fit_predict(A, sample_weight=weights)
    return [np.flatnonzero(labels == group) for group in np.unique(labels)]
