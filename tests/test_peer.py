"""The comparison with python-ldl, which is no dependency of ours."""

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "peer.py"


@pytest.mark.skipif(find_spec("pyldl") is not None, reason="python-ldl is installed")
def test_without_python_ldl_one_sentence_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(BENCHMARK)])
    monkeypatch.syspath_prepend(BENCHMARK.parent)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(BENCHMARK), run_name="__main__")
    assert ended.value.code == (
        "This comparison needs python-ldl beside inldl: pip install python-ldl"
    )
    assert capsys.readouterr() == ("", "")
