"""A process that reads data and computes cells: a line of JSON in, a line of JSON out.

It is a separate Python process, so it shares no thread, lock or script with the process that wants
the results, and can be killed at any time.
"""

import gc
import json
import subprocess
import sys
import threading
from dataclasses import asdict
from typing import Self

from inldl._processes import READY, own_output, received, start_process
from inldl._specs import import_object
from inldl.experiments.measure import measure, reading_error, stamped
from inldl.experiments.protocol import Cell
from inldl.experiments.store import Row
from inldl.methods import classes


class Worker:
    """Controls the process from outside, and starts it again if it has ended.

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
            code = "from inldl.experiments.worker import main; main()"
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
    for path in classes().values():
        import_object(path)
    gc.freeze()  # otherwise each cell scans all imported objects for garbage: .07 s
    print(READY, end="", file=out, flush=True)
    while True:
        task, given = json.loads(tasks.get())
        answer = reading_error(given) if task == "read" else vars(measure(Cell(**given)))
        print(json.dumps(answer, default=vars), file=out, flush=True)
