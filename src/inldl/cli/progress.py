"""Show how far the work is: a bar on a terminal, a line now and then elsewhere."""

import shutil
import sys
import time
from collections import Counter
from contextlib import contextmanager

from inldl.text import printable, say

SILENCE = 20.0  # seconds between two lines where there is no terminal
_TEXT = "{task.description}"


@contextmanager
def _display(columns, transient=True):
    """Give a display with columns of `rich.progress`, or None where there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    with progress.Progress(*columns(progress), console=console, transient=transient) as display:
        yield display


@contextmanager
def working(text):
    """Show that something is going on: at once on a terminal, else if it takes long.

    Gives a function to call with what is done at the moment, and the share of it if that is known.
    """
    with _display(_work_columns) as display:
        if display is None:
            yield _now_and_then(text)
            return
        task = display.add_task(printable(text), total=None)
        part = display.add_task("", total=1.0, visible=False)

        def tell(now, share=None):
            if share is None:
                display.update(task, description=printable(f"{text}: {now}"))
                display.update(part, visible=False)
            else:
                display.update(part, visible=True, description=now, completed=share)

        yield tell


def _work_columns(r):
    """Return columns of which a long text is cut, not the bar and the time."""
    from rich.table import Column

    most = max(20, shutil.get_terminal_size().columns - 34)  # what spinner, bar and time leave
    return (
        r.SpinnerColumn(),
        r.TextColumn(_TEXT, markup=False, table_column=Column(no_wrap=True, max_width=most)),
        r.BarColumn(bar_width=20),
        r.TimeElapsedColumn(),
    )


def _now_and_then(text):
    """Return a function that says what is done at the moment, if it was silent for long."""
    last = time.monotonic()

    def tell(now, share=None):
        nonlocal last
        if time.monotonic() - last >= SILENCE:
            last = time.monotonic()
            done = "" if share is None else f" ({share:.0%})"
            say(f"{text}: {now}{done}", err=True)

    return tell


@contextmanager
def bar(text):
    """Give a function to call with the share that is done; a bar, on a terminal only."""
    with _display(lambda r: r.Progress.get_default_columns()) as display:
        if display is None:
            yield None
        else:
            task = display.add_task(text, total=1.0)
            yield lambda share: display.update(task, completed=share)


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


@contextmanager
def progress(total, what):
    """Give a function to call with each finished row."""
    finished = Counter()
    with _display(_row_columns, transient=False) as display:
        if display is None:
            show = _lines(total, what, finished)
        else:
            task = display.add_task(what, total=total, note="")

            def show(row):
                note = f"{row.cell.method} on {row.cell.dataset}{_troubles(finished)}"
                display.update(task, advance=1, note=note)

        def done(row):
            finished[row.status] += 1
            show(row)

        yield done


def _row_columns(r):
    return (
        r.TextColumn(_TEXT, markup=False),
        r.BarColumn(),
        r.MofNCompleteColumn(),
        r.TimeElapsedColumn(),
        r.TextColumn("left"),
        r.TimeRemainingColumn(),
        r.TextColumn("{task.fields[note]}", markup=False),
    )


def _lines(total, what, finished):
    start = last = time.monotonic()

    def show(row):
        nonlocal last
        count, now = finished.total(), time.monotonic()
        if now - last >= SILENCE or count == total:
            last = now
            left = (now - start) / count * (total - count)
            text = f"{what}: {count} of {total}, about {left:.0f} s left{_troubles(finished)}"
            say(text, err=True)

    return show


def _troubles(finished):
    text = ", ".join(f"{n} {status}" for status, n in sorted(finished.items()) if status != "ok")
    return f" ({text})" if text else ""
