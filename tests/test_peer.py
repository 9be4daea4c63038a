"""The comparison with python-ldl, which is no dependency of ours."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "peer.py"


@pytest.mark.skipif(find_spec("pyldl") is not None, reason="python-ldl is installed")
def test_without_python_ldl_one_sentence_says_what_to_install():
    done = subprocess.run([sys.executable, BENCHMARK], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "This comparison needs python-ldl beside inldl: pip install python-ldl\n"
    )
