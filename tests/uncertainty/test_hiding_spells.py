"""Spells that are hidden in a panel: in the shape of its holes, and nothing else."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inldl.rows.panel import Panel
from inldl.uncertainty.conformal import beyond_spells
from inldl.uncertainty.hiding import (
    MOST_SPELLS,
    HiddenSpells,
    Spell,
    distances,
    hide_last,
    hide_spells,
    independent,
    known_elsewhere,
    likeness,
    spells_of,
    surroundings,
    weights_by_errors,
)
from made_panels import early, made_panel


def holes_of(text):
    """Return holes of a unit, a row of marks for each time: x is missing."""
    return np.array([[mark == "x" for mark in row] for row in text.split()])


@pytest.fixture
def panel():
    _, y, where = made_panel()
    return where, early(where, y)


@st.composite
def tables(draw):
    """Draw panels with spells, cells and whole rows missing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_units, n_times, n_labels = (draw(st.integers(1, most)) for most in (7, 9, 5))
    unit, time = np.divmod(np.arange(n_units * n_times), n_times)
    some = np.sort(rng.choice(len(unit), max(1, int(0.8 * len(unit))), replace=False))
    y = rng.dirichlet(np.ones(n_labels), len(some))
    panel = Panel(unit[some], time[some].astype(float) if draw(st.booleans()) else None)
    panel = panel.renumbered()
    y[rng.random(y.shape) < draw(st.sampled_from([0, 0.2]))] = np.nan
    y[rng.random(len(y)) < draw(st.sampled_from([0, 0.2]))] = np.nan
    first = draw(st.integers(0, 4))
    y[np.ix_(np.flatnonzero((panel.unit < 2) & (panel.positions < first)), [0])] = np.nan
    return panel, y


def test_spells_are_runs_of_rows_that_lack_the_same():
    found = spells_of(holes_of("... xx. xx. x.. ... .xx"))
    assert [each.lacking.tolist() for each in found] == [
        [True, True, False], [True, False, False], [False, True, True],
    ]  # fmt: skip
    assert [each.length for each in found] == [2, 1, 1]
    assert [(each.known_before, each.known_after) for each in found] == [
        (True, True), (True, True), (True, False),
    ]  # fmt: skip
    assert not spells_of(holes_of("... ..."))
    assert [each.whole for each in spells_of(holes_of("x. x."))] == [True]


@pytest.mark.parametrize("sides", [(True, False), (False, True), (True, True), (False, False)])
@pytest.mark.parametrize("length", [1, 3, 20])
@pytest.mark.parametrize("n_free", [0, 1, 2, 3, 9])
def test_a_spell_has_its_length_and_known_rows_on_its_sides(sides, length, n_free):
    spell = Spell(np.array([True, False]), length, *sides)
    free = np.arange(2, 2 + n_free)
    holes = np.ones((12, 2), bool)
    holes[free, 0] = False
    for seed in range(20):
        rows = spell.place(holes, np.random.default_rng(seed))
        assert np.isin(rows, free).all()
        if spell.whole:
            assert rows.tolist() == free.tolist()
            continue
        assert len(rows) == min(length, max(0, n_free - sum(sides)))
        if len(rows):
            assert ((rows[0] > free[0]), (rows[-1] < free[-1])) == sides


@given(tables(), st.integers(0, 5))
def test_trials_hide_what_is_known_and_no_label_everywhere(table, seed):
    panel, y = table
    for hide in (hide_spells, hide_last):
        for trial in hide(panel, y, seed):
            hidden = np.isnan(trial.left) & ~np.isnan(y)
            assert hidden[trial.row, trial.label].all()
            assert (np.isnan(trial.left) | (trial.left == y)).all()
            assert (np.isnan(trial.left).all(axis=0) == np.isnan(y).all(axis=0)).all()
            assert (trial.rows[trial.at] == trial.row).all()
            if hide is hide_spells:  # what the sum of a row gives is not judged
                assert (np.isnan(trial.left[trial.row]).sum(axis=1) > 1).all()


