"""Print documents on a terminal."""

import sys

from inldl._text import printable, say

PIPE_WIDTH = 110  # characters of a line where nobody says how wide the output is


def show(document):
    """Print a document without what only a page has room for.

    The summary comes last, where it is seen first.
    """
    for text in document.notes:
        say(text)
    for section in document.sections:
        for block in section.blocks if not section.page_only else ():
            if block.kind in _PRINTERS:  # pictures are for pages
                _PRINTERS[block.kind](block)
    for text in document.summary:
        say(text)


def _items(block):
    for text in block.texts:
        say(f"- {text}")


def _facts(block):
    for name, value in block.pairs:
        say(" ".join(f"{name}: {value}".split("\n")))  # one line each, whatever the names


def _table(block):
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = [at for at, column in enumerate(block.columns) if not column.page_only]
    # Names may be long, and are folded; numbers and remarks are short.
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for at in shown:
        column = block.columns[at]
        if column.words or at == 0:
            table.add_column(column.name, overflow="fold")
        else:
            table.add_column(column.name, justify="right", no_wrap=True)
    for cells in block.cells([*block.rows, *block.foot]):
        table.add_row(*(Text(printable(cells[at][0])) for at in shown))
    Console(width=None if sys.stdout.isatty() else PIPE_WIDTH).print(table)


def _text(block):
    say(block.text)


_PRINTERS = {
    "paragraph": _text,
    "note": _text,
    "heading": _text,
    "code": _text,
    "items": _items,
    "facts": _facts,
    "table": _table,
}
