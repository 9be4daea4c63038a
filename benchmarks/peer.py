"""Put python-ldl's WInLDL beside ours: time, memory, and accuracy on unseen rows.

python-ldl (it is imported as `pyldl`) is a collection of methods for label distribution learning.
Nothing of ours needs it. Install it where inldl is: `pip install python-ldl`. What is used here
needs only its packages qpsolvers and quadprog beside NumPy, SciPy and scikit-learn; keras is
installed, never imported, and needs no backend.

    python benchmarks/peer.py                 all tables, about twenty minutes
    python benchmarks/peer.py --markdown      the tables of docs/peer.md
    python benchmarks/peer.py --datasets SJAFFE,SBU_3DFE --rounds 3

Both see the same rows, holes, features and splits (`inldl_paper.experiments.protocol`), half of
the degrees missing, and are judged by `inldl.metrics`. python-ldl wants 0 for a missing degree
and a boolean mask that is True there; both are made before the clock runs. It is run

- "default settings": `WInLDL().fit(X, D, mask)`, at most 100 iterations, no bias;
- "our settings": a column of ones added to X, 50 iterations, and our rule for stopping.

Times are CPU seconds of `fit` with one BLAS thread after a first fit that is not counted, the best
of several, taking turns. Memory is how far the peak of a fresh process rises during one fit above
what it held before, with the data (Linux only). A method that fails is a row that says why.
"""

import argparse
import subprocess
import sys
import warnings
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
from sklearn.linear_model import RidgeCV
from threadpoolctl import threadpool_limits

from fit_speed import ITERATIONS, SHAPES, best, make
from inldl import AutoInLDL, WInLDL
from inldl.datasets import load
from inldl.methods import ConstantLDL, RegressorLDL
from inldl.metrics import evaluate
from inldl_paper.experiments import SPLITS, make_fold
from inldl_paper.experiments.machine import environment
from inldl_paper.experiments.runner import one_line
from inldl_paper.literature import BFGSLDL, IISLDL, InLDLADMM
from kept import Results, Table
from plain_numpy import with_bias

DATASETS = "SJAFFE,SBU_3DFE,Natural_Scene,Movie,SCUT_FBP,emotion6,Yeast_alpha"
HELD = [(11150, 200, 8), (17892, 36, 68), (200_000, 100, 10)]  # shapes of the table of memory
METRICS = ["cosine", "clark", "kl_divergence"]
TABLES = ["times", "memory", "accuracy", "others", "odd inputs"]


class Peer:
    """A method of python-ldl with the face of ours, but for the arguments of `fit`.

    `tol` is for its rule "error", the largest change of W and Z.
    """

    def __init__(self, name, bias=False, tol=None, masked=True, **options):
        self.name, self.bias, self.tol = name, bias, tol
        self.masked, self.options = masked, options

    def prepare(self, X, y):
        """Return the arguments of `fit`: 0 where a degree is missing, and a mask True there."""
        holes = np.isnan(y)
        X = with_bias(X) if self.bias else X
        return X, np.where(holes, 0.0, y), {"mask": holes} if self.masked else {}

    def fit(self, X, D, mask):
        """Fit a new model."""
        import pyldl.algorithms

        self.model = getattr(pyldl.algorithms, self.name)(random_state=0)
        if self.tol is not None:
            self.model.EPS_ERR = self.tol
        self.model.fit(X, D, **mask, **self.options)

    def predict(self, X):
        """Return what it predicts."""
        return self.model.predict(with_bias(X) if self.bias else X)

    @property
    def n_iter_(self):
        """Return the iterations done, NaN if it does not say."""
        return getattr(self.model, "_current_iteration", np.nan)


def prepared(way, X, y):
    """Return the arguments of `fit`."""
    return way.prepare(X, y) if isinstance(way, Peer) else (X, y)


def ways():
    """Return what is compared, by name."""
    as_ours = {"bias": True, "tol": 1e-4, "max_iterations": 50, "stopping_criterion": "error"}
    return {
        "inldl": WInLDL(),
        "python-ldl, default settings": Peer("WInLDL"),
        "python-ldl, our settings": Peer("WInLDL", **as_ours),
        "RidgeCV per label": RegressorLDL(RidgeCV(np.logspace(-5, 1, 7))),
        "mean": ConstantLDL("mean"),
        "AutoInLDL": AutoInLDL(random_state=0),
    }


def seconds(compared, X, y, rounds):
    """Return the best CPU seconds of a fit of each, taking turns."""
    tasks = []
    for way in compared:
        given = prepared(way, X, y)
        way.fit(*given)
        tasks.append(lambda way=way, given=given: way.fit(*given))
    return best(tasks, rounds)


