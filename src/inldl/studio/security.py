"""Who may talk to the studio: only a page that was opened with its address.

The token is the first part of every path. A cookie would also be sent to the other servers of this
machine, since browsers do not tell the ports of an address apart; a path is not. So no other page
and no other program knows where the studio is, and nothing has to be remembered.
"""

import secrets
from hmac import compare_digest

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


def new_token():
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(24)


class Guard:
    """Refuse requests without the token, or from elsewhere; add headers to all answers.

    The others are answered by `app`, an ASGI application, which sees paths without the token.
    """

    def __init__(self, app, token, port):
        self._app, self._token = app, token.encode()
        self._hosts = {f"{name}:{port}" for name in NAMES}

    async def __call__(self, scope, receive, send):
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
