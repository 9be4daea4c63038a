"""From the feature columns of a table to a matrix of numbers."""

import difflib

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from inldl.files.audit import trust
from inldl.rows.checks import check_choice, check_number
from inldl.tables.columns import Cells, as_frame, holds_infinity
from inldl.tables.columns.dates import ORDERS, DateColumn
from inldl.tables.columns.kinds import CategoryColumn, Choice, Column, NumberColumn
from inldl.tables.columns.levels import with_codes, with_means
from inldl.text import listed
from inldl.uncertainty.heldout import row_keys

KINDS: list[type[Column]] = [DateColumn, NumberColumn, CategoryColumn]
"""The kinds of columns, in the order in which they are asked whether a column is theirs."""
MAX_LEVELS = 250  # of text, each with a column: enough for all states, departments or countries
_ENTRIES = 1 << 18  # of a block of rows: it stays in the cache while its columns are filled
NO_FEATURES = (
    "No feature column tells rows apart: shares are filled in from the other shares of their "
    "rows, and new rows would all be predicted alike."
)
_LARGEST = np.finfo(np.float64).max

LARGE_MATRIX = 10_000_000  # numbers; more are held in single precision
BLOCK_OF_LARGE = 1 << 16  # rows


def register(kind: type[Column]) -> type[Column]:
    """Add a kind of column from outside, which is asked first; return it, to decorate a class.

    One of the same name and module is replaced: it may stand in a cell of a notebook.
    """
    same = next((other for other in KINDS if other.__name__ == kind.__name__), None)
    if same is not None and same.__module__ != kind.__module__:
        raise ValueError(f"There is another {kind.__name__} already; rename this one.")
    KINDS[:] = [kind, *(other for other in KINDS if other is not same)]
    trust(kind)
    return kind


def choose(name, series, max_levels=MAX_LEVELS, date_order=None) -> Choice:
    """Return the `Choice` for a column; infinite numbers are refused."""
    cells = Cells(name, series, date_order)
    choices = (kind.recognise(cells, max_levels) for kind in KINDS)
    return next(choice for choice in choices if choice is not None)