@given(tables())
def test_the_weights_of_trials_are_finite(table):
    panel, y = table
    trials = list(hide_spells(panel, y, 0))
    assume(trials)
    counts = likeness(panel, y, trials)
    assert len(counts) == sum(len(trial.row) for trial in trials)
    assert np.isfinite(counts).all()
    assert counts.min() > 0
    assert 0 < independent(panel, trials, counts) <= len(counts)


def test_hidden_spells_are_like_those_of_the_donors(panel):
    """The first years of two labels, of at most four rows, with known ones after."""
    where, y = panel
    trials = list(hide_spells(where, y, 0))
    assert len(trials) >= 5
    backwards = 0
    for trial in trials:
        hidden = np.isnan(trial.left) & ~np.isnan(y)
        assert set(trial.label) == {0, 1}
        for unit in where.units:
            rows = np.flatnonzero(hidden[unit, 0])
            if len(rows):
                assert (hidden[unit][:, :2].all(axis=1) == hidden[unit].any(axis=1)).all()
                assert len(rows) == 4
                free = np.flatnonzero(~np.isnan(y[unit, 0]))
                backwards += rows[-1] == free[-1]
                assert rows[0] == free[0] or rows[-1] == free[-1]
    assert 0 < backwards <= where.n_units  # few units are used again, with time running backwards


def test_where_only_one_unit_has_a_label_it_cannot_be_hidden():
    _, y, panel = made_panel()
    y[np.ix_(panel.unit != 0, [0, 1])] = np.nan
    assert not list(hide_spells(panel, y, 0))
    assert not list(hide_spells(panel, made_panel()[1], 0))  # nor where nothing is missing
    assert list(hide_last(panel, y, 0))


def test_the_last_rows_are_hidden_and_predicted():
    _, y, panel = made_panel(3, 5)
    y[4, 1] = np.nan
    trials = list(hide_last(panel, y, 0))
    assert len(trials) == 3
    for back, trial in enumerate(trials, start=1):
        last = panel.positions >= 5 - back
        assert trial.rows.tolist() == np.flatnonzero(last).tolist()  # at most three steps
        assert np.isnan(trial.left[last]).all()
        assert not np.isnan(trial.left[~last]).any()
    assert (4, 1) not in zip(trials[0].row, trials[0].label, strict=True)


@pytest.mark.parametrize(("n_units", "n_trials"), [(1, 13), (5, 5), (20, 3)])
def test_more_last_times_are_hidden_of_few_units(n_units, n_trials):
    _, y, panel = made_panel(n_units, 24)
    trials = list(hide_last(panel, y, 0))
    assert len(trials) == n_trials
    for back, trial in enumerate(trials, start=1):
        assert len(trial.rows) == n_units * min(back, 3)
        assert np.isnan(trial.left).all(axis=1).sum() == n_units * back


def test_trials_of_single_cells_leave_most_rows_as_they_are():
    """If most rows have holes, hiding those of another unit would double them."""
    _, y, panel = made_panel(20, 24)
    y[np.random.default_rng(0).random(y.shape) < 0.25] = np.nan
    few, *_ = hide_spells(panel, y, 0)
    touched = np.isin(panel.unit, panel.unit[few.row])
    assert 0.15 < len(few.rows) / touched.sum() < 0.45
    assert np.isnan(y[touched]).any(axis=1).mean() > 0.6


def test_how_far_known_rows_are():
    holes = holes_of("xx. x.. ... xx. xx. ..x ...")
    panel = Panel(np.array([0, 0, 0, 0, 0, 0, 1]), np.array([0.0, 1, 2, 3, 4, 5, 0]))
    distance, sides = distances(panel, holes)
    assert distance[:, 0].tolist() == [2, 1, 0, 1, 1, 0, 0]
    assert sides[:, 0].tolist() == [1, 1, 2, 2, 2, 2, 2]
    assert distance[:, 2].tolist() == [0, 0, 0, 0, 0, 1, 0]
    assert sides[5, 2] == 1
    never = distances(panel, np.ones((7, 3), bool))
    assert never[0][:, 0].tolist() == [6] * 6 + [1]
    assert not never[1].any()


