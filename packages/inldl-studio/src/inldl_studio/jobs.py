"""Work on tables in processes of their own, which can be stopped and may die.

A process gets one line of JSON with what to do, and sends lines of JSON about how far it is.
"""

import json
import shutil
import signal
import threading
import time
from contextlib import suppress
from subprocess import TimeoutExpired
from typing import Any, TextIO

from inldl.processes import READY, end_process, own_output, received, start_process
from inldl_studio.remaining import TimeLeft

Run = dict[str, Any]  # as `Workspace` keeps it
RUNNING_JOBS = 4  # that work at the same time
OFTEN = 0.1  # seconds between two lines about progress, at least
AFTER = 5  # seconds in which a process ends that says no more; then it is ended
_CODE = "from inldl_studio.jobs import main; main()"
STARTING = {"text": "Starting", "detail": "", "share": None, "step": 0, "steps": 1}
_BUSY = f"{RUNNING_JOBS} tasks are already running; wait until one ends, or stop one."
_OTHERWISE = "This is already running with earlier settings; wait until it ends, or stop it."
_STOPPED = "Stopped. Earlier results are still there."
_UNKEPT = "The result could not be kept ({}); make room on the disk, and start it again."
_ENDED = "The studio ended while this was running; start it again."


class Busy(RuntimeError):
    """Too much is going on."""


class Jobs:
    """Starts, watches and stops the processes that work on tables.

    A process that waits for work is kept at hand, because starting one takes a second or two.
    """

    def __init__(self, workspace):
        self._workspace, self._lock = workspace, threading.Lock()
        self._running, self._spare, self._closed = {}, None, False
        self._unkept: dict[str, Run] = {}  # how runs ended for which there was no room on the disk
        for table in workspace.tables():
            for run in workspace.runs(table["id"]):
                if run["status"] == "running":
                    self._end(run, "failed", _ENDED)

    def prepare(self) -> None:
        """Start a process that waits for work, if none does."""
        with self._lock:
            if self._spare is None and not self._closed:
                self._spare = start_process(_CODE)

    def start(self, table_id, kind, task) -> Run:
        """Start a piece of work on a table, unless the same is going on; return its run."""
        with self._lock:
            for job in self._running.values():
                if (job.run["table"], job.run["kind"]) == (table_id, kind):
                    if job.task == task:
                        return job.run
                    raise Busy(_OTHERWISE)
            if len(self._running) >= RUNNING_JOBS:
                raise Busy(_BUSY)
            facts = {name: task[name] for name in ("settings", "edits", "asked") if name in task}
            run = self._workspace.new_run(table_id, kind, **facts)
            process, self._spare = self._spare, None
            if process is not None and process.poll() is not None:  # somebody has ended it
                end_process(process)
                process = None
            process = process or start_process(_CODE)
            job = self._running[run["id"]] = _RunningJob(run, process, task)
        folder = self._workspace.run_folder(table_id, run["id"])
        task = {**task, "kind": kind, "folder": str(folder)}
        threading.Thread(target=self._watch, args=[job, task], daemon=True).start()
        return run

    def state(self, table_id, run_id) -> Run:
        """Return how a run stands, and how far it is."""
        job = self._running.get(run_id)
        if job is None or job.run["table"] != table_id:
            return self.known(self._workspace.run(table_id, run_id))
        seconds = time.monotonic() - job.since
        return {
            **job.run,
            "progress": job.progress,
            "seconds": seconds,
            "left": job.clock.left(seconds),
        }

    def known(self, run) -> Run:
        """Return how a run ended, also if that could not be written."""
        return self._unkept.get(run["id"], run)

    def running(self, table_id) -> list[Run]:
        """Return what is going on with a table."""
        jobs = list(self._running.values())
        return [self.state(table_id, j.run["id"]) for j in jobs if j.run["table"] == table_id]

    def stop(self, table_id, run_id=None) -> None:
        """Stop a run, or all of a table, and wait until they have ended."""
        for job in list(self._running.values()):
            if job.run["table"] == table_id and run_id in (None, job.run["id"]):
                job.stop(_STOPPED)

    def close(self) -> None:
        """Stop everything."""
        self._closed = True
        for job in list(self._running.values()):
            job.stop(_ENDED)
        with self._lock:
            spare, self._spare = self._spare, None
        if spare is not None:
            end_process(spare)

    def _watch(self, job, task):
        """Give a process its task, listen to it, and keep how it ended."""
        status, error, about = "died", "", {}
        try:
            print(json.dumps(task), file=job.process.stdin, flush=True)
            for line in job.process.stdout:
                if line == READY:
                    continue
                said = json.loads(line)
                if "status" in said:
                    status, error, about = said["status"], said["error"], said.get("about")
                    break
                job.hear(said)
        except (OSError, ValueError):  # it has died, perhaps in the middle of a line
            status = "died"
        if status == "died":
            with suppress(TimeoutExpired):
                job.process.wait(AFTER)
        code = end_process(job.process)
        if job.stopped:
            status, error, about = "stopped", job.stopped, {}
        elif status == "died":
            error = _died(code)
        self._end(job.run, status, error, about)
        self._running.pop(job.run["id"])
        job.ended.set()
        self.prepare()

    def _end(self, run, status, error, about=None):
        """Keep how a run ended; of one without a result, nothing else stays."""
        ended = {"status": status, "error": error, "about": about or {}, "ended": time.time()}
        try:
            folder = self._workspace.run_folder(run["table"], run["id"])
            for path in folder.iterdir() if status != "done" else ():
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                elif path.name != "run.json":
                    path.unlink()
            self._workspace.write_run({**run, **ended})
        except LookupError:  # the table was removed meanwhile
            return
        except OSError as full:
            text = _UNKEPT.format(full.strerror or full)
            self._unkept[run["id"]] = {**run, **ended, "status": "failed", "error": text}


