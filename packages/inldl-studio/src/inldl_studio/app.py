"""What the page can ask for; each answer is JSON, a picture, or a file to download."""

import hashlib
import json
import shutil
import traceback
from collections.abc import Iterable
from contextlib import asynccontextmanager
from functools import partial
from hmac import compare_digest
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from inldl.tables.formats import find_format
from inldl_studio.changing import MISUNDERSTOOD
from inldl_studio.desk import Desk
from inldl_studio.jobs import Busy
from inldl_studio.workspace import Changed, NotFound, file_name

LARGEST = 2**30  # bytes of a file
MOST_JSON = 8 * 2**20  # bytes of a request that is no file
LOCAL = ("127.0.0.1", "localhost")
Received = tuple[Path, str, int, str]  # folder, name, size and digest of a file


class TooLarge(ValueError):
    """A file is larger than the studio takes."""


CODES = {NotFound: 404, Changed: 409, Busy: 429, TooLarge: 413, ValueError: 400}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
_SHARED = {"cross-origin-opener-policy": "unsafe-none"}  # others need encryption, say browsers
_NO_TOKEN = "This address is not complete; open the one that inldl studio printed."
_FOREIGN = "This request comes from another page; open the address that inldl studio printed."
SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
_ASSETS = files("inldl_studio") / "assets"
_OF_REPORTS = {"page.css", "page.js"}  # which are part of the page
NAMES = {path.name for path in _ASSETS.iterdir()} | _OF_REPORTS
_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml",
          "csv": "text/csv"}  # fmt: skip
_WRONG = "This is a bug in inldl studio, not a problem with your table; see the terminal."


def make_app(workspace, jobs, limit, people=()) -> Starlette:
    """Return the application; `limit` is the size of the largest file, in bytes.

    `people` are those who share the studio.
    """
    desk = Desk(workspace, jobs, limit, people)

    @asynccontextmanager
    async def lifespan(app):
        yield
        jobs.close()

    table, run = "/api/tables/{table}", "/api/tables/{table}/runs/{run}"
    routes = [
        Route("/", partial(_page, jobs)),
        Route("/assets/{name}", _asset),
        _answering("/api/state", GET=desk.state),
        _answering("/api/example", POST=desk.add_example),
        Route("/api/tables", partial(_upload, desk, desk.add), methods=["POST"]),
        _answering(table, GET=desk.table, DELETE=desk.remove),
        _answering(f"{table}/settings", PUT=desk.set_settings),
        _answering(f"{table}/edits", PUT=desk.set_edits, DELETE=desk.undo_edits),
        _answering(f"{table}/changes", GET=desk.changes, POST=desk.step),
        _answering(f"{table}/answers", GET=desk.answers),
        _answering(f"{table}/copied", POST=desk.copied),
        Route(f"{table}/changes.csv", partial(_text, desk.list_of_changes, "changes.csv")),
        Route(f"{table}/commands.txt", partial(_text, desk.commands, "commands.txt")),
        Route(f"{table}/others", partial(_upload, desk, desk.add_other), methods=["POST"]),
        _answering(f"{table}/runs", POST=desk.start),
        _answering(run, GET=desk.run, DELETE=desk.stop),
        _answering(f"{run}/result", GET=desk.result),
        _answering(f"{run}/rows", GET=desk.rows),
        _answering(f"{run}/doubtful", GET=desk.doubtful),
        Route(f"{run}/figures/{{number:int}}/{{width}}", partial(_figure, desk)),
        Route(f"{run}/files/{{key}}", partial(_file, desk)),
    ]
    handlers = dict.fromkeys((*CODES, OSError, Exception), _told)
    return Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)


def _answering(path, **handlers):
    """Return a route whose answers are JSON; handlers take path, query and body as one dict."""

    async def answer(request):
        given = {**request.query_params, **request.path_params}
        given["who"] = request.scope.get("person", "")
        if request.method in ("POST", "PUT"):
            given["body"] = await _body(request)
        return JSONResponse(await run_in_threadpool(handlers[request.method], given))

    return Route(path, answer, methods=list(handlers))


async def _body(request):
    """Return the JSON of a request."""
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > MOST_JSON:
            raise TooLarge("This request is too large; load the page again.")
    try:
        body = json.loads(content or b"{}")
    except RecursionError:
        body = None
    if not isinstance(body, dict):
        raise ValueError(MISUNDERSTOOD)
    return body


def _told(request, error):
    """Answer with one sentence."""
    code = next((code for kind, code in CODES.items() if isinstance(error, kind)), 500)
    text = str(error)
    if code == 500 and not isinstance(error, OSError):
        traceback.print_exception(error)
        text = _WRONG
    return JSONResponse({"error": text}, code)


async def _page(jobs, request):
    if not request.url.path.endswith("/"):
        return Response(status_code=307, headers={"location": request.url.path + "/"})
    soon = BackgroundTask(jobs.prepare)  # the page comes first
    return Response(read_asset("studio.html"), media_type="text/html", background=soon)


def read_asset(name) -> bytes:
    """Return a file of the page by its name; those of reports are part of it."""
    if name not in NAMES:
        raise NotFound("There is no such part of the page.")
    # inldl.report is not imported for its files: that takes seconds
    folder = files("inldl") / "report" / "assets" if name in _OF_REPORTS else _ASSETS
    return (folder / name).read_bytes()


