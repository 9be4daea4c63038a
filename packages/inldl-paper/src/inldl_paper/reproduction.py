"""Repeat the experiments of the paper: compute, and write tables, figures and two overviews."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from inldl.files.replacing import make_folder, write_text
from inldl.report import save
from inldl.report.document import Document
from inldl.report.renderers import show
from inldl.text import say
from inldl_paper import study
from inldl_paper.experiments import Cell, Store
from inldl_paper.overview import (
    LATEX_LABELS,
    Results,
    captions,
    layouts,
    overview,
    reproduction_figures,
)
from inldl_paper.public import load


def reproduce(
    out: Path,
    compute: Callable[[Iterable[Cell], Path], Any],
    *,
    datasets: str | None = None,
    quick: bool = False,
    command: str = "inldl reproduce",
) -> None:
    """Compute what the paper printed, and write tables, figures and two overviews into a folder.

    Parameters
    ----------
    out : Path
        The folder. Results of an earlier call in it are used again.
    compute : callable
        Computes cells and adds their rows to a store, given the cells and the path of the store,
        as ``inldl_paper.experiments.run`` does.
    datasets : str, optional
        Names, separated by commas; all datasets of the paper by default.
    quick : bool, default=False
        The two small datasets unless others are given, other missing rates on the first one only,
        and fewer sizes.
    command : str
        The command that was given, for the overviews.
    """
    all_names, few = study.DATASETS, study.QUICK
    wanted = study.paper_names(datasets) if datasets is not None else (few if quick else all_names)
    make_folder(out)
    not_run = {name: "not asked for" for name in all_names if name not in wanted}
    not_run |= _missing(wanted)
    for name, why in not_run.items():
        say(f"Not run: {name}, {why}.")
    there = [name for name in wanted if name not in not_run]
    if not there:
        raise ValueError("None of the paper's datasets is available; see `inldl datasets`.")
    store = out / "run.sqlite"
    compute(study.plan(there, quick=quick), store)
    say("Drawing the figures ...")
    results = Results(Store(store).frame(), not_run, command)
    document, pages = write_reproduction(results, out)
    show(document)
    say(f"Wrote {' and '.join(map(str, pages))}")


def _missing(names):
    """Return the datasets that can be neither found nor downloaded, and why."""
    missing = {}
    for name in names:
        try:
            load(name)
        except OSError as error:
            say(error, err=True)
            missing[name] = "its file is not there and could not be downloaded"
    return missing


def write_reproduction(results: Results, folder) -> tuple[Document, list[Path]]:
    """Write the tables (Markdown, LaTeX, CSV), the figures (SVG, PDF, PNG) and two overviews.

    Files of an earlier call are replaced. Returns the document of the overviews, and their paths:
    ``README.md`` and ``report.html``.
    """
    folder = Path(folder)
    for name in ("figures", "tables"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    drawn = reproduction_figures(results)
    for block in drawn:
        figure = block.draw()
        for suffix in ("svg", "pdf", "png"):
            save(figure, folder / "figures" / f"{block.name}.{suffix}")
    for name, table in results.tables.items():
        write_text(folder / "tables" / f"{name}.csv", table.to_csv(index=False))
    for name, table in captions(results).items():
        write_text(folder / "tables" / f"{name}.md", table.markdown())
    for name, table in layouts(results).items():
        label = LATEX_LABELS.get(name, name.replace("table5", "weighting").replace("_", "-"))
        latex = table.latex(label=f"tab:{label}")
        write_text(folder / "tables" / f"{name}.tex", latex + "\n")
    document, page = overview(results, drawn), folder / "report.html"
    document.write(page)
    readme = write_text(folder / "README.md", document.markdown())
    return document, [readme, page]
