"""Groups of shares in one table, which inform each other: models in a chain."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from inldl.errors import warn_user
from inldl.rows.checks import refuse_first
from inldl.tables.columns import Cells
from inldl.tables.completing import check_completion, complete_table, completed_degrees
from inldl.tables.hints import ScaleEvidence
from inldl.tables.options import ColumnOptions, FillOptions, LearnOptions
from inldl.tables.reading import TableFile
from inldl.tables.results import FitResult, WriteResult
from inldl.tables.selection import split_names
from inldl.tables.table import WHOLE
from inldl.tables.tasks import fit_table
from inldl.text import listed

Array = np.ndarray
MOST_OFF = 0.05  # of the whole: where the median sum of rows is further off, these are counts
TOGETHER = 0.98  # of an error: groups that tell nothing of each other come near it by chance


def learn_in_chain(names, fit, fill, error) -> tuple[dict[str, Any], dict[str, Any], Array]:
    """Fit a model to each group of shares alone, and again with the others filled in by these.

    The second one is taken where both of its held-out errors are clearly smaller. What it learns
    from was filled in without the shares that it predicts.

    Parameters
    ----------
    names : list of str
        The groups.
    fit : callable
        Fits a model to a group; takes its name, and the filled shares of other groups by name.
    fill : callable
        Returns the filled shares of a group; takes its name and its first model.
    error : callable
        Returns the errors of a model of a group, at hidden shares and of new rows; NaN if unknown.

    Returns
    -------
    alone, together : dict
        The first model of each group, and the second one of those where it is taken.
    errors : ndarray of shape (n_groups, 2)
        The errors of both at hidden shares.
    """
    alone = {name: fit(name, {}) for name in names}
    together: dict[str, Any] = {}
    errors = np.full((len(names), 2), np.nan)
    filled = {name: fill(name, alone[name]) for name in names if len(names) > 1}
    for i, name in enumerate(filled):
        found = fit(name, {other: filled[other] for other in names if other != name})
        pairs = np.array([error(name, alone[name]), error(name, found)])
        errors[i] = pairs[:, 0]
        together |= {name: found} if (pairs[1] < TOGETHER * pairs[0]).all() else {}
    return alone, together, errors


def held_out_errors(completion, new_rows) -> tuple[float, float]:
    """Return the errors at hidden shares and of new rows, both measured as `HeldOut`.

    The second one stands for the first where no share could be hidden.
    """
    found, new = completion.overall(), new_rows.overall()["rmse"]
    return (found["rmse"] if found["n"] else new), new


@dataclass(frozen=True)
class ShareGroup:
    """Columns of a frame that hold the shares of one whole."""

    labels: list[str]
    total: Any = None  # the column with the total of each row, or the total of all rows
    scale: str = "auto"
    usual: float = 1.0  # the median sum of complete rows

    def settled(self, frame) -> ShareGroup:
        """Return the group with the scale that the shares of a frame show."""
        values = self.values(frame)
        sums, scale = values.sum(axis=1), self.scale if self.total is None else "count"
        usual = float(np.median(sums[sums > 0])) if (sums > 0).any() else np.nan
        if scale == "auto":
            evidence = ScaleEvidence()
            evidence.add(values)
            scale, _ = evidence.scale()
            off = abs(usual / WHOLE.get(scale, np.inf) - 1)
            scale = "count" if off > MOST_OFF else scale
            may_be_shares = (values % 1 > 0).any() and not (values > WHOLE["percent"]).any()
            if scale == "count" and usual > 0 and may_be_shares:
                warn_user(
                    f"Rows of {listed(map(repr, self.labels), 3)} sum to about {usual:.3g}, not "
                    "to 1 or 100, so these are taken as counts, and missing ones keep the ratios "
                    "of their row; give scale='count' if they are, correct them if they are not."
                )
        return replace(self, scale=scale, usual=usual if usual > 0 else 1.0)

    def values(self, frame) -> Array:
        """Return the numbers of the columns, NaN where missing; refuse what is no share."""
        values = np.column_stack([numbers_of(frame, name) for name in self.labels])
        refuse_first(
            (values < 0) | np.isinf(values),
            "Negative values in data, or infinite ones: column {name!r} has {value:g} in {row}; "
            "correct it, or make it NaN if it is missing.",
            value=values,
            name=np.broadcast_to(np.array(self.labels, object), values.shape),
        )
        return values

    def known(self, frame) -> tuple[Array, Array, Any]:
        """Return the numbers, degrees, and what rows sum to: None if only ratios are known."""
        values = self.values(frame)
        sums = np.nansum(values, axis=1, keepdims=True)
        if self.scale != "count":
            return values, values / WHOLE[self.scale], np.full(sums.shape, WHOLE[self.scale])
        y = np.where(sums > 0, values / np.where(sums > 0, sums, 1), np.nan)
        if self.total is None:
            return values, y, None
        column = numbers_of(frame, self.total) if self.total in frame else self.total
        whole = np.broadcast_to(np.reshape(column, (-1, 1)), sums.shape).astype(float)
        holes = np.isnan(values).any(axis=1, keepdims=True)
        bad = (holes & ~((whole > 0) & np.isfinite(whole)))[:, 0]
        sentence = "The total in {row} is {value:g}, but shares are missing there; correct it."
        refuse_first(bad, sentence, value=whole[:, 0])
        return values, np.where(holes, values / np.where(holes, whole, 1), y), whole

    def filled(self, values, completed, whole) -> Array:
        """Return shares with their holes filled from completed degrees."""
        holes = np.isnan(values)
        if whole is None:  # known counts keep their ratios
            seen = np.where(holes, 0, completed).sum(axis=1, keepdims=True)
            sums = np.nansum(values, axis=1, keepdims=True)
            whole = np.divide(sums, seen, np.full(sums.shape, self.usual), where=seen * sums > 0)
        return np.where(holes, completed * whole, values)


def numbers_of(frame, name) -> Array:
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


def refuse_shared(groups) -> list[str]:
    """Return the labels of all groups; refuse one that is in two."""
    every = [label for labels in groups for label in labels]
    for label in (label for label in every if every.count(label) > 1):
        raise ValueError(f"The label {label!r} is in two groups of shares; name it in one.")
    return every


@dataclass(frozen=True, eq=False)
class CompletedGroup:
    """What was done for one of several groups of shares."""

    name: str  # its labels
    learned: FitResult
    written: WriteResult
    alone: float  # the error at hidden shares without the other groups, in the units of the file
    together: float  # and with these
    helped: bool  # whether these are used


class _FilledFile(TableFile):
    """A table in a file with the filled shares of other groups as features."""

    filled: dict[str, np.ndarray]

    def with_features(self, filled):
        """Return the file with more features, by their names."""
        found = copy(self)
        found.filled, found.features = filled, [*self.features, *filled]
        return found

    def _plain_pieces(self, features=(), text=()):
        own = [name for name in features if name not in self.filled]
        for piece in super()._plain_pieces(own, text):
            added = {name: self.filled[name][piece.rows] for name in features if name not in own}
            yield replace(piece, features=piece.features.assign(**added)[list(features)])


def complete_groups(
    table, labels, path, method="auto", *, columns=None, learning=None, filling=None,
    overwrite=False,
) -> list[CompletedGroup]:  # fmt: skip
    """Write a file with the holes of several groups of shares filled.

    Each group sums to a whole of its own. It is completed alone first, then with the others filled
    in as features, where that has a clearly smaller error at hidden shares.

    Parameters
    ----------
    table : str or path
        The file.
    labels : list
        The labels of each group, as in `inldl.tables.read_table`.
    path : str or path
        The file to write.
    method : str
        As in `fit_table`.
    columns : ColumnOptions, optional
        How the file is written, and which columns are used.
    learning : LearnOptions, optional
        As in `fit_table`.
    filling : FillOptions, optional
        As in `complete_table`.
    overwrite : bool
        Replace the file if there is one.

    Returns
    -------
    list of CompletedGroup
    """
    columns, learning = ColumnOptions.of(columns), LearnOptions.of(learning)
    filling, normalize = FillOptions.of(filling), learning.normalize
    _check_for_groups(columns, filling)
    files = _files_of_groups(table, labels, columns)
    for file in files.values():
        check_completion(file, path, filling, overwrite=overwrite)

    def fit(name, others):
        columns = (zip(files[other].labels, y.T, strict=True) for other, y in others.items())
        filled = dict(pair for pairs in columns for pair in pairs)
        return fit_table(files[name].with_features(filled), method, learning), filled

    def fill(name, found):
        learned, file = found[0], files[name].with_features({})
        return completed_degrees(file, learned.model, learned.scale, normalize=normalize)

    def error(name, found):
        return held_out_errors(found[0].completion, found[0].new_rows)

    first, better, errors = learn_in_chain(list(files), fit, fill, error)
    chosen = (first | better).items()
    done, source = [], files[next(iter(files))].path
    with TemporaryDirectory() as folder:
        between = [Path(folder, f"{i}-{source.name}") for i in range(1, len(files))]
        each = zip([*between, path], chosen, errors.tolist(), strict=True)
        for out, (name, (learned, filled)), (alone, together) in each:
            file = _FilledFile(source, files[name].labels, files[name].options)
            how = {"scale": learned.scale, "holes": learned.holes, "normalize": normalize}
            about = file.with_features(filled), learned.model, out, filling
            written = complete_table(*about, **how, overwrite=overwrite and out is path)
            done.append(CompletedGroup(name, learned, written, alone, together, bool(filled)))
            source = out
    return done


def _check_for_groups(columns, filling):
    """Refuse options that are for one group of labels."""
    used = {
        "--long": columns.long, "--sum": columns.sums, "--column-totals": columns.column_totals,
        "--parent": columns.parent, "--delta": filling.delta, "--draws": filling.n_draws,
    }  # fmt: skip
    for option in (name for name, value in used.items() if value):
        raise ValueError(
            f"{option} is for one group of labels; give --labels once, or leave out {option}."
        )


def _files_of_groups(table, labels, columns):
    """Return the file once for each group, by its name, without the labels of the others."""
    files: list[TableFile] = []
    for each in labels:
        files.append(TableFile(files[0].path if files else table, each, columns))
    every, named = refuse_shared([file.labels for file in files]), {}
    for file in files:
        others = [label for label in every if label not in file.labels]
        options = replace(columns, ignore=[*split_names(columns.ignore), *others])
        named[listed(file.labels, 3)] = _FilledFile(file.path, file.labels, options)
    return named
