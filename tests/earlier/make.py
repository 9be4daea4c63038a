"""Write files of this version, which later versions must be able to read.

    python tests/earlier/make.py tests/earlier/0.1.0

It is run once, with the version whose files are to be kept.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import inldl
from inldl import Model, WInLDL, hide
from inldl.datasets import make_distributions
from inldl.experiments import grid, run
from inldl.io import save_model
from inldl.weighting import RandomWeighting

N = 60


def features():
    """Return features and degrees with holes; the same ones for each version."""
    X, y = make_distributions(N, random_state=0)
    return X, hide(y, 0.3, random_state=0)


def table():
    """Return a table with numbers, categories and holes, and its degrees."""
    X, y = features()
    frame = pd.DataFrame(X, columns=["age", "income", "size"])
    frame["region"] = np.array(["north", "south", "east"])[np.arange(N) % 3]
    frame.loc[::7, "income"] = np.nan
    frame.loc[::11, "region"] = None
    return frame, pd.DataFrame(y, columns=["low", "mid", "high"])


def models():
    """Return unfitted models of each kind that a file can hold."""
    return {
        "winldl": WInLDL(cross_fit=3, weighting=RandomWeighting(3)),
        "inldl-p": inldl.InLDLProx(max_iter=20, tol=0.0),
        "inldl-a": inldl.InLDLADMM(max_iter=20, tol=0.0),
        "bfgs-ldl": inldl.BFGSLDL(),
        "iis-ldl": inldl.IISLDL(max_iter=20),
        "edl-lrl": inldl.EDLLRL(max_iter=5, random_state=0),
        "ldm": inldl.LDM(max_iter=5, random_state=0),
        "constant": inldl.ConstantLDL(),
        "auto": inldl.AutoInLDL(calibrate="clark", random_state=0),
        "kernel-ridge": inldl.KernelRidgeLDL(random_state=0),
        "kernel-softmax": inldl.KernelSoftmaxLDL(random_state=0),
        "forest": inldl.ForestLDL(n_trees=3, random_state=0),
        "ridge": inldl.RegressorLDL(Ridge()),
        "knn": inldl.RegressorLDL(KNeighborsRegressor(3)),
        "trees": inldl.RegressorLDL(ExtraTreesRegressor(3, random_state=0), completer=WInLDL()),
    }


def write_models(folder):
    """Write model files, and what the models predict."""
    expected = {}
    for name, model in models().items():
        X, y = features()
        save_model(model.fit(X, y), folder / f"{name}.inldl", info={"rows": N})
        expected[name] = model.predict(X)
    for name, method in {"table": "auto", "table-linear": "winldl"}.items():
        X, y = table()
        model = Model(method).fit(X, y)
        save_model(model, folder / f"{name}.inldl")
        expected[name] = model.predict(X)
    np.savez_compressed(folder / "predictions.npz", **expected)


def write_checkpoint(path):
    """Write the checkpoint of a fit that dies in its seventh iteration."""

    class Died(Exception):
        pass

    def report(t, changes):
        if t == 7:
            raise Died

    model = WInLDL(max_iter=12, tol=0.0, verbose=1, checkpoint=path)
    model._report = report
    try:
        model.fit(*features())
    except Died:
        return
    raise AssertionError("the fit has not died")


def write_store(path):
    """Write the results of a small run of experiments."""
    run(cells(), path)


def cells(splits=2):
    """Return what the run computes."""
    methods = ["winldl", "inldl-p-published(max_iter=5)", "inldl-ii", "ridge", "constant-mean"]
    return grid(["random(n=60)"], methods, rates=[0.3], splits=splits)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    warnings.simplefilter("ignore")
    write_models(folder)
    write_checkpoint(folder / "fit.npz")
    write_store(folder / "run.sqlite")


if __name__ == "__main__":
    main()
