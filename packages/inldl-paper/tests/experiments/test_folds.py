"""Folds: groups that stay together, and files for other programs."""

import numpy as np
import pytest
from scipy.io import loadmat

from inldl_paper.experiments import grid, make_fold, write_folds
from inldl_paper.experiments.folds import fold_of, load_groups, partition

RANDOM = "random(C=3, k=4, n=60)"


@pytest.mark.parametrize("sizes", [[5] * 12, [1, 40, 3, 7, 9], [30, 30]])
def test_no_group_is_in_both_parts(sizes):
    groups = np.repeat([f"person {at}" for at in range(len(sizes))], sizes)
    n = len(groups)
    for split in range(5):
        train, test = partition("a", n, split, groups)
        assert sorted([*train, *test]) == list(range(n))
        assert not set(groups[train]) & set(groups[test])
        assert len(train)
        assert len(test)
        if len(sizes) == 12:
            assert len(train) == 45  # of 60, in groups of 5: at most 80%


def test_groups_of_a_file_and_of_faces(tmp_path, shared, monkeypatch):
    X, y = np.ones((6, 1)), np.full((6, 2), 0.5)
    path = tmp_path / "g.npz"
    np.savez(path, X=X, y=y, groups=list("aabbcc"))
    assert load_groups(str(path)).tolist() == list("aabbcc")
    np.savez(path, X=X, y=y, groups=list("aaaaaa"))
    with pytest.raises(ValueError, match="has no groups"):
        load_groups(str(path))
    monkeypatch.setenv("INLDL_DATA", str(shared))
    groups = load_groups("SBU_3DFE")
    assert len(groups) == 2500
    assert len(set(groups)) == 100


def test_files_have_the_folds(tmp_path):
    cells = grid([RANDOM], ["winldl", "ridge"], rates=[0.3, 0.7], splits=2)
    paths = write_folds(cells, tmp_path / "folds")
    assert len(paths) == len(set(paths)) == 4  # one for both methods
    for path, cell in zip(paths, cells[::2], strict=True):
        stored, fold = loadmat(path), fold_of(cell)
        for name, values in vars(fold).items():
            np.testing.assert_array_equal(stored[name], values)
    assert np.isnan(stored["y"]).any()
    assert not np.isnan(stored["y_test"]).any()


def test_groups_change_the_rows_and_nothing_else():
    X, y = np.arange(40.0)[:, None], np.full((40, 2), 0.5)
    fold = make_fold("a", X, y, rate=0.0, split=0, recipe="raw", groups=np.arange(40) // 4)
    people = fold.X.ravel() // 4, fold.X_test.ravel() // 4
    assert not set(people[0]) & set(people[1])
    assert len(fold.X) == 32
