"""
Compare methods with a critical-difference diagram
==================================================

Six methods on twelve artificial tables with half of the degrees hidden. The line shows the mean
rank of each method by KL divergence (1 is best). A bar joins methods that the Nemenyi test cannot
tell apart at the 5% level.
"""

import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor

from inldl import WInLDL, hide
from inldl.methods import ConstantLDL, KernelRidgeLDL, RegressorLDL
from inldl.metrics import kl_divergence
from inldl_paper.experiments.statistics import friedman, nemenyi
from inldl_paper.figures import critical_difference
from inldl_paper.literature import BFGSLDL, InLDLADMM


def make_table(seed, n=250, k=4, n_labels=5):
    """Draw features, and degrees that depend on them with noise, along curves for odd seeds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k))
    curved = np.sin(2 * X) if seed % 2 else X
    scores = curved @ rng.normal(size=(k, n_labels)) + 0.3 * rng.normal(size=(n, n_labels))
    return X, softmax(scores, axis=1)


methods = {
    "kernel ridge": KernelRidgeLDL(random_state=0),
    "softmax": BFGSLDL(),
    "neighbours": RegressorLDL(KNeighborsRegressor(10)),
    "WInLDL": WInLDL(),
    "InLDL-a": InLDLADMM(),
    "constant": ConstantLDL("mean"),
}
scores = pd.DataFrame(columns=list(methods), index=range(12), dtype=float)
for seed in scores.index:
    X, X_new, y, y_new = train_test_split(*make_table(seed), random_state=0)
    given = hide(y, 0.5, random_state=seed)
    for name, method in methods.items():
        scores.loc[seed, name] = kl_divergence(y_new, method.fit(X, given).predict(X_new))

print(f"Friedman test: p = {friedman(scores, higher_is_better=False).p_value:.1e}")
found = nemenyi(scores, higher_is_better=False)
figure = critical_difference(found.mean_ranks, found.critical_difference, found.groups, width=4.6)
