"""Files with questions and answers: written for a table, filled in, and put into it."""

import numpy as np
import pandas as pd
import pytest

from inldl.tables import TableFile, TableModel, ask_table, read_table
from inldl.tables.questions import with_answers, without_prices

LABELS = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    shares = pd.DataFrame(rng.dirichlet(np.ones(4), 40).round(4) * 100, columns=LABELS).round(2)
    shares["d"] = (100 - shares[["a", "b", "c"]].sum(axis=1)).round(2)
    holes = rng.random(shares.shape) < 0.4
    holes[:6] = False
    shares = shares.mask(holes)
    about = pd.DataFrame(
        {"place": [f"p{i}" for i in range(40)], "x": rng.normal(size=40).round(3)}
    )
    return pd.concat([about, shares], axis=1).assign(price=np.arange(40) % 3 + 1)


@pytest.fixture(scope="module")
def model(frame):
    return TableModel("winldl").fit(frame[["x"]], frame[LABELS] / 100)


def opened(path, **more):
    return TableFile(path, LABELS, id="place", features="x", **more)


@pytest.fixture(params=["csv", "xlsx", "csv.gz"])
def path(request, frame, tmp_path):
    path = tmp_path / f"t.{request.param}"
    frame.to_excel(path, index=False) if request.param == "xlsx" else frame.to_csv(
        path, index=False
    )
    return path


@pytest.fixture
def table(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def ask(table, model, path=None, **how):
    return ask_table(opened(table), model, path, scale="percent", **{"budget": 9, **how})


def answered(table, asked, tmp_path, values):
    """Write answers to the first questions, and put them into the table."""
    questions = asked.table.copy()
    for i, value in enumerate(values):
        questions.loc[i, "answer"] = value
    questions.to_csv(tmp_path / "answers.csv", index=False)
    return with_answers(opened(table), tmp_path / "answers.csv")


def test_questions_are_in_the_units_of_the_table(table, model, frame):
    found = ask(table, model)
    assert list(found.table) == [
        "rank", "row", "place", "label", "left", "estimate", "low", "high", "gain",
        "expected_error", "cost", "answer",
    ]  # fmt: skip
    assert found.unit == "percentage points"
    for each in found.table.itertuples():
        row = frame.iloc[each.row - 1]
        assert each.place == row["place"]
        assert np.isnan(row[each.label])
        assert each.left == pytest.approx(100 - row[LABELS].sum())
        assert 0 <= each.low <= each.estimate <= each.high <= each.left + 1e-6
    shares = found.suggestion.table
    np.testing.assert_allclose(found.table["expected_error"], 100 * shares["rmse"])
    np.testing.assert_allclose(found.table["gain"], 1e4 * shares["gain"])
    assert found.table["answer"].isna().all()


def test_answers_go_into_a_copy_of_the_table(path, model, frame, tmp_path):
    before = path.read_bytes()
    out = tmp_path / ("ask.xlsx" if path.suffix == ".xlsx" else "ask.csv")
    found = ask(path, model, out)
    questions = pd.read_excel(out) if out.suffix == ".xlsx" else pd.read_csv(out)
    pd.testing.assert_frame_equal(questions, found.table, check_dtype=False)
    values = questions["estimate"].iloc[:3].round(1)
    questions.loc[:2, "answer"] = values
    questions.to_excel(out, index=False) if out.suffix == ".xlsx" else questions.to_csv(
        out, index=False
    )
    file, n_answers = with_answers(opened(path), out)
    assert n_answers == 3
    assert path.read_bytes() == before
    expected = frame[LABELS].copy()
    for each, value in zip(questions.itertuples(), values, strict=False):
        expected.loc[each.row - 1, each.label] = value
    copy = file.path
    np.testing.assert_allclose(file.read(scale="percent", check=False).y * 100, expected, atol=0.1)
    assert copy.exists()
    del file
    assert not copy.exists()


def test_two_holes_and_one_answer_leave_nothing_to_ask(table, model, frame, tmp_path):
    found = ask(table, model, budget=10**6)
    questions = found.table
    single = questions[questions["row"].map(questions["row"].value_counts()) == 1].iloc[:1]
    questions.loc[single.index, "answer"] = single["estimate"]
    questions.to_csv(tmp_path / "answers.csv", index=False)
    file, _ = with_answers(opened(table), tmp_path / "answers.csv")
    again = ask_table(file, model, scale="percent", budget=10**6).table
    assert single["row"].item() not in again["row"].tolist()
    assert len(again) == len(questions) - 1


def test_answers_with_decimal_commas_as_spreadsheets_write_them(table, model, tmp_path):
    questions = ask(table, model).table
    questions.loc[0, "answer"] = 0.5
    questions.to_csv(tmp_path / "answers.csv", sep=";", decimal=",", index=False)
    file, n_answers = with_answers(opened(table), tmp_path / "answers.csv")
    assert n_answers == 1
    row, column = questions["row"].iloc[0] - 1, LABELS.index(questions["label"].iloc[0])
    assert next(file.pieces()).values[row, column] == 0.5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"answer": 99.9}, "answers in row .* sum to 99.9, but its known shares leave"),
        ({"answer": -1.0}, "the answer -1 is negative"),
        ({"answer": "many"}, "'many' in column 'answer' is not a number"),
        ({"answer": 1.0, "row": 400}, "the table has no row 400"),
        ({"answer": 1.0, "row": 1.5}, "the table has no row 1.5"),
        ({"answer": 1.0, "label": "e"}, "there is no label 'e'; the labels are a, b, c, d"),
        ({"answer": 1.0, "place": "Rome"}, "but the question was about 'Rome'"),
        ({"answer": 1.0, "left": 3.0}, "has changed: its known shares leave"),
    ],
)
def test_bad_answers(table, model, tmp_path, change, words):
    questions = ask(table, model).table.astype({"answer": object, "row": object})
    for name, value in change.items():
        questions.loc[0, name] = value
    questions.to_csv(tmp_path / "answers.csv", index=False)
    with pytest.raises(ValueError, match=words) as refused:
        with_answers(opened(table), tmp_path / "answers.csv")
    assert "answers.csv, line 2: " in str(refused.value)


