"""Documents as data for the page."""

import json
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

from inldl.report.document import (
    Code,
    Document,
    Facts,
    Figure,
    Header,
    Heading,
    Items,
    Note,
    Paragraph,
    Section,
    ShownTable,
)
from inldl_studio.jobs import ProgressLines
from inldl_studio.work import Task, document_data


def drawing():
    figure, axes = plt.subplots(figsize=(2, 1))
    axes.set_title("<script>x</script>")
    plt.close(figure)
    return figure


def broken():
    raise ValueError("nothing to draw.")


BLOCKS = [
    Paragraph("p"),
    Note("n"),
    Heading("h"),
    Code("c"),
    Items(["i"]),
    Facts([("a", "b")]),
    ShownTable(
        [Header("x"), Header("y", ".2f")],
        [["<b>", (0.5, "best", "0.4–0.6")]],
        caption="t",
    ),
    Figure(drawing, "a figure", "f", narrow=drawing),
    Figure(broken, "none"),
]


def test_all_kinds_of_blocks_become_data(tmp_path):
    document = Document("T", ["s"], [("a", "b")], ["note"], [Section("S", BLOCKS)])
    data = json.loads(json.dumps(document_data(document, tmp_path)))
    blocks = data["sections"][0]["blocks"]
    assert [block["kind"] for block in blocks] == [block.kind for block in BLOCKS]
    assert blocks[0]["text"] == "p"
    assert blocks[5]["pairs"] == [["a", "b"]]
    assert blocks[6]["rows"] == [["<b>", ["0.50", "best", "0.4–0.6"]]]
    assert (blocks[7]["number"], blocks[7]["narrow"]) == (0, True)
    assert "nothing to draw" in blocks[8]["problem"]
    for width in ("wide", "narrow"):
        drawn = (tmp_path / "figures" / f"0-{width}.svg").read_text()
        assert drawn.startswith("<svg")
        assert "<script" not in drawn


def test_results_are_plain_numbers(tmp_path):
    path = tmp_path / "files" / "a.csv"
    path.parent.mkdir()
    path.write_text("x")
    more = {"n": np.int64(3), "x": [np.float64(0.5), float("nan")], "rows": ({"a": np.True_},)}
    given = {"settings": {}, "folder": tmp_path, "file": path}
    Task(given, ProgressLines(sys.stdout), []).finish(None, {"table": path}, **more)
    found = json.loads((tmp_path / "result.json").read_text())
    assert (found["n"], found["x"], found["rows"]) == (3, [0.5, None], [{"a": True}])
    assert found["files"]["table"] == {"name": "a.csv", "path": "files/a.csv", "size": 1}


@pytest.mark.parametrize("name", ["main.js", "studio.html"])
def test_the_parts_of_the_page_need_nothing_from_elsewhere(name):
    from inldl_studio.app import read_asset

    content = read_asset(name).decode()
    assert "://" not in content
    assert "innerHTML" not in content
