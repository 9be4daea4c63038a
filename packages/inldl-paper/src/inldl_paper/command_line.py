"""Commands of `inldl` for research: datasets, bench, report, reproduce."""

from pathlib import Path
from typing import Annotated

import typer

import inldl_paper
from inldl.cli import options as o
from inldl.files.replacing import check_free
from inldl.specs import split_list

Names = Annotated[str, typer.Option(help="Names, separated by commas; see `inldl datasets`.")]
Timeout = Annotated[float | None, typer.Option(help="Give up on a cell after this many seconds.")]
_COMPARED = "Names with commas, package.module:Class(a=1), ./file.py:Class; name=method names it."
_METRICS = "More metrics, such as earth_mover, zero_one or package.module:function."
_HIDING = (
    "How degrees are hidden: {inldl.datasets:MECHANISMS}; with -renormalised after the name, the "
    "others are divided by their sum."
)
_RECIPE = "Preparation: {inldl_paper.experiments:RECIPES}."
_SOME = "Some of the paper's datasets; all by default."
_SMALL = "A short run: SJAFFE and SBU3DFE unless datasets are given, and fewer sizes."
Retry = Annotated[bool, o.flag("--retry", help="Compute failed cells again.")]


def datasets() -> None:
    """List the public datasets: shape, source, licence, and whether they are on this machine."""
    lines = []
    for each in inldl_paper.catalogue():
        shape, here = each.shape or ["not known", "", ""], "yes" if each.path else ""
        about = [each.source, each.licence, each.note or ""]
        lines.append([each.name, each.alias or "", *shape, here, *about])
    o.show_list(lines, "name", "in the paper", "n", "k", "C", "here", "source", "licence", "note")


def bench(
    datasets: Names,
    methods: Annotated[str, typer.Option(help=_COMPARED)] = "winldl,constant-mean",
    rates: Annotated[str, typer.Option(help="Shares of degrees to hide.")] = "0.1,0.3,0.5,0.7,0.9",
    splits: Annotated[int, typer.Option(help="Number of random splits.")] = 5,
    recipe: Annotated[str, typer.Option(help=_RECIPE)] = "authors",
    mechanism: Annotated[str, typer.Option(help=_HIDING)] = "uniform",
    grouped: Annotated[bool, o.flag("--grouped", help="Keep groups of rows together.")] = False,
    metrics: Annotated[str, typer.Option(help=_METRICS)] = "",
    jobs: o.Processes = 1,
    timeout: Timeout = None,
    retry: Retry = False,
    out: Annotated[Path, o.out("The file of results.")] = Path("run.sqlite"),
) -> None:
    """Compare methods on datasets: the same splits and holes for each.

    To resume a run that was stopped, give the same command again.

        inldl bench --datasets SJAFFE,SBU3DFE --methods winldl,ldm,ridge --rates 0.5 --jobs 2
    """
    how = {"rates": _numbers(rates), "splits": splits, "recipe": recipe, "mechanism": mechanism}
    how["grouped"] = grouped
    running = {"jobs": jobs, "timeout": timeout, "retry": retry, "metrics": split_list(metrics)}
    inldl_paper.bench(split_list(datasets), split_list(methods), out, how=how, running=running)


def report(
    run: Annotated[Path, typer.Argument(help="The file of results.")],
    out: Annotated[Path, o.out("The page to write.")] = Path("report.html"),
    latex: Annotated[Path | None, typer.Option(help="A folder for LaTeX tables.")] = None,
    csv: Annotated[Path | None, typer.Option(help="A file for all rows as CSV.")] = None,
    figures: Annotated[Path | None, typer.Option(help="A folder for figures as PDF.")] = None,
) -> None:
    """Write one HTML page with the tables and figures of a run.

    inldl report run.sqlite -o report.html --latex tables --figures figures
    """
    o.check_apart(run=run, out=out)
    check_free(out, overwrite=True)
    inldl_paper.report(run, out, latex=latex, csv=csv, figures=figures)


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
    running = {"jobs": jobs, "timeout": timeout, "retry": retry}
    inldl_paper.reproduce(out, running=running, datasets=datasets, quick=quick)


COMMANDS = (datasets, bench, report, reproduce)


def _numbers(text):
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{text!r} is not a list of numbers such as 0.1,0.5.") from None
