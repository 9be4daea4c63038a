"""How far WInLDL goes when its ridge is chosen by the data, and with a kernel in front.

    python benchmarks/winldl_chosen.py [--store winldl_chosen.sqlite] [--splits 3] [--datasets ...]

It prints the numbers of the table in docs/winldl_chosen.md, and the CPU seconds of fits. The
protocol is that of docs/auto.md: the same splits and missing degrees for every method;
standardised features (Movie: 100 principal components), and the authors' preparation for WInLDL
as in the paper. A stopped run resumes where it was.
"""

import argparse

from inldl_paper.experiments import Store, grid, run
from kept import Results, Table, digits

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


def table(rows, measure):
    """Return the mean of a measure for each dataset and method, a line for each rate."""
    means = rows.groupby(["dataset", "rate", "method"])[measure].mean().unstack()[list(NAMES)]
    best = means.max(axis=1) if measure == "cosine" else means.min(axis=1)
    lines = []
    for name, own in means.groupby(level="dataset"):
        columns = []
        for method in NAMES:
            texts = [digits(value) for value in own[method]]
            top = [digits(value) for value in best[name]]
            marked = [f"**{a}**" if a == b else a for a, b in zip(texts, top, strict=True)]
            columns.append("<br>".join(marked))
        lines.append([name, *columns])
    rates = " ".join(f"{100 * rate:.0f}" for rate in means.index.unique("rate"))
    return Table([f"{measure} at {rates}%", *NAMES.values()], lines)


def results(rows):
    """Return a table for each measure, and the CPU seconds of fits."""
    tables = {measure: table(rows, measure) for measure in ("cosine", "kl_divergence")}
    seconds = rows.groupby(["dataset", "method"])["fit_seconds"].mean().unstack()[list(NAMES)]
    lines = [[name, *(digits(each, 2) for each in own)] for name, own in seconds.iterrows()]
    tables["seconds"] = Table(["CPU seconds of a fit", *NAMES.values()], lines)
    return Results(tables)


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", default="winldl_chosen.sqlite")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    return parser.parse_args(words)


def measured(given):
    """Finish the run and return its rows."""
    for method in NAMES:
        run(cells(given.datasets, [method], given.splits), given.store, jobs=given.jobs)
    rows = Store(given.store).frame()
    return rows[rows["status"] == "ok"]


def main():
    """Finish the run and print the tables."""
    results(measured(options())).show()


if __name__ == "__main__":
    main()
