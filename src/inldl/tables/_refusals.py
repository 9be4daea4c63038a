"""Word what is wrong with a column of a table."""

from inldl._validation import BadRow


def refuse_dates(name):
    """Refuse a column of dates."""
    raise ValueError(
        f"Column {name!r} holds dates or times; replace it by numbers, such as the year, the "
        "month or the days since a start, or remove the column."
    )


def refuse_infinite(name, row):
    """Refuse a number that is infinite, or too large to be held."""
    raise BadRow(
        f"Column {_plain(name)} holds an infinite number in {{where}}; give a finite one or "
        "leave the cell empty.",
        row,
    )


def refuse_text(name, row, cell):
    """Refuse text in a column of numbers."""
    raise BadRow(
        f"Column {_plain(name)} held numbers when the model was fitted, but {{where}} holds "
        f"{_plain(shortened(cell))}; give a number or leave the cell empty.",
        row,
    )


def _plain(text):
    return repr(text).replace("{where}", "{ where }")


def shortened(text):
    """Return a text that fits into a sentence."""
    return text if len(text) <= 40 else f"{text[:37]}..."
