"""Rows that are sums or means of others: found, named, left out of learning, kept in the file."""

import numpy as np
import pandas as pd
import pytest

from inldl.tables import TableFile, complete_table, read_table, write_table
from inldl.tables.table import Piece
from inldl.tables.tasks import fit_table
from inldl.tables.total_rows import find_total_rows

LABELS = ["red", "green", "blue"]
DETAILS = [*range(8), *range(9, 17), *range(18, 26)]
AREAS = pd.DataFrame(np.random.default_rng(0).integers(20, 900, (24, 3)), columns=LABELS)
AREAS.insert(0, "area", [f"r{i}" for i in range(24)])


def total(frame, name):
    return pd.DataFrame([{"area": name, **frame[LABELS].sum()}])


def below(names=("Nord zusammen", "Total South", "West razem"), last="Insgesamt"):
    """Return areas with the totals of three regions and of all below each of them."""
    parts = [AREAS[8 * k : 8 * k + 8] for k in range(3)]
    pairs = [
        each for part, name in zip(parts, names, strict=True) for each in (part, total(part, name))
    ]
    return pd.concat([*pairs, total(AREAS, last)], ignore_index=True)


def shares(frame):
    return frame.assign(**frame[LABELS].div(frame[LABELS].sum(axis=1), axis=0))


def saved(frame, folder):
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def notes_of(table):
    return [note for note in table.notes if "taken for totals" in note]


def test_subtotals_and_totals_are_named_and_left_out(tmp_path):
    table = read_table(saved(below(), tmp_path), LABELS)
    assert table.rows.tolist() == DETAILS
    assert notes_of(table) == [
        "Rows taken for totals or means of others (4): line 10 ('Nord zusammen'), line 19 ('Total "
        "South'), line 28 ('West razem'), line 29 ('Insgesamt'). Nothing is learned from them, "
        "and the file keeps them; if they are rows like the others, say --column-totals none."
    ]
    everything = read_table(saved(below(), tmp_path), LABELS, column_totals="none")
    assert len(everything.y) == 28
    assert notes_of(everything) == []


@pytest.mark.parametrize("change", ["no names", "above", "decimals", "few names"])
def test_arithmetic_is_enough(tmp_path, change):
    frame = below()
    if change == "above":
        frame = frame[::-1].reset_index(drop=True)
    frame["area"] = range(28) if change in ("no names", "above") else frame["area"]
    if change == "decimals":
        frame[LABELS] = (frame[LABELS] / 10).round(1)
    expected = (
        [1 + 27 - i for i in DETAILS[::-1]] if change == "above" else [i + 1 for i in DETAILS]
    )
    assert (read_table(saved(frame, tmp_path), LABELS).rows + 1).tolist() == expected


def test_rounded_sums_are_believed_with_a_name_only(tmp_path):
    frame = below()
    frame.loc[[8, 17, 26, 27], LABELS] += [1, -2, 0]
    assert read_table(saved(frame, tmp_path), LABELS).rows.tolist() == DETAILS
    frame["area"] = range(28)
    assert len(read_table(saved(frame, tmp_path), LABELS).y) == 28


def test_totals_of_rows_with_holes_are_found_and_used(tmp_path):
    frame = below()
    frame["n"] = frame[LABELS].sum(axis=1)
    truth = frame.copy()
    frame.loc[[1, 3, 10, 20], "red"] = frame.loc[[1, 10, 13, 20], "green"] = np.nan
    frame.loc[[3, 13], "blue"] = np.nan
    path, out = saved(frame, tmp_path), tmp_path / "out.csv"
    [note] = notes_of(read_table(path, LABELS, total="n"))
    assert "line 29 ('Insgesamt')" in note
    assert note.endswith("to fill in counts that agree with them, say --column-totals rows.")
    for how in ("rows", "last-row"):
        file = TableFile(path, LABELS, total="n", column_totals=how)
        fit = fit_table(file, "winldl")
        assert fit.n_rows == 24
        complete_table(file, fit.model, out, scale=fit.scale, overwrite=True)
        found = pd.read_csv(out)
        for k, rows in ((8, range(8)), (17, range(9, 17)), (26, range(18, 26))):
            np.testing.assert_allclose(
                found.loc[[*rows], LABELS].sum(), truth.loc[k, LABELS].astype(float)
            )
    no_sums = saved(truth.loc[DETAILS], tmp_path)
    with pytest.raises(ValueError, match="No row of the table is the sum of others; give 'last"):
        read_table(no_sums, LABELS, total="n", column_totals="rows")


