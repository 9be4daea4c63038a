"""Rows on the pages of a table: their names, and the intervals of what was filled in."""

import re

import numpy as np
import pandas as pd

from file_results import model_of, written_of
from inldl.report import completion_map, completion_page, predicted_map, prediction_page
from inldl.report.style import COLUMN
from inldl.tables import TableFile, complete_table, fit_table

LABELS = ["a", "b", "c"]


def rows(n=4, whole=1.0):
    """Return rows before and after as frames that name them, and the ends of intervals."""
    rng = np.random.default_rng(0)
    names = pd.Index([f"town <{number}>" for number in range(n)], name="town")
    after = pd.DataFrame(whole * rng.dirichlet([2, 3, 4], n), index=names, columns=LABELS)
    before = after.mask(rng.random(after.shape) < 0.5)
    before.iloc[0] = [np.nan, np.nan, after.iloc[0, 2]]
    ends = tuple((after * factor).where(before.isna()) for factor in (0.9, 1.1))
    return before, after, ends


def table_of(page):
    """Return the table of rows of a page; pictures are not drawn for it."""
    (table,) = [block for block in page.sections[0].blocks if block.kind == "table"]
    return table


def small(page):
    """Return what stands below the shares of each row."""
    table = table_of(page)
    return [[cell.small for cell in row[1:]] for row in table.cells(table.rows)]


def page_of(before, after, ends=(), coverage=None):
    written = written_of(before, after, LABELS, ends=ends, coverage=coverage)
    return completion_page(written, None, model_of(LABELS), "t.csv", "o.csv")


def test_the_heading_of_ids_is_the_name_of_their_column():
    before, after, _ = rows()
    table = table_of(page_of(before, after))
    assert [column.name for column in table.columns] == ["town", *LABELS]
    assert [row[0] for row in table.rows] == list(after.index)
    unnamed = table_of(page_of(before, after.rename_axis(None)))
    assert unnamed.columns[0].name == "row"


def test_intervals_stand_below_the_shares_that_were_filled_in():
    before, after, ends = rows()
    low, high = (each.to_numpy() for each in ends)
    filled = before.isna().to_numpy()
    assert 0 < filled.sum() < filled.size
    assert small(page_of(before, after, ends, 0.9)) == [
        [f"{low[i, j]:.4f}–{high[i, j]:.4f}" if filled[i, j] else "" for j in range(3)]
        for i in range(len(before))
    ]


def test_what_the_sum_of_a_row_gives_is_said_to_be_exact():
    before, after, (low, high) = rows()
    low.iloc[0, 0] = high.iloc[0, 0] = after.iloc[0, 0]
    assert small(page_of(before, after, (low, high), 0.9))[0][0] == "exact"


def test_the_caption_says_how_many_intervals_contain_the_share():
    before, after, ends = rows()
    page = page_of(before, after, ends, 0.8)
    assert "about 80% of them contain the true share" in table_of(page).caption
    without = page_of(before, after)
    assert "interval" not in table_of(without).caption
    assert not any(map(any, small(without)))


def test_intervals_of_percentages_have_two_decimals():
    before, after, ends = rows(whole=100)
    assert re.fullmatch(r"\d+\.\d\d–\d+\.\d\d", small(page_of(before, after, ends, 0.9))[0][0])


def test_each_predicted_share_has_its_interval():
    _, after, _ = rows()
    ends = 0.9 * after, 1.1 * after
    written = written_of(0 * after, after, LABELS, ends=ends, coverage=0.9)
    page = prediction_page(written, model_of(LABELS), "t.csv", "o.csv")
    assert all(map(all, small(page)))
    assert "about 90% of them contain the true share" in table_of(page).caption


def test_pictures_name_the_rows(drawn_texts):
    before, after, _ = rows()
    for figure in (
        completion_map(before, after, LABELS, width=COLUMN),
        predicted_map(after, LABELS, width=COLUMN),
    ):
        texts = [text.get_text() for text in drawn_texts(figure)]
        assert [text for text in texts if "town" in text] == [*after.index, "town"]


def test_pictures_of_many_rows_name_some_of_them(drawn_texts):
    before, after, _ = rows(60)
    texts = [text.get_text() for text in drawn_texts(completion_map(before, after, LABELS))]
    assert "town (one in 3 is named)" in texts
    assert [text for text in texts if text.startswith("town <")] == list(after.index[::3])


def test_the_page_of_a_file_has_its_ids_and_intervals(tmp_path):
    before, after, _ = rows(40)
    path = tmp_path / "towns.csv"
    before.to_csv(path)
    file = TableFile(path, LABELS, id="town")
    learned = fit_table(file, "winldl")
    asked = {"scale": learned.scale, "coverage": 0.9}
    written = complete_table(file, learned.model, tmp_path / "whole.csv", **asked)
    page = completion_page(written, learned, learned.model, "towns.csv", "whole.csv")
    assert table_of(page).columns[0].name == "town"
    assert [row[0] for row in table_of(page).rows] == list(after.index)
    shown = [text for line in small(page) for text in line if text]
    assert len(shown) == written.n_filled
    assert shown.count("exact") == written.n_exact > 0
