"""The command that says which missing shares to ask for: ask."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from inldl.cli import options as o
from inldl.cli.progress import working
from inldl.cli.tables import fit_file
from inldl.tables.options import AskOptions, ColumnOptions, LearnOptions

_ON_PAGE = 100  # questions that a page shows
_SIMULATE = "Try it out on the known shares of the table: hide some, and ask for them in rounds."
_HIDDEN = "With --simulate: the fraction of known shares to hide."
_ROUNDS = "With --simulate: how many rounds of asking and learning."
_SAMPLE = "With --simulate: rows to take, drawn from all."
_ASK_OUT = "The list of questions to write: .csv, .xlsx and the like."


def ask(
    context: typer.Context,
    table: o.File,
    out: Annotated[Path | None, o.out(_ASK_OUT)] = None,
    labels: o.LabelsOfModel = None,
    *,
    asking: AskOptions,
    method: o.Method = "auto",
    model: o.Fitted = None,
    simulate: Annotated[bool, o.flag("--simulate", help=_SIMULATE)] = False,
    hidden: Annotated[float, typer.Option(help=_HIDDEN)] = 0.5,
    rounds: Annotated[int, typer.Option(help=_ROUNDS, min=1)] = 5,
    rows: Annotated[int, typer.Option(help=_SAMPLE, min=20)] = 500,
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
        inldl ask survey.csv -l "emo_*" --simulate --page asking.html
    """
    from inldl.report.pages.advice import questions_page
    from inldl.tables.ask import ASKING, check_asked, refuse_asking
    from inldl.tables.questions import ask_table, without_prices
    from inldl.tables.writing import check_new

    check_asked(asking.budget, asking.by, asking.row_cost, asking.cell_cost)
    if learning.ratios:
        raise ValueError(ASKING)
    if simulate:
        for name in o.given(context, "out", "model", "cost", "budget"):
            raise ValueError(f"{name} does not apply with --simulate; leave out one of them.")
        trial = {"hidden": hidden, "rounds": rounds, "max_rows": rows}
        _simulate(output.open(table, labels, columns), method, asking, trial, learning, output)
        return
    for name in o.given(context, "hidden", "rounds", "rows"):
        raise ValueError(f"{name} is for --simulate; add that, or leave {name} out.")
    if out is None:
        raise ValueError("Name the list of questions to write, such as -o ask.csv.")
    fitted = None
    if model is not None:
        fitted = o.load_model_of_table(model)
        refuse_asking(fitted)
    wanted = list(fitted.label_names_) if labels is None and fitted is not None else labels
    file = without_prices(output.open(table, wanted, columns, model=model, out=out), asking.cost)
    check_new(out, overwrite=output.overwrite)
    notes = file.notes
    if fitted is None:
        learned = fit_file(file, method, learning)
        fitted, scale, notes = learned.model, learned.scale, learned.notes
    else:
        scale = o.scale_for(fitted, file, learning.scale, context)
    how = {"scale": scale, "normalize": learning.normalize, "overwrite": output.overwrite}
    with working(f"Looking for questions in {file.path.name}"):
        found = ask_table(file, fitted, out, asking, **how)
    document = partial(questions_page, found, fitted, file.path.name, out.name, notes)
    output.show(document(), out, lambda: document(most=_ON_PAGE))


def _simulate(file, method, asking, trial, learning, output):
    """Play asking through on a table, and show how the errors fall."""
    from inldl.report.pages.advice import asking_trial_page
    from inldl.tables.ask_trial import simulate_asking

    read = file.read(scale=learning.scale, normalize=learning.normalize)
    how = {"by": asking.by, "row_cost": asking.row_cost, "cell_cost": asking.cell_cost}
    with working("Asking"):
        found = simulate_asking(
            read.features, read.degrees, method, **how, **trial, scale=read.scale
        )
    output.show(asking_trial_page(found, f"Asking about {file.path.name}", [*read.notes]))


COMMANDS = (ask,)
