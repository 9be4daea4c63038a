"""AutoInLDL on the workers of a Dask cluster, of which one is killed between two reads."""

import sys

import dask.array as da
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster

from dask_workers import Workers
from inldl import AutoInLDL, hide
from inldl.methods import auto_all_rows as _auto_all_rows
from inldl.methods import auto_fitting as _auto_fitting
from inldl.methods.auto_fitting import Notes
from inldl.solvers.softmax import softmax

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="kills processes by signals"),
]


@pytest.fixture
def workers(tmp_path):
    with (
        LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        workers = Workers(cluster, client, str(tmp_path))
        yield workers
        for process in workers.processes:
            process.kill()
            process.wait()


def test_a_killed_worker_changes_no_bit(workers, monkeypatch):
    monkeypatch.setattr(_auto_fitting, "SAMPLE_ROWS", 800)
    monkeypatch.setattr(_auto_all_rows, "MORE_PAYS", -1.0)  # more rows, and more
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(6000, 3)).astype(np.float32)
    scores = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] ** 2, np.cos(2 * X[:, 2])])
    y = hide(softmax(2 * scores + rng.normal(size=(6000, 3)) / 2), 0.4, random_state=0)
    lazy = da.from_array(X, chunks=(700, 2)), da.from_array(y, chunks=(700, 3))
    model = AutoInLDL(members="network", random_state=0)
    expected = model.fit(*lazy).predict(X)  # by threads of this process

    workers.at_least(2)
    say, killed = Notes.say, []

    def kill_one(self, text):
        say(self, text)
        if text.startswith("network, 2,560") and not killed:
            killed.append(workers.processes[0])
            workers.kill(killed[0])

    monkeypatch.setattr(Notes, "say", kill_one)
    workers.fit(model, *lazy)
    assert killed
    assert model.report_.members["network"].rows == 5840
    np.testing.assert_array_equal(model.predict(X), expected)
    assert workers.fits_kept() == 0


def test_workers_complete_their_rows(workers):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(2000, 3))
    truth = softmax(np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] ** 2, np.cos(2 * X[:, 2])]))
    y = hide(truth, 0.4, random_state=0)
    model = AutoInLDL(members="kernel-ridge", random_state=0).fit(X[:300], y[:300])
    expected = model.complete_interval(X, y)
    workers.at_least(2)
    lazy = da.from_array(X, chunks=(300, 2)), da.from_array(y, chunks=(300, 3))
    futures = workers.client.compute(model.complete_interval(*lazy))
    assert len(workers.client.who_has(futures)) == 3
    for found, same in zip(workers.client.gather(list(futures)), expected, strict=True):
        np.testing.assert_allclose(found, same, atol=1e-12)
    assert (np.abs(expected[0] - truth) < 0.3).mean() > 0.9
