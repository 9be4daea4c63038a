"""Fit a model to a table in a file, predict its rows, test a model on it."""

from dataclasses import replace

import numpy as np
import pandas as pd

from inldl.completion.normal import LogCounts
from inldl.methods.registry import with_ratios
from inldl.metrics import evaluate
from inldl.rows.checks import check_ratios
from inldl.rows.density import evenly_spaced
from inldl.rows.inputs import check_predictable
from inldl.rows.partial import PartialRows
from inldl.tables import audit, results, table_rows
from inldl.tables.audit import HeldOut
from inldl.tables.columns.encoder import NO_FEATURES
from inldl.tables.completing import interval_names, pairs, placed
from inldl.tables.model import TableModel
from inldl.tables.options import ColumnOptions, FillOptions, LearnOptions, ShareOptions
from inldl.tables.results import Evaluation, FitResult, WriteResult
from inldl.tables.selection import NONE
from inldl.tables.table import whole_of
from inldl.tables.table_rows import TrainingRows
from inldl.tables.writing import TableWriter, notes_on_format
from inldl.text import listed

LEARNED_NUMBERS = 100_000_000  # that are learned from at once: 800 MB
INFLUENCE_ROWS = 1000  # rows in which columns are shuffled


def fit_table(file, method="auto", options=None, **keywords) -> FitResult:
    """Fit a model to a file.

    Parameters
    ----------
    file : TableFile
        The file, with its labels.
    method : str
        A name as in ``inldl methods``.
    options : LearnOptions, optional
        What the shares are, and how the model is fitted.
    **keywords
        Fields of `LearnOptions`, such as ``weight="w"``, in place of those of `options`.

    Returns
    -------
    FitResult
    """
    options = LearnOptions.of(options, **keywords)
    how = {"n_jobs": options.n_jobs, "error": options.error}
    model = TableModel(method_for(method, options, file.options), **how)
    most_rows = options.most_rows or LEARNED_NUMBERS // len(file.source.names)
    table = file.read(scale=options.scale, normalize=options.normalize, most_rows=most_rows)
    sampled, labels, scale, notes = table.sampled, table.labels, table.scale, table.notes
    some_left = table.rows is not None
    n_read, ids, (training, place) = len(table.y), list(table.ids), _training_rows(table, options)
    some = training.take(evenly_spaced(len(training), INFLUENCE_ROWS))
    with placed(place):
        training = model.place(training, options.unit, options.time, options.place, options.dates)
        notes = [*notes, *training.notes]
        training = replace(training, features=training.features.drop(columns=ids, errors="ignore"))
        prepared = model.prepare(training, labels, options.dates, file.finds_codes)
    sample = some.features, pd.DataFrame(some.rows.y, columns=labels)
    del table, training, some  # large ones should not stay in memory beside encoded columns
    held_out = _fitted(model, prepared, file, scale)
    rows, n_left_out = prepared.rows, n_read - len(prepared)
    weight, missing, partly = held_out.rows.weight, rows.holes, some_left or n_left_out
    notes = [*notes, *([_SAMPLED.format(len(rows))] if sampled else [])]
    notes += [] if options.group is None else [_GROUPED.format(options.group)]
    notes += table_rows.weights_notes(options.weight, n_left_out, weight, held_out.votes)
    notes += [n for n in model.encoder_.notes_ if prepared.panel is None or n != NO_FEATURES]
    notes += table_rows.copies_notes(model.n_copies_)
    return FitResult(
        model,
        scale,
        [name for j, name in enumerate(labels) if partly or missing[:, j].any()],
        len(rows),
        int(missing.sum()),
        float(missing.mean()),
        int(missing.all(axis=1).sum()) * missing.shape[1],
        notes,
        audit.measure_new_rows(model, rows.y, weight).in_units_of(scale),
        sample,
        _size_of_holes(prepared, labels, scale, model.known == "ratios"),
    )


def _fitted(model, prepared, file, scale):
    """Fit a model to prepared rows, and have it know their units; return the held-out rows."""
    held_out = model.fit_prepared(prepared)
    model.scale_, model.total_ = scale, file.totals.named
    if held_out.known_counts is None:
        return held_out
    if model.held_out_ is None or not file.whole_numbers:
        raise ValueError(
            "--total none is for whole counts, but some numbers are not whole; name the column of "
            "their totals (--total COLUMN), or give shares."
        )
    counts = np.rint(held_out.rows.y * held_out.known_counts[:, None])
    model.log_counts_ = LogCounts(counts, model.held_out_)
    return held_out


