"""Word what is wrong with a column of a table."""


def refuse_dates(name):
    """Refuse a column of dates."""
    raise ValueError(
        f"Column {name!r} holds dates or times; replace it by numbers, such as the year, the "
        "month or the days since a start, or remove the column."
    )


class BadCell(ValueError):
    """Say what is wrong with a cell.

    Parameters
    ----------
    text : str
        A sentence with {where} in it.
    row : int
        Number of the row, from 0.
    """

    def __init__(self, text, row):
        self.text, self.row = text, row
        super().__init__(self.at(f"row {row} (counted from 0)"))

    def at(self, where):
        """Return the sentence with the place in other words."""
        return self.text.replace("{where}", where)


def refuse_infinite(name, row):
    """Refuse a number that is infinite, or too large to be held."""
    raise BadCell(
        f"Column {_plain(name)} holds an infinite number in {{where}}; give a finite one or "
        "leave the cell empty.",
        row,
    )


def refuse_text(name, row, cell):
    """Refuse text in a column of numbers."""
    raise BadCell(
        f"Column {_plain(name)} held numbers when the model was fitted, but {{where}} holds "
        f"{_plain(shortened(cell))}; give a number or leave the cell empty.",
        row,
    )


def _plain(text):
    return repr(text).replace("{where}", "{ where }")


def shortened(text):
    """Return a text that fits into a sentence."""
    return text if len(text) <= 40 else f"{text[:37]}..."
