"""The loop of every iterative method, and what a method states that works on blocks of rows."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import numpy as np

from inldl.engines.base import BlockProblem, Engine, RowSource, Sums

Sweep = Callable[..., Sums]
"""Takes all blocks through a step: ``sweep("step", *arrays)`` returns the total of the sums."""

Iteration = tuple[Any, dict[str, float], bool]
"""What was found so far, what the history keeps, and whether it is good enough to stop."""


class IterativeProblem(BlockProblem, Protocol):
    """What a method states that alternates between work on rows and one shared regression.

    Blocks and the shared part are its own. `watched` names the entries of `changes` that must
    fall below the tolerance.
    """

    watched: tuple[str, ...]

    def first(self, sums: Sums, sweep: Sweep) -> Any:
        """Return the shared part that the first iteration steps with."""

    def message(self, shared: Any) -> tuple[np.ndarray, ...]:
        """Return what a step needs of the shared part."""

    def step(self, block: Any, *message: np.ndarray) -> tuple[Any, Sums]:
        """Do all per-row work of one iteration."""

    def next(self, shared: Any, sums: Sums, sweep: Sweep) -> Any:
        """Return the shared part of the next iteration; `sweep` runs another step if needed."""

    def changes(self, shared: Any, sums: Sums) -> dict[str, float]:
        """Return what the history keeps of an iteration."""


@dataclass(frozen=True)
class Result:
    """What was found (the parameters, or the shared part of the last step), and how."""

    shared: Any
    n_iter: int
    converged: bool
    history: dict[str, np.ndarray]


def run(
    iterations: Iterable[Iteration],
    max_iter: int,
    report: Callable[[int, dict[str, float]], None] | None = None,
) -> Result:
    """Iterate until an iteration is good enough, at most `max_iter` times (1 or more)."""
    history: list[dict[str, float]] = []
    for iteration in islice(iterations, max_iter):
        found, changes, converged = iteration
        history.append(changes)
        if report is not None:
            report(len(history), changes)
        if converged:
            break
    columns = {name: np.array([row[name] for row in history]) for name in history[0]}
    return Result(found, len(history), converged, columns)


def iterations(
    problem: IterativeProblem, engine: Engine, rows: RowSource, tol: float
) -> Iterator[Iteration]:
    """Step a problem on an engine; it is good enough when every watched change is below `tol`."""
    shared = problem.first(engine.load(problem, rows), engine.sweep)
    while True:
        sums = engine.sweep("step", *problem.message(shared))
        changes = problem.changes(shared, sums)
        yield shared, changes, all(changes[name] < tol for name in problem.watched)
        shared = problem.next(shared, sums, engine.sweep)
