"""What a table with suppressed cells gives away."""

import numpy as np
import pandas as pd
import pytest

from inldl.report.pages.table import disclosure_page
from inldl.tables import TableFile
from inldl.tables.disclosure import audit_table
from inldl.tables.tasks import fit_table

LABELS = ["a", "b", "c", "d"]


def published(tmp_path, counts, hidden, totals=True, mark=None):
    """Return a published table; suppressed cells hold a mark, or are empty."""
    frame = pd.DataFrame(counts, columns=LABELS)
    shown = frame.astype(object).mask(hidden, mark).assign(n=counts.sum(axis=1))
    if totals:
        shown.loc[len(shown)] = [*counts.sum(axis=0), counts.sum()]
    path = tmp_path / "table.csv"
    shown.assign(area=[f"r{k}" for k in range(len(shown))]).to_csv(path, index=False)
    options = {"total": "n", "id": "area"} | ({"column_totals": "last-row"} if totals else {})
    return TableFile(path, LABELS, **options)


def audited(file, **how):
    fit = fit_table(file, "winldl")
    return audit_table(file, fit.model, scale=fit.scale, **how)


@pytest.fixture
def counts():
    return np.random.default_rng(0).poisson(12, (12, 4)) + 8


def test_a_cell_alone_in_its_row_is_computed_and_three_more_protect_it(
    tmp_path, counts, without_trees
):
    hidden = np.zeros(counts.shape, bool)
    hidden[3, 1] = True
    found = audited(published(tmp_path, counts, hidden))
    (cell,) = found.cells.to_dict("records")
    assert cell["kind"] == "computed"
    assert cell["row"] == 4
    assert cell["area"] == "r3"
    assert cell["least"] == cell["most"] == cell["estimate"] == counts[3, 1]
    assert found.n_open == 0
    # The smallest set closes a rectangle: one in the row, one in the column, one across.
    assert len(found.further) == 3
    rows, labels = found.further["row"] - 1, found.further["label"].map(LABELS.index)
    assert (rows == 3).sum() == (labels == 1).sum() == 1
    also = hidden.copy()
    also[rows, labels] = True
    assert audited(published(tmp_path, counts, also)).count("computed", "narrow") == 0


def test_without_totals_of_columns_one_more_in_the_row_is_enough(tmp_path, counts, without_trees):
    hidden = np.zeros(counts.shape, bool)
    hidden[[3, 5], [1, 2]] = True
    found = audited(published(tmp_path, counts, hidden, totals=False))
    assert found.count("computed") == 2
    assert len(found.further) == 2
    assert sorted(found.further["row"]) == [4, 6]


def test_a_cycle_of_suppressed_cells_is_safe_but_bounds_may_narrow_it(
    tmp_path, counts, without_trees
):
    hidden = np.zeros(counts.shape, bool)
    hidden[np.ix_([2, 6], [0, 3])] = True
    found = audited(published(tmp_path, counts, hidden))
    assert found.count("computed", "narrow") == 0
    assert len(found.further) == 0
    truth = counts[hidden]
    assert (found.cells["least"] <= truth).all()
    assert (found.cells["most"] >= truth).all()
    at = int(counts[hidden].min())
    found = audited(published(tmp_path, counts, hidden, mark=f"{at}-{at + 40}"))
    assert (found.cells["least"] >= at).all()


def test_a_suppressed_sum_of_rows_is_computed_from_its_rows(tmp_path, counts, without_trees):
    frame = pd.DataFrame(counts, columns=LABELS).assign(region=["North", "South"] * 6)
    sums = frame.groupby("region")[LABELS].sum().reset_index().rename(columns={"region": "area"})
    table = pd.concat([frame.assign(area=[f"r{k}" for k in range(12)]), sums])
    table["n"] = table[LABELS].sum(axis=1)
    table.loc[table["area"] == "North", "c"] = np.nan
    path = tmp_path / "regions.csv"
    table.to_csv(path, index=False)
    found = audited(TableFile(path, LABELS, total="n", id="area", parent="region"))
    (cell,) = found.cells.to_dict("records")
    assert (cell["area"], cell["label"], cell["kind"]) == ("North", "c", "computed")
    assert cell["least"] == cell["estimate"] == counts[::2, 2].sum()
    assert found.n_open == 1


def test_narrow_ranges_count_by_how_near_they_are(tmp_path, counts, without_trees):
    counts[[2, 6], [0, 0]] = 1000, 1100
    counts[[2, 6], [3, 3]] = 12, 10  # these can change by 22 at most
    hidden = np.zeros(counts.shape, bool)
    hidden[np.ix_([2, 6], [0, 3])] = True
    file = published(tmp_path, counts, hidden)
    assert audited(file).count("narrow") == 2
    assert audited(file, near=0.001).count("narrow") == 0


def test_the_page_and_the_command_say_so(tmp_path, counts, without_trees, without_figures, inldl):
    hidden = np.zeros(counts.shape, bool)
    hidden[3, 1] = True
    file = published(tmp_path, counts, hidden)
    page = disclosure_page(audited(file), "table.csv")
    assert "Anybody can compute 1 of them exactly" in page.summary[0]
    assert "If 3 further cells were suppressed, too, none of them" in page.summary[-1]
    path, out = tmp_path / "audit.html", tmp_path / "cells.csv"
    command = ["audit", str(file.path), "-l", "a,b,c,d", "--total", "n", "--id", "area"]
    how = ["--column-totals", "last-row", "-m", "winldl", "--page", str(path), "-o", str(out)]
    code, told, _ = inldl(*command, *how)
    assert code == 3
    assert "Anybody can compute 1 of them exactly" in told
    assert path.exists()
    assert pd.read_csv(out)["kind"].tolist() == ["computed", "suppress", "suppress", "suppress"]
