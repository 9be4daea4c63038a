"""
Six weighting schemes, and your own
===================================

`WInLDL` weights its errors. A weighting scheme says how much a known degree counts (solid line),
and how much a missing degree counts early and late in the fit (dotted and dashed lines; here the
horizontal axis is the mean degree of its label). The paper's scheme is "degree": small degrees
count most, and missing ones gain weight during the fit. Your own scheme is any object with two
methods.
"""

import matplotlib.pyplot as plt
import numpy as np

from inldl import WInLDL, evaluate, hide
from inldl.datasets import load_budget_shares
from inldl.weighting import SCHEMES


class Steep:
    """Weigh small degrees far more than large ones."""

    def observed(self, degrees):
        """Return the weights of known degrees."""
        return 0.2 / (0.1 + degrees)

    def unobserved(self, means, progress):
        """Return the weights of missing degrees, which grow during the fit."""
        return progress * 0.2 / (0.1 + means)


schemes = {name: kind() for name, kind in SCHEMES.items()} | {"your own": Steep()}
degrees = np.linspace(0, 1, 101)
figure, panels = plt.subplots(
    4, 2, figsize=(4.6, 6.4), sharex=True, sharey=True, layout="constrained"
)
for axes, (name, scheme) in zip(panels.flat, schemes.items(), strict=False):
    known = axes.plot(degrees, scheme.observed(degrees[None])[0], color="#0072b2")
    early = axes.plot(degrees, scheme.unobserved(degrees, 0.1), ":", color="#d55e00")
    late = axes.plot(degrees, scheme.unobserved(degrees, 1.0), "--", color="#d55e00")
    axes.set_title(name, fontsize=10)
panels[-1, -1].axis("off")
panels[-1, -1].legend(
    [*known, *early, *late], ["known", "missing, early", "missing, late"], loc="center"
)
figure.supxlabel("degree")
figure.supylabel("weight")

# %%
# Their effect on the household budgets with half of the shares hidden:

budget = load_budget_shares()
given = hide(budget.y, 0.5, random_state=0)
for name, scheme in schemes.items():
    found = WInLDL(weighting=scheme).fit(budget.X, given).predict(budget.X)
    scores = evaluate(budget.y, found, ["cosine", "clark"])
    print(f"{name:14} cosine {scores['cosine']:.4f}   Clark {scores['clark']:.4f}")
