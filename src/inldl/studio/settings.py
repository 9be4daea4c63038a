"""What a user says about a table on the page, and the options that it stands for."""

ROLES = {
    "label": "holds shares; missing ones are filled in",
    "feature": "is learned from",
    "id": "names the rows",
    "ignored": "is left alone",
    "weight": "says how much each row counts",
    "group": "says which rows belong together when errors are measured",
    "total": "holds the total of each row, for counts",
}
ONCE = ("weight", "group", "total")  # roles of one column at most
CHOICES = {
    "scale": ("auto", "fraction", "percent", "count"),
    "dates": ("auto", "day-first", "month-first"),
    "delimiter": ("", ",", ";", "\t", "|"),
    "decimal": ("", ".", ","),
}
FLAGS = ("normalize", "votes")
TEXTS = ("method", "sheet", "na", "long")
READING = ("delimiter", "decimal", "sheet", "na", "long")  # how the file is read
DEFAULTS = {
    "roles": {},
    **{name: choices[0] for name, choices in CHOICES.items()},
    **dict.fromkeys(FLAGS, False),
    **dict.fromkeys(TEXTS, ""),
    "method": "auto",
}
# What a piece of work does not depend on; all others depend on everything.
WITHOUT = {
    "look": ("roles", "scale", "normalize", "votes", "method", "dates", "edits"),
    "inspect": ("normalize", "votes", "method"),
    "compare": ("votes", "method"),
}
LONGEST = 500  # characters of a text


def checked(settings):
    """Return settings from a page, or refuse what no page of ours would send."""
    settings = {**DEFAULTS, **settings}
    good = set(settings) == set(DEFAULTS) and isinstance(settings["roles"], dict)
    good = good and all(role in ROLES for role in settings["roles"].values())
    good = good and all(settings[name] in choices for name, choices in CHOICES.items())
    good = good and all(isinstance(settings[name], bool) for name in FLAGS)
    texts = [settings[name] for name in TEXTS] if good else []
    if not good or not all(isinstance(text, str) and len(text) <= LONGEST for text in texts):
        raise ValueError("These settings are not possible; load the page again.")
    roles = list(settings["roles"].values())
    for role in ONCE:
        if roles.count(role) > 1:
            raise ValueError(f"Only one column can have the role {role!r}; change the others.")
    return settings


def named(settings, role):
    """Return the columns with a role."""
    return [name for name, each in settings["roles"].items() if each == role]


def one(settings, role):
    """Return the column with a role, or None."""
    return next(iter(named(settings, role)), None)


def reading(settings):
    """Return how a file is read, as options of `TableFile`."""
    return {name: settings[name] or None for name in READING}


def columns(settings):
    """Return which columns are used, as options of `TableFile`."""
    labels = named(settings, "label")
    if not labels and not settings["long"]:
        raise ValueError("No column is marked as a label; say which columns hold the shares.")
    return {
        "labels": labels or None,
        "id": named(settings, "id"),
        "ignore": named(settings, "ignored"),
        "total": one(settings, "total"),
    }


def learning(settings):
    """Return how a model is fitted, as options of `fit_table`."""
    same = {name: settings[name] for name in ("scale", "normalize", "votes", "dates")}
    return {**same, "weight": one(settings, "weight"), "group": one(settings, "group")}


def is_stale(run, table):
    """Return whether a table was changed since a run, as far as the run depends on it."""
    now = {**table["settings"], "edits": table["edits"]}
    then = {**run["settings"], "edits": run["edits"]}
    left_out = WITHOUT.get(run["kind"], ())
    return any(now[name] != then.get(name) for name in now if name not in left_out)
