"""Complete a large table from file to file: by `inldl`, and by hand with pandas.

    python benchmarks/table_speed.py            # 1,000,000 rows x 20 features x 8 degrees
    python benchmarks/table_speed.py --rows 100000

Each way runs in a process of its own with one BLAS thread. It prints CPU seconds and
peak memory, and both as ratios: to the time by hand, and to the size of the table as numbers.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kept import Results, Table

FEATURES, LABELS = 20, 8


def write_random_table(path, rows):
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(FEATURES)] + [f"d{j}" for j in range(LABELS)]
    for start in range(0, rows, 50_000):
        n = min(50_000, rows - start)
        X = rng.normal(size=(n, FEATURES)).round(6)
        y = rng.dirichlet(np.ones(LABELS), n).round(6)
        y[np.arange(n), y.argmax(axis=1)] += 1 - y.sum(axis=1)
        y[rng.random(y.shape) < 0.5] = np.nan
        frame = pd.DataFrame(np.hstack([X, y]), columns=names)
        frame.to_csv(
            path, mode="a" if start else "w", header=not start, index=False, float_format="%.6f"
        )


def by_hand(path, out):
    import pandas as pd

    from inldl import WInLDL

    parts = {}
    start = time.process_time()
    frame = pd.read_csv(path)
    X, y = frame.filter(regex="^x"), frame.filter(regex="^d")
    parts["read"] = time.process_time() - start
    model = WInLDL().fit(X, y)
    parts["fit"] = time.process_time() - start - sum(parts.values())
    frame[y.columns] = model.complete(X, y)
    parts["complete"] = time.process_time() - start - sum(parts.values())
    frame.to_csv(out, index=False)
    parts["write"] = time.process_time() - start - sum(parts.values())
    return parts


def by_inldl(path, out):
    from inldl.tables import TableFile, complete_table, fit_table

    parts = {}
    start = time.process_time()
    file = TableFile(path, "d*")
    learned = fit_table(file, "winldl")
    parts["read and fit"] = time.process_time() - start
    complete_table(file, learned.model, out, scale=learned.scale, holes=learned.holes)
    parts["read, complete and write"] = time.process_time() - start - sum(parts.values())
    return parts


WAYS = {"by hand": by_hand, "inldl": by_inldl}


def measure(way, path, out):
    """Run one way in this process; print what it took."""
    parts = WAYS[way](path, out)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"total": time.process_time(), "parts": parts, "peak": peak}))


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main():
    given = options()
    if given.measure:
        measure(*given.measure)
    else:
        show(measured(given))


def measured(given):
    """Run both ways in processes of their own, and return what they took."""
    rows = given.rows
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write_random_table(path, rows)
        numbers = rows * (FEATURES + LABELS) * 8
        found = {"about": {"rows": rows, "bytes": path.stat().st_size, "numbers": numbers}}
        for way in ("inldl", *WAYS):  # the first run compiles, and is not counted
            command = [sys.executable, __file__, "--measure", way, path, f"{folder}/out.csv"]
            text = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
            Path(folder, "out.csv").unlink()
            found[way] = json.loads(text)
    return found


def show(found):
    """Print what both ways took."""
    about = found.pop("about")
    print(f"{about['rows']:,} rows: a file of {about['bytes'] / 1e6:.0f} MB, "
          f"{about['numbers'] / 1e6:.0f} MB as numbers")  # fmt: skip
    for way, each in found.items():
        parts = ", ".join(f"{name} {seconds:.1f}" for name, seconds in each["parts"].items())
        ratio = each["total"] / found["by hand"]["total"]
        peak = each["peak"]
        memory = f"{peak / 1e6:.0f} MB, {peak / about['numbers']:.2f} x the numbers"
        print(f"{way:8} {each['total']:6.1f} CPU s ({parts}), {ratio:.2f} x by hand;")
        print(f"{'':8} peak {memory}")


def results(found):
    """Return the table of times and memory."""
    shown = {
        "inldl": "`inldl complete --method winldl`, a piece at a time",
        "by hand": "by hand: pandas reads, `WInLDL()` fits and completes, pandas writes",
    }
    lines = [
        [text, f"{found[way]['total']:.1f}", f"{found[way]['peak'] / 1e6:.0f} MB"]
        for way, text in shown.items()
    ]
    facts = {
        "rows": f"{found['about']['rows']:,}",
        "size of the file": f"{found['about']['bytes'] / 1e6:.0f} MB",
        "times by hand": f"{found['inldl']['total'] / found['by hand']['total']:.1f}",
    }
    return Results({"ways": Table(["", "CPU s", "peak memory"], lines)}, facts)


if __name__ == "__main__":
    main()
