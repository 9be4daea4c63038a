"""The demo of the README does what it says."""

import runpy
from pathlib import Path

import pytest

DEMO = str(Path(__file__).parents[1] / "examples" / "demo.py")


@pytest.mark.parametrize(
    "left_out",
    [
        pytest.param(["chained forests"], id="without chained forests, which takes long"),
        pytest.param([], id="all", marks=pytest.mark.slow),
    ],
)
def test_demo(tmp_path, capsys, left_out):
    demo, picture = runpy.run_path(DEMO), tmp_path / "demo.png"
    for name in left_out:
        del demo["IMPUTERS"][name]
    demo["main"](rate=0.3, seed=0, picture=picture)
    lines = capsys.readouterr().out.split("time\n")[1].split("\n\n")[0].splitlines()
    error = {line[:22].strip(): float(line[22:].split()[0]) for line in lines}
    assert list(error) == ["inldl", *demo["IMPUTERS"]]
    assert min(error, key=error.get) == "inldl"
    assert error["inldl"] < 0.7 * error["column means"]
    assert picture.read_bytes().startswith(b"\x89PNG")
