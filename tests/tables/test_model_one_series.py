"""Models of a table that is one series in time."""

import numpy as np
import pandas as pd
import pytest

from inldl.files.model_file import load_model, save_model
from inldl.tables import TableModel


@pytest.mark.parametrize("features", [[], ["size"]])
def test_a_row_without_a_time_is_predicted_and_the_model_can_be_kept(features, tmp_path):
    """Such a row belongs to no series, so it is a unit of its own beside the one of the fit."""
    years = np.arange(1960, 2000)
    shares = np.sin(years / 8) / 4 + 0.5
    X = pd.DataFrame({"year": years, "size": years % 7 / 2})[["year", *features]]
    y = pd.DataFrame({"a": shares, "b": 1 - shares})
    y.iloc[10:14] = np.nan
    model = TableModel("ridge").fit(X, y)
    assert model.panel_.reader.columns == ("year",)
    new = pd.DataFrame({"year": [1971, np.nan], "size": [1.0, 2.0]})[["year", *features]]
    found = np.asarray(model.predict(new))
    assert abs(found[0, 0] - shares[11]) < 0.05
    assert abs(found[1, 0] - shares.mean()) < 0.1
    save_model(model, tmp_path / "m.inldl")
    assert np.array_equal(load_model(tmp_path / "m.inldl").predict(new), found)
