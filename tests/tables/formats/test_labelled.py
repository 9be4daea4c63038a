"""Files of SPSS and Stata, with labels of numbers and numbers that a user calls missing."""

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from inldl.tables import TableFile, complete_table, fit_table, read_table, write_table
from inldl.tables.writing import check_writable, notes_on_format, write_frame

FRAME = pd.DataFrame(
    {
        "region": [1.0, 2, 1, 9, 2, 1],
        "age": [31.0, 58, -1, 44, 29, 70],
        "yes": [25.0, 50, 99, 40, 10, 60],
        "no": [75.0, 50, 99, 60, np.nan, 40],
        "never": [0.0, 0, 0, 0, np.nan, 0],
    }
)
LABELS = {"region": {1: "North", 2: "South", 9: "No answer"}, "yes": {99: "Refused"}}
SHARES = ["yes", "no", "never"]


@pytest.fixture
def spss(tmp_path):
    pyreadstat.write_sav(
        FRAME, tmp_path / "t.sav", "A survey",
        column_labels={"age": "Age in years"}, variable_value_labels=LABELS,
        missing_ranges={"region": [9], "age": [{"lo": -9, "hi": -1}], "yes": [99], "no": [99]},
        variable_measure={"region": "nominal"}, variable_format={"age": "F5.0"},
    )  # fmt: skip
    return tmp_path / "t.sav"


def test_labels_and_user_missing_values_of_spss(spss):
    table = read_table(spss, SHARES)
    assert table.features["region"].tolist()[:3] == ["North", "South", "North"]
    assert pd.isna(table.features["region"][3])
    np.testing.assert_array_equal(table.features["age"], [31, 58, np.nan, 44, 29, 70])
    assert np.isnan(table.y).sum(axis=1).tolist() == [0, 0, 2, 0, 2, 0]
    assert table.notes[:2] == [
        "User-missing values are read as missing: 4 cells.",
        "Numbers with labels are read as these: 'region'.",
    ]


def test_spss_comes_back_with_labels_and_missing_values(spss, tmp_path):
    table, out = read_table(spss, SHARES), tmp_path / "out.sav"
    write_table(
        table, np.where(np.isnan(table.y), [[0.5], [0], [0.5], [0], [0.45], [0]], table.y), out
    )
    found, meta = pyreadstat.read_sav(out, user_missing=True)
    old, before = pyreadstat.read_sav(spss, user_missing=True)
    np.testing.assert_array_equal(found["region"], old["region"])
    np.testing.assert_array_equal(found["age"], old["age"])
    assert found["yes"].tolist() == [25, 50, 50, 40, 10, 60]
    assert found["no"].tolist() == [75, 50, 50, 60, 45, 40]
    assert found["never"].tolist() == [0, 0, 0, 0, 45, 0]
    for name in (
        "file_label",
        "column_names_to_labels",
        "variable_value_labels",
        "missing_ranges",
    ):
        assert getattr(meta, name) == getattr(before, name)
    assert meta.variable_measure["region"] == "nominal"
    assert meta.original_variable_types["age"] == before.original_variable_types["age"]


def test_a_number_with_a_label_among_shares_is_asked_about(tmp_path):
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(
        FRAME.assign(no=FRAME["no"].replace(99, 1)), path, variable_value_labels=LABELS
    )
    note = "99 has the label 'Refused' in 'yes'; if it means missing, say --na 99 "
    assert read_table(path, SHARES, normalize=True).notes[1] == f"{note}(na='99' in Python)."
    assert np.isnan(read_table(path, SHARES, na="99").y[2, 0])


