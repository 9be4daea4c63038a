"""Model files that the tests change."""

import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.neighbors import KNeighborsRegressor

from inldl import AutoInLDL, WInLDL, hide
from inldl.datasets import make_distributions
from inldl.files.model_file import save_model
from inldl.methods import ForestLDL, RegressorLDL
from inldl.tables.model import TableModel


@pytest.fixture(scope="session")
def named_data():
    """Return features and degrees with holes, with names."""
    X, y = make_distributions(150, random_state=0)
    y = hide(y, 0.3, random_state=0)
    return pd.DataFrame(X, columns=["a", "b", "ü c"]), pd.DataFrame(y, columns=["p", "q", "r"])


@pytest.fixture(scope="session")
def saved(tmp_path_factory, named_data):
    """Return the files of several models by name."""
    folder = tmp_path_factory.mktemp("saved")
    models = {
        "linear": WInLDL(cross_fit=3, max_iter=2),
        "auto": AutoInLDL("kernel-ridge", recalibrate="clark", random_state=0),
        "forest": ForestLDL(n_trees=2, n_landmarks=20, random_state=0),
        "trees": RegressorLDL(ExtraTreesRegressor(2, max_depth=3, random_state=0)),
        "neighbors": RegressorLDL(KNeighborsRegressor()),
        "table": TableModel("winldl"),
    }
    paths = {name: folder / name for name in models}
    for name, model in models.items():
        save_model(model.fit(*named_data), paths[name])
    return paths
