"""The paper's table of weighting schemes, as it is and with the same mean weight for all schemes.

The ridge of WInLDL is 1e-5 for all schemes, but a scheme with larger weights is regularised less:
to multiply all squared weights by c has the same limit as to divide the ridge by c. Here all
schemes are also scaled so that the mean square of their observed weights is that of "degree".

    python benchmarks/equal_weights.py --datasets SJAFFE,SBU_3DFE
"""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from inldl import WInLDL, evaluate
from inldl.datasets import load
from inldl.weighting import SCHEMES, get_weighting
from inldl_paper.experiments import SPLITS, make_fold

DATASETS = "SJAFFE,SBU_3DFE,Natural_Scene,SCUT_FBP,emotion6,Movie"
METRICS = ["cosine", "clark"]


@dataclass
class Scaled:
    """A scheme with all weights multiplied by a factor."""

    scheme: Any
    factor: float

    def observed(self, degrees):
        """Return the weights of observed degrees."""
        return self.factor * self.scheme.observed(degrees)

    def unobserved(self, means, progress):
        """Return the weights of missing degrees."""
        return self.factor * self.scheme.unobserved(means, progress)


def mean_square(scheme, y):
    """Return the mean squared weight of the observed degrees."""
    seen = ~np.isnan(y)
    return np.mean(scheme.observed(np.where(seen, y, 0))[seen] ** 2)


def measure(dataset):
    """Return the scores of each scheme as it is and scaled, and its mean squared weight."""
    X, y = load(dataset, return_X_y=True)
    lines = []
    for split in range(SPLITS):
        fold = make_fold(dataset, X, y, rate=0.5, split=split, recipe="published")
        target = mean_square(get_weighting("degree"), fold.y)
        for name in SCHEMES:
            scheme = get_weighting(name)
            square = mean_square(scheme, fold.y)
            for how, factor in (("as is", 1.0), ("scaled", np.sqrt(target / square))):
                model = WInLDL(Scaled(scheme, factor)).fit(fold.X, fold.y)
                found = evaluate(fold.y_test, model.predict(fold.X_test), METRICS)
                lines.append({"scheme": name, "how": how, "square": square, **found})
    return pd.DataFrame(lines).assign(dataset=dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", default=DATASETS)
    for dataset in parser.parse_args().datasets.split(","):
        rows = measure(dataset)
        table = rows.groupby(["scheme", "how"])[[*METRICS, "square"]].mean().unstack()
        table = table.loc[list(SCHEMES)].drop(columns=("square", "scaled"))
        spread = table["cosine"].max() - table["cosine"].min()
        print(f"\n{dataset}: spread of cosine {spread.round(4).to_dict()}")
        print(table.round(4).to_string(), flush=True)


if __name__ == "__main__":
    main()
