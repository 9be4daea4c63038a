"""Tables of which a label was not named: sums that are neither 1 nor 100 say so."""

import re

import pytest

from inldl.tables import read_table


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (
            "1,50,43\n2,4,\n3,30,34\n",
            "Complete rows sum to 64 to 93, not to 1 or 100, so the shares were read as counts, "
            "and a row with a missing count has no total (Line 3, column 'b'): is a label missing "
            "from --labels? Else",
        ),
        (
            "1,500,\n2,,4\n",
            "No row is complete and the largest share is 500, so the shares were read as count",
        ),
        (
            "1,.5,.43\n2,.4,\n3,.3,.34\n",
            "sum to 0.93, not 1 (2 such rows); is a label missing from --labels? Else correct",
        ),
    ],
)
def test_a_forgotten_label_is_thought_of(tmp_path, rows, problem):
    (tmp_path / "t.csv").write_text("x,a,b\n" + rows)
    with pytest.raises(ValueError, match=re.escape(problem)):
        read_table(tmp_path / "t.csv", "a,b")
