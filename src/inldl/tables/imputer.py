"""Impute shares in the frames and arrays of a scikit-learn pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from inldl.methods.registry import with_ratios
from inldl.randomness import seed_from
from inldl.rows.checks import check_choice, label_names, unmask
from inldl.rows.inputs import note_columns
from inldl.tables import audit
from inldl.tables.columns import as_frame
from inldl.tables.groups import (
    ShareGroup,
    held_out_errors,
    learn_in_chain,
    numbers_of,
    refuse_shared,
)
from inldl.tables.model import TableModel
from inldl.tables.options import SCALE_TITLES
from inldl.tables.selection import named_by
from inldl.text import counted, listed

Array = np.ndarray


class SharesImputer(TransformerMixin, BaseEstimator):
    """Fill in missing shares inside a scikit-learn pipeline.

    Guide: :doc:`/pipelines`.

    The columns of a table that hold shares are named, and learned from all its other columns:
    numbers, text, dates, and holes in these. Known shares stay as they are, missing ones are
    filled in so that their row sums to its whole, and the other columns pass through.

    Parameters
    ----------
    shares : list, str or dict, default=None
        The columns with shares: names ("a,b,c" or a list), patterns such as "emotion_*", or
        positions. Several groups, each of which sums to a whole of its own, are a dict from names
        to such columns. Each is completed alone first, then with the others filled in as features,
        where that makes errors clearly smaller. None takes all columns as one group.
    total : str, int, float or dict, default=None
        For counts: the column with the total of each row, by name, or one total of all rows, as a
        number; or a dict from groups to these. Counts without a total keep their ratios: missing
        ones go with the known ones of their row, or with the usual sum if none is known.
    scale : {"auto", "fraction", "percent", "count"}, default="auto"
        What rows of shares sum to: 1, 100, or a number of their own. Detected in the fit.
    features : list or str, default=None
        The columns to learn from, in place of all others.
    method : str or estimator, default="auto"
        A name as in ``inldl methods``, or an estimator of label distributions, which is cloned.
    cross_fit : int or None, default=5
        Fits without a part of the rows, which tell errors; "auto" needs none.
    error : {"shares", "ratios"}, default="shares"
        Whether errors of shares are to be small, or of ratios, where small shares count as much.
    unit, time : str or list of str, default=None
        The columns that name what has several rows, such as a country, and their times; "none"
        turns off that they are looked for. As in the `fit` of :class:`inldl.TableModel`.
    place : str or list of str, default=None
        The columns with the latitude and the longitude of rows; "none" leaves them out.
    add_indicator : bool, default=False
        Add a column ``missingindicator_<name>`` for each column of shares with holes in the fit: 1
        where a share was missing, else 0.
    random_state : int, RandomState instance or None, default=0
        For methods that draw random numbers.
    n_jobs : int or None, default=None
        Threads, for methods that can use them; None is 1, -1 all cores.

    Attributes
    ----------
    groups_ : dict of str to ShareGroup
        The columns of each group, and what they are. A group without a name is "shares".
    models_ : dict of str to TableModel
        The model that fills each group.
    first_models_ : dict of str to TableModel
        The model of each group that does not use the others.
    together_ : dict of str to TableModel
        The model of each group that uses the others, where that makes errors clearly smaller.
    errors_ : DataFrame of shape (n_groups, 2)
        The root mean squared error at hidden shares, of 1, of a model "alone" and "together" with
        the other groups; NaN where there is one group.
    feature_names_in_ : ndarray of str
        The columns of the fit, if they have names.
    n_features_in_ : int
        How many there are.

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

    _made_of = ("first_models_", "together_")  # models, which files hold

    def __init__(
        self, shares=None, *, total=None, scale="auto", features=None,
        method="auto", cross_fit=5, error="shares", unit=None, time=None, place=None,
        add_indicator=False, random_state=0, n_jobs=None,
    ):  # fmt: skip
        self.shares = shares
        self.total = total
        self.scale = scale
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
        _, frame = self._framed(X, fit=True)
        self.groups_ = {name: group.settled(frame) for name, group in self._groups().items()}
        known = {name: g.known(frame) for name, g in self.groups_.items()}
        every = self.label_names_
        self.with_holes_ = [n for n in every if np.isnan(numbers_of(frame, n)).any()]
        seed = self.random_state
        seed = int(seed) if isinstance(seed, Integral) else seed_from(seed)

        def fit(name, others):
            return self._fit_group(frame, name, known[name], others, sample_weight, groups, seed)

        def fill(name, model):
            return self._completed(frame, name, model, known[name][1])

        def error(name, model):
            if model.held_out_ is None:
                return np.nan, np.nan
            new_rows = audit.measure_new_rows(model, known[name][1])
            return held_out_errors(audit.measure_completion(model), new_rows)

        learned = learn_in_chain(list(known), fit, fill, error)
        self.first_models_, self.together_, self.group_errors_ = learned
        return self

    @property
    def models_(self) -> dict[str, TableModel]:
        """The model that fills each group."""
        return self.first_models_ | self.together_

    @property
    def errors_(self) -> pd.DataFrame:
        """The errors of groups alone and together."""
        return pd.DataFrame(self.group_errors_, [*self.groups_], ["alone", "together"])

    @property
    def label_names_(self) -> Array:
        """The columns of all groups."""
        return np.array([n for group in self.groups_.values() for n in group.labels], object)

    def _fit_group(self, frame, name, known, others, sample_weight, groups, seed):
        """Return a model of a group; `others` are the filled shares of other groups."""
        labels, method, (_, y, whole) = self.groups_[name].labels, self.method, known
        if whole is None:
            is_name = isinstance(method, str)
            method = with_ratios(method) if is_name else clone(method).set_params(known="ratios")
        model = TableModel(method, self.cross_fit, seed, self.n_jobs, self.error)
        about = self._features(frame, others), pd.DataFrame(y, columns=labels), sample_weight
        where = {"unit": self.unit, "time": self.time, "place": self.place}
        return model.fit(*about, groups=groups, **where)

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
            columns are left out, and what `features` leaves out may be absent.

        Returns
        -------
        frame or array of shape (n_samples, n_columns)
            A frame of the kind of `X` with its index, or an array; see `set_output`. Columns that
            hold no shares are as they were, and shares are numbers with a fraction.
        """
        check_is_fitted(self)
        X, frame = self._framed(X)
        known = {name: group.known(frame) for name, group in self.groups_.items()}
        models = self.first_models_.items()
        first = {n: self._completed(frame, n, model, known[n][1]) for n, model in models}
        out: dict[str, Array] = {}
        for name, group in self.groups_.items():
            values, y, whole = known[name]
            completed = first[name]
            if name in self.together_:
                others = {other: first[other] for other in first if other != name}
                completed = self._completed(frame, name, self.together_[name], y, others)
            out |= zip(group.labels, group.filled(values, completed, whole).T, strict=True)
        return self._put(X, frame, out)

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
        marks = [f"missingindicator_{of[name]}" for name in self.with_holes_ if self.add_indicator]
        return np.array([*names, *marks], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = self.shares is None
        tags.input_tags.string = tags.input_tags.categorical = self.shares is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _framed(self, X, fit=False):
        """Return a table, and the same as a frame of pandas with the column names of the fit."""
        by_name, columns = not fit and self.by_name_ and hasattr(X, "columns"), None
        if by_name:
            X, columns = self._in_order(X)
        elif hasattr(X, "columns"):
            note_columns(self, X, reset=fit)
        else:
            kind = "numeric" if self.shares is None else None
            how = {"dtype": kind, "ensure_all_finite": "allow-nan"}
            X = validate_data(self, unmask(X), reset=fit, **how)
        frame = as_frame(X)
        frame.index = pd.RangeIndex(len(frame))
        self.columns_ = list(frame) if fit else self.columns_
        frame.columns = pd.Index(columns or self.columns_, dtype=object)
        return X, frame

    def _in_order(self, X):
        """Return the columns of the fit, in its order, and their names.

        Those that are not used may be absent, unless the names of the output are set.
        """
        given = label_names(X)
        given = () if given is None else set(given)
        totals = [group.total for group in self.groups_.values()]
        needed = {*self.features_, *self.label_names_, *totals}
        if _get_output_config("transform", self)["dense"] != "default":
            needed = {*self.columns_}
        if lacking := [n for n in self.columns_ if n in needed and n not in given]:
            raise ValueError(
                f"The table lacks {listed(map(repr, lacking), 5)}, which the imputer was fitted "
                "to; give a table with all its columns."
            )
        names = [name for name in self.columns_ if name in given]
        return (X.select(names) if hasattr(type(X), "select") else X[names]), names

    def _groups(self):
        """Return the groups of shares, and note the features."""
        named = self.columns_ if self.shares is None else self.shares
        named = named if isinstance(named, Mapping) else {"shares": named}
        total = self.total if isinstance(self.total, Mapping) else dict.fromkeys(named, self.total)
        if not named or not named.keys() >= total.keys():
            known = listed(map(repr, named), 20) or "none"
            raise ValueError(
                f"The groups in shares are {known}; name some, and in total no others."
            )
        groups = {name: _chosen(wanted, self.columns_) for name, wanted in named.items()}
        for name, labels in groups.items():
            if len(labels) < 2:
                raise ValueError(
                    f"The group {name!r} has {counted(len(labels), 'column')} (n_features="
                    f"{len(labels)}), but shares are those of at least two; name their columns."
                )
        seen = refuse_shared(groups.values())
        every = [name for name in self.columns_ if name not in total.values()]
        chosen = every if self.features is None else _chosen(self.features, self.columns_)
        self.features_ = [name for name in chosen if name not in seen]
        self.by_name_ = self.shares is not None and hasattr(self, "feature_names_in_")
        return {n: ShareGroup(labels, total.get(n), self.scale) for n, labels in groups.items()}

    def _put(self, X, frame, filled):
        """Return a table with filled columns, and columns of marks on the right."""
        columns, names = list(frame), self.get_feature_names_out()[len(self.columns_) :]
        holes = zip(names, self.with_holes_, strict=False)
        marks = {name: np.isnan(numbers_of(frame, column)) * 1.0 for name, column in holes}
        is_frame = hasattr(X, "columns")
        if is_frame and not hasattr(X, "index"):  # of polars or pyarrow
            if _get_output_config("transform", self)["dense"] == "default":
                own = zip(label_names(X), columns, strict=True)
                cells = {name: filled.get(n, X[name]) for name, n in own} | marks
                return getattr(X, "from_pydict", type(X))(cells)
            X = frame
        out = X.copy(deep=False) if is_frame else frame
        for name, values in filled.items():
            at = columns.index(name)
            kind = out.dtypes.iloc[at]
            kind = kind if getattr(kind, "kind", "") == "f" else np.float64
            out.isetitem(at, pd.Series(values, out.index).astype(kind))
        for name, mark in marks.items():
            out[name] = mark
        return out if is_frame else out.to_numpy(X.dtype if X.dtype.kind in "fO" else np.float64)


def _chosen(wanted, columns):
    """Return the columns that are named, by names, patterns or positions."""
    found = []
    for each in wanted.split(",") if isinstance(wanted, str) else wanted:
        if not isinstance(each, Integral) or str(each) in columns:
            found += named_by(columns, [str(each)], "columns")
        elif -len(columns) <= each < len(columns):
            found.append(columns[each])
        else:
            number = counted(len(columns), "column")
            raise ValueError(f"There is no column {each}; X has {number}.")
    return list(dict.fromkeys(found))
