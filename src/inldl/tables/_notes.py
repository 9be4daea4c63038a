"""Tell in a few sentences what became of the columns of a table, however many there are."""

_SHOWN = 3


def notes(choices, max_levels):
    """Return sentences on the columns that are left out or lose something by their encoding."""
    dropped = {name: choice.reason for name, choice in choices.items() if choice.reason}
    told = [
        _sentence(names, "is", "are", f"left out: {reason}.") for names, reason in _shared(dropped)
    ]
    return told + _stray_text(choices) + _many_levels(choices, max_levels)


def nothing_left(dropped):
    """Return why there is nothing to learn from."""
    told = "; ".join(f"{listed(names)}: {reason}" for names, reason in _shared(dropped))
    return f"No usable feature columns are left in the table ({told}); give one that varies."


def listed(names, shown=_SHOWN):
    """Return "column 'a'", or "columns 'a', 'b', 'c' and 5 more"."""
    text = ", ".join(map(repr, names[:shown]))
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return f"column{'s' if len(names) > 1 else ''} {text}{more}"


def _sentence(names, one, several, rest):
    start = listed(names)
    return f"{start[0].upper()}{start[1:]} {one if len(names) == 1 else several} {rest}"


def _shared(dropped):
    """Return pairs of a reason and the columns that share it, as names and reason."""
    reasons = dict.fromkeys(dropped.values())
    return [([n for n, own in dropped.items() if own == reason], reason) for reason in reasons]


def _stray_text(choices):
    stray = {name: choice.stray for name, choice in choices.items() if choice.stray}
    if not stray:
        return []
    first, cell = next(iter(stray.items()))
    rest = f"nearly all numbers, but taken as text because of cells such as {cell}"
    where = f" of {first!r}" if len(stray) > 1 else ""
    return [_sentence(list(stray), "is", "are", f"{rest}{where} (counted from 0).")]


def _many_levels(choices, max_levels):
    most = {n: c.n_levels for n, c in choices.items() if c.column and c.n_levels > max_levels}
    if not most:
        return []
    number = next(iter(most.values())) if len(most) == 1 else f"more than {max_levels}"
    shares = f"the {max_levels} most frequent have a column each, the others share one."
    return [_sentence(list(most), "has", "have", f"{number} levels; {shares}")]
