"""Impute shares in frames and arrays, several groups of shares in a row by chained models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from inldl.methods.registry import with_ratios
from inldl.randomness import seed_from
from inldl.rows.checks import check_choice, unmask
from inldl.rows.inputs import note_columns
from inldl.tables import audit
from inldl.tables.columns import Cells, as_frame
from inldl.tables.model import TableModel
from inldl.tables.options import SCALE_TITLES
from inldl.tables.selection import TotalColumns, named_by
from inldl.tables.shares import Degrees
from inldl.tables.table import WHOLE, Piece, ScaleEvidence
from inldl.tables.table_rows import TrainingRows
from inldl.text import counted, listed

Array = np.ndarray
NEAR = 0.05  # of the whole: how far rows of shares may be off in the middle, else they are counts


def learn_in_chain(
    names: list[str],
    fit: Callable[[str, dict[str, Array]], Any],
    fill: Callable[[str, Any], Array],
    error: Callable[[str, Any], float],
) -> tuple[dict[str, Any], dict[str, Any], pd.DataFrame]:
    """Fit a model to each group of shares alone, and again with the others filled in by these.

    The second one is taken where its held-out error is smaller. What it learns from was filled in
    without the shares that it predicts, so that this error is an honest one.

    Parameters
    ----------
    names : list of str
        The groups.
    fit : callable
        Fits a model to a group; takes its name, and the filled shares of other groups by name.
    fill : callable
        Returns the filled shares of a group; takes its name and its first model.
    error : callable
        Returns the held-out error of a model of a group, NaN if it is not known.

    Returns
    -------
    alone, chosen : dict
        The first model of each group, and the one that is taken.
    errors : DataFrame of shape (n_groups, 2)
        The held-out errors of both, "alone" and "together".
    """
    alone = {name: fit(name, {}) for name in names}
    chosen, errors = dict(alone), pd.DataFrame(np.nan, names, ["alone", "together"])
    filled = {name: fill(name, alone[name]) for name in names if len(names) > 1}
    for name in filled:
        found = fit(name, {other: filled[other] for other in names if other != name})
        errors.loc[name] = pair = error(name, alone[name]), error(name, found)
        chosen[name] = found if pair[1] < pair[0] else alone[name]
    return alone, chosen, errors


def held_out_error(model, y) -> float:
    """Return the error at hidden shares of a fitted `TableModel`, else that of new rows."""
    hidden = audit.measure_completion(model).overall()
    if not hidden["n"] and model.held_out_ is not None:
        hidden = audit.measure_new_rows(model, y).overall()
    return float(hidden["rmse"])


@dataclass(frozen=True)
class ShareGroup:
    """Columns that hold the shares of one whole."""

    name: str
    labels: list[str]
    total: Any = None  # the column with the total of each row, or the total of all rows
    scale: str = "auto"
    typical: float = 1.0  # what complete rows of counts sum to, in the middle

    @property
    def ratios(self) -> bool:
        """Whether these are counts of which no total is known."""
        return self.scale == "count" and self.total is None

    def settled(self, frame) -> ShareGroup:
        """Return the group with the scale that the shares of a frame show."""
        values = self.values(frame)
        sums = values.sum(axis=1)
        sums, scale = sums[sums > 0], "count" if self.total is not None else self.scale
        if scale == "auto":
            evidence = ScaleEvidence()
            evidence.add(values)
            scale, _ = evidence.scale()
            off = abs(np.median(sums) / WHOLE.get(scale, np.inf) - 1) if len(sums) else 0
            scale = "count" if off > NEAR else scale
        return replace(self, scale=scale, typical=float(np.median(sums)) if len(sums) else 1.0)

    def values(self, frame) -> Array:
        """Return the numbers of the columns, NaN where missing; refuse what is no share."""
        out = np.column_stack([_numbers(frame, name) for name in self.labels])
        for bad, what in (
            (out < 0, "Negative values in data"),
            (np.isinf(out), "Infinite values"),
        ):
            if bad.any():
                row, column = np.argwhere(bad)[0]
                raise ValueError(
                    f"{what}: the share in row {row}, column {self.labels[column]!r} is "
                    f"{out[row, column]:g}; correct it, or make it NaN if it is missing."
                )
        return out

    def known(self, frame, *, normalize=False, part=False) -> tuple[Array, Any, Any]:
        """Return degrees, what each row sums to in the frame, and divisors of rows, if any.

        Of a `part` of a table, only rows with holes are checked. What counts without a total sum
        to is None.
        """
        values = self.values(frame)
        sums = np.nansum(values, axis=1, keepdims=True)
        y = np.where(sums > 0, values / np.where(sums > 0, sums, 1), np.nan)
        if self.ratios:
            return y, None, None
        at = np.flatnonzero(np.isnan(values).any(axis=1)) if part else np.arange(len(y))
        columns = TotalColumns(list(frame), self.total)
        columns.check(self.labels)
        totals = None if columns.total is None else _numbers(frame, columns.total)[at]
        totals = totals if columns.each is None else np.full(len(at), columns.each)
        piece = Piece(0, len(at), values[at], frame, None, totals=totals)
        are_whole = np.array_equal(np.rint(values), values, equal_nan=True)
        degrees = Degrees(piece, columns, lambda row: f"Row {at[row]}", lambda: are_whole)
        shares = degrees.shares(self.scale, normalize=normalize, part=part)
        y[at], whole = shares.known.y, np.ones((len(y), 1))
        whole[at, 0] = WHOLE[self.scale] if shares.totals is None else shares.totals
        return y, whole, shares.divisors

    def filled(self, frame, completed, whole) -> Array:
        """Return the shares of a frame, with its holes filled from completed degrees."""
        values = self.values(frame)
        if whole is None:  # known counts keep their ratios
            seen = np.where(np.isnan(values), 0, completed).sum(axis=1, keepdims=True)
            sums = np.nansum(values, axis=1, keepdims=True)
            told = (seen > 0) & (sums > 0)
            whole = np.where(told, sums / np.where(told, seen, 1), self.typical)
        return np.where(np.isnan(values), completed * whole, values)


class SharesImputer(TransformerMixin, BaseEstimator):
    """Fill in missing shares inside of a scikit-learn pipeline.

    The columns of a table that hold shares are named, and learned from all its other columns:
    numbers, text, dates, and holes in these. Known shares stay as they are, missing ones are
    filled in so that their row sums to its whole, and the other columns pass through.

    Parameters
    ----------
    shares : list, str or dict, default=None
        The columns with shares: names ("a,b,c" or a list), patterns such as "emotion_*", or
        positions. Several groups, each of which sums to a whole of its own, are a dict from names
        to such columns. Each is completed alone first, then with the others filled in as features,
        where that has the smaller error at hidden shares. None takes all columns as one group.
    total : str, int, float or dict, default=None
        For counts: the column with the total of each row, by name, or one total of all rows, as a
        number; or a dict from groups to these. Counts without a total keep their ratios: missing
        ones go with the known ones of their row, or with the usual sum if none is known.
    scale : {"auto", "fraction", "percent", "count"}, default="auto"
        What rows of shares sum to: 1, 100, or a number of their own. Detected in the fit.
    normalize : bool, default=False
        Divide complete rows that do not sum to the whole by their sum, instead of refusing them.
    features : list or str, default=None
        The columns to learn from, in place of all others.
    method, cross_fit, n_jobs, error
        As in :class:`inldl.TableModel`.
    unit, time, place
        As in the `fit` of :class:`inldl.TableModel`.
    add_indicator : bool, default=False
        Add a column ``missingindicator_<name>`` for each column of shares with holes in the fit: 1
        where a share was missing, else 0.
    random_state : int, RandomState instance or None, default=0
        For methods that draw random numbers.

    Attributes
    ----------
    groups_ : dict of str to ShareGroup
        The columns of each group, and what they are. A group without a name is "shares".
    models_ : dict of str to TableModel
        The model that fills each group.
    first_models_ : dict of str to TableModel
        The model of each group that does not use the others.
    errors_ : DataFrame of shape (n_groups, 2)
        The root mean squared error at hidden shares, of 1, of a model "alone" and "together" with
        the other groups; NaN where there is one group.
    feature_names_in_, n_features_in_
        The columns of the fit.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from inldl import SharesImputer
    >>> survey = pd.DataFrame({"age": [20, 30, 40, 50], "town": ["A", "B", "A", "B"]})
    >>> survey["yes"], survey["no"] = [0.2, 0.5, 0.4, np.nan], [0.8, 0.5, np.nan, 0.3]
    >>> SharesImputer(["yes", "no"], method="winldl").fit_transform(survey).round(6)
       age town  yes   no
    0   20    A  0.2  0.8
    1   30    B  0.5  0.5
    2   40    A  0.4  0.6
    3   50    B  0.7  0.3
    """

    def __init__(
        self, shares=None, *, total=None, scale="auto", normalize=False, features=None,
        method="auto", cross_fit=5, error="shares", unit=None, time=None, place=None,
        add_indicator=False, random_state=0, n_jobs=None,
    ):  # fmt: skip
        self.shares = shares
        self.total = total
        self.scale = scale
        self.normalize = normalize
        self.features = features
        self.method = method
        self.cross_fit = cross_fit
        self.error = error
        self.unit = unit
        self.time = time
        self.place = place
        self.add_indicator = add_indicator
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None, sample_weight=None, *, groups=None) -> Self:
        """Learn to fill in the missing shares of a table.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
            The table, NaN = missing: a frame of pandas or polars, a table of pyarrow, or an array.
        y : None
            Not used: what a pipeline predicts tells nothing about its features.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts; 0 leaves a row out.
        groups : array-like of shape (n_samples,), optional
            Rows of one group, such as one person, are held out together.

        Returns
        -------
        self
        """
        check_choice("scale", self.scale, SCALE_TITLES)
        X, frame = self._framed(X, fit=True)
        self.groups_ = {group.name: group.settled(frame) for group in self._groups(frame)}
        known = {
            name: g.known(frame, normalize=self.normalize) for name, g in self.groups_.items()
        }
        self.with_holes_ = [
            label
            for name, group in self.groups_.items()
            for label, holes in zip(group.labels, np.isnan(known[name][0]).T, strict=True)
            if holes.any()
        ]
        seed = self.random_state
        seed = int(seed) if isinstance(seed, Integral) else seed_from(seed)
        about = sample_weight, groups, seed

        def fit(name, others):
            return self._fit_group(frame, name, known[name], others, *about)

        def fill(name, model):
            return self._completed(frame, name, model, known[name][0])

        def error(name, model):
            return held_out_error(model, known[name][0])

        learned = learn_in_chain(list(self.groups_), fit, fill, error)
        self.first_models_, self.models_, self.errors_ = learned
        return self

    def _fit_group(self, frame, name, known, others, sample_weight, groups, seed):
        """Return a model of a group; `others` are the filled shares of other groups."""
        group, (y, _, divisors) = self.groups_[name], known
        method = _of_ratios(self.method) if group.ratios else self.method
        model = TableModel(method, self.cross_fit, seed, self.n_jobs, self.error)
        about = {"divisors": divisors, "fold_groups": groups}
        X, y = self._features(frame, others), pd.DataFrame(y, columns=group.labels)
        training = TrainingRows.of(X, y, sample_weight, **about)
        training = model.place(training, self.unit, self.time, self.place)
        model.fit_prepared(model.prepare(training, group.labels))
        return model

    def _features(self, frame, others):
        """Return the features, with the filled shares of other groups."""
        filled = [pd.DataFrame(y, columns=self.groups_[name].labels) for name, y in others.items()]
        return pd.concat([frame[self.features_], *filled], axis=1)

    def _completed(self, frame, name, model, y, others=None):
        """Return completed degrees of a group."""
        at = np.isnan(y).any(axis=1) | (model.panel_ is not None)
        out, labels = y.copy(), self.groups_[name].labels
        if at.any():
            X = self._features(frame, others or {})[at]
            out[at] = np.asarray(model.complete(X, pd.DataFrame(y[at], columns=labels)))
        return out

    def transform(self, X) -> Any:
        """Fill in the missing shares of a table.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_columns)
            The columns of the fit. Where shares are named, those of a frame in any order; other
            columns are left out.

        Returns
        -------
        frame or array of shape (n_samples, n_columns)
            A frame of the kind of `X` with its index, or an array; see `set_output`. Columns that
            hold no shares are as they were, and shares are numbers with a fraction.
        """
        check_is_fitted(self)
        X, frame = self._framed(X)
        known = {n: g.known(frame, part=True) for n, g in self.groups_.items()}
        first = {
            name: self._completed(frame, name, self.first_models_[name], y)
            for name, (y, *_) in known.items()
        }
        filled = {}
        for name, group in self.groups_.items():
            y, whole, _ = known[name]
            completed, model = first[name], self.models_[name]
            if model is not self.first_models_[name]:
                others = {other: y for other, y in first.items() if other != name}
                completed = self._completed(frame, name, model, y, others)
            values = group.filled(frame, completed, whole)
            filled |= dict(zip(group.labels, values.T, strict=True))
        marks = [np.isnan(_numbers(frame, name)) for name in self.with_holes_]
        return self._put(X, frame, filled, marks if self.add_indicator else [])

    def get_feature_names_out(self, input_features=None) -> Array:
        """Return the names of the columns of the output.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of the input; those of the fit by default.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        of = dict(zip(self.columns_, names, strict=True))
        marks = [f"missingindicator_{of[name]}" for name in self.with_holes_]
        return np.array([*names, *(marks if self.add_indicator else [])], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = self.shares is None
        tags.input_tags.string = tags.input_tags.categorical = self.shares is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _framed(self, X, fit=False):
        """Return a table, and the same as a frame of pandas with the column names of the fit."""
        if hasattr(X, "column_names") and hasattr(X, "to_pandas"):  # of pyarrow
            X = X.to_pandas()
        if hasattr(X, "columns"):
            X = X if fit or not self.by_name_ else self._in_order(X)
            note_columns(self, X, reset=fit)
            frame = as_frame(X)
        else:
            kind = "numeric" if self.shares is None else None
            X = validate_data(
                self, unmask(X), reset=fit, dtype=kind, ensure_all_finite="allow-nan"
            )
            frame = as_frame(X)
        frame.index = pd.RangeIndex(len(frame))
        if fit:
            self.columns_ = list(frame)
        frame.columns = pd.Index(self.columns_, dtype=object)
        return X, frame

    def _in_order(self, X):
        """Return the columns of the fit, in its order."""
        lacking = [name for name in self.columns_ if name not in X.columns]
        if lacking:
            raise ValueError(
                f"The table lacks {listed(map(repr, lacking), 5)}, which the imputer was fitted "
                "to; give a table with all its columns."
            )
        return X[self.columns_]

    def _groups(self, frame):
        """Return the groups of shares, and note the features."""
        shares = self.shares
        shares = self.columns_ if shares is None else shares
        named = shares if isinstance(shares, Mapping) else {"shares": shares}
        groups = {str(name): _chosen(wanted, self.columns_) for name, wanted in named.items()}
        total = self.total if isinstance(self.total, Mapping) else dict.fromkeys(named, self.total)
        if strange := [name for name in total if name not in named]:
            raise ValueError(f"total names {strange[0]!r}, which is no group of shares.")
        seen: dict[str, str] = {}
        for name, labels in groups.items():
            if len(labels) < 2:
                raise ValueError(
                    f"The group {name!r} has {counted(len(labels), 'column')} (n_features="
                    f"{len(labels)}), but shares are those of at least two; name their columns."
                )
            if twice := [label for label in labels if label in seen]:
                raise ValueError(
                    f"Column {twice[0]!r} is in the groups {seen[twice[0]]!r} and {name!r}; name "
                    "it in one."
                )
            seen |= dict.fromkeys(labels, name)
        totals = [t for t in total.values() if isinstance(t, str) and t in self.columns_]
        chosen = self.columns_ if self.features is None else _chosen(self.features, self.columns_)
        left_out = [*seen, *([] if self.features is not None else totals)]
        self.features_ = [name for name in chosen if name not in left_out]
        self.by_name_ = self.shares is not None and hasattr(self, "feature_names_in_")
        return [ShareGroup(n, labels, total.get(n), self.scale) for n, labels in groups.items()]

    def _put(self, X, frame, filled, marks):
        """Return a table with filled columns, and columns of marks on the right."""
        names = self.get_feature_names_out()[len(self.columns_) :]
        marks = {name: mark.astype(float) for name, mark in zip(names, marks, strict=True)}
        default = _get_output_config("transform", self)["dense"] == "default"
        if not hasattr(X, "columns"):
            kind = X.dtype if X.dtype.kind in "fO" else np.float64
            out = np.column_stack(
                [X.astype(kind), *(mark.astype(kind) for mark in marks.values())]
            )
            for name, values in filled.items():
                out[:, self.columns_.index(name)] = values
            return out
        if default and not hasattr(X, "index"):  # polars
            columns = dict(
                zip(
                    X.columns,
                    (filled.get(n, X[c]) for n, c in zip(self.columns_, X.columns, strict=True)),
                    strict=True,
                )
            )
            return type(X)(columns | marks)
        out = (X if hasattr(X, "index") else frame).copy(deep=False)
        for name, values in filled.items():
            at = self.columns_.index(name)
            kind = out.dtypes.iloc[at]
            kind = kind if getattr(kind, "kind", "") == "f" else np.float64
            out.isetitem(at, pd.Series(values, out.index).astype(kind))
        for name, mark in marks.items():
            out[name] = mark
        return out


def _chosen(wanted, columns):
    """Return the columns that are named, by names, patterns or positions."""
    found = []
    for each in wanted.split(",") if isinstance(wanted, str) else wanted:
        if isinstance(each, Integral) and str(each) not in columns:
            if not -len(columns) <= each < len(columns):
                raise ValueError(
                    f"There is no column {each}; X has {counted(len(columns), 'column')}."
                )
            found.append(columns[each])
        else:
            found += named_by(columns, [str(each)], "columns")
    return list(dict.fromkeys(found))


def _numbers(frame, name):
    """Return a column as floats, NaN where missing; refuse text."""
    cells = Cells(name, frame[name])
    found = cells.numbers
    if found is None and cells.seen:
        word = next(value for value in cells.seen if not isinstance(value, float))
        raise ValueError(
            f"Column {name!r} holds {word!r} in row {cells.first_row(word)}, but shares and their "
            "totals are numbers; correct it, or make it NaN if it is missing."
        )
    return np.full(len(frame), np.nan) if found is None else np.asarray(found, dtype=np.float64)


def _of_ratios(method):
    """Return a method that learns from ratios of degrees."""
    if isinstance(method, str):
        return with_ratios(method)
    if "known" not in method.get_params():
        raise ValueError(
            f"{type(method).__name__} cannot learn from counts without a total; name the column "
            "of their total, or use another method."
        )
    return clone(method).set_params(known="ratios")
