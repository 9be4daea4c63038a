"""How close recovered rows are to the true ones: at the holes, and as a whole."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from inldl.metrics._registry import _checked, evaluate

WHOLE_ROWS = ("canberra", "clark", "kl_divergence", "cosine")


def recovery(
    y_true: npt.ArrayLike,
    y_given: npt.ArrayLike,
    y_completed: npt.ArrayLike,
    metrics: Iterable[str] = WHOLE_ROWS,
) -> dict[str, float]:
    """Measure how well rows with holes were recovered.

    Parameters
    ----------
    y_true : array-like of shape (n, C)
        The true distributions.
    y_given : array-like of shape (n, C)
        What was given, NaN = missing: degrees, or ratios. Only its holes are used.
    y_completed : array-like of shape (n, C)
        The recovered distributions.
    metrics : iterable of str, optional
        Names from ``METRICS`` for whole rows.

    Returns
    -------
    dict of str to float
        "rmse_at_holes" and "mae_at_holes": the root mean square and the mean of the absolute
        errors at the holes. Then the metrics, as means over the rows that have holes. In a row of
        ratios the known degrees are estimated as well, and only the metrics see their errors. All
        are NaN if nothing is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from inldl.metrics import recovery
    >>> given = [[0.5, np.nan, np.nan]]
    >>> found = recovery([[0.5, 0.3, 0.2]], given, [[0.5, 0.4, 0.1]])
    >>> round(found["rmse_at_holes"], 6), round(found["cosine"], 4)
    (0.1, 0.9762)
    """
    pair, holes = _checked(y_true, y_completed), np.isnan(np.asarray(y_given, dtype=float))
    if holes.shape != pair.p.shape:
        raise ValueError(
            f"y_given has the shape {holes.shape}, but y_true has {pair.p.shape}; give the same "
            "rows and labels."
        )
    errors, rows = (pair.q - pair.p)[holes & pair.observed], holes.any(axis=1)
    if not errors.size:
        names = ["rmse_at_holes", "mae_at_holes", *metrics]
        return dict.fromkeys(names, float("nan"))
    found = {
        "rmse_at_holes": float(np.sqrt(np.mean(errors**2))),
        "mae_at_holes": float(np.mean(np.abs(errors))),
    }
    return found | evaluate(np.asarray(y_true)[rows], np.asarray(y_completed)[rows], metrics)
