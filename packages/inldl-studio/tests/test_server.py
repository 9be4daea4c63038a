"""The studio as a command: an address with a token, and work that is found again."""

import http.client
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from inldl_studio.server import listening, open_table
from inldl_studio.workspace import Workspace


def test_the_same_file_is_opened_once(tmp_path):
    place, path = Workspace(tmp_path / "work"), tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")
    first = open_table(place, path, 100)
    assert open_table(place, path, 100) == first
    path.write_text("a,b\n1,3\n")
    assert open_table(place, path, 100) != first
    assert len(place.tables()) == 2
    assert list((place.folder / "incoming").iterdir()) == []


def test_files_that_cannot_be_opened(tmp_path):
    place, path = Workspace(tmp_path / "work"), tmp_path / "a.csv"
    with pytest.raises(FileNotFoundError, match="There is no file"):
        open_table(place, path, 100)
    with pytest.raises(ValueError, match="known kind of table"):
        open_table(place, tmp_path / "a.pdf", 100)
    path.write_text("a,b\n" * 100)
    with pytest.raises(ValueError, match=r"larger than 100 bytes"):
        open_table(place, path, 100)


def test_only_this_machine_is_listened_to():
    with listening(0) as listener:
        host, port = listener.getsockname()
        assert host == "127.0.0.1"
        with pytest.raises(OSError, match=f"Port {port} cannot be used"):
            listening(port)


# What a page without the help of a process may not wait for.
HEAVY = {"numba", "scipy", "sklearn", "pandas", "matplotlib", "numpy"}


def test_nothing_heavy_is_imported_before_the_page_is_there():
    code = """
import sys, tempfile
from inldl.cli import tables
import inldl_studio.app, inldl_studio.jobs, inldl_studio.server
from inldl_studio import app, desk, workspace
for name in app.NAMES:
    app.read_asset(name)
with tempfile.TemporaryDirectory() as folder:
    desk.Desk(workspace.Workspace(folder), None, 1).state({})
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY.isdisjoint(done.stdout.split())


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_the_command_prints_an_address_that_works(tmp_path):
    Path(tmp_path, "a.csv").write_text("a,b\n1,2\n")
    command = [sys.executable, "-m", "inldl", "studio", "a.csv", "--no-browser", "--folder", "w"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        address = urlsplit(re.search(r"http\S+", process.stdout.readline())[0])
        assert "Press Ctrl-C" in process.stdout.readline()
        for path, status in ((address.path, 200), ("/", 403)):
            connection = http.client.HTTPConnection(address.netloc)
            connection.request("GET", path)
            assert connection.getresponse().status == status
            connection.close()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert "its work is kept" in process.stdout.read()
    assert process.returncode == 0
    assert Path(tmp_path, "w", "tables", address.fragment, "file", "a.csv").is_file()
    forget = [*command[:4], "--forget", "--folder", "w"]
    subprocess.run(forget, cwd=tmp_path, check=True, capture_output=True)
    assert not Path(tmp_path, "w").exists()
