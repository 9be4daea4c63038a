"""What completes a cell in Python: inldl, imputers of PyPI, and three simple ways."""

import inspect
import signal
import time
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import minimize
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.linear_model import BayesianRidge

from inldl.tables import TableModel
from scores import COVERAGE

OURS = ("inldl", "inldl ratios")
DRAWS, IMPUTATIONS = 20, 5


def ours(cell, error=None):
    """Return what TableModel fills in, the ends of its intervals and draws; and seconds."""
    about = {"init": {}, "fit": {"unit": "none", "time": "none"}}
    if error is not None:
        about[error_place()]["error"] = error
    X = pd.DataFrame(cell.X, columns=[f"x{i}" for i in range(cell.X.shape[1])])
    start = time.perf_counter()
    model = TableModel(**about["init"]).fit(X, cell.y, upper=cell.upper, **about["fit"])
    found = model.complete_interval(X, cell.y, COVERAGE, upper=cell.upper)
    seconds = time.perf_counter() - start
    draws = model.draw(X, cell.y, DRAWS, random_state=0, upper=cell.upper)
    names = ("filled", "low", "high", "draws")
    return dict(zip(names, map(np.asarray, (*found, draws)), strict=True)), seconds


def error_place():
    """Return which function of TableModel is told what its errors are, "init", "fit" or None."""
    places = {"init": TableModel.__init__, "fit": TableModel.fit}
    found = [name for name, f in places.items() if "error" in inspect.signature(f).parameters]
    return found[0] if found else None


def chained(model, cell, logs=False):
    """Return shares by scikit-learn's chained equations, of shares or of their logarithms."""
    k, scale = cell.X.shape[1], np.log if logs else np.asarray
    top = np.ones(cell.y.shape[1]) if cell.limits is None else cell.limits
    high, low = np.r_[np.full(k, np.inf), scale(top)], -np.inf if logs else 0
    ends = {"min_value": np.r_[np.full(k, -np.inf), np.full(len(top), low)], "max_value": high}
    imputer = IterativeImputer(model, random_state=0, skip_complete=True, **ends)
    filled = imputer.fit_transform(np.hstack([cell.X, cell.logs if logs else cell.y]))[:, k:]
    return np.exp(filled) if logs else filled


def neighbours(cell):
    """Return means of the 5 nearest rows; features together count as much as shares do."""
    unit = np.nanstd(cell.y) * np.sqrt(cell.y.shape[1] / max(cell.X.shape[1], 1))
    return KNNImputer().fit_transform(np.hstack([cell.X * unit, cell.y]))[:, cell.X.shape[1] :]


def mice_forest(cell):
    """Return imputations by miceforest, which chains LightGBM with predictive mean matching."""
    from miceforest import ImputationKernel

    table = np.hstack([cell.X, cell.y])
    frame = pd.DataFrame(table, columns=[f"c{i}" for i in range(table.shape[1])])
    kernel = ImputationKernel(frame, num_datasets=IMPUTATIONS, random_state=0)
    kernel.mice(5, num_threads=1, verbosity=-1)
    draws = [kernel.complete_data(i).to_numpy(float) for i in range(IMPUTATIONS)]
    return [draw[:, cell.X.shape[1] :] for draw in draws]


def below_limit(cell):
    """Return exp of the mean logarithm below the limit: of a censored normal, part by part."""
    means = [
        censored_mean(x, np.log(top)) for x, top in zip(cell.logs.T, cell.limits, strict=True)
    ]
    return np.broadcast_to(np.exp(means), cell.y.shape)


def censored_mean(x, limit):
    """Return the mean below the limit of a normal that is fitted to the others by likelihood."""
    seen = x[~np.isnan(x)]

    def loss(about):
        mean, sd = about[0], np.exp(about[1])
        below = (len(x) - len(seen)) * stats.norm.logcdf(limit, mean, sd)
        return -below - stats.norm.logpdf(seen, mean, sd).sum()

    mean, log_sd = minimize(loss, [seen.mean(), np.log(seen.std() + 1e-9)], method="Nelder-Mead").x
    z = (limit - mean) / np.exp(log_sd)
    return mean - np.exp(log_sd + stats.norm.logpdf(z) - stats.norm.logcdf(z))


NEED_LIMITS = ("65% of the limit", "log-normal below the limit", "zCompositions multLN")
PEERS = {  # method: package, function; what a function leaves missing gets column means
    "column means": ("numpy", lambda cell: cell.y),
    "65% of the limit": ("numpy", lambda cell: 0.65 * cell.upper),
    "log-normal below the limit": ("scipy", below_limit),
    "chained ridge": ("scikit-learn", lambda cell: chained(BayesianRidge(), cell)),
    "chained ridge, logs": ("scikit-learn", lambda cell: chained(BayesianRidge(), cell, True)),
    "chained extra trees": (
        "scikit-learn",
        lambda cell: chained(ExtraTreesRegressor(100, random_state=0), cell),
    ),
    "neighbours": ("scikit-learn", neighbours),
    "miceforest": ("miceforest", mice_forest),
}


def versions():
    """Return the version of each method in Python, None where its package is missing."""
    found = {}
    for name, (package, _) in PEERS.items():
        try:
            found[name] = f"{package} {version(package)}"
        except PackageNotFoundError:
            found[name] = None
    return found


def complete(name, cell, timeout):
    """Return arrays (filled, and draws if there are any) and seconds; raise what goes wrong."""
    with within(timeout):
        if name in OURS:
            return ours(cell, *(["ratios"] if name != "inldl" else []))
        start = time.perf_counter()
        values = PEERS[name][1](cell)
        return closed(cell, values), time.perf_counter() - start


def closed(cell, values):
    """Return the arrays of a peer, scaled to the rows: several imputations are draws."""
    if not isinstance(values, list):
        return {"filled": cell.close(values)}
    draws = np.array([cell.close(each) for each in values])
    return {"filled": draws.mean(axis=0), "draws": draws}


@contextmanager
def within(seconds):
    """Raise TimeoutError in a block that takes longer."""

    def stop(*_):
        raise TimeoutError(f"took more than {seconds} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