def times(rounds):
    """Return the rows of the table of times on the ten shapes."""
    fifty = {"max_iterations": ITERATIONS, "stopping_criterion": None}
    compared = [
        WInLDL(tol=0.0, max_iter=ITERATIONS),
        Peer("WInLDL", bias=True, **fifty),
        Peer("WInLDL"),
    ]
    rows, total = [], np.zeros(3)
    for name, shape in SHAPES.items():
        taken = np.array(seconds(compared, *make(*shape), rounds))
        total += taken
        rows.append([f"{name} {shape}", *timed(taken), compared[2].n_iter_])
    return [*rows, ["all ten", *timed(total), ""]]


def timed(taken):
    """Return the cells of three times: ours, theirs, the ratio, theirs with default settings."""
    return f"{taken[0]:.3f}", f"{taken[1]:.3f}", f"{taken[1] / taken[0]:.1f}", f"{taken[2]:.3f}"


def memory(rounds):
    """Return the rows of the table of memory, the least of several fresh processes."""
    rows = []
    for n, k, C in HELD:
        found = [
            min(peak(name, n, k, C) for _ in range(rounds)) for name in ("inldl", "python-ldl")
        ]
        megabytes = [f"{each / 1e6:.0f}" for each in (8 * n * k, 8 * n * C, *found)]
        rows.append([f"({n}, {k}, {C})", *megabytes])
    return rows


def peak(name, *shape):
    """Return by how many bytes a fit raises the peak of a fresh process."""
    command = [sys.executable, __file__, "--peak", name, *map(str, shape)]
    done = subprocess.run(command, capture_output=True, text=True)
    return np.nan if done.returncode else int(done.stdout)


def tell_peak(name, *shape):
    """Print by how many bytes five iterations, of which each holds the same, raise the peak."""
    from inldl_paper.experiments.machine import memory, reset_peak_memory

    way = WInLDL(max_iter=5) if name == "inldl" else Peer("WInLDL", max_iterations=5)
    way.fit(*prepared(way, *make(200, 3, 4)))  # loads and compiles
    given = prepared(way, *make(*map(int, shape)))
    before = reset_peak_memory()
    way.fit(*given)
    print(memory() - before)


def accuracy(names):
    """Return the rows of the table of accuracy: means over the splits."""
    rows = []
    for name in names:
        X, y = load(name, return_X_y=True)
        folds = [make_fold(name, X, y, rate=0.5, split=split) for split in range(SPLITS)]
        rows += [[name, *row] for row in judged(ways(), folds)]
    return rows


def judged(compared, folds):
    """Return a row for each way: mean metrics, seconds, iterations, rows that are wrong."""
    found = [[judged_once(way, fold) for way in compared.values()] for fold in folds]
    return [[name, *means(each)] for name, *each in zip(compared, *found, strict=True)]


def means(found):
    """Return the cells of a row from those of its splits, or why one of them failed."""
    failed = [each for each in found if isinstance(each, str)]
    if failed:
        return [failed[0], *[""] * 5]
    *metrics, taken, n_iter, bad = np.mean(found, axis=0)
    n_iter = "" if np.isnan(n_iter) else f"{n_iter:.0f}"
    return [*(f"{m:.4f}" for m in metrics), f"{taken:.3f}", n_iter, f"{bad * len(found):.0f}"]


def judged_once(way, fold, rounds=2):
    """Return metrics on the test rows, seconds, iterations, bad rows; or why there are none."""
    try:
        taken = seconds([way], fold.X, fold.y, rounds)[0]
        predicted = way.predict(fold.X_test)
        metrics = evaluate(fold.y_test, predicted, METRICS)
    except Exception as error:
        return one_line(error)
    n_iter = getattr(way, "n_iter_", np.nan)
    return [*(metrics[name] for name in METRICS), taken, n_iter, bad_rows(predicted)]


def bad_rows(predicted):
    """Return how many rows are negative, not finite, or do not sum to 1."""
    good = (predicted >= 0).all(axis=1) & (np.abs(predicted.sum(axis=1) - 1) < 1e-6)
    return len(predicted) - good.sum()


