"""Hide degrees: each mechanism says which degrees stay observed."""

from numbers import Real

import numpy as np

from inldl._validation import as_degrees, check_choice, like


def hide(y, rate, *, mechanism="uniform", random_state=None):
    r"""Return a copy of `y` with more degrees missing (NaN).

    Degrees that are already NaN stay NaN; the remaining ones keep their values.

    Parameters
    ----------
    y : array-like of shape (n, C)
        Degrees, NaN where missing. Not modified.
    rate : float in [0, 1)
        Fraction of the degrees to hide; see each mechanism for its exact meaning.
    mechanism : {"uniform", "small", "keep", "top", "rows"}, default="uniform"
        A name in `MECHANISMS`:

        "uniform"
            Each degree is hidden independently with probability `rate` (the paper's setting):
            ``observed = rng.random(y.shape) >= rate``.
        "small"
            Small degrees are hidden more often (the paper's motivation). An observed degree d is
            hidden independently with probability :math:`\min(1, c / (1 + C \max(d, 0)))`, where
            c makes the mean of these probabilities exactly `rate`. As long as no probability
            reaches 1, a degree of 0 is hidden twice as often as a degree of 1/C.
        "keep"
            Each row keeps the same number of degrees, ``max(1, C - round(rate * C))``, chosen
            at random among its observed ones; a row with fewer keeps all of them.
        "top"
            Each row keeps as many as with "keep", but its largest ones, as where only the three
            largest shares were recorded; chance decides between equal degrees only.
        "rows"
            Some rows lose all degrees: exactly ``round(rate * n)`` of the n rows, chosen at
            random (semi-supervised learning).

        ``round`` is Python's, which rounds halves to the even number.
    random_state : None, int or numpy.random.Generator, default=None
        Seed or generator for the random choice.

    Returns
    -------
    ndarray or DataFrame of shape (n, C)
        float32 if `y` is, else float64. For a DataFrame, a DataFrame with the same columns, and
        the same index if it has one.

    Notes
    -----
    With few rows or a high rate, a label may be left with no observed degree at all, which `fit`
    refuses.

    Examples
    --------
    >>> from inldl.datasets import hide
    >>> hide([[0.2, 0.8], [0.5, 0.5]], 0.5, mechanism="rows", random_state=0)
    array([[0.2, 0.8],
           [nan, nan]])
    """
    check_choice("mechanism", mechanism, MECHANISMS)
    if not (isinstance(rate, Real) and 0 <= rate < 1):
        raise ValueError(f"rate must be at least 0 and below 1, got {rate!r}.")
    degrees = as_degrees(y, name="y")
    observed = MECHANISMS[mechanism](degrees, rate, generator(random_state))
    return like(y, np.where(observed, degrees, np.nan))


def generator(random_state):
    """Return ``numpy.random.default_rng(random_state)``, but refuse legacy generators."""
    if isinstance(random_state, np.random.RandomState):
        raise TypeError(
            "random_state must be None, an int or a numpy.random.Generator, not a RandomState: "
            "use numpy.random.default_rng(seed)"
        )
    return np.random.default_rng(random_state)


def _uniform(y, rate, rng):
    return rng.random(y.shape) >= rate


def _small(y, rate, rng):
    weight = 1.0 / (1.0 + y.shape[1] * np.maximum(y, 0.0, dtype=np.float64))
    probability = np.minimum(1.0, _scale(weight[~np.isnan(y)], rate) * weight)
    return rng.random(y.shape) >= probability


def _scale(weight, rate):
    """Solve mean(min(1, c * weight)) = rate for c, exactly.

    If the k largest weights are the ones cut at 1, then c = (rate m - k) / (sum of the others);
    the right k is the first for which the next weight is not cut.
    """
    if weight.size == 0:
        return 0.0
    ascending = np.sort(weight)
    others = np.cumsum(ascending)[::-1]
    c = (rate * weight.size - np.arange(weight.size)) / others
    return c[np.argmax(c * ascending[::-1] <= 1.0)]


def _keep(y, rate, rng):
    # Unobserved degrees come last in the order, so that they are the first to be left out.
    return _first(y, rate, np.argsort(np.where(np.isnan(y), 2.0, rng.random(y.shape)), axis=1))


def _top(y, rate, rng):
    return _first(y, rate, np.lexsort((rng.random(y.shape), -y), axis=1))  # NaN comes last


def _first(y, rate, order):
    """Say which labels are the first of their row in an order, equally many in each."""
    n_labels = y.shape[1]
    n_kept = max(1, n_labels - round(rate * n_labels))
    observed = np.zeros(y.shape, dtype=bool)
    np.put_along_axis(observed, order[:, :n_kept], True, axis=1)
    return observed


def _rows(y, rate, rng):
    n = len(y)
    observed = np.ones(y.shape, dtype=bool)
    observed[rng.choice(n, size=round(rate * n), replace=False)] = False
    return observed


#: Mechanisms by name: (degrees, rate, generator) -> boolean array, True = stays observed.
MECHANISMS = {
    "uniform": _uniform,
    "small": _small,
    "keep": _keep,
    "top": _top,
    "rows": _rows,
}
