"""Complete a table in a file with a model, some rows at a time, or all together."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from inldl.errors import DataError
from inldl.files.replacing import check_free
from inldl.methods.intervals import check_coverage
from inldl.progress import report
from inldl.rows.aggregates import Counts
from inldl.rows.partial import PartialRows
from inldl.tables import results, table_rows
from inldl.tables.assumptions import Departures, giving_way
from inldl.tables.options import FillOptions
from inldl.tables.results import WriteResult
from inldl.tables.table import Piece, whole_of
from inldl.tables.writing import check_writable, notes_on_format, refuse_taken, row_wholes

Array = np.ndarray
LEAST_TOTAL = 1e-12  # of counts that are all filled with 0


@dataclass(frozen=True, eq=False)
class FilledPiece:
    """Some rows of a file that are completed."""

    piece: Piece
    known: PartialRows  # what was known of them
    rows: Any  # `RowsToFill`, or what draws completed rows as these do
    completed: Array  # (size, C) as fractions
    ends: list  # of intervals, if there are any
    possible: tuple  # the smallest and the largest degrees that are possible, if asked for
    exact: Array  # (size, C) whether a filled degree follows from sums and bounds


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
    on_piece=lambda *parts: None,
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
        How it is written: intervals, columns of filled cells, whole numbers, draws, departures.
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
    on_piece : callable, optional
        Called with each `Piece`, its filled degrees and the ends of intervals side by side, in
        the units of the file.
    **keywords
        Fields of `FillOptions`, such as ``coverage=0.9``, in place of those of `options`.

    Returns
    -------
    WriteResult
    """
    options = FillOptions.of(options, **keywords)
    coverage, whole = options.coverage, whole_of(scale)
    ratios = model.known == "ratios" and not file.totals.unknown
    extra, ids = _added_to_completed(file, options), table_rows.id_columns(file, model)
    shown = results.ShownRows(file, file.labels, whole, ids)
    pictured = results.ShownRows(file, file.labels, whole, most=results.PICTURED_ROWS)
    departures = Departures(options.delta, file.labels)
    some = holes is not None and not ratios and file.zeros.limits is None and not file.over_rows
    how = {"filled": holes if some else file.labels, "whole": options.whole}
    how |= {"overwrite": overwrite, "n_draws": options.n_draws, "seed": random_state}
    how["stacked"] = results.stacked_path(plain or path, options)
    read = ids if not options.stacked else [n for n in file.source.names if n not in file.labels]
    with results.completed_files(file, path, plain, extra, **how) as write:
        report("learning how the shares of a row go together")
        tally = results.Tally(file, model, scale)
        pieces = results.pieces_for(model, file, read, "filling in rows")
        fill = _filled_together if file.over_rows is not None else _filled_pieces
        for found in fill(file, model, pieces, options, scale, normalize, random_state):
            piece, known, rows, completed = found.piece, found.known, found.rows, found.completed
            tally.add(piece, known.y, completed, rows.rows, found.exact)
            rows, completed, ends = departures.apply(rows, completed, found.ends)
            shown.keep(piece, known.y, completed, ends)
            pictured.keep(piece, known.y, completed)
            added = pairs(ends, units := np.reshape(row_wholes(piece, scale), (-1, 1)))
            on_piece(piece, completed * units, *added)
            added += pairs(found.possible, units)
            if options.filled_columns:  # 1 where a degree is filled, 2 where its cell has bounds
                bounded = 0 if piece.bounds is None else piece.bounds.given()
                added.append(np.isnan(known.y).astype(float) + bounded)
            scaled = ratios & np.isnan(known.y).any(axis=1, keepdims=True)
            kept = np.where(scaled, np.nan, known.y)
            write(piece, kept, completed, scale, np.hstack(added) if added else None, rows)
    found = tally.results() | shown.frames() | {"coverage": coverage, "joint": options.joint}
    found |= departures.results(whole, found["n_rows"] or 1)
    found["notes"] = [*found.get("notes", []), *notes_on_format(file, path)]
    return WriteResult(**found, pictured=(*pictured.frames().values(),)[:2])


def _filled_pieces(file, model, pieces, options, scale, normalize, _) -> Iterator[FilledPiece]:
    """Yield the pieces of a file, each filled by itself."""
    for piece in pieces:
        known = file.known(piece, scale, normalize=normalize)
        with placed(file.place_of(first=piece.first), file.labels):
            rows = model.rows_to_fill(piece.features, known)
            if file.totals.unknown:
                yield _without_totals(model, rows, piece, options)
                continue
            completed, *ends = rows.fill(options.coverage, options.joint, giving_way(piece))
        possible = rows.possible() if options.ranges else ()
        yield FilledPiece(piece, known, rows, completed, ends, possible, rows.are_exact())


def completed_degrees(file, model, scale, *, normalize=False) -> Array:
    """Return the completed degrees of all rows of a file, without sums over rows."""
    pieces = results.pieces_for(model, file, [], "filling in rows")
    found = _filled_pieces(file, model, pieces, FillOptions(), scale, normalize, None)
    return np.concatenate([each.completed for each in found])


