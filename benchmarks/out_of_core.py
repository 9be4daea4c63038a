"""Fit WInLDL to features on disk that do not fit into the memory, beside features in memory.

    python benchmarks/out_of_core.py                    # 10,000,000 x 50 x 8, float32
    python benchmarks/out_of_core.py --rows 1000000

The fit from mapped files runs with a limit of the memory (RLIMIT_DATA: all that is not a mapped
file) of 2.5 GB for ten million rows, and the fit in memory runs without a limit. Both end with the
same bits. Beside them, the seconds of reading all features once from Parquet: a fit would need
them in each iteration if its rows were not stored as plain numbers.
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

FEATURES, LABELS = 50, 8
COLUMNS = [f"x{j}" for j in range(FEATURES)] + [f"y{j}" for j in range(LABELS)]


def write_files(folder, rows):
    """Write features and degrees, half of them missing, a piece at a time, and both as Parquet."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    weights = rng.normal(size=(FEATURES, LABELS), scale=0.3)
    with Path(folder, "X.bin").open("wb") as features, Path(folder, "y.bin").open("wb") as degrees:
        for start in range(0, rows, 100_000):
            X = rng.normal(size=(min(100_000, rows - start), FEATURES))
            y = np.exp(X @ weights + rng.normal(size=(len(X), LABELS)))
            y /= y.sum(axis=1, keepdims=True)
            y[rng.random(y.shape) < 0.5] = np.nan
            X, y = X.astype(np.float32), y.astype(np.float32)
            features.write(X.tobytes())
            degrees.write(y.tobytes())
            both = pd.DataFrame(np.hstack([X, y]), columns=COLUMNS)
            both.to_parquet(Path(folder, f"{start:09}.parquet"))


def opened(folder, rows, where):
    """Return features and degrees as the fit gets them."""
    import numpy as np

    files = [
        np.memmap(Path(folder, name), np.float32, "r", shape=(rows, columns))
        for name, columns in (("X.bin", FEATURES), ("y.bin", LABELS))
    ]
    return [np.array(file) for file in files] if where == "memory" else files


def fit(folder, rows, where):
    """Fit once; return the coefficients and the iterations."""
    from inldl import WInLDL

    if where == "disk":
        limit = int(0.6e9 + 1.9e9 * rows / 1e7)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    X, y = opened(folder, rows, where)
    clocks = time.perf_counter(), time.process_time()
    model = WInLDL(n_jobs=2).fit(X, y)
    return clocks, model.coef_.tolist(), model.n_iter_


def read_parquet(folder):
    """Read all features once."""
    import dask
    import dask.dataframe as dd

    features = dd.read_parquet(Path(folder, "*.parquet"))[COLUMNS[:FEATURES]]
    clocks = time.perf_counter(), time.process_time()
    chunks = features.to_dask_array().to_delayed().ravel()
    dask.compute(*map(dask.delayed(len), chunks), scheduler="threads", num_workers=2)
    return clocks, [], 1


def measure(folder, rows, where):
    """Fit or read once, and print what it took."""
    done = read_parquet(folder) if where == "parquet" else fit(folder, int(rows), where)
    (wall, cpu), coef, iterations = done
    found = {
        "seconds": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "iterations": iterations,
        "coef": coef,
    }
    print(json.dumps(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", help="where to put the files; a temporary folder by default")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure)
    else:
        compare(options.rows, options.folder)


def compare(rows, parent):
    """Run the fits in processes of their own, and print what they took."""
    import numpy as np

    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        write_files(folder, rows)
        size = Path(folder, "X.bin").stat().st_size + Path(folder, "y.bin").stat().st_size
        print(f"{rows:,} x {FEATURES} x {LABELS}, float32: {size / 1e9:.2f} GB on disk")
        expected = None
        for where in ("memory", "disk", "parquet"):
            command = [sys.executable, __file__, "--measure", folder, str(rows), where]
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
            found = json.loads(done.stdout)
            coef = np.array(found["coef"])
            expected = coef if expected is None else expected
            same = f", same bits: {np.array_equal(coef, expected)}" if coef.size else ""
            print(
                f"from {where:8} {found['seconds']:6.1f} s, {found['cpu']:6.1f} CPU s, "
                f"{found['iterations']} iterations, peak {found['peak'] / 1e9:.2f} GB{same}",
                flush=True,
            )


if __name__ == "__main__":
    main()
