"""Keep what the library says of twelve small tables, and find out whether it still says so.

The numbers are predictions, completions, intervals, draws, what a saved and loaded model predicts,
and the texts of four commands. They lie in golden.json beside this file: the first rows of each
array, with its sum, mean and quantiles. The tables are made here: bounds, sums of groups, totals,
ratios, loose sums, only the largest shares, weights, votes, dates, a long table, Dask arrays, and
a table with no features.

    python benchmarks/golden.py --check           exits with 1 if a number moved
    python benchmarks/golden.py --check --cases bounds,dask
    python benchmarks/golden.py --write
"""

import argparse
import contextlib
import json
import re
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pandas as pd
from typer.testing import CliRunner

KEPT = Path(__file__).with_suffix(".json")
ROWS = 6  # of each array that are kept, all of them with their sum, mean and quantiles
DIGITS = 15
CLOSE = 1e-9
MOST_SHOWN = 5
COVERAGE, DRAWS, SEED = 0.9, 2, 7
METHODS = "winldl,ridge"  # of compare


# What the library calls these things. A new name is one line here.


def make_winldl(**parameters):
    from inldl import WInLDL

    return WInLDL(**parameters)


def make_auto(**parameters):
    from inldl import AutoInLDL

    return AutoInLDL(random_state=0, **parameters)


def make_model(method):
    from inldl import TableModel

    return TableModel(method)


def read(path, labels, **options):
    from inldl import read_table

    return read_table(path, labels, **options)


def limits_of(table):
    return table.known.arguments()


def fit(model, X, y, **known):
    return model.fit(X, y, **known)


def predict(model, X):
    return model.predict(X)


def predict_interval(model, X):
    return model.predict_interval(X, coverage=COVERAGE)


def complete(model, X, y, **known):
    return model.complete(X, y, **known)


def complete_with_intervals(model, X, y, **known):
    return model.complete_interval(X, y, coverage=COVERAGE, **known)


def draw(model, X, y, **known):
    return model.draw(X, y, n_draws=DRAWS, random_state=SEED, **known)


def weigh_votes(X, counts):
    from inldl import vote_weights

    return vote_weights(X, counts, estimator=make_winldl())


def saved_and_loaded(model, path):
    from inldl import load_model, save_model

    save_model(model, path, overwrite=True)
    return load_model(path)


def run_command(words):
    """Return the standard output of a command; what it refuses is its last line."""
    from inldl.cli.app import app

    done = CliRunner().invoke(app, words)
    refused = isinstance(done.exception, (ValueError, OSError))
    if done.exception and not refused:
        raise RuntimeError(f"{words}: {done.output}") from done.exception
    return done.stdout + (f"refused: {done.exception}" if refused else "")


# The tables.


@dataclass
class Case:
    """Hold a table, how it is read, and what it is learned with.

    `reading` are options of all commands, `accepting` of all but inspect, and `learning` of those
    that learn. `written` are options of `complete` alone. `options` are those of `read`. With
    `parameters` the methods are made, and `fitted` is given to `fit`.
    """

    frame: pd.DataFrame
    labels: list
    reading: list = field(default_factory=list)
    accepting: list = field(default_factory=list)
    learning: list = field(default_factory=list)
    written: list = field(default_factory=list)
    options: dict = field(default_factory=dict)
    parameters: dict = field(default_factory=dict)
    fitted: dict = field(default_factory=dict)
    auto: bool = False


