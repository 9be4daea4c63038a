"""Columns of features: their cells here, and in the modules their kinds and their encoding."""

import datetime
import numbers
import re
from collections import Counter
from decimal import Decimal
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from inldl.errors import DataError
from inldl.rows.checks import unmask
from inldl.tables.numbers import is_hole, parse_number
from inldl.tables.table import Format

NEARLY_ALL = 0.9  # of the cells of a column, which tell what the others are meant to be
_DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64,
          pd.Period)  # fmt: skip
_WORDS = (str, bool, np.bool_, pd.Interval)
_PLAIN = Format("text")  # of numbers with a decimal point
_TRUTH = {"true": 1.0, "false": 0.0}
_INFINITE = re.compile(r"\s*[+-]?(?:inf|infinity|∞)\s*", re.IGNORECASE)


class Cells:
    """The cells of the column `name` of a table, read from `series` when they are first needed.

    `date_order` says what comes first in dates that leave it open, if that is known.
    """

    def __init__(self, name, series, date_order=None) -> None:
        self.name, self.series, self.date_order = name, series, date_order

    @cached_property
    def stored(self) -> np.ndarray | None:
        """The numbers or truth values of a column with such a dtype, NaN where missing; or None.

        The array of a numpy column is not copied.
        """
        dtype = self.series.dtype
        if not pd.api.types.is_numeric_dtype(dtype) or dtype.kind not in "biuf":
            return None
        plain = isinstance(dtype, np.dtype)
        return self.series.to_numpy(**({} if plain else {"dtype": float, "na_value": np.nan}))

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """The cells as floats, NaN where missing; None if they are not all numbers or truths.

        Text with digits is still text, and so are the numbers of a category dtype.
        """
        if self.stored is not None:
            return self.stored.astype(np.float64, copy=False)
        number = () if self._are_categories else float
        words = [value for value in self.seen if not isinstance(value, number)]
        if not self.seen or not all(level_name(word).strip().lower() in _TRUTH for word in words):
            return None
        return np.array([*map(as_number, self.values), np.nan], dtype=float)[self.codes]

    @property
    def codes(self) -> np.ndarray:
        """The position of the value of each cell in `values`, -1 where it is missing or blank."""
        return self._levels[0]

    @property
    def values(self) -> list:
        """The distinct values: text, also "True" and "False", as str, and numbers as float."""
        return self._levels[1]

    @property
    def dates(self) -> bool:
        """Whether there are dates, times or durations by their type."""
        return any(isinstance(value, _Date) for value in self.values)

    @property
    def seen(self) -> list:
        """The values that some cells have; a category may have none."""
        return [self.values[code] for code in np.flatnonzero(self._counts)]

    def sizes(self) -> Counter:
        """Return how many cells have each name of a level."""
        sizes: Counter = Counter()
        for value, count in zip(self.values, self._counts.tolist(), strict=True):
            sizes[level_name(value)] += count
        return +sizes  # without categories that no cell has

    def first_row(self, value) -> int:
        """Return the first row with a value, by its position."""
        return int(np.argmax(self.codes == self.values.index(value)))

    @property
    def _are_categories(self):
        return isinstance(self.series.dtype, pd.CategoricalDtype)

    @cached_property
    def _counts(self):
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    @cached_property
    def _levels(self):
        if self._are_categories:
            codes, cells = self.series.cat.codes.to_numpy(), self.series.cat.categories
        else:
            codes, cells = pd.factorize(self._comparable())
        values = [_value(cell) for cell in cells.to_numpy()]
        blank = [isinstance(value, str) and not value.strip() for value in values]
        if any(blank):
            codes = np.where(np.append(blank, True)[codes], -1, codes)
        for code, value in enumerate(values):
            if isinstance(value, type) and (codes == code).any():
                raise column_error(
                    self.name,
                    "text",
                    "holds a {type} in {row}, neither a number nor text; turn it into numbers or "
                    "text, or remove the column",
                    row=int(np.argmax(codes == code)),
                    type=value.__name__,
                )
        return codes, values

    def _comparable(self):
        """Return a series of which pandas can tell whether two cells are the same."""
        dtype = self.series.dtype
        if self.stored is not None or isinstance(dtype, pd.StringDtype) or dtype.kind in "mM":
            return self.series
        series = self.series.astype(object)
        seen, cells = series.notna().to_numpy(), series.to_numpy()
        if all(issubclass(kind, str) for kind in set(map(type, cells[seen]))):
            return series
        # To Python True, 1 and 1.0 are one value.
        values = [_value(cell) if good else None for cell, good in zip(cells, seen, strict=True)]
        return pd.Series(values, dtype=object)


def column_error(name, kind, problem, **facts) -> DataError:
    """Return an error about a column of a table; `problem` is what follows "Column 'name'"."""
    sentence = f"Column {{column}} {problem}."
    return DataError(sentence, column=name, kind=kind, problem=problem, **facts)


