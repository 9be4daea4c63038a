"""Rows of a table to learn from, and columns that are about the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.utils import _safe_indexing

from inldl.errors import DataError
from inldl.rows.checks import WEIGHTLESS
from inldl.rows.density import constant_distribution, mean_degrees
from inldl.rows.inputs import as_weights, check_rows, group_numbers
from inldl.rows.panel import Panel
from inldl.rows.partial import PartialRows
from inldl.tables.columns import as_frame, level_name
from inldl.tables.columns.kinds import ID, NEARLY_ID, RUNNING
from inldl.tables.positions import PanelReader
from inldl.tables.structure import NONE, find_structure, unit_of_holes
from inldl.tables.table import Piece, join_pieces
from inldl.text import counted, listed
from inldl.uncertainty.heldout import first_of_copies, predict_held_out

RARE_LABEL_ROWS = 20  # observed degrees of a label in a sample of rows, where there are as many


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows that a model learns from, with all that is known about them."""

    features: Any  # (n, k) a table, or its encoded columns
    rows: PartialRows  # degrees, bounds, sums of labels, weights, and the numbers of the rows
    divisors: Any = None  # (n,) what rows were divided by, if complete ones have several sums
    votes: Any = None  # (n,) how many votes the degrees of a row rest on
    known_counts: Any = None  # (n,) sums of the known counts of rows whose totals are not known
    fold_groups: Any = None  # (n,) rows of one group are held out together
    keys: Any = None  # (n,) by which rows are recognised, if not by their encoded columns
    panel: Panel | None = None  # where rows belong
    reader: PanelReader | None = None  # what tells that of other rows
    notes: tuple[str, ...] = ()  # which columns tell it

    @classmethod
    def of(cls, X, y, sample_weight=None, limits=None, **about) -> TrainingRows:
        """Return the rows that count, as a user gives them; they keep their numbers.

        `limits` has lower and upper bounds and sums, and `about` the other fields.
        """
        X, rows = as_frame(X), PartialRows.of(y, **(limits or {}))
        check_rows(X, rows.y)
        weight = as_weights(sample_weight, len(rows))
        rows = replace(rows, weight=weight, number=np.arange(len(rows)))
        return cls(X, rows, **about).weighted()

    def __len__(self):
        return len(self.rows)

    @property
    def degrees_alone(self) -> np.ndarray | None:
        """The degrees, None if rows are held out together: others of a unit would tell of them."""
        return self.rows.y if self.panel is None and self.fold_groups is None else None

    def take(self, at) -> TrainingRows:
        """Return some of the rows."""
        names = ("features", "divisors", "votes", "known_counts", "fold_groups", "keys")
        given = {n: a for n in names if (a := getattr(self, n)) is not None}
        some: dict[str, Any] = {name: _safe_indexing(a, at) for name, a in given.items()}
        panel = None if self.panel is None else self.panel.take(at)
        return replace(self, rows=self.rows.take(at), panel=panel, **some)

    def placed(self, unit=None, time=None, place=None, dates="auto") -> TrainingRows:
        """Return the rows with the units and times that columns name.

        The arguments are those of `find_structure`. Places stay features, unless they are turned
        off.
        """
        off = isinstance(place, str) and place.strip().lower() == NONE
        found = find_structure(self.features, unit, time, None if off else place, dates)
        features = self.features.drop(columns=list(found.place) if off else [])
        found = replace(found, place=()) if off else found
        if unit is None and not (found.unit or found.time):
            found = replace(found, unit=unit_of_holes(features, self.rows.holes))
        about: dict[str, Any] = {"notes": tuple(found.notes)}
        if found.unit or found.time:
            reader = PanelReader.fit(features, found, dates)
            about |= {"reader": reader, "panel": reader.read(features)}
        return replace(self, features=features, **about)

    def cross_fit(self, estimator, n_folds) -> np.ndarray:
        """Return predictions of the rows, each made by a clone that did not see its group."""
        about = with_guesses(self.rows).y, n_folds, self.fold_groups, self.rows.weight
        return predict_held_out(estimator, self.features, *about)

    def with_weight(self, weight) -> TrainingRows:
        """Return the rows with other weights."""
        return replace(self, rows=replace(self.rows, weight=weight))

    def weighted(self) -> TrainingRows:
        """Return the rows whose weight is not 0."""
        weight = self.rows.weight
        return self if weight is None or weight.all() else self.take(np.flatnonzero(weight))

    def distinct(self) -> TrainingRows:
        """Return the first of all equal rows, with the weights of its copies together.

        Rows with the same encoded features are copies if nearly all of these have the same
        degrees, too; else they are people who happen to look alike.
        """
        first, same = first_of_copies(self.features, np.where(self.rows.holes, -1, self.rows.y))
        if len(first) == len(self):
            return self
        once = np.sort(first)
        if self.rows.weight is None:
            return self.take(once)
        return self.take(once).with_weight(np.bincount(same, self.rows.weight)[same][once])