class _RunningJob:
    """A run that is going on."""

    def __init__(self, run, process, task):
        self.run, self.process, self.task = run, process, task
        self.progress, self.since = STARTING, time.monotonic()
        self.stopped, self.ended = "", threading.Event()
        self.clock = TimeLeft(run["kind"], run["settings"].get("method", "auto"))

    def hear(self, progress: dict[str, Any]) -> None:
        """Note how far the work is."""
        self.progress = progress
        self.clock.hear(progress, time.monotonic() - self.since)

    def stop(self, why: str) -> None:
        """End the process, and wait until its run was kept."""
        self.stopped = why
        self.process.kill()
        self.ended.wait()


def _died(code):
    """Return a sentence about a process that ended by itself."""
    why = f"code {code}"
    if code < 0:
        name = signal.Signals(-code).name
        why = f"signal {name}; perhaps there was not enough memory" if code == -9 else name
    return f"The process that did the work ended unexpectedly ({why}); start it again."


class ProgressLines:
    """Sends lines of JSON about how far the work is."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._last = out, 0.0
        self.state: dict[str, Any] = dict(STARTING)

    def step(self, text: str, steps: int | None = None) -> None:
        """Say that the next of so many `steps` begins."""
        step, steps = self.state["step"] + 1, steps or self.state["steps"]
        self.state |= {"text": text, "detail": "", "share": None, "step": step, "steps": steps}
        self._send()

    def detail(self, text: str, share: float | None = None) -> None:
        """Say what is done at the moment, and how much of that, if it is known."""
        self.state |= {"detail": str(text), "share": None if share is None else float(share)}
        if time.monotonic() - self._last >= OFTEN:
            self._send()

    def end(self, status: str, error: str = "", about: dict[str, Any] | None = None) -> None:
        """Say that the work has ended, and how; `about` says where something is wrong."""
        self.state = {"status": status, "error": error, "about": about or {}}
        self._send()

    def _send(self) -> None:
        self._last = time.monotonic()
        print(json.dumps(self.state), file=self._out, flush=True)


def main() -> None:
    """Wait for a piece of work, do it, and end."""
    out, lines = own_output(), received()
    from inldl_studio.work import do  # takes a second or two

    print(READY, end="", file=out, flush=True)
    do(json.loads(lines.get()), ProgressLines(out))