def make_rows(seed, n, n_features, n_labels):
    """Return a generator, features, and distributions that follow from them but for some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    logits = 0.6 * X @ rng.normal(size=(n_features, n_labels)) + rng.normal(size=n_labels)
    y = np.exp(logits + 0.3 * rng.normal(size=(n, n_labels)))
    return rng, X.round(4), y / y.sum(axis=1, keepdims=True)


def with_holes(rng, y, share=0.25):
    """Empty some cells of all rows but the first ten."""
    holes = rng.random(y.shape) < share
    holes[:10] = False
    return np.where(holes, np.nan, y)


def as_frame(X, y):
    """Return features and labels side by side, and the names of the labels."""
    labels = [f"label{j}" for j in range(y.shape[1])]
    features = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return features.join(pd.DataFrame(y, columns=labels)), labels


def percentages(y):
    """Round to hundredths of a percent; the first label takes what rows then lack to 100."""
    y = np.round(100 * y, 2)
    y[:, 0] = np.round(100 - y[:, 1:].sum(axis=1), 2)
    return y


def whole_counts(y, totals):
    """Return whole numbers that sum to the totals, near shares."""
    counts = np.floor(y * totals[:, None])
    counts[:, 0] += totals - counts.sum(axis=1)
    return counts


def make_bounds():
    """Shares below 5 percent are printed as <5."""
    rng, X, y = make_rows(1, 90, 4, 5)
    y = percentages(y)
    frame, labels = as_frame(X, with_holes(rng, y, 0.1))
    cells = frame[labels].astype(object)
    frame[labels] = cells.mask(pd.DataFrame((y < 5) & (y >= 0), columns=labels), "<5")
    return Case(frame, labels, auto=True)


def make_group_sums():
    """In some rows two labels are known only together."""
    rng, X, y = make_rows(2, 90, 3, 5)
    y = percentages(y)
    together = np.round(y[:, 1] + y[:, 2], 2)
    y = with_holes(rng, y, 0.1)
    y[20:60, 1:3] = np.nan
    frame, labels = as_frame(X, y)
    frame["both"] = together
    options = {"sums": {"both": labels[1:3]}}
    return Case(frame, labels, reading=["--sum", "both=label1,label2"], options=options)


def make_totals():
    """Counts may be missing, as a column says what they sum to."""
    rng, X, y = make_rows(3, 100, 3, 4)
    totals = rng.integers(40, 400, len(X))
    frame, labels = as_frame(X, with_holes(rng, whole_counts(y, totals)))
    frame["all"] = totals
    reading, options = ["--total", "all"], {"total": "all"}
    return Case(frame, labels, reading=reading, written=["--whole"], options=options, auto=True)


def make_ratios():
    """Missing labels were dropped, and the others rescaled to the whole."""
    rng, X, y = make_rows(4, 90, 4, 5)
    y = with_holes(rng, y)
    y[np.isnan(y).all(axis=1), 0] = 1
    y = np.round(y / np.nansum(y, axis=1, keepdims=True), 6)
    frame, labels = as_frame(X, y)
    return Case(frame, labels, learning=["--ratios"], parameters={"known": "ratios"}, auto=True)


def make_loose_sums():
    """Complete rows sum to 0.85 to 1."""
    rng, X, y = make_rows(5, 100, 4, 5)
    y = np.round(y * rng.uniform(0.85, 1, (len(y), 1)), 4)
    frame, labels = as_frame(X, with_holes(rng, y))
    return Case(frame, labels, accepting=["--normalize"], options={"normalize": True})


def make_top():
    """Only the three largest shares of each row were recorded."""
    _, X, y = make_rows(6, 90, 3, 6)
    smallest = np.sort(y, axis=1)[:, -3, None]
    frame, labels = as_frame(X, np.where(y < smallest, np.nan, y.round(4)))
    return Case(frame, labels, auto=True)


def make_weights():
    """Rows count 0 to 3 times."""
    rng, X, y = make_rows(7, 100, 3, 4)
    weights = rng.integers(0, 4, len(X))
    frame, labels = as_frame(X, with_holes(rng, percentages(y)))
    frame["times"] = weights
    known = {"sample_weight": weights / weights.mean()}
    reading, options = ["--weight", "times"], {"ignore": "times"}
    return Case(frame, labels, reading=reading, options=options, fitted=known, auto=True)


def make_votes():
    """Rows rest on 3, 30 or 300 votes."""
    rng, X, y = make_rows(8, 120, 3, 4)
    votes = rng.choice([3, 30, 300], len(X))
    frame, labels = as_frame(X, with_holes(rng, rng.multinomial(votes, y).astype(float), 0.15))
    frame["votes"] = votes
    reading, options = ["--total", "votes"], {"total": "votes"}
    return Case(frame, labels, reading=reading, learning=["--votes"], options=options)


def make_dates():
    """Shares go with the season of a date and with a town."""
    rng, X, y = make_rows(9, 110, 3, 4)
    days = rng.integers(0, 700, len(X))
    y[:, 0] += 0.4 + 0.4 * np.sin(days / 365.25 * 2 * np.pi)
    y /= y.sum(axis=1, keepdims=True)
    frame, labels = as_frame(X, with_holes(rng, y.round(4)))
    dates = pd.Timestamp("2021-01-01") + pd.to_timedelta(days, unit="D")
    frame["day"] = dates.strftime("%Y-%m-%d")
    frame["town"] = rng.choice(["Aach", "Bonn", "Celle"], len(X))
    return Case(frame, labels)


def make_long():
    """Each row is one label of a thing; some are not there."""
    rng, X, y = make_rows(10, 80, 3, 4)
    frame, labels = as_frame(X, with_holes(rng, percentages(y)))
    frame["thing"] = [f"t{i:03d}" for i in range(len(frame))]
    features = ["thing", "x0", "x1", "x2"]
    frame = frame.melt(features, labels, "kind", "share").sort_values(["thing", "kind"])
    frame = frame[frame["share"].notna() | (rng.random(len(frame)) < 0.7)]
    long = "id=thing,label=kind,value=share"
    return Case(frame, labels, reading=["--long", long], options={"long": long})


def make_no_features():
    """There is nothing but shares."""
    rng, X, y = make_rows(12, 90, 3, 5)
    frame, labels = as_frame(X[:, :0], with_holes(rng, percentages(y)))
    return Case(frame, labels)


# What is kept of a table.


def model_numbers(model, X, y, path, **known):
    """Return what a fitted model says of the rows it was fitted to, and whether a file does."""
    found = {"predict": predict(model, X), "complete": complete(model, X, y, **known)}
    if model.known != "ratios":  # which have neither intervals nor draws
        low, high = predict_interval(model, X)
        found |= {"predict/low": low, "predict/high": high}
        _, low, high = complete_with_intervals(model, X, y, **known)
        found |= {"complete/low": low, "complete/high": high}
        found |= {f"draw{i}": each for i, each in enumerate(draw(model, X, y, **known))}
    loaded = saved_and_loaded(model, path)
    same = np.array_equal(np.asarray(predict(loaded, X)), np.asarray(found["predict"]))
    return found | {"saved and loaded predicts the same": same}


def python_numbers(case, folder):
    """Return what models say of the table, as frames and as arrays."""
    table = read(folder / "table.csv", case.labels, **case.options)
    X, y, known = table.features, table.degrees, limits_of(table)
    votes = {"votes": table.totals} if "--votes" in case.learning else {}
    methods = {"winldl": make_winldl(**case.parameters)}
    if case.auto:
        methods["auto"] = make_auto(**case.parameters)
    found = {"read": y}
    for name, method in methods.items():
        model = fit(make_model(method), X, y, **known, **case.fitted, **votes)
        numbers = model_numbers(model, X, y, folder / f"{name}.inldl", **known)
        found |= {f"model {name}/{key}": value for key, value in numbers.items()}
    return found | array_numbers(case, table, folder)


def array_numbers(case, table, folder):
    """Return what WInLDL says of arrays of the columns that are numbers."""
    X, y = table.features.select_dtypes("number").to_numpy(), table.degrees
    if not X.shape[1]:
        return {}
    known = limits_of(table)
    method = fit(make_winldl(cross_fit=5, **case.parameters), X, y, **known, **case.fitted)
    found = model_numbers(method, X, y, folder / "array.inldl", **known)
    if "--votes" in case.learning:
        counts = np.nan_to_num(table.y) * table.totals[:, None]
        found["vote_weights"] = weigh_votes(X, counts)
    return {f"array/{key}": value for key, value in found.items()}


def commands(case):
    """Return the words of each command, by its name."""
    known = [*case.reading, *case.accepting]
    labels = ["--labels", ",".join(case.labels)]
    table, learning = "table.csv", [*labels, *known, *case.learning]
    unsure = [] if "--ratios" in learning else ["--uncertainty", str(COVERAGE)]
    draws = ["--draws", str(DRAWS)] if unsure else []
    fast = ["--method", "winldl"]
    return {
        "inspect": [table, *labels, *case.reading],
        "complete": [table, *learning, *fast, *case.written, *unsure, *draws, "-o", "whole.csv"],
        "compare": [table, *labels, *known, "--methods", METHODS],
        "fit": [table, *learning, *fast, "-o", "model.inldl"],
        "evaluate": ["model.inldl", table, *known],
        "predict": ["model.inldl", table, *unsure, "-o", "predicted.csv"],
        "complete with auto": [table, *learning, "-o", "auto.csv"],
    }


def command_numbers(case):
    """Return the texts of the commands and the tables that they write."""
    found = {}
    for name, words in commands(case).items():
        if name == "predict" and "--long" in case.reading:
            continue  # new rows are those of a wide table
        if name == "complete with auto" and not case.auto:
            continue
        found[f"text of {name}"] = lines(run_command([name.split()[0], *words]))
    return found | {path.name: numbers_in(path) for path in sorted(Path().glob("*.csv"))}


def numbers_in(path):
    """Return the columns of a written table that are numbers."""
    return pd.read_csv(path).select_dtypes("number")


def lines(text):
    """Return the lines of a text with single spaces, and no column of seconds."""
    found = text.splitlines()
    for header in [line for line in found if re.search(r"\bseconds\b", line)][:1]:
        end = header.index("seconds") + len("seconds")
        start = len(header[: end - len("seconds")].rstrip())
        rows = slice(found.index(header), None)
        found[rows] = [
            line if line.endswith(".") else line[:start] + line[end:] for line in found[rows]
        ]
    return [" ".join(line.split()) for line in found]


def table_case(make):
    """Return what the library says of one table."""
    case = make()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        case.frame.to_csv("table.csv", index=False)
        found = command_numbers(case)
        return found | python_numbers(case, Path(folder))


def dask_case():
    """Return what is learned from lazy arrays, with threads of this process."""
    rng, X, y = make_rows(11, 120, 4, 5)
    X, y = (da.from_array(each, chunks=(40, -1)) for each in (X, with_holes(rng, y)))
    found = {}
    with dask.config.set(scheduler="threads", num_workers=2):
        for name, model in {"winldl": make_winldl(), "auto": make_auto()}.items():
            fit(model, X, y)
            numbers = {"predict": predict(model, X), "complete": complete(model, X, y)}
            if name == "auto":  # the other one has none without rows in memory
                numbers["predict/low"], numbers["predict/high"] = predict_interval(model, X)
                _, low, high = complete_with_intervals(model, X, y)
                numbers |= {"complete/low": low, "complete/high": high}
            found |= {f"{name}/{key}": np.asarray(each) for key, each in numbers.items()}
    return found


CASES = {
    "bounds": make_bounds,
    "group sums": make_group_sums,
    "totals": make_totals,
    "ratios": make_ratios,
    "loose sums": make_loose_sums,
    "top": make_top,
    "weights": make_weights,
    "votes": make_votes,
    "dates": make_dates,
    "long": make_long,
    "dask": None,
    "no features": make_no_features,
}


# What is written and compared.


def rounded(value):
    """Return a number with 15 digits, and None for what is missing."""
    return None if not np.isfinite(value) else float(f"{value:.{DIGITS}g}")


def summary(value):
    """Return what is kept of a text, a truth, an array or a frame."""
    if isinstance(value, (list, bool)):
        return value
    values = np.asarray(value, dtype=float)
    seen = values[np.isfinite(values)]
    moments = [seen.sum(), seen.mean(), *np.quantile(seen, [0, 0.25, 0.5, 0.75, 1])]
    first = np.atleast_2d(values[:ROWS]).tolist()
    return {
        "shape": list(values.shape),
        "columns": list(map(str, getattr(value, "columns", []))),
        "sum, mean, quantiles": [rounded(each) for each in moments],
        "rows": [[rounded(each) for each in row] for row in first],
    }


def find(name):
    """Return all that is kept of one case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dask_case() if CASES[name] is None else table_case(CASES[name])
    return {key: summary(value) for key, value in found.items()}


