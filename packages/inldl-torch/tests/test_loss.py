"""The divergence from what is known: against `kl_div`, a solver, and finite differences."""

import numpy as np
import pytest
from scipy.optimize import minimize

torch = pytest.importorskip("torch", reason="needs PyTorch: make test-torch")

from inldl_torch import partial_kl

NAN, INF = float("nan"), float("inf")
DOUBLE = torch.float64


def drawn(n, n_labels, seed=0, kind=DOUBLE, hidden=0.5):
    """Return logits, distributions, and the same distributions with holes."""
    generator = torch.Generator().manual_seed(seed)
    logits, scores = torch.randn(2, n, n_labels, generator=generator, dtype=DOUBLE)
    whole = (2 * scores).softmax(-1)
    holes = torch.rand(n, n_labels, generator=generator) < hidden
    return logits.to(kind), whole.to(kind), torch.where(holes, NAN, whole).to(kind)


def plain(log_probs, target):
    """Return the losses of rows in NumPy, one by one and cell by cell."""
    found = []
    for log_p, t in zip(log_probs.double().numpy(), target.double().numpy(), strict=True):
        known = ~np.isnan(t)
        loss = sum(a * (np.log(a) - b) for a, b in zip(t[known], log_p[known], strict=True) if a)
        rest = 1 - t[known].sum()
        if known.any() and not known.all() and rest > 1e-12:
            loss += rest * (np.log(rest) - np.logaddexp.reduce(log_p[~known]))
        found.append(loss)
    return torch.tensor(found)


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides:UserWarning")
@pytest.mark.parametrize("kind", [torch.float32, DOUBLE])
@pytest.mark.parametrize("reduction", ["batchmean", "sum", "mean"])
@pytest.mark.parametrize("n", [300, 600])
def test_without_holes_it_is_kl_div(kind, reduction, n):
    """Few cells are given to `kl_div` itself, many are not."""
    logits, whole, _ = drawn(n, 20, kind=kind)
    logits.requires_grad_()
    losses = (
        partial_kl(logits.log_softmax(-1), whole, reduction=reduction),
        torch.nn.functional.kl_div(logits.log_softmax(-1), whole, reduction=reduction),
    )
    torch.testing.assert_close(*losses, rtol=1e-6, atol=0)
    torch.testing.assert_close(*(torch.autograd.grad(each, logits)[0] for each in losses))


@pytest.mark.parametrize("hidden", [0.0, 0.3, 0.9])
def test_with_holes_it_is_the_formula(hidden):
    logits, _, target = drawn(200, 6, hidden=hidden)
    log_probs = logits.log_softmax(-1)
    found = partial_kl(log_probs, target, reduction="none")
    torch.testing.assert_close(found, plain(log_probs, target), atol=1e-12, rtol=1e-9)


def test_it_is_never_negative_and_zero_exactly_where_the_prediction_agrees():
    """A hundred thousand rows, also such as agree but for rounding."""
    logits, whole, target = drawn(100_000, 5, kind=torch.float32)
    agreeing = (target.isnan() * logits.exp()).double()
    rest = (1 - target.double().nansum(-1, keepdim=True)).clamp_min(0)
    agreeing = torch.where(
        target.isnan(), rest * agreeing / agreeing.sum(-1, keepdim=True), target.double()
    )
    for log_probs in (logits.log_softmax(-1), whole.log(), agreeing.float().log()):
        assert (partial_kl(log_probs, target, reduction="none") >= 0).all()
    assert partial_kl(agreeing.float().log(), target, reduction="none").max() < 1e-6
    gaps = torch.where(target.isnan(), 0, logits.softmax(-1) - target).abs().amax(-1)
    far = gaps > 1e-3
    assert far.sum() > 90_000
    # Pinsker: half of the squared distance is a lower bound
    found = partial_kl(logits.log_softmax(-1), target, reduction="none")
    assert (found[far] >= gaps[far] ** 2 / 2).all()


@pytest.mark.parametrize("hidden", [0.0, 0.5])
def test_gradients_are_finite_differences(hidden):
    logits, _, target = drawn(8, 5, hidden=hidden)
    if hidden:
        target[0], target[1, :2] = NAN, 0
    logits.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda z: partial_kl(z.log_softmax(-1), target, reduction="none"), logits
    )


def test_rows_with_nothing_known_count_but_say_nothing():
    log_probs = torch.randn(2, 3).log_softmax(-1).requires_grad_()
    target = torch.tensor([[NAN] * 3, [0.2, NAN, NAN]])
    rows = partial_kl(log_probs, target, reduction="none")
    assert rows[0] == 0
    assert partial_kl(log_probs, target) == rows[1] / 2
    [gradient] = torch.autograd.grad(rows.sum(), log_probs)
    assert (gradient[0] == 0).all()


