"""Read the columns of any table as numbers with holes, or as levels with holes."""

import datetime
import numbers
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pandas as pd

from inldl._validation import unmask
from inldl.io._numbers import MISSING

_DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64,
          pd.Period)  # fmt: skip
_WORDS = (str, bool, np.bool_, pd.Interval)
_KNOWN = (*_WORDS, *_DATES, numbers.Real, Decimal)
_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, eq=False)
class Levels:
    """Hold a column as the distinct values of its cells and the number of the value of each cell.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Position of the value of each cell in `values`, -1 for a hole.
    values : list of str or float
        Distinct values: text as it stands, truth values as "True" and "False", numbers as float.
    dates : bool
        Whether the cells are dates, times or durations by their type.
    """

    codes: np.ndarray
    values: list
    dates: bool = False

    @property
    def counts(self):
        """Return how many cells have each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    def first_row(self, value):
        """Return the first row with a value, by its position."""
        return int(np.argmax(self.codes == value))


def named_columns(X, array_names=None):
    """Return the columns of a frame or of a 2-D array as a dict from name to series.

    Names that are not text become text. The columns of an array are called `array_names`, or x0,
    x1, ... if that is None. No cell is copied where the table holds numpy columns.
    """
    if isinstance(X, pd.DataFrame):
        return _unique_names(X.columns, [series for _, series in X.items()])
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        return _unique_names(X.columns, [pd.Series(X[name].to_numpy()) for name in X.columns])
    array = _as_table(X)
    names = [f"x{j}" for j in range(array.shape[1])] if array_names is None else array_names
    if len(names) != array.shape[1]:
        raise ValueError(
            f"X is an array of {array.shape[1]} columns, but the encoder was fitted to "
            f"{len(names)}; give all columns in the order of the fit, or a frame with their names."
        )
    return {n: pd.Series(array[:, j], copy=False) for j, n in enumerate(names)}


def _unique_names(names, series):
    texts = [str(name) for name in names]
    twice = sorted(name for name, count in Counter(texts).items() if count > 1)
    if twice:
        raise ValueError(
            f"More than one column is called {', '.join(map(repr, twice))}; give each column of X "
            "a name of its own."
        )
    return dict(zip(texts, series, strict=True))


def _as_table(X):
    if isinstance(X, list | tuple) and X and all(isinstance(row, list | tuple) for row in X):
        if len({len(row) for row in X}) > 1:
            raise ValueError("The rows of X differ in length; give each the same cells.")
        array = np.empty((len(X), len(X[0])), dtype=object)
        array[:] = X
        return array
    array = np.asarray(unmask(X))
    if array.ndim != 2:
        raise ValueError(
            "X must be a table with one row per sample, a frame or a dense 2-D array, but it is "
            f"a {type(X).__name__} of shape {np.shape(array)}."
        )
    return array


def has_numbers(series):
    """Return whether the dtype of a column says that it holds real numbers or truth values."""
    return pd.api.types.is_numeric_dtype(series.dtype) and series.dtype.kind in "biuf"


def stored_numbers(series):
    """Return the cells of a column that has numbers; NaN for holes, numpy columns as they are."""
    if isinstance(series.dtype, np.dtype):
        return series.to_numpy()
    return series.to_numpy(dtype=np.float64, na_value=np.nan)


def read_levels(name, series):
    """Return the `Levels` of a column; cells that are neither text nor number are refused.

    Missing values and text without a visible character are holes.
    """
    if isinstance(series.dtype, pd.CategoricalDtype):
        return _category_levels(name, series)
    if has_numbers(series) or isinstance(series.dtype, pd.StringDtype):
        return _factorized(series)
    if series.dtype.kind in "mM":
        return _factorized(series, dates=True)
    return _object_levels(name, series.astype(object))


def _category_levels(name, series):
    categories = pd.Series(series.cat.categories)
    if not all(isinstance(category, _KNOWN) for category in categories):
        return _object_levels(name, series.astype(object))  # it knows the row of such a cell
    levels = read_levels(name, categories)
    # The last entry serves code -1, which is a hole here as there.
    codes = np.append(levels.codes, -1)[series.cat.codes.to_numpy()]
    return Levels(codes, levels.values, levels.dates)


def _object_levels(name, series):
    seen = series.notna().to_numpy()
    cells = series.to_numpy()
    kinds = set(map(type, cells[seen]))
    _refuse_other_kinds(name, cells, seen, kinds)
    if not all(issubclass(kind, str) for kind in kinds):
        # Before they are compared: to Python True, 1 and 1.0 are one value.
        cells = [_value(cell) if good else None for cell, good in zip(cells, seen, strict=True)]
        series = pd.Series(cells, dtype=object)
    return _factorized(series, dates=any(issubclass(kind, _DATES) for kind in kinds))


def _refuse_other_kinds(name, cells, seen, kinds):
    if all(issubclass(kind, _KNOWN) for kind in kinds):
        return
    row = next(i for i in np.flatnonzero(seen) if not isinstance(cells[i], _KNOWN))
    raise ValueError(
        f"Column {name!r} holds neither a number nor text in row {row} (counted from 0) but a "
        f"{type(cells[row]).__name__}; make numbers or text of it, or remove the column."
    )


def _factorized(series, dates=False):
    codes, cells = pd.factorize(series)
    values = [_value(cell) for cell in cells.to_numpy()]
    blank = [isinstance(value, str) and not value.strip() for value in values]
    if any(blank):
        codes = np.where(np.append(blank, True)[codes], -1, codes)
    return Levels(codes, values, dates)


def _value(cell):
    """Return a cell as text or as float; a short float is the decimal number that it shows."""
    if isinstance(cell, (*_WORDS, *_DATES)):
        return str(cell)
    try:
        return float(str(cell)) if isinstance(cell, np.floating) else float(cell)
    except OverflowError:
        return float("inf") if cell > 0 else float("-inf")


def level_name(value):
    """Return the name of a level: text as it stands, a number without a needless fraction."""
    if isinstance(value, str):
        return value
    return str(int(value)) if value.is_integer() and abs(value) < 2**63 else repr(value)


def as_number(value):
    """Return the number that a value is or reads as, NaN for a hole, None for other text.

    The words for holes are those of files: a column in which one cell is text is all text.
    """
    if isinstance(value, float):
        return value
    word = value.strip().lower()
    if word in MISSING:
        return float("nan")
    return _TRUTH[word] if word in _TRUTH else as_written_number(word)


def as_written_number(text):
    """Return the number that is written down in a text, or None."""
    if not set(text.strip().lower()) <= set("0123456789+-.e"):  # float takes 1_0 and nan too
        return None
    try:
        return float(text)
    except ValueError:
        return None


def are_numbers(values):
    """Return whether all values are numbers or truth values; text with digits is still text."""
    return all(isinstance(value, float) or value.strip().lower() in _TRUTH for value in values)
