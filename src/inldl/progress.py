"""Let whoever started a long fit hear how far it is."""

from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

_LISTENER = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener):
    """Call `listener` with a line for each part of the fits inside; None hears nothing.

    If it is known how much of a part is done, that share comes as a second argument.
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def tell(text, *share):
    """Tell whoever listens, with the share that is done if it is known."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(text, *share)


class RowCounter:
    """Tell whoever listens now, from any thread, how many rows a sweep has seen.

    It is called with the number of rows of each block. On another machine it counts nothing.
    """

    def __init__(self, total=0):
        self._total, self._lock = total, Lock()
        self._listener = _LISTENER.get() if total else None
        self.start("")

    def start(self, text):
        """Count from 0; `text` says what for."""
        self._text, self._rows, self._told = text, 0, 0

    def __call__(self, n_rows):
        """Report that `n_rows` more rows are done."""
        if self._listener is None:
            return
        with self._lock:
            self._rows += n_rows
            percent = 100 * self._rows // self._total
            if percent > self._told:
                self._told = percent
                self._listener(self._text, self._rows / self._total)

    def __reduce__(self):
        return RowCounter, ()