@pytest.mark.parametrize(
    "rows", [[0], [0, 1, 2], [0, 1, 2, 3], [0, 4], [4, 5, 6], [0, 1, 2, 3, 7]]
)
def test_rows_of_all_kinds_are_as_if_alone(rows):
    """Holes, nothing known, only zeros known, all known and rounded, unlikely, and impossible."""
    target = torch.tensor(
        [
            [0.2, NAN, 0.3, NAN],
            [NAN] * 4,
            [0, NAN, NAN, 0],
            [0.333333, 0.333333, 0.333333, 0],
            [0.4, NAN, 0.2, NAN],
            [0.5, 0.499996, NAN, NAN],
            [0.3, 0.7, NAN, NAN],
            [0.2, 0.2, 0.2, 0.2],
        ],
        dtype=DOUBLE,
    )
    logits = torch.randn(8, 4, dtype=DOUBLE, generator=torch.Generator().manual_seed(1))
    logits[4:7, 2:] -= 1000
    logits.requires_grad_()
    together = partial_kl(logits[rows].log_softmax(-1), target[rows], reduction="none")
    alone = torch.cat(
        [partial_kl(logits[[i]].log_softmax(-1), target[[i]], reduction="none") for i in rows]
    )
    torch.testing.assert_close(together, alone, equal_nan=True)
    expected = plain(logits.detach().log_softmax(-1), target)
    expected[7] = NAN
    torch.testing.assert_close(together.detach(), expected[rows], equal_nan=True)
    gradients = [torch.autograd.grad(each.sum(), logits)[0] for each in (together, alone)]
    torch.testing.assert_close(*gradients, equal_nan=True)


@pytest.mark.parametrize("low", [-50.0, -500.0])
def test_a_tiny_rest_is_not_lost_to_rounding(low):
    """In single precision 1 minus what is known would be 0 here."""
    log_probs = torch.tensor([[0.0, low, low]])
    target = torch.tensor([[0.5, NAN, NAN]])
    expected = np.log(0.5) - 0.5 * (low + np.log(2))
    assert float(partial_kl(log_probs, target)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("target", "probs", "expected"),
    [
        ([0.0, 0.4, 0.6], [0.0, 0.4, 0.6], 0),
        ([0.0, NAN, NAN], [0.0, 0.4, 0.6], 0),
        ([0.5, 0.5, NAN], [0.5, 0.5, 0.0], 0),
        ([0.5, NAN, 0.5], [0.25, 0.5, 0.25], np.log(2)),
        ([0.1, 0.9, 0.0], [0.0, 0.5, 0.5], INF),
        ([0.5, NAN, NAN], [1.0, 0.0, 0.0], INF),
        ([0.6, 0.6, NAN], [0.5, 0.3, 0.2], NAN),
        ([0.6, 0.3, 0.2], [0.5, 0.3, 0.2], NAN),
        ([0.3, 0.3, 0.2], [0.5, 0.3, 0.2], NAN),
        ([-0.1, 0.3, NAN], [0.5, 0.3, 0.2], NAN),
        ([0.3, 0.3, NAN], [0.5, NAN, 0.2], NAN),
    ],
)
@pytest.mark.parametrize("beside", [[0.2, 0.3, 0.5], [0.2, NAN, NAN]])
def test_zeros_infinities_and_what_is_no_distribution(target, probs, expected, beside):
    """What one row is does not change the loss of another."""
    target = torch.tensor([target, beside])
    log_probs = torch.tensor([probs, [0.1, 0.2, 0.7]]).log()
    found = partial_kl(log_probs, target, reduction="none")
    assert float(found[0]) == pytest.approx(expected, abs=1e-6, nan_ok=True)
    assert float(found[1]) == pytest.approx(float(plain(log_probs[1:], target[1:])), rel=1e-5)


def test_rounded_rows_are_taken():
    target = torch.tensor([[0.333, 0.333, 0.333], [0.5001, 0.5001, NAN]])
    assert partial_kl(torch.full((2, 3), 1 / 3).log(), target).isfinite()


def test_weights_count_rows():
    logits, _, target = drawn(6, 4)
    log_probs, weight = logits.log_softmax(-1), torch.tensor([2, 1, 0, 3, 1, 1])
    rows = torch.arange(6).repeat_interleave(weight)
    log_probs[2] = NAN
    for reduction in ("batchmean", "sum", "mean"):
        torch.testing.assert_close(
            partial_kl(log_probs, target, weight=weight, reduction=reduction),
            partial_kl(log_probs[rows], target[rows], reduction=reduction),
        )
    each = partial_kl(log_probs, target, weight=weight, reduction="none")
    assert each.shape == (6,)
    assert each[2] == 0


def test_rows_may_have_more_dimensions_and_half_precision():
    logits, _, target = drawn(12, 4, kind=torch.float32)
    flat = partial_kl(logits.log_softmax(-1), target)
    shaped = partial_kl(logits.log_softmax(-1).view(3, 4, 4), target.view(3, 4, 4))
    torch.testing.assert_close(shaped, flat)
    half = partial_kl(logits.log_softmax(-1).bfloat16(), target.bfloat16())
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, flat, rtol=0.05, atol=0.02)
    assert partial_kl(torch.zeros(0, 3), torch.zeros(0, 3), reduction="sum") == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"target": torch.zeros(2, 4)}, "target has the shape"),
        ({"reduction": "max"}, "reduction must be one of"),
        ({"weight": torch.ones(2, 3)}, "weight has the shape"),
        ({"target": torch.zeros(2, 3, requires_grad=True)}, "detach"),
    ],
)
def test_what_is_refused(change, words):
    given = {"log_probs": torch.zeros(2, 3), "target": torch.zeros(2, 3)} | change
    with pytest.raises(ValueError, match=words):
        partial_kl(**given)