def _asset(request):
    name = request.path_params["name"]
    return Response(read_asset(name), media_type=_KINDS[name.rpartition(".")[2]])


async def _upload(desk, keep, request):
    """Take a file in, and let `keep` say what becomes of it."""
    given = {**request.query_params, **request.path_params}
    receive = partial(receive_file, request, desk.workspace, desk.limit)
    return JSONResponse(await keep(given, receive))


def _figure(desk, request):
    path = desk.figure(request.path_params)
    headers = {"content-security-policy": SVG_POLICY}
    return FileResponse(path, media_type="image/svg+xml", headers=headers)


def _file(desk, request):
    path = desk.file(request.path_params)
    return FileResponse(path, media_type="application/octet-stream", filename=path.name)


async def _text(made, ending, request):
    """Answer with a file that is made of what is known of a table."""
    table, text = await run_in_threadpool(made, request.path_params)
    name = f"{Path(table['name']).stem}-{ending}"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    kind = "text/csv" if name.endswith(".csv") else "text/plain"
    return Response(text, media_type=kind, headers=headers)


def size_text(size) -> str:
    """Return a size as people say it."""
    for unit, name in ((2**30, "GB"), (2**20, "MB"), (2**10, "KB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"


def check_size(name, size, limit) -> None:
    """Refuse a file that is too large."""
    if size > limit:
        raise TooLarge(
            f"{name} is larger than {size_text(limit)}; start the studio with a higher "
            "--largest, or use inldl complete."
        )


async def receive_file(request, workspace, limit, name) -> Received:
    """Write the body of a request to a new folder; return folder, name, size and digest."""
    name = file_name(name)
    find_format(Path(name))  # refuses other kinds of files before they are sent
    check_size(name, int(request.headers.get("content-length") or 0), limit)
    folder = workspace.incoming()
    try:
        size, digest = 0, hashlib.sha256()
        with (folder / name).open("xb") as file:
            async for chunk in request.stream():
                size += len(chunk)
                check_size(name, size, limit)
                digest.update(chunk)
                file.write(chunk)
        if not size:
            raise ValueError(f"{name} is empty; it needs a header and rows.")
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, ClientDisconnect):
            raise ValueError(f"{name} did not arrive whole; send it again.") from None
        raise
    return folder, name, size, digest.hexdigest()


def copied(path, workspace, limit) -> Received:
    """Copy a file of this machine to a new folder; return the same."""
    path = Path(path)
    find_format(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}; check its name and its folder.")
    check_size(path, path.stat().st_size, limit)
    folder, name = workspace.incoming(), file_name(path.name)
    shutil.copyfile(path, folder / name)
    with (folder / name).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    return folder, name, path.stat().st_size, digest.hexdigest()


class Guard:
    """Refuse requests without the token, or from elsewhere; add headers to all answers.

    The others are answered by `app`, an ASGI application, which sees paths without the token.

    Only a page that was opened with the address of the studio gets answers. The token is the
    first part of every path. A cookie would also be sent to the other servers of this machine,
    since browsers do not tell the ports of an address apart; a path is not. So no other page and
    no other program knows where the studio is, and nothing has to be remembered.
    """

    def __init__(
        self, app: ASGIApp, tokens: dict[str, str], port: int, hosts: Iterable[str] = LOCAL
    ) -> None:
        self._app, self._tokens = app, tokens  # and who has which
        self._hosts = {f"{name}:{port}" for name in hosts}
        self.once: dict[str, str] = {}  # what opens the page a single time, and its token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets
            raise ValueError("The studio speaks HTTP only.")
        token = scope["path"].partition("/")[2].partition("/")[0]
        problem, app = self._problem(scope, token), self._app
        if not self._foreign(scope) and token in self.once and scope["path"] == f"/{token}":
            app = Response(status_code=303, headers={"location": f"/{self.once.pop(token)}/"})
        elif problem:
            app = PlainTextResponse(problem, 403)
        inside = {**scope, "root_path": f"{scope.get('root_path', '')}/{token}"}
        inside["person"] = self._tokens.get(token, "")
        local = Headers(scope=scope).get("host", "").partition(":")[0] in LOCAL
        await app(inside, receive, _with_headers(send, HEADERS | ({} if local else _SHARED)))

    def _foreign(self, scope):
        """Return whether a request is from elsewhere, or to another name."""
        headers = Headers(scope=scope)
        host, origin, site = map(headers.getlist, ("host", "origin", "sec-fetch-site"))
        if len(host) != 1 or host[0] not in self._hosts:
            return True
        same = [f"http://{host[0]}"]
        if not {"none", "same-origin"}.issuperset(site) or origin not in ([], same):
            return True
        return scope["method"] not in ("GET", "HEAD") and origin != same

    def _problem(self, scope, token):
        """Return why a request is refused, or an empty text."""
        known = [compare_digest(token.encode(), each.encode()) for each in self._tokens]
        return _FOREIGN if self._foreign(scope) else "" if any(known) else _NO_TOKEN


def _with_headers(send, added):
    """Return `send` with the headers of all answers, unless an answer has its own."""

    async def sending(message):
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in added.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
