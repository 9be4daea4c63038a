"""The command that opens a page to work in: studio."""

from pathlib import Path
from typing import Annotated

import typer

from inldl._text import say
from inldl.cli import _options as o

GIVEN = "A table to start with; the studio works on a copy of it."
PORT = "The port to listen on; any free one by default."
QUIET = "Do not open a browser; open the address that is printed yourself."
FOLDER = "Where to keep the work; by default in INLDL_STUDIO, or where programs keep data."
LARGEST = "The largest file to accept, in megabytes."
FORGET = "Remove all tables and results of the studio, and exit."


def studio(
    table: Annotated[Path | None, typer.Argument(help=GIVEN, metavar="[TABLE]")] = None,
    port: Annotated[int, typer.Option(help=PORT, min=0, max=65535, show_default=False)] = 0,
    no_browser: Annotated[bool, o.flag("--no-browser", help=QUIET)] = False,
    folder: Annotated[Path | None, typer.Option(help=FOLDER)] = None,
    largest: Annotated[int, typer.Option(help=LARGEST, min=1)] = 1024,
    forget: Annotated[bool, o.flag("--forget", help=FORGET)] = False,
) -> None:
    """Work on a table in the browser: look at it, complete it, correct it, download it.

    The page is served on this machine alone, to whoever has its address. Your file stays as it
    is.

        inldl studio
        inldl studio survey.csv
        inldl studio survey.csv --port 8000 --no-browser
        inldl studio --forget
    """
    if forget:
        from inldl.studio.workspace import Workspace, data_folder

        place = Workspace(folder or data_folder())
        with place.alone():
            place.remove_all()
        say(f"Removed {place.folder}")
        return
    from inldl.studio import serve

    serve(table, port=port, browser=not no_browser, folder=folder, largest=largest * 2**20)


COMMANDS = (studio,)
