"""
Complete a table of household budgets
=====================================

We hide half of the spending shares of 1519 households, then fill them in with predictions from the
features of each household, so that every row sums to 1. On the left, missing shares are hatched;
on the right, a dot marks each share that was filled in.
"""

import numpy as np

from inldl import AutoInLDL, hide
from inldl.datasets import load_budget_shares
from inldl.report import completion_map

budget = load_budget_shares()
given = hide(budget.y, 0.5, random_state=0)
whole = AutoInLDL(random_state=0).fit(budget.X, given).complete(budget.X, given)

figure = completion_map(given[:24], whole[:24], budget.label_names, width=4.6)

# %%
# How far off are these shares, compared with a constant guess?

holes = np.isnan(given)
guess = np.nanmean(given, axis=0)
print(f"filled:        {np.abs(whole - budget.y)[holes].mean():.3f}")
print(f"constant mean: {np.abs(guess - budget.y)[holes].mean():.3f}")
