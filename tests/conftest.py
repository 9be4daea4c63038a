"""Data that the tests share."""

import json
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from scipy.io import loadmat

# No deadline: the first call of a kernel compiles it, and the machine may be busy. The same
# examples in each run, and few of them: `make test-all` tries more (`pytest
# --hypothesis-profile=thorough`), and `--hypothesis-profile=random` others.
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", derandomize=True, max_examples=30, **PATIENT)
settings.register_profile("thorough", derandomize=True, **PATIENT)
settings.register_profile("random", **PATIENT)
settings.load_profile("quick")

# A shell script that starts the tests in the background has them, and all processes that they
# start, ignore Ctrl-C; some tests are about what it does.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session")
def shared():
    """Return the folder of the public data; the tests that need it are skipped without it."""
    if not (SHARED / "datasets").is_dir():
        pytest.skip("needs the public LDL datasets in ../shared")
    return SHARED


@pytest.fixture(scope="session")
def public(shared):
    """Return a function that reads the features and complete degrees of a public dataset."""

    def read(name):
        table = loadmat(shared / "datasets" / f"{name}.mat")
        y = table["labels"] if "labels" in table else table["label_distribution"]
        y = y.astype(np.float64)
        return table["features"].astype(np.float64), y / y.sum(axis=1, keepdims=True)

    return read


@pytest.fixture(scope="session")
def authors_runs(shared):
    """Return the authors' metrics, run by run, and their splits (train, test, observed)."""
    runs = json.loads((shared / "reference" / "winldl_sbu3dfe_runs.json").read_text())
    splits = [np.load(path) for path in sorted((shared / "splits" / "SBU_3DFE").glob("*.npz"))]
    return runs, splits
