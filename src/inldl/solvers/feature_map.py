"""A problem that sees features of the rows instead of the rows themselves, block by block.

Features are made in the block, wherever that is: no engine and no row source knows of them. Where
those of all rows would not fit into memory they are made anew in each step.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from inldl.engines import Sums
from inldl.solvers.linear import Array
from inldl.solvers.loop import Problem

_OF_SHARED = ("watched", "first", "message", "next", "changes")  # what is no step of a block


@dataclass
class MappedBlock:
    """The rows of a block, and the block of their features that the problem inside has."""

    X: Any
    inside: Any


@dataclass(frozen=True)
class MappedProblem:
    """A problem on `features(X)`; they are kept from step to step if `keep` says so.

    Kept or not, the result is the same to the bit.
    """

    problem: Problem
    features: Callable[[Any], Array]
    keep: bool

    def start(self, X: Any, y: Array, **beside: Array) -> tuple[MappedBlock, Sums]:
        """Start a block of the features."""
        inside, sums = self.problem.start(self.features(X), y, **beside)
        return self._block(X, inside), sums

    def __getattr__(self, name: str) -> Any:
        """Return what the problem inside has; its steps get their blocks with the features."""
        if name.startswith("__"):  # asked for while it is unpickled, and has no problem yet
            raise AttributeError(name)
        found = getattr(self.problem, name)
        return found if name in _OF_SHARED else partial(self._do, found)

    def _do(
        self, step: Callable[..., tuple[Any, Sums]], block: MappedBlock, *message: Array
    ) -> tuple[MappedBlock, Sums]:
        if block.inside.X is None:
            block.inside.X = self.features(block.X)
        inside, sums = step(block.inside, *message)
        return self._block(block.X, inside), sums

    def _block(self, X: Any, inside: Any) -> MappedBlock:
        if not self.keep:
            inside.X = None
        return MappedBlock(X, inside)
