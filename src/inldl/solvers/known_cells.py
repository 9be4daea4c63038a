"""What is known of a row with holes: its observed degrees, and the sum of the others."""

import numpy as np

from inldl.solvers.hidden_mass import partial_rows

Array = np.ndarray


def known_cells(y: Array, predicted: Array) -> tuple[Array, Array]:
    """Return what is known of rows beside what is predicted there.

    A prediction that is judged at the observed degrees only is judged by too large ones, where
    small ones are missing. The sum of the holes is known as well: it is one more cell.

    Parameters
    ----------
    y : ndarray of shape (n, n_labels)
        Degrees, NaN = unobserved.
    predicted : ndarray of shape (n, n_labels)
        Predictions of the rows.

    Returns
    -------
    known : ndarray of shape (n, n_labels + 1)
        `y`, then what the observed degrees leave. The latter is NaN in rows without holes, and in
        rows without degrees, where it tells nothing.
    predicted : ndarray of shape (n, n_labels + 1)
        The predictions with 0 at the holes, then the sum of the predicted holes.
    """
    holes = np.isnan(y)
    rest = np.where(partial_rows(y), np.maximum(1 - np.nansum(y, axis=1), 0), np.nan)
    sums = np.where(holes, predicted, 0).sum(axis=1)
    return np.column_stack([y, rest]), np.column_stack([np.where(holes, 0, predicted), sums])


def count_known(y: Array) -> int:
    """Return how many cells of rows are known."""
    return int(np.count_nonzero(~np.isnan(y)) + np.count_nonzero(partial_rows(y)))
