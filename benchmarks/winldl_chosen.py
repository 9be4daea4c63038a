"""How far WInLDL goes when its ridge is chosen by the data, and with a kernel in front.

    python benchmarks/winldl_chosen.py [--store winldl_chosen.sqlite] [--splits 3] [--datasets ...]

It prints the numbers of the table in docs/winldl_chosen.md, and the CPU seconds of fits. The
protocol is that of docs/auto.md: the same splits and missing degrees for every method;
standardised features (Movie: 100 principal components), and the authors' preparation for WInLDL
as in the paper. A stopped run resumes where it was.
"""

import argparse

from inldl_paper.experiments import Store, grid, run

YEAST = [f"Yeast_{name}" for name in ("alpha", "cdc", "diau", "dtt", "elu", "heat", "spo")]
DATASETS = ["Movie", "Natural_Scene", "SBU_3DFE", "SCUT_FBP", "SJAFFE", *YEAST, "emotion6"]
RATES = [0.1, 0.5, 0.9]
PAPER = "winldl"
CHOSEN = {
    "winldl(ridge='auto')": "ridge chosen",
    "winldl(kernel='auto', ridge='auto')": "with a kernel",
    "auto": "AutoInLDL",
}
NAMES = {PAPER: "as in the paper", **CHOSEN}


def cells(datasets, methods, splits):
    """Return the cells, each method with the features that suit it."""
    found = []
    for name in datasets:
        options = {"rates": RATES, "splits": splits}
        for method in methods:
            own = method == PAPER or name == "Movie"
            found += grid([name], [method], recipe="authors" if own else "standard", **options)
    return found


def show(rows, measure):
    """Print the mean of a measure for each dataset and method, a line for each rate."""
    means = rows.groupby(["dataset", "rate", "method"])[measure].mean().unstack()[list(NAMES)]
    best = means.max(axis=1) if measure == "cosine" else means.min(axis=1)
    print(f"| {measure} at 10 50 90% | {' | '.join(NAMES.values())} |")
    print("|---|" + "---:|" * len(NAMES))
    for name, own in means.groupby(level="dataset"):
        columns = []
        for method in NAMES:
            texts = [f"{value:.4f}".removeprefix("0") for value in own[method]]
            top = [f"{value:.4f}".removeprefix("0") for value in best[name]]
            marked = [f"**{a}**" if a == b else a for a, b in zip(texts, top, strict=True)]
            columns.append("<br>".join(marked))
        print(f"| {name} | {' | '.join(columns)} |")


def main():
    """Finish the run and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", default="winldl_chosen.sqlite")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    given = parser.parse_args()
    for method in NAMES:
        run(cells(given.datasets, [method], given.splits), given.store, jobs=given.jobs)
    rows = Store(given.store).frame()
    rows = rows[rows["status"] == "ok"]
    for measure in ("cosine", "kl_divergence"):
        show(rows, measure)
        print()
    seconds = rows.groupby(["dataset", "method"])["fit_seconds"].mean().unstack()
    print(seconds.round(2).to_string())


if __name__ == "__main__":
    main()
