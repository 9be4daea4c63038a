"""Numbers that mean missing, and tables of two scales: what a user is told."""

import numpy as np
import pytest

from inldl.tables import TableFile, read_table
from inldl.tables.hints import codes_for_missing
from inldl.tables.inspect import inspect_file

LABELS = ["rent", "food", "travel", "other"]


def table(tmp_path, values, totals=None):
    names = [*LABELS, *(["total"] if totals is not None else [])]
    values = values if totals is None else np.column_stack([values, totals])
    path = tmp_path / "table.csv"
    np.savetxt(path, values, "%.10g", ",", header=",".join(names), comments="")
    return path


def percentages(n=30):
    values = np.random.default_rng(0).dirichlet([4, 3, 2, 1], n).round(3) * 100
    values[:, 3] = 100 - values[:, :3].sum(axis=1)
    return values.round(1)


def with_codes(values, *codes):
    values, generator = values.copy(), np.random.default_rng(1)
    for code in codes:
        values[generator.random(values.shape) < 0.12] = code
    return values


@pytest.mark.parametrize("code", [99, 999, 9, 0, 98, 88])
@pytest.mark.parametrize("scale", [1, 0.01])
def test_codes_break_sums_of_shares(tmp_path, code, scale):
    shares = (percentages() * scale).round(3)
    path = table(tmp_path, with_codes(shares, code))
    with pytest.raises(
        ValueError, match=rf": {code} is in .* if it means missing, say --na {code}"
    ):
        read_table(path, LABELS)
    found = read_table(path, LABELS, na=str(code))
    assert np.array_equal(np.isnan(found.y), with_codes(shares, code) == code)


def test_several_codes(tmp_path):
    path = table(tmp_path, with_codes(percentages(60), 99, 98))
    with pytest.raises(ValueError, match=": 98 and 99 are in") as caught:
        read_table(path, LABELS)
    assert "if they mean missing, say --na 98,99 " in str(caught.value)


def test_codes_among_counts_with_totals(tmp_path):
    counts = np.rint(percentages() * 17)
    path = table(tmp_path, with_codes(counts, 999), counts.sum(axis=1))
    with pytest.raises(ValueError, match=r"999 is in .* say --na 999"):
        read_table(path, LABELS, total="total")
    assert np.isnan(read_table(path, LABELS, total="total", na="999").y).any()


def test_codes_among_counts_without_totals_are_noted(tmp_path):
    counts = np.rint(percentages() * np.arange(10, 40)[:, None])
    [note] = read_table(table(tmp_path, with_codes(counts, 999)), LABELS).notes[1:]
    assert note.startswith("999 is in 11 cells, far more often than numbers of its size; if it")
    counts[:4, 0] = 0
    [note] = read_table(table(tmp_path, counts), LABELS).notes[1:]
    assert note.startswith(
        f"0 is in 4 cells of 'rent', where no other count is below {counts[4:, 0].min():g}"
    )


def test_nothing_is_said_of_numbers_that_are_right(tmp_path):
    values = percentages()
    values[:5] = [0, 9, 0, 91], [99, 0, 1, 0], [9, 0, 0, 91], [0, 0, 1, 99], [0, 1, 99, 0]
    assert len(read_table(table(tmp_path, values), LABELS).notes) == 1
    counts = np.random.default_rng(0).poisson([40, 12, 99, 3], (200, 4))
    assert len(read_table(table(tmp_path, counts), LABELS).notes) == 1


def test_rows_that_lack_a_label_have_no_code(tmp_path):
    values = percentages() * [1, 1, 1, 0]  # always 0, but the others are short
    with pytest.raises(ValueError, match="sum to"):
        read_table(table(tmp_path, values + 0.5), LABELS)
    assert codes_for_missing(percentages(), 100, 0.2) == []


def test_zeros_in_each_row_are_no_code_where_a_label_is_forgotten(tmp_path):
    values = np.column_stack([percentages(), np.zeros(30)])
    values[:, 0] -= 5  # of a label that is not in the table
    names, path = [*LABELS, "none"], tmp_path / "t.csv"
    np.savetxt(path, values.clip(0), "%.10g", ",", header=",".join(names), comments="")
    with pytest.raises(ValueError, match="is a label missing from --labels") as caught:
        read_table(path, names)
    assert "--na" not in str(caught.value)


def test_who_divides_by_sums_is_not_stopped(tmp_path):
    values = percentages()
    values[:5, 1] = 0
    assert len(read_table(table(tmp_path, values), LABELS, normalize=True).y) == 30


@pytest.mark.parametrize(
    ("wholes", "names"),
    [((100, 1), "percentages and fractions"), ((1, 100), "fractions and percentages")],
)
def test_two_scales_in_one_table(tmp_path, wholes, names):
    whole, other = wholes
    values = percentages() / 100
    values = np.vstack([values[:20] * whole, values[20:] * other]).round(4)
    sentence = f"Line 22 and 9 other rows: the shares look like .*, so {names} are mixed"
    with pytest.raises(ValueError, match=sentence):
        read_table(table(tmp_path, values), LABELS)
    values[20:, 0] = np.nan
    with pytest.raises(ValueError, match=sentence):
        read_table(table(tmp_path, values), LABELS)


def test_a_small_known_share_is_no_fraction(tmp_path):
    values = percentages()
    values[24:, :3], values[24:, 3] = np.nan, 0.5 * values[:24, 3].min()
    assert len(read_table(table(tmp_path, values.round(1)), LABELS).y) == 30
    values[24:, 3] = 0.001  # as a fraction, it would be far from the others as well
    assert len(read_table(table(tmp_path, values), LABELS).y) == 30


@pytest.mark.parametrize("code", [99, 0, -9, None])
def test_inspect_says_what_is_wrong_with_sums(tmp_path, code):
    values = percentages() if code is None else with_codes(percentages(), code)
    values[:5] /= 1 if code is not None else 100
    path = table(tmp_path, values)
    with pytest.raises(ValueError, match=r"Line \d+") as refused:
        read_table(path, LABELS)
    found = inspect_file(TableFile(path, LABELS))[0].findings
    assert found[0] == str(refused.value)
    assert ("--na" in found[0]) == (code is not None)
    assert found[1].endswith("; see above.")
    assert not any("--normalize" in each or "rounded" in each for each in found)


def test_a_label_that_is_0_in_each_row_is_no_problem(tmp_path):
    counts = np.rint(percentages() * np.arange(10, 40)[:, None])
    counts[:, 2] = 0
    assert len(read_table(table(tmp_path, counts), LABELS).y) == 30
