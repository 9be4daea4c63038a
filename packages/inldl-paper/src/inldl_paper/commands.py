"""What the commands of `inldl` for research do: bench, report, reproduce."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from inldl.cli import working
from inldl.text import say
from inldl_paper import reproduction
from inldl_paper.experiments import Cell, Row, Store, grid, run
from inldl_paper.experiments.runner import pending
from inldl_paper.pages import run_page

MOST_TROUBLES = 10


def bench(
    datasets: Sequence[str],
    methods: Sequence[str],
    out: Path,
    *,
    how: Mapping[str, Any],
    running: Mapping[str, Any],
) -> None:
    """Compute a grid of cells into a store.

    `how` has the other arguments of `inldl_paper.experiments.grid`, and `running` those of
    `inldl_paper.experiments.run`.
    """
    compute(grid(datasets, methods, **how), out, what="bench", **running)
    say(f"See the results with: inldl report {shlex.quote(str(out))} -o report.html")


def report(store: Path, out: Path) -> None:
    """Write the page of a store."""
    run_page(Store(store).frame(), command=bench_command).write(out)
    say(f"Wrote {out}")


def bench_command(grid: Mapping[str, str]) -> str:
    """Return the command that computes a grid, given its arguments as texts."""
    options = (f"--{name} {shlex.quote(value)}" for name, value in grid.items())
    return " \\\n    ".join(["inldl bench", *options])


def reproduce(out: Path, *, running: Mapping[str, Any], **options: Any) -> None:
    """Repeat the experiments of the paper.

    `running` has arguments of `inldl_paper.experiments.run`, and `options` those of
    `inldl_paper.reproduction.reproduce`.
    """
    run_all = partial(compute, what="reproduce", **running)
    given = {**options, **running, "out": str(out)}
    reproduction.reproduce(out, run_all, command=_written("inldl reproduce", given), **options)


def _written(command: str, given: Mapping[str, Any]) -> str:
    """Return a command with the options that were given; True stands for a flag."""
    parts = [command]
    for name, value in given.items():
        if value is True:
            parts.append(f"--{name}")
        elif value not in (None, False) and (name, value) != ("jobs", -1):
            parts.append(f"--{name} {shlex.quote(str(value))}")
    return " ".join(parts)


def compute(
    cells: Iterable[Cell], out: Path, *, what: str, retry: bool = False, **running: Any
) -> None:
    """Run the cells with a progress display, and say what did not work."""
    cells = list(cells)
    n_done = len(cells) - len(pending(cells, Store(out), retry=retry))
    say(f"{len(cells)} cells, of which {n_done} are done.")
    try:
        with working(what):
            rows = run(cells, out, retry=retry, **running)
    except KeyboardInterrupt:
        say("Interrupted. Give the same command again to resume.", err=True)
        raise SystemExit(130) from None
    _say_troubles(rows, out)


def _say_troubles(rows: Sequence[Row], out: Path) -> None:
    troubled = [row for row in rows if row.status != "ok"]
    for row in troubled[:MOST_TROUBLES]:
        say(f"  {row.status}: {row.cell.method} on {row.cell.dataset}: {row.reason}")
    if len(troubled) > MOST_TROUBLES:
        say(f"  ... and {len(troubled) - MOST_TROUBLES} more; all reasons are in {out}.")
    if rows and len(troubled) == len(rows):
        say("No cell succeeded.", err=True)
        raise SystemExit(1)
