"""Commands for tables: complete, fit, predict, evaluate, inspect, compare, export, ask."""

from pathlib import Path
from typing import Annotated

import typer

from inldl.cli import options as o
from inldl.cli import working
from inldl.tables.options import (
    AskOptions,
    ColumnOptions,
    FileOptions,
    FillOptions,
    GroupOptions,
    IntervalOptions,
    LearnOptions,
    PanelOptions,
    ShareOptions,
)
from inldl.text import counted, say

_ANSWERS = "A file of `inldl ask` with answers, which are put into the table first."
_ON_PAGE = 100  # questions that a page shows
_NEAR = "How far a number may be off to be as good as known, as a share of it."
_AUDIT_OUT = "Also write a list of the suppressed cells, and of further ones: .csv and the like."
_ASK_OUT = "The list of questions to write: .csv, .xlsx and the like."
_METHODS = "Names, separated by commas; all suitable ones by default."


def complete(
    context: typer.Context,
    table: o.File,
    out: o.Out,
    labels: o.LabelsOfGroups = None,
    method: o.Method = "auto",
    model: o.Fitted = None,
    *,
    filling: FillOptions,
    answers: Annotated[Path | None, typer.Option(help=_ANSWERS)] = None,
    output: o.Output,
    columns: ColumnOptions,
    learning: LearnOptions,
) -> None:
    """Fill in the missing shares of a table.

    Known shares and all other columns stay as they are; rows sum to 1, to 100%, or to their
    total. Cells such as <5 and 1-9 are filled in within these bounds.

        inldl complete survey.csv --labels "joy,anger,fear" -o whole.csv
        inldl complete survey.csv -l "emo_*" -o whole.csv --uncertainty 0.9 --filled-columns
        inldl complete survey.csv -l "emo_*" -o whole.csv -m winldl --page whole.html
        inldl complete votes.csv --long "id=county,label=party,value=votes" -o whole.csv
        inldl complete survey.csv -l "emo_*" -o whole.csv --draws 20
        inldl complete counts.csv -l "age_*" -o whole.csv --total persons --whole
        inldl complete counts.csv -l "age_*" -o whole.csv --total persons --column-totals last-row
        inldl complete diary.csv -l "beer,wine,milk" -o whole.csv --sum "alcohol=beer,wine"
        inldl complete counties.csv -l "age_*" -l "income_*" -o whole.csv
        inldl complete survey.csv -l "emo_*" -o whole.csv --answers ask.csv
        inldl complete rescaled.csv -l "emo_*" -o whole.csv --ratios
        inldl complete minerals.csv -l "oxide_*" -o whole.csv --zeros "rounded<0.05"
        inldl complete survey.csv -l "emo_*" -o whole.csv --delta "emo_joy=+10%"
    """
    from inldl.report.pages.table import completion_page
    from inldl.tables.completing import check_completion, complete_table
    from inldl.tables.questions import with_answers
    from inldl.tables.results import draw_paths, stacked_path
    from inldl.tables.tasks import method_for

    method_for(method, learning, columns, filling)  # refuses what cannot be
    if len(labels or ()) > 1:
        _complete_groups(table, out, labels, method, filling, output, columns, learning,
                         model=model, answers=answers)  # fmt: skip
        return
    one = labels[0] if labels else None
    fitted = None if model is None else o.load_model_of_table(model)
    roles = {"model": model, "out": out, "answers": answers, "onto_table": True}
    file = output.open(table, one, columns, fitted, **roles)
    if answers is not None:
        file, n_answers = with_answers(file, answers, scale=learning.scale)
        say(f"Put {counted(n_answers, 'answer')} from {answers} into the table.")
    check_completion(file, out, filling, overwrite=output.overwrite)
    fitted, learned, scale = _model_of(file, fitted, method, learning, context)
    how = {"scale": scale, "holes": None if learned is None else learned.holes}
    how |= {"normalize": learning.normalize, "overwrite": output.overwrite}
    with working(f"Completing {file.path.name}"):
        written = complete_table(file, fitted, out, filling, **how)
    influence = _influence(learned, output)
    names = file.path.name, out.name
    output.show(completion_page(written, learned, fitted, *names, influence), out)
    if filling.n_draws:
        paths = draw_paths(out, filling.n_draws)
        say(f"Wrote {paths[0]}" + (f" to {paths[-1].name}" if len(paths) > 1 else ""))
    if filling.stacked:
        say(f"Wrote {stacked_path(out, filling)}")


