"""Show how far a run is: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from collections import Counter
from contextlib import contextmanager

SILENCE = 20.0  # seconds between two lines where there is no terminal


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
            print(text, file=sys.stderr, flush=True)

    return done


def _troubles(finished):
    text = ", ".join(f"{n} {status}" for status, n in sorted(finished.items()) if status != "ok")
    return f" ({text})" if text else ""
