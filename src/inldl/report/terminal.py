"""Print documents on a terminal."""

import sys

from inldl.text import printable, say

PIPE_WIDTH = 110  # characters of a line where nobody says how wide the output is


def show(document):
    """Print a document without what only a page has room for.

    The summary comes last, where it is seen first.
    """
    for text in document.notes:
        say(text)
    for section in document.sections:
        for block in section.blocks if not section.page_only else ():
            if block.kind == "table":
                _print_table(block)
            elif block.kind in _LINES:  # pictures are for pages
                for text in _LINES[block.kind](block):
                    say(text)
    for text in document.summary:
        say(text)


_LINES = {
    **dict.fromkeys(("paragraph", "note", "heading", "code"), lambda block: [block.text]),
    "items": lambda block: [f"- {text}" for text in block.texts],
    "facts": lambda block: [  # one line each, whatever the names
        f"{name}: {value}".replace("\n", " ") for name, value in block.pairs
    ],
}


def _print_table(block):
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
        table.add_row(*(Text(printable(cells[at].text)) for at in shown))
    Console(width=None if sys.stdout.isatty() else PIPE_WIDTH).print(table)
