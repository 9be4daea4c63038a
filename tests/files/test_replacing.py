"""Files are replaced whole or not at all, and what cannot be written is found out first."""

import errno
import os
import socket
import stat
import subprocess
import sys
import tempfile
import textwrap
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from inldl.files.replacing import check_free, make_folder, replacing, write_text
from inldl.tables import TableFile
from inldl.tables.writing import TableWriter

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs modes, links and limits")


def test_devices_pipes_and_sockets_are_kept(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(os.devnull)
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(tmp_path / "s"))
        for path in (os.devnull, tmp_path / "pipe", tmp_path / "link", tmp_path / "s"):
            for overwrite in (False, True):
                with pytest.raises(OSError, match="is a device or a pipe; name a file to write"):
                    check_free(path, overwrite=overwrite)
    with pytest.raises(OSError, match="is a device or a pipe"):
        write_text(tmp_path / "pipe", "page")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_links_into_nowhere_are_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "none" / "file")
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*none; create it first"):
        check_free(tmp_path / "link")


@pytest.fixture
def locked():
    """Return a folder in which this process may not write."""
    with tempfile.TemporaryDirectory() as folder:  # the folders of tmp_path are closed to others
        os.chmod(folder, 0o555)
        root = os.getuid() == 0
        if root:
            os.setresuid(65534, 65534, 0)
        yield Path(folder)
        if root:
            os.setresuid(0, 0, 0)
        os.chmod(folder, 0o755)


def test_locked_folders_are_found_out(locked):
    with pytest.raises(PermissionError, match=f"Nothing can be written to the folder {locked};"):
        check_free(locked / "out.csv")


def test_locked_folders_are_refused_first(locked):
    with pytest.raises(PermissionError, match="Nothing can be written to the folder"):
        make_folder(locked)
    with pytest.raises(OSError, match=r"cannot be created \(Permission denied\)."):
        make_folder(locked / "new")


def test_a_file_is_no_folder(tmp_path):
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"file cannot be created \(File exists\); choose another\."):
        make_folder(tmp_path / "file")


def test_the_reason_is_told_where_nothing_can_be_removed_either(tmp_path):
    (tmp_path / "file").touch()
    message = r"out\.csv could not be written \(Not a directory\); what"
    path = tmp_path / "file" / "out.csv"
    with pytest.raises(OSError, match=message), replacing(path, overwrite=True):
        pass


def test_failures_of_reading_are_told_as_they_are(tmp_path):
    new = partial(replacing, tmp_path / "out", overwrite=True)
    with pytest.raises(OSError, match=r"^it was changed\.$"), new():
        raise OSError("it was changed.")
    with pytest.raises(FileNotFoundError, match=r"none'$"), new():
        (tmp_path / "none").open()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile_stays(tmp_path, monkeypatch, links):
    if not links:  # as on a memory stick

        def refuse(*paths):
            raise PermissionError(errno.EPERM, "Operation not permitted", *paths)

        monkeypatch.setattr(os, "link", refuse)
    out = tmp_path / "out.csv"

    def write(text):
        with replacing(out, overwrite=False) as part:
            out.write_text("theirs")
            part.write_text(text)

    for number in (2, 3):
        message = rf"out\.csv was created .* unchanged; the result is in .*out-{number}\.csv\.$"
        with pytest.raises(FileExistsError, match=message):
            write(f"new {number}")
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {
        "out.csv": "theirs",
        "out-2.csv": "new 2",
        "out-3.csv": "new 3",
    }
    out.unlink()
    with replacing(out, overwrite=False) as part:
        part.write_text("mine")
    assert out.read_text() == "mine"


def test_what_is_half_written_is_private_and_no_table(tmp_path):
    old, out = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("secret")
    old.chmod(0o600)
    (tmp_path / "plain.csv").touch()
    for path in (old, out):
        with replacing(path, overwrite=True) as part:
            part.write_text("x")
            assert stat.S_IMODE(part.stat().st_mode) == 0o600
            assert part not in set(tmp_path.glob("*.csv"))
    assert stat.S_IMODE(old.stat().st_mode) == 0o600
    assert out.stat().st_mode == (tmp_path / "plain.csv").stat().st_mode


def test_a_table_that_appears_meanwhile_stays(tmp_path):
    table, out = tmp_path / "t.csv", tmp_path / "out.csv"
    table.write_text("x,joy,anger\n1,0.5,0.5\n2,0.5,0.5\n")
    file, nothing = TableFile(table, "joy,anger"), np.zeros((2, 2))

    def write():
        with TableWriter(file, out) as writer:
            for piece in file.pieces():
                writer.write(piece, nothing, nothing, "fraction")
            out.write_text("theirs")

    with pytest.raises(FileExistsError, match=r"the result is in .*out-2\.csv"):
        write()
    assert out.read_text() == "theirs"
    assert (tmp_path / "out-2.csv").read_text() == table.read_text()


def test_texts_keep_links_and_modes(tmp_path):
    real, link = tmp_path / "real.html", tmp_path / "link.html"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    assert write_text(link, "né\n\n") == link
    assert link.is_symlink()
    assert real.read_bytes() == "né\n".encode()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


WRITE = """
    table = read_table(sys.argv[1], "joy,anger")
    limit()
    write_table(table, np.nan_to_num(table.y, nan=0.75), sys.argv[2], overwrite=True)
"""
PAGE = """
    limit()
    write_text(sys.argv[2], "x" * 400_000)
"""
START = """
    import os, resource, sys, tempfile
    import numpy as np
    from inldl.tables import read_table, write_table
    from inldl.files.replacing import write_text

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
"""


def with_full_disk(code, *paths):
    """Run code with a limit on the size of files, which makes writing fail as a full disk does."""
    body = textwrap.indent(textwrap.dedent(code), "    ")
    code = f"{textwrap.dedent(START)}\ntry:{body}\nexcept OSError as error:\n    print(error)\n"
    done = subprocess.run(
        [sys.executable, "-c", code, *paths], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    "suffix",
    ["csv", *(pytest.param(s, marks=pytest.mark.slow) for s in ("parquet", "xlsx", "html"))],
)
def test_full_disk_leaves_the_old_file(tmp_path, suffix):
    path, out = tmp_path / f"t.{suffix}", tmp_path / f"out.{suffix}"
    words = [np.random.default_rng(i).bytes(500).hex() for i in range(300)]
    frame = pd.DataFrame({"x": words, "joy": 0.25, "anger": [0.75, *[None] * 299]})
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    elif suffix == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    else:
        frame.to_csv(path, index=False)
    out.write_text("old")
    told = with_full_disk(PAGE if suffix == "html" else WRITE, path, out)
    assert f"{out} could not be written (" in told
    assert "what was there before is unchanged." in told
    assert out.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == [out.name, path.name]
