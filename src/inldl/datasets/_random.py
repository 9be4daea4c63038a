"""Turn ``random_state`` into a generator for the functions of this package."""

import numpy as np


def generator(random_state):
    """Return ``numpy.random.default_rng(random_state)``, but refuse legacy generators.

    Parameters
    ----------
    random_state : None, int, sequence of int or numpy.random.Generator
        A Generator is used as it is, so its state advances.

    Returns
    -------
    numpy.random.Generator
    """
    if isinstance(random_state, np.random.RandomState):
        raise TypeError(
            "random_state must be None, an int or a numpy.random.Generator, not a RandomState: "
            "use numpy.random.default_rng(seed)"
        )
    return np.random.default_rng(random_state)
