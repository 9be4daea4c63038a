import hashlib
import io
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pooch
import pytest
from scipy.io import savemat

from inldl_paper import catalogue, load, public
from inldl_paper.public import cache_folder


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Give each test a home and a cache of its own, and no data folder."""
    for variable in ("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("INLDL_DATA", raising=False)
    return tmp_path / "home"


def tiny(**names):
    """Return the arrays of a small dataset under the given names, as a .mat file's content."""
    X = np.arange(12.0).reshape(4, 3)
    y = np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0], [0.1, 0.9]])
    content = io.BytesIO()
    savemat(content, {names.get("X", "features"): X, names.get("y", "labels"): y})
    return b"made up".ljust(116) + content.getvalue()[116:]  # else the header tells the time


def git_blob(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Server(ThreadingHTTPServer):
    """Serve `content` as every file, and note what was asked for."""

    def __init__(self, content):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.asked, self.cut, self.endless = content, [], None, False
        self.before_reply = lambda: None
        self.url = f"http://127.0.0.1:{self.server_port}/datasets"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        self.server.before_reply()
        if self.server.content is None:
            self.send_error(404)
            return
        self.send_response(200)
        if self.server.endless:
            self.end_headers()
            with suppress(ConnectionError):
                while True:
                    self.wfile.write(bytes(2**16))
            return
        self.send_header("Content-Length", str(len(self.server.content)))
        self.end_headers()
        self.wfile.write(self.server.content[: self.server.cut])

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    server = Server(tiny())
    monkeypatch.setattr(public, "BASE_URL", server.url)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def add_record(monkeypatch, content, *, name="Tiny", sha256=True, copies=None, n_bytes=None):
    record = public.Record(
        name=name,
        source="made up",
        git_blob=git_blob(content),
        sha256=hashlib.sha256(content).hexdigest() if sha256 else None,
        copies=copies or {},
        n_bytes=n_bytes,
    )
    monkeypatch.setitem(public.records(), name, record)
    return record


@pytest.fixture
def record(monkeypatch):
    return add_record(monkeypatch, tiny())


def cached():
    return sorted(path.name for path in cache_folder().glob("*"))


def test_nothing_there_and_no_network_needed(server):
    entries = {entry.name: entry for entry in catalogue()}
    assert len(entries) == 27
    assert all(entry.path is None for entry in entries.values())
    assert entries["Human_Gene"].alias == "Gene"
    assert entries["Human_Gene"].shape == (17892, 36, 68)
    assert server.asked == []


def test_finds_the_cache(server, record):
    load("Tiny")
    (entry,) = [entry for entry in catalogue() if entry.name == "Tiny"]
    assert entry.path == cache_folder() / "Tiny.mat"


def test_cache_is_where_pooch_has_it():
    assert cache_folder() == Path(pooch.os_cache("inldl"))


@pytest.mark.parametrize("folder", [".", "datasets"])
def test_data_folder_or_a_clone(tmp_path, monkeypatch, server, record, folder):
    path = tmp_path / "data" / folder / "Tiny.mat"
    path.parent.mkdir(parents=True)
    path.write_bytes(tiny())
    monkeypatch.setenv("INLDL_DATA", str(tmp_path / "data"))
    assert load("Tiny").path.samefile(path)
    assert server.asked == []


def test_home_in_the_data_folder(home, monkeypatch, record):
    (home / "data").mkdir(parents=True)
    (home / "data" / "Tiny.mat").write_bytes(tiny())
    monkeypatch.setenv("INLDL_DATA", "~/data")
    assert load("Tiny").path == home / "data" / "Tiny.mat"


def test_data_folder_comes_before_the_cache(tmp_path, monkeypatch, server, record):
    assert load("Tiny").path == cache_folder() / "Tiny.mat"
    monkeypatch.setenv("INLDL_DATA", str(tmp_path))
    (tmp_path / "Tiny.mat").write_bytes(tiny())
    assert load("Tiny").path == tmp_path / "Tiny.mat"


def test_both_forms_of_a_file(tmp_path, monkeypatch):
    """The public form is taken before its copy, and each is checked by its own hash."""
    copy = tiny(y="label_distribution")
    copies = {"Tiny_float32.mat": hashlib.sha256(copy).hexdigest()}
    add_record(monkeypatch, tiny(), sha256=False, copies=copies)
    monkeypatch.setenv("INLDL_DATA", str(tmp_path))
    (tmp_path / "Tiny_float32.mat").write_bytes(copy)
    first = load("Tiny")
    (tmp_path / "Tiny.mat").write_bytes(tiny())
    second = load("Tiny")
    assert (first.path.name, second.path.name) == ("Tiny_float32.mat", "Tiny.mat")
    np.testing.assert_array_equal(first.y, second.y)


def test_missing_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("INLDL_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"INLDL_DATA is '.*nowhere', which is not"):
        load("SJAFFE")


@pytest.mark.parametrize("sha256", [True, False])
def test_other_content_is_refused(tmp_path, monkeypatch, server, sha256):
    record = add_record(monkeypatch, tiny(), sha256=sha256)
    monkeypatch.setenv("INLDL_DATA", str(tmp_path))
    other = tiny() + b"!"
    (tmp_path / "Tiny.mat").write_bytes(other)
    with pytest.raises(ValueError, match="is not the public file") as error:
        load("Tiny")
    found = hashlib.sha256(other).hexdigest() if sha256 else git_blob(other)
    for part in (str(tmp_path / "Tiny.mat"), found, record.hashes[record.file][1], "remove it"):
        assert part in str(error.value)
    assert server.asked == []


def test_without_download(server, record):
    with pytest.raises(FileNotFoundError, match="Tiny is not on this machine") as error:
        load("Tiny", download=False)
    for part in (record.url, str(cache_folder()), "INLDL_DATA"):
        assert part in str(error.value)
    assert server.asked == []


@pytest.mark.parametrize("sha256", [True, False])
def test_once(monkeypatch, server, sha256):
    add_record(monkeypatch, tiny(), sha256=sha256)
    data = load("Tiny")
    assert data.X.shape == (4, 3)
    assert data.path == cache_folder() / "Tiny.mat"
    assert data.path.read_bytes() == tiny()
    np.testing.assert_array_equal(load("Tiny").y, data.y)
    assert server.asked == ["/datasets/Tiny.mat"]
    assert cached() == ["Tiny.mat"]


@pytest.mark.parametrize("sha256", [True, False])
def test_other_content_leaves_nothing(monkeypatch, server, sha256):
    record = add_record(monkeypatch, tiny(), sha256=sha256)
    server.content = tiny(X="other")
    with pytest.raises(ValueError, match="damaged or different file") as error:
        load("Tiny")
    assert record.url in str(error.value)
    assert record.hashes[record.file][1] in str(error.value)
    assert cached() == []


def test_cut_transfer_leaves_nothing_and_can_be_repeated(server, record):
    server.cut = 100
    with pytest.raises((ValueError, OSError), match=r"Tiny.*(damaged|could not)"):
        load("Tiny")
    assert cached() == []
    server.cut = None
    assert load("Tiny").y.shape == (4, 2)


@pytest.mark.parametrize("n_bytes", [len(tiny()), None], ids=["known size", "unknown size"])
def test_what_never_ends_is_refused_and_leaves_nothing(monkeypatch, server, n_bytes):
    record = add_record(monkeypatch, tiny(), n_bytes=n_bytes)
    server.endless = True
    with pytest.raises(ValueError, match=f"longer than {n_bytes or 2**20} bytes") as error:
        public._download(record, largest=2**20)
    assert record.url in str(error.value)
    assert "\n" not in str(error.value)
    assert cached() == []
    server.endless = False
    assert load("Tiny").y.shape == (4, 2)


def test_not_on_the_server(server, record):
    server.content = None
    with pytest.raises(OSError, match=r"Tiny could not be downloaded .*404"):
        load("Tiny")
    assert cached() == []


def test_no_network(monkeypatch, record):
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as closed:
        port = closed.server_port
    monkeypatch.setattr(public, "BASE_URL", f"http://127.0.0.1:{port}")
    with pytest.raises(OSError, match="Tiny could not be downloaded") as error:
        load("Tiny")
    for part in (record.url, str(cache_folder()), "INLDL_DATA"):
        assert part in str(error.value)
    assert error.value.__suppress_context__
    assert cached() == []


def test_a_user_without_a_home(monkeypatch):
    for variable in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable)
    if not hasattr(os, "setresuid") or os.getuid():
        pytest.skip("needs the rights to become a user whom the system does not know")
    os.setresuid(54321, 54321, 0)
    try:
        folder = cache_folder()
        assert len(catalogue()) == 27
    finally:
        os.setresuid(0, 0, 0)
    assert folder.is_relative_to(tempfile.gettempdir())


def test_cache_that_cannot_be_written(home, server, record):
    home.write_text("a file where the folder should be")
    with pytest.raises(OSError, match="Tiny could not be downloaded"):
        load("Tiny")
    assert server.asked == []


LOAD_TINY = """
import sys
from inldl_paper import load, public
public.BASE_URL, digest = sys.argv[1:]
public.records()["Tiny"] = public.Record(
    name="Tiny", source="made up", git_blob="", sha256=digest, copies={})
print(load("Tiny").y.shape)
"""


@pytest.mark.slow
def test_two_processes_at_once(server, record):
    """Both are made to download: no reply is sent before the second request."""
    server.before_reply = threading.Barrier(2, timeout=60).wait
    command = [sys.executable, "-c", LOAD_TINY, server.url, record.sha256]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    both = [subprocess.Popen(command, **pipes) for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=120)
        assert (out.strip(), err) == ("(4, 2)", "")
    assert len(server.asked) == 2
    assert cached() == ["Tiny.mat"]
    assert (cache_folder() / "Tiny.mat").read_bytes() == tiny()
