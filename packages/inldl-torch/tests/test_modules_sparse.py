"""Few known labels of many: the same as the dense loss, in the memory of the known ones."""

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: make test-torch")

from inldl_torch import modules, partial_kl, partial_kl_sparse

NAN = float("nan")
DOUBLE = torch.float64


def drawn(n=40, n_labels=30, k=6, kind=DOUBLE):
    """Return logits, and known labels of which some are padded, as sparse and dense targets."""
    generator = torch.Generator().manual_seed(0)
    logits, scores = torch.randn(2, n, n_labels, generator=generator, dtype=DOUBLE)
    values, indices = scores.softmax(-1).topk(k)
    indices[torch.rand(n, k, generator=generator) < 0.3] = -1
    indices[0], values[1, 1] = -1, NAN
    dense = torch.full((n, n_labels), NAN, dtype=DOUBLE)
    for row, column, value in zip(range(n), indices, values, strict=True):
        dense[row, column[column >= 0]] = value[column >= 0]
    return logits.to(kind), indices, values.to(kind), dense.to(kind)


@pytest.mark.parametrize("block", [1, 100, 2**20])
def test_it_is_the_dense_loss_and_has_its_gradient(block, monkeypatch):
    monkeypatch.setattr(modules, "NUMBERS_AT_ONCE", block)
    logits, indices, values, dense = drawn()
    logits.requires_grad_()
    losses = (
        partial_kl_sparse(logits, indices, values, reduction="none"),
        partial_kl(logits.log_softmax(-1), dense, reduction="none"),
    )
    torch.testing.assert_close(*losses)
    assert losses[0][0] == 0
    torch.testing.assert_close(*(torch.autograd.grad(x.sum(), logits)[0] for x in losses))
    normalised = partial_kl_sparse(logits.log_softmax(-1), indices, values, reduction="none")
    torch.testing.assert_close(normalised, losses[0])


def test_gradients_are_finite_differences():
    logits, indices, values, _ = drawn(6, 8, 3)
    logits.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda z: partial_kl_sparse(z, indices, values, reduction="none"), logits
    )


def test_a_hundred_thousand_labels_of_which_twenty_are_known():
    """The loss of the teacher itself is 0, also where the top 20 are all but 1e-12 of it."""
    generator = torch.Generator().manual_seed(0)
    teacher = torch.randn(4, 100_000, generator=generator)
    teacher[:, :20] += torch.tensor([0.0, 10.0, 20.0, 40.0])[:, None]
    values, indices = teacher.double().softmax(-1).topk(20)
    assert 1 - values[3].sum() < 1e-10
    teacher.requires_grad_()
    loss = partial_kl_sparse(teacher, indices, values, reduction="none")
    assert (loss < 1e-5).all()
    assert (loss >= 0).all()
    student = torch.zeros(4, 100_000, requires_grad=True)
    loss = partial_kl_sparse(student, indices, values, reduction="none")
    rest = 1 - values.sum(-1)
    expected = torch.xlogy(values, values * 1e5).sum(-1) + torch.xlogy(rest, rest / (1 - 2e-4))
    torch.testing.assert_close(loss.double(), expected, rtol=1e-4, atol=1e-4)
    [gradient] = torch.autograd.grad(loss.sum(), student)
    assert gradient.isfinite().all()
    torch.testing.assert_close(
        gradient.double().sum(-1), torch.zeros(4, dtype=DOUBLE), atol=1e-4, rtol=0
    )


def test_a_rest_that_known_labels_leave_next_to_nothing_of_keeps_its_digits():
    """Of the prediction 1e-40 is left, which single precision cannot tell from 1 minus 1."""
    logits = torch.tensor([[0.0, -92.0, -93.0]])
    found = partial_kl_sparse(logits, torch.tensor([[0]]), torch.tensor([[0.9]]))
    log_rest = torch.logsumexp(torch.tensor([-92.0, -93.0]).double(), 0)
    expected = 0.9 * torch.log(torch.tensor(0.9)) + 0.1 * (torch.log(torch.tensor(0.1)) - log_rest)
    torch.testing.assert_close(found.double(), expected.double(), rtol=1e-5, atol=0)


def test_no_array_but_the_gradient_grows_with_the_labels(monkeypatch):
    """Autograd keeps the logits, which are there anyway, and arrays of the known labels."""
    monkeypatch.setattr(modules, "NUMBERS_AT_ONCE", 1)
    n, n_labels, k = 16, 5000, 4
    kept = []
    logits = torch.randn(n, n_labels, requires_grad=True)
    values, indices = torch.rand(n, n_labels).softmax(-1).topk(k)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        loss = partial_kl_sparse(logits, indices, values)
    large = [t for t in kept if t.numel() > n * k]
    assert [t.data_ptr() for t in large] == [logits.data_ptr()]
    sizes = allocated(loss.backward)
    assert sum(size > n * n_labels * 2 for size in sizes) == 1  # the gradient
    sizes = allocated(lambda: partial_kl_sparse(logits, indices, values))
    assert max(sizes) <= n_labels * 4 * 2  # of a block of one row


def allocated(function):
    """Return the sizes in bytes of what a function allocates."""
    with torch.profiler.profile(profile_memory=True) as profile:
        function()
    return [e.self_cpu_memory_usage for e in profile.events() if e.self_cpu_memory_usage > 0]


def test_all_labels_may_be_known():
    logits, indices = torch.randn(5, 4), torch.arange(4).repeat(5, 1)
    values = torch.randn(5, 4).softmax(-1)
    torch.testing.assert_close(
        partial_kl_sparse(logits, indices, values), partial_kl(logits.log_softmax(-1), values)
    )


def test_dimensions_weights_and_half_precision():
    logits, indices, values, dense = drawn(kind=torch.float32)
    weight = torch.arange(40.0)
    torch.testing.assert_close(
        partial_kl_sparse(logits.view(4, 10, 30), indices.view(4, 10, 6), values.view(4, 10, 6),
                          weight.view(4, 10), "mean"),
        partial_kl(logits.log_softmax(-1), dense, None, weight, "mean"),
    )  # fmt: skip
    half = logits.bfloat16().requires_grad_()
    loss = partial_kl_sparse(half, indices, values)
    torch.testing.assert_close(
        loss, partial_kl_sparse(half.float(), indices, values), rtol=1e-5, atol=0
    )
    loss.backward()
    assert half.grad.dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("values", "expected"), [([0.8, 0.8], True), ([-0.5, 0.8], True), ([0.5, 0.4], False)]
)
def test_what_is_no_part_of_a_distribution_is_nan(values, expected):
    found = partial_kl_sparse(torch.zeros(1, 9), torch.tensor([[1, 2]]), torch.tensor([values]))
    assert bool(found.isnan()) is expected


def test_what_is_refused():
    with pytest.raises(ValueError, match="an index for each value"):
        partial_kl_sparse(torch.zeros(2, 9), torch.zeros(2, 3, dtype=int), torch.zeros(2, 4))
