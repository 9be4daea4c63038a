"""Panels of units whose shares change slowly, with holes as they come."""

import numpy as np
import pandas as pd

from inldl.rows.panel import Panel

LABELS = ["a", "b", "c", "d"]


def made_panel(n_units=6, n_times=12, n_labels=4, seed=0):
    """Return features (country, year), shares that sum to 1, and where the rows belong."""
    rng = np.random.default_rng(seed)
    unit, time = np.repeat(np.arange(n_units), n_times), np.tile(np.arange(n_times), n_units)
    steps = rng.normal(0, 0.1, (n_units, n_times, n_labels))
    z = rng.normal(size=(n_units, n_labels))[unit] + np.cumsum(steps, 1).reshape(-1, n_labels)
    y = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    X = pd.DataFrame({"country": [f"c{u}" for u in unit], "year": 2000 + time})
    return X, y, Panel(unit, time.astype(float))


def early(panel, y, n_units=3, n_times=4, labels=(0, 1)):
    """Return shares of which some labels are not known at the first times of some units."""
    y = y.copy()
    rows = np.flatnonzero((panel.unit < n_units) & (panel.positions < n_times))
    y[np.ix_(rows, labels)] = np.nan
    return y
