"""Processes that compute cells, one question and one answer at a time."""

import json
import subprocess
import sys
import threading
from contextlib import suppress

from inldl.processes import READY, end_process, start_process


class Worker:
    """A process that answers questions, a line of JSON in and a line out.

    It is a separate Python process, so it shares no thread, lock or script with the process that
    asks, and can be killed at any time. It is started when it is asked first, and again if it has
    ended. `code` is what Python runs: it prints `READY`, and then an answer to each question.
    """

    def __init__(self, code: str) -> None:
        self._code = code
        self._process: subprocess.Popen[str] | None = None

    def ask(self, question: object, timeout: float | None = None) -> str:
        """Return the answer.

        A TimeoutError says that there was none after `timeout` seconds, a ChildProcessError with
        which code the process ended instead.
        """
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(timeout or 0, give_up)
        if timeout is not None:
            timer.start()
        try:
            print(json.dumps(question), file=process.stdin, flush=True)
            answer = process.stdout.readline()
        except OSError:
            answer = ""
        finally:
            timer.cancel()
        if answer.endswith("\n"):
            return answer
        code = self.stop()
        if late.is_set():
            raise TimeoutError(f"not finished after {timeout:g} seconds")
        raise ChildProcessError(f"its process ended with code {code}")

    def stop(self) -> int | None:
        """End the process and return its exit code."""
        process, self._process = self._process, None
        if process is None:
            return None
        with suppress(subprocess.TimeoutExpired, OSError, ValueError):
            process.communicate(timeout=1)  # closes its input, which ends it
        return end_process(process)

    def kill(self) -> None:
        """End the process at once."""
        if self._process is not None:
            self._process.kill()

    def _running(self) -> "subprocess.Popen[str]":
        """Return the process once it is ready, so that imports do not count as work."""
        if self._process is None:
            self._process = start_process(self._code)
            assert self._process.stdout is not None
            if self._process.stdout.readline() != READY:
                raise OSError(f"A process could not be started: {sys.executable}.")
        return self._process
