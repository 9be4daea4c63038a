"""The command `inldl studio`."""

from pathlib import Path
from typing import Annotated

import typer

import inldl_studio
from inldl.cli import options as o

_START = "A table to start with; the studio works on a copy of it."
_PORT = "The port to listen on; any free one by default."
_QUIET = "Do not open a browser; open the address that is printed yourself."
_KEPT = "Where to keep the work; by default in INLDL_STUDIO, or where programs keep data."
_LARGEST = "The largest file to accept, in megabytes."
_SHARE = 'Let people in your network work on the same tables, each with an address: "Ada,Emmy".'
_FORGET = "Remove all tables and results of the studio, and exit."


def studio(
    table: Annotated[Path | None, typer.Argument(help=_START, metavar="[TABLE]")] = None,
    port: Annotated[int, typer.Option(help=_PORT, min=0, max=65535, show_default=False)] = 0,
    no_browser: Annotated[bool, o.flag("--no-browser", help=_QUIET)] = False,
    folder: Annotated[Path | None, typer.Option(help=_KEPT)] = None,
    largest: Annotated[int, typer.Option(help=_LARGEST, min=1)] = 1024,
    share: Annotated[str | None, typer.Option(help=_SHARE)] = None,
    forget: Annotated[bool, o.flag("--forget", help=_FORGET)] = False,
) -> None:
    """Work on a table in the browser: look at it, complete it, correct it, download it.

    The page is served on this machine alone, to whoever has its address, unless you --share it.
    Your file stays as it is.

        inldl studio
        inldl studio survey.csv
        inldl studio survey.csv --port 8000 --no-browser
        inldl studio survey.csv --share "Ada,Emmy"
        inldl studio --forget
    """
    if forget:
        inldl_studio.forget(folder)
        return
    most = largest * 2**20
    inldl_studio.serve(
        table, port=port, browser=not no_browser, folder=folder, largest=most, share=share
    )


COMMANDS = (studio,)
