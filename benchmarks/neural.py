"""Measure NeuralLDL beside AutoInLDL, and both together.

Half of the degrees of up to 700 rows are hidden. 70% of the rows are learned from, the others are
predicted. "both" is the weighted mean of the two whose weight is learned from predictions of held
out training rows, as AutoInLDL weighs its members. Printed are the root mean square error and the
mean Kullback-Leibler divergence on the rows that were not seen, means over draws; then by how much
the error of both is below that of AutoInLDL, with the standard error over draws.

    python benchmarks/neural.py --draws 3
"""

import argparse
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from inldl import AutoInLDL, hide
from inldl.datasets import load
from inldl.methods.auto_fitting import stacking_weights
from inldl.metrics import kl_divergence
from inldl_torch import NeuralLDL

DATASETS = (
    "SJAFFE", "SBU_3DFE", "Movie", "Natural_Scene", "Emotion6", "SCUT_FBP", "Yeast_spo",
    "Yeast_alpha", "Yeast_diau", "Yeast_heat",
)  # fmt: skip
ROWS, TRAINED, HIDDEN = 700, 0.7, 0.5


def measure(X, truth, seed):
    """Return the errors and divergences of AutoInLDL, NeuralLDL and both, and the weight."""
    rows = np.random.default_rng([seed, 5]).permutation(len(truth))[:ROWS]
    train, test = np.split(rows, [int(TRAINED * len(rows))])
    y = hide(truth[train], HIDDEN, random_state=seed)
    models = [kind(random_state=0).fit(X[train], y) for kind in (AutoInLDL, NeuralLDL)]
    held_out = {i: model.held_out_ for i, model in enumerate(models)}
    weight = stacking_weights(y, held_out, [0, 1])[1]
    auto, neural = (model.predict(X[test]) for model in models)
    found = [auto, neural, (1 - weight) * auto + weight * neural]
    errors = [np.sqrt(((each - truth[test]) ** 2).mean()) for each in found]
    return [*errors, *(kl_divergence(truth[test], each) for each in found), weight]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--datasets", nargs="*", default=DATASETS)
    given = parser.parse_args()
    print("| | auto | neural | both | KL: auto | neural | both | weight | lower by |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in given.datasets:
        data = load(name)
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = np.array([measure(data.X, data.y, seed) for seed in range(given.draws)])
        cells = " | ".join(f"{each:.4f}" for each in found.mean(axis=0)[:6])
        gains = 100 * (1 - found[:, 2] / found[:, 0])
        spread = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.nan
        weight = found[:, 6].mean()
        print(
            f"| {name} | {cells} | {weight:.2f} | {gains.mean():.1f}% ± {spread:.1f}% |",
            flush=True,
        )


if __name__ == "__main__":
    main()