def test_cells_that_are_filled_in_meanwhile_and_double_answers(table, model, frame, tmp_path):
    questions = ask(table, model).table
    questions.loc[0, "answer"] = 0.0
    twice = pd.concat([questions.iloc[:1], questions.iloc[:1]])
    twice.to_csv(tmp_path / "answers.csv", index=False)
    with pytest.raises(ValueError, match=r"line 3: row \d+ has two answers for"):
        with_answers(opened(table), tmp_path / "answers.csv")
    questions.to_csv(tmp_path / "answers.csv", index=False)
    changed = frame.copy()
    changed.loc[questions["row"].iloc[0] - 1, questions["label"].iloc[0]] = 0.0
    changed.to_csv(table, index=False)
    with pytest.raises(ValueError, match=r"is 0 in row \d+ of the table already"):
        with_answers(opened(table), tmp_path / "answers.csv")


def test_tables_and_answers_without_rows(table, model, tmp_path):
    empty, answers = tmp_path / "empty.csv", tmp_path / "answers.csv"
    empty.write_text("place,x,a,b,c,d,price\n")
    answers.write_text("rank,row,label,left,answer\n")
    with pytest.raises(ValueError, match=r"answers.csv has a header but no rows; add rows\."):
        with_answers(opened(table), answers)
    with pytest.raises(ValueError, match=r"empty.csv has a header but no rows; add rows\."):
        ask_table(opened(empty), model, scale="percent")


def test_a_file_without_questions_is_refused(table, tmp_path):
    with pytest.raises(ValueError, match="has no column 'row'; give the file that `inldl ask`"):
        with_answers(opened(table), table)


