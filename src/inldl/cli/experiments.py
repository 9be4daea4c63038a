"""Commands of the researcher: datasets, methods, bench, report, reproduce."""

import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from inldl.cli import options as o
from inldl.cli import working
from inldl.specs import import_distribution
from inldl.text import say

Names = Annotated[str, typer.Option(help="Names, separated by commas; see `inldl datasets`.")]
Timeout = Annotated[float | None, typer.Option(help="Give up on a cell after this many seconds.")]
_COMPARED = "Names, separated by commas, or package.module:Class(argument=1)."
_HIDING = (
    "How degrees are hidden: {mechanisms}; with -renormalised after the name, the others are "
    "divided by their sum."
)
_SOME = "Some of the paper's datasets; all by default."
_SMALL = "A short run: SJAFFE and SBU3DFE unless datasets are given, and fewer sizes."
Retry = Annotated[bool, o.flag("--retry", help="Compute failed cells again.")]


def datasets() -> None:
    """List the public datasets: shape, source, and whether they are on this machine."""
    from inldl.datasets import catalogue

    lines = []
    for each in catalogue():
        shape, here = each.shape or [""] * 3, "yes" if each.path else ""
        lines.append([each.name, each.alias or "", *shape, here, each.source])
    _list(lines, "name", "in the paper", "n", "k", "C", "here", "source")


def methods() -> None:
    """List the methods that `bench` knows by name."""
    from inldl.methods.registry import METHODS

    lines = []
    for name, method in METHODS.items():
        lacking = "" if method.installed else f" (needs the package {method.distribution})"
        lines.append((name, method.about + lacking))
    _list(lines, "name", "what it is")


def _list(lines, *names):
    from inldl.report.document import Document, Header, Section, ShownTable
    from inldl.report.renderers import show

    columns = [Header(name, words=name not in ("n", "k", "C")) for name in names]
    show(Document("", sections=[Section("", [ShownTable(columns, list(lines))])]))


def bench(
    datasets: Names,
    methods: Annotated[str, typer.Option(help=_COMPARED)] = "winldl,constant-mean",
    rates: Annotated[str, typer.Option(help="Shares of degrees to hide.")] = "0.1,0.3,0.5,0.7,0.9",
    splits: Annotated[int, typer.Option(help="Number of random splits.")] = 5,
    recipe: Annotated[str, typer.Option(help="Preparation: {recipes}.")] = "authors",
    mechanism: Annotated[str, typer.Option(help=_HIDING)] = "uniform",
    jobs: o.Processes = 1,
    timeout: Timeout = None,
    retry: Retry = False,
    out: Annotated[Path, o.out("The file of results.")] = Path("run.sqlite"),
) -> None:
    """Compare methods on datasets: the same splits and holes for each.

    To resume a run that was stopped, give the same command again.

        inldl bench --datasets SJAFFE,SBU3DFE --methods winldl,ldm,ridge --rates 0.5 --jobs 2
    """
    from inldl.experiments import grid
    from inldl.specs import split_list

    names = (split_list(datasets), split_list(methods))
    how = {"rates": _numbers(rates), "splits": splits, "recipe": recipe, "mechanism": mechanism}
    cells = grid(*names, **how)
    _compute(cells, out, jobs, timeout, retry, "bench")
    say(f"See the results with: inldl report {shlex.quote(str(out))} -o report.html")


def report(
    run: Annotated[Path, typer.Argument(help="The file of results.")],
    out: Annotated[Path, o.out("The page to write.")] = Path("report.html"),
) -> None:
    """Write one HTML page with the tables and figures of a run.

    inldl report run.sqlite -o report.html
    """
    from inldl.experiments import Store
    from inldl.files.replacing import check_free
    from inldl.report.pages.run import run_page

    o.check_apart(run=run, out=out)
    check_free(out, overwrite=True)
    run_page(Store(run).frame(), command=bench_command).write(out)
    say(f"Wrote {out}")


def bench_command(grid: Mapping[str, str]) -> str:
    """Return the command that computes a grid, given its arguments as texts."""
    options = (f"--{name} {shlex.quote(value)}" for name, value in grid.items())
    return " \\\n    ".join(["inldl bench", *options])


def reproduce(
    datasets: Annotated[str | None, typer.Option(help=_SOME)] = None,
    quick: Annotated[bool, o.flag("--quick", help=_SMALL)] = False,
    jobs: o.Processes = -1,
    timeout: Timeout = None,
    retry: Retry = False,
    out: Annotated[Path, o.out("The folder to write.")] = Path("reproduction"),
) -> None:
    """Repeat the experiments of the paper: each table and figure beside the printed one.

    Missing datasets are downloaded; those that are not available are listed as not run.

        inldl reproduce --quick
    """
    paper = import_distribution("inldl-paper", "inldl reproduce")
    how = {"jobs": jobs, "timeout": timeout, "retry": retry, "what": "reproduce"}
    paper.reproduce(out, partial(_compute, **how), datasets=datasets, quick=quick)


COMMANDS = (datasets, methods, bench, report, reproduce)


def _compute(cells, out, jobs, timeout, retry, what):
    """Run the cells with a progress display, and say what did not work."""
    from inldl.experiments import Store, run
    from inldl.experiments.runner import pending

    n_done = len(cells) - len(pending(cells, Store(out), retry=retry))
    say(f"{len(cells)} cells, of which {n_done} are done.")
    try:
        with working(what):
            rows = run(cells, out, jobs=jobs, timeout=timeout, retry=retry)
    except KeyboardInterrupt:
        say("Interrupted. Give the same command again to resume.", err=True)
        raise typer.Exit(130) from None
    troubled = [row for row in rows if row.status != "ok"]
    for row in troubled[:10]:
        say(f"  {row.status}: {row.cell.method} on {row.cell.dataset}: {row.reason}")
    if len(troubled) > 10:
        say(f"  ... and {len(troubled) - 10} more; all reasons are in {out}.")
    if rows and len(troubled) == len(rows):
        say("No cell succeeded.", err=True)
        raise typer.Exit(1)


def _numbers(text):
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{text!r} is not a list of numbers such as 0.1,0.5.") from None
