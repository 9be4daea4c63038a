"""Compute one cell: fit, predict, score, and record the machine."""

import ctypes
import gc
import os
import platform
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from inldl.engines import one_blas_thread
from inldl.errors import DataError
from inldl.experiments.protocol import (
    Array,
    Cell,
    Fold,
    authors_split,
    content,
    load_dataset,
    make_fold,
    seed,
    seed_name,
)
from inldl.experiments.store import Row
from inldl.methods.registry import make_method
from inldl.metrics import evaluate

WARM_UP_ROWS = 64
DEGREE_EDGES = (0.0, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
"""Edges of the bins of true degrees by which errors are summed."""

SMALLEST_RELATIVE = 0.01
"""Relative errors leave out smaller degrees: 0 has none, and a few 1e-6 would rule the mean."""

_WARM: set[tuple[str, int, str]] = set()  # what this process has compiled


def reading_error(dataset: str) -> tuple[str, str]:
    """Read a dataset, and return the kind and text of the error, both empty if there is none.

    Later cells in this process do not read it again.
    """
    try:
        _data(dataset)
    except OSError as error:
        return "OSError", str(error)
    except Exception as error:
        return "ValueError", str(error) or one_line(error)
    return "", ""


def measure(cell: Cell) -> Row:
    """Return the result of `cell`; errors of the method are recorded, not raised."""
    with one_blas_thread():
        try:
            row = _measure(cell)
        except Exception as error:
            row = Row(cell, "failed", one_line(error))
    return stamped(row)


def stamped(row: Row) -> Row:
    """Return `row` with the time and the machine."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    data = {"data": read} if (read := _content(row.cell.dataset)) else {}
    return replace(row, finished=now, environment={**environment(), **data})


def one_line(error: object) -> str:
    """Return the kind and the first line of an error or a warning."""
    text = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {text[0]}"[:500].rstrip(": ")


def _measure(cell: Cell) -> Row:
    # A copy, so that a method that changes its data in place does not affect others.
    fold = Fold(*(each.copy() for each in vars(_fold(replace(cell, method=""))).values()))
    model = make_method(cell.method, seed(seed_name(cell.dataset), cell.rate, cell.split))
    _warm_up(cell.method, fold)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit_seconds, peak_memory = _timed_fit(model, fold)
        start = time.process_time()
        predicted = model.predict(fold.X_test)
        predict_seconds = time.process_time() - start
    row = Row(
        cell,
        "ok",
        one_line(caught[0].message) if caught else "",
        fit_seconds=fit_seconds,
        predict_seconds=predict_seconds,
        peak_memory=peak_memory,
        n_iter=_attribute(model, "n_iter_", int),
        converged=_attribute(model, "converged_", bool),
        chosen=_attribute(model, "chosen_", str) or "",
        details={"history": _history(model)},
    )
    try:
        metrics = evaluate(fold.y_test, predicted)
    except DataError as error:
        return replace(row, status="invalid", reason=str(error.with_facts(array="the prediction")))
    except (ValueError, TypeError) as error:
        return replace(row, status="invalid", reason=str(error))
    details = row.details | errors_by_size(fold.y_test, np.asarray(predicted))
    return replace(row, metrics=metrics, details=details)


def _history(model: Any) -> list[float]:
    """Return the largest change of a degree in each iteration, if the model keeps it."""
    with suppress(AttributeError, KeyError, TypeError):
        return [float(f"{change:.6g}") for change in model.history_["degree_change"]]
    return []


def errors_by_size(true: Array, predicted: Array) -> dict[str, list[float]]:
    """Return sums of absolute and relative errors, by bins of the true degrees, and counts."""
    degrees = np.clip(true.ravel(), 0, 1)
    errors = np.abs(predicted - true).ravel()
    large = degrees >= SMALLEST_RELATIVE
    sums = {
        "count": np.ones_like(degrees),
        "error": errors,
        "relative_count": large.astype(float),
        "relative_error": np.divide(errors, degrees, out=np.zeros_like(errors), where=large),
    }
    return {
        name: np.histogram(degrees, DEGREE_EDGES, weights=each)[0].tolist()
        for name, each in sums.items()
    }


_data = lru_cache(maxsize=4)(load_dataset)
_content = cache(content)  # like the data: all cells see what was read first


@lru_cache(maxsize=4)
def _fold(cell: Cell) -> Fold:
    """Return the fold of a cell, whatever its method; later methods share it."""
    where = cell.dataset, cell.rate, cell.split
    return make_fold(
        seed_name(cell.dataset),
        *_data(cell.dataset),
        rate=cell.rate,
        split=cell.split,
        recipe=cell.recipe,
        mechanism=cell.mechanism,
        given=authors_split(*where) if cell.splits == "authors" else None,
    )


def _warm_up(method: str, fold: Fold) -> None:
    """Let the method compile its code, once per process, so that only the fit is timed."""
    key = (method.partition("(")[0], fold.X.shape[1], str(fold.X.dtype))
    if key not in _WARM:
        _WARM.add(key)
        with warnings.catch_warnings(), suppress(Exception):
            warnings.simplefilter("ignore")
            complete = np.where(np.isnan(fold.y), 1 / fold.y.shape[1], fold.y)[:WARM_UP_ROWS]
            make_method(method, 0).fit(fold.X[:WARM_UP_ROWS], complete)
        gc.collect()
        gc.freeze()  # modules stay: to look through them before each fit took 0.13 s


def _timed_fit(model: Any, fold: Fold) -> tuple[float, int | None]:
    """Return the CPU seconds of the fit and the extra memory it took."""
    gc.collect()
    before = _reset_peak()
    start = time.process_time()
    model.fit(fold.X, fold.y)
    seconds = time.process_time() - start
    peak = _status("VmHWM")
    return seconds, None if before is None or peak is None else max(0, peak - before)


def _reset_peak() -> int | None:
    """Reset the system's peak counter, and return the memory in use (Linux only)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # memory freed earlier must not hide memory taken now
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    return None


def _status(name: str) -> int | None:
    found = _system("self/status", name)
    return int(found.split()[0]) * 1024 if found else None


def _system(file: str, name: str) -> str:
    """Return what a file in Linux's /proc says about `name`, or an empty text."""
    with suppress(OSError):
        for line in Path("/proc", file).read_text().splitlines():
            if line.startswith(name):
                return line.partition(":")[2].strip()
    return ""


def _attribute(model: Any, name: str, kind: type) -> Any:
    """Return a fitted attribute of the model, or None if it has none."""
    with suppress(AttributeError, TypeError, ValueError):
        return kind(getattr(model, name))
    return None


@cache
def environment() -> dict[str, str]:
    """Return versions, processor and threads of this process."""
    packages = ("inldl", "numpy", "scipy", "scikit-learn", "numba", "pandas")
    blas = sorted({f"{each['internal_api']} {each['version']}" for each in threadpool_info()})
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
        "blas": ", ".join(blas),
        "threads of BLAS and OpenMP": "1",
        "system": platform.platform(),
        "processor": _system("cpuinfo", "model name")
        or platform.processor()
        or platform.machine(),
        "cores": str(os.cpu_count()),
    }
