"""The command line: each command calls one function of the library.

Here is how it ends, and how it shows how far the work is.
"""

import os
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from inldl.progress import Listener, listening
from inldl.text import printable, say

SILENCE = 20.0  # seconds between two lines where there is no terminal


def main() -> None:
    """Run the command line; an error that a user can cause is one sentence, not a traceback."""
    _prepare_streams()
    for name in ("SIGTERM", "SIGHUP"):  # the latter is not known everywhere, and nohup ignores it
        number = getattr(signal, name, signal.SIGTERM)
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)
    warnings.showwarning = _warn
    try:
        from inldl.cli.app import app

        app()
    except KeyboardInterrupt:
        interrupted()
    except Exception as error:
        ended = _ended_by(error)
        if isinstance(ended, SystemExit):
            raise ended from None
        if ended:
            interrupted()
        known = isinstance(error, (ValueError, OSError, ImportError, MemoryError))
        if os.environ.get("INLDL_DEBUG") or not known:
            raise
        text = _out_of_memory(error) if isinstance(error, MemoryError) else error
        say(f"inldl: {text}", err=True)
        raise SystemExit(1) from None


def _ended_by(error):
    """Return the signal that an error is due to: one that came while code was compiled or ran."""
    while error is not None and not isinstance(error, (KeyboardInterrupt, SystemExit)):
        error = error.__cause__ or error.__context__
    return error


def _prepare_streams():
    """Make the standard streams take every text, also where the caller has closed them.

    What a closed one is replaced by takes its number too; the next file that is opened would.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
        elif mode == "w" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # "?" for what an ASCII terminal does not know


def _out_of_memory(error):
    """Return a sentence that says what to do."""
    what = f" ({error})" if str(error) else ""
    learns = {"complete", "fit"} & set(sys.argv[1:2])
    fewer = (
        "learn from fewer rows, such as with --learn-from 10000" if learns else "use fewer rows"
    )
    return f"There is not enough memory{what}; {fewer}, or a machine with more memory."


def interrupted() -> NoReturn:
    """Say so, and end."""
    say("inldl: interrupted", err=True)
    raise SystemExit(130) from None


def _end(number, frame):
    """End as after any other error, so that files that are half written are removed."""
    raise SystemExit(128 + number)


def _warn(message, category, filename, lineno, file=None, line=None):
    say(f"inldl: {message}", err=True)


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
