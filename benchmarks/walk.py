"""Count what a reader walks through: functions, modules and calls of two everyday tasks.

The first is ``inldl complete survey.csv --labels a,b,c -o whole.csv`` on 90 rows, the second
``WInLDL(max_iter=2).fit(X, y)``. Only code of the library counts. A call crosses packages if the
nearest function of the library on the stack belongs to another package, which is the first name
below `inldl`; calls from outside have no such function on the stack. Each task is run once before
it is counted, so that imports and compiling are not.

    python benchmarks/walk.py
    python benchmarks/walk.py --list              also the modules, and who calls whom
"""

import argparse
import contextlib
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

import inldl

HOME = str(Path(inldl.__file__).parent) + "/"


# What the library calls these things.


def run_complete():
    from inldl.cli.app import app

    words = "complete survey.csv --labels a,b,c -o whole.csv --overwrite"
    done = CliRunner().invoke(app, words.split(), catch_exceptions=False)
    assert done.exit_code == 0, done.output


def run_fit(X, y):
    from inldl import WInLDL

    WInLDL(max_iter=2).fit(X, y)


class Walk:
    """Count the calls of functions of the library while a task runs."""

    def __init__(self):
        self.functions, self.modules, self.crossings = Counter(), Counter(), Counter()
        self.entries = 0  # calls with no function of the library on the stack

    def run(self, task):
        """Run a task and count."""
        sys.setprofile(self._see)
        try:
            task()
        finally:
            sys.setprofile(None)
        return self

    def _see(self, frame, event, argument):
        """Count a call; comprehensions and each turn of a generator are calls as well."""
        code = frame.f_code
        if event != "call" or not counts(code):
            return
        self.functions[code] += 1
        self.modules[code.co_filename] += 1
        # the frame that numba shows for a compiled function is not on the stack
        caller = nearest(frame.f_back or sys._getframe(1))
        if caller is None:
            self.entries += 1
        elif package(caller) != package(code.co_filename):
            self.crossings[package(caller), package(code.co_filename)] += 1

    def __str__(self):
        calls, crossings = self.functions.total(), self.crossings.total()
        return (
            f"{len(self.functions):,} functions, {len(self.modules)} modules, {calls:,} calls, "
            f"{crossings:,} of them across packages and {self.entries:,} from outside"
        )


def counts(code):
    """Return whether code is a function of the library, not the body of a module."""
    return code.co_filename.startswith(HOME) and code.co_name != "<module>"


def nearest(frame):
    """Return the file of the nearest function of the library on the stack, or None."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(HOME):
            return frame.f_code.co_filename
        frame = frame.f_back
    return None


def package(file):
    """Return the first name below the library."""
    return file.removeprefix(HOME).split("/")[0].removesuffix(".py")


def make_survey():
    """Return features and shares of three labels, some of which are missing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.exp(0.5 * X @ rng.normal(size=(3, 3)) + 0.3 * rng.normal(size=(90, 3)))
    y = np.round(100 * y / y.sum(axis=1, keepdims=True))
    y[:, 0] = 100 - y[:, 1:].sum(axis=1)
    holes = rng.random(y.shape) < 0.2
    return X.round(3), np.where(holes, np.nan, y)


def walk_complete():
    """Count a run of the command."""
    X, y = make_survey()
    frame = pd.DataFrame(np.hstack([X, y]), columns=["age", "income", "rooms", *"abc"])
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        frame.to_csv("survey.csv", index=False)
        run_complete()
        return Walk().run(run_complete)


def walk_fit():
    """Count a fit."""
    X, y = make_survey()
    run_fit(X, y / 100)
    return Walk().run(lambda: run_fit(X, y / 100))


def show(name, walk, listed):
    """Print the counts, and more of them if asked to."""
    print(f"{name}: {walk}")
    if listed:
        for file, count in walk.modules.most_common():
            print(f"    {count:6,} calls in {file.removeprefix(HOME)}")
        for (caller, called), count in walk.crossings.most_common():
            print(f"    {count:6,} calls from {caller} to {called}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="name modules and packages as well")
    arguments = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        show("inldl complete", walk_complete(), arguments.list)
        show("WInLDL.fit", walk_fit(), arguments.list)


if __name__ == "__main__":
    main()
