"""Hide degrees: each mechanism says which degrees stay observed."""

import math
from numbers import Real
from typing import Any

import numpy as np

from inldl.randomness import generator_from
from inldl.rows.checks import as_degrees, check_choice, check_number, like
from inldl.rows.panel import Panel
from inldl.rows.protection import also_suppressed

LONGEST_SPELL = 12  # rows, such as the months of a year


def hide(
    y,
    rate=None,
    *,
    mechanism="uniform",
    threshold=None,
    labels=None,
    unit=None,
    time=None,
    renormalise=False,
    secondary=False,
    random_state=None,
) -> Any:
    r"""Hide shares of a table on purpose: return a copy of `y` with more of them missing (NaN).

    Guide: :doc:`/choose_a_method`.

    Degrees that are already NaN stay NaN; the remaining ones keep their values.

    Parameters
    ----------
    y : array-like of shape (n, C)
        Degrees, NaN where missing. Not modified.
    rate : float in [0, 1)
        Fraction of the degrees to hide; see each mechanism for its exact meaning. Only with a
        `threshold` it is left out.
    mechanism : {"uniform", "small", "keep", "top", "rows", "suppressed", "grouped", "spell", \
            "block"}, default="uniform"
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
        "suppressed"
            All degrees below `threshold` are hidden, as where an office prints "<5%"; or exactly
            ``round(rate * m)`` of the m observed ones, the smallest, if there is no threshold.
        "grouped"
            In ``round(rate * n)`` rows, chosen at random, only the sum of the `labels` is known:
            these are hidden where all of them are observed.
        "spell"
            Units, such as countries, do not report for a while: runs of rows that follow each
            other in time lose all degrees. Exactly ``round(rate * n)`` rows do, in each unit its
            share of them (rounded up or down), in as few runs of at most 12 rows as that takes,
            at random times and apart from each other as long as enough rows are left.
        "block"
            Some labels, chosen at random, are not recorded at first: they are hidden in all rows
            of the earliest times; without a `time`, in all rows of some units, chosen at random.
            These are a third of the labels (rounded) and at least two, or more if that takes more
            than two thirds of the rows. As many times or units are taken as bring the share of
            hidden cells nearest to `rate`, but not all of them.

        ``round`` is Python's, which rounds halves to the even number.
    threshold : float, default=None
        For "suppressed", in place of `rate`.
    labels : list of str or int, default=None
        For "grouped" and "block": at least two labels, by name or column; random by default,
        two for "grouped".
    unit, time : array-like of shape (n,), default=None
        For "spell" and "block": the unit of each row, and its time, a number or a datetime64.
        Without `unit` the table is one series; without `time` the rows of a unit are in order,
        and without both so are all rows.
    renormalise : bool, default=False
        Divide what is left of each row by its sum, as where missing labels were dropped: only
        ratios of observed degrees are then known, ``known="ratios"`` of a method. A row of which
        nothing is left but zeros keeps them.
    secondary : bool, default=False
        With "suppressed", of counts: also hide as many others as are needed so that none of the
        suppressed ones follows from the totals of rows and columns, as offices do.
    random_state : int, RandomState instance, Generator or None, default=None
        For the random choice.

    Returns
    -------
    ndarray or DataFrame of shape (n, C)
        float32 if `y` is, else float64. For a DataFrame, a DataFrame with the same columns, and
        the same index if it has one.

    See Also
    --------
    hide_with_bounds : Return what is known of suppressed degrees, too.
    hide_with_sums : Return the sums of grouped labels, too.

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

    One of three labels is dropped, and the others are rescaled to 1:

    >>> hide([[0.2, 0.2, 0.6]], 0.4, mechanism="keep", renormalise=True, random_state=1)
    array([[0.25,  nan, 0.75]])
    """
    about = threshold, labels, unit, time
    degrees, observed = _observed(y, rate, mechanism, random_state, *about)
    if secondary:
        if mechanism != "suppressed" or np.isnan(degrees).any():
            raise ValueError('secondary=True needs mechanism="suppressed" and complete counts.')
        observed = observed & ~also_suppressed(degrees.astype(np.float64), ~observed)
    left = np.where(observed, degrees, np.nan)
    return like(y, renormalised(left) if renormalise else left)