_SAMPLED = (
    "The model was fitted to {} rows, drawn evenly from all; the first rows with a share of each "
    "label are always among them."
)


_GROUPED = (
    "Rows of one {!r} are left out together, so errors are those of new ones; shares, too, are "
    "filled in as if none of their other rows were known, so leave --group out to fill in a table."
)


def _training_rows(table, options):
    """Return the rows that count, and a function that says where they stand in the file.

    Columns that are about the rows are taken from the features.
    """
    features, file = table.features, table.file
    weight = table_rows.take_weights(features, options.weight, file, table.rows)
    groups = None if options.group is None else table_rows.take_groups(table, options.group)
    votes = table_rows.votes_of(table) if options.votes else None
    number = np.arange(len(table.y)) if table.rows is None else table.rows
    rows = replace(table.known.simplified(), weight=weight, number=number)
    columns = pd.concat([table.ids, features], axis=1) if len(table.ids.columns) else features
    known = table.votes if file.totals.unknown else None
    training = TrainingRows(columns, rows, table.sums, votes, known, groups).weighted()
    place, weight = file.place_of(training.rows.number), training.rows.weight
    weight = None if weight is None else weight / weight.mean()
    rows = replace(training.rows, weight=weight, number=np.arange(len(training)))
    return replace(training, rows=rows), place


def _size_of_holes(training, labels, scale, ratios):
    """Return what the sums of rows tell about the holes that no bounds explain."""
    rows, divisors = training.rows, training.divisors
    given = rows.y if divisors is None else rows.y * divisors[:, None]
    if rows.constrained:  # bounds say why these are missing
        given = np.where(rows.limited, rows.feasible(), given)
    loose = divisors is not None
    return results.size_of_holes(given, labels, scale, loose, ratios, training.panel)


def predict_table(file, model, path, *, coverage=None, overwrite=False) -> WriteResult:
    """Write a file with the predicted degrees as columns on the right.

    They are counts if the model was fitted to counts with a total that the file has, too. A label
    that the file has already gets the name `<label>_predicted`.

    Parameters
    ----------
    file : TableFile
        The file; it needs the feature columns of the model only.
    model, path, coverage, overwrite
        As in `complete_table`.

    Returns
    -------
    WriteResult
    """
    labels = list(model.label_names_)
    whole = whole_of(getattr(model, "scale_", "fraction"))
    taken = file.source.names
    names = [f"{name}_predicted" if name in taken else name for name in labels]
    extra = names + interval_names(labels, coverage)
    total, notes = _total_of(file, model)
    ids, n_rows, n_bare, unfamiliar = table_rows.id_columns(file, model), 0, 0, np.zeros(4, int)
    shown = results.ShownRows(file, labels, whole, ids)
    others = [*ids, *([total] if isinstance(total, str) else [])]
    with TableWriter(file, path, extra=extra, overwrite=overwrite) as writer:
        for piece in results.pieces_for(model, file, others, "predicting rows"):
            with placed(file.place_of(first=piece.first)):
                rows = model.predict_rows(piece.features)
                predicted = rows.predicted
                check_predictable(predicted)
            unfamiliar += [which.sum() for which in rows.unfamiliar]
            ends = () if coverage is None else rows.interval(coverage)
            units = _units(piece, total, file.place_of(first=piece.first)) * whole
            added = [results.rounded_rows(predicted * units), *pairs(ends, units)]
            shown.keep(piece, np.full(predicted.shape, np.nan), predicted, ends)
            nothing = np.zeros(piece.values.shape)  # no holes, so no degree is filled
            writer.write(piece, nothing, nothing, "fraction", np.hstack(added))
            n_rows, n_bare = n_rows + piece.size, n_bare + int(np.isnan(units).sum())
    notes += [f"Rows without a total, which get no counts: {n_bare:,}."] if n_bare else []
    counts = n_rows, n_rows * len(labels), 0, n_rows
    notes += [*_notes_on_unfamiliar(unfamiliar), *notes_on_format(file, path)]
    if (unseen := getattr(model, "unseen_", np.zeros(1, bool))).any():
        which = listed(repr(labels[j]) for j in np.flatnonzero(unseen))
        notes.append(f"No share of {which} was known in the fit: its predictions are guesses.")
    return WriteResult(*counts, **shown.frames(), notes=notes, coverage=coverage)


