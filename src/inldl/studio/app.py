"""What the page can ask for; each answer is JSON, a picture, or a file to take along."""

import json
import traceback
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from inldl.studio import parts, uploads
from inldl.studio.desk import Desk
from inldl.studio.jobs import Busy
from inldl.studio.workspace import Changed, NotFound

MOST_JSON = 8 * 2**20  # bytes of a request that is no file
CODES = {NotFound: 404, Changed: 409, Busy: 429, uploads.TooLarge: 413, ValueError: 400}
SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
_WRONG = "This is an error of inldl studio, not of your table; the terminal says more."


def make_app(workspace, jobs, limit):
    """Return the application; `limit` is the size of the largest file, in bytes."""
    desk = Desk(workspace, jobs, limit)

    @asynccontextmanager
    async def lifespan(app):
        yield
        jobs.close()

    table, run = "/api/tables/{table}", "/api/tables/{table}/runs/{run}"
    routes = [
        Route("/", _page(jobs)),
        Route("/assets/{name}", _asset),
        _answering("/api/state", GET=desk.state),
        Route("/api/tables", partial(_upload, desk.add), methods=["POST"]),
        _answering(table, GET=desk.table, DELETE=desk.remove),
        _answering(f"{table}/settings", PUT=desk.set_settings),
        _answering(f"{table}/edits", PUT=desk.set_edit, DELETE=desk.undo_edits),
        Route(f"{table}/others", partial(_upload, desk.add_other), methods=["POST"]),
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
            raise uploads.TooLarge("This request is too large; load the page again.")
    body = json.loads(content or b"{}")
    if not isinstance(body, dict):
        raise ValueError("This request is not understood; load the page again.")
    return body


def _told(request, error):
    """Answer with one sentence."""
    code = next((code for kind, code in CODES.items() if isinstance(error, kind)), 500)
    text = str(error)
    if code == 500 and not isinstance(error, OSError):
        traceback.print_exception(error)
        text = _WRONG
    return JSONResponse({"error": text}, code)


def _page(jobs):
    async def page(request):
        if not request.url.path.endswith("/"):
            return Response(status_code=307, headers={"location": request.url.path + "/"})
        soon = BackgroundTask(jobs.prepare)  # the page comes first
        return Response(parts.read("studio.html"), media_type="text/html", background=soon)

    return page


def _asset(request):
    try:
        content = parts.read(request.path_params["name"])
    except KeyError:
        raise NotFound("There is no such part of the page.") from None
    return Response(content, media_type=parts.kind(request.path_params["name"]))


async def _upload(keep, request):
    """Take a file in, and let `keep` say what becomes of it."""
    given = {**request.query_params, **request.path_params}
    receive = partial(uploads.receive, request, keep.__self__.workspace, keep.__self__.limit)
    return JSONResponse(await keep(given, receive))


def _figure(desk, request):
    path = desk.figure(request.path_params)
    headers = {"content-security-policy": SVG_POLICY}
    return FileResponse(path, media_type="image/svg+xml", headers=headers)


def _file(desk, request):
    path = desk.file(request.path_params)
    return FileResponse(path, media_type="application/octet-stream", filename=path.name)
