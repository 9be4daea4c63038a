"""The studio as a command: an address with a token, and work that is found again."""

import http.client
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from inldl.tables import TableFile
from inldl_studio.grid import write_grid
from inldl_studio.server import kept_tokens, listening, open_table
from inldl_studio.workspace import TOKENS, Workspace
from studio_client import Client, running_studio


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
    desk.Desk(workspace.Workspace(folder), None, 1).state({"who": None})
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


@pytest.mark.slow
def test_a_killed_server_loses_nothing_that_it_has_confirmed(tmp_path):
    """Killed at any moment, it has each change as a whole, or not at all."""
    path, place = tmp_path / "t.csv", Workspace(tmp_path / "work")
    path.write_text("name,a,b,c\n" + "".join(f"r{i},0.2,,\n" for i in range(50)))
    table = open_table(place, path, 10**6)
    run = place.new_run(table, "inspect", settings=place.table(table)["settings"], edits=[])
    file = TableFile(place.file_of(table), ["a", "b", "c"])
    write_grid(place.run_folder(table, run["id"]), file, "fraction")
    place.write_run({**run, "status": "done"})
    rng, confirmed, at = random.Random(0), {}, 0
    for _ in range(20):
        command = [
            sys.executable,
            "-m",
            "inldl",
            "studio",
            "--no-browser",
            "--folder",
            place.folder,
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            address = urlsplit(re.search(r"http\S+", process.stdout.readline())[0])
            client = Client(None, None, address.geturl())
            begun = threading.Event()
            given = [client, table, run, at, confirmed, begun]
            sending = threading.Thread(target=send_edits, args=given)
            sending.start()
            begun.wait()
            time.sleep(rng.random() / 5)
            process.kill()
            sending.join()
        at += 1000
        found = {
            tuple(edit[:2]): edit[2] for edit in Workspace(place.folder).table(table)["edits"]
        }
        assert confirmed.keys() <= found.keys()
        lost = {cell for cell, number in confirmed.items() if found[cell] != number}
        assert len(lost) <= 2  # those of the change that was kept, but not confirmed any more
        assert all(found[row, "b"] == found[row, "c"] for row, _ in found)
        confirmed.update(found)
    assert len(Workspace(place.folder).changes(table)) >= len(confirmed) > 0


def send_edits(client, table, run, at, confirmed, begun):
    """Write the same number into two cells of a row at once, row by row, until the server ends."""
    with suppress(OSError, http.client.HTTPException):
        for row in range(50):
            number = round(0.0001 + ((at + row) % 997) / 10_000, 4)
            cells = [[row, "b", str(number)], [row, "c", str(number)]]
            body = {"run": run["id"], "cells": cells, "over": True}
            if client.ask("PUT", f"tables/{table}/edits", body)[0] == 200:
                confirmed.update({(row, "b"): number, (row, "c"): number})
                begun.set()
    begun.set()


def test_addresses_outlast_the_studio_and_only_the_user_can_read_them(tmp_path):
    first = kept_tokens(tmp_path, ["Ada", "Emmy"])
    assert kept_tokens(tmp_path, ["Emmy", "Sofia"])["Emmy"] == first["Emmy"]
    assert (tmp_path / TOKENS).stat().st_mode & 0o077 == 0
    assert kept_tokens(tmp_path, ["Ada"])["Ada"] != first["Ada"]  # she had none in between
    if os.name == "posix":
        known = kept_tokens(tmp_path, ["Ada"])["Ada"]
        (tmp_path / TOKENS).chmod(0o644)  # somebody may have read it
        assert kept_tokens(tmp_path, ["Ada"])["Ada"] != known
    (tmp_path / TOKENS).write_text("[")
    assert len(kept_tokens(tmp_path, ["Ada"])["Ada"]) > 20


def test_everybody_is_told_who_shares_the_studio(tmp_path):
    with running_studio(tmp_path / "work", people=["Ada", "Emmy"]) as client:
        state = client.good("GET", "state")
        assert (state["person"], state["people"]) == ("Ada", ["Ada", "Emmy"])
    with running_studio(tmp_path / "work") as client:
        assert client.good("GET", "state")["people"] == []
