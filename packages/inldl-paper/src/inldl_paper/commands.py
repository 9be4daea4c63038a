"""What the commands of `inldl` for research do: bench, report, reproduce."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pandas import DataFrame

from inldl.cli import working
from inldl.files.replacing import write_text
from inldl.methods.registry import METHODS, canonical_method
from inldl.report import save as save_figure
from inldl.report.document import Figure
from inldl.specs import split_list
from inldl.text import listed, say
from inldl_paper import reproduction
from inldl_paper.experiments import Cell, Row, Store, grid, run
from inldl_paper.experiments.folds import load_groups
from inldl_paper.experiments.results import measured
from inldl_paper.experiments.runner import pending
from inldl_paper.pages import run_page
from inldl_paper.scores import file_name, stacked_scores

MOST_TROUBLES = 10
_FOLD = ["dataset", "rate", "recipe", "mechanism", "splits"]


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
    specs, names = named_methods(methods, Store(out).names())
    cells = grid(datasets, specs, **how)
    for name in dict.fromkeys(cell.dataset for cell in cells if cell.splits == "grouped"):
        load_groups(name)  # or say now that it has none
    compute(cells, out, what="bench", **running)
    if names:
        Store(out).name(names)
    rows = named_rows(Store(out))
    wanted = {
        (cell.dataset, cell.rate, cell.recipe, cell.mechanism, cell.splits) for cell in cells
    }
    keys = rows[["dataset", "rate", "recipe", "mechanism", "splits"]].itertuples(
        index=False, name=None
    )
    shown = rows[[each in wanted for each in keys]]
    if (shown["status"] == "ok").any():
        for metric in dict.fromkeys(["cosine", *running.get("metrics", ())]):
            say(stacked_scores(shown, metric).text())
    say(f"See the results with: inldl report {shlex.quote(str(out))} -o report.html")


def named_methods(
    methods: Sequence[str], known: Mapping[str, str] | None = None
) -> tuple[list[str], dict[str, str]]:
    """Return methods without the names that were given to them, and these names by method.

    A name that stands for two methods is refused: tables would show their mean. `known` are
    names that were given before, by method.

    Examples
    --------
    >>> named_methods(["winldl", "strong=winldl(ridge=0.1)"])
    (['winldl', 'winldl(ridge=0.1)'], {'winldl(ridge=0.1)': 'strong'})
    """
    specs: list[str] = []
    names: dict[str, str] = {}
    for text in methods:
        found = re.match(r"([^(=:]+)=(.+)", text, re.DOTALL)
        specs.append(found[2].strip() if found else text)
        if found:
            method, name = canonical_method(specs[-1]), found[1].strip()
            if names.setdefault(method, name) != name:
                raise ValueError(
                    f"{method} is named {names[method]!r} and {name!r}; give it one name."
                )
    for method, name in names.items():
        check_name(name, method, {**(known or {}), **names})
    return specs, names


def check_name(name: str, method: str, names: Mapping[str, str]) -> None:
    """Refuse a name that is that of another method, of ours or among `names` by method."""
    registered = name.casefold().replace("_", "-")
    others = [each for each, of in names.items() if of == name and each != method]
    if registered in METHODS and registered != method:
        others.append(f"the method {registered}")
    if others:
        raise ValueError(
            f"{name!r} cannot name {method}, because it stands for {others[0]}; choose another "
            "name."
        )


def named_rows(store: Store) -> DataFrame:
    """Return the rows of a store, with the names of methods that were given."""
    return store.frame().replace({"method": store.names()})


def report(
    store: Path,
    out: Path,
    *,
    latex: Path | None = None,
    csv: Path | None = None,
    figures: Path | None = None,
) -> None:
    """Write the page of a store; also LaTeX tables, all rows as CSV, and figures, where to."""
    rows, names = named_rows(Store(store)), Store(store).names()
    page = run_page(rows, command=lambda grid: bench_command(grid, names))
    page.write(out)
    wrote = [out]
    if latex is not None:
        latex.mkdir(parents=True, exist_ok=True)
        for metric in measured(rows):
            name = file_name(metric)
            table = stacked_scores(rows, metric).latex(label=f"tab:{name.replace('_', '-')}")
            write_text(latex / f"{name}.tex", table + "\n")
        wrote.append(latex)
    if csv is not None:
        write_text(csv, rows.drop(columns="details").to_csv(index=False))
        wrote.append(csv)
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
        for block in page.blocks():
            if isinstance(block, Figure):
                save_figure(block.draw(), figures / f"{block.name}.pdf")
        wrote.append(figures)
    say(f"Wrote {', '.join(map(str, wrote))}")


def bench_command(grid: Mapping[str, str], names: Mapping[str, str] | None = None) -> str:
    """Return the command that computes a grid, given its arguments as texts.

    `names` of methods are written with what they stand for.
    """
    of = {name: f"{name}={method}" for method, name in (names or {}).items()}
    methods = ",".join(of.get(each, each) for each in split_list(grid["methods"]))
    given = {**grid, "methods": methods}
    options = (
        f"--{name} {shlex.quote(value)}" if value else f"--{name}" for name, value in given.items()
    )
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
    cells: Iterable[Cell],
    out: Path,
    *,
    what: str,
    retry: bool = False,
    metrics: Sequence[str] = (),
    **running: Any,
) -> None:
    """Run the cells with a progress display, and say what did not work."""
    cells = list(cells)
    n_left = len(pending(cells, Store(out), retry=retry))
    n_lack = len(pending(cells, Store(out), retry=retry, metrics=metrics)) - n_left
    again = f" {n_lack} of these lack {listed(metrics)}, and are computed again." if n_lack else ""
    say(f"{len(cells)} cells, of which {len(cells) - n_left} are done.{again}")
    try:
        with working(what):
            rows = run(cells, out, retry=retry, metrics=metrics, **running)
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
