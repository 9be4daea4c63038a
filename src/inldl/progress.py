"""Report how far a long piece of work is, to whoever listens: a terminal, a page, or nobody."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

Listener = Callable[[str, float | None], Any]
"""Takes what is done at the moment, and which share of that is done (None if not known)."""

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


def report(text: str, share: float | None = None, *, printed: str = "") -> None:
    """Tell the listener what is done at the moment, and which share of it is done if known.

    What is to be `printed` for it is the line of an estimator with the parameter `verbose`.
    """
    reporter()(text, share)
    if printed:
        print(printed, flush=True)


def reporter() -> Listener:
    """Return a function that reports to whoever listens now, from any thread."""
    return _LISTENER.get() or _ignore


def _ignore(text: str, share: float | None = None) -> None:
    """Take a report that nobody listens to."""


@contextmanager
def listening(listener: Listener | None) -> Iterator[Listener]:
    """Pass the reports of what is done inside to a listener; None ignores them.

    Gives the function that reports to the listener outside.
    """
    outer, token = reporter(), _LISTENER.set(listener)
    try:
        yield outer
    finally:
        _LISTENER.reset(token)


class RowCounter:
    """Report, from any thread, how many rows of `total` a sweep has seen.

    It is called with the number of rows of each block. On another machine it counts nothing.
    """

    def __init__(self, total: int = 0) -> None:
        self._total, self._lock = total, Lock()
        self._report = reporter()
        self.start("")

    def start(self, text: str) -> None:
        """Count from 0; `text` says what for."""
        self._text, self._rows, self._percent = text, 0, 0

    def __call__(self, n_rows: int) -> None:
        """Count `n_rows` more rows."""
        if not self._total:
            return
        with self._lock:
            self._rows += n_rows
            percent = 100 * self._rows // self._total
            if percent > self._percent:
                self._percent = percent
                self._report(self._text, self._rows / self._total)

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return RowCounter, ()
