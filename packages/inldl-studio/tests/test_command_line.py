"""The command of the studio."""

from pathlib import Path


def test_it_passes_on_what_was_asked_for(inldl, monkeypatch):
    asked = []
    stub = {"serve": lambda *table, **how: asked.append((table, how)), "forget": asked.append}
    for name, function in stub.items():
        monkeypatch.setattr(f"inldl_studio.{name}", function)
    assert inldl("studio", "a.csv", "--port", "8000", "--largest", "2", "--folder", "w")[0] == 0
    assert inldl("studio", "--forget")[0] == 0
    how = {"port": 8000, "browser": True, "folder": Path("w"), "largest": 2 * 2**20, "share": None}
    assert asked == [((Path("a.csv"),), how), None]
