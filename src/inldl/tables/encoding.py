"""From the feature columns of a table to a matrix of numbers."""

import difflib

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from inldl._file_state import FileState
from inldl._validation import check_number
from inldl.tables._cells import named_columns
from inldl.tables._choosing import choose
from inldl.tables._columns import CategoryColumn, NumberColumn
from inldl.tables._notes import listed, notes, nothing_left
from inldl.tables._scaling import Scaling

__all__ = ["CategoryColumn", "FeatureEncoder", "NumberColumn"]

_ENTRIES = 1 << 18  # of a block of rows: it stays in the cache while its columns are filled


class FeatureEncoder(TransformerMixin, BaseEstimator):
    """Turn the columns of a table into numbers that a linear model can use.

    A column of numbers becomes one of z-scores: ``(x - mean) / standard deviation`` of the cells
    that are observed in the fit. A hole is taken as the median, and if the fit saw holes, one more
    column is 1 where they are. Truth values are the numbers 0 and 1, also if they stand as the
    words true and false.

    A column of text, or of the category dtype, becomes a column of zeros and ones for each level.
    Levels are the same if their text is exactly the same, blanks and case included. A number is
    the level that reads as that number: 1 and 1.0 are both the level "1" (or "1.0", or "01"), so
    that a table that is written to a file and read again is encoded alike. Missing values and
    cells of blanks only are holes.

    Left out, with a note, are columns that are empty or the same in every row; text of which over
    9 in 10 cells differ, and whole numbers that go up by one from row to row (not years), if there
    are more than 20 of them; and ids by name ("id", "person_id", "index", ...) whose cells all
    differ. Columns of dates and infinite numbers are refused.

    Parameters
    ----------
    max_levels : int, default=50
        Text columns with more levels have a column for each of the most frequent ones, and one
        for all others.

    Attributes
    ----------
    columns_ : list of NumberColumn and CategoryColumn
        How each column that is used is encoded, in the order of the table.
    dropped_ : dict of str to str
        The columns that are left out, and why.
    sources_ : list of str
        The column of the table behind each column of the matrix.
    notes_ : list of str
        Sentences that tell what was found out about the columns.
    feature_names_in_ : ndarray of str
        The names of the columns of the table.
    n_features_in_ : int
        How many there are.
    """

    _in_file = FileState(
        parts=(NumberColumn, CategoryColumn), needed=("dropped_", "notes_", "sources_")
    )

    def __init__(self, max_levels=50):
        self.max_levels = max_levels

    def fit(self, X, y=None):
        """Learn from a table how to encode its columns.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
            The features; the columns of an array are called x0, x1, ...
        y : None
            Not used.

        Returns
        -------
        self
        """
        check_number("max_levels", self.max_levels, low=1, integer=True)
        given = named_columns(X)
        if not len(X):
            raise ValueError("X has no rows; give at least two.")
        choices = {name: choose(name, cells, self.max_levels) for name, cells in given.items()}
        dropped = {name: choice.reason for name, choice in choices.items() if choice.reason}
        if len(dropped) == len(choices):
            raise ValueError(nothing_left(dropped))
        self.columns_ = [choice.column for choice in choices.values() if not choice.reason]
        self.dropped_ = dropped
        self.sources_ = [column.name for column in self.columns_ for _ in column.outputs]
        self.notes_ = notes(choices, self.max_levels)
        self.feature_names_in_ = np.array(list(given), dtype=object)
        self.n_features_in_ = len(given)
        return self

    def transform(self, X):
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
        check_is_fitted(self)
        given = named_columns(X, list(self.feature_names_in_))
        self._check_names(given)
        cells = [column.read(given[column.name]) for column in self.columns_]
        scaling = Scaling.of(self.columns_)
        out = np.zeros((len(X), len(self.sources_)))
        size = min(max(_ENTRIES // len(self.sources_), 256), 4096)
        for start in range(0, len(out), size):
            block = out[start : start + size]
            self._write([values[start : start + size] for values in cells], block)
            scaling.apply(block, start)
        return out

    def unfamiliar(self, X):
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
        check_is_fitted(self)
        given = named_columns(X, list(self.feature_names_in_))
        self._check_names(given)
        outside, unseen = np.zeros((2, len(X)), bool)
        for column in self.columns_:
            rows = outside if isinstance(column, NumberColumn) else unseen
            rows |= column.unfamiliar(given[column.name])
        return outside, unseen

    def get_feature_names_out(self, input_features=None):
        """Return the names of the columns of the matrix; `input_features` is not used."""
        check_is_fitted(self)
        names = [name for column in self.columns_ for name in column.outputs]
        return np.array(names, dtype=object)

    def _write(self, cells, out):
        """Put what the cells of one block hold into their places."""
        first = 0
        for column, values in zip(self.columns_, cells, strict=True):
            last = first + len(column.outputs)
            column.write(values, out[:, first:last])
            first = last

    def _check_names(self, given):
        missing = [column.name for column in self.columns_ if column.name not in given]
        if not missing:
            return
        known = {name.lower(): name for name in given}
        near = {name: difflib.get_close_matches(name.lower(), known, n=1) for name in missing[:5]}
        hints = [f"{name!r} may be {known[found[0]]!r}" for name, found in near.items() if found]
        raise ValueError(
            f"The table lacks {listed(missing, len(missing))}, which the model was fitted to"
            f"{': ' + ', '.join(hints) if hints else ''}; give a table with all its columns."
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
