"""What the commands for tables say, show while they work, and put on pages."""

import sys
from contextlib import contextmanager

import typer

MOST_COLUMNS = 100  # that are shuffled for a page: more take too long


def say(text=""):
    """Print a line."""
    typer.echo(text)


@contextmanager
def working(text):
    """Show that something is going on, on a terminal only."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(text, total=None)
        yield


@contextmanager
def bar(text):
    """Give a function to call with the share that is done; a bar, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(text, total=1.0)
        yield lambda share: progress.update(task, completed=share)


@contextmanager
def steps(text, total):
    """Give a function to call with the name of each step that is done."""
    with bar(text) as show:
        done = 0

        def step(name):
            nonlocal done
            done += 1
            if show is not None:
                show(done / total)
            else:
                typer.echo(f"{text}: {name} ({done} of {total})", err=True)

        yield step


def completed(written, learned, out):
    """Tell what was filled, and how well."""
    if learned is not None:
        _notes(learned)
    if written.n_filled:
        say(f"Filled {written.n_filled:,} degrees in {written.n_rows:,} rows.")
    else:
        say(f"No degree of the {written.n_rows:,} rows is missing: the copy is the same.")
    if learned is not None:
        _judged(learned.completion, "degrees that were hidden on purpose")
    say(f"Wrote {out}")


def fitted(learned, out):
    """Tell what was learned, and how well."""
    _notes(learned)
    total = learned.n_observed + learned.n_missing
    say(
        f"Learned {len(learned.model.label_names_)} labels from {learned.n_rows:,} rows, "
        f"{learned.n_missing / total:.1%} of the degrees missing."
    )
    _judged(learned.new_rows, "degrees of rows that were left out")
    say(f"Wrote {out}")


def predicted(written, model, out):
    """Tell what was predicted."""
    say(f"Predicted {', '.join(model.label_names_)} for {written.n_rows:,} rows.")
    say(f"Wrote {out}")


def evaluated(found):
    """Print the measures of a model beside those of the constant mean."""
    from inldl.metrics import METRICS

    table = _table("measure", "model", "constant mean", "better is")
    for name, value in found.metrics.items():
        better = "higher" if METRICS[name].higher_is_better else "lower"
        table.add_row(name, f"{value:.4f}", f"{found.constant[name]:.4f}", better)
    _print(table)
    _judged(found.held_out, f"observed degrees of {found.n_rows:,} rows")
    covered = found.held_out.overall()["coverage"]
    if covered is not None:
        say(f"Of the intervals for 90% of the degrees, {covered:.1%} hold theirs.")


def inspected(found, notes):
    """Print what a look at a table found."""
    for note in notes:
        say(note)
    say(
        f"{found.n_rows:,} rows, {found.n_features} feature columns, {len(found.labels)} labels; "
        f"{found.missing:.1%} of the degrees are missing."
    )
    table = _table("label", "observed", "missing", "mean", "smallest", "largest", "zeros")
    for row in found.by_label.itertuples():
        numbers = [f"{x:.4f}" for x in (row.mean, row.smallest, row.largest)]
        table.add_row(
            row.label, f"{row.observed:,}", f"{row.missing:.1%}", *numbers, f"{row.zeros:.1%}"
        )
    _print(table)
    for finding in found.findings:
        say(f"- {finding}")


def compared(found):
    """Print the table of a comparison and what it recommends."""
    for note in found.notes:
        say(note)
    names = ("completing", "±", "predicting", "±", "cosine", "seconds")
    table = _table("method", *names, "")
    for row in found.table.itertuples():
        remark = "recommended" if row.method == found.recommended else row.reason or ""
        numbers = (
            row.completing_rmse,
            row.completing_se,
            row.predicting_rmse,
            row.predicting_se,
            row.cosine,
        )
        cells = ["" if x != x else f"{x:.4f}" for x in numbers]
        seconds = "" if row.seconds != row.seconds else f"{row.seconds:.2f}"
        table.add_row(row.method, *cells, seconds, remark)
    _print(table)
    say("Errors are root mean squares, ± their standard errors; lower is better.")
    say(found.why)


