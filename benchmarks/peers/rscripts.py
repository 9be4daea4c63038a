"""Run R packages on a batch of cells: tables go to R and come back as CSV files."""

import subprocess
import tempfile
import time
from pathlib import Path
from shutil import which

import numpy as np
import pandas as pd

from methods import IMPUTATIONS, closed

HERE = Path(__file__).parent
FAMILIES = {  # an R package, which has a script of the same name: its methods
    "mice": ("mice pmm", "mice norm, logs"),
    "Amelia": ("Amelia", "Amelia, logs"),
    "VIM": ("VIM kNN", "VIM irmi"),
    "missForest": ("missForest",),
    "zCompositions": tuple(f"zCompositions {m}" for m in ("multLN", "multRepl", "lrEM", "lrDA")),
    "robCompositions": tuple(f"robCompositions {m}" for m in ("impCoda", "impKNNa")),
}
FAMILY_OF = {method: family for family, methods in FAMILIES.items() for method in methods}


def versions():
    """Return the version of each method in R, None where R or the package is missing."""
    found = {}
    if which("Rscript"):
        code = "write.csv(installed.packages()[, c('Package', 'Version')], row.names = FALSE)"
        listed = subprocess.run(
            ["Rscript", "-e", code], capture_output=True, text=True, check=True
        )
        lines = [line.replace('"', "").split(",") for line in listed.stdout.splitlines()]
        found = {package: f"{package} {number}" for package, number in lines}
    return {method: found.get(family) for method, family in FAMILY_OF.items()}


def complete(tasks, timeout):
    """Yield cell, method, arrays and seconds of each (cell, method); or None and the reason."""
    for family in FAMILIES:
        of_family = [task for task in tasks if FAMILY_OF[task[1]] == family]
        if of_family:
            with tempfile.TemporaryDirectory() as folder:
                yield from run_batch(family, of_family, Path(folder), timeout)


def run_batch(family, tasks, folder, timeout):
    """Run the tasks of a family; R is started again behind a task that it did not come through."""
    index = pd.DataFrame(
        {
            "cell": ["-".join(map(str, cell.key)) for cell, _ in tasks],
            "method": [method for _, method in tasks],
            "file": [method.replace(" ", "_") for _, method in tasks],
        }
    )
    for cell, _ in tasks:
        write(cell, folder / "-".join(map(str, cell.key)))
    first = 0
    while first < len(tasks):
        index[first:].to_csv(folder / "tasks.csv", index=False)
        done = [folder / row.cell / f"{row.file}.done" for row in index[first:].itertuples()]
        failure = run(family, folder, done, timeout)
        finished = next((i for i, path in enumerate(done) if not path.exists()), len(done))
        for (cell, method), path in zip(tasks[first : first + finished], done, strict=False):
            yield cell, method, *read(cell, path)
        first += finished
        if first < len(tasks):
            yield *tasks[first], None, failure
            first += 1


def run(family, folder, done, timeout):
    """Start R and wait until it ends; return why it failed, also if a task takes too long."""
    code = f"source('common.R'); source('{family}.R')"
    with open(folder / "messages", "w") as messages:
        started = subprocess.Popen(
            ["Rscript", "-e", code, str(folder)], cwd=HERE, stdout=messages, stderr=messages
        )
        finished, since = 0, time.monotonic()
        while started.poll() is None:
            time.sleep(0.1)
            if (now := sum(path.exists() for path in done)) > finished:
                finished, since = now, time.monotonic()
            if time.monotonic() - since > timeout:
                started.kill()
                started.wait()
                return f"took more than {timeout} s"
    text = (folder / "messages").read_text(errors="replace").split()
    return f"R ended: {' '.join(text)[-200:]}"


def write(cell, folder):
    folder.mkdir(exist_ok=True)
    parts = [f"part{j}" for j in range(cell.y.shape[1])]
    tables = {"y": cell.y, "logs": cell.logs}
    if cell.limits is not None:
        tables["limits"] = cell.limits[None]
    for name, table in tables.items():
        pd.DataFrame(table, columns=parts).to_csv(folder / f"{name}.csv", index=False, na_rep="NA")
    if cell.X.shape[1]:
        names = [f"x{j}" for j in range(cell.X.shape[1])]
        pd.DataFrame(cell.X, columns=names).to_csv(folder / "X.csv", index=False)


def read(cell, done):
    """Return the arrays of a finished task and its seconds, or None and the reason."""
    seconds, reason = [*done.read_text().split("\n"), ""][:2]
    if reason:
        return None, reason
    values = pd.read_csv(done.with_suffix(".csv")).to_numpy(float)
    tables = list(values.reshape(-1, *cell.y.shape))
    if any(np.isnan(table[cell.holes]).all() for table in tables):
        return None, "left all holes missing"
    several = len(tables) == IMPUTATIONS
    return closed(cell, tables if several else tables[0]), float(seconds)
