"""The demo of the README does what it says."""

import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_demo(tmp_path, monkeypatch, capsys):
    picture, demo = tmp_path / "demo.png", str(ROOT / "examples" / "demo.py")
    monkeypatch.setattr(sys, "argv", [demo, "--picture", str(picture)])
    runpy.run_path(demo, run_name="__main__")
    output = capsys.readouterr().out
    error = {
        line[:28].strip(): float(line[28:].split()[0])
        for line in output.splitlines()
        if line.startswith(("WInLDL", "constant"))
    }
    assert error["WInLDL"] < error["constant: mean of observed"] < error["constant: uniform"]
    assert picture.read_bytes().startswith(b"\x89PNG")
