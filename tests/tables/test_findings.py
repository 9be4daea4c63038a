"""What is said about why shares are missing."""

import numpy as np
import pandas as pd
import pytest

from inldl.tables import inspect_table
from inldl.tables.findings import (
    SizeTest,
    depends_on_size,
    notes_on_completing,
    notes_on_known,
)

LARGEST = SizeTest(50, answer="largest", mechanism="Only the 2 largest shares seem recorded.")
SMALL = SizeTest(50, answer="small", mechanism="Small shares are missing more often.")
LARGE = SizeTest(50, answer="large", mechanism="Large shares are missing more often.")
RANDOM = SizeTest(50, answer="random")


@pytest.mark.parametrize(
    ("size", "below", "estimated", "earlier", "said"),
    [
        (RANDOM, False, True, False, ""),
        (RANDOM, False, False, True, ""),
        (RANDOM, True, False, True, "in the same way"),
        (SMALL, False, True, False, "The expected error takes this into account"),
        (LARGE, False, False, False, "do not rely on intervals"),
        (SMALL, False, False, True, "do not rely on intervals"),
        (LARGEST, True, False, False, "at most the smallest recorded share"),
        (LARGEST, True, False, True, "at most the smallest recorded share"),
        (LARGEST, False, False, True, "complete the table without --model"),
        (LARGEST, False, True, False, "The expected error takes this into account"),
    ],
)
def test_notes_say_what_was_done(size, below, estimated, earlier, said):
    notes = notes_on_completing(size, below, estimated=estimated, earlier=earlier)
    assert len(notes) == bool(said)
    assert all(note.startswith(size.mechanism) and said in note for note in notes)


def test_an_error_at_known_shares_is_told_from_others():
    assert [depends_on_size(each) for each in (LARGEST, SMALL, LARGE, RANDOM)] == [1, 1, 1, 0]
    assert notes_on_known(RANDOM) == []
    assert "which are smaller on average than the missing ones" in notes_on_known(LARGE)[0]
    assert "which are larger on average than the missing ones" in notes_on_known(SMALL)[0]


@pytest.mark.parametrize("off", [False, True])
def test_single_holes_are_exact_only_where_all_sums_are(off):
    y = np.random.default_rng(0).dirichlet([4, 3, 2], 30)
    y[:5, 0] = np.nan
    y[9, 1] += 0.1 * off
    findings = inspect_table(pd.DataFrame({"x": np.arange(30) % 7}), y).findings
    assert any("fills it in exactly" in each for each in findings) != off


def test_many_labels_that_are_rarely_known_are_one_finding():
    y = np.full((9, 5), 0.2)
    X = pd.DataFrame({"x": range(9)})
    rare = [text for text in inspect_table(X, y).findings if "known in" in text]
    assert rare == [
        "Labels that are known in at most 9 rows: 'label 0', 'label 1', 'label 2', 'label 3', "
        "'label 4'; so few tell little. Fill in more, or join labels."
    ]
    some = np.vstack([y, np.full((9, 5), 0.2)])
    some[9:, :2] = np.nan
    rare = [text for text in inspect_table(pd.concat([X, X]), some).findings if "only" in text]
    assert [text.split(";")[0] for text in rare] == [
        f"The label 'label {j}' is known in only 9 rows" for j in (0, 1)
    ]


def test_one_more_relation_is_no_plural():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=300), rng.dirichlet(np.ones(5), 300)
    y[x > 0.5, :2] = np.nan
    found = inspect_table(pd.DataFrame({"x": x, "z": x**3}), y).findings
    assert "There is 1 more relation like this." in found
