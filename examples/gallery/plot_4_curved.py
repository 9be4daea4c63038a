"""
When a linear model fails and AutoInLDL does not
================================================

The artificial distributions common in the literature are curved functions of three features. We
fit both models to 1000 rows with half of the degrees hidden, and predict 1000 other rows. The
linear model drifts away from the diagonal: its errors are systematic, and more rows would not
help.
"""

import matplotlib.pyplot as plt
import numpy as np

from inldl import AutoInLDL, WInLDL, hide
from inldl.datasets import make_distributions

X, y = make_distributions(1000, random_state=0)
X_new, y_new = make_distributions(1000, random_state=1)
given = hide(y, 0.5, random_state=0)

figure, panels = plt.subplots(
    1, 2, figsize=(4.8, 2.9), sharex=True, sharey=True, layout="constrained"
)
for axes, model in zip(panels, (WInLDL(), AutoInLDL(random_state=0)), strict=True):
    found = model.fit(X, given).predict(X_new)
    error = np.sqrt(np.mean((found - y_new) ** 2))
    axes.plot([0, 0.7], [0, 0.7], color="0.6", linewidth=1)
    axes.plot(y_new[:, 0], found[:, 0], ".", markersize=2.5, color="#d55e00")
    axes.set_title(f"{type(model).__name__}\nerror {error:.4f}", fontsize=9)
    axes.set(xlabel="true degree", aspect="equal")
panels[0].set_ylabel("predicted degree")
