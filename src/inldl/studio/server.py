"""Start the studio: a free port of this machine, a token, and a browser that opens its page.

Only a page that was opened with the address of the studio gets answers. The token is the first
part of every path. A cookie would also be sent to the other servers of this machine, since
browsers do not tell the ports of an address apart; a path is not. So no other page and no other
program knows where the studio is, and nothing has to be remembered.
"""

import contextlib
import secrets
import shutil
import socket
import threading
import webbrowser
from collections.abc import Awaitable, Callable, MutableMapping
from hmac import compare_digest
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from inldl.text import say

ADDRESS = "127.0.0.1"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
NO_TOKEN = "This address is not complete; open the one that inldl studio printed."
FOREIGN = "This request comes from another page; open the address that inldl studio printed."
NAMES = ("127.0.0.1", "localhost")
Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]


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
    _check_installed()
    from inldl.studio.app import LARGEST
    from inldl.studio.jobs import Jobs
    from inldl.studio.workspace import Workspace, data_folder

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


def make_server(workspace: Any, jobs: Any, largest: int, listener: socket.socket) -> Any:
    """Return a server for a socket, and the address of its page."""
    import uvicorn

    from inldl.studio.app import make_app

    number, token = listener.getsockname()[1], new_token()
    app = Guard(make_app(workspace, jobs, largest), token, number)
    quiet = {"log_level": "warning", "access_log": False, "server_header": False}
    how: dict[str, Any] = {**quiet, "ws": "none", "proxy_headers": False}
    config = uvicorn.Config(app, **how, timeout_graceful_shutdown=1)
    return uvicorn.Server(config), f"http://{ADDRESS}:{number}/{token}/"


def open_table(workspace: Any, path: str | Path, largest: int) -> str:
    """Return the id of a table like a file: one that is there already, or a new one."""
    from inldl.studio.app import copied

    incoming, name, size, digest = copied(path, workspace, largest)
    for table in workspace.tables():
        if (table["name"], table["digest"]) == (name, digest):
            shutil.rmtree(incoming, ignore_errors=True)
            return table["id"]
    return workspace.add(incoming, name, size, digest)["id"]


def _check_installed():
    for package in ("starlette", "uvicorn", "jinja2", "matplotlib"):
        if find_spec(package) is None:
            raise ImportError(f"The studio needs {package}: pip install 'inldl[studio]'")


def listening(port: int) -> socket.socket:
    """Return a socket that listens on this machine alone."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
    except OSError as error:
        listener.close()
        raise OSError(
            f"Port {port} cannot be used ({error.strerror}); choose another, or leave --port out."
        ) from None
    listener.listen()
    return listener


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(24)


class Guard:
    """Refuse requests without the token, or from elsewhere; add headers to all answers.

    The others are answered by `app`, an ASGI application, which sees paths without the token.
    """

    def __init__(self, app: Any, token: str, port: int) -> None:
        self._app, self._token = app, token.encode()
        self._hosts = {f"{name}:{port}" for name in NAMES}

    async def __call__(self, scope: Message, receive: Any, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets
            raise ValueError("The studio speaks HTTP only.")
        problem = self._problem(scope)
        if problem:
            await _refuse(send, problem)
            return
        prefix = f"/{self._token.decode()}"
        inside = {**scope, "root_path": scope.get("root_path", "") + prefix}
        await self._app(inside, receive, _with_headers(send))

    def _problem(self, scope):
        """Return why a request is refused, or an empty text."""
        given = {}
        for name, value in scope["headers"]:
            if name in given and name in (b"host", b"origin"):
                return FOREIGN
            given[name] = value
        host = given.get(b"host", b"").decode("latin-1")
        if host not in self._hosts:
            return FOREIGN
        origin, site = given.get(b"origin"), given.get(b"sec-fetch-site", b"none")
        same = f"http://{host}".encode()
        if site not in (b"none", b"same-origin") or origin not in (None, same):
            return FOREIGN
        first = scope["path"].split("/")[1] if "/" in scope["path"] else ""
        if not compare_digest(first.encode(), self._token):
            return NO_TOKEN
        if scope["method"] not in ("GET", "HEAD") and origin != same:
            return FOREIGN
        return ""


async def _refuse(send, problem):
    send = _with_headers(send)
    kind = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 403, "headers": kind})
    await send({"type": "http.response.body", "body": problem.encode()})


def _with_headers(send):
    """Return `send` with the headers of all answers, unless an answer has its own."""

    async def sending(message):
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            kept = [pair for pair in more if pair[0] not in own]
            message = {**message, "headers": [*message["headers"], *kept]}
        await send(message)

    return sending