def fit(
    table: o.File,
    out: o.Out,
    labels: o.Labels = None,
    method: o.Method = "auto",
    *,
    output: o.Output,
    columns: ColumnOptions,
    learning: LearnOptions,
) -> None:
    """Fit a model to a table, and save it for new rows.

    Shares and features may be missing in the table.

        inldl fit survey.csv --labels "joy,anger,fear" -o survey.inldl
        inldl fit survey.csv -l "emo_*" -o survey.inldl --page model.html
        inldl fit survey.csv -l "emo_*" -o survey.inldl --method "winldl(mu=2)"
        inldl fit votes.csv -l "party_*" -o votes.inldl --votes
    """
    from inldl.files.model_file import check_savable, save_model
    from inldl.files.replacing import check_free
    from inldl.report.pages.table import model_page
    from inldl.tables import TableModel
    from inldl.tables.tasks import method_for

    ready = method_for(method, learning, columns)
    file = output.open(table, labels, columns, out=out)
    check_free(out, overwrite=output.overwrite)
    check_savable(TableModel(ready))
    learned = _fit_file(file, method, learning)
    save_model(learned.model, out, info=learned.info(file.path.name), overwrite=output.overwrite)
    output.show(model_page(learned, file.path.name, _influence(learned, output)), out)


def predict(
    model: o.ModelFile,
    table: o.File,
    out: o.Out,
    *,
    intervals: IntervalOptions,
    output: o.Output,
    options: FileOptions,
) -> None:
    """Predict the shares of new rows.

    The columns of the table stay as they are; the shares are added on the right.

        inldl predict survey.inldl new.csv -o predicted.csv
        inldl predict survey.inldl new.csv -o predicted.csv --uncertainty 0.9
        inldl predict survey.inldl new.parquet -o predicted.parquet
    """
    from inldl.report.pages.table import prediction_page
    from inldl.tables.tasks import predict_table

    fitted = o.load_model_of_table(model)
    file = output.open(table, None, options, model=model, out=out, onto_table=True)
    asked = {"coverage": intervals.coverage, "overwrite": output.overwrite}
    with working(f"Predicting {file.path.name}"):
        written = predict_table(file, fitted, out, **asked)
    output.show(prediction_page(written, fitted, file.path.name, out.name, file.notes), out)


def evaluate(
    model: o.ModelFile,
    table: o.File,
    *,
    output: o.Output,
    columns: ColumnOptions,
    shares: ShareOptions,
) -> None:
    """Test a model on rows that it was not fitted to.

    Only known shares count. The model is compared with the means of the rows it was fitted to.

        inldl evaluate survey.inldl test.csv
        inldl evaluate survey.inldl test.csv --page test.html
        inldl evaluate survey.inldl test.csv --scale percent
    """
    from inldl.report.pages import evaluation_page
    from inldl.tables.tasks import evaluate_table

    fitted = o.load_model_of_table(model)
    file = output.open(table, None, columns, fitted, model=model)
    found = evaluate_table(file, fitted, shares)
    output.show(evaluation_page(found, fitted, file.path.name, file.notes))


