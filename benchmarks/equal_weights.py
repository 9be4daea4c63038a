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
from kept import Results, Table, digits

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


def measure(dataset, splits=SPLITS):
    """Return the scores of each scheme as it is and scaled, and its mean squared weight."""
    X, y = load(dataset, return_X_y=True)
    lines = []
    for split in range(splits):
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


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--datasets", default=DATASETS)
    parser.add_argument("--splits", type=int, default=SPLITS)
    return parser.parse_args(words)


def measured(given):
    """Return a row for each dataset, split, scheme, and way to scale it."""
    return pd.concat([measure(each, given.splits) for each in given.datasets.split(",")])


def means(rows):
    """Return the means over splits of a dataset, a row for each scheme."""
    table = rows.groupby(["scheme", "how"])[[*METRICS, "square"]].mean().unstack()
    return table.loc[list(SCHEMES)].drop(columns=("square", "scaled"))


def results(rows):
    """Return a table of each metric, and by how much schemes differ."""
    by_dataset = {name: means(part) for name, part in rows.groupby("dataset", sort=False)}
    tables, facts = {}, {}
    for metric in METRICS:
        columns = [metric]
        lines = [[scheme] for scheme in SCHEMES]
        for name, found in by_dataset.items():
            columns += [name, "equal"]
            for line, scheme in zip(lines, SCHEMES, strict=True):
                both = found[metric].loc[scheme, ["as is", "scaled"]]
                line += [digits(value) for value in both]
        tables[metric] = Table(columns, lines)
    for name, found in by_dataset.items():
        for how in ("as is", "scaled"):
            spread = found["cosine"][how].max() - found["cosine"][how].min()
            facts[f"spread of cosine, {name}, {how}"] = digits(spread)
        for scheme in SCHEMES:
            facts[f"mean square, {name}, {scheme}"] = digits(found["square"]["as is"][scheme], 2)
    return Results(tables, facts)


def main():
    for name, part in measured(options()).groupby("dataset", sort=False):
        table = means(part)
        spread = table["cosine"].max() - table["cosine"].min()
        print(f"\n{name}: spread of cosine {spread.round(4).to_dict()}")
        print(table.round(4).to_string())


if __name__ == "__main__":
    main()
