"""Parts of chunks on the workers of a Dask cluster, which keep them next to Dask's own memory.

A sweep is one task for each worker: the arrays of a message go there, the sums of its parts come
back. The client keeps all messages. A part that was lost with its worker is loaded again elsewhere
and taken through the steps it missed; the arithmetic is the same, and so is the result.

Messages and sums are pickled here, into bytes. Dask would send their larger arrays as frames of
their own, which arrive at odd addresses: BLAS multiplies those more slowly, and to other bits.
"""

import asyncio
import pickle
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self
from weakref import WeakKeyDictionary

import dask
import numpy as np
from distributed import KilledWorker, futures_of, get_worker

from inldl import __version__
from inldl.engines.base import BlockProblem, Engine, Sums, take_step, total
from inldl.engines.local import LocalEngine, contiguous, one_blas_thread, start_chunks
from inldl.rows.checks import DegreeFacts, check_degrees

# Without a worker, or with a paused one; dask.config.set({"inldl.worker-timeout": ...}) sets it.
PATIENCE = "60s"
LOOK = 1.0  # seconds between two looks at whether there are workers at all
ASK_VERSION = "__import__('inldl').__version__"  # evaluated on workers that may not have inldl
IDLE = 30.0  # seconds after which a worker drops what no client holds any more


