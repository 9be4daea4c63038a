"""The command line: each command calls one function of the library."""

import os
import signal
import sys
import warnings
from typing import NoReturn

from inldl.text import say


def main() -> None:
    """Run the command line; an error that a user can cause is one sentence, not a traceback."""
    _prepare_streams()
    signal.signal(signal.SIGTERM, _end)
    warnings.showwarning = _warn
    try:
        from inldl.cli.app import app

        app()
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if os.environ.get("INLDL_DEBUG"):
            raise
        text = _out_of_memory(error) if isinstance(error, MemoryError) else error
        say(f"inldl: {text}", err=True)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        interrupted()
    except SystemError as error:  # a signal that came while compiled code was running
        if isinstance(error.__cause__, SystemExit):
            raise error.__cause__ from None
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        interrupted()


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
