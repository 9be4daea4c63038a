"""What is written at holes: within bounds, with the sums of groups, and whole where asked."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inldl.rows.partial import PartialRows
from inldl.tables import read_table, write_table
from inldl.tables.writing import HoleFilling

NAN = np.nan


@st.composite
def limited_rows(draw):
    """Return a full row of counts, its holes, and bounds and a group that allow it."""
    counts = np.array(draw(st.lists(st.integers(0, 30), min_size=3, max_size=8)), float)
    counts[0] += 1
    holes = np.array(draw(st.lists(st.booleans(), min_size=len(counts), max_size=len(counts))))
    holes[-2:] = True
    room = st.sampled_from([0, 1, 3, NAN])
    lower = np.array([c - draw(room) for c in counts])
    upper = np.array([c + draw(room) for c in counts])
    lower, upper = (np.where(holes, each, NAN) for each in (np.maximum(lower, 0), upper))
    group = {(0, len(counts) - 1): counts[[0]] + counts[-1]} if draw(st.booleans()) else {}
    weights = np.array(draw(st.lists(st.floats(0, 1), min_size=len(counts), max_size=len(counts))))
    return counts, holes, lower, upper, group, weights


def completed_within(counts, holes, lower, upper, group, weights):
    """Return fractions between the counts and the ends, with the same sums."""
    low, high = np.where(np.isnan(lower), 0, lower), np.where(np.isnan(upper), counts + 2, upper)
    out = counts.copy()
    # Move a part from one hole to another, both inside of a group or both outside.
    parts = [list(columns) for columns in group]
    parts.append([j for j in range(len(counts)) if not any(j in each for each in parts)])
    for part in parts:
        free = [j for j in part if holes[j]]
        for j, k in itertools.pairwise(free):
            step = weights[j] * min(out[j] - low[j], high[k] - out[k])
            out[j], out[k] = out[j] - step, out[k] + step
    return out


@given(limited_rows())
def test_fills_stay_within_their_limits(row):
    counts, holes, lower, upper, group, _ = row
    wanted, total = completed_within(*row), counts.sum()
    y = np.where(holes, NAN, counts)[None] / total
    ends = np.where(np.isnan(lower), 0, lower), np.where(np.isnan(upper), np.inf, upper)
    sums = np.array([*group.values()]).T if group else None
    limits = PartialRows(y, *(end[None] for end in ends), tuple(map(np.array, group)), sums)
    fills = HoleFilling(y, wanted[None] / total, np.array([total]), limits)
    for found in (fills.rounded()[0], fills.whole(str)[0]):
        assert (np.isnan(found) == ~holes).all()
        whole = np.where(holes, found, counts)
        assert whole.sum() == pytest.approx(total, abs=1e-8)
        assert not (found < lower).any()
        assert not (found > upper).any()
        assert (whole >= 0).all()
        for columns, sums in group.items():
            assert whole[list(columns)].sum() == pytest.approx(sums[0], abs=1e-8)
    assert (found[holes] == np.rint(found[holes])).all()
    assert (np.abs(found - wanted)[holes] < 1 + 1e-6).all()


def test_the_largest_remainders_are_rounded_up():
    y, completed = np.full((1, 3), NAN), np.array([[0.25, 0.39, 0.36]])
    assert HoleFilling(y, completed, np.array([10.0])).whole(str).tolist() == [[2, 4, 4]]


def test_whole_numbers_that_cannot_be_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c,n\n5,4,1,10\n9.5,,,12\n")
    table = read_table(tmp_path / "t.csv", "a,b,c", total="n")
    full = np.where(np.isnan(table.y), (1 - 9.5 / 12) / 2, table.y)
    with pytest.raises(ValueError, match="Line 3: no whole numbers fit the total"):
        write_table(table, full, tmp_path / "out.csv", whole=True)
    assert not (tmp_path / "out.csv").exists()
    write_table(table, full, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "a,b,c,n\n5,4,1,10\n9.5,1.25,1.25,12\n"


def test_whole_numbers_need_a_total(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n5,5\n9,1\n")
    table = read_table(tmp_path / "t.csv", "a,b", scale="count")
    with pytest.raises(ValueError, match=r"name its column \(--total"):
        write_table(table, table.y, tmp_path / "out.csv", whole=True)


TEXT = 'x;a;b;c;n\r\n"q";50;"<5";1–9;60\r\n2; 3 ;4;5;12\r\n;10;;;20\r\n'


@pytest.mark.parametrize(
    ("whole", "expected"),
    [
        (True, '"q";50;"3";7;60\r\n2; 3 ;4;5;12\r\n;10;5;5;20\r\n'),
        (False, '"q";50;"3.3";6.7;60\r\n2; 3 ;4;5;12\r\n;10;5;5;20\r\n'),
    ],
)
def test_counts_are_written_within_bounds_and_all_else_stays(tmp_path, whole, expected):
    (tmp_path / "t.csv").write_bytes(TEXT.encode())
    table = read_table(tmp_path / "t.csv", "a,b,c", total="n")
    assert table.known.upper[0].tolist()[1:] == [4 / 60, 9 / 60]
    full = table.y.copy()
    full[0, 1:], full[2, 1:] = [3.3 / 60, 6.7 / 60], 0.25
    write_table(table, full, tmp_path / "out.csv", whole=whole)
    assert (tmp_path / "out.csv").read_bytes().decode() == f"x;a;b;c;n\r\n{expected}"


def test_degrees_outside_of_their_bounds_are_not_written(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n50,40,10\n90,<5,\n")
    table = read_table(tmp_path / "t.csv", "a,b,c")
    with pytest.raises(
        ValueError, match=r"completed\[1, 1\] is 0.06, but .* from 0 to 0.05, the b"
    ):
        write_table(table, [[0.5, 0.4, 0.1], [0.9, 0.06, 0.04]], tmp_path / "out.csv")


@pytest.mark.parametrize("ending", [".parquet", ".xlsx"])
@pytest.mark.parametrize("kind", ["object", "category"])
def test_bounded_cells_of_other_formats_are_filled(tmp_path, ending, kind):
    frame = pd.DataFrame({"a": ["50", "90"], "b": ["40", "<5"], "c": ["10", None]})
    frame = frame.astype(kind)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    table = read_table(tmp_path / f"t{ending}", "a,b,c")
    out = tmp_path / f"out{ending}"
    write_table(table, [[0.5, 0.4, 0.1], [0.9, 0.04, 0.06]], out)
    back = read_table(out, "a,b,c")
    np.testing.assert_allclose(back.y, [[0.5, 0.4, 0.1], [0.9, 0.04, 0.06]])
    assert not back.known.constrained


def test_long_tables_are_filled_within_bounds_and_below(tmp_path):
    rows = ["d,k,v,n", "p,a,5,10", "p,b,4,10", "p,c,1,10", "q,a,9,20", "q,b,<5,20"]
    (tmp_path / "t.csv").write_text("\n".join([*rows, ""]))
    table = read_table(tmp_path / "t.csv", "a,b,c", long="id=d,label=k,value=v", total="n")
    full = [[0.5, 0.4, 0.1], [0.45, 0.13, 0.42]]
    write_table(table, full, tmp_path / "out.csv", whole=True)
    expected = [*rows[:-1], "q,b,3,20", "q,c,8,20", ""]
    assert (tmp_path / "out.csv").read_text() == "\n".join(expected)