def _without_totals(model, rows, piece, options):
    """Return rows of counts whose totals are not known, filled from what is known of each."""
    counts = getattr(model, "log_counts_", None)
    if counts is None:
        raise ValueError(
            "The model was fitted to rows with totals, and cannot fill in counts of rows without "
            "(--total none); leave out --model."
        )
    found, holes = counts.fill(piece.values, rows.predicted, options.coverage), rows.rows.holes
    filled = np.where(holes, np.rint(found[0]), found[0]) if options.whole else found[0]
    total = np.maximum(filled.sum(axis=1, keepdims=True), LEAST_TOTAL)
    completed, *ends = (each / total for each in (filled, *found[1:]))
    ends = [np.where(holes, end, np.nan) for end in ends]
    known = PartialRows(np.where(holes, np.nan, completed))
    piece, rows = replace(piece, totals=total[:, 0]), replace(rows, rows=known)
    return FilledPiece(piece, known, rows, completed, ends, (), np.zeros(holes.shape, bool))


@dataclass(frozen=True, eq=False)
class _DrawnRows:
    """Rows whose draws are known already, those of a whole table."""

    rows: PartialRows
    draws: Array = field(repr=False)  # (n_draws, size, C)

    def draw(self, *_):
        """Return the draws."""
        return self.draws


def _filled_together(file, model, pieces, options, scale, normalize, seed):
    """Yield the pieces of a file whose rows have sums with those of other pieces."""
    _check_together(file, options, scale)
    pieces, sums = list(pieces), file.over_rows
    joined, known, at, rows = rows_together(file, model, pieces, scale, normalize)
    with placed(file.place_of(at), file.labels):
        completed, *ends = rows.fill(options.coverage, options.joint)
    tables = [completed, *(rows.draw(options.n_draws, seed) if options.n_draws else ())]
    if options.whole:
        tables = [rows.whole(table) for table in tables]
    possible = rows.possible() if options.ranges else ()

    def full(table, of_sums):
        out = np.empty((joined.size, table.shape[1]), table.dtype)
        out[at], out[sums.rows] = table, of_sums
        return out

    totals = joined.totals[at]
    completed, *draws = (full(each, sums.summed(each, totals)) for each in tables)
    *limits, certain = sums.unknown(rows.counted)
    ends, possible = (list(map(full, pair, limits)) for pair in (ends, possible))
    exact = full(rows.are_exact(), certain)
    for piece in pieces:
        part = piece.rows
        drawn = _DrawnRows(known.take(part), np.array([table[part] for table in draws]))
        about = [end[part] for end in ends], tuple(end[part] for end in possible), exact[part]
        yield FilledPiece(piece, drawn.rows, drawn, completed[part], *about)


def rows_together(file, model, pieces, scale, normalize=False) -> tuple[Any, ...]:
    """Return all rows of a file that a model is to fill together.

    These are all rows as one piece, what is known of them, the numbers of those that are no sums
    of others, and these as `RowsToFill`.
    """
    joined, sums = Piece.joined(pieces), file.over_rows
    known = file.known(joined, scale, normalize=normalize)
    at = np.arange(joined.size) if sums is None else sums.others
    some = known.take(at)
    if sums is not None:
        assert joined.totals is not None
        some = replace(some, counts=sums.counts(Counts(joined.totals[at], file.whole_numbers)))
    with placed(file.place_of(at), file.labels):
        return joined, known, at, model.rows_to_fill(joined.features.iloc[at], some)


def _check_together(file, options, scale):
    """Refuse what does not go with sums over rows."""
    other = {"--delta": options.delta, "--zeros rounded": file.zeros.limits}
    for name in (name for name, value in other.items() if value is not None):
        raise ValueError(
            f"{name} and totals of columns (--column-totals, --parent) exclude each other: it "
            "changes counts that have given sums."
        )
    if scale != "count":
        raise ValueError("Totals of columns (--column-totals, --parent) are for counts.")


def pairs(ends, units) -> list[Array]:
    """Return the ends of intervals as columns, both of a label side by side; none without any."""
    if not len(ends):
        return []
    return [np.round(np.stack([end * units for end in ends], 2), 6).reshape(len(ends[0]), -1)]


def check_completion(file, path, options=None, *, overwrite=False, **keywords) -> None:
    """Refuse what `complete_table` would refuse whatever the model, before one is fitted."""
    options = FillOptions.of(options, **keywords)
    extra = _added_to_completed(file, options)
    Departures(options.delta, file.labels)
    check_writable(file, path, extra=extra, whole=options.whole, overwrite=overwrite)
    for draw_path in results.draw_paths(path, options.n_draws):
        check_writable(file, draw_path, overwrite=overwrite)
    if (stacked := results.stacked_path(path, options)) is not None:
        check_free(stacked, overwrite=overwrite, source=file.path)
        refuse_taken(file, results.NUMBERED)


def _added_to_completed(file, options):
    """Return the names of the columns that are added."""
    filled = [f"{name}_filled" for name in file.labels if options.filled_columns]
    ranges = [f"{n}_{end}" for n in file.labels if options.ranges for end in ("least", "most")]
    return interval_names(file.labels, options.coverage) + ranges + filled


def interval_names(labels, coverage) -> list[str]:
    """Return the names of the columns with the ends of intervals."""
    if coverage is None:
        return []
    check_coverage(coverage)
    return [f"{label}_{end}" for label in labels for end in ("low", "high")]


@contextmanager
def placed(where, labels=()) -> Iterator[None]:
    """Add to an error about a row its line in the file, and the name of its label."""
    try:
        yield
    except DataError as error:
        if labels and isinstance(error.label, int):
            error = error.with_facts(label=labels[error.label])
        raise error.with_place(where) from None
