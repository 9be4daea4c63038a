"""
Regress on completed shares
===========================

Half of the shares of 400 households are hidden. How does the logarithm of what a household spends
depend on its shares for food and fuel? A table that was completed once gives wrong coefficients,
and standard errors that are too small. Twenty draws, pooled by Rubin's rules, give 95% intervals
that say how much is not known.
"""

import matplotlib.pyplot as plt
import numpy as np

from inldl import WInLDL, hide, pool
from inldl.datasets import load_budget_shares

budget = load_budget_shares()
X, y = budget.X[:400].copy(), budget.y[:400]
outcome = X[:, 0] = np.log(X[:, 0])  # total spending
given = hide(y, 0.5, random_state=0)


def regress(shares):
    """Return two coefficients and their variances, by least squares."""
    A = np.column_stack([np.ones(len(X)), shares[:, :2]])
    coef, squares, *_ = np.linalg.lstsq(A, outcome, rcond=None)
    variances = squares / (len(A) - 3) * np.diag(np.linalg.inv(A.T @ A))
    return coef[1:], variances[1:]


model = WInLDL(cross_fit=5).fit(X, given)
draws = model.draw(X, given, n_draws=20, random_state=0)
estimates, variances = zip(*map(regress, draws), strict=True)
found = pool(estimates, variances, complete_df=len(X) - 3)

# %%
# Small dots are the estimates from single draws.

figure, axes = plt.subplots(1, 2, figsize=(6.4, 2.6), sharey=True, layout="constrained")
names = ["nothing missing", "completed once", "20 draws, pooled"]
once = [regress(table) for table in (y, model.complete(X, given))]
for j, axis in enumerate(axes):
    low, high = (end[j] for end in found.interval(0.95))
    centres = [coef[j] for coef, _ in once] + [found.estimate[j]]
    reaches = [1.96 * np.sqrt(variance[j]) for _, variance in once] + [(high - low) / 2]
    axis.axvline(centres[0], color="0.5", linestyle="--", linewidth=1)
    axis.errorbar(centres, range(3), xerr=reaches, fmt="o", color="#0072b2", capsize=3)
    axis.plot([coef[j] for coef in estimates], np.full(20, 2.25), ".", color="#56b4e9")
    axis.set(xlabel=f"coefficient of {budget.label_names[j]}", yticks=range(3), yticklabels=names)
axes[0].invert_yaxis()
