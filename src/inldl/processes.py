"""Python processes that work for this one, a line of text in and a line out; and what one is."""

import ctypes
import json
import os
import platform
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TextIO

from threadpoolctl import threadpool_info

READY = "ready\n"
PACKAGES = ("inldl", "numpy", "scipy", "scikit-learn", "numba", "pandas")  # that results depend on


def start_process(code: str) -> "subprocess.Popen[str]":
    """Start Python with some code, which reads lines from its standard input.

    It can import exactly what this process can: without -P it would run a random.py in the working
    folder. BLAS and OpenMP get one thread each, and Ctrl-C does not reach it.
    """
    paths = os.pathsep.join(path or "." for path in sys.path)
    settings = {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, **settings},
        process_group=0 if os.name == "posix" else None,
    )


def end_process(process: "subprocess.Popen[str]") -> int:
    """End a process at once, if it has not ended; return its exit code."""
    process.kill()
    code = process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # it did not read all that was sent
                stream.close()
    return code


def own_output() -> TextIO:
    """Return a file to answer with; what else is printed goes to the standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return out


def received() -> "queue.Queue[str]":
    """Return a queue of the lines that come in.

    When no more can come, the process ends, whatever it is doing.
    """
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_receive, args=[lines], daemon=True).start()
    return lines


def _receive(lines: "queue.Queue[str]") -> None:
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


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


@cache
def environment() -> dict[str, str]:
    """Return versions, processor and threads of this process."""
    blas = sorted({f"{each['internal_api']} {each['version']}" for each in threadpool_info()})
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "blas": ", ".join(blas),
        "threads of BLAS and OpenMP": "1",
        "system": platform.platform(),
        "processor": _linux_says("cpuinfo", "model name")
        or platform.processor()
        or platform.machine(),
        "cores": str(os.cpu_count()),
    }


def reset_peak_memory() -> int | None:
    """Reset the system's peak counter, and return the bytes in use (Linux only)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # memory freed earlier must not hide memory taken now
        Path("/proc/self/clear_refs").write_text("5")
        return memory("VmRSS")
    return None


def memory(kind: str = "VmHWM") -> int | None:
    """Return the bytes of this process at its peak, or those in use, "VmRSS" (Linux only)."""
    found = _linux_says("self/status", kind)
    return int(found.split()[0]) * 1024 if found else None


def _linux_says(file: str, name: str) -> str:
    """Return what a file in Linux's /proc says about `name`, or an empty text."""
    with suppress(OSError):
        for line in Path("/proc", file).read_text().splitlines():
            if line.startswith(name):
                return line.partition(":")[2].strip()
    return ""