def least(log_p, low, high):
    """Return the least divergence within bounds by a general solver."""

    def divergence(t):
        return float(np.sum(t * (np.log(np.maximum(t, 1e-300)) - log_p)))

    start = low + (high - low) * (1 - low.sum()) / (high - low).sum()
    found = minimize(
        divergence,
        start,
        bounds=list(zip(low, high, strict=True)),
        constraints={"type": "eq", "fun": lambda t: t.sum() - 1},
        options={"maxiter": 500, "ftol": 1e-14},
    )
    return found.fun


def test_with_bounds_it_is_the_least_divergence_within_them():
    logits, whole, target = drawn(12, 5, seed=3)
    target[0] = NAN
    lower, upper = 0.7 * whole, (1.3 * whole).clamp_max(1)
    lower[3:6], upper[6:9] = NAN, NAN
    log_probs = logits.log_softmax(-1)
    found = partial_kl(log_probs, target, bounds=(lower, upper), reduction="none")
    known = ~target.isnan()
    low = torch.where(known, target, lower.nan_to_num(nan=0.0)).numpy()
    high = torch.where(known, target, upper.nan_to_num(nan=1.0)).numpy()
    expected = [least(*each) for each in zip(log_probs.numpy(), low, high, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert (found >= partial_kl(log_probs, target, reduction="none") - 1e-12).all()


def test_bounds_that_say_nothing_change_nothing():
    logits, _, target = drawn(100, 6)
    log_probs = logits.log_softmax(-1)
    plain = partial_kl(log_probs, target, reduction="none")
    for bounds in [(None, None), (0.0, 1.0), (torch.full((100, 6), NAN), None)]:
        found = partial_kl(log_probs, target, bounds=bounds, reduction="none")
        torch.testing.assert_close(found, plain, atol=1e-12, rtol=1e-9)


def test_within_bounds_it_is_zero_exactly_where_the_prediction_agrees():
    logits, whole, target = drawn(1000, 5, kind=torch.float32)
    bounds = 0.9 * whole, 1.1 * whole
    assert partial_kl(whole.log(), target, bounds=bounds, reduction="none").max() < 1e-6
    p = logits.softmax(-1)
    off = torch.maximum(bounds[0] - p, p - bounds[1])
    off = torch.where(target.isnan(), off, (p - target).abs()).amax(-1)
    found = partial_kl(p.log(), target, bounds=bounds, reduction="none")
    assert (found[off > 1e-3] >= off[off > 1e-3] ** 2 / 2).all()
    assert (found >= 0).all()


def test_gradients_within_bounds_are_finite_differences():
    logits, whole, target = drawn(6, 5, seed=2)
    target[0] = NAN
    bounds = 0.8 * whole, 1.2 * whole
    logits.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda z: partial_kl(z.log_softmax(-1), target, bounds, reduction="none"), logits
    )


@pytest.mark.parametrize(
    ("target", "probs", "bounds", "expected"),
    [
        ([0.5, NAN, NAN], [0.5, 0.3, 0.2], (None, 0.1), NAN),
        ([0.5, NAN, NAN], [0.5, 0.3, 0.2], (0.3, None), NAN),
        ([0.5, NAN, NAN], [0.5, 0.3, 0.2], (0.4, 0.3), NAN),
        ([0.5, NAN, NAN], [0.5, 0.3, 0.2], (0.25, 0.25), 0.5 * np.log(0.25) - 0.25 * np.log(0.06)),
        ([0.5, NAN, NAN], [0.5, 0.5, 0.0], (None, 0.4), INF),
        ([0.5, NAN, NAN], [0.5, 0.5, 0.0], (0.1, None), INF),
        ([0.5, NAN, NAN], [0.5, 0.5, 0.0], (None, 0.5), 0),
        ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5], (0.9, 0.1), 0),
        ([NAN, NAN, NAN], [0.2, 0.3, 0.5], (None, None), 0),
        ([0.6, 0.6, NAN], [0.2, 0.3, 0.5], (None, 0.5), NAN),
    ],
)
def test_edges_of_bounds(target, probs, bounds, expected):
    log_probs, target = torch.tensor([probs]).log(), torch.tensor([target])
    found = float(partial_kl(log_probs, target, bounds=bounds))
    assert found == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_bounds_where_probabilities_differ_by_hundreds_of_orders():
    log_probs = torch.tensor([[0.0, -300.0, -600.0]], dtype=DOUBLE)
    target = torch.tensor([[NAN, NAN, NAN]], dtype=DOUBLE)
    upper = torch.tensor([0.5, 0.3, 1.0], dtype=DOUBLE)
    t = np.array([0.5, 0.3, 0.2])
    expected = t @ (np.log(t) - log_probs[0].numpy())
    assert float(partial_kl(log_probs, target, (None, upper))) == pytest.approx(expected)