def test_how_much_is_known_at_a_time():
    panel = Panel(np.array([0, 1, 2, 0]), np.array([1.0, 1, 1, 2]))
    y = np.array([[1, np.nan], [1, 1], [np.nan, np.nan], [np.nan, 1]])
    assert known_elsewhere(panel, y)[:, 0].tolist() == pytest.approx([2 / 3] * 3 + [0])
    assert known_elsewhere(panel, y)[:, 1].tolist() == pytest.approx([1 / 3] * 3 + [1])
    assert known_elsewhere(Panel(panel.unit), y)[0].tolist() == [0.5, 0.5]


def test_hidden_degrees_count_as_the_holes_are():
    """Degrees that are hidden far from known rows count more, if holes are there."""
    _, y, panel = made_panel(2, 20)
    y[np.ix_(np.arange(9), [0, 1])] = np.nan  # nine rows from an end

    def hide(rows):
        left = y.copy()
        left[np.ix_(rows, [0, 1])] = np.nan
        cells = np.nonzero(np.isnan(left) & ~np.isnan(y))
        return HiddenSpells(left, *cells, np.zeros(len(cells[0]), int))

    trials = [hide(np.arange(20, 29)), hide(np.array([31]))]
    far, near = np.split(likeness(panel, y, trials), [18])
    assert near.max() < far.min()
    classes = surroundings(panel, trials[0].left, trials[0].row, trials[0].label)
    wanted = surroundings(panel, y, *np.nonzero(np.isnan(y)))
    assert classes[0].tolist() == wanted[0].tolist()
    assert classes[2].tolist() == wanted[2].tolist()


def test_a_row_that_is_hidden_again_tells_nothing_new(panel):
    where, y = panel
    trials = list(hide_spells(where, y, 0))
    counts = likeness(where, y, trials)
    once = independent(where, trials, counts)
    twice = independent(where, trials * 2, np.concatenate([counts, counts]))
    assert twice == pytest.approx(once)
    assert independent(where, [], np.zeros(0)) == 0
    whole = y.copy()  # nobody knows the first years, so all units tell the same
    whole[np.ix_(where.positions < 4, [0, 1])] = np.nan
    trials = list(hide_spells(where, whole, 0))
    assert independent(where, trials, likeness(where, whole, trials)) < once


def test_the_more_spells_the_more_the_best_way_weighs():
    errors = np.array([1.0, 1.1, 2.0])
    weights = [weights_by_errors(errors, n) for n in (0, 1, 5, 30, 1e9)]
    assert weights[0].tolist() == [1 / 3] * 3
    best = [each[0] for each in weights]
    assert best == sorted(best)
    assert (weights[-1] == weights[-2]).all()
    assert weights[2][2] == 0  # too small to be used
    for each in weights:
        assert each.sum() == pytest.approx(1)
    assert weights_by_errors(errors, -2.0).tolist() == [1 / 3] * 3
    assert weights_by_errors(np.zeros(2), 5.0).tolist() == [0.5, 0.5]
    assert weights_by_errors(np.array([1.0, 0.0]), 5.0).tolist() == [0, 1]
    before = weights_by_errors(np.ones(2), MOST_SPELLS, np.array([0.9, 0.1]))
    assert before == pytest.approx([0.9, 0.1])


def test_intervals_widen_with_few_spells():
    wider = [beyond_spells(n, 0.9) for n in (0, 2, 5, 30, 1000, np.inf)]
    assert wider == sorted(wider, reverse=True)
    assert wider[0] == wider[1] == pytest.approx(2.920 / 1.645, rel=1e-3)
    assert wider[-1] == 1
    assert wider[-2] == pytest.approx(1, abs=2e-3)
