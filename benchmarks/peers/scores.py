"""Scores of completed tables at the holes that the sums of their rows do not give."""

import numpy as np

COVERAGE = 0.9


def crps(draws, truth):
    """Return the mean continuous ranked probability score, which does not favour many draws."""
    m = len(draws)
    ordered = np.sort(draws, axis=0)
    weight = 2 * np.arange(m) - m + 1
    between = (weight[:, None] * ordered).sum(axis=0) / (m * (m - 1))
    return float((np.abs(draws - truth).mean(axis=0) - between).mean())


def clr(rows):
    logs = np.log(rows)
    return logs - logs.mean(axis=1, keepdims=True)


def measure(cell, filled, draws=None, low=None, high=None):
    """Return the scores of a completed table, of draws and of 90% intervals if there are any."""
    at, truth, floor = cell.judged, cell.truth, cell.floor
    rows = at.any(axis=1)
    error = (filled - truth)[at]
    apart = clr(np.maximum(filled, floor)[rows]) - clr(np.maximum(truth, floor)[rows])
    found = {
        "rmse": np.sqrt(np.mean(error**2)),
        "mae": np.abs(error).mean(),
        "aitchison": np.sqrt((apart**2).sum(axis=1)).mean(),
    }
    if draws is not None:
        draws = np.asarray(draws)
        floored = np.log(np.maximum(draws, floor))
        no_zero = at & ~(cell.y == 0).any(axis=0)
        found["crps"] = crps(draws[:, at], truth[at])
        found["log crps"] = crps(floored[:, at], np.log(np.maximum(truth, floor))[at])
        found["zeros"] = (draws[:, at] == 0).mean()
        found["zeros where none seen"] = (draws[:, no_zero] == 0).mean() if no_zero.any() else 0
    if low is not None:
        below, above = np.maximum(low - truth, 0)[at], np.maximum(truth - high, 0)[at]
        found["inside"] = ((below <= 1e-9) & (above <= 1e-9)).mean()
        found["winkler"] = np.mean((high - low)[at] + 2 / (1 - COVERAGE) * (below + above))
        found["judged"] = at.sum()
    return {name: float(value) for name, value in found.items()}
