"""Parts of chunks on the workers of a Dask cluster, which keep them next to Dask's own memory.

A sweep is one task for each worker: the arrays of a message go there, the sums of its parts come
back. The client keeps all messages. A part that was lost with its worker is loaded again elsewhere
and taken through all steps; the arithmetic is the same, and so is the result.

Messages and sums are pickled here, into bytes. Dask would send their larger arrays as frames of
their own, which arrive at odd addresses: BLAS multiplies those more slowly, and to other bits.
"""

import asyncio
import pickle
import threading
import time
import uuid
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import dask
import numpy as np
from distributed import KilledWorker, futures_of, get_worker

from inldl import __version__
from inldl.engines import base
from inldl.engines.local import LocalEngine, check_rows_read, contiguous, fold
from inldl.rows.checks import DegreeFacts, check_degrees

# Without a worker, or with a paused one; dask.config.set({"inldl.worker-timeout": ...}) sets it.
PATIENCE = "60s"
LOOK = 1.0  # seconds between two looks at whether there are workers at all
LOADS = 5  # of parts whose workers leave one after another
ASK_VERSION = "__import__('inldl').__version__"  # evaluated on workers that may not have inldl
IDLE = 30.0  # seconds after which a worker drops what no client holds any more


class DaskEngine(base.Engine):
    """Keep parts on the workers of a Dask cluster and run steps there.

    On the dashboard, the names of the tasks start with `name`.
    """

    def __init__(self, client: Any, name: str):
        self._client, self._name = client, name.lower()
        self._fit = uuid.uuid4().hex
        patience = dask.config.get("inldl.worker-timeout", PATIENCE)
        self._patience = dask.utils.parse_timedelta(patience)
        self._held: list[Any] = []
        self._homes: dict[int, str] = {}  # the workers of parts
        self._new: set[int] = set()  # parts that have not taken a step
        self._messages: list[bytes] = []

    def __exit__(self, *error: object) -> None:
        """Free the memory of the workers, also after Ctrl-C; those that are gone need not know.

        Tasks that failed are cancelled: while a traceback holds them, Dask would want to run what
        they share with the next fit on the workers of this one, which may be gone by then.
        """
        super().__exit__()
        held, self._held = self._held, []
        if self._client.status == "running":
            if error[0] is not None:
                self._client.cancel(held)
            self._client.run(drop_fit, self._fit, wait=False, on_error="ignore")

    def load(self, problem: base.BlockProblem, rows: Any) -> base.Sums:
        self._problem, self._rows = problem, rows
        loaded = self._load(range(len(rows.parts)))
        check_degrees([one for _, facts in loaded for one in facts], rows.label_names)
        return base.total(pickle.loads(sums) for sums, _ in loaded)

    def sweep(self, step: str, *message: np.ndarray) -> base.Sums:
        self._messages.append(pickle.dumps((step, contiguous(message))))
        sums: dict[int, bytes] = {}
        waiting = set(self._homes)
        while waiting:
            answered = self._advance(waiting, step, sums)
            waiting -= sums.keys()
            if waiting:
                here = self._workers().keys() - answered
                self._load([i for i in sorted(waiting) if self._homes[i] not in here])
        self._new.clear()
        return base.total(pickle.loads(sums[i]) for i in sorted(sums))

    def _advance(self, parts: Iterable[int], name: str, sums: dict[int, bytes]) -> set[str]:
        """Take parts to the newest step; add their sums, and return the workers that answered."""
        last = len(self._messages) - 1
        groups: dict[tuple[str, int], list[int]] = defaultdict(list)
        for i in parts:
            groups[self._homes[i], 0 if i in self._new else last].append(i)
        tasks = [(which, first, self._messages[first:]) for (_, first), which in groups.items()]
        keys = {self._key(f"{name}-{last}"): [home] for home, _ in groups}

        def submit() -> list[Any]:
            step = partial(advance_parts, self._fit)
            with dask.annotate(workers=keys.__getitem__):
                return self._client.map(step, *zip(*tasks, strict=True), key=[*keys], pure=False)

        replies = self._results(submit, [home for home, _ in groups])
        for _, added in replies:
            sums |= added
        return {home for home, _ in replies}

    def _load(self, parts: Sequence[int]) -> list[tuple[bytes, list[DegreeFacts]]]:
        """Load parts on workers; note where they are, and return what is known of them."""
        loaded: dict[int, tuple[bytes, list[DegreeFacts]]] = {}
        for _ in range(LOADS):
            chosen = self._assigned([i for i in parts if i not in loaded])
            if not chosen:
                self._new |= loaded.keys()
                return [loaded[i] for i in parts]
            submit = partial(self._submit_loads, chosen)
            for i, home, sums, facts in self._results(submit, list(chosen.values())):
                self._homes[i], loaded[i] = home, (sums, facts)
        raise RuntimeError(_DIED)

    def _submit_loads(self, chosen: dict[int, str]) -> list[Any]:
        """Let each worker load its parts, and do all that comes before on the same worker."""
        futures: dict[int, Any] = {}
        load, parts = partial(load_part, self._fit, self._problem), self._rows.parts
        for home in set(chosen.values()):
            here = [i for i in chosen if chosen[i] == home]
            keys = {i: self._key(f"load-part-{i}") for i in here}
            lazy = [parts[i].then(partial(load, i), len(parts), keys[i]) for i in here]
            computed = self._client.compute(lazy, workers=[home], allow_other_workers=True)
            futures |= zip(here, computed, strict=True)
        return [futures[i] for i in chosen]

    def _assigned(self, parts: Sequence[int]) -> dict[int, str]:
        """Choose a worker for each part: where its rows are already, or the least busy one."""
        if not parts:
            return {}
        workers = self._workers()
        self._check_versions()
        persisted = futures_of(self._rows.X)
        where = self._client.who_has(persisted) if persisted else {}
        load = dict.fromkeys(workers, 0)
        chosen = {}
        for i in parts:
            part = self._rows.parts[i]
            there = [home for X, *_ in part.chunks for home in where.get(X.key, ())]
            near = [home for home in there if home in workers] or list(workers)
            chosen[i] = min(near, key=lambda home: load[home] / workers[home])
            load[chosen[i]] += part.n_rows
        return chosen

    def _key(self, what: str) -> str:
        """Return a key of which the dashboard shows the words before the first number."""
        return f"{self._name}-{what}-{uuid.uuid4().hex}"

    def _workers(self) -> dict[str, int]:
        """Return the running workers and their threads; wait for one if there is none."""
        until = time.monotonic() + self._patience
        while True:
            known = self._client.sync(self._client.scheduler.identity)["workers"]
            running = {a: w["nthreads"] for a, w in known.items() if w["status"] == "running"}
            if running:
                return running
            if time.monotonic() > until:
                raise RuntimeError(self._nobody(known))
            time.sleep(min(LOOK, self._patience / 4))

    def _check_versions(self) -> None:
        """Refuse workers without inldl, which would die of its tasks, or with another version."""
        for address, version in self._client.run(eval, ASK_VERSION, on_error="return").items():
            if version != __version__ and not isinstance(version, OSError):  # it has just left
                has = f"inldl {version}" if isinstance(version, str) else f"no inldl ({version})"
                raise RuntimeError(
                    f"The Dask worker {address} has {has}, and this is inldl {__version__}; "
                    "install the same version on all workers."
                )

    def _results(self, submit: Callable[[], list[Any]], homes: list[str]) -> list[Any]:
        """Submit tasks and return their results, but for tasks whose workers have gone."""
        try:
            return self._client.sync(self._gathered, submit, homes)
        except KilledWorker as error:
            raise RuntimeError(_DIED) from error
        except (CancelledError, OSError) as error:
            raise RuntimeError(
                "The connection to the Dask scheduler was lost, or the tasks of this fit were "
                "cancelled; fit again."
            ) from error

    async def _gathered(self, submit: Callable[[], list[Any]], homes: list[str]) -> list[Any]:
        """Wait for results as long as a worker works, and says so, of those at their `homes`.

        The tasks before are released in the same breath as the new ones are submitted, since the
        client sends only so often. Tasks of which all workers have gone are given up: Dask may
        have nobody to run them, even when others come.
        """
        futures = self._held = submit()
        results = asyncio.ensure_future(self._client.gather(futures, asynchronous=True))
        worked, heard = time.monotonic(), dict[str, float]()
        while not (await asyncio.wait([results], timeout=min(LOOK, self._patience / 4)))[0]:
            workers = (await self._client.scheduler.identity())["workers"]
            waiting = {h for h, future in zip(homes, futures, strict=True) if not future.done()}
            here = {home: workers[home] for home in waiting if home in workers}
            last, heard = heard, {h: w["last_seen"] for h, w in here.items() if not _is_paused(w)}
            if not waiting or heard.items() - last.items():
                worked = time.monotonic()
            if (waiting and not here) or time.monotonic() - worked > self._patience:
                for home in heard:  # they say nothing any more, as a process that was stopped
                    await self._client.scheduler.unregister(address=home, stimulus_id="silent")
                results.cancel()
                await self._client.cancel([f for f in futures if not f.done()], asynchronous=True)
                finished = [f for f in futures if f.status == "finished"]
                return await self._client.gather(finished, errors="skip", asynchronous=True)
        return await results

    def _nobody(self, workers: dict[str, Any]) -> str:
        """Return why the fit cannot go on with these workers, or with none."""
        reason = f"The Dask cluster has had no running worker for {self._patience:g} s"
        remedy = "start workers"
        for address, worker in workers.items():
            if worker["status"] == "paused":
                used, limit = worker["metrics"].get("memory", 0), worker["memory_limit"] or 0
                reason = (
                    f"The Dask worker {address} has been paused for {self._patience:g} s, as its "
                    f"memory is full ({used / 1e6:.0f} of {limit / 1e6:.0f} MB)"
                )
                remedy = "use more or larger workers, or smaller chunks,"
        return (
            f"{reason}, so the fit cannot go on; {remedy} and fit again, or wait "
            "longer: dask.config.set({'inldl.worker-timeout': '10min'})."
        )


