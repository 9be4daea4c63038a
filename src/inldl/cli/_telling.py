"""What the commands for tables say, and show while they work."""

import sys
from contextlib import contextmanager
from dataclasses import replace

import typer

from inldl.cli._streams import printable

FEW = 50  # degrees that tell an error: fewer tell it roughly


def say(text="", err=False):
    """Print a line."""
    typer.echo(printable(text), err=err)


@contextmanager
def working(text):
    """Show that something is going on, on a terminal only."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    what = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), what, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(printable(text), total=None)
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
                say(f"{text}: {name} ({done} of {total})", err=True)

        yield step


def understood(file):
    """Tell what was found out about how a file is written."""
    for note in file.notes:
        say(note)


def completed(written, learned, out):
    """Tell what was filled, and how well."""
    if learned is not None:
        _notes(learned)
    for line in what_was_filled(written):
        say(line)
    if learned is not None and written.n_exact < written.n_filled:
        _judged(*judged_by(learned))
    say(f"Wrote {out}")


def what_was_filled(written):
    """Return sentences on the degrees that were filled."""
    if not written.n_filled:
        return [f"No degree of the {written.n_rows:,} rows is missing: the copy is the same."]
    degrees = "1 degree" if written.n_filled == 1 else f"{written.n_filled:,} degrees"
    rows = "1 row" if written.n_filled_rows == 1 else f"{written.n_filled_rows:,} rows"
    told = [f"Filled {degrees} in {rows}."]
    if written.n_exact == 1 < written.n_filled:
        told.append("1 of them is given by the sum of its row, and so is exact.")
    elif written.n_exact:
        some = f"{written.n_exact:,}" if written.n_exact < written.n_filled else "All"
        told.append(f"{some} of them are given by the sums of their rows, and so are exact.")
    return told


def judged_by(learned):
    """Return the degrees that tell how good filled ones are, in words, too.

    They are those of new rows where no degree could be hidden.
    """
    if learned.completion.overall()["n"]:
        return learned.completion, "degrees that were hidden on purpose"
    why = "too few are observed to hide some"
    if len(learned.model.label_names_) == 2:
        why = "with two labels a hidden one is 1 minus the other"
    return learned.new_rows, f"degrees of rows that were left out ({why})"


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
    for note in written.notes:
        say(note)
    say(f"Wrote {out}")


def evaluated(found):
    """Print the measures of a model beside those of the constant mean."""
    from inldl.metrics import METRICS

    table = _table("measure", "model", "constant mean", "better is")
    for name, value in found.metrics.items():
        better = "higher" if METRICS[name].higher_is_better else "lower"
        _add(table, name, f"{value:.4f}", f"{found.constant[name]:.4f}", better)
    _print(table)
    _judged(found.held_out, f"observed degrees of {found.n_rows:,} rows")
    covered = found.held_out.overall()["coverage"]
    if covered is not None:
        say(f"Of the intervals for 90% of the degrees, {covered:.1%} hold theirs.")


def with_units(found, scale):
    """Return an inspection or a comparison that says so where its numbers are not the table's."""
    if scale == "fraction":
        return found
    note = "Degrees and errors are told as fractions of the whole: 0.25 is 25%."
    return replace(found, notes=[*found.notes, note])


def inspected(found, notes):
    """Print what a look at a table found."""
    for note in [*notes, *found.notes]:
        say(note)
    say(
        f"{found.n_rows:,} rows, {found.n_features} feature columns, {len(found.labels)} labels; "
        f"{found.missing:.1%} of the degrees are missing."
    )
    table = _table("label", "observed", "missing", "mean", "smallest", "largest", "zeros")
    for row in found.by_label.itertuples():
        numbers = [f"{x:.4f}" for x in (row.mean, row.smallest, row.largest)]
        _add(
            table,
            row.label,
            f"{row.observed:,}",
            f"{row.missing:.1%}",
            *numbers,
            f"{row.zeros:.1%}",
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
        remark = "recommended" if row.method == found.recommended else "failed" * bool(row.reason)
        numbers = (
            row.completing_rmse,
            row.completing_se,
            row.predicting_rmse,
            row.predicting_se,
            row.cosine,
        )
        cells = ["" if x != x else f"{x:.4f}" for x in numbers]
        seconds = "" if row.seconds != row.seconds else f"{row.seconds:.2f}"
        _add(table, row.method, *cells, seconds, remark)
    _print(table)
    for row in found.table[found.table["reason"] != ""].itertuples():
        say(f"{row.method} failed: {row.reason}")
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
        say(" ".join(f"{key}: {value}".split("\n")))  # one line each, whatever the names


def _notes(learned):
    for note in learned.notes:
        say(note)


def _judged(held_out, what):
    overall = held_out.overall()
    if not overall["n"]:
        say("How good the degrees are cannot be told: too few are observed.")
        return
    mae, constant = (
        f"{overall[name]:.2f} {held_out.unit}" if held_out.unit else f"{overall[name]:.4f}"
        for name in ("mae", "constant_mae")
    )
    say(
        f"On {overall['n']:,} {what}, the mean error is {mae}; the mean of each label errs by "
        f"{constant}."
    )
    if overall["n"] < FEW:
        say(f"The error rests on few degrees ({overall['n']}); take it as a rough estimate.")


def _table(*names):
    from rich.table import Table

    # Names may be long, and are folded; numbers and remarks are short.
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(names[0], overflow="fold")
    for name in names[1:-1]:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(names[-1], no_wrap=True)
    return table


def _add(table, *cells):
    """Add a row in which nothing is taken for markup."""
    from rich.text import Text

    table.add_row(*(Text(printable(cell)) for cell in cells))


def _print(table):
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else 110).print(table)
