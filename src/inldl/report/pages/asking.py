"""What is said about questions: which missing shares to ask for, and how errors fall with that."""

from functools import partial

from inldl.report.document import Column, Document, Section, Table, picture
from inldl.report.figures import error_against_cost
from inldl.tables.audit import error, form_of, in_unit
from inldl.text import counted

FEW = 10  # questions on a terminal


def asked(found, model, table, out, notes=(), most=FEW):
    """Return what is said about a list of questions; `found` is what `ask_table` returns.

    The first questions are shown, `most` of them.
    """
    told, n_missing = found.suggestion, found.suggestion.n_missing
    facts = [("Table", table), ("Questions", out), ("Method", str(model.method))]
    facts.append(("Rows", f"{found.n_rows:,}"))
    if not n_missing:
        summary = [f"No share is missing in {counted(found.n_rows, 'row')}: nothing to ask for."]
    elif not len(found.table):
        summary = [
            "Nothing to ask for: the sums of the rows give all missing shares, or the budget is "
            "too small for an answer."
        ]
    else:
        summary = _worth(found, told)
    shown = [_questions(found, most)] if len(found.table) else []
    sections = [Section("What to ask for first", shown)] if shown else []
    return Document(f"What to ask about {table}", summary, facts, notes, sections)


def _worth(found, told):
    """Return what the answers are worth."""
    cells, rows = counted(len(found.table), "missing share"), found.table["row"].nunique()
    before, after = (error(x * found.whole, found.unit) for x in (told.rmse, told.rmse_after))
    price = found.table["cost"].sum()
    cost = "" if (found.table["cost"] == 1).all() else f", for {price:,.6g} in all"
    return [
        f"The list has {cells} in {counted(rows, 'row')}{cost}, of {told.n_missing:,} that are "
        "missing.",
        f"Answers should lower the expected error of the completed table from {before} to {after} "
        "(root mean square over the shares that are missing now; answered ones count as 0).",
        'Fill in the column "answer", and give the list to inldl complete with --answers.',
    ]


def _questions(found, most):
    """Return the first questions as a table."""
    table = found.table.iloc[:most]
    form = form_of(found.unit or table["estimate"].max() > 1)  # counts, or percentages
    ids = list(table.columns[2 : table.columns.get_loc("label")])
    columns = {"rank": Column("rank"), "row": Column("row")}
    columns |= {name: Column(name, words=True) for name in [*ids, "label"]}
    numbers = {"estimate": "estimate", "low": "from", "high": "to"}
    columns |= {name: Column(heading, form) for name, heading in numbers.items()}
    columns["expected_error"] = Column("error then", form_of(found.unit, table["expected_error"]))
    caption = (
        f"The first {len(table):,} of {len(found.table):,} questions, the best first. Error then: "
        "what is expected once this one and all before it are answered."
    )
    return Table.of(table, {**columns, "cost": Column("cost", ".4g")}, caption, "questions")


def simulated(trial, title="Asking for shares", notes=()):
    """Return what is said about a trial of asking; `trial` is an `AskingTrial`."""
    unit, last = in_unit(trial.unit), trial.curves.groupby("strategy", sort=False).last()
    first = float(trial.curves["rmse"].iloc[0])
    rows = [
        [name, each.asked, each.cost, each.rmse, trial.areas[name]]
        for name, each in zip(last.index, last.itertuples(), strict=True)
    ]
    best = min(rows, key=lambda row: row[-1])
    best[3:] = [(value, "best") for value in best[3:]]
    columns = [Column("strategy"), Column("asked", ","), Column("cost", ",.6g")]
    columns += [Column("error at the end", form_of(trial.unit, last["rmse"]))]
    columns += [Column("mean error", ".3f")]
    caption = (
        f"Errors are root mean squares{unit}, over all shares that were hidden; those that were "
        "asked for count as 0. Mean error: over what was spent, relative to the start; lower is "
        "better."
    )
    drawn = (
        "The error that is left against what was spent. Each strategy starts from the same table, "
        "and learns again after each round."
    )
    draw = partial(error_against_cost, trial.curves, unit=trial.unit)
    table = Table(columns, rows, caption=caption, name="asking")
    summary = [
        f"Hid {counted(trial.n_hidden, 'known share')} in {counted(trial.n_rows, 'row')}, and "
        f"asked for some of them. The error was {error(first, trial.unit)} at first, and lowest "
        f"on average with the strategy {best[0]!r}."
    ]
    blocks = [picture(draw, drawn, "asking"), table]
    sections = [Section("How the error falls", blocks)]
    facts = [("Rows", f"{trial.n_rows:,}"), ("Hidden", f"{trial.n_hidden:,}")]
    return Document(title, summary, facts, [*notes, *trial.notes], sections)
