"""An error about data that carries its facts, and warnings at the line of the user."""

import sys
import warnings
from functools import partial


class DataError(ValueError):
    """Say what is wrong with the data, in a sentence made of facts.

    The sentence has the facts in braces. `row` counts from 0, or is a text such as "line 7";
    `column` is a name; `label` is a name, or a number where names are not known; these three are
    attributes, None if not given. A caller that knows more about a fact, such as the line of the
    file that a row stands in, replaces it with `with_facts` instead of editing the sentence.

    Examples
    --------
    >>> error = DataError("{label} is negative in {row}.", label=2, row=5)
    >>> print(error)
    2 is negative in row 5 (counted from 0).
    >>> print(error.with_facts(label="joy", row="line 7"))
    'joy' is negative in line 7.
    """

    def __init__(self, sentence, **facts) -> None:
        self.sentence, self.facts = sentence, facts
        self.row, self.column, self.label = map(facts.get, ("row", "column", "label"))
        super().__init__(self.format(sentence))

    def with_facts(self, **facts) -> "DataError":
        """Return the same error with other values for some of its facts."""
        return DataError(self.sentence, **{**self.facts, **facts})

    def with_place(self, where) -> "DataError":
        """Return the same error with its row as `where(row)` says it, such as "Line 7"."""
        if not isinstance(self.row, int):
            return self
        place = where(self.row)
        return self.with_facts(row=place[0].lower() + place[1:])

    def format(self, sentence) -> str:
        """Return a sentence with the facts in it; `{number}` is the bare number of the row."""
        words = {**self.facts, "number": self.row}
        if isinstance(self.row, int):
            words["row"] = f"row {self.row} (counted from 0)"
        for name in ("column", "label"):
            if isinstance(words.get(name), str):
                words[name] = repr(words[name])
        return sentence.format(**words)

    def __reduce__(self):
        return partial(DataError, **self.facts), (self.sentence,)


def warn_user(message, category=UserWarning) -> None:
    """Warn at the line outside this package that called it, however deep the call is."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("inldl."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