def inspect(
    table: o.File,
    labels: o.Labels = None,
    *,
    output: o.Output,
    columns: ColumnOptions,
    shares: PanelOptions,
) -> None:
    """Look at a table before anything is learned from it.

    How much is missing, whether at random, and what cannot be right.

        inldl inspect survey.csv --labels "joy,anger,fear"
        inldl inspect survey.csv --labels "emo_*" --page inspection.html
        inldl inspect survey.csv --labels "emo_*" --scale percent
    """
    from inldl.report.pages.advice import inspection_page
    from inldl.tables.inspect import inspect_file

    file = output.open(table, labels, columns)
    found, read, notes = inspect_file(file, shares)
    known = None if output.page is None else read.degrees.notna().to_numpy()
    output.show(inspection_page(found, known, f"A look at {file.path.name}", notes))


def compare(
    table: o.File,
    labels: o.Labels = None,
    methods: Annotated[str | None, typer.Option(help=_METHODS)] = None,
    rows: Annotated[int, typer.Option(help="Rows to compare on, drawn from all.", min=20)] = 2000,
    *,
    output: o.Output,
    columns: ColumnOptions,
    shares: GroupOptions,
) -> None:
    """Find the method that suits a table.

    Known shares are hidden and filled in, and rows are left out and predicted: those of one group
    or unit together, and of one series in time, stretches of it.

        inldl compare survey.csv --labels "joy,anger,fear"
        inldl compare survey.csv --labels "emo_*" --methods auto,winldl,ridge
        inldl compare survey.csv --labels "emo_*" --group person
        inldl compare survey.csv --labels "emo_*" --page comparison.html
    """
    from inldl.report.pages.advice import comparison_page
    from inldl.specs import split_list
    from inldl.tables.comparison import DEFAULT, compare_file

    file = output.open(table, labels, columns)
    wanted = list(DEFAULT) if methods is None else split_list(methods)
    with working("Comparing", silence=0):
        found, notes = compare_file(file, wanted, shares, max_rows=rows)
    output.show(comparison_page(found, f"Methods for {file.path.name}", notes))
    say(found.took, err=True)


def audit(
    context: typer.Context,
    table: o.File,
    labels: o.Labels = None,
    near: Annotated[float, typer.Option(help=_NEAR, min=0, max=1)] = 0.1,
    method: o.Method = "auto",
    out: Annotated[Path | None, o.out(_AUDIT_OUT)] = None,
    *,
    output: o.Output,
    columns: ColumnOptions,
    learning: LearnOptions,
) -> None:
    """Find out which suppressed cells of a table anybody can work out.

    Missing cells are the suppressed ones. The totals of rows and columns, sums of rows and bounds
    such as <5 leave each of them a range, and a model may know more. Further cells are named whose
    suppression would protect those that are given away. The exit code is 3 if some are.

        inldl audit counts.csv -l "age_*" --total persons --column-totals last-row
        inldl audit counts.csv -l "age_*" --total persons --parent region --id area --page a.html
        inldl audit counts.csv -l "age_*" --total persons --near 0.05 -o cells.csv
    """
    from inldl.report.pages.table import disclosure_page
    from inldl.tables.disclosure import audit_table
    from inldl.tables.writing import check_new, write_frame

    if out is not None:
        check_new(out, overwrite=output.overwrite)
    file = output.open(table, labels, columns, out=out)
    fitted, learned, scale = _model_of(file, None, method, learning, context)
    with working(f"Auditing {file.path.name}"):
        found = audit_table(file, fitted, scale=scale, near=near, normalize=learning.normalize)
    output.show(disclosure_page(found, file.path.name, learned.notes), out)
    if out is not None:
        write_frame(found.listed(), out, like=file.format, overwrite=output.overwrite)
    if found.count("computed", "narrow"):
        raise typer.Exit(3)


