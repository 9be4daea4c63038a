"""Ratios of degrees, scaled to degrees before a method learns from them."""

from inldl.estimators._kernel_features import FINE, choose_kernel, kernel_features
from inldl.estimators.kernel_softmax import held_out_of_ratios
from inldl.solvers.ratios import check_ratios, constant_distribution, scaled, telling


def scale_ratios(columns, y, weights, seed, n_jobs=None):
    """Return degrees: each row of ratios times what is predicted for its labels without it.

    The predictions are those of a softmax regression on kernel features, whose likelihood needs no
    scale. Its kernel is chosen as others are, with rows scaled by one distribution for all.

    Parameters
    ----------
    columns : ndarray of shape (n, n_features)
        Scaled columns.
    y : ndarray of shape (n, n_labels)
        Ratios, NaN = unobserved.
    weights : ndarray of shape (n,) or None
        Of the rows.
    seed : int
        For landmarks and folds.
    n_jobs : int or None
        Threads.
    """
    check_ratios(y)
    y = telling(y)
    first = scaled(y, constant_distribution(y, weights)[None])
    choice = choose_kernel(columns, first, seed, n_jobs, weights=weights)
    features = kernel_features(columns, choice.kernel, choice.scale, FINE, seed)
    found = held_out_of_ratios(features, columns, y, weights, seed, n_jobs)
    return scaled(y, found)
