"""The paper again: the printed numbers are the printed ones, and ours come out as they should."""

import json

import numpy as np
import pytest

from inldl.specs import parse
from inldl_paper.experiments import RATES, Store, authors_split
from inldl_paper.experiments.runner import measure
from inldl_paper.study import (
    BASE,
    DATASETS,
    GROWING_SIZES,
    PRINTED_SHAPES,
    comparison,
    growth_cells,
    paper_names,
    plan,
    printed_results,
    printed_runs,
    run_by_run,
    scores,
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
            if cell.method in wanted and (cell.dataset, cell.rate) == ("SBU_3DFE", 0.5):
                store.add(measure(cell))
        yield store.frame()


def test_printed_tables(shared):
    source = json.loads((shared / "reference" / "paper_tables.json").read_text())
    for table, key in ((3, "cosine"), (4, "clark"), (5, "weighting_cosine")):
        mean, std = printed_results(table)
        for name, row in source[key].items():
            for method, expected in row.items():
                assert [mean.loc[name, method], std.loc[name, method]] == expected
        assert mean.size == std.size == sum(len(row) for row in source[key].values())
    assert {name: [*row] for name, row in PRINTED_SHAPES.T.items()} == source["datasets"]


@pytest.mark.slow
def test_sbu_3dfe_as_the_authors_print_it(rows):
    """Four methods on the authors' own splits: every mean is the printed one, or next to it."""
    for table, digits in ((3, 1e-4), (4, 2e-4)):
        found = comparison(rows, table)
        here = found[found["verdict"] != "not run"].set_index("method")
        assert set(here.index) == {"WInLDL", "IIS-LDL", "InLDL-p", "InLDL-a"}
        assert (here["ours"] - here["printed"]).abs().max() < digits
        assert (here["ours_std"] - here["printed_std"]).abs().max() < digits
        assert here.loc[["WInLDL", "IIS-LDL"], "verdict"].eq("same").all()


@pytest.mark.slow
def test_each_split_is_that_of_the_authors_program(rows, authors_runs):
    """Cosine, Chebyshev and the rest on each of five splits: 25 numbers."""
    table = run_by_run(rows)
    assert len(table) == 25
    assert table["difference"].abs().max() < 5e-5
    source, _ = authors_runs
    np.testing.assert_array_equal(printed_runs()[source["metrics"]], source["runs"])


def test_the_splits_of_the_authors_are_theirs(authors_runs):
    for number, split in enumerate(authors_runs[1]):
        for ours, theirs in zip(authors_split(split=number), split.values(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    for wrong in ({"dataset": "SJAFFE"}, {"rate": 0.3}, {"split": 5}):
        with pytest.raises(ValueError, match="is not known; those of SBU_3DFE"):
            authors_split(**wrong)


def test_scores_are_in_the_layout_of_the_paper(rows):
    mean, std = scores(rows, "clark")
    assert list(mean.index) == ["SBU3DFE"]
    assert list(mean.columns) == list(printed_results(4)[0].columns)
    assert mean.loc["SBU3DFE", "WInLDL"].round(4) == 0.3787
    assert std.loc["SBU3DFE", "WInLDL"].round(4) == 0.0082
    assert mean["LDM"].isna().all()  # it was not run
    assert scores(rows, "clark", rate=0.3)[0].empty


def test_the_plan_has_all_rates_and_three_ways_to_grow():
    cells = plan(["SJAFFE", "SBU3DFE"])
    assert {cell.rate for cell in cells} == set(RATES)
    assert {cell.rate for cell in plan(["SJAFFE", "SBU3DFE"], quick=True)} == set(RATES)
    for axis in ("n", "k", "C"):
        sizes = {parse(cell.dataset).arguments[axis] for cell in growth_cells()}
        assert sizes == {*GROWING_SIZES[axis], BASE[axis]}
    assert {cell.splits for cell in cells if cell.dataset == "SBU_3DFE"} == {"authors", "seeded"}


@pytest.mark.slow
def test_what_did_not_run_is_listed(rows):
    found = comparison(rows, 3)
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
    found = comparison(failed, 3).set_index(["dataset", "method"])
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
