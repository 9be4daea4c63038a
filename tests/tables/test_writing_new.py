"""Tables that no file was read from."""

import numpy as np
import pandas as pd
import pytest
from openpyxl import load_workbook

from inldl.tables import TableFile
from inldl.tables.table import Format
from inldl.tables.writing import write_frame

FRAME = pd.DataFrame({"row": [1, 2], "label": ["=1+1", 'a "b", c'], "x": [0.25, np.nan]})


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.xlsx", "t.parquet"])
def test_frames_come_back_as_they_were(tmp_path, name):
    write_frame(FRAME, tmp_path / name)
    piece = next(TableFile(tmp_path / name, None).pieces(list(FRAME), {"label"}))
    assert piece.features["label"].tolist() == FRAME["label"].tolist()
    np.testing.assert_array_equal(piece.features["x"], FRAME["x"])


def test_text_is_no_formula(tmp_path):
    write_frame(FRAME, tmp_path / "t.xlsx")
    assert load_workbook(tmp_path / "t.xlsx").active["B2"].data_type == "s"


def test_signs_are_those_of_a_file_that_it_goes_with(tmp_path):
    like = Format("text", delimiter=";", decimal=",", bom=b"\xef\xbb\xbf")
    write_frame(FRAME, tmp_path / "t.csv", like=like)
    assert (tmp_path / "t.csv").read_bytes().startswith(b"\xef\xbb\xbfrow;label;x\n1;=1+1;0,25\n")


def test_files_stay_unless_they_may_go(tmp_path):
    write_frame(FRAME, tmp_path / "t.csv")
    with pytest.raises(FileExistsError, match="exists already"):
        write_frame(FRAME, tmp_path / "t.csv")
    write_frame(FRAME.iloc[:1], tmp_path / "t.csv", overwrite=True)
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 2
    with pytest.raises(ValueError, match="not a known kind of table"):
        write_frame(FRAME, tmp_path / "t.doc")
