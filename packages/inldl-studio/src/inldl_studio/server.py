"""Start the studio: a free port of this machine, a token, and a browser that opens its page."""

import contextlib
import json
import os
import secrets
import shutil
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from inldl.text import say
from inldl_studio.workspace import TOKENS

ADDRESS = "127.0.0.1"
_SHARED = (
    "Everybody in your network who has one of these addresses can see and change all tables. Give "
    "each to one person. What is sent is not encrypted. With --port, the addresses are the same "
    "next time; that of a name that is left out ends."
)


def serve(
    table: str | Path | None = None,
    *,
    port: int = 0,
    browser: bool = True,
    folder: str | Path | None = None,
    largest: int | None = None,
    share: str | None = None,
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
    share : str, optional
        The names of people, with commas in between, who get an address each that works in the
        local network. Without it, nobody but this machine reaches the studio.
    """
    from inldl_studio.app import LARGEST
    from inldl_studio.jobs import Jobs
    from inldl_studio.workspace import Workspace, data_folder

    workspace, largest = Workspace(folder or data_folder()), largest or LARGEST
    people = people_of(share)
    with workspace.alone(), listening(port, shared=bool(people)) as listener:
        opened = None if table is None else open_table(workspace, table, largest)
        jobs, place = Jobs(workspace), f"#{opened}" if opened else ""
        server, addresses, once = make_server(workspace, jobs, largest, listener, people)
        for name, address in addresses.items():
            say(f"The studio {f'for {name} ' if name else ''}is at {address}{place}")
        if people:
            say(_SHARED)
        say(f"It keeps its work in {workspace.folder}. Press Ctrl-C to end it.")
        if browser:  # whose command line other users of the machine can read
            opening = [once() + place]
            threading.Thread(target=webbrowser.open, args=opening, daemon=True).start()
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


def people_of(share: str | None) -> list[str]:
    """Return the names of people who share the studio."""
    if share is None:
        return []
    names = [name.strip() for name in share.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise ValueError(f'{share!r} is no list of people; write --share "Ada,Emmy".')
    return names


def make_server(
    workspace: Any, jobs: Any, largest: int, listener: socket.socket, people: Sequence[str] = ()
) -> tuple[Any, dict[str, str], Callable[[], str]]:
    """Return a server for a socket, the addresses of its page, and a function.

    There is one address for each of the people, or a single one. The function returns one that
    works a single time, for the first of them.
    """
    import uvicorn

    from inldl_studio.app import LOCAL, Guard, make_app

    number = listener.getsockname()[1]
    host = own_address() if people else ADDRESS
    kept = kept_tokens(workspace.folder, people) if people else {"": new_token()}
    tokens = {token: name for name, token in kept.items()}
    app = Guard(make_app(workspace, jobs, largest, people), tokens, number, {*LOCAL, host})
    quiet = {"log_level": "warning", "access_log": False, "server_header": False}
    how: dict[str, Any] = {**quiet, "ws": "none", "proxy_headers": False}
    config = uvicorn.Config(app, **how, timeout_graceful_shutdown=1)
    addresses = {name: f"http://{host}:{number}/{token}/" for token, name in tokens.items()}

    def once() -> str:
        key = new_token()
        app.once[key] = next(iter(tokens))
        return f"http://{ADDRESS}:{number}/{key}"

    return uvicorn.Server(config), addresses, once


def own_address() -> str:
    """Return the address of this machine in its network; nothing is sent to find it."""
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with probe, contextlib.suppress(OSError):
        probe.connect(("10.255.255.255", 1))
        return probe.getsockname()[0]
    return ADDRESS


def open_table(workspace: Any, path: str | Path, largest: int) -> str:
    """Return the id of a table like a file: one that is there already, or a new one."""
    from inldl_studio.app import copied

    incoming, name, size, digest = copied(path, workspace, largest)
    for table in workspace.tables():
        if (table["name"], table["digest"]) == (name, digest):
            shutil.rmtree(incoming, ignore_errors=True)
            return table["id"]
    return workspace.add(incoming, name, size, digest)["id"]


def listening(port: int, *, shared: bool = False) -> socket.socket:
    """Return a socket that listens on this machine alone, or is shared with its network."""
    try:
        return socket.create_server(("" if shared else ADDRESS, port))
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise OSError(
            f"Port {port} cannot be used ({reason}); choose another, or leave --port out."
        ) from None


def kept_tokens(folder: Path, people: Sequence[str]) -> dict[str, str]:
    """Return the token of each person, the same as last time; only this user can read them.

    Who is no longer named has no address any more.
    """
    path = folder / TOKENS
    try:
        known = json.loads(path.read_text(encoding="utf-8")) if _is_private(path) else {}
    except ValueError:  # damaged
        known = {}
    known = known if isinstance(known, dict) else {}
    tokens = {name: str(known.get(name) or new_token()) for name in people}
    path.unlink(missing_ok=True)
    made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(made, "w", encoding="utf-8") as file:
        json.dump(tokens, file)
    return tokens


def _is_private(path):
    """Return whether a file is there that nobody else may read, where a system knows that."""
    if not path.is_file() or path.is_symlink():
        return False
    found = path.stat()
    return os.name != "posix" or (found.st_mode & 0o077 == 0 and found.st_uid == os.getuid())


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(24)
