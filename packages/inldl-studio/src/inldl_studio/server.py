"""Start the studio: a free port of this machine, a token, and a browser that opens its page."""

import contextlib
import os
import secrets
import shutil
import socket
import threading
import webbrowser
from pathlib import Path
from typing import Any

from inldl.text import say

ADDRESS = "127.0.0.1"


def serve(
    table: str | Path | None = None,
    *,
    port: int = 0,
    browser: bool = True,
    folder: str | Path | None = None,
    largest: int | None = None,
) -> None:
    """Serve the studio until it is interrupted.

    Parameters
    ----------
    table : str or path, optional
        A table to start with; the studio works on a copy.
    port : int
        The port to listen on; 0 takes any that is free.
    browser : bool
        Whether to open a browser.
    folder : str or path, optional
        Where work is kept; the usual folder for data of programs by default.
    largest : int, optional
        The size of the largest file that is taken, in bytes.
    """
    from inldl_studio.app import LARGEST
    from inldl_studio.jobs import Jobs
    from inldl_studio.workspace import Workspace, data_folder

    workspace, largest = Workspace(folder or data_folder()), largest or LARGEST
    with workspace.alone(), listening(port) as listener:
        opened = None if table is None else open_table(workspace, table, largest)
        jobs = Jobs(workspace)
        server, address = make_server(workspace, jobs, largest, listener)
        address += f"#{opened}" if opened else ""
        say(f"The studio is at {address}")
        say(f"It keeps its work in {workspace.folder}. Press Ctrl-C to end it.")
        if browser:
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
        jobs.close()
        say("The studio has ended; its work is kept.")


def forget(folder: str | Path | None = None) -> None:
    """Remove all tables and results of the studio.

    Parameters
    ----------
    folder : str or path, optional
        Where work is kept; the usual folder for data of programs by default.
    """
    from inldl_studio.workspace import Workspace, data_folder

    workspace = Workspace(folder or data_folder())
    with workspace.alone():
        workspace.remove_all()
    say(f"Removed {workspace.folder}")


def make_server(workspace: Any, jobs: Any, largest: int, listener: socket.socket) -> Any:
    """Return a server for a socket, and the address of its page."""
    import uvicorn

    from inldl_studio.app import Guard, make_app

    number, token = listener.getsockname()[1], new_token()
    app = Guard(make_app(workspace, jobs, largest), token, number)
    quiet = {"log_level": "warning", "access_log": False, "server_header": False}
    how: dict[str, Any] = {**quiet, "ws": "none", "proxy_headers": False}
    config = uvicorn.Config(app, **how, timeout_graceful_shutdown=1)
    return uvicorn.Server(config), f"http://{ADDRESS}:{number}/{token}/"


def open_table(workspace: Any, path: str | Path, largest: int) -> str:
    """Return the id of a table like a file: one that is there already, or a new one."""
    from inldl_studio.app import copied

    incoming, name, size, digest = copied(path, workspace, largest)
    for table in workspace.tables():
        if (table["name"], table["digest"]) == (name, digest):
            shutil.rmtree(incoming, ignore_errors=True)
            return table["id"]
    return workspace.add(incoming, name, size, digest)["id"]


def listening(port: int) -> socket.socket:
    """Return a socket that listens on this machine alone."""
    try:
        return socket.create_server((ADDRESS, port))
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise OSError(
            f"Port {port} cannot be used ({reason}); choose another, or leave --port out."
        ) from None


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(24)
