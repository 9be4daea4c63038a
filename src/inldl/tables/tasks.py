"""Fit a model to a table in a file, complete the table, predict its rows, test a model on it."""

from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from inldl.completion.examples import evenly
from inldl.errors import DataError
from inldl.methods.intervals import check_coverage
from inldl.methods.registry import with_ratios
from inldl.metrics import evaluate
from inldl.progress import report
from inldl.rows.checks import check_number, check_ratios
from inldl.rows.inputs import check_predictable
from inldl.rows.partial import PartialRows
from inldl.tables import audit
from inldl.tables.formats.registry import plain_name
from inldl.tables.model import TableModel
from inldl.tables.options import ColumnOptions, FillOptions, LearnOptions, ShareOptions
from inldl.tables.results import (
    Evaluation,
    FitResult,
    ShownRows,
    Tally,
    WriteResult,
    size_of_holes,
)
from inldl.tables.row_columns import (
    copies_note,
    group_numbers,
    id_columns,
    rows_that_count,
    take_column,
    take_weights,
    votes_of,
    weights_notes,
)
from inldl.tables.scale import whole_of
from inldl.tables.writing import TableWriter, check_writable, row_wholes

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
    model = TableModel(method_for(method, options, file.options), n_jobs=options.n_jobs)
    most_rows = options.most_rows or LEARNED_NUMBERS // len(file.source.names)
    table = file.read(scale=options.scale, normalize=options.normalize, most_rows=most_rows)
    sampled = table.rows is not None
    weights = take_weights(table.features, options.weight, file, table.rows)
    table, weights, n_left_out = rows_that_count(table, weights)
    degrees, scale, notes = table.degrees, table.scale, list(table.notes)
    limits = table.known.limits
    groups, sums = _groups(table.features, options.group, file), table.sums
    votes = votes_of(table) if options.votes else None
    notes += [_SAMPLED.format(len(degrees))] if sampled else []
    rows = evenly(len(degrees), INFLUENCE_ROWS)
    sample = table.features.iloc[rows], degrees.iloc[rows]
    with _placed(table.file.place_of(table.rows)):
        encoded, y = model._encode(table.features, degrees, weights, options.dates)
        if model.known == "ratios":
            check_ratios(y)
        limits = PartialRows.of(y, **limits, names=list(degrees))
    del table  # a large one should not stay in memory beside its encoded columns
    weights = model._fit_encoded(encoded, y, groups, sums, weights, votes, limits)
    model.scale_ = scale
    held_out = None if votes is None else votes[model.held_out_rows_]
    notes += weights_notes(options.weight, n_left_out, weights, held_out)
    notes += model.encoder_.notes_
    if model.n_copies_:
        notes.append(copies_note(model.n_copies_))
    missing, partly = np.isnan(y), sampled or n_left_out
    return FitResult(
        model,
        scale,
        [name for name, hole in zip(degrees, missing.any(axis=0), strict=True) if hole or partly],
        len(y),
        int(missing.sum()),
        int(missing.size - missing.sum()),
        int(missing.all(axis=1).sum()) * missing.shape[1],
        notes,
        audit.measure_new_rows(model, y, weights).in_units_of(scale),
        sample,
        _size_of_holes(y, list(degrees), scale, sums, limits, model.known == "ratios"),
    )


_SAMPLED = (
    "The model was fitted to {} rows, drawn evenly from all; the first rows with a share of each "
    "label are always among them."
)


def _size_of_holes(y, labels, scale, sums, limits, ratios):
    """Return what the sums of rows tell about the holes that no bounds explain."""
    raw = y if sums is None else y * sums[:, None]
    if limits.constrained:  # bounds say why these are missing
        raw = np.where(limits.limited, limits.feasible(), raw)
    return size_of_holes(raw, labels, scale, sums is not None, ratios)


def _groups(features, name, file):
    """Take the column of groups from the features, and return the group of each row."""
    if name is None:
        return None
    column = take_column(features, name, file, "--group")
    return group_numbers(column, len(features))


