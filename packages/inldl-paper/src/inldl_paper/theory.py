"""The theorems of the paper: bounds on the weighted risk, complexities, and a counterexample.

Theorems 1 and 2 bound the expected risk by the weighted empirical risk, whose weights P apply to
the loss itself: ``P = Q^2``, where Q are the weights of a scheme in `inldl.weighting`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from inldl.rows.checks import check_number

__all__ = [
    "Complexity",
    "Counterexample",
    "counterexample",
    "linear_bound",
    "linear_complexity",
    "rademacher_bound",
    "rademacher_complexity",
    "weighted_empirical_risk",
]

Numbers = Any  # a number or an array
_AT_LEAST_0 = ("at least 0", lambda x: x >= 0)
_AT_LEAST_1 = ("at least 1", lambda x: x >= 1)
_RANGES = {  # of all other arguments: at least 0
    "n_labels": _AT_LEAST_1,
    "n_samples": _AT_LEAST_1,
    "loss_bound": ("greater than 0", lambda x: x > 0),
    "delta": ("between 0 and 1, both excluded", lambda x: (x > 0) & (x < 1)),
}


def weighted_empirical_risk(losses: Numbers, weights: Numbers) -> float:
    """Compute the weighted empirical risk (definition 1).

    ``1/N sum_ij P_ij l_ij``: the mean over rows of the weighted sum over labels.

    Parameters
    ----------
    losses : array-like of shape (n_samples, n_labels)
        Loss of each degree.
    weights : array-like of shape (n_samples, n_labels)
        P, non-negative. To leave a degree out, give it weight 0 and any finite loss.

    Examples
    --------
    >>> from inldl_paper.theory import weighted_empirical_risk
    >>> weighted_empirical_risk([[0.5, 0.25], [1.0, 0.0]], [[1, 2], [1, 1]])
    1.0
    """
    losses, weights = _number("losses", losses), _number("weights", weights)
    if losses.ndim != 2 or losses.shape != weights.shape or not losses.size:
        raise ValueError(
            f"losses has shape {losses.shape} and weights has shape {weights.shape}: both need "
            "one row per sample and one column per label."
        )
    finite = "is not finite: give any number and weight 0 if it does not count"
    positive = "must be a finite number of at least 0"
    for name, array, problem in (("loss", losses, finite), ("weight", weights, positive)):
        bad = ~np.isfinite(array) | ((array < 0) & (name == "weight"))
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise ValueError(f"the {name} in row {row}, column {column} {problem}.")
    return float(np.einsum("ij,ij->", weights, losses) / len(losses))


def rademacher_bound(
    empirical_risk: Numbers,
    rademacher_complexity: Numbers,
    *,
    max_weight: Numbers,
    n_labels: Numbers,
    loss_bound: Numbers,
    n_samples: Numbers,
    delta: Numbers,
) -> Numbers:
    """Bound the expected risk of every function of a class (theorem 1).

    ``R <= R_S + 2 |P| Rad_N + C B |P| sqrt(log(1/delta) / (2N))``
    with probability at least ``1 - delta``.

    Parameters
    ----------
    empirical_risk : array-like
        R_S, see `weighted_empirical_risk`.
    rademacher_complexity : array-like
        Rad_N of definition 2, the expectation over samples, of the loss summed over labels; see
        `rademacher_complexity`, and the notes.
    max_weight : array-like
        ``|P|``, the largest weight.
    n_labels : array-like
        C.
    loss_bound : array-like
        B; the loss of one degree lies between 0 and B.
    n_samples : array-like
        N.
    delta : array-like
        Probability that the bound fails.

    Returns
    -------
    float or ndarray
        The bound, in the shape that the arguments broadcast to.

    Notes
    -----
    The formula is as printed. It holds if all labels of a row have the same weight. If weights
    differ between labels it can fail (`counterexample`): the sum over labels may be constant, with
    complexity 0, while the weighted sum is not. With the complexities of the single labels, added
    up (``per_label`` of `rademacher_complexity`), it holds for all weights. `linear_bound` does
    not need that step. Row i of P may depend on sample i only, not on means over the sample.

    Examples
    --------
    >>> from inldl_paper.theory import rademacher_bound
    >>> rademacher_bound(0.2, 0.1, max_weight=1, n_labels=1, loss_bound=1,
    ...                  n_samples=[100, 10_000], delta=0.05).round(3)
    array([0.522, 0.412])
    """
    risk, complexity, weight, labels, loss, samples, delta = _checked(**locals())
    deviation = labels * loss * np.sqrt(np.log(1 / delta) / (2 * samples))
    return risk + weight * (2 * complexity + deviation)


def linear_bound(
    empirical_risk: Numbers,
    *,
    max_weight: Numbers,
    n_labels: Numbers,
    loss_bound: Numbers,
    lipschitz: Numbers,
    coef_norm: Numbers,
    max_row_norm: Numbers,
    n_samples: Numbers,
    delta: Numbers,
) -> Numbers:
    """Bound the expected risk of every linear function with a bounded matrix (theorem 2).

    ``R <= R_S + 2 sqrt(2) L B0 sqrt(C) max_i |x_i| |P| / sqrt(N)
    + 3 C B |P| sqrt(log(2/delta) / (2N))``.

    Parameters
    ----------
    empirical_risk, max_weight, n_labels, loss_bound, n_samples, delta : array-like
        R_S, ``|P|``, C, B, N and delta, as in `rademacher_bound`.
    lipschitz : array-like
        L, the Lipschitz constant of the loss; see the notes.
    coef_norm : array-like
        B0, the largest Frobenius norm of the matrix W in ``x -> W x``.
    max_row_norm : array-like
        Largest Euclidean norm of a row of X.

    Returns
    -------
    float or ndarray
        The bound, in the shape that the arguments broadcast to.

    Notes
    -----
    The formula is as printed. The paper states probability ``1 - delta/2``, but its terms belong
    to the usual argument (two events of probability ``delta/2`` each), which gives
    ``1 - delta``: rely on that. The paper also takes L from the loss of one degree, but the
    vector contraction it cites needs the constant of the loss summed over labels, with respect
    to the Euclidean norm, which can be ``sqrt(C)`` times as large: pass that to be safe.

    Examples
    --------
    >>> from inldl_paper.theory import linear_bound
    >>> linear_bound(0.1, max_weight=[1, 2, 4], n_labels=4, loss_bound=0.25, lipschitz=0.5,
    ...              coef_norm=1, max_row_norm=1, n_samples=10_000, delta=0.05).round(3)
    array([0.169, 0.238, 0.376])
    """
    risk, weight, labels, loss, slope, norm, row_norm, samples, delta = _checked(**locals())
    complexity = np.sqrt(2 * labels / samples) * slope * norm * row_norm
    deviation = 3 * labels * loss * np.sqrt(np.log(2 / delta) / (2 * samples))
    return risk + weight * (2 * complexity + deviation)


@dataclass(frozen=True)
class Complexity:
    """Estimates of the Rademacher complexity of a class of losses; errors are standard errors.

    Parameters
    ----------
    summed, summed_error : float
        Of the loss summed over labels: the complexity of definition 2.
    per_label, per_label_error : float
        The complexities of the single labels, added up. It is at least `summed`, and theorem 1
        holds with it whatever the weights are.
    """

    summed: float
    summed_error: float
    per_label: float
    per_label_error: float


def rademacher_complexity(losses: Numbers, *, n_draws=1000, random_state=None) -> Complexity:
    """Estimate the empirical Rademacher complexity of finitely many functions (definition 2).

    ``E max_f 1/N sum_i s_i l_i(f)``, with signs s_i that are 1 or -1 with equal chances.

    Parameters
    ----------
    losses : array-like of shape (n_functions, n_samples, n_labels)
        The loss of each degree under each function of the class, such as fits with several ridges.
    n_draws : int, default=1000
        How often signs are drawn.
    random_state : int, optional
        Seed of the signs.

    Examples
    --------
    >>> import numpy as np
    >>> from inldl_paper.theory import rademacher_complexity
    >>> u = np.random.default_rng(0).random((8, 50))
    >>> found = rademacher_complexity(np.stack([u, 1 - u], axis=2), random_state=0)
    >>> round(found.summed, 12), found.per_label > 0.1  # the two labels add up to 1
    (0.0, True)
    """
    losses = _number("losses", losses)
    if losses.ndim != 3 or not losses.size or not np.isfinite(losses).all():
        raise ValueError(
            f"losses has shape {losses.shape}: it needs finite numbers, one for each function, "
            "sample and label."
        )
    check_number("n_draws", n_draws, low=2, integer=True)
    rng, (_, N, C) = np.random.default_rng(random_state), losses.shape
    signs = rng.choice([-1.0, 1.0], size=(n_draws, N))
    # A loss that all functions share has expectation 0: without it the estimate varies less
    losses = losses - losses[:1]
    suprema = np.array([(signs @ losses[:, :, j].T).max(axis=1) for j in range(C)]) / N
    summed = (signs @ losses.sum(axis=2).T).max(axis=1) / N
    return Complexity(*_mean_and_error(summed), *_mean_and_error(suprema.sum(axis=0)))


def linear_complexity(
    X: Any, n_labels: int, *, coef_norm=1.0, n_draws=1000, random_state=None
) -> tuple[float, float]:
    """Estimate the complexity of linear maps of bounded Frobenius norm, and its standard error.

    ``E max_W 1/N sum_ij s_ij (W x_i)_j = B0/N E |sum_i x_i s_i'|_F``: the maximum has a closed
    form, and signs are drawn for the expectation. Times ``sqrt(2) L`` it bounds the complexity of
    a loss with Lipschitz constant L (the contraction behind theorem 2), which takes
    ``B0 sqrt(C / N) max_i |x_i|`` for it: never less, and more where rows differ in length.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    n_labels : int
        C.
    coef_norm : float, default=1.0
        B0, the largest Frobenius norm of W.
    n_draws : int, default=1000
        How often signs are drawn.
    random_state : int, optional
        Seed of the signs.

    Examples
    --------
    >>> import numpy as np
    >>> from inldl_paper.theory import linear_complexity
    >>> estimate, error = linear_complexity(np.eye(4), 9, random_state=0)
    >>> round(estimate, 12), round(error, 12)  # sqrt(4 * 9) / 4, whatever the signs
    (1.5, 0.0)
    """
    X = _number("X", X)
    if X.ndim != 2 or not X.size or not np.isfinite(X).all():
        raise ValueError(f"X has shape {X.shape}: it needs finite numbers, one row per sample.")
    check_number("n_labels", n_labels, low=1, integer=True)
    check_number("n_draws", n_draws, low=2, integer=True)
    check_number("coef_norm", coef_norm, low=0)
    rng, scale = np.random.default_rng(random_state), coef_norm / len(X)
    shape = (n_labels, len(X))
    sums = [np.linalg.norm(rng.choice([-1.0, 1.0], size=shape) @ X) for _ in range(n_draws)]
    return _mean_and_error(scale * np.array(sums))


def _mean_and_error(draws):
    return float(draws.mean()), float(draws.std(ddof=1) / np.sqrt(len(draws)))


@dataclass(frozen=True)
class Counterexample:
    """Losses for which theorem 1 fails as printed, and what the two statements give for them."""

    empirical_risk: float
    expected_risk: float
    printed_bound: float  # with the complexity of the loss summed over labels
    valid_bound: float  # with those of the single labels


def counterexample(n_samples=200, *, delta=0.05, random_state=None) -> Counterexample:
    """Return numbers for which theorem 1 fails as printed: two labels with different weights.

    The class has all u from rows to {0, 1}; the losses of a row are u and 1 - u, the weights 1 and
    0. The losses sum to 1 for every u, so that this sum has complexity 0; the u that is 0 on the
    sample and 1 elsewhere has weighted empirical risk 0 and expected risk 1. A label alone can fit
    all signs: its complexity is 1/2, that of both 1.

    Parameters
    ----------
    n_samples : int, default=200
        N.
    delta : float, default=0.05
        Probability that the bound may fail.
    random_state : int, optional
        Seed of the sample, rows with a continuous feature.

    Examples
    --------
    >>> from inldl_paper.theory import counterexample
    >>> found = counterexample()
    >>> found.printed_bound < found.expected_risk < found.valid_bound
    True
    """
    rng = np.random.default_rng(random_state)
    sample, fresh = rng.random(n_samples), rng.random(100 * n_samples)

    def risk(rows):
        u = (~np.isin(rows, sample)).astype(float)
        return weighted_empirical_risk(np.column_stack([u, 1 - u]), np.tile([1, 0], (len(u), 1)))

    known = {"max_weight": 1, "n_labels": 2, "loss_bound": 1, "delta": delta}
    empirical, expected = risk(sample), risk(fresh)
    printed, valid = (
        float(rademacher_bound(empirical, complexity, n_samples=n_samples, **known))
        for complexity in (0.0, 1.0)
    )
    return Counterexample(empirical, expected, printed, valid)


def _checked(**arguments):
    """Return the arguments as arrays, in order, after checking their ranges and shapes."""
    arrays = {name: _number(name, value) for name, value in arguments.items()}
    for name, array in arrays.items():
        words, allowed = _RANGES.get(name, _AT_LEAST_0)
        bad = array[~(np.isfinite(array) & allowed(array))]
        if bad.size:
            raise ValueError(f"{name} must be a finite number {words}, got {bad[0]:g}.")
    try:
        np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items() if a.ndim)
        raise ValueError(
            f"the arguments do not broadcast: {shapes}; give numbers, or arrays whose shapes "
            "numpy can broadcast together."
        ) from None
    return arrays.values()


def _number(name, value):
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be a number or an array of numbers, got {value!r}."
        ) from None
