"""Fill the holes of given rows, from their other degrees and from a prediction."""

from inldl.completion.completer import Completer

__all__ = ["Completer"]