def refuse_unseen(rows, labels) -> None:
    """Refuse a label of which nothing is known in rows without a sum that it is a part of."""
    for j in np.flatnonzero(rows.holes.all(axis=0))[:1]:
        raise ValueError(
            f"No number of {labels[j]!r} is known, and totals of rows are not known, so nothing "
            "says how large it is; drop it, or name a total (--total)."
        )


def with_guesses(rows) -> PartialRows:
    """Return rows with degrees of labels of which none is known, which no method accepts.

    They are what the sums of the rows give, else an equal part of what a row leaves to its holes,
    in the row that leaves the median. They are for the fit alone: nothing else is to learn them.
    """
    y, unseen = rows.y.copy(), np.flatnonzero(rows.holes.all(axis=0))
    if not unseen.size or unseen.size == y.shape[1]:  # methods refuse the latter
        return rows
    y[:, unseen] = rows.forced()[:, unseen]
    holes = np.isnan(rows.y)
    part = np.clip(1 - np.nansum(rows.y, axis=1), 0, None) / holes.sum(axis=1)
    middle = np.argsort(part, kind="stable")[len(part) // 2]
    y[middle, np.isnan(y).all(axis=0)] = part[middle]
    return rows.hide(y)


def sample_rows(n, most, seed) -> np.ndarray:
    """Return the numbers of n rows, of a sorted random sample if there are more than `most`."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def id_columns(file, model) -> list[str]:
    """Return the columns that name the rows of a file, if there are some.

    They are those that the user says, else the first that the model has left out as an id, else
    those of the unit and the time. An id of several columns of a long table consists of features,
    but names the rows as well.
    """
    if file.ids or file.things:
        return list(file.ids or file.things)
    left_out = model.encoder_.dropped_
    reasons = [choice.reason for choice in (ID, RUNNING, NEARLY_ID)]
    found = [n for reason in reasons for n in file.features if left_out.get(n) == reason]
    places = [] if model.panel_ is None else model.panel_.reader.columns
    return found[:1] or [name for name in places if name in file.features]


def id_texts(features, ids) -> list[str]:
    """Return the ids of rows as texts, those of several columns with commas in between."""
    columns = (features[name] for name in ids)
    cells = zip(*columns, strict=True) if ids else [()] * len(features)
    return [", ".join(filter(None, map(_text, row))) for row in cells]


def _text(cell):
    if pd.isna(cell):
        return ""
    return level_name(cell) if isinstance(cell, float) else str(cell).strip()


_VERBS = {
    "--group": ("group", "grouped"),
    "--weight": ("weigh", "weighed"),
    "--cost": ("price", "priced"),
}


def take_column(features, name, file, option) -> Any:
    """Take a column from the features, which says something else about the rows."""
    verb, done = _VERBS[option]
    if name in features:
        return features.pop(name)
    if name in file.labels:
        raise ValueError(f"The column {name!r} is named in {option} and as a label; name it once.")
    if name in file.source.names:
        raise ValueError(
            f"Rows cannot be {done} by {name!r}, because --id, --ignore, --features or --long "
            f"leaves that column out; name it in {option} only."
        )
    known = listed(map(repr, features), 20) or "there are none"
    raise ValueError(f"No column {name!r} to {verb} by is among the features ({known}).")


def take_groups(table, name) -> Any:
    """Return the column of groups: an id, or a feature, which stays one if it is text.

    Its numbers would be taken as quantities, so they are no feature.
    """
    features = table.features
    if name in table.ids:
        return table.ids[name]
    if name in features and not is_numeric_dtype(features[name]):
        return features[name]
    return take_column(features, name, table.file, "--group")


def panel_of(table, options) -> tuple[Panel | None, list[str]]:
    """Return where rows belong, by the `GroupOptions`, and sentences that say so; None if nowhere.

    Columns that name the rows can be those of a unit and a time as well.
    """
    if options.group is not None:
        groups = take_groups(table, options.group)
        return Panel(group_numbers(groups, len(table.y))), []
    columns = pd.concat([table.ids, table.features], axis=1)
    found = find_structure(columns, options.unit, options.time, "none", options.dates)
    if not found:
        return None, []
    return PanelReader.fit(columns, found, options.dates).read(columns), found.notes


def take_weights(features, name, file, rows=None) -> np.ndarray | None:
    """Take the column of weights from the features, and return the weights; None if no name.

    They are divided by their mean, so that only their ratios matter.
    """
    if name is None:
        return None
    cells, place = take_column(features, name, file, "--weight"), file.place_of(rows)
    what = "weight; give a number that is not negative, 0 to leave the row out"
    weights = checked_numbers(cells, place, lambda weights: weights >= 0, what)
    if not weights.any():
        raise ValueError(f"All weights in column {name!r} are 0; {WEIGHTLESS.partition('; ')[2]}")
    return weights / weights.mean()


def checked_numbers(cells, place, good, what) -> np.ndarray:
    """Return a column as numbers, or refuse the first that is not `good`, saying `what` is."""
    numbers = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64)
    bad = np.flatnonzero(~(np.isfinite(numbers) & good(numbers)))
    if bad.size:
        cell = cells.iloc[bad[0]]
        value = f"{cell:g}" if isinstance(cell, Real) else repr(str(cell))
        facts = {"value": "no number" if pd.isna(cell) else value, "row": int(bad[0])}
        sentence = f"Column {{column}} has {{value}} in {{row}}, which is not a {what}."
        raise DataError(sentence, column=cells.name, **facts).with_place(place)
    return numbers


def votes_of(table) -> np.ndarray:
    """Return the number of votes of each row of a table of counts."""
    if table.votes is None:
        kind = {"fraction": "fractions", "percent": "percentages"}[table.scale]
        raise ValueError(
            f"--votes needs counts, but the shares are read as {kind}; give a table of counts, or "
            "weigh rows by a column with --weight."
        )
    return table.votes


def weights_notes(name, n_left_out, weights, votes) -> list[str]:
    """Return sentences about rows that count more than others.

    `weights` are those of some rows that were learned from, and `votes` their votes or None.
    """
    notes = []
    if name is not None:
        notes.append(f"Rows count by their weights in column {name!r}.")
    if n_left_out:
        rows = "1 row has" if n_left_out == 1 else f"{n_left_out:,} rows have"
        notes.append(f"{rows} the weight 0 and did not count.")
    if votes is not None:
        least, most = int(votes.argmin()), int(votes.argmax())
        ratio = weights[most] / weights[least] if weights[least] > 0 else np.inf
        note = "Rows count by their votes"
        if votes[most] > votes[least] and name is None and np.isfinite(ratio):
            many, few = f"{votes[most]:,.0f}", f"{votes[least]:,.0f}"
            note += f": one of {many} counts {ratio:.2g} times as much as one of {few}"
        notes.append(f"{note}.")
    return notes


def copies_notes(n_copies) -> list[str]:
    """Return a sentence on rows that stand in a table more than once, if there are some."""
    if not n_copies:
        return []
    equal = "equals" if n_copies == 1 else "equal"
    return [f"{counted(n_copies, 'row')} {equal} an earlier one and did not count again."]


def means_of_labels(rows, ratios=False) -> np.ndarray:
    """Return the means of the labels, which sum to 1; of `ratios`, those that agree with them."""
    rows = with_guesses(rows)
    if ratios:
        return constant_distribution(rows)
    means = mean_degrees(rows.y, rows.weight)
    return means / means.sum() if means.sum() > 0 else np.full(len(means), 1 / len(means))


def notes_on_counts(read) -> list[str]:
    """Return a note on the units of a table of counts."""
    whole = "sum" if read.totals is None else "total"
    return [f"Shares are fractions of the {whole} of their row."] if read.scale == "count" else []


def gather(file, most_rows=None, ids=()) -> tuple[Piece, np.ndarray | None]:
    """Return the rows of a file as one piece, and their numbers if only some are kept.

    About `most_rows` are drawn, or all are taken. The columns `ids` are among the features.
    """
    columns = [*file.features, *ids]
    most = file.source.most_rows()
    some = most_rows is not None and most_rows < most
    numbers: list[np.ndarray] = []

    def read(text):
        draw = _Draw(most_rows / most, len(file.labels)) if some else None
        numbers.clear()
        for piece in file._pieces(columns, text):
            if draw is not None or file.over_rows is not None:
                rows = np.arange(piece.size) if draw is None else draw(piece)
                if file.over_rows is not None:
                    rows = np.setdiff1d(rows, file.over_rows.rows - piece.first)
                numbers.append(piece.first + rows)
                piece = piece.take(rows)
            yield piece

    piece = join_pieces(read)
    if piece is None:
        nothing = np.empty((0, len(file.labels)))
        piece = Piece(0, 0, nothing, pd.DataFrame(columns=columns), None)
    return piece, np.concatenate(numbers) if numbers else None


class _Draw:
    """Draw a share of the rows of each piece, the same ones each time.

    The first rows in which a label is observed are taken as well, so that rare labels are seen.
    """

    def __init__(self, share, n_labels):
        self._share, self._lacking = share, [RARE_LABEL_ROWS] * n_labels

    def __call__(self, piece):
        chosen = np.random.default_rng([0, piece.first]).random(piece.size) < self._share
        for j, lacking in enumerate(self._lacking):
            rows = np.flatnonzero(~np.isnan(piece.values[:, j]))[:lacking]
            chosen[rows] = True
            self._lacking[j] -= len(rows)
        return np.flatnonzero(chosen)
