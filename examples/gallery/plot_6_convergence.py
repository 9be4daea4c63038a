"""
How fast the fit converges
==========================

`history_` stores the largest change in each iteration of ADMM. The default ``mu=2`` converges
first. The slow change after that comes from the growing weights of the missing degrees. A fit
stops when nothing changes by more than `tol`, or after `max_iter` iterations.
"""

import matplotlib.pyplot as plt

from inldl import WInLDL, hide
from inldl.datasets import load_budget_shares

budget = load_budget_shares()
given = hide(budget.y, 0.5, random_state=0)

figure, axes = plt.subplots(figsize=(4.6, 3.2), layout="constrained")
for mu, look in {0.5: ":", 2: "-", 8: "--"}.items():
    model = WInLDL(mu=mu, max_iter=100, tol=0).fit(budget.X, given)
    axes.semilogy(model.history_["coef_change"], look, label=f"mu = {mu:g}")
    print(f"mu = {mu:3g}: cosine {model.score(budget.X, budget.y):.4f}")
axes.set(xlabel="iteration", ylabel="largest change of a coefficient")
axes.legend()
