"""Cells of a table that are chosen together."""

import numpy as np
import pytest

from inldl.tables import TableFile
from inldl_studio.choosing import Area
from inldl_studio.grid import Grid, completed_cells, write_grid

LABELS = [["label", "a"], ["label", "b"]]


@pytest.fixture
def grid(tmp_path):
    (tmp_path / "t.csv").write_text("id,a,b\nx,0.2,\ny,,\nz,0.4,0.6\n")
    file = TableFile(tmp_path / "t.csv", ["a", "b"], id=["id"])
    filled = np.array([[0.2, 0.8], [1 / 3, 2 / 3], [0.4, 0.6]])
    with completed_cells(tmp_path) as add:
        for piece in file.pieces():
            add(piece, filled)
    write_grid(tmp_path, file, "fraction", completed=True)
    return Grid(tmp_path)


def area(grid, edits=(), order=(2, 1, 0), columns=LABELS, **more):
    body = {"top": 0, "bottom": len(order) - 1, "total": len(order), "columns": columns}
    return Area(grid, np.array(order), {**body, **more}, dict(edits))


def test_estimates_are_taken_as_they_are_not_as_they_are_shown(grid):
    found = area(grid, {1: {"b": (0.5, "Ada")}}).filled()
    assert found == [[1, "a", 1 / 3], [0, "b", 0.8]]


def test_copies_have_all_digits_and_the_edits(grid):
    edits = {1: {"a": (None, ""), "b": (0.5, "")}, 2: {"a": (None, "")}}
    columns = [["number", "#"], ["other", "id"], *LABELS]
    assert area(grid, edits, columns=columns).text().splitlines() == [
        "3\tz\t\t0.6",
        "2\ty\t0.3333333333\t0.5",  # it was missing already when the table was completed
        "1\tx\t0.2\t0.8",
    ]


def test_texts_that_are_pasted_stay_within_the_labels(grid):
    columns = [["other", "id"], *LABELS]
    found = area(grid, columns=columns, bottom=1).pasted([["n", "1", "2", "3"], ["m", "4"]])
    assert found == [[2, "a", "1"], [2, "b", "2"], [1, "a", "4"]]
