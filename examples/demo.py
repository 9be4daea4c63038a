"""Hide shares of a table of recipes, fill them in, and measure the errors, beside other imputers.

    python examples/demo.py [--rate 0.3] [--seed 0] [--picture demo.png]

The table comes with the package: the recipes of 427 concretes (cement, slag, fly ash, water,
plasticizer, gravel, sand), and how strong and how old the concretes were.
"""

import argparse
import time
import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from inldl import AutoInLDL, hide
from inldl.datasets import load_concrete

IMPUTERS = {
    "chained forests": IterativeImputer(RandomForestRegressor(random_state=0), random_state=0),
    "chained regressions": IterativeImputer(random_state=0),
    "10 nearest rows": KNNImputer(n_neighbors=10),
    "column means": SimpleImputer(),
}


def main(rate, seed, picture):
    """Hide shares, let each method fill them in, and print the errors."""
    data = load_concrete()
    X, truth = data.X, data.y
    given = hide(truth, rate, random_state=seed)
    hidden = np.isnan(given)
    counted = hidden & (hidden.sum(axis=1) > 1)[:, None]  # the sum of the row gives a single one
    print(f"{len(truth)} recipes, {truth.shape[1]} shares each; {hidden.sum()} shares are hidden.")
    print(f"{counted.sum()} of these do not follow from the sum of their row.\n")
    print("Loading the kernels (compiled on first use after installation) ...", flush=True)
    AutoInLDL(random_state=0).fit(X[:100], given[:100]).complete(X[:100], given[:100])

    print(f"{'':22}{'root mean sq. error':>20}{'mean |error|':>14}{'time':>9}")
    filled, errors = {}, {}
    for name, fill in {"inldl": with_inldl, **dict.fromkeys(IMPUTERS, with_imputer)}.items():
        start = time.perf_counter()
        filled[name] = fill(name, X, given)
        seconds = time.perf_counter() - start
        missed = (filled[name] - truth)[counted]
        errors[name] = np.sqrt(np.mean(missed**2))
        print(f"{name:22}{errors[name]:20.4f}{np.abs(missed).mean():14.4f}{seconds:7.1f} s")

    draw(given, filled["inldl"], truth, errors, data.label_names, picture)
    print(f"\nPicture: {picture}")


def with_inldl(name, X, given):
    """Fill in the missing shares; there is nothing to choose."""
    return AutoInLDL(random_state=0).fit(X, given).complete(X, given)


def with_imputer(name, X, given):
    """Do the same with an imputer of scikit-learn, as a careful user would.

    Features count as much as shares, and what is found is scaled to what each row leaves.
    """
    features = (X - X.mean(axis=0)) / X.std(axis=0) * np.nanstd(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # imputers seldom converge
        found = IMPUTERS[name].fit_transform(np.hstack([features, given]))[:, X.shape[1] :]
    holes = np.isnan(given)
    found = np.where(holes, np.maximum(found, 1e-12), 0)
    left = np.maximum(1 - np.nansum(given, axis=1), 0)
    scale = left / np.where(holes.any(axis=1), found.sum(axis=1), 1)
    return np.where(holes, found * scale[:, None], given)


def draw(given, completed, truth, errors, labels, path):
    """Draw the incomplete, the completed and the true table, and the errors."""
    rows = np.argsort(truth[:, 0])[:: len(truth) // 24][:24]
    figure, axes = plt.subplots(
        1, 4, figsize=(11, 4.2), width_ratios=[1, 1, 1, 1.1], layout="constrained"
    )
    tables = {"given, with holes": given, "completed": completed, "true": truth}
    colours = plt.get_cmap("cividis").with_extremes(bad=(1, 1, 1, 0))
    for axis, (title, table) in zip(axes, tables.items(), strict=False):
        axis.patch.set(hatch="////", edgecolor="0.6", facecolor="white")
        image = axis.imshow(table[rows], aspect="auto", vmin=0, vmax=0.5, cmap=colours)
        axis.set(title=title, yticks=[])
        axis.set_xticks(range(len(labels)), labels, rotation=90)
    axes[0].set_ylabel("24 recipes")
    figure.colorbar(image, ax=axes[2], label="share of the weight", extend="max")
    colours = ["#00306f"] + ["0.7"] * (len(errors) - 1)
    bars = axes[3].barh(list(errors), errors.values(), color=colours)
    axes[3].bar_label(bars, fmt="%.4f", padding=3)
    axes[3].margins(x=0.25)
    axes[3].invert_yaxis()
    axes[3].set(title="error at hidden shares (RMSE)")
    axes[3].spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rate", type=float, default=0.3, help="fraction of shares to hide (default 0.3)"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed (default 0)")
    parser.add_argument("--picture", default="demo.png", help="file to write (default demo.png)")
    options = parser.parse_args()
    main(options.rate, options.seed, options.picture)
