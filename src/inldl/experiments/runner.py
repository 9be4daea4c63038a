"""Compute cells in parallel processes, and commit each as soon as it is finished."""

import os
import queue
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path

from inldl.experiments.data import content, fetch_dataset
from inldl.experiments.measure import stamped
from inldl.experiments.protocol import Cell
from inldl.experiments.store import Row, Store
from inldl.experiments.worker import Worker


def run(
    cells: Iterable[Cell],
    out: str | Path,
    *,
    jobs: int = 1,
    timeout: float | None = None,
    retry: bool = False,
    done: Callable[[Row], None] | None = None,
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
    done : callable, optional
        Called with each new row.

    Returns
    -------
    list of Row
        The new rows.
    """
    if jobs != -1 and jobs < 1:
        raise ValueError(f"jobs must be at least 1, or -1 for all cores, got {jobs!r}.")
    if timeout is not None and timeout <= 0:
        raise ValueError(f"timeout must be more than 0 seconds, got {timeout!r}.")
    store = Store(out)
    cells = list(cells)
    _refuse_changed_files(cells, store)
    todo = pending(cells, store, retry=retry)
    if not todo:
        return []
    store.check()  # report what cannot be written or found before computing anything
    names = list(dict.fromkeys(cell.dataset for cell in todo))
    for name in names:
        fetch_dataset(name)
    count = min((os.cpu_count() or 1) if jobs == -1 else jobs, len(todo))
    new: list[Row] = []

    def record(row: Row) -> None:
        if store.add(row):
            new.append(row)
        if done is not None:
            done(row)

    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(count))
        workers = [stack.enter_context(Worker()) for _ in range(count)]
        # Not read in this process: a damaged file can crash the process that reads it.
        died = {name: workers[0].read(name) for name in names}
        store.create()
        if retry:
            store.forget(todo)
        for cell in todo:
            if died[cell.dataset]:
                record(stamped(Row(cell, "died", died[cell.dataset])))
        readable = [cell for cell in todo if not died[cell.dataset]]
        _compute(readable, pool, workers, timeout, record)
    return new


def pending(cells: Iterable[Cell], store: Store, *, retry: bool = False) -> list[Cell]:
    """Return the cells without a row (with `retry`, without a row that is "ok"), in order."""
    finished = store.cells(["ok"] if retry else None)
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


def _compute(
    cells: list[Cell],
    pool: ThreadPoolExecutor,
    workers: list[Worker],
    timeout: float | None,
    record: Callable[[Row], None],
) -> None:
    """Compute each cell on an idle process; there are as many processes as threads."""
    free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    for worker in workers:
        free.put(worker)

    def compute(cell: Cell) -> Row:
        worker = free.get()
        try:
            return worker.compute(cell, timeout)
        finally:
            free.put(worker)

    try:
        for future in as_completed(pool.submit(compute, cell) for cell in cells):
            record(future.result())
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.kill()
        raise