def holds_dates(name) -> DataError:
    """Return an error about dates in a column that had none in the fit."""
    return column_error(
        name,
        "date",
        "holds dates or times, but had none when the model was fitted; give what it held then, or "
        "fit again",
    )


def holds_infinity(name, row, kind="number") -> DataError:
    """Return an error about a number that is infinite, or too large to be held."""
    problem = "holds an infinite number in {row}; give a finite one or leave the cell empty"
    return column_error(name, kind, problem, row=row)


def as_frame(X, array_names=None) -> pd.DataFrame:
    """Return a table as a frame whose columns have names, each of its own.

    Names that are not text become text. The columns of an array are called `array_names`, or x0,
    x1, ... if that is None. No cell is copied where the table holds numpy columns.
    """
    if type(X).__module__.startswith("pyarrow") and hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if isinstance(X, pd.DataFrame):
        frame = X.copy(deep=False)
    elif hasattr(X, "columns") and hasattr(X, "to_numpy"):
        columns = {name: X[name].to_numpy() for name in X.columns}
        frame = pd.DataFrame(columns, index=range(len(X)), copy=False)
    else:
        return _array_as_frame(_as_array(X), array_names)
    frame.columns = pd.Index([str(name) for name in frame.columns], dtype=object)
    twice = sorted(set(frame.columns[frame.columns.duplicated()]))
    if twice:
        raise ValueError(
            f"More than one column is called {', '.join(map(repr, twice))}; give each column of X "
            "a name of its own."
        )
    return frame


def _as_array(X):
    if isinstance(X, list | tuple) and X and all(isinstance(row, list | tuple) for row in X):
        if len({len(row) for row in X}) > 1:
            raise ValueError("The rows of X differ in length; give each the same cells.")
        array = np.empty((len(X), len(X[0])), dtype=object)
        array[:] = X
        return array
    if X is None:
        raise ValueError(
            "X is None; if there are no features, give a frame without columns: "
            "pandas.DataFrame(index=range(n)) for n rows."
        )
    array = np.asarray(unmask(X))
    if array.ndim != 2:
        what = "sparse" if issparse(X) else f"a {type(X).__name__} of shape {array.shape}"
        hint = " Reshape your data with X.reshape(1, -1) if it is one row." * (array.ndim == 1)
        raise ValueError(
            "X must be a table with one row per sample, a frame or a dense 2-D array, but it is "
            f"{what}.{hint}"
        )
    return array


def _array_as_frame(array, names):
    n, k = array.shape
    if names is not None and len(names) != k:
        raise ValueError(
            f"X has {k} features, but FeatureEncoder is expecting {len(names)} features "
            "as input; give all columns in the order of the fit, or a frame with their names."
        )
    if names is None and not k:
        raise ValueError(
            "No usable feature columns: the table has no columns, "
            f"0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required."
        )
    return pd.DataFrame(array, columns=names or [f"x{j}" for j in range(k)], copy=False)


class _Date(str):
    """The text of a cell that is a date, a time or a duration by its type."""


def _value(cell):
    """Return a cell as text or as float, or its type if it is neither text nor number.

    A short float is the decimal number that it shows.
    """
    if isinstance(cell, _Date | type):
        return cell
    if isinstance(cell, _DATES):
        return _Date(cell.start_time if isinstance(cell, pd.Period) else cell)
    if isinstance(cell, _WORDS):
        return str(cell)
    if not isinstance(cell, numbers.Real | Decimal):
        return type(cell)
    try:
        return float(str(cell)) if isinstance(cell, np.floating) else float(cell)
    except OverflowError:
        return float("inf") if cell > 0 else float("-inf")


def level_name(value) -> str:
    """Return the name of a level: text as it stands, a number without a needless fraction."""
    if isinstance(value, str):
        return value
    return str(int(value)) if value.is_integer() and abs(value) < 2**63 else repr(value)


def as_names(cells) -> pd.Series:
    """Return the cells of a column with its numbers as names, such as 12 for 12.0."""
    if not pd.api.types.is_numeric_dtype(cells.dtype):
        return cells
    return cells.astype(object).map(lambda cell: level_name(float(cell)), na_action="ignore")


def as_number(value) -> float | None:
    """Return the number that a value is or reads as, NaN if it is missing, None for other text.

    The words for missing are those of files: a column in which one cell is text is all text.
    """
    if isinstance(value, float):
        return value
    truth = _TRUTH.get(value.strip().lower())
    return parse_number(value, _PLAIN) if truth is None else truth


def as_written_number(text) -> float | None:
    """Return the number that is written down in a text, or None."""
    return None if is_hole(text) else parse_number(text, _PLAIN)


def first_infinity(cells) -> int | None:
    """Return the row of the first "inf" in a column that is text only because of it, or None."""
    names = {level_name(value): value for value in cells.seen}
    infinite = [name for name in names if _INFINITE.fullmatch(name)]
    if not infinite:
        return None
    others = [as_number(name.replace(",", ".")) for name in names if name not in infinite]
    only = None not in others and any(other == other for other in others)
    return cells.first_row(names[infinite[0]]) if only else None