def complete_table(
    file,
    model,
    path,
    options=None,
    *,
    scale,
    holes=None,
    normalize=False,
    random_state=0,
    overwrite=False,
    plain=None,
    each=lambda *parts: None,
    **keywords,
) -> WriteResult:
    """Write a file with its holes filled by a model.

    Parameters
    ----------
    file : TableFile
        The file, with the labels of the model.
    model : TableModel
        Fitted.
    path : str or path
        The file to write.
    options : FillOptions, optional
        How it is written: with intervals, marks, whole numbers, draws.
    scale : {"fraction", "percent", "count"}
        How the degrees are written in the file.
    holes : list of str, optional
        The labels with holes; all by default.
    normalize : bool
        As in `inldl.tables.read_table`.
    random_state : int
        For the draws.
    overwrite : bool
        Replace the files if there are some.
    plain : str or path, optional
        Also write the table without added columns to this file, after which draws are named.
    each : callable, optional
        Called with each `Piece`, its filled degrees and `paired_ends`, in the units of the file.
    **keywords
        Fields of `FillOptions`, such as ``coverage=0.9``, in place of those of `options`.

    Returns
    -------
    WriteResult
    """
    options = FillOptions.of(options, **keywords)
    coverage, extra = options.coverage, _added_to_completed(file, options)
    report("learning how the shares of a row go together")
    ids, tally = id_columns(file, model), Tally(file, model, scale)
    unit, ratios = whole_of(scale), model.known == "ratios"
    shown = ShownRows(file, file.labels, unit, ids)
    how = {"filled": file.labels if holes is None or ratios else holes, "whole": options.whole}
    how["overwrite"], draws = overwrite, draw_paths(plain or path, options.n_draws)
    with (
        _completed_files(file, path, plain, extra, **how) as write,
        draw_files(file, draws, model, random_state, **how) as write_draws,
    ):
        for piece in pieces_for(model, file, ids, "filling in rows"):
            known = file.known(piece, scale, normalize=normalize)
            with _placed(file.place_of(first=piece.first), file.labels):
                rows = model._to_complete(piece.features, known)
                completed, *ends = _completed(model, rows, coverage)
            tally.add(piece, known.y, completed, rows[0])
            shown.keep(piece, known.y, completed, _pairs(ends, unit))
            added = _pairs(ends, units := np.reshape(row_wholes(piece, scale), (-1, 1)))
            each(piece, completed * units, *added)
            added += [_marks(piece, known.y)] if options.mark else []
            kept = _kept(known.y) if ratios else known.y
            write(piece, kept, completed, scale, np.hstack(added) if added else None)
            write_draws(piece, known.y, scale, rows)
    found = {"ends": shown.ends(), "coverage": coverage, **tally.results()}
    return WriteResult(*tally.counts(), *shown.frames(), **found)


@contextmanager
def _completed_files(file, path, plain, extra, **how):
    """Give a function that writes the next rows of a completed table.

    They also go to the file `plain`, if it is not None, without the `extra` columns.
    """
    with TableWriter(file, path, extra=extra, **how) as writer, ExitStack() as stack:
        also = None if plain is None else stack.enter_context(TableWriter(file, plain, **how))

        def write(piece, kept, completed, scale, added):
            writer.write(piece, kept, completed, scale, added)
            if also is not None:
                also.write(piece, kept, completed, scale)

        yield write


def _kept(y):
    """Return what stays as it is of ratios: complete rows; known shares of others are scaled."""
    return np.where(np.isnan(y).any(axis=1, keepdims=True), np.nan, y)


def _pairs(ends, units):
    """Return the ends of intervals as columns to be added, none without any."""
    return [paired_ends(*(end * units for end in ends))] if ends else []


def _marks(piece, y):
    """Return 1 where a degree is filled, 2 where its cell has bounds."""
    bounded = 0 if piece.bounds is None else piece.bounds.given()
    return np.isnan(y).astype(float) + bounded


def check_completion(file, path, options=None, *, overwrite=False, **keywords) -> None:
    """Refuse what `complete_table` would refuse whatever the model, before one is fitted."""
    options = FillOptions.of(options, **keywords)
    extra = _added_to_completed(file, options)
    check_writable(file, path, extra=extra, whole=options.whole, overwrite=overwrite)
    for each in draw_paths(path, options.n_draws):
        check_writable(file, each, overwrite=overwrite)


def _added_to_completed(file, options):
    """Return the names of the columns that are added."""
    marks = [f"{name}_filled" for name in file.labels if options.mark]
    return _interval_names(file.labels, options.coverage) + marks


