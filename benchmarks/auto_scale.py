"""Fit AutoInLDL to curved rows on disk, beside its own fit to 100,000 of them, and WInLDL.

    python benchmarks/auto_scale.py                    # 10,000,000 x 50 x 8, float32
    python benchmarks/auto_scale.py --rows 1000000
    python benchmarks/auto_scale.py --grow             # how time grows from 10,000 rows on

The best prediction is known: the softmax of a smooth function of the features. Degrees are that
of the same function with noise, half of them missing. Each fit has a process of its own. The
memory (RLIMIT_DATA: all that is not a mapped file) of fits from disk is limited, to 2.5 GB for
ten million rows.
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

import numpy as np

FEATURES, LABELS, WAVES = 50, 8, 30
TEST_ROWS, SAMPLE = 20_000, 100_000
PIECE = 100_000
METHODS = ("winldl", "sample", "all")


def curved(rows, seed):
    """Return features, degrees of which half are missing, and the best prediction."""
    law, rng = np.random.default_rng(123), np.random.default_rng(seed)
    directions = law.normal(size=(FEATURES, WAVES), scale=0.7 / FEATURES**0.5)
    phases, heights = law.uniform(0, 2 * np.pi, WAVES), law.normal(size=(WAVES, LABELS))
    X = rng.standard_normal((rows, FEATURES), dtype=np.float32)
    scores = np.cos(X @ directions + phases) @ (3 / WAVES**0.5 * heights)
    y = softmax(scores + rng.normal(size=scores.shape, scale=0.3))
    y[rng.random(y.shape) < 0.5] = np.nan
    return X, y.astype(np.float32), softmax(scores)


def softmax(scores):
    P = np.exp(scores - scores.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def write_files(folder, rows):
    """Write features and degrees, a piece at a time."""
    with Path(folder, "X.bin").open("wb") as features, Path(folder, "y.bin").open("wb") as degrees:
        for start in range(0, rows, PIECE):
            X, y, _ = curved(min(PIECE, rows - start), seed=start + 1)
            features.write(X.tobytes())
            degrees.write(y.tobytes())


def opened(folder, rows):
    """Return features and degrees as mapped files."""
    sizes = ("X.bin", FEATURES), ("y.bin", LABELS)
    return [
        np.memmap(Path(folder, name), np.float32, "r", shape=(rows, width))
        for name, width in sizes
    ]


def measure(folder, rows, method, members):
    """Fit once, and print what it took and how good it is."""
    from inldl import AutoInLDL, WInLDL
    from inldl.metrics import evaluate

    rows = int(rows)
    X, y = opened(folder, rows)
    if method == "sample" or rows <= SAMPLE:
        chosen = np.random.default_rng(0).permutation(rows)[:SAMPLE]
        X, y = (np.array(a[np.sort(chosen)]) for a in (X, y))
    elif rows >= 1_000_000:
        limit = int(0.6e9 + 1.9e9 * rows / 1e7)
        limit = max(limit, int(2e9))
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    some = {"members": tuple(members.split("+"))} if members else {}
    auto = AutoInLDL(random_state=0, n_jobs=2, **some)
    model = WInLDL(n_jobs=2) if method == "winldl" else auto
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    found = {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    new, _, best = curved(TEST_ROWS, seed=0)
    measures = evaluate(best, model.predict(new), ["cosine", "kl_divergence"])
    found |= {name: float(value) for name, value in measures.items()}
    found["report"] = str(getattr(model, "report_", ""))
    print(json.dumps(found))


def run(folder, rows, method, members=""):
    """Measure in a process of its own."""
    command = [sys.executable, __file__, "--measure", folder, str(rows), method, members]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def compare(rows, parent, methods, members):
    """Run all fits, and print what they took."""
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        write_files(folder, rows)
        print(f"{rows:,} x {FEATURES} x {LABELS}, float32")
        for method in methods:
            found = run(folder, rows, method, members)
            print(
                f"{method:7} cosine {found['cosine']:.4f}, KL {found['kl_divergence']:.4f}, "
                f"{found['seconds']:6.1f} s, {found['cpu']:6.1f} CPU s, "
                f"peak {found['peak'] / 1e9:.2f} GB\n{found['report']}",
                flush=True,
            )


def grow(parent, members):
    """Print the CPU seconds of fits to more and more rows, and the exponent of their growth."""
    sizes, seconds = [10_000, 100_000, 1_000_000], []
    for rows in sizes:
        with tempfile.TemporaryDirectory(dir=parent) as folder:
            write_files(folder, rows)
            seconds.append(run(folder, rows, "all", members)["cpu"])
        print(f"{rows:9,} rows: {seconds[-1]:6.1f} CPU s", flush=True)
    exponent = np.log(seconds[-1] / seconds[0]) / np.log(sizes[-1] / sizes[0])
    print(f"exponent {exponent:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", help="where to put the files; a temporary folder by default")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--members", default="", help="of AutoInLDL, joined by +; all by default")
    parser.add_argument("--grow", action="store_true")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure)
    elif options.grow:
        grow(options.folder, options.members)
    else:
        compare(options.rows, options.folder, options.methods.split(","), options.members)


if __name__ == "__main__":
    main()
