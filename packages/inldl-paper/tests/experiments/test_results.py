"""What tables and pages derive from rows, beside means."""

import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inldl.specs import split_list
from inldl_paper.commands import bench_command
from inldl_paper.experiments import Cell, grid
from inldl_paper.experiments.results import (
    Summary,
    against_rate,
    common_ground,
    costs,
    environments,
    remarks,
    repeated_grids,
    standing,
    summarize,
    unfinished,
)
from inldl_paper.experiments.statistics import friedman, mean_ranks, nemenyi, wins_ties_losses

RANDOM = ["random(C=3, k=4, n=60)", "random(C=5, k=20, n=1000)"]


def frame(cells, **columns):
    """Return rows for cells, all of them "ok", with a score that tells its place."""
    rows = pd.DataFrame([vars(cell) for cell in cells], columns=list(Cell.__annotations__))
    place = np.arange(len(rows), dtype=float)
    return rows.assign(**{"status": "ok", "reason": "", "cosine": place, **columns})


def test_common_ground_leaves_out_a_hopeless_method_before_any_dataset():
    mean = pd.DataFrame(
        {"a": [0.1, 0.2, 0.3], "b": [0.1, np.nan, np.inf], "never": [np.nan] * 3},
        index=["Gene", "Movie", "Scene"],
    )
    ground = common_ground(Summary("cosine", True, mean, mean))
    assert ground.left_out == ("never",)
    assert ground.dropped == {"Movie": ("b",), "Scene": ("b",)}
    assert ground.scores.index.tolist() == ["Gene"]
    assert ground.scores.columns.tolist() == ["a", "b"]


@pytest.mark.parametrize(("n_methods", "n_datasets"), [(1, 2), (2, 2), (3, 1), (3, 2)])
def test_standing_is_what_the_statistics_say_of_the_common_ground(n_methods, n_datasets):
    methods = ["winldl", "ridge", "constant-mean"][:n_methods]
    rows = frame(grid(RANDOM[:n_datasets], methods, rates=[0.5], splits=2))
    found = standing(rows, "cosine")
    scores = common_ground(summarize(rows, "cosine")).scores
    pd.testing.assert_frame_equal(found.ground.scores, scores)
    assert (found.mean_ranks is None, found.wins is None) == (n_methods < 2, n_methods < 2)
    assert (found.friedman is None) == (found.nemenyi is None) == (n_methods < 3 or n_datasets < 2)
    if n_methods > 1:
        pd.testing.assert_series_equal(found.mean_ranks, mean_ranks(scores, True))
        pd.testing.assert_frame_equal(found.wins, wins_ties_losses(scores, True))
    if found.friedman is not None:
        assert found.friedman.p_value == friedman(scores, True).p_value
        assert found.nemenyi.groups == nemenyi(scores, True, 0.05).groups


def test_noise_makes_no_winner():
    mean = pd.DataFrame({"a": [0.3], "b": [0.1 + 0.2]}, index=["Gene"])
    scores = common_ground(Summary("cosine", True, mean, mean)).scores
    assert scores.loc["Gene", "a"] == scores.loc["Gene", "b"]


def test_against_rate_is_summarize_at_each_rate():
    rows = frame(grid(RANDOM, ["winldl", "ridge"], rates=[0.1, 0.5], splits=3))
    found = against_rate(rows, "cosine").set_index(["rate", "dataset", "method"])
    assert len(found) == 8
    for rate, part in rows.groupby("rate"):
        summary = summarize(part, "cosine")
        for name in ("mean", "std"):
            expected = getattr(summary, name)
            assert (
                found.loc[rate][name]
                .unstack()
                .sort_index(axis=1)
                .equals(expected.sort_index(axis=1))
            )


def test_against_rate_keeps_the_mean_of_a_single_split():
    rows = frame(grid(RANDOM, ["ridge"], rates=[0.1, 0.5], splits=1))
    found = against_rate(rows, "cosine")
    assert found["mean"].notna().all()
    assert len(found) == 4
    assert found["std"].isna().all()


def test_unfinished_tells_what_a_stopped_run_lacks():
    rows = frame(grid(RANDOM, ["winldl", "ridge"], rates=[0.5], splits=3))
    assert unfinished(rows).empty
    gaps = unfinished(rows.drop(index=rows.index[rows["method"].eq("ridge")][-1]))
    assert gaps.to_dict("records") == [
        {"dataset": RANDOM[1], "method": "ridge", "found": 2, "wanted": 3}
    ]


