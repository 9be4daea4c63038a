"""The command of the studio, which is in a package of its own."""

import sys
from pathlib import Path

import pytest

MISSING = (
    "inldl: inldl studio needs the package inldl-studio: pip install inldl-studio (in a clone of "
    "inldl: pip install ./packages/inldl-studio)\n"
)


@pytest.mark.parametrize("options", [[], ["--forget"]])
def test_without_its_package_it_says_what_to_install(inldl, monkeypatch, options):
    monkeypatch.setitem(sys.modules, "inldl_studio", None)
    assert inldl("studio", *options) == (1, "", MISSING)
    code, help, _ = inldl("studio", "--help")
    assert code == 0
    assert "--no-browser" in help


def test_it_passes_on_what_was_asked_for(inldl, monkeypatch):
    pytest.importorskip("inldl_studio")
    asked = []
    stub = {"serve": lambda *table, **how: asked.append((table, how)), "forget": asked.append}
    for name, function in stub.items():
        monkeypatch.setattr(f"inldl_studio.{name}", function)
    assert inldl("studio", "a.csv", "--port", "8000", "--largest", "2", "--folder", "w")[0] == 0
    assert inldl("studio", "--forget")[0] == 0
    how = {"port": 8000, "browser": True, "folder": Path("w"), "largest": 2 * 2**20, "share": None}
    assert asked == [((Path("a.csv"),), how), None]