def ask(
    context: typer.Context,
    table: o.File,
    out: Annotated[Path, o.out(_ASK_OUT)],
    labels: o.LabelsOfModel = None,
    *,
    asking: AskOptions,
    method: o.Method = "auto",
    model: o.Fitted = None,
    output: o.Output,
    columns: ColumnOptions,
    learning: LearnOptions,
) -> None:
    """List the missing shares that are worth asking for next.

    The list starts with the cells whose answers would improve the completed table most. Fill in
    its column "answer", and give the list to inldl complete with --answers.

        inldl ask survey.csv --labels "joy,anger,fear" --budget 50 -o ask.csv
        inldl ask survey.csv -l "emo_*" --by row -o ask.xlsx
        inldl ask survey.csv -l "emo_*" --row-cost 3 --cell-cost 1 -o ask.csv
    """
    from inldl.report.pages.advice import questions_page
    from inldl.tables.ask import ASKING, check_asked, refuse_asking
    from inldl.tables.questions import ask_table, without_prices
    from inldl.tables.writing import check_new

    check_asked(asking.budget, asking.by, asking.row_cost, asking.cell_cost)
    if learning.ratios:
        raise ValueError(ASKING)
    fitted = None if model is None else o.load_model_of_table(model)
    refuse_asking(fitted)
    file = output.open(table, labels, columns, fitted, model=model, out=out)
    file = without_prices(file, asking.cost)
    check_new(out, overwrite=output.overwrite)
    fitted, learned, scale = _model_of(file, fitted, method, learning, context)
    notes = file.notes if learned is None else learned.notes
    how = {"scale": scale, "normalize": learning.normalize, "overwrite": output.overwrite}
    with working(f"Looking for questions in {file.path.name}"):
        found = ask_table(file, fitted, out, asking, **how)
    about = found, fitted, file.path.name, out.name, notes
    output.show(questions_page(*about), out, questions_page(*about, most=_ON_PAGE))


def info(model: o.ModelFile) -> None:
    """Show what a model file holds.

    No code from the file is run.

        inldl model info survey.inldl
    """
    from inldl.files.model_file import model_info
    from inldl.report.pages.table import model_file_page
    from inldl.report.renderers import show

    show(model_file_page(model_info(model)))


def export(
    model: o.ModelFile,
    out: Annotated[Path, typer.Argument(help="The ONNX file to write.", metavar="ONNX")],
    overwrite: o.Overwrite = False,
) -> None:
    """Export a model and its preprocessing to ONNX.

    Any ONNX runtime then predicts the same, without Python.

        inldl fit survey.csv --labels "emo_*" -o survey.inldl
        inldl export survey.inldl survey.onnx
    """
    from inldl.files.onnx import export_onnx

    o.check_apart(model=model, out=out)
    export_onnx(o.load_model_of_table(model), out, overwrite=overwrite)
    say(f"Wrote {out}")


COMMANDS = (complete, fit, predict, evaluate, inspect, compare, export, ask, audit)


def _complete_groups(table, out, labels, method, filling, output, columns, learning, **others):
    """Complete several groups of shares."""
    from inldl.report.pages.table import groups_page
    from inldl.tables.groups import complete_groups

    for option in (name for name, path in others.items() if path is not None):
        raise ValueError(f"--{option} is for one group of labels; give --labels once.")
    output.check(table=table, out=out, onto_table=True)
    options = {"columns": columns, "learning": learning, "filling": filling}
    with working(f"Learning from {table.name} with {method}"):
        done = complete_groups(table, labels, out, method, **options, overwrite=output.overwrite)
    output.show(groups_page(done, table.name, out.name), out)


def _fit_file(file, method, learning):
    """Fit a model to a table, and show how far that is."""
    from inldl.tables.tasks import fit_table, method_for

    method = method_for(method, learning, file.options)
    with working(f"Learning from {file.path.name} with {method}"):
        return fit_table(file, method, learning)


def _model_of(file, fitted, method, learning, context):
    """Return the model that completes a table, how it was fitted if it is new, and the scale."""
    if fitted is not None:
        return fitted, None, o.scale_for(fitted, file, learning.scale, context)
    learned = _fit_file(file, method, learning)
    return learned.model, learned, learned.scale


def _influence(learned, output):
    """Return the influence of the columns for a page, if there are few enough to measure it."""
    if learned is None or output.page is None:
        return None
    with working("Measuring the influence of the columns"):
        return learned.influence()
