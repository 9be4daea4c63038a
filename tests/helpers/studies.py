"""Numbers of a study of any size, to be drawn."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

METHODS = ["WInLDL", "LDM", "EDL-LRL", "InLDL-p", "InLDL-a", "BFGS-LDL", "IIS-LDL"]
METHODS += ["constant mean", *(f"variant {number}" for number in range(1, 13))]
DATASETS = ["Gene", "Movie", "Scene", "SBU3DFE", "RAF_ML", "Emotion6"]
RATES = [0.1, 0.3, 0.5, 0.7, 0.9]
METRICS = ["chebyshev", "clark", "canberra", "cosine", "intersection"]
SIZES = ["below 0.5", "0.5 and above"]


def _product(values, **axes):
    """Return a frame over all combinations of the axes, with a column drawn by `values`."""
    index = pd.MultiIndex.from_product(axes.values(), names=axes.keys())
    frame = index.to_frame(index=False)
    return frame.assign(**{name: draw(len(frame)) for name, draw in values.items()})


def make_study(count=7):
    """Return the tables of a study of so many methods."""
    rng = np.random.default_rng(count)
    methods = METHODS[:count]
    ranks = pd.Series(np.linspace(1.2, count - 0.2, count).round(1), index=methods)
    ranks.iloc[1] = ranks.iloc[0]
    score = {
        "mean": lambda n: rng.uniform(0.5, 1, n),
        "std": lambda n: rng.uniform(0, 0.02, n),
    }
    seconds = {"seconds": lambda n: 10 ** rng.uniform(-2, 3, n)}
    error = {"error": lambda n: rng.uniform(0.1, 2, n)}
    bound = {
        "bound": lambda n: 10 ** rng.uniform(-1, 2, n),
        "floor": lambda n: np.full(n, 0.1),
    }
    mids = np.arange(0.05, 1, 0.1).round(2)
    return SimpleNamespace(
        methods=methods,
        ranks=ranks,
        groups=[methods[:2], methods[1:3], methods[count // 2 :]],
        scores=_product(score, dataset=DATASETS, method=methods, rate=RATES),
        seconds=_product(seconds, method=methods, dataset=DATASETS),
        times=_product(seconds, method=methods, n=[1000, 10_000, 100_000]),
        exponents=pd.Series(rng.uniform(0.9, 2.1, count), index=methods),
        mu=_product(score, metric=METRICS, mu=[0.1, 0.5, 1, 2, 5, 10]),
        histories={mu: 10.0 ** -np.arange(1, 9) * mu for mu in (0.1, 2, 10)},
        sizes=_product(error, dataset=DATASETS[:2], method=methods, size=SIZES),
        degrees=_product(error, weighting=["before", "after"], degree=mids),
        counts=pd.Series((1e5 * np.exp(-8 * mids)).astype(int) + 1, index=mids),
        bounds=_product(bound, max_weight=[1, 2, 4], N=[100, 1000, 10_000, 100_000]),
    )
