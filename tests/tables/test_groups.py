"""Groups of shares that inform each other: files, and what is the same for frames."""

import numpy as np
import pandas as pd
import pytest

from inldl import SharesImputer
from inldl.tables.groups import complete_groups, learn_in_chain
from inldl.tables.options import ColumnOptions, FillOptions, LearnOptions
from two_groups import AGES, VOTES, two_groups

PLAIN = LearnOptions(unit="none", time="none")


@pytest.fixture(scope="module")
def related():
    return two_groups()[0].reset_index(drop=True)


def test_a_chain_uses_what_was_filled_without_the_group_and_takes_the_clearly_better():
    hidden = {"a": (1.0, 0.5), "b": (1.0, 0.99), "c": (np.nan, 0.1), "d": (1.0, 0.5)}
    new = {"a": (1.0, 0.6), "b": (1.0, 0.6), "c": (1.0, 0.6), "d": (1.0, 0.99)}
    fitted = []

    def fit(name, others):
        fitted.append((name, *sorted(others.items())))
        return len(others)

    first, chosen, found = learn_in_chain(
        list(hidden),
        fit,
        lambda name, model: name * 2,
        lambda n, model: (hidden[n][model > 0], new[n][model > 0]),
    )
    assert fitted[:4] == [("a",), ("b",), ("c",), ("d",)]
    assert fitted[4] == ("a", ("b", "bb"), ("c", "cc"), ("d", "dd"))
    assert first == dict.fromkeys("abcd", 0)
    assert chosen == {"a": 3}
    np.testing.assert_array_equal(found, list(hidden.values()))


def test_a_file_is_completed_as_a_frame_is(related, tmp_path):
    """Votes are fractions, ages percentages; all that was there stays."""
    frame = related.assign(**{name: 100 * related[name] for name in AGES})
    frame.to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",", lineterminator="\r\n")
    done = complete_groups(
        tmp_path / "t.csv", [VOTES, "b*"], tmp_path / "whole.csv", "winldl", learning=PLAIN
    )
    assert [group.name for group in done] == ["a1, a2, a3", "b1, b2, b3"]
    assert [group.learned.scale for group in done] == ["fraction", "percent"]
    assert b";" in (tmp_path / "whole.csv").read_bytes().splitlines(keepends=True)[1]
    whole = pd.read_csv(tmp_path / "whole.csv", sep=";", decimal=",", parse_dates=["day"])
    others = ["town", "income", "day"]
    pd.testing.assert_frame_equal(whole[others], frame[others], check_dtype=False)
    known = frame[VOTES + AGES].notna().to_numpy()
    np.testing.assert_array_equal(
        whole[VOTES + AGES].to_numpy()[known], frame[VOTES + AGES].to_numpy()[known]
    )
    shares = {"votes": VOTES, "ages": AGES}
    imputer = SharesImputer(shares, method="winldl", unit="none", time="none").fit(frame)
    np.testing.assert_allclose(
        whole[VOTES + AGES], imputer.transform(frame)[VOTES + AGES], atol=2e-4
    )
    errors = imputer.errors_.to_numpy() * [[1], [100]]
    np.testing.assert_allclose([(g.alone, g.together) for g in done], errors, rtol=0.05)
    assert [group.helped for group in done] == [True, True]


def test_each_group_has_intervals_and_marks(related, tmp_path):
    related.to_csv(tmp_path / "t.csv", index=False)
    filling = FillOptions(coverage=0.9, filled_columns=True)
    path = tmp_path / "t.csv"  # which is replaced
    done = complete_groups(
        path, [VOTES, AGES], path, "winldl", learning=PLAIN, filling=filling, overwrite=True
    )
    whole = pd.read_csv(path)
    for labels, group in zip((VOTES, AGES), done, strict=True):
        holes = related[labels].isna()
        np.testing.assert_array_equal(whole[[f"{n}_filled" for n in labels]] == 1, holes)
        low, high = (whole[[f"{n}_{end}" for n in labels]].to_numpy() for end in ("low", "high"))
        values = whole[labels].to_numpy()[holes]
        assert (low[holes] - 1e-6 <= values).all()
        assert (values <= high[holes] + 1e-6).all()
        assert group.written.n_filled == holes.to_numpy().sum()


@pytest.mark.parametrize("suffix", [".xlsx", ".parquet", ".csv.gz"])
def test_files_of_other_kinds(suffix, related, tmp_path):
    path = tmp_path / f"t{suffix}"
    frame = related.drop(columns="day")
    write = {".xlsx": frame.to_excel, ".parquet": frame.to_parquet}.get(suffix, frame.to_csv)
    write(path, index=False)
    out = tmp_path / f"whole{suffix}"
    complete_groups(path, [VOTES, AGES], out, "winldl", columns=ColumnOptions(ignore="income"))
    read = {".xlsx": pd.read_excel, ".parquet": pd.read_parquet}.get(suffix, pd.read_csv)
    whole = read(out)
    assert whole[VOTES + AGES].notna().all(axis=None)
    pd.testing.assert_frame_equal(
        whole[["town", "income"]], frame[["town", "income"]], check_dtype=False
    )


@pytest.mark.parametrize(
    ("labels", "options", "words"),
    [
        ([VOTES, ["a1", *AGES]], {}, "The label 'a1' is in two groups of shares"),
        ([VOTES, "c*"], {}, r"No label columns found for 'c\*'"),
        ([VOTES, AGES], {"columns": ColumnOptions(sums="b1=a1,a2")}, "--sum is for one group"),
        ([VOTES, AGES], {"filling": FillOptions(n_draws=2)}, "--draws is for one group"),
    ],
)
def test_what_cannot_be_is_refused(labels, options, words, related, tmp_path):
    related.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ValueError, match=words):
        complete_groups(tmp_path / "t.csv", labels, tmp_path / "whole.csv", **options)
    assert not (tmp_path / "whole.csv").exists()