def test_costs_are_means_over_what_ended_well():
    rows = frame(
        [
            Cell("Gene", 0.5, split, "raw", "uniform", "seeded", m)
            for m in "ab"
            for split in (0, 1)
        ],
        fit_seconds=[4.0, 2.0, 1.0, 99.0],
        predict_seconds=0.1,
        peak_memory=[1.0, 3.0, np.nan, np.nan],
        n_iter=[10, 20, None, None],
        converged=[1.0, 0.0, None, None],
        status=["ok", "ok", "ok", "failed"],
    )
    table = costs(rows)
    assert table.index.tolist() == ["b", "a"]
    assert table["fit_seconds"].tolist() == [1, 3]
    assert table.loc["a", ["peak_memory", "n_iter"]].tolist() == [2, 15]
    assert table["fits"].tolist() == [1, 2]
    assert table["not_converged"].tolist() == [0, 1]


def test_remarks_put_failures_first_and_join_alike_ones():
    rows = frame(
        grid(RANDOM, ["winldl", "ridge"], rates=[0.5], splits=2),
    ).assign(reason="slow", status=lambda t: np.where(t["method"] == "ridge", "failed", "ok"))
    rows.loc[rows["dataset"].eq(RANDOM[0]) & rows["method"].eq("winldl"), "reason"] = ""
    found = remarks(rows)
    assert found[["method", "status", "cells"]].to_numpy().tolist() == [
        ["ridge", "failed", 4],
        ["winldl", "ok", 2],
    ]
    assert found["datasets"].tolist() == [RANDOM, RANDOM[1:]]
    assert found["rates"].tolist() == [[0.5], [0.5]]


def test_remarks_of_a_run_without_any():
    assert remarks(frame(grid(RANDOM, ["ridge"], rates=[0.5], splits=1))).empty


def test_environments_are_counted_and_bad_ones_skipped():
    texts = [json.dumps({"python": "3.11"}), json.dumps({"python": "3.12"}), "no JSON", None]
    rows = pd.DataFrame({"environment": [texts[0], *texts]})
    assert environments(rows) == [({"python": "3.11"}, 2), ({"python": "3.12"}, 1)]


def cells_of(grid_again):
    """Return the cells that the command of a grid computes, split by a real shell."""
    script = bench_command(grid_again).replace("inldl bench", "printf '%s\\n'", 1)
    words = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    words = words.stdout.splitlines()
    options = dict(zip(words[::2], words[1::2], strict=True))
    return grid(
        split_list(options["--datasets"]),
        split_list(options["--methods"]),
        rates=[float(rate) for rate in options["--rates"].split(",")],
        splits=int(options["--splits"]),
        recipe=options["--recipe"],
        mechanism=options["--mechanism"],
    )


METHODS = ["winldl", "winldl(mu=8)", "ridge", "extra-trees(criterion='absolute_error')"]
# Some packages draw random numbers when they are imported, which hypothesis does not allow.
grid(RANDOM, METHODS, splits=1)
BENCH = st.builds(
    grid,
    st.lists(st.sampled_from(RANDOM), min_size=1, max_size=2),
    st.lists(st.sampled_from(METHODS), min_size=1, max_size=3),
    rates=st.lists(st.sampled_from([0.1, 0.3, 0.55]), min_size=1, max_size=2),
    splits=st.integers(1, 3),
    recipe=st.sampled_from(["authors", "raw"]),
    mechanism=st.sampled_from(["uniform", "small"]),
)


@given(BENCH)
def test_one_bench_is_one_command_that_gives_its_cells_again(cells):
    (again,) = repeated_grids(frame(cells))
    assert cells_of(again) == cells


@given(BENCH, BENCH)
def test_commands_cover_a_file_of_two_benches(first, second):
    wanted = {*first, *second}
    found = {cell for each in repeated_grids(frame(wanted)) for cell in cells_of(each)}
    assert wanted <= found


def test_the_command_of_a_stopped_run_completes_it():
    cells = grid(RANDOM, METHODS[:2], rates=[0.1, 0.5], splits=2)
    rest = [cell for cell in cells if cell != cells[1]]
    (again,) = repeated_grids(frame(rest))
    assert cells_of(again) == cells


def test_the_authors_splits_have_no_command():
    cells = [Cell("SJAFFE", 0.5, 0, "raw", "uniform", "authors", "ridge")]
    assert repeated_grids(frame(cells)) == []


def test_summarize_refuses_to_mix():
    rows = pd.DataFrame(
        {"dataset": "a", "method": "m", "rate": [0.1, 0.5], "status": "ok", "cosine": [0.9, 0.8]}
    )  # fmt: skip
    with pytest.raises(ValueError, match="m on a has rows with more than one rate"):
        summarize(rows, "cosine")
    assert summarize(rows[:1], "cosine").mean.loc["a", "m"] == 0.9
    with pytest.raises(ValueError, match="no column 'cosin'"):
        summarize(rows[:1], "cosin")
