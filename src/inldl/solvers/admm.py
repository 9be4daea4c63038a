"""The loop of all methods that alternate between per-row work and one shared regression."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from inldl._engines import Sums

Sweep = Callable[..., Sums]
"""Runs a step, a method of the problem, with arrays over all blocks; returns the total of the
sums."""


class Problem(Protocol):
    """What a method must state; blocks and the shared part are its own.

    `watched` names the entries of `changes` that must fall below the tolerance. Blocks may live
    on other machines, where only the problem itself and the arrays of a message are known.
    """

    watched: tuple[str, ...]

    def start(self, X: Any, y: np.ndarray) -> tuple[Any, Sums]:
        """Make the state of a block of rows, and the sums that the first update needs."""

    def first(self, sums: Sums, sweep: Sweep) -> Any:
        """Return the shared part that the first iteration steps with."""

    def message(self, shared: Any) -> tuple[np.ndarray, ...]:
        """Return what a step needs of the shared part."""

    def step(self, block: Any, *message: np.ndarray) -> tuple[Any, Sums]:
        """Do all per-row work of one iteration; may reuse the arrays of the block."""

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


def solve(
    problem: Problem,
    engine: Any,
    sources: Any,
    *,
    max_iter: int,
    tol: float,
    report: Callable[[int, dict[str, float]], None] | None = None,
) -> Result:
    """Iterate until every watched change is below `tol`, at most `max_iter` times."""
    shared = problem.first(engine.load(problem.start, sources), engine.sweep)
    history: list[dict[str, float]] = []
    while True:
        sums = engine.sweep(problem.step, *problem.message(shared))
        history.append(problem.changes(shared, sums))
        if report is not None:
            report(len(history), history[-1])
        converged = all(history[-1][name] < tol for name in problem.watched)
        if converged or len(history) == max_iter:
            break
        shared = problem.next(shared, sums, engine.sweep)
    columns = {name: np.array([row[name] for row in history]) for name in history[0]}
    return Result(shared, len(history), converged, columns)
