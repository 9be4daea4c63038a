"""The bounds against numbers worked out by hand, the classical bound, and simulated samples."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inldl_paper.theory import (
    counterexample,
    linear_bound,
    linear_complexity,
    rademacher_bound,
    rademacher_complexity,
    weighted_empirical_risk,
)

THEOREM_1 = {
    "empirical_risk": 0.2,
    "rademacher_complexity": 0.1,
    "max_weight": 3.0,
    "n_labels": 2,
    "loss_bound": 0.5,
    "n_samples": 4,
    "delta": math.exp(-2),
}
THEOREM_2 = {
    "empirical_risk": 0.5,
    "max_weight": 3.0,
    "n_labels": 4,
    "loss_bound": 0.25,
    "lipschitz": 2.0,
    "coef_norm": 0.5,
    "max_row_norm": 5.0,
    "n_samples": 8,
    "delta": 2 * math.exp(-4),
}
BOUNDS = [(rademacher_bound, THEOREM_1), (linear_bound, THEOREM_2)]
both = pytest.mark.parametrize(("bound", "arguments"), BOUNDS)


def test_theorem_1_by_hand():
    # 0.2 + 2*3*0.1 + 2*0.5*3*sqrt(2/8)
    assert rademacher_bound(**THEOREM_1) == pytest.approx(0.2 + 0.6 + 1.5, rel=1e-14)


def test_theorem_2_by_hand():
    # sqrt(2)*sqrt(4)/sqrt(8) = 1, so 2*(L=2)*(B0=0.5)*5*3 = 30; 3*4*0.25*3*sqrt(4/16) = 4.5
    assert linear_bound(**THEOREM_2) == pytest.approx(0.5 + 30 + 4.5, rel=1e-14)


def test_weighted_risk_by_hand():
    # (1*1 + 2*3 + 0*9 + 0.5*4) / 2 rows
    assert weighted_empirical_risk([[1, 3], [9, 4]], [[1, 2], [0, 0.5]]) == 4.5


unit = st.floats(0, 1)
failure = st.floats(1e-6, 0.999)


@given(
    risk=unit, complexity=unit, loss=st.floats(0.01, 10), n=st.integers(1, 10**6), delta=failure
)
def test_one_label_without_weights_is_the_classical_bound(risk, complexity, loss, n, delta):
    classical = risk + 2 * complexity + loss * math.sqrt(-math.log(delta) / n) / math.sqrt(2)
    ours = rademacher_bound(
        risk, complexity, max_weight=1, n_labels=1, loss_bound=loss, n_samples=n, delta=delta
    )
    assert ours == pytest.approx(classical, rel=1e-12)


@both
@given(n=st.integers(1, 10**6), weight=st.floats(0.01, 10), delta=failure)
def test_the_bound_moves_as_it_should(bound, arguments, n, weight, delta):
    start = {**arguments, "n_samples": n, "max_weight": weight, "delta": delta}
    value = bound(**start)
    assert value > start["empirical_risk"]
    assert bound(**{**start, "n_samples": n + 1}) < value
    assert bound(**{**start, "delta": delta + 1e-4}) < value
    assert bound(**{**start, "max_weight": 1.01 * weight}) > value
    excess = value - start["empirical_risk"]
    doubled = bound(**{**start, "max_weight": 2 * weight}) - start["empirical_risk"]
    assert doubled == pytest.approx(2 * excess, rel=1e-9)


@both
def test_one_call_gives_a_surface(bound, arguments):
    n, weight = np.array([10, 100, 1000]), np.array([[1.0], [4.0]])
    surface = bound(**{**arguments, "n_samples": n, "max_weight": weight})
    assert surface.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        one = bound(**{**arguments, "n_samples": n[j], "max_weight": weight[i, 0]})
        assert surface[i, j] == pytest.approx(one, rel=1e-14)


# --- samples drawn where the expected risk is known --------------------------------------------

DRAWS = 2000


def test_the_deviation_of_theorem_1_is_needed_and_nearly_as_small_as_can_be():
    # One function, so the complexity is 0. Each of 3 labels has loss 0 or 2, all together, and
    # weight 1.5: the row losses are 0 or 9, with expected risk 4.5.
    rng, n, delta = np.random.default_rng(0), 50, 0.1
    risks = 9 * rng.binomial(n, 0.5, size=DRAWS) / n
    excess = (
        rademacher_bound(
            risks, 0, max_weight=1.5, n_labels=3, loss_bound=2, n_samples=n, delta=delta
        )
        - risks
    )
    assert np.mean(risks + excess < 4.5) <= delta
    assert np.mean(risks + excess / 2 < 4.5) > delta


class LinearProblem:
    """A population of 12 rows with the loss (1 + (1 - 2d) u)/2 of a prediction u = w x.

    |u| <= 1 because |x| = 1 and |W| <= 1, so the loss lies in [0, 1]; its slope is at most 1/2.
    It is linear in W: the function whose risk a sample understates most has a closed form.
    """

    def __init__(self, n_labels, weights, seed=0):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(12, 8))
        self.X = X / np.linalg.norm(X, axis=1, keepdims=True)
        self.sign = rng.choice([-1.0, 1.0], size=(12, n_labels))  # 1 - 2d of the degrees 0 and 1
        self.weights = weights(rng, (12, n_labels))

    def risk(self, rows, W):
        losses = (1 + self.sign * (self.X @ W.T)) / 2
        return weighted_empirical_risk(losses[rows], self.weights[rows])

    def slope(self, rows):
        return np.einsum("ij,ik->jk", (self.weights * self.sign)[rows], self.X[rows]) / len(rows)

    def draw(self, rng, n):
        """Draw a sample; give the expected and the empirical risk of its worst function."""
        rows, population = rng.integers(12, size=n), np.arange(12)
        gap = self.slope(population) - self.slope(rows)
        W = gap / np.linalg.norm(gap)
        return self.risk(population, W), self.risk(rows, W)

    def complexity(self, rng, n):
        """Estimate Rad_N of the loss without weights; the supremum over W has a closed form."""
        rows, sigma = rng.integers(12, size=(DRAWS, n)), rng.choice([-1, 1], size=(DRAWS, n))
        sums = np.einsum("si,sij,sik->sjk", sigma, self.sign[rows], self.X[rows])
        return np.linalg.norm(sums, axis=(1, 2)).mean() / (2 * n)


def test_theorem_1_covers_the_worst_linear_function_and_needs_the_complexity():
    problem = LinearProblem(1, lambda rng, shape: rng.uniform(0.9, 1, size=shape))
    rng, n, delta = np.random.default_rng(1), 50, 0.9
    expected, empirical = np.transpose([problem.draw(rng, n) for _ in range(DRAWS)])
    known = {
        "max_weight": problem.weights.max(),
        "n_labels": 1,
        "loss_bound": 1,
        "n_samples": n,
        "delta": delta,
    }
    bounds = rademacher_bound(empirical, problem.complexity(rng, n), **known)
    without = rademacher_bound(empirical, 0, **known)
    assert np.mean(expected > bounds) <= delta
    assert np.mean(expected > without) > delta


def test_theorem_2_covers_the_worst_linear_function_under_weights_per_degree():
    problem = LinearProblem(3, lambda rng, shape: rng.choice([1.0, 4.0], size=shape))
    rng, n, delta = np.random.default_rng(2), 50, 0.05
    expected, empirical = np.transpose([problem.draw(rng, n) for _ in range(DRAWS)])
    bounds = linear_bound(
        empirical,
        max_weight=4,
        n_labels=3,
        loss_bound=1,
        lipschitz=math.sqrt(3) / 2,
        coef_norm=1,
        max_row_norm=1,
        n_samples=n,
        delta=delta,
    )
    assert np.mean(expected > bounds) <= delta
    assert np.mean(expected > empirical) > delta


@pytest.mark.parametrize("n", [60, 500])
def test_theorem_1_fails_as_printed_and_holds_with_the_complexities_of_labels(n):
    found = counterexample(n, random_state=3)
    assert found.empirical_risk == 0
    assert found.expected_risk == 1
    assert found.printed_bound == pytest.approx(math.sqrt(2 * math.log(20) / n))
    assert found.printed_bound < 1 < found.valid_bound


def test_theorem_1_with_complexities_of_labels_covers_the_worst_function():
    """Eight functions of two labels with weights 4 and 1, on a population of 400 rows."""
    rng, n, delta = np.random.default_rng(5), 50, 0.05
    u = (rng.random((8, 400)) < 0.5).astype(float)
    losses, weights = np.stack([u, 1 - u], axis=2), np.tile([4.0, 1.0], (n, 1))
    true = (losses * weights[0]).sum(axis=2).mean(axis=1)
    gaps, room = [], []
    for _ in range(200):
        rows = rng.integers(400, size=n)
        risks = np.array([weighted_empirical_risk(each[rows], weights) for each in losses])
        found = rademacher_complexity(losses[:, rows], n_draws=50, random_state=0)
        known = {"max_weight": 4, "n_labels": 2, "loss_bound": 1, "n_samples": n, "delta": delta}
        room.append(rademacher_bound(0, found.per_label, **known))
        gaps.append((true - risks).max())
    assert np.mean(np.array(gaps) > room) <= delta


def test_complexity_of_few_functions_by_all_signs():
    losses = np.random.default_rng(0).random((3, 6, 2))
    signs = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1).T
    exact = (signs @ losses.sum(axis=2).T).max(axis=1).mean() / 6
    per_label = sum((signs @ losses[:, :, j].T).max(axis=1).mean() for j in range(2)) / 6
    found = rademacher_complexity(losses, n_draws=20_000, random_state=1)
    assert found.summed == pytest.approx(exact, abs=4 * found.summed_error)
    assert found.per_label == pytest.approx(per_label, abs=4 * found.per_label_error)
    assert found.summed_error < 0.002


def test_linear_complexity_is_that_of_the_best_of_many_maps():
    """From below by random maps on the sphere, and from above by the term of theorem 2."""
    X = np.random.default_rng(0).normal(size=(5, 2))
    estimate, error = linear_complexity(X, 1, coef_norm=3, n_draws=4000, random_state=0)
    angles = np.linspace(0, 2 * np.pi, 721)
    maps = 3 * np.stack([np.cos(angles), np.sin(angles)])
    signs = np.array(np.meshgrid(*[[-1, 1]] * 5)).reshape(5, -1).T
    exact = (signs @ X @ maps).max(axis=1).mean() / 5
    assert estimate == pytest.approx(exact, abs=4 * error + 1e-4)
    assert estimate < 3 * np.linalg.norm(X, axis=1).max() / math.sqrt(5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rademacher_complexity([[1.0]]), "one for each function, sample and label"),
        (lambda: rademacher_complexity(np.zeros((2, 3, 1)), n_draws=1), "n_draws"),
        (lambda: linear_complexity([1.0, 2.0], 2), "one row per sample"),
        (lambda: linear_complexity(np.eye(2), 0), "n_labels"),
    ],
)
def test_complexities_refuse(call, words):
    with pytest.raises(ValueError, match=words):
        call()


# --- what is refused ---------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("delta", 0, "delta must be a finite number between 0 and 1, both excluded, got 0."),
        ("delta", 1.0, "delta must be a finite number between 0 and 1, both excluded, got 1."),
        ("n_samples", [5, 0], "n_samples must be a finite number at least 1, got 0."),
        ("n_labels", 0, "n_labels must be a finite number at least 1, got 0."),
        ("loss_bound", 0, "loss_bound must be a finite number greater than 0, got 0."),
        ("max_weight", -1, "max_weight must be a finite number at least 0, got -1."),
        ("empirical_risk", np.nan, "empirical_risk must be a finite number at least 0, got nan."),
        ("delta", "small", "delta must be a number or an array of numbers, got 'small'."),
    ],
)
def test_an_argument_out_of_range_is_named(bound, arguments, name, value, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        bound(**{**arguments, name: value})


@both
def test_shapes_that_do_not_fit_are_named(bound, arguments):
    words = r"do not broadcast: max_weight \(2,\), n_samples \(3,\);"
    with pytest.raises(ValueError, match=words):
        bound(**{**arguments, "n_samples": [1, 2, 3], "max_weight": [1, 2]})


@pytest.mark.parametrize(
    ("losses", "weights", "words"),
    [
        ([1, 2], [1, 2], "losses has shape (2,) and weights has shape (2,): both need one row"),
        (
            [[1, 2]],
            [[1]],
            "losses has shape (1, 2) and weights has shape (1, 1): both need one row",
        ),
        (np.empty((0, 2)), np.empty((0, 2)), "losses has shape (0, 2)"),
        ([[1, 2], [np.nan, 1]], np.ones((2, 2)), "the loss in row 1, column 0 is not finite"),
        (
            [[1, 2]],
            [[1, -1]],
            "the weight in row 0, column 1 must be a finite number of at least 0",
        ),
        ([["a", 2]], [[1, 1]], "losses must be a number or an array of numbers"),
    ],
)
def test_losses_and_weights_that_make_no_sense_are_refused(losses, weights, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        weighted_empirical_risk(losses, weights)
