"""Rows whose sums are only about 1."""

import numpy as np
import pandas as pd
import pytest

from inldl import hide
from inldl.completion import Completer
from inldl.files import load_model, save_model
from inldl.rows.partial import PartialRows
from inldl.tables import TableFile
from inldl.tables.completing import complete_table
from inldl.tables.tasks import fit_table


def about_one(n, seed=0):
    """Return rows with sums of .96 to 1.01, and predictions that know nothing of them."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet([40, 20, 10, 5, 1], n)
    return shares * rng.uniform(0.96, 1.01, n)[:, None], np.tile(shares.mean(axis=0), (n, 1))


@pytest.fixture(scope="module")
def learned():
    truth, predicted = about_one(400)
    y = hide(truth, 0.3, random_state=0)
    return truth, y, predicted, Completer().fit(PartialRows(y), predicted, loose=True)


def test_a_single_hole_is_not_what_the_others_leave(learned):
    truth, y, predicted, loose = learned
    single = np.isnan(y) & (np.isnan(y).sum(axis=1) == 1)[:, None]
    filled, low, high = loose.fill_with_intervals(PartialRows(y), predicted, 0.9)
    rest = np.broadcast_to(1 - np.nansum(y, axis=1, keepdims=True), y.shape)
    error, naive = (np.abs(found - truth)[single].mean() for found in (filled, rest))
    assert error < 0.8 * naive
    inside = (low <= truth) & (truth <= high)
    assert 0.8 <= inside[single].mean() <= 0.98
    assert (high - low)[single].min() > 0
    assert 0.85 <= inside[np.isnan(y)].mean() <= 0.95


def test_known_degrees_stay_and_sums_are_like_those_of_complete_rows(learned):
    truth, y, predicted, loose = learned
    filled = loose.fill(PartialRows(y), predicted)
    np.testing.assert_array_equal(filled[~np.isnan(y)], y[~np.isnan(y)])
    assert filled.min() >= 0
    assert filled.sum(axis=1).max() <= truth.sum(axis=1).max() + 1e-9
    assert filled.sum(axis=1).mean() == pytest.approx(truth.sum(axis=1).mean(), abs=0.005)


def test_draws_of_single_holes_differ(learned):
    _, y, predicted, loose = learned
    rows = np.flatnonzero(np.isnan(y).sum(axis=1) == 1)[:5]
    draws = loose.draw(PartialRows(y[rows]), predicted[rows], 10, seed=0)
    assert (draws.std(axis=0)[np.isnan(y[rows])] > 1e-4).all()


def test_refilled_degrees_are_those_of_the_table(learned):
    truth, y, _, loose = learned
    found = loose.refilled_
    assert found.label.max() == y.shape[1] - 1
    assert found.left.shape[1] == y.shape[1]
    np.testing.assert_allclose(found.degrees, truth[found.row, found.label], rtol=1e-12)


def test_exact_sums_are_completed_as_always():
    truth, predicted = about_one(60)
    y = hide(truth / truth.sum(axis=1, keepdims=True), 0.3, random_state=0)
    plain, loose = (
        Completer().fit(PartialRows(y), predicted, loose=loose).fill(PartialRows(y), predicted)
        for loose in (False, True)
    )
    single = np.isnan(y) & (np.isnan(y).sum(axis=1) == 1)[:, None]
    np.testing.assert_allclose(loose[single], plain[single], atol=1e-3)


def test_a_file_with_loose_sums(tmp_path):
    truth, _ = about_one(120)
    y = hide(truth, 0.3, random_state=1)
    labels = list("abcde")
    frame = pd.DataFrame((100 * y).round(2), columns=labels)
    frame.insert(0, "x", np.arange(120) % 9)
    frame.to_csv(tmp_path / "t.csv", index=False)
    file = TableFile(tmp_path / "t.csv", labels)
    learned = fit_table(file, "constant-mean", normalize=True)
    assert any("so no missing share follows from the others" in note for note in learned.notes)
    how = {"scale": learned.scale, "normalize": True, "coverage": 0.9}
    written = complete_table(file, learned.model, tmp_path / "whole.csv", **how)
    assert written.n_exact == 0
    whole = pd.read_csv(tmp_path / "whole.csv")
    sums = whole[labels].sum(axis=1)
    assert sums.std() > 0.5
    single = frame[labels].isna() & (frame[labels].isna().sum(axis=1) == 1).to_numpy()[:, None]
    width = whole[[f"{n}_high" for n in labels]].to_numpy() - whole[[f"{n}_low" for n in labels]]
    assert (width.to_numpy()[single] > 0).all()
    save_model(learned.model, tmp_path / "m.inldl")
    complete_table(file, load_model(tmp_path / "m.inldl"), tmp_path / "again.csv", **how)
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_no_error_is_above_the_largest_that_is_possible(learned):
    truth, y, predicted, loose = learned
    filled = loose.fill(PartialRows(y), predicted)
    off = np.where(np.isnan(y), np.abs(filled - truth), 0).sum(axis=1)
    assert (off <= loose.most_errors(y, filled) + 1e-9).all()


def test_each_refilled_degree_has_a_weight(learned):
    loose = learned[3]
    assert loose.hole_weights_.shape == loose.refilled_.degrees.shape
    assert (loose.hole_weights_ >= 0).all()
