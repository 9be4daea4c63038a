"""What `random_state` may be, everywhere."""

import numpy as np
import pytest

from inldl.randomness import generator_from, mixed_bits, seed_from


@pytest.mark.parametrize("make", [lambda: 7, np.random.RandomState, np.random.default_rng])
def test_seeds_and_generators_come_from_all_kinds(make):
    state = make() if make is not np.random.RandomState else np.random.RandomState(3)
    assert 0 <= seed_from(state) < 2**31
    assert isinstance(generator_from(state), np.random.Generator)
    assert seed_from(5) == seed_from(np.random.RandomState(5))


def test_a_generator_is_used_itself():
    rng = np.random.default_rng(0)
    assert generator_from(rng) is rng
    assert generator_from(1).random() == np.random.default_rng(1).random()


def test_mixed_bits_are_those_of_splitmix64():
    # the first output of the reference program with the seed 0 is the hash of its increment
    found = mixed_bits(np.array([0x9E3779B97F4A7C15], dtype=np.uint64))
    assert int(found[0]) == 0xE220A8397B1DCDAF
