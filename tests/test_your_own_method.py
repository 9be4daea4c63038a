"""The page about one's own method: its blocks run, and its table is what they print."""

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from inldl.specs import split_list
from inldl_paper.experiments import grid
from inldl_paper.experiments.runner import measure

PAGE = (Path(__file__).parents[1] / "docs" / "your_own_method.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(scope="module")
def names():
    """Run the blocks of the page, one after another, in one namespace."""
    page = ModuleType("your_own_method")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, page.__name__, page)  # pickle looks for the class there
        for language, block in BLOCKS:
            if language == "python":
                exec(compile(block, "your_own_method.md", "exec"), vars(page))
    return vars(page)


def test_the_class_is_as_short_as_promised():
    lines = BLOCKS[0][1].partition("class ")[2].splitlines()
    assert sum(bool(line.strip()) for line in lines) <= 20


def test_every_check_of_scikit_learn_passes(names):
    status = [check["status"] for check in names["checks"]]
    assert set(status) <= {"passed", "skipped"}
    assert status.count("passed") > 40


def test_the_shorter_one_passes_them_too(names):
    status = [check["status"] for check in names["short_checks"]]
    assert set(status) <= {"passed", "skipped"}
    assert status.count("passed") > len(names["checks"]) - 5


def test_the_new_method_beats_both_constants(names):
    table = names["table"]
    for constant in ("mean", "uniform"):
        assert table["KernelLDL"]["cosine"] > table[constant]["cosine"]


def test_the_printed_table_is_the_measured_one(names):
    rows = [line for language, block in BLOCKS if not language for line in block.splitlines()]
    assert [row[:18].strip() for row in rows] == list(names["table"])
    for row in rows:
        measured = list(names["table"][row[:18].strip()].values())
        np.testing.assert_allclose([float(x) for x in row[18:].split()], measured, atol=2e-4)


def test_the_command_names_it_beside_ours(tmp_path, monkeypatch):
    command = next(block for language, block in BLOCKS if language == "bash")
    methods = split_list(re.search(r'--methods "(.*?)"', command)[1])
    assert methods[1:] == ["winldl", "constant-mean"]
    declared = '    tunable = {"gamma": (0.1, 1.0)}\n\n    def __init__'
    method = BLOCKS[0][1].replace("    def __init__", declared)
    (tmp_path / "my_method.py").write_text(method, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    both = [methods[0], "my_method:KernelLDL(gamma=tuned)"]
    rows = [measure(cell) for cell in grid(["random(n=40)"], both, rates=[0.5], splits=1)]
    assert [(row.status, row.chosen[:6]) for row in rows] == [("ok", "gamma="), ("ok", "")]
