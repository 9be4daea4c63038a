"""Worker processes that the tests start, disturb and kill, what they are told, and the rows."""

import os
import subprocess
import sys
import time

import dask.array as da
import numpy as np

import inldl
from inldl.engines import dask as worker_parts

HERE = os.path.dirname(__file__)  # for workers that import this file
# Without Dask's profiler, which looks at the threads of a worker a hundred times a second.
ENV = {**os.environ, "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}


def problem(n=4000, k=12, C=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, k))
    y = np.exp(X @ rng.normal(size=(k, C)) / k)
    return X, inldl.hide(y / y.sum(axis=1, keepdims=True), 0.5, random_state=0)


def chunked(n=4000, k=12, C=5, rows=300, columns=5):
    X, y = problem(n, k, C)
    return da.from_array(X, chunks=(rows, columns)), da.from_array(y, chunks=(rows + 100, -1))


def interrupted(method, at, action, **parameters):
    """Return a model that does something to the world after an iteration."""
    model = method(max_iter=9, tol=0.0, verbose=1, **parameters)

    def report(t, changes):
        if t == at:
            action()

    model._report = report
    return model


class Workers:
    """A scheduler, a client, and worker processes that nobody starts again."""

    def __init__(self, cluster, client, folder):
        self.cluster, self.client, self.folder = cluster, client, folder
        self.processes = []

    def at_least(self, n):
        """Start workers until there are `n`, and wait for them."""
        self.start(n)
        self.client.wait_for_workers(n, timeout=300)
        return self

    def one(self, *options):
        """Kill all workers and start another one."""
        for process in self.processes:
            self.kill(process)
        while self.client.nthreads():
            time.sleep(0.05)
        self.start(1, *options)
        self.client.wait_for_workers(1, timeout=300)

    def start(self, n, *options):
        self.processes = [process for process in self.processes if process.poll() is None]
        while len(self.processes) < n:
            command = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny"]
            command += ["--no-dashboard", "--nthreads", "2", "--local-directory", self.folder]
            command += [*options, self.cluster.scheduler_address]
            started = subprocess.Popen(command, cwd=HERE, env=ENV, stderr=subprocess.DEVNULL)
            self.processes.append(started)

    def addresses(self):
        """Return the address of each worker by its process."""
        return {pid: address for address, pid in self.client.run(os.getpid).items()}

    def kill(self, process):
        """Kill a worker, without a chance to say goodbye."""
        process.kill()
        process.wait()

    def fit(self, model, *data):
        with self.client.as_current():
            return model.fit(*data)

    def fits_kept(self, seconds=300):
        """Return how many fits the workers hold, as soon as it is none.

        They drop a fit a little after it ended, and half a minute after its client died.
        """
        until = time.monotonic() + seconds
        while (found := sum(self.client.run(count_fits).values())) and time.monotonic() < until:
            time.sleep(0.1)
        return found

    def tasks_left(self, name, seconds=300):
        """Return the tasks of that name that the scheduler has, as soon as there are none."""
        until = time.monotonic() + seconds
        while (found := self.client.run_on_scheduler(tasks, name)) and time.monotonic() < until:
            time.sleep(0.1)
        return found


def tasks(name, dask_scheduler):
    return [str(key) for key in dask_scheduler.tasks if name in str(key)]


def count_fits():
    return sum(map(len, worker_parts._FITS.values()))


def forget_everything():
    for fits in worker_parts._FITS.values():
        fits.clear()


def keys_in_memory(dask_worker):
    return [str(key) for key in dask_worker.data]


def hurry():
    worker_parts.IDLE = 1.0


def be_of_version(version):
    inldl.__version__ = worker_parts.__version__ = version


def fill_memory(dask_worker):
    dask_worker.ballast = np.ones(500_000_000, np.int8)


def free_memory(dask_worker):
    dask_worker.ballast = None


def status(dask_worker):
    return dask_worker.status.name
