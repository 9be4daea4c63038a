"""The command that repeats the experiments of the paper, as a user gives it."""

import re

import numpy as np
import pytest

from inldl.metrics import METRICS
from inldl_paper.experiments import Row, Store
from inldl_paper.experiments.runner import errors_by_size
from inldl_paper.study import plan


def test_other_datasets_are_refused(inldl, tmp_path):
    code, _, err = inldl("reproduce", "--datasets", "Yeast_heat")
    assert code == 1
    assert "not in the paper" in err
    assert len(err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("no_data")
def test_nothing_to_reproduce_is_told_before_anything_runs(inldl, tmp_path):
    code, _, err = inldl("reproduce", "--quick", "--datasets", "Gene", "--out", "again")
    assert code == 1
    assert err.splitlines()[-1].startswith("inldl: None of the paper's datasets is available")
    assert not (tmp_path / "again" / "run.sqlite").exists()


REPRODUCE = ["reproduce", "--quick", "--datasets", "SJAFFE", "--out", "again"]


def check_reproduction(folder):
    """Check the pages, the figures and the tables."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    overview = (folder / "README.md").read_text(encoding="utf-8")
    for text in (page, overview):
        assert "0.9517(.0043)" in text  # the printed number of WInLDL
        assert "within one std" in text
        assert "Not run" in text
        assert "inldl reproduce --datasets SJAFFE --quick" in text
        assert "SJAFFE: seeded ones, because the authors" in text
    for name in ("figure2_relative_error", "figure3_run_time", "figure4_mu", "table1_growth_k"):
        for suffix in ("svg", "pdf", "png"):
            assert (folder / "figures" / f"{name}.{suffix}").stat().st_size > 1000
    for table in (2, 3, 4, 5):
        for suffix in ("csv", "md"):
            assert (folder / "tables" / f"table{table}.{suffix}").exists()
    for name in ("table2", "table3", "table4", "table5_imputed", "table5_zero", "rates_canberra"):
        latex = (folder / "tables" / f"{name}.tex").read_text(encoding="utf-8")
        assert re.search(r"^\\label\{tab:[a-z-]+\}$", latex, re.MULTILINE)
        assert not re.search(r"caption\{(Table|Figure) \d", latex)


@pytest.mark.slow
def test_reproduce_what_an_earlier_run_left(inldl, shared, tmp_path, monkeypatch):
    """All cells but those of WInLDL have a row already, with made-up numbers."""
    monkeypatch.setenv("INLDL_DATA", str(shared))
    cells = plan(["SJAFFE"], quick=True)
    store = Store(tmp_path / "again" / "run.sqlite")
    degrees = np.linspace(0, 0.4, 12).reshape(3, 4)
    made_up = {
        "metrics": dict.fromkeys(METRICS, 0.5),
        "details": {"history": [0.1, 0.01], **errors_by_size(degrees, degrees[::-1])},
        "environment": {"a": "b"},
    }
    for cell in cells:
        if (cell.dataset, cell.method, cell.rate) != ("SJAFFE", "winldl", 0.5):
            store.add(Row(cell, "ok", fit_seconds=0.1, **made_up))
    code, out, err = inldl(*REPRODUCE, "--jobs", "1")
    assert code == 0, err
    assert f"{len(cells)} cells, of which {len(cells) - 5} are done." in out
    assert "Not run: Gene, not asked for." in out
    check_reproduction(tmp_path / "again")


@pytest.mark.slow
def test_reproduce(inldl, shared, tmp_path, monkeypatch):
    monkeypatch.setenv("INLDL_DATA", str(shared))
    code, _, err = inldl(*REPRODUCE, "--jobs", "2")
    assert code == 0, err
    check_reproduction(tmp_path / "again")
