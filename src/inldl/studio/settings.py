"""What a user says about a table on the page, and the options that it stands for."""

from inldl.methods.registry import METHODS

ROLES = {
    "label": "holds shares; missing ones are filled in",
    "feature": "helps to predict the shares",
    "id": "names the rows",
    "ignored": "is not used",
    "weight": "says how much each row counts",
    "group": "says which rows belong together when errors are measured",
    "total": "holds the total of each row, for counts",
    "price": "holds what it costs to ask about a row",
}
ONCE = ("weight", "group", "total", "price")  # roles of one column at most
CHOICES = {
    "scale": ("auto", "fraction", "percent", "count"),
    "dates": ("auto", "day-first", "month-first"),
    "delimiter": ("", ",", ";", "\t", "|"),
    "decimal": ("", ".", ","),
    "thousands": ("", ",", ".", "'", " ", "none"),
}
FLAGS = ("normalize", "votes", "ratios", "whole")
# The smallest and the largest of each; none is the usual one.
NUMBERS = {
    "skip_rows": (0, 1000),
    "skip_last": (0, 1000),
    "draws": (0, 100),
    "learn_from": (2, 10**9),
}
TEXTS = ("method", "sheet", "na", "long", "encoding", "sums")
# How the file is read
READING = (
    "delimiter", "decimal", "thousands", "encoding", "sheet", "na", "skip_rows", "skip_last",
    "long",
)  # fmt: skip
DEFAULTS: dict[str, object] = {
    "roles": {},
    **{name: choices[0] for name, choices in CHOICES.items()},
    **dict.fromkeys(FLAGS, False),
    **dict.fromkeys(NUMBERS),
    **dict.fromkeys(TEXTS, ""),
    "method": "auto",
}
# What a piece of work does not depend on; all others depend on everything.
_LEARNING = ("normalize", "votes", "method", "ratios", "whole", "draws", "learn_from")
WITHOUT = {
    "look": ("roles", "scale", "dates", "sums", "edits", *_LEARNING),
    "inspect": _LEARNING,
    "compare": ("votes", "method", "whole", "draws", "learn_from"),
}
LONGEST = 500  # characters of a text


def checked(settings):
    """Return settings from a page, or refuse what no page of ours would send."""
    settings = {**DEFAULTS, **settings}
    good = set(settings) == set(DEFAULTS) and isinstance(settings["roles"], dict)
    good = good and all(role in ROLES for role in settings["roles"].values())
    good = good and all(settings[name] in choices for name, choices in CHOICES.items())
    good = good and all(isinstance(settings[name], bool) for name in FLAGS)
    good = good and all(_is_number(settings[name], *ends) for name, ends in NUMBERS.items())
    good = good and settings["method"] in METHODS  # no class from elsewhere
    texts = [settings[name] for name in TEXTS] if good else []
    if not good or not all(isinstance(text, str) and len(text) <= LONGEST for text in texts):
        raise ValueError("These settings are not possible; load the page again.")
    roles = list(settings["roles"].values())
    for role in ONCE:
        if roles.count(role) > 1:
            raise ValueError(f"Only one column can have the role {role!r}; change the others.")
    return settings


def _is_number(value, least, most):
    return value is None or (type(value) is int and least <= value <= most)


def named(settings, role):
    """Return the columns with a role."""
    return [name for name, each in settings["roles"].items() if each == role]


def one(settings, role):
    """Return the column with a role, or None."""
    return next(iter(named(settings, role)), None)


def reading(settings):
    """Return how a file is read, as options of `TableFile`."""
    how = {name: None if settings[name] == "" else settings[name] for name in READING}
    return how | ({"thousands": ""} if how["thousands"] == "none" else {})


def columns(settings):
    """Return which columns are used, as options of `TableFile`."""
    labels, sums = named(settings, "label"), sums_of(settings)
    if not labels and not settings["long"]:
        raise ValueError("No column is marked as a label; say which columns hold the shares.")
    used = {text.partition("=")[0].strip() for text in sums}
    ids, ignored, prices = (
        [name for name in named(settings, role) if name not in used]
        for role in ("id", "ignored", "price")
    )
    which = {"labels": labels or None, "id": ids, "ignore": [*ignored, *prices]}
    return {**which, "total": one(settings, "total"), "sums": sums or None}


def sums_of(settings):
    """Return what some labels have together, as texts such as "alcohol=beer,wine"."""
    return [line.strip() for line in settings["sums"].splitlines() if line.strip()]


def learning(settings):
    """Return how a model is fitted, as options of `fit_table`."""
    same = {name: settings[name] for name in ("scale", "normalize", "votes", "dates")}
    same |= {"weight": one(settings, "weight"), "group": one(settings, "group")}
    return {**same, "most_rows": settings["learn_from"]}


def completing(settings):
    """Return how a table is completed, as options of `complete_table`."""
    return {"whole": settings["whole"], "n_draws": settings["draws"] or 0}


def method(settings):
    """Return the method as `fit_table` takes it, or refuse what does not go with ratios."""
    if not settings["ratios"]:
        return settings["method"]
    from inldl.tables.tasks import method_of_ratios  # takes a second

    beside = {"total": one(settings, "total"), "sums": sums_of(settings)}
    beside |= {"votes": settings["votes"], "n_draws": settings["draws"] or 0}
    return method_of_ratios(settings["method"], **beside)


def is_stale(run, table):
    """Return whether a table was changed since a run, as far as the run depends on it."""
    now = {**table["settings"], "edits": table["edits"]}
    then = {**DEFAULTS, **run["settings"], "edits": run["edits"]}
    left_out = WITHOUT.get(run["kind"], ())
    return any(now[name] != then.get(name) for name in now if name not in left_out)
