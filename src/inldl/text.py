"""Text for people: counts, lists of names, and lines that any terminal can show."""

import re
import sys
from typing import Any

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but the tab and the newline
_FORMULA = re.compile(r"=|[+@\t\r-].*[(|!]", re.DOTALL)  # "-1" and "@home" are harmless


def counted(number, noun) -> str:
    """Return "1 row", or "1,200 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names, most=8) -> str:
    """Return "a, b, c", or the first names and how many more there are."""
    names = [str(name) for name in names]
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def shortened(text) -> str:
    """Return a text that fits into a sentence: the wrong encoding can make a cell of a file."""
    return text if len(text) <= 40 else f"{text[:37]}..."


def printable(text) -> str:
    r"""Return a text with its control characters spelled out, ESC as ``\x1b``.

    Names in a stranger's file could otherwise move the cursor or rename the window.
    """
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", str(text))


def say(text="", *, err=False) -> None:
    """Print a line; nothing in it can steer the terminal."""
    print(printable(text), file=sys.stderr if err else sys.stdout, flush=True)


def inert(cell: Any) -> Any:
    """Return a cell with an apostrophe in front if a spreadsheet would take it for a formula."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell
