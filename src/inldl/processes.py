"""Python processes that work for this one, a line of text in and a line out."""

import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TextIO

READY = "ready\n"


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
