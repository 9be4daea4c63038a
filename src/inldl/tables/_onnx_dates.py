"""The calendar as nodes of an ONNX graph, which has no dates but whole numbers of days.

The year of the calculation starts in March, so that a leap day is its last; 146097 days are 400
years. All numbers are whole and small, so that divisions in double precision are exact enough.
"""

import numpy as np


class Days:
    """A tensor of numbers in a graph, with the operators of Python."""

    def __init__(self, graph, name):
        self.graph, self.name = graph, name

    def _with(self, operator, other):
        other = other.name if isinstance(other, Days) else np.array([[float(other)]])
        return Days(self.graph, self.graph.add(operator, self.name, other))

    def __add__(self, other):
        return self._with("Add", other)

    def __sub__(self, other):
        return self._with("Sub", other)

    def __mul__(self, other):
        return self._with("Mul", other)

    def __floordiv__(self, other):
        return self._with("Div", other).floor()

    def floor(self):
        """Return the next whole numbers below."""
        return Days(self.graph, self.graph.add("Floor", self.name))

    def is_above(self, number):
        """Return ones and zeros."""
        return Days(self.graph, self.graph.add_flags("Greater", self.name, np.array([[number]])))


def calendar_nodes(graph, days):
    """Return the tensors of years, months from 1 and weekdays from 0, as `calendar` does."""
    whole = Days(graph, days).floor()
    shifted = whole + 719468  # days since March 1 of the year 0
    era = shifted // 146097
    day = shifted - era * 146097
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day_of_year = day - (year * 365 + year // 4 - year // 100)
    march_based = (day_of_year * 5 + 2) // 153
    new_year = march_based.is_above(9.5)  # January and February
    months = march_based + 3 - new_year * 12
    years = year + era * 400 + new_year
    weekdays = whole + 3 - ((whole + 3) // 7) * 7
    return years.name, months.name, weekdays.name