class DaskEngine(Engine):
    """Keep parts on the workers of a Dask cluster and run steps there.

    On the dashboard, the names of the tasks start with `name`.
    """

    def __init__(self, client: Any, name: str):
        self._client, self._name = client, name.lower()
        self._fit = uuid.uuid4().hex
        self._patience = dask.utils.parse_timedelta(
            dask.config.get("inldl.worker-timeout", PATIENCE)
        )
        self._n_tasks = 0
        self._asked: set[str] = set()
        self._held: list[Any] = []
        self._homes: dict[int, str] = {}
        self._messages: list[bytes] = []

    def __enter__(self) -> Self:
        """Let BLAS use one thread here too: what is solved between sweeps must have its bits."""
        one_blas_thread().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Free the memory of the workers, also after Ctrl-C; those that are gone need not know.

        Tasks that failed are cancelled: while a traceback holds them, Dask would want to run what
        they share with the next fit on the workers of this one, which may be gone by then.
        """
        one_blas_thread().__exit__(None, None, None)
        held, self._held = self._held, []
        if self._client.status == "running":
            if error[0] is not None:
                self._client.cancel(held)
            self._client.run(drop_fit, self._fit, wait=False, on_error="ignore")

    def load(self, problem: BlockProblem, rows: Any) -> Sums:
        self._problem, self._rows = problem, rows
        loaded = self._load(range(len(rows.parts)))
        check_degrees([one for _, facts in loaded for one in facts], rows.label_names)
        return total(pickle.loads(sums) for sums, _ in loaded)

    def sweep(self, step: str, *message: np.ndarray) -> Sums:
        self._messages.append(pickle.dumps((step, contiguous(message))))
        sums: dict[int, Any] = {}
        n_done = len(self._messages) - 1
        at: dict[int, int] = dict.fromkeys(range(len(self._rows.parts)), n_done)
        asked_again: set[int] = set()
        while at:
            lost = []
            for i, (added, address) in self._advance(at, step).items():
                if added is None:
                    lost.append((i, address))
                    continue
                at[i] += 1
                if at[i] == len(self._messages):
                    sums[i] = added
                    del at[i]
            self._recover(lost, at, asked_again)
        return total(pickle.loads(sums[i]) for i in sorted(sums))

    def _advance(self, at: dict[int, int], name: str) -> dict[int, tuple[bytes | None, str]]:
        """Take the parts one step further, given how far they are.

        Returns the sums of each, None if it is lost, and the worker that said so.
        """
        groups: dict[tuple[str, int], list[int]] = {}
        for i, t in at.items():
            groups.setdefault((self._homes[i], t), []).append(i)
        tasks = [(parts, t, self._messages[t]) for (_, t), parts in groups.items()]
        keys = [self._key(f"{name}-{len(self._messages)}") for _ in groups]
        homes = {key: [home] for key, (home, _) in zip(keys, groups, strict=True)}

        def submit() -> list[Any]:
            step = partial(advance_parts, self._fit)
            with dask.annotate(workers=homes.__getitem__, allow_other_workers=True):
                return self._client.map(step, *zip(*tasks, strict=True), key=keys, pure=False)

        replies = self._results(submit, [home for home, _ in groups])
        if replies is None:
            return dict.fromkeys(at, (None, ""))
        return {i: (sums, where) for where, added in replies for i, sums in added.items()}

    def _recover(
        self, lost: list[tuple[int, str]], at: dict[int, int], asked_again: set[int]
    ) -> None:
        """Load parts again that are gone; ask their worker again if it was another that answered.

        A task can land elsewhere because its worker left, or because it was busy.
        """
        if not lost:
            return
        running = self._workers()
        gone = []
        for i, address in lost:
            stolen = address != self._homes[i] and self._homes[i] in running
            if stolen and i not in asked_again:
                asked_again.add(i)
            else:
                gone.append(i)
        if gone:
            self._load(gone)
            at.update(dict.fromkeys(gone, 0))

    def _load(self, parts: Sequence[int]) -> list[tuple[bytes, list[DegreeFacts]]]:
        """Load parts on workers; note where they are, and return what is known of them."""
        results = None
        while results is None:
            chosen = self._assigned(parts)
            results = self._results(partial(self._submit_loads, chosen), list(chosen.values()))
        self._check_versions({home: version for home, version, *_ in results})
        self._homes |= {i: home for i, (home, *_) in zip(parts, results, strict=True)}
        return [(sums, facts) for *_, sums, facts in results]

    def _submit_loads(self, chosen: dict[int, str]) -> list[Any]:
        """Let each worker load its parts, and do all that comes before on the same worker."""
        futures: dict[int, Any] = {}
        load, parts = partial(load_part, self._fit, self._problem), self._rows.parts
        for home in set(chosen.values()):
            here = [i for i in chosen if chosen[i] == home]
            keys = [self._key(f"load-part-{i}") for i in here]
            lazy = [
                parts[i].then(partial(load, i), len(parts), keys[k]) for k, i in enumerate(here)
            ]
            computed = self._client.compute(lazy, workers=[home], allow_other_workers=True)
            futures |= zip(here, computed, strict=True)
        return [futures[i] for i in chosen]

    def _assigned(self, parts: Sequence[int]) -> dict[int, str]:
        """Choose a worker for each part: where its rows are already, or the least busy one."""
        workers = self._workers()
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
        self._n_tasks += 1
        return f"{self._name}-{what}-{self._n_tasks}-{self._fit}"

    def _workers(self) -> dict[str, int]:
        """Return the running workers and their threads; wait for one if there is none."""
        until = time.monotonic() + self._patience
        while True:
            known = self._client.sync(self._client.scheduler.identity)["workers"]
            running = {a: w["nthreads"] for a, w in known.items() if w["status"] == "running"}
            if running:
                self._ask_versions(running.keys() - self._asked)
                return running
            if time.monotonic() > until:
                raise RuntimeError(self._nobody(known))
            time.sleep(min(LOOK, self._patience / 4))

    def _ask_versions(self, new: set[str]) -> None:
        """Refuse workers without inldl, which would die of its tasks, or with another version."""
        if new:
            how = {"workers": sorted(new), "on_error": "return"}
            self._check_versions(self._client.run(eval, ASK_VERSION, **how))
            self._asked |= new

    def _check_versions(self, versions: dict[str, Any]) -> None:
        for address, version in versions.items():
            if version != __version__ and not isinstance(version, OSError):  # it has just left
                has = f"inldl {version}" if isinstance(version, str) else f"no inldl ({version})"
                raise RuntimeError(
                    f"The Dask worker {address} has {has}, and this is inldl {__version__}; "
                    "install the same version on all workers."
                )

    def _results(self, submit: Callable[[], list[Any]], homes: list[str]) -> list[Any] | None:
        """Submit tasks and return their results, or None if all their workers have gone."""
        try:
            return self._client.sync(self._gathered, submit, homes)
        except KilledWorker as error:
            raise RuntimeError(
                "Workers died repeatedly on the same rows, most likely because they ran out of "
                "memory; use more or larger workers, or smaller chunks."
            ) from error
        except (CancelledError, OSError) as error:
            raise RuntimeError(
                "The connection to the Dask scheduler was lost, or the tasks of this fit were "
                "cancelled; fit again."
            ) from error

    async def _gathered(
        self, submit: Callable[[], list[Any]], homes: list[str]
    ) -> list[Any] | None:
        """Wait for results as long as the workers at their `homes` work, or new ones may come.

        The tasks before are released in the same breath as the new ones are submitted, since the
        client sends only so often. Tasks of which all workers have gone are given up: Dask may
        have nobody to run them, even when others come.
        """
        futures = self._held = submit()
        results = asyncio.ensure_future(self._client.gather(futures, asynchronous=True))
        seen = dict.fromkeys(homes, time.monotonic())  # when nothing kept a worker from working
        while True:
            await asyncio.wait([results], timeout=min(LOOK, self._patience / 4))
            if results.done():
                return await results
            workers = (await self._client.scheduler.identity())["workers"]
            waiting = {h for h, future in zip(homes, futures, strict=True) if not future.done()}
            stuck = {h for h in waiting if _is_paused(workers.get(h))} if workers else set(homes)
            now = time.monotonic()
            seen |= dict.fromkeys(set(homes) - stuck, now)
            hopeless = now - min(seen.values()) > self._patience
            if hopeless or (workers and seen.keys().isdisjoint(workers)):
                await self._client.cancel(futures, asynchronous=True)
                await asyncio.wait([asyncio.gather(results, return_exceptions=True)], timeout=LOOK)
                if hopeless:
                    raise RuntimeError(self._nobody({h: workers[h] for h in stuck & {*workers}}))
                return None

    def _nobody(self, workers: dict[str, Any]) -> str:
        """Return why the fit cannot go on with these workers, or with none."""
        paused = [address for address in workers if workers[address]["status"] == "paused"]
        if paused:
            worker = workers[paused[0]]
            used, limit = worker["metrics"].get("memory", 0), worker["memory_limit"] or 0
            reason = (
                f"The Dask worker {paused[0]} has been paused for {self._patience:g} s, as its "
                f"memory is full ({used / 1e6:.0f} of {limit / 1e6:.0f} MB)"
            )
            remedy = "use more or larger workers, or smaller chunks,"
        else:
            reason = f"The Dask cluster has had no running worker for {self._patience:g} s"
            remedy = "start workers"
        return (
            f"{reason}, so the fit cannot go on; {remedy} and fit again, or wait "
            "longer: dask.config.set({'inldl.worker-timeout': '10min'})."
        )


def _is_paused(worker: dict[str, Any] | None) -> bool:
    """Say whether a worker starts nothing for want of memory, and has finished what it began."""
    if worker is None or worker["status"] != "paused":
        return False
    return not worker["metrics"].get("task_counts", {}).get("executing")


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


def load_part(
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


def advance_parts(
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
