"""The paper again: the printed numbers are the printed ones, and ours come out as they should."""

import json

import numpy as np
import pytest

from inldl_paper.experiments import Store
from inldl_paper.experiments.runner import measure
from inldl_paper.study import (
    DATASETS,
    PRINTED_SHAPES,
    comparison,
    paper_names,
    plan,
    printed_results,
    shapes,
    verdict,
)


@pytest.fixture(scope="module")
def rows(shared, tmp_path_factory):
    """Return the rows of WInLDL, IIS-LDL, InLDL-p and InLDL-a on the authors' splits."""
    store = Store(tmp_path_factory.mktemp("reproduce") / "run.sqlite")
    wanted = ("winldl", "iis-ldl-published", "inldl-p-published", "inldl-a-published")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INLDL_DATA", str(shared))
        for cell in plan(["SBU3DFE"]):
            if cell.method in wanted and cell.dataset == "SBU_3DFE":
                store.add(measure(cell))
        yield store.frame()


def test_printed_tables(shared):
    source = json.loads((shared / "reference" / "paper_tables.json").read_text())
    for table, key in ((4, "cosine"), (5, "clark"), (6, "weighting_cosine")):
        mean, std = printed_results(table)
        for name, row in source[key].items():
            for method, expected in row.items():
                assert [mean.loc[name, method], std.loc[name, method]] == expected
        assert mean.size == std.size == sum(len(row) for row in source[key].values())
    assert {name: [*row] for name, row in PRINTED_SHAPES.T.items()} == source["datasets"]


@pytest.mark.slow
def test_sbu_3dfe_as_the_authors_print_it(rows):
    """Four methods on the authors' own splits: every mean is the printed one, or next to it."""
    for table, digits in ((4, 1e-4), (5, 2e-4)):
        found = comparison(rows, table)
        here = found[found["verdict"] != "not run"].set_index("method")
        assert set(here.index) == {"WInLDL", "IIS-LDL", "InLDL-p", "InLDL-a"}
        assert (here["ours"] - here["printed"]).abs().max() < digits
        assert (here["ours_std"] - here["printed_std"]).abs().max() < digits
        assert here.loc[["WInLDL", "IIS-LDL"], "verdict"].eq("same").all()


@pytest.mark.slow
def test_what_did_not_run_is_listed(rows):
    found = comparison(rows, 4)
    assert {*found["dataset"]} == {*DATASETS}
    missing = found[found["dataset"] == "Gene"]
    assert missing["verdict"].eq("not run").all()
    assert missing["ours"].isna().all()
    assert missing["printed"].notna().all()


@pytest.mark.parametrize(
    ("ours", "expected"),
    [(0.50004, "same"), (0.51, "within one std"), (0.49, "within one std"), (0.53, "differs")],
)
def test_verdict(ours, expected):
    assert verdict(0.5, 0.02, ours)[1] == expected


@pytest.mark.slow
def test_a_failed_split_is_not_averaged_away(rows):
    failed = rows.copy()
    first = failed.index[failed["method"] == "winldl"][0]
    failed.loc[first, ["status", "reason"]] = ["failed", "no memory"]
    found = comparison(failed, 4).set_index(["dataset", "method"])
    assert found.loc[("SBU3DFE", "WInLDL"), ["verdict", "why"]].tolist() == ["failed", "no memory"]
    assert np.isnan(found.loc[("SBU3DFE", "WInLDL"), "ours"])


def test_shapes(shared, monkeypatch):
    monkeypatch.setenv("INLDL_DATA", str(shared))
    there = ("SJAFFE", "Emotion6")
    table = shapes({name: "no" for name in DATASETS if name not in there}).set_index("dataset")
    assert table.loc["SJAFFE", "verdict"] == "same"
    assert table.loc["Emotion6", ["ours", "verdict"]].tolist() == ["1980 x 168 x 7", "differs"]
    assert table.loc["Gene", "verdict"] == "not run"


def test_names_of_the_paper():
    assert paper_names("Natural_Scene, sbu3dfe") == ["Scene", "SBU3DFE"]
    with pytest.raises(ValueError, match="Yeast_heat is not in the paper"):
        paper_names("Yeast_heat")
