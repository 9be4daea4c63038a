"""Fill the holes of given rows, from their other degrees and from a prediction."""

from inldl.completion.completer import Completer
from inldl.completion.examples import Examples

__all__ = ["Completer", "Examples"]
