"""The demo of the README does what it says."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_demo(tmp_path):
    picture = tmp_path / "demo.png"
    command = [sys.executable, ROOT / "examples" / "demo.py", "--picture", picture]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = output.split("time\n")[1].split("\n\n")[0].splitlines()
    error = {line[:22].strip(): float(line[22:].split()[0]) for line in lines}
    assert next(iter(error)) == "inldl"
    assert len(error) == 5
    assert min(error, key=error.get) == "inldl"
    assert error["inldl"] < 0.7 * error["column means"]
    assert picture.read_bytes().startswith(b"\x89PNG")
