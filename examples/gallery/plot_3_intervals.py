"""
Intervals stay valid as more shares are missing
===============================================

With ``cross_fit=5`` the fit also predicts each training row with a model that has not seen it, and
so learns how far off its predictions are. The 90% intervals contain about 90% of the shares of
unseen households, however much of the table is missing. When very little data is left, they get
wider. Small dots are single splits, large dots their mean.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from inldl import WInLDL, hide
from inldl.datasets import load_budget_shares

budget = load_budget_shares()
rates = np.array([0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95])
inside, width = np.empty((2, len(rates), 5))
for seed in range(5):
    X, X_new, y, y_new = train_test_split(budget.X, budget.y, random_state=seed)
    for place, rate in enumerate(rates):
        model = WInLDL(cross_fit=5).fit(X, hide(y, rate, random_state=seed))
        lower, upper = model.predict_interval(X_new, coverage=0.9)
        inside[place, seed] = ((lower <= y_new) & (y_new <= upper)).mean()
        width[place, seed] = (upper - lower).mean()

figure, (above, below) = plt.subplots(2, 1, figsize=(4.6, 4.4), sharex=True, layout="constrained")
above.axhline(90, color="0.5", linestyle="--", linewidth=1)
above.plot(100 * rates, 100 * inside, ".", color="#56b4e9")
above.plot(100 * rates, 100 * inside.mean(axis=1), "o-", color="#0072b2")
above.set(ylabel="% of unseen shares\ninside their interval", ylim=(75, 100))
below.plot(100 * rates, width, ".", color="#e69f00")
below.plot(100 * rates, width.mean(axis=1), "o-", color="#d55e00")
below.set(xlabel="% of the shares hidden", ylabel="mean width\nof an interval", ylim=(0, 0.3))