def hide_with_bounds(
    y, rate=None, *, mechanism="suppressed", threshold=None, random_state=None
) -> tuple[Any, Any, Any]:
    """Hide small degrees; return what is left, and bounds of what was hidden.

    Parameters
    ----------
    mechanism : {"suppressed", "top"}, default="suppressed"
        As in :func:`hide`.
    y, rate, threshold, random_state
        As in :func:`hide`.

    Returns
    -------
    y, lower, upper : ndarray or DataFrame of shape (n, C)
        What :func:`hide` returns, and bounds of the hidden degrees, NaN elsewhere. They are at
        least 0, and at most the threshold (or the smallest degree that is kept), with "top" the
        smallest degree that their row keeps.

    Examples
    --------
    What is printed as "<10%" in a table, and what that says:

    >>> from inldl.datasets import hide_with_bounds
    >>> y, lower, upper = hide_with_bounds([[0.05, 0.2, 0.75]], threshold=0.1)
    >>> y, upper
    (array([[ nan, 0.2 , 0.75]]), array([[0.1, nan, nan]]))
    """
    check_choice("mechanism", mechanism, ("suppressed", "top"))
    degrees, observed = _observed(y, rate, mechanism, random_state, threshold)
    most = _most(degrees, observed, mechanism, threshold)
    newly = ~observed & ~np.isnan(degrees)
    lower, upper = (np.where(newly, end, np.nan).astype(degrees.dtype) for end in (0, most))
    return like(y, np.where(observed, degrees, np.nan)), like(y, lower), like(y, upper)


def hide_with_sums(y, rate, *, labels=None, random_state=None) -> tuple[Any, dict]:
    """Hide labels of which only the sum is known; return what is left, and the sums.

    The parameters are those of :func:`hide` with the mechanism "grouped".

    Returns
    -------
    y : ndarray or DataFrame of shape (n, C)
        What :func:`hide` returns.
    sums : dict of tuple to ndarray of shape (n,)
        The sum of the labels, by their names or columns, NaN in rows where they were not hidden.
    """
    degrees, observed = _observed(y, rate, "grouped", random_state, labels=labels)
    hidden = ~observed & ~np.isnan(degrees)
    columns = np.flatnonzero(hidden.any(axis=0))  # all of them in each of these rows
    names = list(getattr(y, "columns", range(degrees.shape[1])))
    sums = np.where(hidden.any(axis=1), degrees[:, columns].sum(axis=1), np.nan)
    left = like(y, np.where(observed, degrees, np.nan))
    return left, {tuple(names[j] for j in columns): sums} if len(columns) else {}


def _observed(y, rate, mechanism, random_state, threshold=None, labels=None, unit=None, time=None):
    """Return the degrees as an array, and which of them a mechanism leaves observed."""
    check_choice("mechanism", mechanism, MECHANISMS)
    _check_options(rate, mechanism, threshold=threshold, labels=labels, unit=unit, time=time)
    degrees, options = as_degrees(y, name="y"), {}
    if threshold is not None:
        options["threshold"] = threshold
    if labels is not None:
        options["labels"] = _columns(y, labels, degrees.shape[1])
    if mechanism in _ONLY["unit"]:
        options["panel"] = _panel(unit, time, len(degrees))
    random = generator_from(random_state)
    return degrees, MECHANISMS[mechanism](degrees, rate, random, **options)


def renormalised(y):
    """Return rows divided by the sum of what is observed of them, unless that is 0."""
    sums = np.nansum(y, axis=1, keepdims=True)
    return y / np.where(sums > 0, sums, 1)


_ONLY = {  # the mechanisms that an option is for
    "threshold": ("suppressed",),
    "labels": ("grouped", "block"),
    "unit": ("spell", "block"),
    "time": ("spell", "block"),
}


def _check_options(rate, mechanism, threshold, **others):
    for name, value in {"threshold": threshold, **others}.items():
        if value is not None and mechanism not in _ONLY[name]:
            only = " or ".join(map(repr, _ONLY[name]))
            raise ValueError(f"{name} is for mechanism={only}, got mechanism={mechanism!r}.")
    if threshold is not None:
        check_number("threshold", threshold, above=0)
        if rate is not None:
            raise ValueError("rate and threshold exclude each other; give one of them.")
    elif not (isinstance(rate, Real) and 0 <= rate < 1):
        raise ValueError(f"rate must be at least 0 and below 1, got {rate!r}.")


def _columns(y, labels, n_labels):
    """Return the columns of labels, given by name or number."""
    names = list(getattr(y, "columns", range(n_labels)))
    strange = [label for label in labels if label not in names]
    if strange or len(set(labels)) < 2:
        problem = f"{strange[0]!r} is not one" if strange else f"got {list(labels)!r}"
        raise ValueError(f"labels must be at least two labels of y, but {problem}.")
    return [names.index(label) for label in labels]


