"""Compute cells in parallel processes; each finished one is committed at once."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Future, as_completed
from concurrent.futures import TimeoutError as Timeout
from pathlib import Path

from inldl.experiments.cells import Cell
from inldl.experiments.data import load_dataset
from inldl.experiments.store import Row, Store


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

    A run that was killed goes on where it was: only finished cells are in the file, and each is
    there once. An error, a timeout or a prediction that is no distribution is a result too, and
    is recorded with its reason.

    Parameters
    ----------
    cells : iterable of Cell
        What to compute; see `grid`.
    out : str or Path
        The sqlite file of results.
    jobs : int, default=1
        Number of processes; -1 is one per core.
    timeout : float, optional
        Seconds after which a cell is given up.
    retry : bool, default=False
        Whether to compute again the cells whose row is not "ok".
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
        raise ValueError(f"timeout must be above 0 seconds, got {timeout!r}.")
    store = Store(out)
    todo = pending(cells, store, retry=retry)
    if not todo:
        return []
    for dataset in dict.fromkeys(cell.dataset for cell in todo):
        load_dataset(dataset)  # downloaded once, or the reason why not is told, before all else
    if retry:
        store.forget(todo)
    workers = min((os.cpu_count() or 1) if jobs == -1 else jobs, len(todo))
    return _compute(todo, store, workers, timeout, done or (lambda row: None))


def pending(cells: Iterable[Cell], store: Store, *, retry: bool = False) -> list[Cell]:
    """Return the cells that have no row yet (or none that is "ok"), in their order."""
    finished = store.cells(["ok"] if retry else None)
    return [cell for cell in dict.fromkeys(cells) if cell not in finished]


def _compute(
    todo: list[Cell],
    store: Store,
    workers: int,
    timeout: float | None,
    done: Callable[[Row], None],
) -> list[Row]:
    from pebble import ProcessPool

    # A fresh interpreter for each process: threads of BLAS and numba do not survive a fork.
    context = multiprocessing.get_context("spawn")
    rows = []
    with ProcessPool(
        workers, initializer=_die_with, initargs=[os.getpid()], context=context
    ) as pool:
        futures: dict[Future[Row], Cell] = {
            pool.schedule(_in_worker, args=[cell], timeout=timeout): cell for cell in todo
        }
        try:
            for future in as_completed(futures):
                row = _outcome(future, futures[future], timeout)
                if store.add(row):
                    rows.append(row)
                    done(row)
        except BaseException:
            pool.stop()
            raise
    return rows


def _outcome(future: Future[Row], cell: Cell, timeout: float | None) -> Row:
    """Return the row of a finished task, also where the process is gone."""
    from inldl.experiments.measure import one_line, stamped

    try:
        return future.result()
    except CancelledError:
        raise
    except Timeout:
        return stamped(Row(cell, "timeout", f"not finished after {timeout:g} seconds"))
    except Exception as error:
        code = getattr(error, "exitcode", None)
        text = one_line(error) if code is None else f"its process ended with code {code}"
        return stamped(Row(cell, "died", text))


def _in_worker(cell: Cell) -> Row:
    from inldl.experiments.measure import measure

    return measure(cell)


def _die_with(parent: int) -> None:
    """End this process soon after the one that started it, however that ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
