"""The paper's weights as a loss, and two ways onto the simplex."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: make test-torch")

from inldl import WInLDL, hide
from inldl.datasets import make_distributions
from inldl.solvers.gaussian import projected
from inldl.weighting import SCHEMES
from inldl_torch import DistributionHead, WeightedPartialLoss, partial_kl, project_simplex

NAN = float("nan")
D = np.array([[0.2, NAN, 0.5], [0.1, 0.6, 0.3], [NAN, NAN, 0.4]])
P = np.array([[0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.6, 0.2, 0.2]])


@pytest.mark.parametrize("missing", ["impute", "zero"])
@pytest.mark.parametrize("epoch", [1, 4, 10])
def test_the_loss_is_equation_5_with_the_weights_of_equation_8(missing, epoch):
    means = np.nan_to_num(D).mean(axis=0)
    Q = np.where(np.isnan(D), (1 + epoch / 10) ** (1 - means), 2 ** (1 - D))
    completed = np.array([[0.2, 0.3, 0.5], [0.1, 0.6, 0.3], [0.6 * 0.75, 0.6 * 0.25, 0.4]])
    target = np.nan_to_num(D) if missing == "zero" else completed
    expected = (Q**2 * (P - target) ** 2).sum(axis=1) / 2
    loss = WeightedPartialLoss(D, n_epochs=10, missing=missing)
    for _ in range(epoch - 1):
        loss.step()
    given = torch.tensor(P), torch.tensor(D)
    np.testing.assert_allclose(loss(*given, reduction="none"), expected)
    np.testing.assert_allclose(loss(*given), expected.mean())
    weight = torch.tensor([1.0, 0.0, 3.0])
    np.testing.assert_allclose(loss(*given, weight), (expected[0] + 3 * expected[2]) / 4)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_any_scheme_may_weigh(scheme):
    loss = WeightedPartialLoss(torch.tensor(D), n_epochs=2, weighting=scheme)
    probs = torch.tensor(P, requires_grad=True)
    loss(probs, torch.tensor(D)).backward()
    assert probs.grad.isfinite().all()


def test_the_epoch_is_saved_and_does_not_pass_the_last():
    loss = WeightedPartialLoss(D, n_epochs=3)
    for _ in range(9):
        loss.step()
    assert loss.state_dict()["epoch"] == 3
    again = WeightedPartialLoss(D, n_epochs=3)
    again.load_state_dict(loss.state_dict())
    given = torch.tensor(P), torch.tensor(D)
    assert again(*given) == loss(*given)


def test_a_linear_network_with_it_comes_to_the_distributions_of_winldl():
    """Rows on the simplex, known degrees weighted alike: the same problem, by gradients."""
    X, y = make_distributions(200, random_state=0)
    y = hide(y, 0.4, random_state=0)
    features, target = torch.tensor(np.column_stack([X, np.ones(200)])), torch.tensor(y)
    coef = torch.zeros(features.shape[1], 3, dtype=torch.float64, requires_grad=True)
    loss = WeightedPartialLoss(y, n_epochs=60, weighting="uniform")
    optimizer = torch.optim.LBFGS([coef], max_iter=20)

    def closure():
        optimizer.zero_grad()
        found = loss(project_simplex(features @ coef), target)
        found.backward()
        return found

    for _ in range(10):
        optimizer.step(closure)
    ours = WInLDL(weighting="uniform", max_iter=500, tol=1e-7).fit(X, y).predict(X)
    found = project_simplex(features @ coef).detach().numpy()
    assert np.abs(found - ours).mean() < 0.01


def test_the_projection_is_the_nearest_distribution():
    scores = torch.randn(200, 7, dtype=torch.float64, generator=torch.manual_seed(0)) * 2
    np.testing.assert_allclose(project_simplex(scores), projected(scores.numpy()), atol=1e-12)
    scores = scores[:5].requires_grad_()
    assert torch.autograd.gradcheck(project_simplex, scores)


def test_the_head_gives_distributions_that_the_loss_takes():
    head = DistributionHead(4, 3)
    log_probs = head(torch.randn(5, 4))
    torch.testing.assert_close(log_probs.exp().sum(-1), torch.ones(5))
    partial_kl(log_probs, torch.full((5, 3), 1 / 3)).backward()
    assert head.linear.weight.grad.abs().sum() > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"missing": "mean"}, "missing must be one of 'impute', 'zero'"),
        ({"n_epochs": 0}, "n_epochs must be an integer at least 1"),
        ({"weighting": "none"}, "weighting must be one of"),
    ],
)
def test_what_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        WeightedPartialLoss(**{"target": D, "n_epochs": 2} | change)