def test_letters_that_mean_missing_in_stata_stay(tmp_path):
    frame = FRAME.drop(index=[2, 4]).astype(object).reset_index(drop=True)
    frame.loc[4] = [1.0, "a", "b", 20.0, 30.0]
    frame.loc[5] = [2.0, 25.0, "b", "c", np.nan]
    path, out = tmp_path / "t.dta", tmp_path / "out.dta"
    frame = frame.infer_objects()
    missing = {"age": ["a"], "yes": ["b"], "no": ["c"]}
    pyreadstat.write_dta(
        frame, path, "S", variable_value_labels=LABELS, missing_user_values=missing
    )
    table = read_table(path, SHARES)
    assert np.isnan(table.y).sum(axis=0).tolist() == [2, 1, 1]
    assert table.features["region"].tolist() == [
        "North",
        "South",
        "No answer",
        "North",
        "North",
        "South",
    ]
    write_table(table, np.where(np.isnan(table.y), [[0]] * 4 + [[0.5], [1 / 3]], table.y), out)
    found, meta = pyreadstat.read_dta(out, user_missing=True)
    assert found["age"].tolist() == [31, 58, 44, 70, "a", 25]
    assert found["yes"].tolist()[4] == 50
    assert meta.variable_value_labels["region"] == LABELS["region"]
    assert meta.missing_user_values["age"] == ["a"]


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta"])
def test_files_are_completed_with_new_columns(tmp_path, ending, without_trees):
    rng = np.random.default_rng(0)
    y = rng.dirichlet([3, 2, 1], 60)
    frame = pd.DataFrame(y, columns=SHARES).mask(rng.random(y.shape) < 0.2)
    frame = frame.assign(
        town=[f"t{i % 7}" for i in range(60)], day=pd.date_range("2024-01-01", periods=60)
    )
    path, out = tmp_path / f"t{ending}", tmp_path / f"out{ending}"
    write_frame(frame, path)
    file = TableFile(path, SHARES)
    fit = fit_table(file, "winldl")
    complete_table(file, fit.model, out, scale=fit.scale, coverage=0.9)
    again = read_table(out, SHARES)
    np.testing.assert_allclose(again.y.sum(axis=1), 1, atol=1e-6)
    assert [name for name in again.features if name.endswith("_low")] == [
        f"{n}_low" for n in SHARES
    ]
    assert pd.to_datetime(again.features["day"]).tolist() == frame["day"].tolist()


def test_names_that_the_program_does_not_take_are_refused(spss, tmp_path):
    with pytest.raises(ValueError, match=r"A \.sav file has no column 'a b': names are short"):
        TableFile(spss, SHARES).source.check_name("a b")


def test_a_refusal_says_the_label_of_a_number(tmp_path):
    frame, path = (
        FRAME.assign(yes=[-9.0] * 3 + [40, 50, 60], no=50.0, never=0.0),
        tmp_path / "t.sav",
    )
    labels = {"yes": {-9: "Refused"}}
    pyreadstat.write_sav(frame, path, variable_value_labels=labels)
    with pytest.raises(ValueError, match=r"say --na -9 .*-9 has the label 'Refused' in 'yes';"):
        read_table(path, SHARES)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".parquet"])
def test_a_table_of_spss_goes_to_other_formats_as_it_is_read(spss, tmp_path, suffix):
    table, out = read_table(spss, SHARES), tmp_path / f"out{suffix}"
    filled = [[0.5], [0], [0.5], [0], [0.45], [0]]
    write_table(table, np.where(np.isnan(table.y), filled, table.y), out)
    found = read_table(out, SHARES)
    assert not np.isnan(found.y).any()
    assert found.features["region"].tolist() == table.features["region"].tolist()
    assert found.features["age"].tolist() == pytest.approx(
        table.features["age"].tolist(), nan_ok=True
    )


def test_names_that_are_too_long_for_stata_can_be_written_to_a_text(tmp_path):
    names = {"yes": "y" * 30, "no": "n" * 30}
    path = tmp_path / "t.dta"
    pyreadstat.write_dta(FRAME.drop(index=[2, 4]).rename(columns=names), path)
    file = TableFile(path, [*names.values(), "never"])
    extra = ["n" * 30 + "_low"]
    with pytest.raises(ValueError, match=r"write to a .csv file instead"):
        check_writable(file, tmp_path / "out.dta", extra=extra)
    check_writable(file, tmp_path / "out.csv", extra=extra)
    assert notes_on_format(file, tmp_path / "out.csv")


def test_answers_with_labels_are_not_asked_about(tmp_path):
    frame, path = (
        FRAME[["age"]].assign(q1=[1.0, 2, 1, 1, 9, 2], q2=[2.0, 1, 1, 9, 1, 1]),
        tmp_path / "t.sav",
    )
    labels = {name: {1: "Yes", 2: "No", 9: "Don't know"} for name in ("q1", "q2")}
    pyreadstat.write_sav(frame, path, variable_value_labels=labels)
    notes = " ".join(read_table(path, "q1,q2").notes)
    assert "9 has the label \"Don't know\" in 'q1', 'q2'" in notes
    assert "'Yes'" not in notes
