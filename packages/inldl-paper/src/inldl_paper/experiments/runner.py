"""Compute cells: fit, predict and score in parallel processes, and commit each cell when finished.

One cell is measured by `measure`; `run` sends cells to processes, which may hang or die.
"""

import gc
import json
import os
import queue
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from inldl.engines.base import one_blas_thread
from inldl.errors import DataError
from inldl.methods.registry import METHODS, make_method
from inldl.metrics import evaluate
from inldl.metrics.registry import find_metric
from inldl.processes import READY, own_output, received
from inldl.progress import report
from inldl.specs import import_object
from inldl_paper import ordered
from inldl_paper.experiments.folds import Fold, fold_of
from inldl_paper.experiments.machine import environment, memory, reset_peak_memory
from inldl_paper.experiments.protocol import (
    Array,
    Cell,
    content,
    fetch_dataset,
    load_dataset,
    seed,
    seed_name,
)
from inldl_paper.experiments.store import Row, Store
from inldl_paper.experiments.workers import Worker

WARM_UP_ROWS = 64
DEGREE_EDGES = (0.0, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
"""Edges of the bins of true degrees by which errors are summed."""

SMALLEST_RELATIVE = 0.01
"""Relative errors leave out smaller degrees: 0 has none, and a few 1e-6 would rule the mean."""

_WARM: set[tuple[str, int, str]] = set()  # what this process has compiled


_CODE = "from inldl_paper.experiments.runner import main; main()"


def run(
    cells: Iterable[Cell],
    out: str | Path,
    *,
    jobs: int = 1,
    timeout: float | None = None,
    retry: bool = False,
    metrics: Sequence[str] = (),
) -> list[Row]:
    """Compute the cells that have no row in `out` yet.

    A killed run resumes where it was: the file has only finished cells, each of them once. An
    error, a timeout or a prediction that is not a distribution is also a result, and is recorded
    with its reason.

    Parameters
    ----------
    cells : iterable of Cell
        What to compute; see `grid`.
    out : str or Path
        The sqlite file of results.
    jobs : int, default=1
        Number of processes; -1 means one per core.
    timeout : float, optional
        Seconds after which to give up on a cell.
    retry : bool, default=False
        Whether to recompute cells whose row is not "ok".
    metrics : sequence of str, default=()
        Metrics to measure besides all of ``METRICS``: names in ``EXTRA_METRICS`` such as those of
        `inldl_paper.ordered`, or ``package.module:function`` of true and predicted degrees. A
        finished cell that lacks one of them is computed again, and keeps the others.

    Returns
    -------
    list of Row
        The new rows.
    """
    if jobs != -1 and jobs < 1:
        raise ValueError(f"jobs must be at least 1, or -1 for all cores, got {jobs!r}.")
    if timeout is not None and timeout <= 0:
        raise ValueError(f"timeout must be more than 0 seconds, got {timeout!r}.")
    for name in metrics:
        own_metric(name)
    store = Store(out)
    cells = list(cells)
    _refuse_changed_files(cells, store)
    earlier = {row.cell: row for row in store.rows() if row.status == "ok"}  # by now
    todo = pending(cells, store, retry=retry, metrics=metrics)
    if not todo:
        return []
    store.check()  # report what cannot be written or found before computing anything
    names = list(dict.fromkeys(cell.dataset for cell in todo))
    for name in names:
        fetch_dataset(name)
    count = min((os.cpu_count() or 1) if jobs == -1 else jobs, len(todo))
    workers = [Worker(_CODE) for _ in range(count)]
    new: list[Row] = []
    finished: Counter[str] = Counter()
    start = time.monotonic()
    with ExitStack() as stack:
        for worker in workers:
            stack.callback(worker.stop)
        # Not read in this process: a damaged file can crash the process that reads it.
        died = {name: _read(workers[0], name) for name in names}
        store.create()
        if retry:
            store.forget(cell for cell in todo if cell not in earlier)
        for row in stack.enter_context(closing(_computed(todo, died, workers, timeout, metrics))):
            if _kept(row, store, earlier.get(row.cell)):
                new.append(row)
            finished[row.status] += 1
            _report(row, finished, len(todo), time.monotonic() - start)
    return new


def _kept(row: Row, store: Store, earlier: Row | None) -> bool:
    """Commit a row, and return whether it is new.

    An earlier result of its cell stays if the new one failed, and else lends it its metrics.
    """
    if earlier is None:
        return store.add(row)
    if row.status == "ok":
        store.forget([row.cell])
        store.add(replace(row, metrics=earlier.metrics | row.metrics))
    return True


def _report(row: Row, finished: "Counter[str]", total: int, seconds: float) -> None:
    """Report how many cells are finished, and what did not work so far."""
    count = finished.total()
    bad = "".join(f", {n} {status}" for status, n in sorted(finished.items()) if status != "ok")
    left = seconds / count * (total - count)
    text = f"{count} of {total}{bad}, about {left:.0f} s left"
    report(f"{text}: {row.cell.method} on {row.cell.dataset}", count / total)


def pending(
    cells: Iterable[Cell], store: Store, *, retry: bool = False, metrics: Iterable[str] = ()
) -> list[Cell]:
    """Return the cells without a row, or with one that is "ok" but lacks a metric, in order.

    With `retry` also those whose row is not "ok".
    """
    wanted = set(metrics)
    finished = {
        row.cell
        for row in store.rows()
        if (wanted <= row.metrics.keys() if row.status == "ok" else not retry)
    }
    return [cell for cell in dict.fromkeys(cells) if cell not in finished]


def _refuse_changed_files(cells: list[Cell], store: Store) -> None:
    """Refuse to mix results of a data file with results of an earlier version of it."""
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        now = content(dataset)
        if now and store.contents(dataset) - {now}:
            raise ValueError(
                f"{dataset} has changed since its results were written to {str(store.path)!r}: "
                "choose another file for the results."
            )


def _computed(
    cells: list[Cell],
    died: dict[str, str],
    workers: list[Worker],
    timeout: float | None,
    metrics: Sequence[str],
) -> Generator[Row, None, None]:
    """Compute each cell on an idle process, and yield rows as they are finished."""
    free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    for worker in workers:
        free.put(worker)

    def compute(cell: Cell) -> Row:
        if died[cell.dataset]:
            return stamped(Row(cell, "died", died[cell.dataset]))
        worker = free.get()
        try:
            return _answer(worker, cell, timeout, metrics)
        finally:
            free.put(worker)

    with ThreadPoolExecutor(len(workers)) as pool:
        try:
            for future in as_completed(pool.submit(compute, cell) for cell in cells):
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.kill()
            raise


def _answer(worker: Worker, cell: Cell, timeout: float | None, metrics: Sequence[str]) -> Row:
    """Return the row of a cell, even if the process hangs or dies."""
    try:
        return Row.from_json(worker.ask(["measure", [asdict(cell), list(metrics)]], timeout))
    except TimeoutError as error:
        return stamped(Row(cell, "timeout", str(error)))
    except ChildProcessError as error:
        return stamped(Row(cell, "died", str(error)))


def _read(worker: Worker, dataset: str) -> str:
    """Read a dataset in the process; return how the process died, or an empty text.

    An error there is raised here.
    """
    try:
        kind, text = json.loads(worker.ask(["read", dataset]))
    except ChildProcessError as error:
        return f"{error} while reading the data"
    if kind:
        raise (OSError if kind == "OSError" else ValueError)(text)
    return ""


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


def own_metric(name: str) -> Callable[[Array, Array], float]:
    """Return a metric by its name, or the function ``package.module:function``."""
    if ":" in name:
        return cast(Callable[[Array, Array], float], import_object(name))
    found = getattr(ordered, name) if name in ordered.__all__ else find_metric(name).function
    return cast(Callable[[Array, Array], float], found)


def measure(cell: Cell, metrics: Sequence[str] = ()) -> Row:
    """Return the result of `cell`; errors of the method are recorded, not raised."""
    with one_blas_thread():
        try:
            row = _measure(cell, metrics)
        except Exception as error:
            status = "skipped" if isinstance(error, ImportError) else "failed"
            row = Row(cell, status, one_line(error))
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


def _measure(cell: Cell, own: Sequence[str]) -> Row:
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
    metrics |= {each: float(own_metric(each)(fold.y_test, predicted)) for each in own}
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
    return fold_of(cell, _data(cell.dataset))


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
    before = reset_peak_memory()
    start = time.process_time()
    model.fit(fold.X, fold.y)
    seconds = time.process_time() - start
    peak = memory()
    return seconds, None if before is None or peak is None else max(0, peak - before)


def _attribute(model: Any, name: str, kind: type) -> Any:
    """Return a fitted attribute of the model, or None if it has none."""
    with suppress(AttributeError, TypeError, ValueError):
        return kind(getattr(model, name))
    return None


def main() -> None:
    """Do the tasks that come in, until the other end closes or disappears."""
    out, tasks = own_output(), received()  # what a method prints is kept out of the results
    for method in METHODS.values():
        if method.distribution in (None, "inldl-paper"):
            method.load()
    gc.freeze()  # otherwise each cell scans all imported objects for garbage: .07 s
    print(READY, end="", file=out, flush=True)
    while True:
        task, given = json.loads(tasks.get())
        if task == "read":
            answer = json.dumps(reading_error(given))
        else:
            cell, metrics = given
            answer = measure(Cell(**cell), metrics).json()
        print(answer, file=out, flush=True)
