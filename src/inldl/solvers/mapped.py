"""A problem that sees features of the rows instead of the rows themselves, block by block.

Features are made in the block, wherever that is: no engine and no row source knows of them. Where
those of all rows would not fit into memory they are made anew in each step.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from inldl._engines import Sums
from inldl.solvers.linear import Array
from inldl.solvers.loop import Problem, Sweep


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

    @property
    def watched(self) -> tuple[str, ...]:
        """What must fall below the tolerance."""
        return self.problem.watched

    def start(self, X: Any, y: Array, **beside: Array) -> tuple[MappedBlock, Sums]:
        """Start a block of the features."""
        inside, sums = self.problem.start(self.features(X), y, **beside)
        return self._block(X, inside), sums

    def step(self, block: MappedBlock, *message: Array) -> tuple[MappedBlock, Sums]:
        """Do all per-row work of one iteration."""
        return self._do("step", block, *message)

    def label_sums(self, block: MappedBlock, *message: Array) -> tuple[MappedBlock, Sums]:
        """Do the first step of a chosen ridge."""
        return self._do("label_sums", block, *message)

    def misses(self, block: MappedBlock, *message: Array) -> tuple[MappedBlock, Sums]:
        """Do the second step of a chosen ridge."""
        return self._do("misses", block, *message)

    def settle(self, block: MappedBlock, *message: Array) -> tuple[MappedBlock, Sums]:
        """Scale rows of ratios."""
        return self._do("settle", block, *message)

    def first(self, sums: Sums, sweep: Sweep) -> Any:
        """Return the shared part that the first iteration steps with."""
        return self.problem.first(sums, sweep)

    def message(self, shared: Any) -> tuple[Array, ...]:
        """Return what a step needs of the shared part."""
        return self.problem.message(shared)

    def next(self, shared: Any, sums: Sums, sweep: Sweep) -> Any:
        """Return the shared part of the next iteration."""
        return self.problem.next(shared, sums, sweep)

    def changes(self, shared: Any, sums: Sums) -> dict[str, float]:
        """Return what the history keeps of an iteration."""
        return self.problem.changes(shared, sums)

    def _do(self, step: str, block: MappedBlock, *message: Array) -> tuple[MappedBlock, Sums]:
        if block.inside.X is None:
            block.inside.X = self.features(block.X)
        inside, sums = getattr(self.problem, step)(block.inside, *message)
        return self._block(block.X, inside), sums

    def _block(self, X: Any, inside: Any) -> MappedBlock:
        if not self.keep:
            inside.X = None
        return MappedBlock(X, inside)
