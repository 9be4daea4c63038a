"""A copy of a table with numbers that a user has put in."""

import numpy as np
import pandas as pd
import pytest

from inldl.tables import TableFile
from inldl_studio.work import write_edited

FRAME = pd.DataFrame({"id": ["x", "y"], "a": [0.25, np.nan], "b": [0.75, 0.5]})


def edited(tmp_path, suffix, edits, labels="a,b"):
    path = tmp_path / f"t{suffix}"
    if not path.exists():
        getattr(FRAME, {".xlsx": "to_excel", ".parquet": "to_parquet"}[suffix])(path, index=False)
    before = path.read_bytes()
    write_edited(TableFile(path, labels), tmp_path / f"copy{suffix}", edits)
    assert path.read_bytes() == before
    return tmp_path / f"copy{suffix}"


def test_only_the_edited_cells_of_a_text_change(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'id; a ;b\r\n"x";0,25;0,750\r\ny;;0,5\r\n\r\nNote: end')
    copy = edited(tmp_path, ".csv", [[1, "a", 0.5], [0, "b", 0.7]])
    assert copy.read_bytes() == b'id; a ;b\r\n"x";0,25;0,7\r\ny;0,5;0,5\r\n\r\nNote: end'


@pytest.mark.parametrize("suffix", [".xlsx", ".parquet"])
def test_known_and_missing_cells_of_other_files(tmp_path, suffix):
    pytest.importorskip("openpyxl")
    pytest.importorskip("pyarrow")
    copy = edited(tmp_path, suffix, [[1, "a", 0.5], [0, "b", 0.7]])
    read = pd.read_excel if suffix == ".xlsx" else pd.read_parquet
    assert read(copy)[["a", "b"]].to_numpy().tolist() == [[0.25, 0.7], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        ([0, "c", 0.5], "no label 'c'"),
        ([2, "a", 0.5], "no row 3"),
        ([0, "a", -1.0], "not a share"),
        ([0, "a", np.inf], "not a share"),
    ],
)
def test_edits_that_do_not_fit_are_refused(tmp_path, edit, problem):
    (tmp_path / "t.csv").write_text("a,b\n0.25,0.75\n,0.5\n")
    with pytest.raises(ValueError, match=problem):
        edited(tmp_path, ".csv", [edit])
