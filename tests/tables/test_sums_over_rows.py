"""Tables with totals of columns, and with rows that are sums of others."""

import numpy as np
import pandas as pd
import pytest
from openpyxl import Workbook

from inldl.tables import TableFile, complete_table
from inldl.tables.options import FillOptions
from inldl.tables.tasks import fit_table

LABELS = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def counts():
    generator = np.random.default_rng(0)
    means = generator.gamma(3, 8, (40, 1)) * np.array([0.5, 0.25, 0.15, 0.1])
    return pd.DataFrame(generator.poisson(means) + np.array([3, 0, 0, 0]), columns=LABELS)


def suppressed(counts):
    hidden = (counts > 0) & (counts < 5)
    frame = counts.astype(object).mask(hidden, "1-4")
    regions = ["North" if k % 2 else "South" for k in range(len(counts))]
    names = [f"r{k}" for k in range(len(counts))]
    return frame.assign(total=counts.sum(axis=1), area=names, region=regions), hidden.to_numpy()


def row_of(name, region, sums, **other):
    return {
        "area": name,
        "region": region,
        "total": sum(sums),
        **dict(zip(LABELS, sums, strict=True)),
    } | other


def completed(tmp_path, frame, options, name="table.csv", **how):
    path = tmp_path / name
    frame.to_csv(path, index=False)
    file = TableFile(path, LABELS, total="total", **options)
    fit = fit_table(file, "winldl")
    about = complete_table(
        file, fit.model, tmp_path / f"out-{name}", FillOptions(**how), scale=fit.scale
    )
    return pd.read_csv(tmp_path / f"out-{name}"), about, fit


def check(found, counts, hidden):
    found = found.to_numpy(float)
    np.testing.assert_allclose(found.sum(axis=0), counts.sum(axis=0), atol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), counts.sum(axis=1), atol=1e-6)
    assert (found[~hidden] == counts.to_numpy()[~hidden]).all()
    assert (found[hidden] >= 1).all()
    assert (found[hidden] <= 4).all()


def test_the_last_row_holds_the_totals(tmp_path, counts, without_trees):
    frame, hidden = suppressed(counts)
    last = pd.DataFrame([row_of("Total", "", counts.sum().tolist())])
    frame = pd.concat([frame, last], ignore_index=True)
    how = {"coverage": 0.9, "ranges": True, "n_draws": 2}
    options = {"ignore": "area,region", "column_totals": "last-row"}
    found, about, fit = completed(tmp_path, frame, options, **how)
    assert fit.n_rows == 40
    assert about.n_rows == 41
    assert any("line 42 holds sums of others" in note for note in fit.notes)
    check(found[LABELS][:-1], counts, hidden)
    assert found[LABELS].iloc[-1].tolist() == counts.sum().tolist()
    ends = {
        e: found[[f"{n}_{e}" for n in LABELS]].to_numpy()[:-1][hidden]
        for e in ("low", "high", "least", "most")
    }
    truth = counts.to_numpy()[hidden]
    assert (ends["least"] <= truth).all()
    assert (truth <= ends["most"]).all()
    assert (ends["least"] <= ends["low"] + 1e-6).all()
    assert (ends["high"] <= ends["most"] + 1e-6).all()
    exact = ends["least"] == ends["most"]
    assert exact.sum() == about.n_exact
    assert (found[LABELS].to_numpy()[:-1][hidden][exact] == truth[exact]).all()
    for k in (1, 2):
        check(pd.read_csv(tmp_path / f"out-table-draw{k}.csv")[LABELS][:-1], counts, hidden)
    whole, *_ = completed(tmp_path, frame, options, "whole.csv", whole=True)
    check(whole[LABELS][:-1], counts, hidden)
    assert (whole[LABELS] % 1 == 0).all(axis=None)


def test_regions_may_lack_totals_and_are_part_of_others(tmp_path, counts, without_trees):
    frame, hidden = suppressed(counts)
    rows = [row_of("All", "", counts.sum().tolist())]
    for name in ("North", "South"):
        sums = counts[frame["region"] == name].sum().tolist()
        rows.append(
            row_of(name, "All", sums, **({"b": None, "c": "<900"} if name == "North" else {}))
        )
    table = pd.concat([pd.DataFrame(rows), frame], ignore_index=True)
    how = {"whole": True, "ranges": True, "coverage": 0.9}
    found, _, fit = completed(tmp_path, table, {"id": "area", "parent": "region"}, **how)
    assert fit.n_rows == 40
    assert any("3 rows hold sums of others" in note for note in fit.notes)
    check(found[LABELS][3:], counts, hidden)
    sums = found.iloc[3:].groupby("region")[LABELS].sum()
    assert (sums.loc["North"] == found[LABELS].iloc[1]).all()
    assert (sums.loc["South"] == found[LABELS].iloc[2]).all()
    # All and South are known, so North is, and nothing is said of sums that are known
    assert found.loc[1, ["b_least", "b_most", "b_low", "c_most"]].tolist() == [
        sums.loc["North", name] for name in "bbbc"
    ]
    assert found.loc[[0, 2], ["b_least", "c_low"]].isna().all(axis=None)


