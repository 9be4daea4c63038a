"""Show how far the work is: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from collections import Counter
from contextlib import contextmanager

from inldl._text import printable, say

SILENCE = 20.0  # seconds between two lines where there is no terminal


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


@contextmanager
def progress(total, what):
    """Give a function to call with each finished row."""
    finished = Counter()
    if not sys.stderr.isatty():
        yield _lines(total, what, finished)
    else:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(what, total=total, note="")

            def done(row):
                finished[row.status] += 1
                note = f"{row.cell.method} on {row.cell.dataset}{_troubles(finished)}"
                bar.update(task, advance=1, note=note)

            yield done


def _lines(total, what, finished):
    start = last = time.monotonic()

    def done(row):
        nonlocal last
        finished[row.status] += 1
        count, now = finished.total(), time.monotonic()
        if now - last >= SILENCE or count == total:
            last = now
            left = (now - start) / count * (total - count)
            text = f"{what}: {count} of {total}, about {left:.0f} s left{_troubles(finished)}"
            say(text, err=True)

    return done


def _troubles(finished):
    text = ", ".join(f"{n} {status}" for status, n in sorted(finished.items()) if status != "ok")
    return f" ({text})" if text else ""
