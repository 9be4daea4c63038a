"""Measure intervals on unseen rows: the share of degrees inside, and how wide they are.

For AutoInLDL, for WInLDL(cross_fit=5) and, by the same procedure, for the constant mean. Needs the
public datasets (they are downloaded, or found in INLDL_DATA):

    python benchmarks/interval_coverage.py --splits 3
"""

import argparse

import numpy as np

from inldl import AutoInLDL, WInLDL
from inldl.datasets import load
from inldl.methods import ConstantLDL
from inldl.methods.intervals import IntervalMixin
from inldl.uncertainty.heldout import predict_held_out
from inldl_paper.experiments import make_fold
from kept import Results, Table, digits, resumed

LEVELS = (0.5, 0.8, 0.9, 0.95)
DATASETS = (
    "SJAFFE", "SBU_3DFE", "Natural_Scene", "SCUT_FBP", "emotion6", "Yeast_heat", "Yeast_alpha",
    "Yeast_cdc",
)  # fmt: skip


class Constant(IntervalMixin, ConstantLDL):
    """The constant mean with intervals."""

    def fit(self, X, y):
        """Fit, and predict the rows of each of five folds from the others."""
        ConstantLDL.fit(self, X, y)
        self.held_out_ = predict_held_out(ConstantLDL(), X, y, 5)
        self._keep_errors(X, y)
        return self


METHODS = {
    "AutoInLDL": AutoInLDL(random_state=0),
    "WInLDL": WInLDL(cross_fit=5),
    "constant": Constant(),
}


def measure(name, method, splits):
    """Return the coverage and the mean width at each level, over all test degrees."""
    record = load(name)
    inside, width = [], []
    for split in range(splits):
        fold = make_fold(record.name, record.X, record.y, rate=0.5, split=split)
        model = method.fit(fold.X, fold.y)
        bounds = [model.predict_interval(fold.X_test, level) for level in LEVELS]
        inside.append(np.stack([(low <= fold.y_test) & (fold.y_test <= up) for low, up in bounds]))
        width.append(np.stack([up - low for low, up in bounds]))
    return [np.concatenate(each, axis=1).mean(axis=(1, 2)) for each in (inside, width)]


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--out", help="a file of rows that need not be measured again")
    return parser.parse_args(words)


def measured(given):
    """Return coverage and mean widths, a row for each dataset and method."""

    def one(name, shown):
        coverage, width = measure(name, METHODS[shown], given.splits)
        return {"coverage": coverage.tolist(), "width": width.tolist()}

    cases = [(name, shown) for name in given.datasets for shown in METHODS]
    return resumed(given.out, ("name", "method"), cases, one)


def results(rows):
    """Return the table of the page: coverage of AutoInLDL, and widths of 90% intervals of all."""
    found = {(row["name"], row["method"]): row for row in rows}
    lines, at = [], LEVELS.index(0.9)
    for name in dict.fromkeys(row["name"] for row in rows):
        covered = [f"{100 * each:.1f}" for each in found[name, "AutoInLDL"]["coverage"]]
        lines.append([name, *covered, *(digits(found[name, m]["width"][at]) for m in METHODS)])
    columns = ["asked for", *(f"{level:.0%}" for level in LEVELS), "width at 90%"]
    facts = {}
    for level, covered in zip(
        LEVELS, zip(*(line[1:5] for line in lines), strict=True), strict=True
    ):
        values = sorted(map(float, covered))
        facts[f"lowest coverage at {level:.0%}"] = f"{values[0]:.1f}%"
        facts[f"highest coverage at {level:.0%}"] = f"{values[-1]:.1f}%"
    return Results(
        {"coverage": Table([*columns, "WInLDL(cross_fit=5)", "constant mean"], lines)}, facts
    )


def main():
    rows = measured(options())
    levels = " ".join(f"{level:6.0%}" for level in LEVELS)
    print(f"{'':14} {'':10} coverage at {levels}   mean width at {levels}")
    for row in rows:
        covered = " ".join(f"{100 * each:6.1f}" for each in row["coverage"])
        wide = " ".join(f"{each:6.4f}" for each in row["width"])
        print(f"{row['name']:14} {row['method']:10}             {covered}                 {wide}")


if __name__ == "__main__":
    main()