def test_a_name_above_columns_with_holes_is_enough(tmp_path):
    frame = pd.concat(
        [AREAS, total(AREAS, "TOTAL GENERAL:")[["area", *LABELS]]], ignore_index=True
    )
    frame["area"] = frame["area"].replace("TOTAL GENERAL:", "Totale")
    frame["n"] = frame[LABELS].sum(axis=1)
    frame.iloc[3:9, 1] = frame.iloc[2:7, 2] = frame.iloc[10:12, 3] = np.nan
    assert (
        "line 26 ('Totale')" in notes_of(read_table(saved(frame, tmp_path), LABELS, total="n"))[0]
    )


@pytest.mark.parametrize("whole", [1, 100])
@pytest.mark.parametrize(
    ("name", "first"), [("Total", False), (" OVERALL", True), ("Ensemble", False), ("Mean", False)]
)
def test_shares_of_a_total_are_known_by_its_name(tmp_path, whole, name, first):
    """A mean of the others with weights that are not known: nothing but the name can tell it."""
    table, last = (shares(each) for each in (AREAS, total(AREAS, name)))
    frame = pd.concat([last, table] if first else [table, last])
    frame[LABELS] *= whole
    read = read_table(saved(frame, tmp_path), LABELS)
    assert len(read.y) == 24
    assert f"({name.strip()!r}). Nothing is learned" in notes_of(read)[0]
    other = frame.assign(area=frame["area"].replace(name, "Totnes"))
    assert notes_of(read_table(saved(other, tmp_path), LABELS)) == []
    frame.iloc[0 if first else -1, 1:] = [0, 0, whole]
    assert len(read_table(saved(frame, tmp_path), LABELS).y) == 25


@pytest.mark.parametrize(
    "name", ["Total", "Summe", "Total Solutions Ltd", "Sumatra", "Meaney", "mean"]
)
def test_a_name_is_not_enough_when_numbers_contradict(tmp_path, name):
    frame = AREAS.assign(area=AREAS["area"].replace("r5", name))
    frame.loc[5, LABELS] = [20, 880, 450]
    frame.loc[6, LABELS] = [950, 3, 450]
    frame.loc[5, "red"] = 10 if name == "mean" else 20  # below all others
    read = read_table(saved(frame, tmp_path), LABELS)
    assert len(read.y) == 24
    said = [note for note in read.notes if "do not prove it" in note]
    assert len(said) == (name in ("Total", "Summe"))
    if said:
        assert said[0] == (
            f"Rows named as totals whose numbers do not prove it (1): line 7 ({name!r}). They are "
            "taken for rows like the others; if they are totals, remove them."
        )


@pytest.mark.parametrize("kind", ["counts", "shares"])
def test_totals_of_each_group_wherever_they_stand(tmp_path, kind):
    rng = np.random.default_rng(1)
    people = pd.DataFrame(rng.integers(20, 900, (20, 3)), columns=LABELS)
    people["region"], people["sex"] = [*range(10)] * 2, ["m"] * 10 + ["f"] * 10
    both = people.groupby("region", as_index=False)[LABELS].sum().assign(sex="total")
    both["sex"] = both["sex"].replace("total", "both sexes") if kind == "counts" else "total"
    frame = pd.concat([people, both], ignore_index=True)
    frame = frame if kind == "counts" else shares(frame)
    assert read_table(saved(frame, tmp_path), LABELS).rows.tolist() == [*range(20)]


def test_rows_that_are_left_out_stay_as_they_are(tmp_path):
    frame = below()
    frame["n"] = frame[LABELS].sum(axis=1)
    frame.loc[3, "red"] = frame.loc[3, "blue"] = frame.loc[27, "blue"] = frame.loc[27, "red"] = (
        np.nan
    )
    path, out = saved(frame, tmp_path), tmp_path / "out.csv"
    table = read_table(path, LABELS, total="n")
    write_table(
        table,
        np.where(np.isnan(table.y), (1 - np.nansum(table.y, axis=1)[:, None]) / 2, table.y),
        out,
    )
    lines, again = path.read_text().splitlines(), out.read_text().splitlines()
    assert [i for i, (a, b) in enumerate(zip(lines, again, strict=True)) if a != b] == [4]


def test_a_level_called_average_names_no_means(tmp_path):
    rng = np.random.default_rng(0)
    frame = shares(pd.DataFrame(rng.integers(20, 900, (60, 3)), columns=LABELS))
    frame["quality"] = rng.choice(["worse", "average", "better", "excellent"], 60)
    frame["country"] = rng.choice(["A", "B", "C"], 60)
    assert len(read_table(saved(frame, tmp_path), LABELS).y) == 60


