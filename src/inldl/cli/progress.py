"""Show how far the work is: a bar on a terminal, a line now and then elsewhere."""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from inldl.progress import Listener, listening
from inldl.text import printable, say

SILENCE = 20.0  # seconds between two lines where there is no terminal


@contextmanager
def working(text: str, silence: float = SILENCE) -> Iterator[None]:
    """Show what is reported inside: at once on a terminal, else after some seconds of silence."""
    if not sys.stderr.isatty():
        with listening(_lines(text, silence)):
            yield
        return
    from rich.console import Console
    from rich.progress import Progress

    bars = Progress(*_columns(), console=Console(stderr=True), transient=True)
    with bars, listening(_bars(bars, text)):
        yield


def _columns() -> tuple[Any, ...]:
    """Return columns of which a long text is cut, not the bar and the time."""
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    most = max(20, shutil.get_terminal_size().columns - 34)  # what spinner, bar and time leave
    cut = Column(no_wrap=True, max_width=most)
    text = TextColumn("{task.description}", markup=False, table_column=cut)
    return SpinnerColumn(), text, BarColumn(bar_width=20), TimeElapsedColumn()


def _bars(display: Any, text: str) -> Listener:
    """Return a listener with a bar below the text for what has a known share."""
    task = display.add_task(printable(text), total=None)
    part = display.add_task("", total=1.0, visible=False)

    def show(now: str, share: float | None = None) -> None:
        if share is None:
            display.update(task, description=printable(f"{text}: {now}"))
            display.update(part, visible=False)
        else:
            display.update(part, visible=True, description=printable(now), completed=share)

    return show


def _lines(text: str, silence: float) -> Listener:
    """Return a listener that prints a line if nothing was printed for long."""
    last = time.monotonic()

    def show(now: str, share: float | None = None) -> None:
        nonlocal last
        if time.monotonic() - last >= silence:
            last = time.monotonic()
            done = "" if share is None else f" ({share:.0%})"
            say(f"{text}: {now}{done}", err=True)

    return show
