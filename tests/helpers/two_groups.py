"""A table with two groups of shares, and features of several kinds."""

import numpy as np
import pandas as pd

from inldl import hide

VOTES, AGES = ["a1", "a2", "a3"], ["b1", "b2", "b3"]


def two_groups(n=59, rate=0.35, related=True):
    """Return a table with two groups of shares that say much about each other, and the truth."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(n, 1))
    other = hidden if related else rng.normal(size=(n, 1))
    logits = hidden @ np.array([[1, 0, -1]]), other @ np.array([[1, 0, -1]])
    noise = rng.normal(0, 0.15, (2, n, 3))
    shares = [np.exp(0.4 * z + e) for z, e in zip(logits, noise, strict=True)]
    truth = np.hstack([s / s.sum(axis=1, keepdims=True) for s in shares])
    given = np.hstack(
        [hide(truth[:, :3], rate, random_state=1), hide(truth[:, 3:], rate, random_state=2)]
    )
    frame = pd.DataFrame(given, columns=VOTES + AGES, index=[f"r{i}" for i in range(n)])
    frame.insert(1, "town", rng.choice(["north", "south", "west"], n))
    frame.insert(3, "income", rng.normal(size=n))
    frame["day"] = pd.to_datetime(rng.choice(["2024-01-31", "2024-03-01", "2024-05-17"], n))
    frame.loc[frame.index[::7], "income"] = np.nan
    return frame, pd.DataFrame(truth, columns=VOTES + AGES, index=frame.index)
