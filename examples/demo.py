"""Hide half of a table of household budgets, fit WInLDL, and measure how well it recovers them.

    python examples/demo.py [--rate 0.5] [--seed 0] [--picture demo.png]

The table comes with the package: 1519 households, and the shares of their spending that go to
food, fuel, clothes, alcohol, transport and other things.
"""

import argparse
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from inldl import ConstantLDL, WInLDL, evaluate, hide
from inldl.datasets import load_budget_shares

METRICS = ["cosine", "intersection", "clark", "kl_divergence"]


def main(rate, seed, picture):
    """Hide shares, fit each method, and print the errors."""
    data = load_budget_shares()
    X, X_new, y, y_new = train_test_split(data.X, data.y, test_size=0.2, random_state=seed)
    given = hide(y, rate, random_state=seed)
    hidden = np.isnan(given)
    print(f"{len(data.y)} households, {len(data.label_names)} shares each.")
    print(f"{len(y)} of them are for training, {hidden.mean():.0%} of their shares are hidden.")
    print(f"{len(y_new)} are unseen.\n")
    print("Loading the kernels (compiled on first use after installation) ...", flush=True)
    WInLDL(max_iter=1).fit(X, given).predict(X_new)

    methods = {
        "WInLDL": WInLDL(),
        "constant: mean of observed": ConstantLDL("mean"),
        "constant: uniform": ConstantLDL("uniform"),
    }
    print(f"{'':28}{'hidden shares':>15}   unseen households")
    heads = "".join(f"{name:>15}" for name in METRICS)
    print(f"{'':28}{'mean |error|':>15}{heads}{'fit':>10}")
    errors = {}
    for name, method in methods.items():
        start = time.perf_counter()
        method.fit(X, given)
        seconds = time.perf_counter() - start
        errors[name] = np.abs(method.complete(X, given) - y)[hidden].mean()
        found = evaluate(y_new, method.predict(X_new), METRICS)
        cells = "".join(f"{found[metric]:15.4f}" for metric in METRICS)
        print(f"{name:28}{errors[name]:15.4f}{cells}{seconds * 1e3:7.1f} ms")
    print("\nCosine and intersection: higher is better. Errors, Clark and KL: lower is better.")

    draw(given, methods["WInLDL"].complete(X, given), y, errors, data.label_names, picture)
    print(f"Picture: {picture}")


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
        image = axis.imshow(table[rows], aspect="auto", vmin=0, vmax=0.6, cmap=colours)
        axis.set(title=title, yticks=[])
        axis.set_xticks(range(len(labels)), labels, rotation=90)
    axes[0].set_ylabel("24 households")
    figure.colorbar(image, ax=axes[2], label="share of spending", extend="max")
    names = [name.replace(": ", ":\n") for name in errors]
    bars = axes[3].barh(names, errors.values(), color=["#00306f", "0.6", "0.8"])
    axes[3].bar_label(bars, fmt="%.3f", padding=3)
    axes[3].margins(x=0.2)
    axes[3].invert_yaxis()
    axes[3].set(title="mean |error|, hidden shares")
    axes[3].spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rate", type=float, default=0.5, help="fraction of shares to hide (default 0.5)"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed (default 0)")
    parser.add_argument("--picture", default="demo.png", help="file to write (default demo.png)")
    options = parser.parse_args()
    main(options.rate, options.seed, options.picture)
