"""The demo of the README does what it says."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_demo(tmp_path):
    picture = tmp_path / "demo.png"
    command = [sys.executable, ROOT / "examples" / "demo.py", "--picture", picture]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    error = {
        line[:28].strip(): float(line[28:].split()[0])
        for line in output.splitlines()
        if line.startswith(("WInLDL", "constant"))
    }
    assert error["WInLDL"] < error["constant: mean of observed"] < error["constant: uniform"]
    assert picture.read_bytes().startswith(b"\x89PNG")
