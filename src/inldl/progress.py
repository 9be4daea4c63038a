"""Report how far a long piece of work is, to whoever listens: a terminal, a page, or nobody."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
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