_DIED = (
    "Workers died repeatedly on the same rows, most likely because they ran out of memory; use "
    "more or larger workers, or smaller chunks."
)


def _is_paused(worker: dict[str, Any]) -> bool:
    """Say whether a worker starts nothing for want of memory, and has finished what it began."""
    executing = worker["metrics"].get("task_counts", {}).get("executing")
    return worker["status"] == "paused" and not executing


def start_chunks(
    problem: base.BlockProblem, chunks: Sequence[Any], first_row: int, n_parts: int
) -> tuple[list[Any], base.Sums, list[DegreeFacts]]:
    """Check the chunks of one of several parts and start its blocks; y itself is not kept.

    Returns the runs of blocks, the total of their sums, and what y looks like.
    """
    sources, facts = [], []
    for X, y, arrays in chunks:
        X, y, arrays, seen = check_rows_read(X, y, arrays, first_row)
        facts.append(seen)
        first_row += len(y)
        sources += base.row_blocks(X, y, *arrays.values())
    begin = partial(base.start_block, problem, list(chunks[0][2]))
    runs, sums = fold(partial(fold, begin), base.in_runs(sources, n_parts))
    return runs, sums, facts


@dataclass
class WorkerPart:
    """The blocks of a part after `t` sweeps, and the sums of the last one."""

    runs: list[Any]
    t: int = 0
    sums: bytes = b""


