"""Pictures for screens of all widths: they are drawn again for narrow ones."""

from collections.abc import Callable
from functools import partial
from typing import Any

from .document import Block, Figure, Table
from .style import COLUMN


def picture(draw: Callable[..., Any], caption: str, name: str = "", when: str = "") -> Figure:
    """Return a picture; `draw` takes the `width` of the figure."""
    return Figure(draw, caption, name, partial(draw, width=COLUMN), when=when)


def picture_and_table(draw: Callable[..., Any], caption: str, table: Table) -> list[Block]:
    """Return a picture, and the table with its numbers, whose name it has."""
    return [picture(draw, caption, table.name), table]
