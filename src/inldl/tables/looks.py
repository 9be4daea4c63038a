"""Inspect a table in a file, and compare methods on it."""

from inldl.tables._rows import take_weights
from inldl.tables.comparison import compare
from inldl.tables.inspection import inspect_table


def inspect_file(file, *, scale="auto", weight=None, dates="auto"):
    """Look at a table in a file.

    A column of weights is checked, and is no feature; the rows are looked at as they stand.

    Parameters
    ----------
    file : TableFile
        The file, with its labels.
    scale
        As in `inldl.io.read_table`.
    weight, dates
        As in `fit_table`.

    Returns
    -------
    found : Inspection
    table : Table
        What was read.
    notes : list of str
        How it was understood.
    """
    read = file.read(scale=scale, check=False)
    take_weights(read.features, weight, file)
    how = {"totals": read.scale != "count" or read.totals is not None, "scale": read.scale}
    how |= {"lower": read.lower, "upper": read.upper, "dates": dates}
    found = inspect_table(read.features, read.degrees, file.source.where, **how)
    return found, read, [*read.notes, *_of_counts(read), *_of_weights(weight)]


def compare_file(
    file,
    methods=None,
    *,
    scale="auto",
    normalize=False,
    weight=None,
    dates="auto",
    max_rows=2000,
    done=None,
):
    """Compare methods on a table in a file.

    Parameters
    ----------
    file : TableFile
        The file, with its labels.
    methods, max_rows, done
        As in `inldl.tables.compare`.
    scale, normalize
        As in `inldl.io.read_table`.
    weight, dates
        As in `fit_table`.

    Returns
    -------
    found : Comparison
    notes : list of str
        How the table was understood.
    """
    read = file.read(scale=scale, normalize=normalize)
    weights = take_weights(read.features, weight, file)
    how = {"max_rows": max_rows, "scale": read.scale, "sums": read.sums, "dates": dates}
    how |= {"sample_weight": weights, "limits": read.known.limits}
    found = compare(read.features, read.degrees, methods, **how, done=done)
    return found, [*file.notes, *_of_counts(read), *_of_sums(read), *_of_limits(read)]


def _of_counts(read):
    """Return a note on the units of a table of counts."""
    whole = "sum" if read.totals is None else "total"
    return [f"Shares are fractions of the {whole} of their row."] if read.scale == "count" else []


def _of_weights(name):
    """Return a note on weights that looking at a table takes no account of."""
    if name is None:
        return []
    return [f"The weights in column {name!r} are numbers; here all rows count the same."]


def _of_limits(read):
    """Return a note on bounds or sums of labels that comparing takes no account of."""
    what = [*(["bounds"] * (read.lower is not None or read.upper is not None))]
    what += ["sums of labels"] if read.groups else []
    if not what or read.sums is None:
        return []
    return [
        f"Methods are compared without the {' and '.join(what)} of missing shares; inldl complete "
        "takes them into account."
    ]


def _of_sums(read):
    """Return a note on methods that are compared on a table whose sums vary."""
    if read.sums is None:
        return []
    return [
        "Complete rows do not all have the same sum. Completing takes this into account, as inldl "
        "complete does; predictions are compared with rows that are divided by their sums."
    ]