def others(names):
    """Return the rows of the methods that both have, ours set as theirs, on one split."""
    bare = {"fit_intercept": False}
    pairs = {
        "InLDL-a": (0.5, InLDLADMM(lam=1e-3, ridge=0.0, **bare), Peer("IncomLDL")),
        "softmax, L-BFGS": (
            0.0, BFGSLDL(l2=0.0, max_iter=500, **bare), Peer("SA_BFGS", masked=False)
        ),
        "softmax, IIS, 3 iterations": (
            0.0,
            IISLDL(max_iter=3, tol=0.0, **bare),
            Peer("SA_IIS", masked=False, max_iterations=3),
        ),
    }  # fmt: skip
    rows = []
    for name in names:
        X, y = load(name, return_X_y=True)
        for method, (rate, *compared) in pairs.items():
            fold = make_fold(name, X, y, rate=rate, split=0)
            both = dict(zip(("inldl", "python-ldl"), compared, strict=True))
            rows += [[name, method, f"{rate:.0%}", *row] for row in judged(both, [fold])]
    return rows


def odd_inputs():
    """Return what becomes of inputs that are not as they should be."""
    X, y = make(500, 5, 4)
    ours, theirs = WInLDL(), Peer("WInLDL")
    never = np.column_stack([np.zeros(len(y)), y[:, 1:]])
    hole = np.where(np.arange(X.size).reshape(X.shape) == 7, np.nan, X)
    given = {
        "missing degrees are NaN": (X, y, theirs.prepare(X, y)[2]),
        "a label is always 0": theirs.prepare(X, never),
        "a feature is NaN in one row": theirs.prepare(hole, y),
    }
    same = (X, y), (X, never), (hole, y)
    return [
        [name, outcome(ours, X, own), outcome(theirs, X, arguments)]
        for (name, arguments), own in zip(given.items(), same, strict=True)
    ]


def outcome(way, X, arguments):
    """Return what a fit gave, in words."""
    try:
        way.fit(*arguments)
        bad = bad_rows(way.predict(X))
    except Exception as error:
        return one_line(error)
    return f"{bad} of {len(X)} rows predicted are no distributions" if bad else "distributions"


def show(title, columns, rows, markdown):
    """Print a table."""
    cells = [columns, *([str(cell) for cell in row] for row in rows)]
    if markdown:
        cells.insert(1, ["---", *["---:"] * (len(columns) - 1)])
        print("", *(f"| {' | '.join(row)} |" for row in cells), "", sep="\n", flush=True)
        return
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    print(f"\n{title}", flush=True)
    for row in cells:
        print("  ".join(map(str.ljust, row, widths)).rstrip(), flush=True)


def measured(given):
    """Return the heading, the columns and the rows of each table, by a short name."""
    names, found = given.datasets.split(","), ["s", "iterations", "bad rows"]
    fit = ["shape (n, k, C)", "inldl", "python-ldl", "ratio", "default settings", "iterations"]
    held = ["shape (n, k, C)", "X", "y", "inldl", "python-ldl"]
    columns = ["data", "method", *METRICS, *found]
    more = ["data", "method", "missing", "library", *METRICS, *found]
    odd = ["input", "inldl", "python-ldl"]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits that end early on purpose, and 0 / 0 in the peer
        tables = {
            "times": ("CPU seconds of 50 iterations", fit, lambda: times(given.rounds)),
            "memory": ("MB beyond the data during a fit", held, lambda: memory(2)),
            "accuracy": ("Unseen rows, means of five splits", columns, lambda: accuracy(names)),
            "others": ("Other methods, ours set as theirs", more, lambda: others(names[:2])),
            "odd inputs": ("Odd inputs", odd, odd_inputs),
        }
        wanted = {name: tables[name] for name in given.only}
        return {name: (title, head, made()) for name, (title, head, made) in wanted.items()}


def results(found):
    """Return all tables."""
    words = {"accuracy": 2, "others": 4, "odd inputs": 3, "memory": 1, "times": 1}
    return Results(
        {
            name: Table(columns, [[str(cell) for cell in row] for row in rows], words[name])
            for name, (_, columns, rows) in found.items()
        },
        {"version of python-ldl": version("python-ldl")},
    )


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="best of how many (default 5)")
    parser.add_argument("--datasets", default=DATASETS, help=f"public ones (default {DATASETS})")
    parser.add_argument("--markdown", action="store_true", help="print tables as Markdown")
    parser.add_argument("--only", nargs="+", default=TABLES, choices=TABLES, help="these tables")
    parser.add_argument("--peak", nargs=4, help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main():
    given = options()
    if find_spec("pyldl") is None:
        sys.exit("This comparison needs python-ldl beside inldl: pip install python-ldl")
    if given.peak:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tell_peak(*given.peak)
        return
    machine = {"python-ldl": version("python-ldl"), **environment()}
    print(", ".join(f"{name} {text}" for name, text in machine.items()))
    for title, columns, rows in measured(given).values():
        show(title, columns, rows, given.markdown)


if __name__ == "__main__":
    main()
