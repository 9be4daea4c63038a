"""What can be done with a table that gives only ratios of its known shares, and what cannot."""

from inldl.methods.registry import with_ratios

ASKING = (
    "Only ratios of shares are known (--ratios), so nobody can say what an answer would be worth. "
    "Questions need a table of shares."
)
COMPARING = (
    "Methods are compared on shares that are hidden and filled in, which takes more than ratios "
    "of them; complete the table with a method of your choice."
)


def method_of_ratios(method, *, total=None, sums=None, votes=False, coverage=None, n_draws=0):
    """Return a method that learns from ratios, or refuse what does not go with them.

    The others are options of `inldl.tables.TableFile`, `fit_table` and `complete_table`.
    """
    for option, used in (("--total", total), ("--sum", sums), ("--votes", votes)):
        if used:
            raise ValueError(f"{option} and --ratios exclude each other: ratios have no scale.")
    if coverage is not None or n_draws:
        raise ValueError(
            "With --ratios there are no intervals and no draws, because the scale of each row is "
            "unknown: leave out --uncertainty and --draws."
        )
    return with_ratios(method)


def refuse_asking(model):
    """Refuse to say what to ask for with a model or estimator of ratios."""
    if getattr(model, "known", "") == "ratios":
        raise ValueError(ASKING)
