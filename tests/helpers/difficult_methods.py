"""Methods that misbehave, each in its own way, for the runner to cope with."""

import os
import time
from pathlib import Path

import numpy as np

from inldl.methods import ConstantLDL


class Raises(ConstantLDL):
    def fit(self, X, y):
        raise RuntimeError("no luck\nand no second line")


class Hangs(ConstantLDL):
    def fit(self, X, y):
        Path(f"hangs.{os.getpid()}").touch()
        time.sleep(1000)


class Dies(ConstantLDL):
    def fit(self, X, y):
        os._exit(3)


class PredictsNaN(ConstantLDL):
    def predict(self, X):
        return np.full_like(super().predict(X), np.nan)


class LeavesTheSimplex(ConstantLDL):
    def predict(self, X):
        return 2 * super().predict(X)


class PredictsTooFew(ConstantLDL):
    def predict(self, X):
        return super().predict(X)[:-1]


class TakesItsTime(ConstantLDL):
    def fit(self, X, y):
        time.sleep(0.1)
        return super().fit(X, y)


class Talks(ConstantLDL):
    def fit(self, X, y):
        print("hello", flush=True)
        return super().fit(X, y)


class Overwrites(ConstantLDL):
    def fit(self, X, y):
        super().fit(X, y)
        X *= 0
        y[:] = 0.2
        return self


class NoEstimator:
    pass


def no_data():
    return 1


def no_distributions():
    return np.eye(8), np.ones((8, 3))


def deadly_data():
    os._exit(5)


def my_data(n=60):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 3)), rng.dirichlet(np.ones(4), size=n)
