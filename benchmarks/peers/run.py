"""Complete real tables of shares with inldl and with the imputers of R and Python.

    python benchmarks/peers/run.py --tables FOLDER --store peers.jsonl    # run what is missing
    python benchmarks/peers/run.py --tables FOLDER --store peers.jsonl --only inldl --label new
    python benchmarks/peers/run.py --store peers.jsonl --report --label new --details

A table is a .csv file with features (x_ columns, there may be none) and parts (y_ columns). Every
method gets the same features: standardised, text one-hot encoded, or left out if it has over 20
levels. At most 600 rows of a table take part (`--rows`). `--field all` adds public sets of label
distributions: 300 rows, 10 principal components. There are six kinds of holes, seeded by table,
kind and trial:

- 10%, 30%, 60%: of the cells, at random;
- largest: the larger half of the parts of each row is recorded;
- censored: the lowest quarter of each part is only known to lie below a limit, its 25% quantile.
  inldl, mice, Amelia, zCompositions and the chained imputers get the limits. Others take such a
  cell for missing. No result exceeds its limit;
- rows: 30% of the rows are empty.

What a peer fills in is scaled to what the row leaves; what it leaves missing gets column means.
Before logarithms are taken, zeros become half of the smallest positive value of the part. Holes
that the row's sum does not give are scored:

- RMSE, MAE, and the mean Aitchison distance of rows with such holes (shares below half of the
  smallest positive value of the part count as that);
- CRPS of draws, also of their logarithms, which does not depend on the number of draws. mice,
  Amelia, miceforest and lrDA make 5 imputations: these are draws, and their mean is the estimate;
- coverage and Winkler score of the 90% intervals of inldl.

Needs R with mice, Amelia and VIM (Debian: r-cran-mice, r-cran-amelia, r-cran-vim). missForest,
zCompositions, robCompositions and the Python package miceforest (with lightgbm before 4.6) run
where they are installed. Every result is stored with the version of its package, failures with
their reason, and a second run only does what is missing. `--label` names a measurement of inldl.
"""

import argparse
import json
import warnings
from pathlib import Path

import pandas as pd
from threadpoolctl import threadpool_limits

import methods
import rscripts
from cells import FIELD, KINDS, hide, tables
from report import report
from report import results as tables_of
from scores import measure

KEY = ["table", "kind", "trial", "method", "version"]


class Store:
    """Scores in a file with a line of JSON for each cell, method and version; the last counts."""

    def __init__(self, path):
        self._path, lines = Path(path), []
        if self._path.exists():
            lines = [json.loads(line) for line in self._path.read_text().splitlines()]
        frame = pd.DataFrame(lines, columns=None if lines else [*KEY, "skipped"])
        self.frame = frame.drop_duplicates(KEY, keep="last")

    def keys(self, retry):
        """Return what need not run again; with `retry`, failures do."""
        kept = self.frame[self.frame.skipped.isna()] if retry else self.frame
        return set(kept[KEY].itertuples(index=False, name=None))

    def add(self, cell, method, version, arrays, seconds):
        """Score a result and keep it; for a failure arrays are None, and seconds the reason."""
        line = dict(zip(KEY, (*cell.key, method, version), strict=True)) | {"skipped": None}
        if arrays is None:
            line["skipped"], said = seconds, f"skipped: {seconds}"
        else:
            line |= {"seconds": seconds} | measure(cell, **arrays)
            said = f"RMSE {line['rmse']:.4f}, Aitchison {line['aitchison']:.3f}, {seconds:.1f} s"
        with open(self._path, "a") as lines:
            print(json.dumps(line), file=lines)
        print(*cell.key, method, said, sep=" | ", flush=True)


def run_table(store, cells, versions, done, timeout):
    """Run every method on the cells of a table that the store does not have."""
    tasks = [
        (cell, method)
        for cell in cells
        for method, version in versions.items()
        if cell.upper is not None or method not in methods.NEED_LIMITS
        if (*cell.key, method, version) not in done
    ]
    for cell, method in [task for task in tasks if task[1] not in rscripts.FAMILY_OF]:
        try:
            found = methods.complete(method, cell, timeout)
        except Exception as error:  # a peer may fail in any way; it is recorded
            found = None, f"{type(error).__name__}: {error}"[:200]
        store.add(cell, method, versions[method], *found)
    in_r = [task for task in tasks if task[1] in rscripts.FAMILY_OF]
    for cell, method, *found in rscripts.complete(in_r, timeout):
        store.add(cell, method, versions[method], *found)


def chosen_versions(only, label):
    """Return the methods to run with their versions; print which are skipped and why."""
    ours = methods.OURS if methods.error_place() else methods.OURS[:1]
    found = dict.fromkeys(ours, label) | methods.versions() | rscripts.versions()
    found = {m: v for m, v in found.items() if not only or m.startswith(tuple(only))}
    for method in [method for method, version in found.items() if version is None]:
        package = rscripts.FAMILY_OF.get(method, method)
        print(f"{method} is skipped: the package {package} is not installed", flush=True)
    return {method: version for method, version in found.items() if version is not None}


def run_all(store, options):
    versions, done = chosen_versions(options.only, options.label), store.keys(options.retry)
    if options.again:
        done = {key for key in done if key[3] not in methods.OURS}
    field = FIELD if options.field == ["all"] else options.field
    for name, X, truth in tables(options.tables, field, options.rows):
        found = [hide(name, kind, t, X, truth) for kind in options.kinds for t in options.trials]
        with threadpool_limits(1):
            cells = [cell for cell in found if cell is not None]
            run_table(store, cells, versions, done, options.timeout)


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", help="a folder with tables as .csv files")
    parser.add_argument(
        "--field", nargs="*", default=[], metavar="SET", help="public sets, or all"
    )
    parser.add_argument("--store", required=True, help="a file of results")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--trials", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--rows", type=int, default=600, help="of a table at most")
    parser.add_argument("--only", nargs="+", help="methods whose names start so")
    parser.add_argument("--label", default="now", help="of this measurement of inldl")
    parser.add_argument("--again", action="store_true", help="measure inldl again")
    parser.add_argument("--retry", action="store_true", help="run failures again")
    parser.add_argument("--timeout", type=int, default=120, help="seconds for a method in a cell")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--pool", action="store_true", help="report means of trials as one cell")
    parser.add_argument("--details", action="store_true", help="a line for each table and kind")
    return parser.parse_args(words)


def measured(given):
    """Run what is missing, and return all scores."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # imputers seldom converge
        if not given.report:
            run_all(Store(given.store), given)
    return Store(given.store).frame


def results(frame):
    """Return the tables of a page for the measurement "now"."""
    return tables_of(frame, "now")


def main():
    given = options()
    report(measured(given), given.label, given.pool, given.details)


if __name__ == "__main__":
    main()
