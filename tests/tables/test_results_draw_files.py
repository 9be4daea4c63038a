"""The names of files with draws."""

from pathlib import Path

import pytest

from inldl.tables.results import draw_paths


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("a/whole.csv", "a/whole-draw01.csv"),
        ("whole.csv.gz", "whole-draw01.csv.gz"),
        ("my.survey.parquet", "my.survey-draw01.parquet"),
        ("my.survey.csv.zip", "my.survey-draw01.csv.zip"),
    ],
)
def test_a_draw_keeps_the_ending_of_the_table(path, first):
    paths = draw_paths(path, 12)
    assert len(paths) == 12
    assert paths[0] == Path(first)
    assert "-draw12." in paths[-1].name
