"""Kernels are kept on disk, and whatever happens to what is kept, they run."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

from inldl.kernels import compile as _compile
from inldl.progress import listening

CODE = """
from inldl.kernels.compile import kernel

def _twice(x):
    return 2 * x

twice = kernel(_twice)

def _result(x):
    return twice(x) + 1

result = kernel(_result)
"""


@pytest.fixture
def fresh(tmp_path):
    """Return a function that imports two kernels as a new process does."""
    path = tmp_path / "some_kernels.py"
    path.write_text(CODE)

    def load():
        spec = importlib.util.spec_from_file_location("some_kernels", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def hits(kernel):
    return sum(kernel.stats.cache_hits.values())


def test_a_kernel_is_compiled_once(fresh):
    assert fresh().result(3.0) == 7.0
    again = fresh().result
    assert again(3.0) == 7.0
    assert isinstance(again, Dispatcher)
    assert hits(again) == 1


def test_compiling_is_said_once(fresh):
    heard = []
    _compile._say_once.cache_clear()
    with listening(lambda text, share: heard.append(text)):
        for number in (3.0, 3):  # of two types, which are compiled one by one
            fresh().result(number)
    assert heard == ["Compiling for this machine; this takes about 20 s the first time."]


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("size", [0, 40])
def test_a_damaged_cache_is_made_anew(fresh, suffix, size):
    module = fresh()
    module.result(3.0)
    files = list(Path(module.result.stats.cache_path).glob(f"some_kernels*{suffix}"))
    assert len(files) == 2
    for path in files:
        os.truncate(path, size)
    assert fresh().result(3.0) == 7.0
    assert min(path.stat().st_size for path in files) > 40
    healed = fresh().result
    assert healed(3.0) == 7.0
    assert hits(healed) == 1


def test_what_cannot_be_kept_runs(fresh):
    module = fresh()
    folder = Path(module.result.stats.cache_path)
    shutil.rmtree(folder)
    folder.touch()  # no folder, so nothing can be written to it
    assert module.result(3.0) == 7.0


@pytest.mark.skipif(sys.platform != "linux", reason="numba's folder of a user is elsewhere")
def test_a_disk_on_which_nothing_can_be_kept_is_warned_of_once(fresh, tmp_path, monkeypatch):
    (tmp_path / "__pycache__").touch()  # no folder
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    _compile._warn_once.cache_clear()
    with pytest.warns(UserWarning, match="set the environment variable NUMBA_CACHE_DIR") as found:
        module = fresh()
    assert len(found) == 1
    assert module.result(3.0) == 7.0
