"""Files of SPSS and Stata: numbers with labels, and numbers that a user calls missing."""

import re

import pandas as pd
import pyreadstat
from pandas.api.types import is_numeric_dtype

from inldl.tables.formats.whole import WholeFrame
from inldl.tables.hints import say_missing
from inldl.text import counted, listed

_NO_ANSWER = re.compile(r"(?i)refus|know|answer|applic|missing|\bn\.?/?a\b|\bdk\b|weiß|angabe")


class Spss(WholeFrame):
    """A table in a file of SPSS, whose numbers may have labels.

    Where all numbers of a column have one, the labels are read. A column of shares stays one of
    numbers. What is missing for the user is missing, and stays in the file.
    """

    kind = "sav"
    _name = r"[^\W\d][\w.$#@]{0,63}"
    _kept: tuple[str, ...] = "missing_ranges", "variable_measure"  # of what is known of columns

    def load(self) -> None:
        """Read the file."""
        read = getattr(pyreadstat, f"read_{self.kind}")
        self._raw, self._meta = read(str(self.path), user_missing=True)
        self._labels = self._meta.variable_value_labels
        self._numbers = self._raw.mask(self._raw.apply(self._user_missing)).apply(_as_numbers)
        self._texts = {
            name: column.map(self._labels[name])
            for name, column in self._numbers.items()
            if self._are_labels(name, {*column.dropna()})
        }
        self.text_names = [n for n, c in self._numbers.items() if not is_numeric_dtype(c)]
        missing = int((self._raw.notna() & self._numbers.isna()).sum().sum())
        what = f"User-missing values are read as missing: {counted(missing, 'cell')}."
        self.notes += [what] if missing else []
        what = f"Numbers with labels are read as these: {listed(map(repr, self._texts))}."
        self.notes += [what] if self._texts else []

    def _user_missing(self, column):
        """Return which cells are missing for the user."""
        found = column.isin(self._meta.missing_user_values.get(column.name, ()))
        for each in self._meta.missing_ranges.get(column.name, ()):
            found |= column.between(each["lo"], each["hi"])
        return found

    def _are_labels(self, name, numbers):
        """Return whether all numbers of a column have labels, which differ."""
        labels = self._labels.get(name, {})
        return numbers and numbers <= {*labels} and len({*labels.values()}) == len(labels)

    def shown(self) -> pd.DataFrame:
        """Return labels in place of numbers, but for shares."""
        texts = {name: text for name, text in self._texts.items() if name not in self.meanings}
        return self._numbers.assign(**texts)

    def find_signs(self, labels, decimal, thousands, totals=()) -> None:
        """Find out the signs; note numbers of shares that have a label."""
        super().find_signs(labels, decimal, thousands, totals)
        held = [
            (number, label, name) for name in labels
            for number, label in self._labels.get(name, {}).items()
            if _NO_ANSWER.search(label) and self._numbers[name].eq(number).any()
        ]  # fmt: skip
        for number, label in dict.fromkeys(each[:2] for each in held):
            names = listed(repr(each[2]) for each in held if each[:2] == (number, label))
            start = f"{number:.10g} has the label {label!r} in {names}"
            self.asked.append(f"{start}; {say_missing([number])}.")
        self.notes += self.asked

    def check_name(self, name) -> None:
        """Refuse a name that the program does not take."""
        if not re.fullmatch(self._name, name):
            raise ValueError(
                f"A .{self.kind} file has no column {name!r}: names are short, of letters, digits "
                "and _ alone; write to a .csv file instead, or rename its labels."
            )

    def save(self, frame, part, n_new) -> None:
        """Write a file with the labels and formats of this one."""
        meta, same = self._meta, [n for n in self._raw if self._raw[n].equals(frame[n])]
        names = meta.column_names_to_labels
        how = {name: getattr(meta, name) for name in self._kept}
        how["variable_format"] = {name: meta.original_variable_types[name] for name in same}
        how["column_labels"] = {name: label for name, label in names.items() if label}
        self._write(frame, part, self.path.suffix, variable_value_labels=self._labels,
                    file_label=meta.file_label or "", **how)  # fmt: skip

    @staticmethod
    def _write(frame, part, suffix, **how) -> None:
        pyreadstat.write_sav(frame, str(part), row_compress=suffix == ".zsav", **how)

    @classmethod
    def write_new(cls, frame, part, suffix, like) -> None:
        """Write a frame."""
        cls._write(frame, part, suffix)


class Stata(Spss):
    """A table in a file of Stata, whose numbers may have labels."""

    kind = "dta"
    _name = r"[^\W\d]\w{0,31}"
    _kept = ("missing_user_values",)

    @staticmethod
    def _write(frame, part, suffix, **how) -> None:
        pyreadstat.write_dta(frame, str(part), **how)


def _as_numbers(column):
    """Return a column as one of numbers, if letters that mean missing were all else in it."""
    numbers = column.dropna()
    plain = len(numbers) and numbers.map(lambda cell: isinstance(cell, (int, float))).all()
    return column.astype(float) if plain else column
