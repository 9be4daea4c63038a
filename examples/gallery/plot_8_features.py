"""
Which features matter, and for which label
==========================================

A feature that matters is missed when its values are shuffled among the rows. The darker a square,
the more the squared error of that share grows: how much a household spends in all decides about
its food and its clothes, and its income adds little once that is known.
"""

from sklearn.model_selection import train_test_split

from inldl import KernelSoftmaxLDL, hide
from inldl.datasets import load_budget_shares
from inldl.interpretation import importance_by_label
from inldl.report import influence

budget = load_budget_shares(as_frame=True)
X, X_new, y, y_new = train_test_split(budget.X, budget.y, random_state=0)
model = KernelSoftmaxLDL(random_state=0).fit(X, hide(y, 0.5, random_state=0))

rise = importance_by_label(model, X_new, y_new)["mean"]
rise = rise.clip(lower=0)  # an error that falls a little falls by chance
figure = influence(1e3 * rise, label="rise of the squared error, times 1000", width=4.6)