def test_numbers_that_come_again_prove_little():
    """Wages with many decimals, of which there are few, beside small whole numbers."""
    rng = np.random.default_rng(0)
    wages = rng.choice(np.append(rng.uniform(5, 20, 20).round(6), 0), (2000, 2))
    values = np.hstack([wages, rng.integers(0, 3, (2000, 4))])
    piece = Piece(0, 2000, values, pd.DataFrame(index=range(2000)), None)
    assert not len(find_total_rows(piece).rows)


def test_a_row_that_comes_again_behind_zeros_is_no_sum():
    rng = np.random.default_rng(0)
    values = rng.uniform(1, 900, (20, 4)).round(4)
    values[7], values[6], values[8] = values[5], 0, values[5]
    piece = Piece(0, 20, values, pd.DataFrame(index=range(20)), None)
    assert not len(find_total_rows(piece).rows)


def test_chance_makes_no_totals():
    """Of random counts, and of counts that grow from row to row."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        size = rng.choice([5, 20, 120]), rng.choice([2, 3, 6])
        counts = rng.poisson(rng.choice([3, 50, 1000]), size)
        for values in (counts, counts.cumsum(axis=0), np.sort(counts, axis=0)):
            piece = Piece(
                0, len(values), values.astype(float), pd.DataFrame(index=range(len(values))), None
            )
            assert not len(find_total_rows(piece).rows)


def grouped_counts(seed, with_totals):
    """Return counts of which one is missing in most groups, and the totals of their rows."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(6, 20, (30, 1)) * [0.5, 0.3, 0.2])
    frame = pd.DataFrame(counts, columns=LABELS).assign(n=counts.sum(axis=1))
    parts = [frame[i : i + 10] for i in (0, 10, 20)]
    sums = [pd.DataFrame([part.sum()]) for part in [*parts, frame]]
    if with_totals:
        parts = [each for pair in zip(parts, sums, strict=False) for each in pair] + sums[3:]
    frame = pd.concat(parts, ignore_index=True).astype(float)
    for row, label in zip(range(1, 33, 3), rng.integers(0, 3, 11), strict=True):
        if row < len(frame) and row not in (10, 21, 32):
            frame.loc[row, [LABELS[label], LABELS[label - 1]]] = np.nan
    return frame.assign(area=[f"r{i}" for i in range(len(frame))])


@pytest.mark.parametrize("step", [1, -1])
def test_sums_that_agree_again_and_again_prove_unnamed_totals(tmp_path, step):
    path = saved(grouped_counts(3, True)[::step], tmp_path)
    assert len(read_table(path, LABELS, total="n").y) == 30
    for seed in range(8):
        path = saved(grouped_counts(seed, False)[::step], tmp_path)
        assert len(read_table(path, LABELS, total="n").y) == 30


@pytest.mark.parametrize(
    "word", ["小計", "소계", "Delsumma", "Ukupno", "Kokku", "Iš viso", "Jumlah"]
)
def test_subtotals_of_more_languages(tmp_path, word):
    frame = grouped_counts(3, True)
    frame.loc[[10, 21, 32], "area"] = word
    table = read_table(saved(frame, tmp_path), LABELS, total="n")
    assert len(table.y) == 30
    assert f"line 12 ({word!r})" in str(table.notes)


def test_shares_that_are_named_as_totals_of_regions_are_told(tmp_path):
    frame = shares(AREAS.copy())
    frame["area"] = frame["area"].replace({"r5": "Region 1 insgesamt", "r9": "Total region 2"})
    table = read_table(saved(frame, tmp_path), LABELS)
    assert len(table.y) == len(frame)
    assert (
        "Rows named as totals whose numbers do not prove it (2): line 7 ('Region 1 insgesamt'), "
        "line 11 ('Total region 2'). They are taken for rows like the others; if they are totals, "
        "remove them."
    ) in table.notes


def test_rounded_sums_of_large_counts_prove_an_unnamed_total(tmp_path):
    rng = np.random.default_rng(2)
    counts = rng.integers(10_000, 900_000, (20, 5))
    rows = np.vstack([counts.sum(axis=0) + np.array([0, 2, -1, 1, 3]), counts])
    frame = pd.DataFrame(rows, columns=list("abcde")).assign(area=[f"r{i}" for i in range(21)])
    assert len(read_table(saved(frame, tmp_path), list("abcde")).y) == 20
