"""
Use the known degrees of a row to estimate the others
=====================================================

In this artificial data a hidden mood, which no feature shows, raises some degrees and lowers
others. `WInLDL` fills in missing degrees from the features alone. `TableModel` also looks at how
far the prediction is off at the known degrees of the row, and corrects the missing ones
accordingly.
"""

import matplotlib.pyplot as plt
import numpy as np

from inldl import TableModel, WInLDL, hide

rng = np.random.default_rng(0)
X, mood = rng.uniform(-1, 1, size=(600, 1)), rng.uniform(-1, 1, size=(600, 1))
truth = (
    1 / 6 + X * [0.05, -0.05, 0, 0.02, 0, -0.02] + mood * [0.03, 0.04, 0.05, -0.03, -0.05, -0.04]
)
given = hide(truth, 0.4, random_state=0)
holes = np.isnan(given)

filled = {
    "features": WInLDL().fit(X, given).complete(X, given),
    "features and known degrees": TableModel("winldl").fit(X, given).complete(X, given),
}

figure, panels = plt.subplots(
    1, 2, figsize=(4.8, 2.9), sharex=True, sharey=True, layout="constrained"
)
for axes, (title, whole) in zip(panels, filled.items(), strict=True):
    error = np.sqrt(np.mean((whole - truth)[holes] ** 2))
    axes.plot([0, 0.3], [0, 0.3], color="0.6", linewidth=1)
    axes.plot(truth[holes], whole[holes], ".", markersize=2.5, color="#0072b2")
    axes.set_title(f"{title}\nerror {error:.3f}", fontsize=9)
    axes.set(xlabel="true degree", aspect="equal")
panels[0].set_ylabel("filled degree")