NUMBER = re.compile(r"(\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?)")


def leaves(value, name=""):
    """Yield the numbers and words of what is kept, each with its name."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from leaves(each, f"{name}/{key}" if name else key)
    elif isinstance(value, list):
        for i, each in enumerate(value):
            yield from leaves(each, f"{name}[{i}]")
    elif isinstance(value, str):
        for i, part in enumerate(NUMBER.split(value)):
            yield f"{name}, part {i}", float(part.replace(",", "")) if i % 2 else part
    else:
        yield name, value


def deviation(before, now):
    """Return how far two leaves are apart, in units of the larger of 1 and their size."""
    if isinstance(before, (int, float)) and isinstance(now, (int, float)):
        return abs(before - now) / max(1, abs(before))
    return 0.0 if before == now else np.inf


def check(name, before, now):
    """Print how far a case moved; return whether it did."""
    before, now = dict(leaves(before)), dict(leaves(now))
    names = [*before, *(key for key in now if key not in before)]
    gone = "(not there)"
    pairs = [(key, before.get(key, gone), now.get(key, gone)) for key in names]
    far = [deviation(old, new) for _, old, new in pairs]
    moved = [pair for pair, each in zip(pairs, far, strict=True) if each > CLOSE]
    print(f"{name:12} {len(pairs):6d} values, largest deviation {max(far):.1e}", end="")
    print(f", {len(moved)} moved" if moved else "")
    for key, old, new in moved[:MOST_SHOWN]:
        print(f"    {name}: {key}: before {old!r}, now {new!r}")
    return bool(moved)


def timed(name):
    """Return all that is kept of one case; the time goes to standard error."""
    start = time.process_time()
    found = find(name)
    print(f"{name}: {time.process_time() - start:.1f} s", file=sys.stderr)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="keep what the library says now")
    what.add_argument("--check", action="store_true", help="compare it with what was kept")
    parser.add_argument("--cases", default=",".join(CASES), help="separated by commas")
    arguments = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    names = arguments.cases.split(",")
    if arguments.write:
        kept |= {name: timed(name) for name in names}
        ordered = {name: kept[name] for name in CASES if name in kept}
        KEPT.write_text(as_text(ordered))
        return
    moved = [check(name, kept[name], timed(name)) for name in names]
    raise SystemExit(int(any(moved)))


def as_text(kept):
    """Return JSON with one line for each value that has a name."""
    cases = []
    for name, found in kept.items():
        values = [f"  {json.dumps(key)}: {json.dumps(each)}" for key, each in found.items()]
        cases.append(f" {json.dumps(name)}: {{\n" + ",\n".join(values) + "\n }")
    return "{\n" + ",\n".join(cases) + "\n}\n"


if __name__ == "__main__":
    main()
