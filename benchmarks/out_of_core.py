"""Fit WInLDL to features on disk that do not fit into the memory, beside features in memory.

    python benchmarks/out_of_core.py                    # 10,000,000 x 50 x 8, float32
    python benchmarks/out_of_core.py --rows 1000000

The fit from disk runs with a limit of the memory (RLIMIT_DATA: all that is not a mapped file) of
2.5 GB for ten million rows; the fit in memory runs without one. Both end with the same bits.
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


def write_files(folder, rows):
    """Write features and degrees, half of them missing, a piece at a time."""
    import numpy as np

    rng = np.random.default_rng(0)
    weights = rng.normal(size=(FEATURES, LABELS), scale=0.3)
    with Path(folder, "X.bin").open("wb") as features, Path(folder, "y.bin").open("wb") as degrees:
        for start in range(0, rows, 100_000):
            X = rng.normal(size=(min(100_000, rows - start), FEATURES))
            y = np.exp(X @ weights + rng.normal(size=(len(X), LABELS)))
            y /= y.sum(axis=1, keepdims=True)
            y[rng.random(y.shape) < 0.5] = np.nan
            features.write(X.astype(np.float32).tobytes())
            degrees.write(y.astype(np.float32).tobytes())


def measure(folder, rows, where):
    """Fit once, and print what it took."""
    import numpy as np

    from inldl import WInLDL

    rows = int(rows)
    if where == "disk":
        limit = int(0.6e9 + 1.9e9 * rows / 1e7)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    X, y = (
        np.memmap(Path(folder, name), np.float32, "r", shape=(rows, columns))
        for name, columns in (("X.bin", FEATURES), ("y.bin", LABELS))
    )
    if where == "memory":
        X, y = np.array(X), np.array(y)
    wall, cpu = time.perf_counter(), time.process_time()
    model = WInLDL(n_jobs=2).fit(X, y)
    found = {
        "seconds": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "iterations": model.n_iter_,
        "coef": model.coef_.tobytes().hex(),
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
    """Run both fits in processes of their own, and print what they took."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        write_files(folder, rows)
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        print(f"{rows:,} x {FEATURES} x {LABELS}, float32: {size / 1e9:.2f} GB on disk")
        coefs = set()
        for where in ("disk", "memory"):
            command = [sys.executable, __file__, "--measure", folder, str(rows), where]
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
            found = json.loads(done.stdout)
            coefs.add(found["coef"])
            print(
                f"from {where:6} {found['seconds']:6.1f} s, {found['cpu']:6.1f} CPU s, "
                f"{found['iterations']} iterations, peak {found['peak'] / 1e9:.2f} GB"
            )
        print("the same bits" if len(coefs) == 1 else "NOT the same bits")


if __name__ == "__main__":
    main()
