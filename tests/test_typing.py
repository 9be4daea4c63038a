"""What type checkers and editors see of the package: its names, and parameters of estimators."""

import pytest
from mypy import api

from stubs import LAZY, stub_of

EXAMPLE = """
from inldl import AutoInLDL, TableModel, WInLDL, hide
from inldl.datasets import load_budget_shares
from inldl.methods import KernelRidgeLDL, RegressorLDL

budget = load_budget_shares()
y = hide(budget.y, 0.5, random_state=0)
WInLDL().fit(budget.X, y).predict(budget.X)
AutoInLDL("kernel-ridge", recalibrate="clark", random_state=0, n_jobs=2)
KernelRidgeLDL(kernel="rbf", max_iter=3, n_landmarks=50)
RegressorLDL(n_jobs=2)
TableModel("winldl", cross_fit=None)
"""
WRONG = """
import inldl

inldl.AutoInLDL(n_jobs="two")
inldl.AutoINLDL
"""


@pytest.mark.parametrize("package", LAZY)
def test_the_stubs_name_what_the_packages_have(package):
    if package == "inldl_torch":
        pytest.importorskip("inldl_torch")
    path, text = stub_of(package)
    assert path.read_text("utf-8") == text, "run python tests/helpers/stubs.py --write"


@pytest.mark.slow  # mypy reads the whole package: half a minute
def test_mypy_knows_the_names_and_their_parameters(tmp_path):
    example, wrong = tmp_path / "example.py", tmp_path / "wrong.py"
    example.write_text(EXAMPLE, "utf-8")
    wrong.write_text(WRONG, "utf-8")
    how = ["--strict", "--config-file=", "--follow-imports=silent", "--ignore-missing-imports"]
    found, _, code = api.run([*how, "--cache-dir", str(tmp_path / "cache"), str(example)])
    assert code == 0, found
    found, _, _ = api.run([*how, "--cache-dir", str(tmp_path / "cache"), str(wrong)])
    assert [line.split(":")[1] for line in found.splitlines() if ": error:" in line] == list("45")