def predict_table(file, model, path, *, coverage=None, overwrite=False) -> WriteResult:
    """Write a file with the predicted degrees as columns on the right.

    A label that the file has already gets the name `<label>_predicted`.

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
    extra = names + _interval_names(labels, coverage)
    ids, n_rows, unfamiliar = id_columns(file, model), 0, np.zeros(2, int)
    shown = ShownRows(file, labels, whole, ids)
    with TableWriter(file, path, extra=extra, overwrite=overwrite) as writer:
        for piece in pieces_for(model, file, ids, "predicting rows"):
            with _placed(file.place_of(first=piece.first)):
                predicted, signs, strange = model._predict_and_compare(piece.features)
                check_predictable(predicted)
            unfamiliar += [rows.sum() for rows in strange]
            added = [rounded_rows(predicted * whole)]
            if coverage is not None:
                ends = model._interval_around(predicted, coverage, signs)
                added.append(paired_ends(*ends) * whole)
            shown.keep(piece, np.full(predicted.shape, np.nan), predicted, added[1:])
            nothing = np.zeros(piece.values.shape)  # no holes, so no degree is filled
            writer.write(piece, nothing, nothing, "fraction", np.hstack(added))
            n_rows += piece.size
    counts = n_rows, n_rows * len(labels), 0, n_rows
    found = {"notes": _warned(*unfamiliar), "ends": shown.ends(), "coverage": coverage}
    return WriteResult(*counts, *shown.frames(), **found)


def _warned(n_outside, n_unseen):
    """Return a note on rows that hold what the fit has not seen, if there are some."""
    told = {"a number outside its range": n_outside, "text new to it": n_unseen}
    parts = [f"{count:,} with {what}" for what, count in told.items() if count]
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
    weights = take_weights(table.features, options.weight, file)
    with _placed(file.place_of()):
        predicted = np.asarray(model.predict(table.features))
    constant, y = np.broadcast_to(model.means_, predicted.shape), table.y
    if model.known == "ratios":
        with _placed(file.place_of()):
            check_ratios(y)
        y, predicted, constant = audit.as_ratios(y, predicted, constant)
    about = model._signs(table.features), weights, constant
    held_out = audit.measure_test_rows(model, y, predicted, coverage, *about)
    return Evaluation(
        _scores(y, predicted, weights),
        _scores(y, constant, weights),
        held_out.in_units_of(table.scale),
        len(predicted),
        coverage,
        audit.measure_bounds(table.known, predicted, weights, table.scale),
        audit.count_learned_rows(model, table.features, table.y),
    )


def _scores(y, predicted, weights=None):
    """Return all measures; in the divergence, the holes of a row count as one more known cell.

    At the known cells alone it would be the smaller, the more is predicted there, and negative.
    """
    how = {"sample_weight": weights}
    known = evaluate(*PartialRows(np.asarray(y)).cells(predicted), ["kl_divergence"], **how)
    return evaluate(y, predicted, **how) | {"kl_divergence": max(known["kl_divergence"], 0.0)}


@contextmanager
def _placed(where, labels=()):
    """Add to an error about a row its line in the file, and the name of its label."""
    try:
        yield
    except DataError as error:
        if labels and isinstance(error.label, int):
            error = error.told(label=labels[error.label])
        raise error.placed(where) from None


def _completed(model, rows, coverage):
    """Return the completed degrees, and the ends of their intervals, NaN where none is needed.

    `rows` are what `TableModel._to_complete` returns.
    """
    if coverage is None:
        return (model._fill(*rows),)
    completed, *ends = model._fill_with_intervals(*rows, coverage)
    return completed, *(np.where(rows[0].holes, end, np.nan) for end in ends)


def _interval_names(labels, coverage):
    if coverage is None:
        return []
    check_coverage(coverage)
    return [f"{label}_{end}" for label in labels for end in ("low", "high")]


def pieces_for(model, file, others, step, text=None):
    """Yield the pieces of a file with the columns that a model needs, and some `others`.

    Those in `text` are read as text; by default the others that the model does not use. The name
    of the `step` and the share of the rows that came so far are reported.
    """
    columns = model.encoder_.columns_
    names = [column.name for column in columns if column.name in file.features]
    text = {*others} - {*names} if text is None else {*text}
    text |= {column.name for column in columns if column.as_text}
    bound = max(1, file.source.most_rows())
    for piece in file.pieces(list(dict.fromkeys([*names, *others])), text):
        yield piece
        report(step, min(1.0, piece.rows.stop / bound))


def draw_paths(path, n_draws):
    """Return the files of the draws: beside the completed table, and named in their order."""
    check_number("n_draws", n_draws, low=0, integer=True)
    path, width = Path(path), len(str(n_draws))
    stem = plain_name(path).stem  # of survey.csv.gz, too
    ending = path.name.removeprefix(stem)
    return [path.with_name(f"{stem}-draw{i:0{width}}{ending}") for i in range(1, n_draws + 1)]


@contextmanager
def draw_files(file, paths, model, seed, **how):
    """Give a function that writes the next rows of each draw of a completed table.

    It takes a piece, its degrees as fractions, their scale, and what
    `TableModel._to_complete` returns. Each file is a `TableWriter`, made with
    `how`; the files appear when all pieces are there.
    """
    if paths:
        model._check_draws(len(paths))
    with ExitStack() as stack:
        files = [stack.enter_context(TableWriter(file, path, **how)) for path in paths]

        def write(piece, y, scale, known):
            draws = model._draw(*known, len(files), seed, piece.first)
            for each, completed in zip(files, draws, strict=True):
                each.write(piece, y, completed, scale)

        yield write if files else lambda *_: None


def paired_ends(lower, upper):
    """Return the ends of the intervals, both of a label side by side."""
    return np.round(np.stack([lower, upper], axis=2), 6).reshape(len(lower), -1)


def rounded_rows(values):
    """Return rows of nine decimals that keep their sum: the largest takes the rest."""
    rounded = np.round(values, 9)
    rows, largest = np.arange(len(values)), np.argmax(values, axis=1)
    rounded[rows, largest] += np.round(values.sum(axis=1) - rounded.sum(axis=1), 9)
    return rounded


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
    if not learning.ratios:
        return method
    used = {"--total": columns.total, "--sum": columns.sums, "--votes": learning.votes}
    for option in (name for name, value in used.items() if value):
        raise ValueError(f"{option} and --ratios exclude each other: ratios have no scale.")
    if filling.coverage is not None or filling.n_draws:
        raise ValueError(
            "With --ratios there are no intervals and no draws, because the scale of each row is "
            "unknown: leave out --uncertainty and --draws."
        )
    return with_ratios(method)
