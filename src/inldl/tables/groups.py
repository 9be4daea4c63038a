"""Several groups of shares in one table, which inform each other: models in a chain."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from inldl.tables.completing import check_completion, complete_table, completed_degrees
from inldl.tables.options import ColumnOptions, FillOptions, LearnOptions
from inldl.tables.reading import TableFile
from inldl.tables.results import FitResult, WriteResult
from inldl.tables.selection import split_names
from inldl.tables.tasks import fit_table
from inldl.text import listed

Array = np.ndarray


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


def held_out_error(completion, new_rows) -> float:
    """Return the error at hidden shares, else that of new rows, both as `HeldOut`; else NaN."""
    found = completion.overall()
    return float((found if found["n"] else new_rows.overall())["rmse"])


@dataclass(frozen=True, eq=False)
class CompletedGroup:
    """What was done for one of several groups of shares."""

    name: str  # its labels
    learned: FitResult
    written: WriteResult
    alone: float  # the error at hidden shares without the other groups, in the units of the file
    together: float  # and with these; the smaller one is that of `learned`


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
    in as features, where that has the smaller error at hidden shares.

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
        return held_out_error(found[0].completion, found[0].new_rows)

    _, chosen, errors = learn_in_chain(list(files), fit, fill, error)
    done, source = [], files[next(iter(files))].path
    with TemporaryDirectory() as folder:
        between = [Path(folder, f"{i}-{source.name}") for i in range(1, len(files))]
        for out, (name, (learned, filled)) in zip([*between, path], chosen.items(), strict=True):
            file = _FilledFile(source, files[name].labels, files[name].options)
            how = {"scale": learned.scale, "holes": learned.holes, "normalize": normalize}
            about = file.with_features(filled), learned.model, out, filling
            written = complete_table(*about, **how, overwrite=overwrite and out is path)
            done.append(CompletedGroup(name, learned, written, *errors.loc[name]))
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
    opened, first = {}, table
    for each in labels:
        file = TableFile(first, each, columns)
        first = file.path
        for other in opened.values():
            if both := [name for name in file.labels if name in other.labels]:
                raise ValueError(
                    f"The label {both[0]!r} is in two groups; name it in one --labels."
                )
        opened[listed(file.labels, 3)] = file
    files = {}
    for name, file in opened.items():
        others = [n for other in opened.values() if other is not file for n in other.labels]
        ignored = [*split_names(columns.ignore), *others]
        files[name] = _FilledFile(first, file.labels, replace(columns, ignore=ignored))
    return files
