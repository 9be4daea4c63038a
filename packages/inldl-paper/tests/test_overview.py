"""The page of the repeated experiments: what it says about numbers that are known."""

import pandas as pd
import pytest

from inldl_paper.experiments.statistics import nemenyi
from inldl_paper.overview import HALF_A_UNIT, Results, _datasets, _not_separated, _split_by_split
from inldl_paper.study import printed_results


def test_what_the_printed_tables_separate():
    """The critical difference of 7 methods on 10 datasets is 2.949 / sqrt(2) * sqrt(56 / 60)."""
    cosine = _not_separated(nemenyi(printed_results(3)[0], True))
    assert "does not separate WInLDL from LDM, InLDL-p, InLDL-a" in cosine
    assert "does not separate WInLDL from LDM (" in _not_separated(
        nemenyi(printed_results(4)[0], False)
    )


@pytest.mark.parametrize(("difference", "word"), [(0.00004, "less"), (0.002, "more")])
def test_the_largest_difference_is_named(difference, word):
    table = pd.DataFrame(
        {"split": [1, 2], "metric": "cosine", "authors": 0.9, "ours": 0.9, "difference": 0.0}
    )
    table.loc[1, "difference"] = -difference
    text, shown = _split_by_split(table)
    assert text.text.endswith(f"is {difference:.5f}, {word} than half a unit of the fourth digit.")
    assert len(shown.rows) == 2
    assert HALF_A_UNIT == 0.5 * 10**-4


def test_without_the_authors_splits_that_is_said():
    [text] = _split_by_split(pd.DataFrame())
    assert text.text.startswith("SBU3DFE, for which")


def test_datasets_are_in_the_order_of_the_paper():
    assert Results(pd.DataFrame(), {"Gene": "no", "SCUTFBP": "no"}, "").datasets[:2] == [
        "Movie",
        "Scene",
    ]


def test_the_table_of_datasets_has_the_layout_of_the_paper():
    lines = [
        ("SJAFFE", "213 x 243 x 6", "213 x 243 x 6", "same", ""),
        ("Emotion6", "1980 x 1000 x 7", "1980 x 168 x 7", "differs", "other features"),
        ("Gene", "17892 x 36 x 68", "", "not run", "no file"),
    ]
    table = pd.DataFrame(lines, columns=["dataset", "printed", "ours", "verdict", "why"])
    text = _datasets(table).latex()
    assert r"dataset & examples & features & labels \\" in text
    assert r"Emotion6 & 1980 & 168 & 7 \\" in text
    assert r"Gene & 17892 & 36 & 68 \\" in text
    assert "not run" not in text
