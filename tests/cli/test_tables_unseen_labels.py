"""A label of which no share is known is completed from the sums of the rows."""

import numpy as np
import pandas as pd
import pytest

LABELS = list("abcde")
RUN = ("-l", "a,b,c,d,e", "-o", "w.csv", "-m", "ridge", "--uncertainty", "0.9")


@pytest.fixture
def shares():
    """Return complete shares, of which the last one is small."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=150)
    scores = np.array([1.2, 1, 0.8, 0.9, -1.5]) + np.outer(x, [0.5, -0.4, 0, 0.1, 0.2])
    y = np.exp(scores + rng.normal(size=(150, 5)) * 0.35)
    y = np.round(y / y.sum(axis=1, keepdims=True), 4)
    y[:, 0] = np.round(1 - y[:, 1:].sum(axis=1), 4)
    return pd.DataFrame(y, columns=LABELS).assign(x=x.round(3))


def complete(inldl, tmp_path, frame):
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, out, err = inldl("complete", "t.csv", *RUN)
    assert code == 0, err
    return out, pd.read_csv(tmp_path / "w.csv")


def inside(found, truth, label, rows):
    low, high = (found[f"{label}_{end}"][rows] for end in ("low", "high"))
    return ((low - 1e-6 <= truth[label][rows]) & (truth[label][rows] <= high + 1e-6)).mean()


def test_only_the_two_largest_are_given(inldl, tmp_path, shares):
    ranks = shares[LABELS].rank(axis=1, ascending=False, method="first")
    given = shares.assign(**shares[LABELS].where(ranks <= 2))
    assert given["e"].isna().all()
    out, found = complete(inldl, tmp_path, given)
    assert (
        "No share of 'e' is known. It gets a part of what the known shares of its row leave. That "
        "rests on the sums of the rows alone; only the ends of --range are certain."
    ) in out
    assert "The error cannot be estimated" in out
    np.testing.assert_allclose(found[LABELS].sum(axis=1), 1, atol=1e-9)
    smallest = given[LABELS].min(axis=1)
    assert (found["e"] <= smallest + 1e-6).all()
    for label in LABELS:
        assert inside(found, shares, label, given[label].isna()) >= 0.9
    assert (found["e_low"] == 0).all()


def test_sums_of_rows_with_other_holes_tell_its_size(inldl, tmp_path, shares):
    hidden = np.random.default_rng(0).random((150, 5)) < [0.3, 0.3, 0.3, 0.3, 1]
    given = shares.assign(**shares[LABELS].mask(hidden))
    _, found = complete(inldl, tmp_path, given)
    assert found["e"].mean() == pytest.approx(shares["e"].mean(), abs=0.01)
    unsure = given[LABELS].isna().sum(axis=1) > 1
    assert inside(found, shares, "e", unsure) >= 0.8


def test_a_label_that_alone_is_missing_is_the_rest(inldl, tmp_path, shares):
    out, found = complete(inldl, tmp_path, shares.assign(e=np.nan))
    assert "It gets what the known shares of its row leave to it." in out
    np.testing.assert_allclose(found["e"], shares["e"], atol=1e-9)
