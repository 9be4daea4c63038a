"""
Which features matter, and for which label
==========================================

If a feature matters, shuffling its values among the rows makes predictions worse. The darker a
square, the more the root mean squared error of that share grows. Total spending matters most for
food and clothes; income adds little once total spending is known.
"""

from sklearn.model_selection import train_test_split

from inldl import hide
from inldl.datasets import load_budget_shares
from inldl.importance import importance_by_label
from inldl.methods import KernelSoftmaxLDL
from inldl.report import influence

budget = load_budget_shares(as_frame=True)
X, X_new, y, y_new = train_test_split(budget.X, budget.y, random_state=0)
model = KernelSoftmaxLDL(random_state=0).fit(X, hide(y, 0.5, random_state=0))

rise = importance_by_label(model, X_new, y_new)["mean"]
rise = rise.clip(lower=0)  # small decreases are chance
figure = influence(1e3 * rise, label="rise of the error, times 1000", width=4.6)
