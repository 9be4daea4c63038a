"""Errors carry facts: whoever knows more about them words them anew."""

import pickle

import numpy as np
import pytest

from inldl import WInLDL
from inldl.errors import DataError
from inldl.methods import RegressorLDL
from inldl.metrics import evaluate
from inldl.rows.checks import check_degrees, check_fillable, degree_facts


@pytest.fixture
def error():
    return DataError("{array} has {cell} for {label} in {row}.", array="y", cell="{row}", label=2,
                     row=5)  # fmt: skip


def test_facts_are_put_into_the_sentence(error):
    assert str(error) == "y has {row} for 2 in row 5 (counted from 0)."
    assert (error.row, error.label, error.column) == (5, 2, None)


def test_facts_can_be_told_in_other_words(error):
    told = error.with_facts(label="joy", row="line 7", array="the table")
    assert str(told) == "the table has {row} for 'joy' in line 7."
    assert (told.row, told.label) == ("line 7", "joy")
    assert error.row == 5


def test_rows_can_be_placed_in_a_file(error):
    placed = error.with_place(lambda row: f"Line {row + 2}")
    assert str(placed) == "y has {row} for 2 in line 7."
    assert placed.with_place(str) is placed


def test_errors_travel_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert str(again.with_facts(row="line 7")) == str(error.with_facts(row="line 7"))


@pytest.mark.parametrize(
    ("call", "facts"),
    [
        (lambda: evaluate([[0.5, 0.5]], [[0.5, np.nan]]), {"array": "y_pred", "row": 0}),
        (lambda: evaluate([[1, 0], [0.9, 0.9]], [[1, 0]] * 2), {"array": "y_true", "row": 1}),
        (lambda: check_fillable(np.array([[0.5, 0.5], [7, np.nan]])), {"row": 1, "label": 0}),
        (lambda: WInLDL().fit([[1.0], [2]], [[1, np.nan]] * 2), {"label": 1}),
        (lambda: RegressorLDL().fit([[1.0], [2]], [[1, np.nan]] * 2), {"label": 1}),
    ],
)
def test_errors_of_the_library_have_facts(call, facts):
    with pytest.raises(DataError) as caught:
        call()
    assert facts.items() <= caught.value.facts.items()


@pytest.mark.parametrize("rounding", [12, 1, 0])
def test_percentages_are_refused_in_one_sentence(rounding):
    y = np.round(100 * np.random.default_rng(0).dirichlet(np.ones(4), 30), rounding)
    y[5:, 0] = np.nan
    parts = [degree_facts(y[:10]), degree_facts(y[10:], 10)]
    with pytest.raises(DataError, match=r"sum to 100, as percentages do.*divide y by 100"):
        check_degrees(parts, None)


@pytest.mark.parametrize("y", [[[60.0, 30], [50, 50]], [[0.6, 0.4], [60, 40]], [[-1.0, 101]] * 2])
def test_other_numbers_are_only_warned_of(y):
    with pytest.warns(UserWarning, match=r"divide percentages by 100"):
        check_degrees([degree_facts(np.array(y))], None)
