"""The command that says which missing shares to ask for: ask."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from inldl.cli import _options as o
from inldl.cli._progress import bar
from inldl.cli._tables import GIVEN, OF_MODEL, fit_file

ON_PAGE = 100  # questions that a page shows
BUDGET = "What all answers may cost; without prices, how many cells to ask for."
BY = "Ask for single cells, or for all missing shares of a row: cell or row."
COST = "A column with the price of a row: of each answer in it, or of the first with --cell-cost."
ROW_COST = "The price of the first answer in a row."
CELL_COST = "The price of each further answer in the same row; that of the first by default."
SIMULATE = "Try it out on the known shares of the table: hide some, and ask for them in rounds."
HIDDEN = "With --simulate: the fraction of known shares to hide."
ROUNDS = "With --simulate: how many rounds of asking and learning."
SAMPLE = "With --simulate: rows to take, drawn from all."
ASK_OUT = "The list of questions to write: .csv, .xlsx and the like."


def ask(
    context: typer.Context,
    table: o.File,
    out: Annotated[Path | None, o.out(ASK_OUT)] = None,
    labels: Annotated[str | None, typer.Option("--labels", "-l", help=OF_MODEL)] = None,
    budget: Annotated[float, typer.Option("--budget", "-b", help=BUDGET)] = 50,
    by: Annotated[str, typer.Option(help=BY)] = "cell",
    row_cost: Annotated[float, typer.Option("--row-cost", help=ROW_COST)] = 1,
    cell_cost: Annotated[float | None, typer.Option("--cell-cost", help=CELL_COST)] = None,
    cost: Annotated[str | None, typer.Option(help=COST)] = None,
    method: o.Method = "auto",
    model: Annotated[Path | None, typer.Option(help=GIVEN)] = None,
    simulate: Annotated[bool, o.flag("--simulate", help=SIMULATE)] = False,
    hidden: Annotated[float, typer.Option(help=HIDDEN)] = 0.5,
    rounds: Annotated[int, typer.Option(help=ROUNDS, min=1)] = 5,
    rows: Annotated[int, typer.Option(help=SAMPLE, min=20)] = 500,
    *,
    options: o.FitOptions,
) -> None:
    """Find out which missing shares to ask for next.

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

    how = {"budget": budget, "by": by, "row_cost": row_cost, "cell_cost": cell_cost}
    check_asked(**how)
    if options.ratios:
        raise ValueError(ASKING)
    if simulate:
        trial = {"hidden": hidden, "rounds": rounds, "max_rows": rows}
        for option in o.given(context, ("out", "model", "cost", "budget")):
            raise ValueError(f"{option} does not apply with --simulate; leave out one of them.")
        _simulate(table, labels, method, how, trial, options)
        return
    for option in o.given(context, ("hidden", "rounds", "rows")):
        raise ValueError(f"{option} is for --simulate; add that, or leave {option} out.")
    if out is None:
        raise ValueError("Name the list of questions to write, such as -o ask.csv.")
    fitted = None
    if model is not None:
        fitted = o.load_model_of_table(model)
        refuse_asking(fitted)
    wanted = list(fitted.label_names_) if labels is None and fitted is not None else labels
    file = without_prices(options.open(table, wanted, model=model, out=out), cost)
    check_new(out, overwrite=options.overwrite)
    learned = None
    if fitted is None:
        learned = fit_file(file, method, options)
        fitted, scale = learned.model, learned.scale
    else:
        scale = o.scale_for(fitted, file, options.scale, context)
    how |= {"scale": scale, "normalize": options.normalize, "cost": cost}
    with bar("Reading") as done:
        found = ask_table(file, fitted, out, **how, overwrite=options.overwrite, done=done)
    notes = file.notes if learned is None else learned.notes
    document = partial(questions_page, found, fitted, file.path.name, out.name, notes)
    options.show(document(), out, lambda: document(most=ON_PAGE))


def _simulate(table, labels, method, how, trial, options):
    """Play asking through on a table, and show how the errors fall."""
    from inldl.report.pages.advice import asking_trial_page
    from inldl.tables.ask_trial import simulate_asking

    file = options.open(table, labels)
    read = file.read(scale=options.scale, normalize=options.normalize)
    del how["budget"]
    with bar("Asking") as done:
        found = simulate_asking(
            read.features, read.degrees, method, **how, **trial, scale=read.scale, done=done
        )
    options.show(asking_trial_page(found, f"Asking about {file.path.name}", [*read.notes]))


COMMANDS = (ask,)
