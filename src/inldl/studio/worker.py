"""A process that does one piece of work on a table: a line of JSON in, lines of JSON out."""

import json
import os
import time
import traceback
import warnings
from pathlib import Path

from inldl.processes import READY, own_output, received

OFTEN = 0.1  # seconds between two lines, so that nobody is flooded
_MEMORY = "There is not enough memory for this table; use fewer rows, or a larger machine."


class Teller:
    """Tells how far the work is."""

    def __init__(self, out):
        self._out, self._last = out, 0.0
        self.state = {"text": "Starting", "detail": "", "share": None, "step": 0, "steps": 1}

    def step(self, text, steps=None):
        """Tell that the next step begins."""
        state = self.state
        more = {"step": state["step"] + 1, "steps": steps or state["steps"]}
        self.state = {**state, **more, "text": text, "detail": "", "share": None}
        self._send()

    def share(self, share):
        """Tell how much of a step is done."""
        self.state["share"] = float(share)
        self._send(often=True)

    def detail(self, text, share=None):
        """Tell what is done at the moment, and how much of that, if it is known."""
        self.state["detail"] = str(text)
        self.state["share"] = None if share is None else float(share)
        self._send(often=True)

    def end(self, status, error=""):
        """Tell that the work has ended, and how."""
        self.state = {"status": status, "error": error}
        self._send()

    def _send(self, often=False):
        now = time.monotonic()
        if not often or now - self._last >= OFTEN:
            self._last = now
            print(json.dumps(self.state), file=self._out, flush=True)


def main():
    """Wait for a task, do it, and end."""
    out, lines = own_output(), received()
    from inldl.studio import work  # takes a second or two

    print(READY, end="", file=out, flush=True)
    do(work.TASKS, json.loads(lines.get()), Teller(out))


def _shortened(text, task):
    """Return a message with the names of files alone; users do not know their folders."""
    for path in (task["file"], task.get("other"), str(Path(task["folder"], "file", "table"))):
        text = text if path is None else text.replace(f"{Path(path).parent}{os.sep}", "")
    return text


def do(tasks, task, teller):
    """Do a task; an error is one sentence."""
    warned = []
    warnings.showwarning = lambda message, *_, **__: warned.append(str(message))
    try:
        tasks[task["kind"]](task, teller, warned)
    except (ValueError, OSError, ImportError) as error:
        teller.end("failed", _shortened(str(error), task))
    except MemoryError:
        teller.end("failed", _MEMORY)
    except Exception as error:
        traceback.print_exc()
        what = f"{type(error).__name__}: {error}"
        teller.end("failed", f"This is a bug in inldl, not a problem with your table: {what}.")
    else:
        teller.end("done")
