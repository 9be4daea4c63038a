"""The README's examples run, and the demo does what it says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_examples_run(example, capsys):
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out


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
