"""A studio that runs in this process, and requests to it as a browser or a stranger sends them."""

import http.client
import json
import threading
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

from inldl_studio.jobs import Jobs
from inldl_studio.server import listening, make_server
from inldl_studio.workspace import Workspace


class Client:
    """Sends requests to a studio."""

    def __init__(self, workspace, jobs, address):
        self.workspace, self.jobs, self.address = workspace, jobs, address
        parts = urlsplit(address)
        self.host, self.prefix = parts.netloc, parts.path.rstrip("/")

    def raw(self, method, path, body=None, headers=None):
        """Send a request as it is given; return its status, headers and content."""
        connection = http.client.HTTPConnection(self.host, timeout=600)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def ask(self, method, path, body=None, **headers):
        """Send a request as the page does; return its status and what it says."""
        content = body if body is None or isinstance(body, bytes) else json.dumps(body)
        headers = {"Origin": f"http://{self.host}", **headers}
        status, _, answer = self.raw(method, f"{self.prefix}/api/{path}", content, headers)
        return status, json.loads(answer)

    def good(self, method, path, body=None):
        """Do the same for a request that must be fine."""
        status, answer = self.ask(method, path, body)
        assert status == 200, answer
        return answer

    def add(self, name, content):
        """Send a file; return its table."""
        return self.good("POST", f"tables?name={name}", content)

    def set(self, table, **settings):
        """Say something about a table."""
        table = self.good("GET", f"tables/{table['id']}")
        body = {"settings_revision": table["settings_revision"], "settings": settings}
        return self.good("PUT", f"tables/{table['id']}/settings", body)

    def run(self, table, kind, **more):
        """Start a piece of work, wait until it has ended, and return how."""
        run = self.good("POST", f"tables/{table['id']}/runs", {"kind": kind, **more})
        return self.ended(table, run)

    def ended(self, table, run):
        """Wait until a run has ended, and return how."""
        while (run := self.good("GET", f"tables/{table['id']}/runs/{run['id']}"))[
            "status"
        ] == "running":
            time.sleep(0.05)
        return run


@contextmanager
def running_studio(folder, largest=2**20, people=()):
    """Give a client of a studio whose work is kept in a folder."""
    workspace = Workspace(folder)
    jobs = Jobs(workspace)
    with listening(0, shared=bool(people)) as listener:
        server, addresses, once = make_server(workspace, jobs, largest, listener, people)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            client = Client(workspace, jobs, next(iter(addresses.values())))
            client.addresses, client.once = addresses, once
            yield client
        finally:
            server.should_exit = True
            thread.join()
            jobs.close()