def _numbered(names):
    """Return a number for each name, in the order in which they come."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in list(names)])


def _panel(unit, time, n):
    """Return where n rows belong; without units and times they are one series in order."""
    for name, values in (("unit", unit), ("time", time)):
        if values is None:
            continue
        if np.shape(values) != (n,):
            got = np.shape(values)
            raise ValueError(f"{name} must have one value for each of {n} rows, got {got}.")
        if (np.asarray(values) != np.asarray(values)).any() or None in list(values):  # NaN, NaT
            raise ValueError(f"{name} must be known for each row; some have none.")
    if time is not None and np.asarray(time).dtype.kind not in "iufM":
        raise ValueError("time must be numbers or datetime64, which say what comes first.")
    if time is None and unit is None:
        time = np.arange(n)
    return Panel(
        np.zeros(n, dtype=int) if unit is None else _numbered(unit),
        None if time is None else np.unique(np.asarray(time), return_inverse=True)[1],
    )


def _most(y, observed, mechanism, threshold):
    """Return what a hidden degree can be at most."""
    if mechanism == "top":
        return np.fmin.reduce(np.where(observed, y, np.inf), axis=1)[:, None]
    if threshold is not None:
        return threshold
    seen = ~np.isnan(y)
    kept, hidden = y[seen & observed], y[seen & ~observed]
    return kept.min() if len(kept) else hidden.max(initial=0)


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


def _all_but(shape, hidden):
    """Say that all is observed but what an index stands for."""
    observed = np.ones(shape, dtype=bool)
    observed[hidden] = False
    return observed


def _rows(y, rate, rng):
    return _all_but(y.shape, rng.choice(len(y), size=round(rate * len(y)), replace=False))


def _suppressed(y, rate, rng, threshold=None):
    if threshold is not None:
        return ~(y < threshold)
    order = np.lexsort((rng.random(y.size), y.ravel()))  # NaN comes last
    hidden = order[: round(rate * np.count_nonzero(~np.isnan(y)))]
    return _all_but(y.size, hidden).reshape(y.shape)


def _grouped(y, rate, rng, labels=None):
    n, n_labels = y.shape
    if labels is None:
        labels = rng.choice(n_labels, size=min(2, n_labels), replace=False)
    rows = rng.choice(n, size=round(rate * n), replace=False)
    rows = rows[~np.isnan(y[np.ix_(rows, labels)]).any(axis=1)]
    return _all_but(y.shape, np.ix_(rows, labels))


def _spell(y, rate, rng, panel):
    observed, units = np.ones(y.shape, dtype=bool), panel.units
    units = [units[i] for i in rng.permutation(len(units))]
    lost_so_far = np.rint(rate * np.cumsum([len(rows) for rows in units])).astype(int)
    for rows, lost in zip(units, np.diff(lost_so_far, prepend=0), strict=True):
        kept, n_runs = len(rows) - lost, max(1, -(-lost // LONGEST_SPELL))
        before = rng.choice(kept + 1, size=n_runs, replace=n_runs > kept + 1)
        at = before[np.arange(lost) % n_runs]  # runs stand before these of the kept rows
        observed[rows] = np.insert(np.ones(kept, dtype=bool), at, False)[:, None]
    return observed


def _block(y, rate, rng, panel, labels=None):
    n, n_labels = y.shape
    if labels is None:
        size = max(2, round(n_labels / 3), math.ceil(1.5 * rate * n_labels))
        labels = rng.choice(n_labels, size=min(size, n_labels), replace=False)
    part = panel.unit if panel.time is None else panel.time
    parts, sizes = np.unique(part, return_counts=True)
    if panel.time is None:
        order = rng.permutation(len(parts))
        parts, sizes = parts[order], sizes[order]
    n_rows = np.cumsum([0, *sizes[:-1]])  # with none, one, ... of the parts, but not with all
    taken = np.abs(n_rows - rate * n * n_labels / len(labels)).argmin()
    return _all_but(y.shape, np.ix_(np.isin(part, parts[:taken]), labels))


#: Mechanisms by name: (degrees, rate, generator) -> boolean array, True = stays observed.
MECHANISMS = {
    "uniform": _uniform,
    "small": _small,
    "keep": _keep,
    "top": _top,
    "rows": _rows,
    "suppressed": _suppressed,
    "grouped": _grouped,
    "spell": _spell,
    "block": _block,
}
