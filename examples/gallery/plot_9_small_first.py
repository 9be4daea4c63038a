"""
When small shares are missing first
===================================

People often leave out small shares. Then the known shares are too large on average, and so is
everything learned from them. With up to half of the table missing this hurts little; with more it
hurts a lot. `WInLDL` is more accurate than the constant mean in both cases.
"""

import numpy as np
import pandas as pd

from inldl import WInLDL, hide
from inldl.datasets import load_budget_shares
from inldl.methods import ConstantLDL
from inldl_paper.figures import metric_against_rate

budget = load_budget_shares()
methods = {"WInLDL": WInLDL(), "constant mean": ConstantLDL("mean")}
worlds = {"any hidden": "uniform", "small hidden first": "small"}
rows = []
for world, mechanism in worlds.items():
    for rate in (0.1, 0.3, 0.5, 0.7, 0.9):
        for name, method in methods.items():
            errors = []
            for seed in range(5):
                given = hide(budget.y, rate, mechanism=mechanism, random_state=seed)
                predicted = method.fit(budget.X, given).predict(budget.X)
                errors.append(np.abs(predicted - budget.y).mean())
            rows.append(("budgets", f"{name}, {world}", rate, np.mean(errors), np.std(errors)))

frame = pd.DataFrame(rows, columns=["dataset", "method", "rate", "mean", "std"])
figure = metric_against_rate(frame, "mean absolute error", width=4.6)