def test_answers_stay_within_the_bounds_of_their_cells(tmp_path, frame, model):
    shown = frame.astype(dict.fromkeys(LABELS, object))
    row = int(np.flatnonzero(frame["a"].isna() & (frame[LABELS].isna().sum(axis=1) > 1))[0])
    shown.loc[row, "a"] = "<5"
    shown.to_csv(tmp_path / "t.csv", index=False)
    left = 100 - frame.loc[row, LABELS].sum()
    columns = {"row": [row + 1], "label": ["a"], "left": [left], "answer": [6.0]}
    pd.DataFrame(columns).to_csv(tmp_path / "answers.csv", index=False)
    if left > 6:
        with pytest.raises(ValueError, match="outside the bounds that 'a' has in row"):
            with_answers(opened(tmp_path / "t.csv"), tmp_path / "answers.csv")
    columns["answer"] = [min(1.0, left)]
    pd.DataFrame(columns).to_csv(tmp_path / "answers.csv", index=False)
    file, _ = with_answers(opened(tmp_path / "t.csv"), tmp_path / "answers.csv")
    assert next(file.pieces()).values[row, 0] == min(1.0, left)


def test_a_column_of_prices(table, model, frame):
    file = without_prices(TableFile(table, LABELS, id="place"), "price")
    assert "price" not in file.features
    found = ask_table(file, model, scale="percent", budget=9, cost="price").table
    assert found["cost"].tolist() == frame["price"].iloc[found["row"] - 1].tolist()
    assert found["cost"].sum() <= 9
    first = ask_table(file, model, scale="percent", budget=9, cost="price", cell_cost=0.1).table
    assert (first.loc[first["row"].duplicated(), "cost"] == 0.1).all()
    for name, words in (
        ("a", "named in --cost and as a label"),
        ("b?", "No column 'b[?]' to"),
    ):
        with pytest.raises(ValueError, match=words):
            without_prices(TableFile(table, LABELS), name)


def test_a_price_that_is_none(table, model, frame):
    frame.assign(price=[1] * 20 + ["free"] + [1] * 19).to_csv(table, index=False)
    file = without_prices(TableFile(table, LABELS, id="place"), "price")
    with pytest.raises(ValueError, match="Column 'price' has 'free' in line 22, which is not a"):
        ask_table(file, model, scale="percent", cost="price")


def test_a_long_table(frame, model, tmp_path):
    long = frame.melt(["place", "x"], LABELS, "what", "share").dropna(subset="share")
    long.to_csv(tmp_path / "long.csv", index=False)

    file = TableFile(tmp_path / "long.csv", LABELS, long="id=place,label=what,value=share")
    questions = ask_table(file, model, scale="percent", budget=5).table
    questions.loc[0, "answer"] = 0.25
    questions.to_csv(tmp_path / "answers.csv", index=False)
    answered, _ = with_answers(file, tmp_path / "answers.csv")
    column = LABELS.index(questions["label"].iloc[0])
    piece = next(answered.pieces(["place"], {"place"}))
    row = piece.features["place"].tolist().index(questions["place"].iloc[0])
    assert piece.values[row, column] == 0.25


def test_a_complete_table_has_no_questions(frame, model, tmp_path):
    frame.iloc[:6].to_csv(tmp_path / "t.csv", index=False)
    found = ask(tmp_path / "t.csv", model, tmp_path / "ask.csv")
    assert len(found.table) == 0
    assert (tmp_path / "ask.csv").read_text().startswith("rank,row,place,label,left,")


def test_read_table_reads_the_copy_as_the_original(table, model, frame, tmp_path):
    file, n_answers = answered(table, ask(table, model), tmp_path, [])
    assert n_answers == 0
    again = read_table(table, LABELS, features="x").y
    np.testing.assert_array_equal(file.read().y, again)


def test_formulas_of_the_table_are_text_in_the_questions(frame, model, tmp_path):
    """A spreadsheet would run them; the answers are understood all the same."""
    odd = frame.assign(place=[f"=cmd|' /C calc'!A{i}" for i in range(40)])
    odd.to_csv(tmp_path / "odd.csv", index=False)
    asked = ask(tmp_path / "odd.csv", model, tmp_path / "questions.csv")
    lines = (tmp_path / "questions.csv").read_text().splitlines()
    assert not any(cell.startswith("=") for line in lines for cell in line.split(","))
    questions = pd.read_csv(tmp_path / "questions.csv")
    assert questions["place"].str.startswith("'=cmd|").all()
    questions.loc[0, "answer"] = asked.table["estimate"][0]
    questions.to_csv(tmp_path / "answers.csv", index=False)
    assert with_answers(opened(tmp_path / "odd.csv"), tmp_path / "answers.csv")[1] == 1