@pytest.mark.parametrize("kind", ["csv", "xlsx", "dict"])
def test_totals_in_another_file(tmp_path, counts, without_trees, kind):
    frame, hidden = suppressed(counts)
    totals = counts.sum()
    path = tmp_path / f"totals.{kind}"
    given = {"a": float(totals["a"]), "b": f"<{totals['b'] + 1}"} if kind == "dict" else str(path)
    if kind == "csv":
        pd.DataFrame([totals]).to_csv(path, index=False)
    elif kind == "xlsx":
        book = Workbook()
        book.active.append(LABELS)
        book.active.append(totals.tolist())
        book.save(path)
    found, *_ = completed(tmp_path, frame, {"ignore": "area,region", "column_totals": given})
    sums = found[LABELS].sum()
    assert abs(sums["a"] - totals["a"]) < 1e-6
    assert sums["b"] <= totals["b"] + 1e-6
    if kind != "dict":
        check(found[LABELS], counts, hidden)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"a": 7, "total": 7}, {}, "Line 42: its total is .*, but those of its rows sum to"),
        ({"a": 7}, {}, "The totals of the columns sum to .*, but those of the rows to"),
        ({"a": 99, "b": -99}, {}, "The total of 'a' and the known .* can be 0 at most"),
        ({}, {"total": None}, "name its column .--total."),
        ({}, {"parent": "region"}, "say which column holds their names .--id."),
        ({}, {"parent": "region", "id": "area"}, "Line 2: it is part of 'South' .* no row of"),
        ({}, {"column_totals": {"x": 3}}, "'x' has a total, but is no label"),
        ({}, {"parent": "state", "id": "area"}, "No column .--parent. found for 'state'"),
        ({}, {"column_totals": {"a": "many"}}, "The total 'many' of 'a' is no number"),
    ],
)  # fmt: skip
def test_what_contradicts_is_one_sentence(tmp_path, counts, change, options, message):
    frame, _ = suppressed(counts)
    last = row_of("Total", "", counts.sum().tolist())
    last |= {name: last[name] + by for name, by in change.items()}
    path = tmp_path / "table.csv"
    pd.concat([frame, pd.DataFrame([last])], ignore_index=True).to_csv(path, index=False)
    options = {"total": "total", "column_totals": "last-row", "ignore": "region"} | options
    options |= {"ignore": None} if "parent" in options else {"ignore": "area,region"}

    def complete():
        file = TableFile(path, LABELS, **options)
        fit = fit_table(file, "winldl")
        complete_table(file, fit.model, tmp_path / "out.csv", scale=fit.scale)

    with pytest.raises(ValueError, match=message):
        complete()
    assert not (tmp_path / "out.csv").exists()


def test_rounded_counts_need_not_sum_exactly(tmp_path, without_trees):
    generator = np.random.default_rng(1)
    table = np.round(generator.gamma(2, 5, (30, 4)), 1)
    frame = pd.DataFrame(table, columns=LABELS).assign(total=np.round(table.sum(axis=1), 1))
    totals = np.round(table.sum(axis=0), 1) + np.array([0.1, 0, -0.1, 0])
    frame = pd.concat([frame, pd.DataFrame([row_of("", "", totals.tolist())])[[*LABELS, "total"]]])
    frame.iloc[3:9, :2] = np.nan
    found, *_ = completed(tmp_path, frame, {"column_totals": "last-row"})
    np.testing.assert_allclose(found[LABELS][:-1].sum(), totals, atol=1.6)
    np.testing.assert_allclose(found[LABELS].sum(axis=1), found["total"], atol=1e-6)


def test_rows_that_are_part_of_each_other_are_refused(tmp_path, counts):
    frame, _ = suppressed(counts)
    frame.loc[[0, 1], "region"] = ["r1", "r0"]
    frame.loc[2:, "region"] = ""
    frame.to_csv(tmp_path / "table.csv", index=False)
    options = {"total": "total", "id": "area", "parent": "region"}
    with pytest.raises(ValueError, match="Line 2: it is a part of itself"):
        TableFile(tmp_path / "table.csv", LABELS, **options).read()
