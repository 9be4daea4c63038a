"""Commands of the practitioner: complete, fit, predict, evaluate, inspect, compare."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from inldl._text import say
from inldl.cli import _options as o
from inldl.cli._progress import bar, steps, working

MOST_COLUMNS = 100  # that are shuffled for a page: more take too long


def complete(
    context: typer.Context,
    table: o.File,
    out: o.Out,
    labels: Annotated[
        str | None,
        typer.Option("--labels", "-l", help=f"{o.LABELS} Those of the model by default."),
    ] = None,
    method: o.Method = "auto",
    model: Annotated[
        Path | None, typer.Option(help="Fill with this model file instead of fitting one.")
    ] = None,
    uncertainty: o.Uncertainty = None,
    mark: Annotated[
        bool, o.flag("--mark", help="Add columns LABEL_filled, 1 where a cell was filled.")
    ] = False,
    page: o.Page = None,
    overwrite: o.Overwrite = False,
    scale: o.Scale = "auto",
    normalize: o.Normalize = False,
    learn_from: o.Rows = None,
    jobs: o.Jobs = 1,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    thousands: o.Thousands = None,
    encoding: o.Encoding = None,
) -> None:
    """Fill in the missing shares of a table.

    Known shares and all other columns stay as they are; rows sum to 1, or to 100%.

        inldl complete survey.csv --labels "joy,anger,fear" -o whole.csv
        inldl complete survey.csv -l "emo_*" -o whole.csv --uncertainty 0.9 --mark
        inldl complete survey.csv -l "emo_*" -o whole.csv -m winldl --page whole.html
    """
    from inldl.report.table_pages import completed
    from inldl.tables.tasks import check_completion, complete_table

    fitted = None if model is None else o.load_model_of_table(model, uncertainty)
    wanted = list(fitted.label_names_) if labels is None and fitted is not None else labels
    if wanted is None:
        raise ValueError('Name the degree columns with --labels, such as --labels "joy,anger".')
    o.check_apart(table=table, model=model, out=out, page=page, onto_table=True)
    file = o.open_table(table, wanted, delimiter, decimal, thousands, encoding)
    check_completion(file, out, coverage=uncertainty, mark=mark, overwrite=overwrite)
    o.check_page(page, overwrite)
    learned = None
    if fitted is None:
        learned = _fit(file, method, scale, normalize, learn_from, jobs)
        fitted, scale = learned.model, learned.scale
    else:
        o.refuse_options_of_fit(context)
        o.check_labels(fitted, file.labels)
        scale = o.scale_for(fitted, file, scale)
    with bar("Writing") as done:
        written = complete_table(
            file,
            fitted,
            out,
            scale=scale,
            holes=None if learned is None else learned.holes,
            normalize=normalize,
            coverage=uncertainty,
            mark=mark,
            overwrite=overwrite,
            done=done,
        )
    document = partial(completed, written, learned, fitted, file.path.name, out.name)
    _show(document(), out)
    if page is not None:
        known = learned is None or written.n_exact == written.n_filled
        _write(document(None if known else _influence(learned)), page, overwrite)


def fit(
    table: o.File,
    labels: o.Labels,
    out: o.Out,
    method: o.Method = "auto",
    page: o.Page = None,
    overwrite: o.Overwrite = False,
    scale: o.Scale = "auto",
    normalize: o.Normalize = False,
    learn_from: o.Rows = None,
    jobs: o.Jobs = 1,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    thousands: o.Thousands = None,
    encoding: o.Encoding = None,
) -> None:
    """Fit a model to a table, and save it for new rows.

    Shares and features may be missing in the table.

        inldl fit survey.csv --labels "joy,anger,fear" -o survey.inldl
        inldl fit survey.csv -l "emo_*" -o survey.inldl --page model.html
        inldl fit survey.csv -l "emo_*" -o survey.inldl --method "winldl(mu=2)"
    """
    from inldl.io._replacing import check_free
    from inldl.io.model_file import check_savable, save_model
    from inldl.report.table_pages import fitted
    from inldl.tables import Model

    o.check_apart(table=table, out=out, page=page)
    check_free(out, overwrite=overwrite)
    check_savable(Model(method))
    o.check_page(page, overwrite)
    file = o.open_table(table, labels, delimiter, decimal, thousands, encoding)
    learned = _fit(file, method, scale, normalize, learn_from, jobs)
    overall = learned.new_rows.overall()
    info = {
        "table": file.path.name,
        "rows": learned.n_rows,
        "scale": learned.scale,
        "missing": learned.missing,
        **{key: overall[key] for key in ("mae", "constant_mae", "explained")},
    }
    save_model(learned.model, out, info=info, overwrite=overwrite)
    _show(fitted(learned, file.path.name), out)
    if page is not None:
        _write(fitted(learned, file.path.name, _influence(learned)), page, overwrite)


def predict(
    model: o.ModelFile,
    table: o.File,
    out: o.Out,
    uncertainty: o.Uncertainty = None,
    page: o.Page = None,
    overwrite: o.Overwrite = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    thousands: o.Thousands = None,
    encoding: o.Encoding = None,
) -> None:
    """Predict the shares of new rows.

    The columns of the table stay as they are; the shares are added on the right.

        inldl predict survey.inldl new.csv -o predicted.csv
        inldl predict survey.inldl new.csv -o predicted.csv --uncertainty 0.9
        inldl predict survey.inldl new.parquet -o predicted.parquet
    """
    from inldl.io.writing import check_writable
    from inldl.report.table_pages import predicted
    from inldl.tables.tasks import predict_table

    fitted = o.load_model_of_table(model, uncertainty)
    o.check_apart(table=table, model=model, out=out, page=page, onto_table=True)
    file = o.open_table(table, None, delimiter, decimal, thousands, encoding)
    check_writable(file, out, overwrite=overwrite)
    o.check_page(page, overwrite)
    with bar("Writing") as done:
        written = predict_table(
            file, fitted, out, coverage=uncertainty, overwrite=overwrite, done=done
        )
    document = predicted(written, fitted, file.path.name, out.name, file.notes)
    _show(document, out)
    _write(document, page, overwrite)


def evaluate(
    model: o.ModelFile,
    table: o.File,
    page: o.Page = None,
    overwrite: o.Overwrite = False,
    scale: o.Scale = "auto",
    normalize: o.Normalize = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    thousands: o.Thousands = None,
    encoding: o.Encoding = None,
) -> None:
    """Test a model on rows that it was not fitted to.

    Only known shares count. The model is compared with the means of the rows it was fitted to.

        inldl evaluate survey.inldl test.csv
        inldl evaluate survey.inldl test.csv --page test.html
        inldl evaluate survey.inldl test.csv --scale percent
    """
    from inldl.report.table_pages import evaluated
    from inldl.tables.tasks import evaluate_table

    fitted = o.load_model_of_table(model)
    o.check_apart(table=table, model=model, page=page)
    file = o.open_table(table, list(fitted.label_names_), delimiter, decimal, thousands, encoding)
    o.check_page(page, overwrite)
    found = evaluate_table(file, fitted, scale=scale, normalize=normalize)
    document = evaluated(found, fitted, file.path.name, file.notes)
    _show(document)
    _write(document, page, overwrite)


def inspect(
    table: o.File,
    labels: o.Labels,
    page: o.Page = None,
    overwrite: o.Overwrite = False,
    scale: o.Scale = "auto",
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    thousands: o.Thousands = None,
    encoding: o.Encoding = None,
) -> None:
    """Look at a table before anything is learned from it.

    How much is missing, whether at random, and what cannot be right.

        inldl inspect survey.csv --labels "joy,anger,fear"
        inldl inspect survey.csv --labels "emo_*" --page inspection.html
        inldl inspect survey.csv --labels "emo_*" --scale percent
    """
    from inldl.report import inspection_page
    from inldl.tables import inspect_table

    o.check_apart(table=table, page=page)
    file = o.open_table(table, labels, delimiter, decimal, thousands, encoding)
    o.check_page(page, overwrite)
    read = file.read(scale=scale, check=False)
    found = inspect_table(
        read.features,
        read.degrees,
        file.source.where,
        totals=read.scale != "count",
        scale=read.scale,
    )
    known = None if page is None else read.degrees.notna().to_numpy()
    notes = [*read.notes, *_of_counts(read)]
    document = inspection_page(found, known, f"A look at {file.path.name}", notes)
    _show(document)
    _write(document, page, overwrite)


def compare(
    table: o.File,
    labels: o.Labels,
    methods: Annotated[
        str | None,
        typer.Option(help="Names, separated by commas; all that are fit for it by default."),
    ] = None,
    rows: Annotated[int, typer.Option(help="Rows to compare on, drawn from all.", min=20)] = 2000,
    page: o.Page = None,
    overwrite: o.Overwrite = False,
    scale: o.Scale = "auto",
    normalize: o.Normalize = False,
    delimiter: o.Delimiter = None,
    decimal: o.Decimal = None,
    thousands: o.Thousands = None,
    encoding: o.Encoding = None,
) -> None:
    """Find the method that suits a table.

    Known shares are hidden and filled in, and rows are left out and predicted.

        inldl compare survey.csv --labels "joy,anger,fear"
        inldl compare survey.csv --labels "emo_*" --methods auto,winldl,ridge
        inldl compare survey.csv --labels "emo_*" --page comparison.html
    """
    from inldl._specs import split_list
    from inldl.report import comparison_page
    from inldl.tables import compare as compare_methods
    from inldl.tables.comparison import CONSTANT, DEFAULT

    o.check_apart(table=table, page=page)
    file = o.open_table(table, labels, delimiter, decimal, thousands, encoding)
    o.check_page(page, overwrite)
    wanted = list(DEFAULT) if methods is None else split_list(methods)
    read = file.read(scale=scale, normalize=normalize)
    with steps("Comparing", len({*wanted, CONSTANT})) as done:
        found = compare_methods(
            read.features, read.degrees, wanted, max_rows=rows, scale=read.scale, done=done
        )
    notes = [*file.notes, *_of_counts(read)]
    document = comparison_page(found, f"Methods for {file.path.name}", notes)
    _show(document)
    _write(document, page, overwrite)


def info(model: o.ModelFile) -> None:
    """Show what a model file holds.

    No code from the file is run.

        inldl model info survey.inldl
    """
    from inldl.io.model_file import model_info
    from inldl.report.table_pages import model_facts

    _show(model_facts(model_info(model)))


def export(
    model: o.ModelFile,
    out: Annotated[Path, typer.Argument(help="The ONNX file to write.", metavar="ONNX")],
    overwrite: o.Overwrite = False,
) -> None:
    """Export a linear model with its preparation to ONNX.

    Any ONNX runtime then predicts the same, without Python.

        inldl fit survey.csv --labels "emo_*" -o survey.inldl --method winldl
        inldl export survey.inldl survey.onnx
    """
    from inldl.io.onnx_file import export_onnx

    o.check_apart(model=model, out=out)
    export_onnx(o.load_model_of_table(model), out, overwrite=overwrite)
    say(f"Wrote {out}")


COMMANDS = (complete, fit, predict, evaluate, inspect, compare, export)


def _fit(file, method, scale, normalize, learn_from, jobs):
    from inldl.tables.tasks import fit_table

    with working(f"Learning from {file.path.name} with {method}"):
        return fit_table(
            file, method, scale=scale, normalize=normalize, most_rows=learn_from, n_jobs=jobs
        )


def _of_counts(read):
    """Return a note on the units of a table of counts."""
    return ["Shares are fractions of the sum of their row."] if read.scale == "count" else []


def _show(document, out=None):
    """Print what a result says, and what was written."""
    from inldl.report.terminal import show

    show(document)
    if out is not None:
        say(f"Wrote {out}")


def _write(document, page, overwrite):
    """Write what a result says as a page, if one is wanted."""
    if page is not None:
        with working("Drawing"):
            document.write(page, overwrite=overwrite)
        say(f"Wrote {page}")


def _influence(learned):
    """Return the influence of the columns, if there are few enough to measure it."""
    if len(learned.model.encoder_.columns_) > MOST_COLUMNS:
        return None
    with working("Measuring the influence of the columns"):
        return learned.influence()
