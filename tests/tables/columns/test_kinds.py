"""Kinds of columns: one class is all that a new kind needs; old files still have theirs."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from inldl import TableModel
from inldl.files.model_file import load_model, save_model
from inldl.files.onnx import export_onnx
from inldl.tables import FeatureEncoder, TableFile, fit_table, inspect_table, predict_table
from inldl.tables.columns.encoder import KINDS, register
from inldl.tables.columns.kinds import Choice, Column

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True)
class DayColumn(Column):
    """Encode days of the week as points of a circle, and say where they are missing."""

    name: str
    kind = "day"

    @classmethod
    def recognise(cls, cells, max_levels):
        """Take text that has nothing but days in it."""
        if cells.numbers is not None or not 0 < len(cells.seen) == len({*cells.seen} & {*DAYS}):
            return None
        return Choice(cls(cells.name), cls.kind)

    @property
    def outputs(self):
        """Name the two coordinates and the indicator."""
        return [f"{self.name} {part}" for part in ("cos", "sin", "missing")]

    @property
    def scaling(self):
        """Divide the coordinates, to see that it matters."""
        return [(0.0, 0.0, 2.0), (0.0, 0.0, 2.0), (0.0, 0.0, 1.0)]

    def read(self, cells):
        """Return the numbers of the days: 7 where they are missing, 8 for other words."""
        days = [DAYS.index(value) if value in DAYS else 8 for value in cells.values]
        return np.array([*days, 7])[cells.codes]

    def write(self, read, out):
        """Look the days up."""
        out[:] = self._table()[read]

    def unfamiliar(self, read):
        """Return which words are no days."""
        return read == 8

    def _table(self):
        angles = 2 * np.pi * np.arange(7) / 7
        table = np.zeros((9, 3))
        table[:7, 0], table[:7, 1], table[7, 2] = np.cos(angles), np.sin(angles), 1
        return table

    def add_to(self, graph):
        """Look the days up in the graph."""
        day = graph.add_input(self.name, 1, text=True)
        keys, codes = [*DAYS, ""], list(range(8))
        code = graph.add(
            "LabelEncoder",
            day,
            domain="ai.onnx.ml",
            keys_strings=keys,
            values_int64s=codes,
            default_int64=8,
        )
        row = graph.add("Squeeze", code, np.array([1]))
        return [graph.add("Gather", self._table(), row, axis=0)]


@pytest.fixture
def day_column():
    """Register a kind of column from outside, and forget it afterwards."""
    before = KINDS.copy()
    yield register(DayColumn)
    KINDS[:] = before


@pytest.fixture
def week(day_column):
    """Return features with a day, and degrees that follow it."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(40, 9, 300), "town": rng.choice(["A", "B"], 300)})
    X["day"] = rng.choice([*DAYS, None], 300)
    share = np.where(X["day"].isin(["sat", "sun"]), 0.8, 0.3)
    return X, pd.DataFrame({"rest": share, "work": 1 - share})


def test_a_kind_from_outside_is_chosen_and_encoded(day_column, week):
    X, _ = week
    encoder = FeatureEncoder().fit(X)
    assert encoder.columns_[2] == day_column("day")
    assert encoder.sources_ == ["age", "town", "town", "day", "day", "day"]
    assert list(encoder.get_feature_names_out()[3:]) == ["day cos", "day sin", "day missing"]
    new = pd.DataFrame({"age": 40.0, "town": "A", "day": ["mon", None, "soon"]})
    assert encoder.transform(new)[:, 3:].tolist() == [[0.5, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert encoder.unfamiliar(new)[1].tolist() == [False, False, True]


def test_a_kind_from_outside_is_explained(week):
    found = inspect_table(*week).features.set_index("column")["kind"]
    assert found.to_dict() == {"age": "number", "town": "text", "day": "day"}
    influence = TableModel("winldl", cross_fit=None).fit(*week).influence(*week)
    assert influence["rest"].idxmax() == "day"


def test_a_kind_from_outside_is_saved_and_loaded(week, tmp_path):
    X, y = week
    model = TableModel("winldl").fit(X, y)
    save_model(model, tmp_path / "week.inldl")
    loaded = load_model(tmp_path / "week.inldl")
    assert loaded.encoder_.columns_ == model.encoder_.columns_
    pd.testing.assert_frame_equal(loaded.predict(X), model.predict(X))


def test_a_kind_from_outside_is_exported(week, tmp_path):
    pytest.importorskip("onnx", reason="needs onnx to write files")
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to run the files")
    X, y = week
    model = TableModel("winldl", cross_fit=None).fit(X, y)
    export_onnx(model, tmp_path / "week.onnx")
    session = onnxruntime.InferenceSession(
        tmp_path / "week.onnx", providers=["CPUExecutionProvider"]
    )
    inputs = {name: X[[name]].to_numpy() for name in ("age", "town")}
    inputs["day"] = X[["day"]].fillna("").to_numpy(object)
    degrees = session.run(["degrees"], inputs)[0]
    np.testing.assert_allclose(degrees, model.predict(X), rtol=0, atol=1e-12)


def test_a_kind_from_outside_is_read_from_files(day_column, week, tmp_path):
    table = tmp_path / "week.csv"
    pd.concat(week, axis=1).to_csv(table, index=False)
    file = TableFile(table, ["rest", "work"])
    learned = fit_table(file, "winldl")
    assert day_column("day") in learned.model.encoder_.columns_
    written = predict_table(file, learned.model, tmp_path / "predicted.csv")
    assert written.notes == []
    frame = pd.read_csv(tmp_path / "predicted.csv")
    expected = learned.model.predict(week[0])
    np.testing.assert_allclose(frame["rest_predicted"], expected["rest"], atol=1e-8)


def test_kinds_are_asked_in_a_stated_order(day_column):
    names = ["DayColumn", "DateColumn", "NumberColumn", "CategoryColumn"]
    assert [kind.__name__ for kind in KINDS] == names
    register(type("DayColumn", (Column,), {"__module__": day_column.__module__}))
    assert [kind.__name__ for kind in KINDS] == names  # a cell of a notebook was run again
    assert KINDS[0] is not day_column


def test_two_kinds_cannot_have_one_name():
    with pytest.raises(ValueError, match="There is another NumberColumn already; rename"):
        register(type("NumberColumn", (Column,), {}))
