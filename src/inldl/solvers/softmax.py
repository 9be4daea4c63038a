"""The softmax of linear scores, and how a gradient passes back through it.

Here logits, distributions and gradients are rows x labels, and W is features x labels.
"""

import numpy as np

Array = np.ndarray


def log_softmax(logits: Array) -> Array:
    """Return log P, shifted by the row maximum so that nothing overflows."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def softmax(logits: Array) -> Array:
    """Return P, rows that are positive and sum to 1."""
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    return P


def through_softmax(P: Array, G: Array) -> Array:
    """Return the gradient with respect to the logits from G, the one with respect to P."""
    return P * (G - (G * P).sum(axis=1, keepdims=True))


def zero_filled(y: Array) -> tuple[Array, Array]:
    """Return the degrees with 0 where unobserved, and which are observed."""
    observed = ~np.isnan(y)
    return np.where(observed, y, 0), observed
