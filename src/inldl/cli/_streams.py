"""What is printed must arrive, whatever the terminal, and must not steer it."""

import os
import re
import sys

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but the tab and the newline


def prepare():
    """Make the standard streams take every text, also where the caller has closed them.

    What a closed one is replaced by takes its number too; the next file that is opened would.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
        elif mode == "w" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # "?" for what an ASCII terminal does not know


def printable(text):
    r"""Return a text with its control characters spelled out, ESC as ``\x1b``.

    Names in a stranger's file could otherwise move the cursor or rename the window.
    """
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", str(text))