class FeatureEncoder(TransformerMixin, BaseEstimator):
    """Turn the columns of a table into numbers that a linear model can use.

    A column of numbers becomes one of z-scores: ``(x - mean) / standard deviation`` of the cells
    that are observed in the fit. A missing cell counts as the median. If cells were missing in the
    fit, one more column is 1 where they are. Truth values are the numbers 0 and 1, also as the
    words true and false.

    A column of text, or of the category dtype, becomes a column of zeros and ones for each level.
    Levels are the same if their text is exactly the same, blanks and case included. A number is
    the level that reads as that number: 1 and 1.0 are both the level "1" (or "1.0", or "01"), so
    that a table that is written to a file and read again is encoded alike. Missing values and
    cells of blanks only are holes.

    With more than 100 levels, and with `degrees` to learn from, each level is described by the
    mean degrees of its rows instead, see `inldl.tables.columns.levels`.

    A column of dates, by type or as text, becomes one of days, scaled as numbers are: the trend.
    The year, the months and the weekdays have columns, too, where they vary; see `DateColumn`.

    Left out, with a note, are columns that are empty or the same in every row; text of which over
    9 in 10 cells differ, and whole numbers that go up by one from row to row (not years), if there
    are more than 20 of them; and ids by name ("id", "person_id", "index", ...) whose cells all
    differ. If no column is left, the matrix is a single column of zeros. Infinite numbers, times
    of day and durations are refused.

    Parameters
    ----------
    max_levels : int, default=250
        Text columns with more levels have a column for each of the most frequent ones, and one
        for all others.
    dates : {"auto", "day-first", "month-first"}, default="auto"
        How to read dates such as 5/1/2024 in columns that leave it open, which are refused by
        default. A column with a date such as 31/1/2024 does not.

    Attributes
    ----------
    columns_ : list of Column
        How each column that is used is encoded, in the order of the table.
    dropped_ : dict of str to str
        The columns that are left out, and why.
    sources_ : list of str
        The column of the table behind each column of the matrix.
    notes_ : list of str
        Sentences on what was detected about the columns.
    feature_names_in_ : ndarray of str
        The names of the columns of the table.
    n_features_in_ : int
        How many there are.
    """

    def __init__(self, max_levels=MAX_LEVELS, dates="auto") -> None:
        self.max_levels = max_levels
        self.dates = dates

    def fit(self, X, y=None, *, degrees=None, sample_weight=None, codes=True) -> "FeatureEncoder":
        """Learn from a table how to encode its columns.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
            The features; the columns of an array are called x0, x1, ...
        y : None
            Not used.
        degrees : array of shape (n_samples, n_labels), optional
            Degrees, NaN = unobserved, by which columns of very many levels are encoded, and
            columns of numbers that are codes are recognised.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts there.
        codes : bool, default=True
            Whether columns of whole numbers may be taken as codes.

        Returns
        -------
        self
        """
        self._fit(X, degrees, sample_weight, codes)
        return self

    def _fit(self, X, degrees, sample_weight, codes):
        """Fit; return the columns of means for the rows of the fit, by their names."""
        check_number("max_levels", self.max_levels, low=1, integer=True)
        check_choice("dates", self.dates, ORDERS)
        given = as_frame(X)
        if not len(given):
            raise ValueError("X has no rows; give at least two.")
        how = self.max_levels, ORDERS[self.dates]
        choices = {name: choose(name, cells, *how) for name, cells in given.items()}
        self.dropped_ = {name: choice.reason for name, choice in choices.items() if choice.reason}
        self.columns_ = [choice.column for choice in choices.values() if choice.column]
        notes: list[str] = []
        of_others: dict[str, np.ndarray] = {}
        if degrees is not None:
            cells = {c.name: Cells(c.name, given[c.name]) for c in self.columns_}
            if codes:
                about = cells, degrees, self.max_levels
                self.columns_, notes = with_codes(self.columns_, *about)
            about = cells, degrees, sample_weight
            self.columns_, of_others = with_means(self.columns_, *about)
        self.sources_ = [column.name for column in self.columns_ for _ in column.outputs]
        self.notes_ = notes + _notes(choices, self.max_levels, of_others)
        self.notes_ += [] if self.columns_ else [NO_FEATURES]
        self.feature_names_in_ = np.array(list(given), dtype=object)
        self.n_features_in_ = given.shape[1]
        return of_others

    def transform(self, X) -> np.ndarray:
        """Encode a table.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
            The columns of a frame are found by their names, and those that the fit did not use
            may be absent or different; an array needs the columns of the fit in their order.

        Returns
        -------
        ndarray of shape (n_samples, n_encoded)
            All finite. A level that the fit did not see is 1 in the column of the other levels,
            or nowhere if there is none.
        """
        return self._encoded(self._read(X))

    def fit_matrix(
        self, X, degrees=None, sample_weight=None, *, codes=True
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Fit to a table; return its rows to learn from, encoded without their own degrees.

        The arguments are those of `fit`. The second array has the `row_keys` of the rows as
        `transform` encodes them, None if that is the same.
        """
        of_others = self._fit(X, degrees, sample_weight, codes)
        out = self.matrix(X)
        keys = row_keys(out) if of_others else None
        for name, means in of_others.items():
            at = [j for j, source in enumerate(self.sources_) if source == name]
            _, centers, scales = self._scaling()[:, at]
            out[:, at] = (means - centers) / scales
        return out, keys

    def matrix(self, X) -> np.ndarray:
        """Encode a table; a large one in single precision, which takes half as much."""
        X = as_frame(X, list(self.feature_names_in_))
        n, width = len(X), len(self.sources_)
        if n * width <= LARGE_MATRIX:
            return self.transform(X)
        out = np.empty((n, width), np.float32)
        for start in range(0, n, BLOCK_OF_LARGE):
            rows = slice(start, start + BLOCK_OF_LARGE)
            out[rows] = self.transform(X.iloc[rows])
        return out

    def _read(self, X):
        """Return the cells of each column that is used, as its kind reads them."""
        check_is_fitted(self)
        given = as_frame(X, list(self.feature_names_in_))
        self._check_names(given)
        if not self.columns_:
            return [np.zeros(len(given))]
        series = dict(given.items())
        return [c.read(Cells(c.name, series[c.name])) for c in self.columns_]

    def _encoded(self, cells):
        """Encode what was read, in blocks of rows."""
        if not self.columns_:
            return cells[0][:, None]
        fills, centers, scales = self._scaling()
        ends = np.cumsum([len(column.outputs) for column in self.columns_])[:-1]
        out = np.zeros((len(cells[0]), len(self.sources_)))
        size = min(max(_ENTRIES // len(self.sources_), 256), 4096)
        for start in range(0, len(out), size):
            block = out[start : start + size]
            parts = np.split(block, ends, axis=1)
            for column, values, part in zip(self.columns_, cells, parts, strict=True):
                column.write(values[start : start + size], part)
            if np.isnan(block.max()):
                np.copyto(block, fills, where=np.isnan(block))
            largest = max(block.max(), -block.min())
            if np.isinf(largest):
                row, place = np.argwhere(np.isinf(block))[0]
                raise holds_infinity(self.sources_[place], start + int(row))
            _standardise(block, largest, centers, scales)
        return out

    def _scaling(self):
        """Return for each column of the matrix what fills, is subtracted, and divides."""
        return np.array([each for column in self.columns_ for each in column.scaling]).T

    def unfamiliar(self, X) -> tuple[np.ndarray, np.ndarray]:
        """Tell which rows hold what the fit has not seen.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
            As in `transform`.

        Returns
        -------
        outside : ndarray of bool of shape (n_samples,)
            Rows with a number outside the range of its column in the fit.
        unseen : ndarray of bool of shape (n_samples,)
            Rows with text that its column did not have in the fit. Columns with more than
            `max_levels` levels tell nothing, as not all of their levels are kept.
        """
        return self._unfamiliar(self._read(X))

    def _unfamiliar(self, cells, without=()):
        """Do the same for what was read, but for some columns."""
        outside, unseen = np.zeros((2, len(cells[0])), bool)
        for column, values in zip(self.columns_, cells, strict=bool(self.columns_)):
            if column.name not in without:
                rows = outside if column.ordered else unseen
                rows |= column.unfamiliar(values)
        return outside, unseen

    def add_to(self, graph) -> str:
        """Add an input per column and the nodes that encode them; return the encoded tensor."""
        check_is_fitted(self)
        if not self.columns_:
            raise ValueError(
                "The model has no feature columns: it predicts the same for every row, and there "
                "is nothing to export."
            )
        fills, centers, scales = self._scaling()
        parts = [part for column in self.columns_ for part in column.add_to(graph)]
        values = graph.add("Concat", *parts, axis=1)
        filled = graph.add("Where", graph.add("IsNaN", values), fills[None], values)
        return (filled - centers[None]) / scales[None]

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return the names of the columns of the matrix; `input_features` is not used."""
        check_is_fitted(self)
        names = [name for column in self.columns_ for name in column.outputs]
        return np.array(names or ["none"], dtype=object)

    def _check_names(self, given):
        missing = [column.name for column in self.columns_ if column.name not in given]
        if not missing:
            return
        known = {name.lower(): name for name in given}
        near = {name: difflib.get_close_matches(name.lower(), known, n=1) for name in missing[:5]}
        hints = [f"{name!r} may be {known[found[0]]!r}" for name, found in near.items() if found]
        raise ValueError(
            f"The table lacks {_listed(missing, len(missing))}, which the model was fitted to"
            f"{': ' + ', '.join(hints) if hints else ''}; give a table with all its columns."
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _standardise(block, largest, centers, scales):
    """Subtract and divide in place; what is too large for a float becomes the largest one."""
    # A difference of two such numbers can be too large, that of their halves cannot.
    huge = max(largest, np.abs(centers).max()) > _LARGEST / 2
    with np.errstate(over="ignore"):
        if huge:
            block /= 2
        block -= centers / 2 if huge else centers
        block /= scales
        if huge:
            block *= 2
    if not np.isfinite(block).all():
        np.clip(block, -_LARGEST, _LARGEST, out=block)


def _notes(choices, max_levels, means):
    """Return sentences on the columns that are left out or lose something by their encoding."""
    notes = []
    for why in dict.fromkeys(choice.reason for choice in choices.values() if choice.reason):
        names = [name for name, choice in choices.items() if choice.reason == why]
        notes.append(_sentence(names, "is", "are", f"left out: {why}."))
    stray = {name: choice.stray for name, choice in choices.items() if choice.stray}
    if stray:
        first, (cell, row) = next(iter(stray.items()))
        rest = "nearly all numbers, but taken as text because of cells such as "
        rest += f"{cell!r} in row {row}"
        where = f" of {first!r}" if len(stray) > 1 else ""
        notes.append(_sentence(stray, "is", "are", f"{rest}{where} (counted from 0)."))
    if means:
        rest = "very many levels; each is described by the mean shares of its rows."
        notes.append(_sentence(means, "has", "have", rest))
    many = {n: c.n_levels for n, c in choices.items() if c.column and c.n_levels > max_levels}
    many = {name: number for name, number in many.items() if name not in means}
    if many:
        number = next(iter(many.values())) if len(many) == 1 else f"more than {max_levels}"
        shares = f"the {max_levels} most frequent have a column each, the others share one."
        notes.append(_sentence(many, "has", "have", f"{number} levels; {shares}"))
    return notes


def _sentence(names, one, several, rest):
    return f"C{_listed(names)[1:]} {one if len(names) == 1 else several} {rest}"


def _listed(names, most=3):
    """Return "column 'a'", or "columns 'a', 'b', 'c' and 5 more"."""
    return f"column{'s' if len(names) > 1 else ''} {listed(map(repr, names), most)}"
