"""Windows of a table: sorted, filtered, with what was filled in."""

import json

import numpy as np
import pandas as pd
import pytest

from inldl.tables import TableFile
from inldl_studio.grid import (
    EDITED,
    EMPTIED,
    FILLED,
    KNOWN,
    MISSING,
    Grid,
    completed_cells,
    write_grid,
)

TEXTS = ["Zoë", "=1+1", "<b>x</b>", 'a "b", c', ""]


@pytest.fixture
def grid(tmp_path):
    before = pd.DataFrame({"id": range(5), "text": TEXTS, "size": [10, 9, 100, 1, 2]})
    before = before.assign(a=[0.2, np.nan, 0.5, np.nan, 0.1], b=[0.8, np.nan, np.nan, 0.3, 0.9])
    filled = np.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5], [0.7, 0.3], [0.1, 0.9]])
    holes = before[["a", "b"]].isna().to_numpy()
    width = np.array([0.2, 0.1]) + 0.001 * np.arange(5)[:, None]
    ends = np.stack([filled - width, filled + width], axis=2)
    ends = np.where(holes[:, :, None], ends, np.nan).reshape(5, 4)
    before.to_csv(tmp_path / "before.csv", index=False)
    file = TableFile(tmp_path / "before.csv", ["a", "b"], id=["id"])
    with completed_cells(tmp_path) as add:
        for piece in file.pieces():
            add(piece, filled, ends)
    write_grid(tmp_path, file, "fraction", completed=True, intervals=True)
    return Grid(tmp_path)


def test_rows_come_as_they_are(grid):
    assert grid.facts["n_rows"] == 5
    assert grid.others == ["id", "text", "size"]
    rows = grid.window(grid.order(), 0, 100, {})
    assert [row["texts"][1] for row in rows] == TEXTS
    assert rows[0]["cells"] == [["0.2", KNOWN, 0.2], ["0.8", KNOWN, 0.8]]  # as in the file
    assert rows[1]["cells"][0] == ["0.6000", FILLED, 0.6, "0.3990 to 0.8010"]
    assert grid.window(grid.order(), 3, 1, {})[0]["row"] == 3
    assert grid.window(grid.order(), 99, 10, {}) == []
    json.dumps(rows, allow_nan=False)


def test_known_shares_have_the_decimals_of_the_file(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n81.1,18.9\n25.0,75.0\n")
    write_grid(tmp_path, TableFile(tmp_path / "t.csv", ["a", "b"]), "percent")
    grid = Grid(tmp_path)
    shown = [[cell[0] for cell in row["cells"]] for row in grid.window(grid.order(), 0, 2, {})]
    assert shown == [["81.1", "18.9"], ["25.0", "75.0"]]


def test_edits_lie_over_the_rows(grid):
    cells = grid.window(grid.order(), 1, 1, {1: {"a": (0.25, "Ada")}})[0]["cells"]
    assert cells[0] == ["0.25", EDITED, 0.25, "", "Ada"]
    assert cells[1][1] == FILLED


def test_a_cell_that_was_made_missing_shows_its_estimate(grid):
    row = grid.row(1, {"a": (None, "Ada"), "b": (0.3, "")})
    assert row["cells"][0] == ["0.6000", EMPTIED, 0.6, "0.3990 to 0.8010", "Ada"]
    known = grid.row(0, {"a": (None, "Ada")})  # the table was not completed since
    assert known["cells"][0] == ["", EMPTIED, 0, "", "Ada"]


@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        ({"sort": "a"}, [4, 0, 2, 1, 3]),
        ({"sort": "a", "down": True}, [3, 1, 2, 0, 4]),
        ({"sort": "size"}, [3, 4, 1, 0, 2]),
        ({"sort": "text"}, [2, 1, 3, 0, 4]),
        ({"sort": "text", "down": True}, [0, 3, 1, 2, 4]),
        ({"find": "ZOË"}, [0]),
        ({"find": 'a "b"'}, [3]),
        ({"find": "nothing"}, []),
        ({"only": "filled"}, [1, 2, 3]),
        ({"only": "filled", "sort": "b"}, [3, 1, 2]),
    ],
)
def test_sorting_and_finding(grid, asked, rows):
    assert grid.order(**asked).tolist() == rows
    assert grid.order(**asked) is grid.order(**asked)


def test_unknown_columns_are_refused(grid):
    with pytest.raises(ValueError, match="no such column"):
        grid.order(sort="../x")


def test_the_widest_intervals_come_first(grid):
    labels = [[position, grid.labels[label]] for position, label in grid.doubtful(grid.order())]
    assert labels == [[3, "a"], [1, "a"], [2, "b"], [1, "b"]]
    assert grid.doubtful(grid.order(find="=1+1")) == [[0, 0], [0, 1]]


def test_what_a_row_leaves(grid):
    assert grid.left(3, "a", {}) == pytest.approx(0.7)
    assert grid.left(1, "a", {"b": 0.4}) == pytest.approx(0.6)


def test_a_table_that_is_not_completed_has_holes(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n10,5;\n20;80\n")
    write_grid(tmp_path, TableFile(tmp_path / "t.csv", ["a", "b"]), "percent")
    grid = Grid(tmp_path)
    assert grid.window(grid.order(), 0, 1, {})[0]["cells"] == [
        ["10.5", KNOWN, 0.105],
        ["", MISSING, 0],
    ]
    assert grid.doubtful(grid.order()) == []
    assert grid.facts["whole"] == 100


def test_a_window_has_an_end(tmp_path):
    lines = "\n".join(f"{i},0.5,0.5" for i in range(2000))
    (tmp_path / "t.csv").write_text(f"id,a,b\n{lines}\n")
    write_grid(tmp_path, TableFile(tmp_path / "t.csv", ["a", "b"]), "fraction")
    grid = Grid(tmp_path)
    assert len(grid.window(grid.order(), 0, 10**9, {})) == 500
    assert [row["row"] for row in grid.window(grid.order(), 1990, 100, {})] == list(
        range(1990, 2000)
    )
