"""Fit WInLDL to features on disk that do not fit into the memory, beside features in memory.

    python benchmarks/out_of_core.py                    # 10,000,000 x 50 x 8, float32
    python benchmarks/out_of_core.py --rows 1000000

The fit from mapped files runs with a limit of the memory (RLIMIT_DATA: all that is not a mapped
file) of 2.5 GB for ten million rows, the fit from Parquet is told to use so much, and the fit in
memory runs without a limit. Mapped files end with the bits of memory. Parquet is added up in
other parts: its last digits differ.
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
    if where == "parquet":
        import dask.dataframe as dd

        both = dd.read_parquet(Path(folder, "*.parquet"))
        return both[COLUMNS[:FEATURES]], both[COLUMNS[FEATURES:]]
    import numpy as np

    files = [
        np.memmap(Path(folder, name), np.float32, "r", shape=(rows, columns))
        for name, columns in (("X.bin", FEATURES), ("y.bin", LABELS))
    ]
    return [np.array(file) for file in files] if where == "memory" else files


def measure(folder, rows, where):
    """Fit once, and print what it took."""
    from inldl import WInLDL

    rows = int(rows)
    limit = int(0.6e9 + 1.9e9 * rows / 1e7)
    if where == "disk":
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    if where == "parquet":
        import dask

        dask.config.set({"inldl.memory-limit": limit})
    X, y = opened(folder, rows, where)
    wall, cpu = time.perf_counter(), time.process_time()
    model = WInLDL(n_jobs=2).fit(X, y)
    found = {
        "seconds": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "iterations": model.n_iter_,
        "coef": model.coef_.tolist(),
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
            print(
                f"from {where:8} {found['seconds']:6.1f} s, {found['cpu']:6.1f} CPU s, "
                f"{found['iterations']} iterations, peak {found['peak'] / 1e9:.2f} GB, "
                f"largest difference {np.abs(coef - expected).max():.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