@dataclass
class Fit:
    """The parts of a fit on a worker, and the last task that asked for them."""

    problem: base.BlockProblem
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

    def at(self, t: int, which: Iterable[int]) -> list[int]:
        """Return which parts have taken `t` steps."""
        return [i for i in which if i in self.parts and self.parts[i].t == t]

    def advance(self, engine: LocalEngine, which: list[int], message: bytes) -> None:
        """Take parts one step further; those that fail half-way are gone."""
        before = [self.parts.pop(i) for i in which]
        take = partial(base.take_step, self.problem, *pickle.loads(message))
        stepped = engine.map_parts(take, [part.runs for part in before])
        for i, part, runs, added in zip(which, before, *stepped, strict=True):
            self.parts[i] = WorkerPart(runs, part.t + 1, pickle.dumps(added))


# By worker, of which a process can have several.
_FITS: "WeakKeyDictionary[Any, dict[str, Fit]]" = WeakKeyDictionary()
_ENDED: deque[str] = deque(maxlen=1000)  # fits whose last tasks may still come


def load_part(
    fit: str,
    problem: base.BlockProblem,
    i: int,
    chunks: Sequence[Any],
    first_row: int,
    n_parts: int,
) -> tuple[int, str, bytes, list[DegreeFacts]]:
    """Keep a part on this worker; return which and where, its sums, and what y looks like."""
    worker = get_worker()
    with base.one_blas_thread():
        runs, sums, facts = start_chunks(problem, chunks, first_row, n_parts)
    if fit not in _ENDED:
        if worker not in _FITS:
            _FITS[worker] = {}
            worker.loop.add_callback(_tidy, worker)
        here = _FITS[worker].setdefault(fit, Fit(problem))
        with here.lock:
            here.touch(worker)
            here.parts[i] = WorkerPart(runs)
    return i, worker.address, pickle.dumps(sums), facts


def advance_parts(
    fit: str, parts: list[int], first: int, messages: list[bytes]
) -> tuple[str, dict[int, bytes]]:
    """Take parts through the steps from `first` on that they have not taken: a task may run twice.

    Returns where that is, and the sums of the last step of the parts that are here.
    """
    worker = get_worker()
    here = _FITS.get(worker, {}).get(fit)
    if here is None:
        return worker.address, {}
    with here.lock, LocalEngine(worker.state.nthreads) as engine:
        here.touch(worker)
        for t, message in enumerate(messages, first):
            if behind := here.at(t, parts):
                here.advance(engine, behind, message)
        here.used = time.monotonic()
        done = here.at(first + len(messages), parts)
        return worker.address, {i: here.parts[i].sums for i in done}


async def drop_fit(fit: str, dask_worker: Any) -> None:
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