def _total_of(file, model):
    """Return the total of new rows, a column or a number, and a note on the units in a list."""
    total = getattr(model, "total_", None)
    if total is None:
        return 1.0, []
    if isinstance(total, str) and total not in file.source.names:
        return 1.0, [f"There is no column {total!r}, so the shares are fractions of the total."]
    of = f"in column {total!r}" if isinstance(total, str) else f"{total:.10g}"
    return total, [f"Predicted counts are shares of the total {of}."]


def _units(piece, total, place):
    """Return the total of each row, NaN where it is missing."""
    if not isinstance(total, str):
        return np.full((piece.size, 1), total)
    cells, what = piece.features[total], "total; give a number of 0 or more, or leave it empty"
    given = cells.astype(object).fillna(0)
    found = table_rows.checked_numbers(given, place, lambda total: total >= 0, what)
    return np.where(cells.isna(), np.nan, found)[:, None]


_UNFAMILIAR = (
    "a number outside its range",
    "text new to it",
    "a unit new to it, or without unit or time",
    "a time more than a step before or after all known ones of their unit",
)


def _notes_on_unfamiliar(counts):
    """Return a note on rows that hold what the fit has not seen, if there are some."""
    pairs = zip(counts, _UNFAMILIAR, strict=True)
    parts = [f"{count:,} with {what}" for count, what in pairs if count]
    if not parts:
        return []
    return [f"Rows unlike those of the fit: {', '.join(parts)}; their shares are less certain."]


def evaluate_table(file, model, options=None, *, coverage=0.9, **keywords) -> Evaluation:
    """Test a model on the observed degrees of a file.

    Parameters
    ----------
    file, model
        As in `complete_table`.
    options : ShareOptions, optional
        What the shares are, and which column weighs the rows.
    coverage : float
        Of the intervals whose true coverage is measured.
    **keywords
        Fields of `ShareOptions`, such as ``scale="percent"``, in place of those of `options`.

    Returns
    -------
    Evaluation
        Its measures are of known degrees; in kl_divergence, the holes of a row count as one more.
    """
    options = ShareOptions.of(options, **keywords)
    table = file.read(scale=options.scale, normalize=options.normalize, least_rows=1)
    weights = table_rows.take_weights(table.features, options.weight, file)
    y, ratios = table.y, model.known == "ratios"
    with placed(file.place_of()):
        rows = model.predict_rows(table.features)
        if ratios:
            check_ratios(y)
    predicted, constant = rows.predicted, np.broadcast_to(model.means_, y.shape)
    if ratios:
        y, predicted, constant = audit.as_ratios(y, predicted, constant)
    ends = () if not model.gives_intervals else rows.interval(coverage)
    how = f"The model predicted the {len(y):,} rows of the table."
    held_out = HeldOut.of(y, predicted, constant, model.label_names_, how, ends, weights)
    return Evaluation(
        _scores(y, predicted, weights),
        _scores(y, constant, weights),
        held_out.in_units_of(table.scale),
        len(y),
        coverage,
        audit.measure_bounds(table.known, predicted, weights, table.scale),
        rows.count_learned(table.y),
    )


def _scores(y, predicted, weights=None):
    """Return all measures; in the divergence, the holes of a row count as one more known cell.

    At the known cells alone it would be the smaller, the more is predicted there, and negative.
    """
    how = {"sample_weight": weights}
    known = evaluate(*PartialRows(np.asarray(y)).cells(predicted), ["kl_divergence"], **how)
    return evaluate(y, predicted, **how) | {"kl_divergence": max(known["kl_divergence"], 0.0)}


NOTHING_ADDED = FillOptions()


def method_for(
    method: str,
    learning: LearnOptions,
    columns: ColumnOptions,
    filling: FillOptions = NOTHING_ADDED,
) -> str:
    """Return the method that learns from ratios if only these are known, else the same.

    Refuse what does not go with ratios.
    """
    unknown = columns.total == NONE
    if not (learning.ratios or unknown):
        return method
    name = "--total none" if unknown else "--ratios"
    used = {"--total": columns.total and not unknown, "--sum": columns.sums}
    used |= {"--votes": learning.votes, "--ratios": unknown and learning.ratios}
    for option in (option for option, value in used.items() if value):
        raise ValueError(f"{option} and {name} exclude each other: ratios have no scale.")
    refused = (filling.joint or filling.ranges) if unknown else filling.coverage is not None
    if filling.n_draws or refused:
        raise ValueError(
            f"With {name} there are no {'' if unknown else 'intervals and no '}draws, because the "
            "scale of each row is unknown: leave out "
            f"{'--joint, --range' if unknown else '--uncertainty'} and --draws."
        )
    return with_ratios(method)