def model_file(path, info):
    """Print what a model file says about itself."""
    more = info.pop("info")
    facts = {**info, **more}
    for key, value in facts.items():
        if isinstance(value, list):
            value = ", ".join(map(str, value[:20])) + (
                f" and {len(value) - 20} more" if len(value) > 20 else ""
            )
        if isinstance(value, float):
            value = f"{value:.4g}"
        say(f"{key}: {value}")


def write_completion_page(page, table, out, model, written, learned):
    """Write the page of a completed table."""
    from inldl.report.table_pages import completion_page

    facts = [
        ("Table", table.name),
        ("Completed table", out.name),
        ("Method", str(model.method)),
        ("Rows", f"{written.n_rows:,}"),
        ("Filled degrees", f"{written.n_filled:,}"),
    ]
    notes = [] if learned is None else learned.notes
    judged = None if learned is None else learned.completion
    after = written.after.set_axis(range(1, len(written.after) + 1))
    made = completion_page(
        f"{table.name}, completed",
        facts,
        notes,
        written.before,
        after,
        list(written.after.columns),
        judged,
        _influence(learned),
    )
    _write(made, page)


def write_model_page(page, table, learned):
    """Write the page of a fitted model."""
    from inldl.report.table_pages import model_page

    total = learned.n_observed + learned.n_missing
    facts = [
        ("Table", table.name),
        ("Method", str(learned.model.method)),
        ("Rows", f"{learned.n_rows:,}"),
        ("Labels", ", ".join(learned.model.label_names_)),
        ("Missing degrees", f"{learned.n_missing / total:.1%}"),
    ]
    report = str(getattr(learned.model.estimator_, "report_", ""))
    title = f"A model of {table.name}"
    made = model_page(title, facts, learned.notes, learned.new_rows, _influence(learned), report)
    _write(made, page)


def write_prediction_page(page, table, out, model, written):
    """Write the page of predicted rows."""
    from inldl.report.table_pages import completion_page

    facts = [
        ("Table", table.name),
        ("Predicted table", out.name),
        ("Method", str(model.method)),
        ("Rows", f"{written.n_rows:,}"),
    ]
    notes = ["All degrees are predicted; `inldl evaluate` tells how good they are."]
    made = completion_page(
        f"{table.name}, predicted",
        facts,
        notes,
        written.before,
        written.after,
        list(written.after.columns),
    )
    _write(made, page)


def write_evaluation_page(page, table, model, found):
    """Write the page of a model that was judged on a table."""
    import pandas as pd

    from inldl.report.table_pages import evaluation_page

    metrics = pd.DataFrame({"model": found.metrics, "constant mean": found.constant})
    facts = [
        ("Table", table.name),
        ("Method", str(model.method)),
        ("Rows", f"{found.n_rows:,}"),
    ]
    made = evaluation_page(f"The model on {table.name}", facts, [], metrics, found.held_out)
    _write(made, page)


def write_inspection_page(page, table, read, found):
    """Write the page of a table that was looked at."""
    import numpy as np

    from inldl.report.table_pages import inspection_page

    _write(inspection_page(found, ~np.isnan(read.y), f"A look at {table.name}"), page)


def write_comparison_page(page, table, found):
    """Write the page of compared methods."""
    from inldl.report.table_pages import comparison_page

    _write(comparison_page(found, f"Methods for {table.name}"), page)


def _notes(learned):
    for note in learned.notes:
        say(note)


def _judged(held_out, what):
    overall = None if held_out is None else held_out.overall()
    if not overall or not overall["n"]:
        say("How good the degrees are cannot be told: too few are observed.")
        return
    say(
        f"On {overall['n']:,} {what}, the mean error is {overall['mae']:.4f}; the mean of each "
        f"label errs by {overall['constant_mae']:.4f}."
    )


def _influence(learned):
    if learned is None or len(learned.model.encoder_.columns_) > MOST_COLUMNS:
        return None
    with working("Measuring the influence of the columns"):
        return learned.influence()


def _write(page, path):
    with working("Drawing"):
        page.write(path)
    say(f"Wrote {path}")


def _table(*names):
    from rich.table import Table

    table = Table(box=None)
    for number, name in enumerate(names):
        table.add_column(name, justify="left" if number in (0, len(names) - 1) else "right")
    return table


def _print(table):
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else 110).print(table)
