"""Parts of rows that a Dask worker keeps in its memory, and the tasks that work on them."""

import asyncio
import pickle
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from distributed import get_worker

from inldl import __version__
from inldl.engines.base import BlockProblem, take_step
from inldl.engines.local import LocalEngine, one_blas_thread, start_chunks
from inldl.rows.checks import DegreeFacts

IDLE = 30.0  # seconds after which a worker drops what no client holds any more


@dataclass
class WorkerPart:
    """The blocks of a part after sweep `t`, and the sums of that sweep."""

    runs: list[Any]
    t: int = 0
    sums: bytes | None = None


@dataclass
class Fit:
    """The parts of a fit on a worker, and the last task that asked for them."""

    problem: BlockProblem
    parts: dict[int, WorkerPart] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    task: Any = None
    used: float = 0.0

    def touch(self, worker: Any) -> None:
        """Note the task that is running."""
        self.task, self.used = worker.get_current_task(), time.monotonic()

    def abandoned(self, worker: Any) -> bool:
        """Say whether the last task is long done, and no client holds its result."""
        idle = not self.lock.locked() and time.monotonic() - self.used > IDLE
        return idle and self.task not in worker.state.tasks

    def advance(self, engine: LocalEngine, which: list[int], t: int, message: bytes) -> None:
        """Take parts through step `t`; those that fail half-way are gone."""
        before = [self.parts.pop(i).runs for i in which]
        take = partial(take_step, self.problem, *pickle.loads(message))
        for i, runs, added in zip(which, *engine.map_parts(take, before), strict=True):
            self.parts[i] = WorkerPart(runs, t + 1, pickle.dumps(added))


# By worker, of which a process can have several.
_FITS: "WeakKeyDictionary[Any, dict[str, Fit]]" = WeakKeyDictionary()
_ENDED: deque[str] = deque(maxlen=1000)  # fits whose last tasks may still come


def load(
    fit: str,
    problem: BlockProblem,
    i: int,
    chunks: Sequence[Any],
    first_row: int,
    n_parts: int,
) -> tuple[str, str, bytes, list[DegreeFacts]]:
    """Keep a part on this worker.

    Returns where that is, the version there, the sums, and what y looks like.
    """
    worker = get_worker()
    with one_blas_thread():
        runs, sums, facts = start_chunks(problem, chunks, first_row, n_parts)
    if fit not in _ENDED:
        if worker not in _FITS:
            _FITS[worker] = {}
            worker.loop.add_callback(_tidy, worker)
        here = _FITS[worker].setdefault(fit, Fit(problem))
        with here.lock:
            here.touch(worker)
            here.parts[i] = WorkerPart(runs)
    return worker.address, __version__, pickle.dumps(sums), facts


def advance(
    fit: str, parts: list[int], t: int, message: bytes
) -> tuple[str, dict[int, bytes | None]]:
    """Take parts through step `t`, if they have not taken it: a task may run twice.

    Returns where that is, and the sums of each part, None if it is not here.
    """
    worker, sums = get_worker(), dict[int, bytes | None].fromkeys(parts)
    here = _FITS.get(worker, {}).get(fit)
    if here is not None:
        with here.lock, LocalEngine(worker.state.nthreads) as engine:
            here.touch(worker)
            behind = [i for i in parts if i in here.parts and here.parts[i].t == t]
            if behind:
                here.advance(engine, behind, t, message)
            here.used = time.monotonic()
            done = {i: part.sums for i, part in here.parts.items() if part.t == t + 1}
            sums |= {i: done[i] for i in parts if i in done}
    return worker.address, sums


async def drop(fit: str, dask_worker: Any) -> None:
    """Forget a fit, for good; as a coroutine, for which the client need not wait."""
    _ENDED.append(fit)
    _FITS.get(dask_worker, {}).pop(fit, None)


async def _tidy(worker: Any) -> None:
    """Drop what clients that died have left, as long as the worker lives.

    Nothing of a fit is named here: it would stay in memory while this function sleeps.
    """
    while worker.status.name in ("running", "paused"):
        _drop_abandoned(worker)
        await asyncio.sleep(IDLE / 3)


def _drop_abandoned(worker: Any) -> None:
    for fit, here in list(_FITS[worker].items()):
        if here.abandoned(worker):
            _FITS[worker].pop(fit, None)
