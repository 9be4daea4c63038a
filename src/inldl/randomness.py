"""Seeds, generators and hashes: the one meaning of `random_state`."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def seed_from(random_state: Any) -> int:
    """Return an integer seed from an int, a RandomState, a Generator or None."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(check_random_state(random_state).randint(2**31 - 1))


def generator_from(random_state: Any) -> np.random.Generator:
    """Return a Generator from an int, a RandomState, a Generator (itself) or None."""
    if isinstance(random_state, np.random.RandomState):
        random_state = seed_from(random_state)
    return np.random.default_rng(random_state)


def mixed_bits(bits: np.ndarray) -> np.ndarray:
    """Return a hash of each 64-bit number (the finalizer of splitmix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
