"""Compute cells in parallel processes, and commit each as soon as it is finished."""

import gc
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Self

from inldl.experiments.measure import measure, reading_error, stamped
from inldl.experiments.protocol import Cell, content, fetch_dataset
from inldl.experiments.store import Row, Store
from inldl.methods.registry import METHODS
from inldl.processes import READY, own_output, received, start_process


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
    workers: "list[Worker]",
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


class Worker:
    """A process that reads data and computes cells: a line of JSON in, a line of JSON out.

    It is a separate Python process, so it shares no thread, lock or script with the process that
    wants the results, and can be killed at any time. If it has ended, it is started again.

    Examples
    --------
    >>> cell = Cell("random(n=50)", 0.5, 0, "raw", "uniform", "seeded", "winldl")
    >>> with Worker() as worker:
    ...     worker.compute(cell).status
    'ok'
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.stop()

    def read(self, dataset: str) -> str:
        """Read a dataset in the process; return how the process died, or an empty text.

        An error there is raised here.
        """
        answer = _ask(self._running(), "read", dataset)
        if not answer:
            return f"its process ended with code {self.stop()} while reading the data"
        kind, text = json.loads(answer)
        if kind:
            raise (OSError if kind == "OSError" else ValueError)(text)
        return ""

    def compute(self, cell: Cell, timeout: float | None = None) -> Row:
        """Return the row of a cell, even if the process hangs or dies."""
        process = self._running()
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(timeout or 0, give_up)
        try:
            if timeout is not None:
                timer.start()
            answer = _ask(process, "measure", asdict(cell))
        finally:
            timer.cancel()
        if answer:
            return Row(**{**json.loads(answer), "cell": cell})
        code = self.stop()
        if late.is_set():
            return stamped(Row(cell, "timeout", f"not finished after {timeout:g} seconds"))
        return stamped(Row(cell, "died", f"its process ended with code {code}"))

    def stop(self) -> int | None:
        """End the process and return its exit code."""
        process, self._process = self._process, None
        if process is None:
            return None
        try:
            process.communicate(timeout=1)  # closes its input, which ends it
        except (subprocess.TimeoutExpired, OSError, ValueError):
            process.kill()
            process.communicate()
        return process.returncode

    def kill(self) -> None:
        """End the process at once."""
        if self._process is not None:
            self._process.kill()

    def _running(self) -> subprocess.Popen[str]:
        """Return the process once it is ready, so that imports do not count as a method's time."""
        if self._process is None:
            code = "from inldl.experiments.runner import main; main()"
            self._process = start_process(code)
            assert self._process.stdout is not None
            if self._process.stdout.readline() != READY:
                raise OSError(f"A process for the cells could not be started: {sys.executable}.")
        return self._process


def _ask(process: subprocess.Popen[str], task: str, given: object) -> str:
    """Return the answer of the process, or an empty text if it has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        print(json.dumps([task, given]), file=process.stdin, flush=True)
        answer = process.stdout.readline()
    except OSError:
        return ""
    return answer if answer.endswith("\n") else ""


def main() -> None:
    """Do the tasks that come in, until the other end closes or disappears."""
    out, tasks = own_output(), received()  # what a method prints is kept out of the results
    for method in METHODS.values():
        if method.distribution is None:
            method.load()
    gc.freeze()  # otherwise each cell scans all imported objects for garbage: .07 s
    print(READY, end="", file=out, flush=True)
    while True:
        task, given = json.loads(tasks.get())
        answer = reading_error(given) if task == "read" else vars(measure(Cell(**given)))
        print(json.dumps(answer, default=vars), file=out, flush=True)
