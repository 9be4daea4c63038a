"""Options of the command line: those of tables, as `inldl.tables.options` states them, and more.

A parameter of a command whose type is a dataclass becomes one option for each of its fields.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import typer

from inldl.cli import working
from inldl.tables.formats import suffixes
from inldl.tables.option_groups import flag_of, option, option_group, type_of
from inldl.tables.options import LABELS, PANELS
from inldl.text import say


def _check_jobs(value: int) -> int:
    if value == 0:
        raise ValueError("--jobs cannot be 0; 1 is one at a time, -1 one per core.")
    return value


def flag(*names: str, **more: Any) -> Any:
    """Return an option without a value."""
    return typer.Option(*names, metavar="", **more)


def out(what: str) -> Any:
    """Return the option --out for what is written."""
    return typer.Option("--out", "-o", help=what)


def labels(default: str) -> Any:
    """Return the option --labels, with a sentence about those that are taken by default."""
    return typer.Option("--labels", "-l", help=f"{LABELS} {default}")


_TABLE = f"The table: {', '.join(suffixes())}, also as .csv.gz and the like; - is standard input."
File = Annotated[Path, typer.Argument(help=_TABLE, metavar="TABLE")]
ModelFile = Annotated[Path, typer.Argument(help="The model file.", metavar="MODEL")]
Labels = Annotated[str | None, labels("All of a --long table by default.")]
_GROUPS = "Those of the model by default. Repeat it for groups that each sum to a whole."
LabelsOfGroups = Annotated[list[str] | None, labels(_GROUPS)]
LabelsOfModel = Annotated[str | None, labels("Those of the model by default.")]
_GIVEN = "Fill with this model file instead of fitting one."
Fitted = Annotated[Path | None, typer.Option("--model", help=_GIVEN)]
_METHOD = "See `inldl methods`; winldl is the fast one."
Method = Annotated[str, typer.Option("--method", "-m", help=_METHOD)]
Out = Annotated[Path, out("The file to write.")]
Overwrite = Annotated[bool, flag("--overwrite", help="Replace files that exist.")]
Processes = Annotated[
    int, typer.Option("--jobs", help="Processes; -1 is one per core.", callback=_check_jobs)
]


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the fields of its dataclasses as options of their own."""
    own = signature(command).parameters
    groups: dict[str, Any] = {
        name: each.annotation for name, each in own.items() if is_dataclass(each.annotation)
    }
    flat: list[Parameter] = []
    for name, each in own.items():
        flat += _parameters(groups[name]) if name in groups else [each]

    flat.sort(key=_part)

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{each.name: given.pop(each.name) for each in fields(group)})
        command(**given)

    kind = Parameter.KEYWORD_ONLY
    run.__signature__ = Signature([each.replace(kind=kind) for each in flat])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in flat}
    return run


def _part(each: Parameter) -> int:
    """Return which part of the help an option belongs to; those without one come first."""
    [about] = getattr(each.annotation, "__metadata__", [None])
    panel = getattr(about, "rich_help_panel", None)
    return 1 + PANELS.index(panel) if panel in PANELS else 0


def _parameters(group: Any) -> Iterator[Parameter]:
    """Yield a parameter for each field of a group of options."""
    for each in fields(group):
        about = each.metadata
        name = flag_of(each)
        made = typer.Option(
            *(name, *about.get("short", ())),
            help=about["help"],
            rich_help_panel=about.get("panel", getattr(group, "panel", None)),
            min=about.get("least"),
            show_default=about.get("show_default", True),
            callback=_check_jobs if name == "--jobs" else None,
            metavar="" if each.type is bool else None,
        )
        annotation: Any = Annotated[type_of(each), made]
        yield Parameter(
            each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=annotation
        )


@option_group
class Output:
    """Where a result is shown beside the terminal."""

    page: Path | None = option(None, "Write an HTML page with pictures, such as report.html.")
    overwrite: bool = option(False, "Replace files that exist.")

    def open(
        self, table: Path, labels: Any, columns: Any, fitted: Any = None, **files: Any
    ) -> Any:
        """Return the table in a file, after a check of the page and of the other `files`.

        The labels are those of a `fitted` model, if they are not named. Without one they must be
        named if `columns` are chosen, unless the table is long.
        """
        from inldl.tables import TableFile

        if labels is None and fitted is not None:
            labels = [n for n in fitted.label_names_ if n != getattr(columns, "other", None)]
        if labels is None and getattr(columns, "long", "") is None:
            raise ValueError('Name the columns with shares, such as --labels "joy,anger".')
        self.check(table=table, **files)
        return TableFile(table, labels, columns)

    def check(self, **files: Any) -> None:
        """Refuse a page that cannot be written, and files with two roles, before any work."""
        from inldl.files.replacing import check_free

        check_apart(**files, page=self.page)
        if self.page is None:
            return
        check_free(self.page, overwrite=self.overwrite)
        for package in ("jinja2", "matplotlib"):
            try:
                __import__(package)
            except ImportError:
                raise ImportError(
                    f"Pages need {package}: pip install 'inldl[report]', or leave out --page."
                ) from None

    def show(self, document: Any, out: Path | None = None, page: Any = None) -> None:
        """Print what a result says, and write it as a page if one is wanted.

        The `page` is another document, where that one says more.
        """
        from inldl.report.renderers import show

        show(document)
        if out is not None:
            say(f"Wrote {out}")
        if self.page is not None:
            with working("Drawing"):
                (page or document).write(self.page, overwrite=self.overwrite)
            say(f"Wrote {self.page}")


def show_list(lines: list[Any], *names: str) -> None:
    """Print rows below the names of their columns."""
    from inldl.report.document import Document, Header, Section, ShownTable
    from inldl.report.renderers import show

    columns = [Header(name, words=name not in ("n", "k", "C")) for name in names]
    show(Document("", sections=[Section("", [ShownTable(columns, lines)])]))


_ROLES = {
    "table": "the table",
    "model": "the model",
    "run": "the file of results",
    "out": "--out",
    "answers": "--answers",
    "page": "--page",
}


def check_apart(onto_table: bool = False, **files: Path | None) -> None:
    """Refuse a file that has two roles; `onto_table` allows that `out` is the table."""
    given = {role: path for role, path in files.items() if path is not None}
    for (first, path), (second, other) in combinations(given.items(), 2):
        allowed = onto_table and {first, second} == {"table", "out"}
        if not allowed and _same_file(path, other):
            raise ValueError(
                f"{other} is given both as {_ROLES[first]} and as {_ROLES[second]}; give each a "
                "file of its own."
            )


def _same_file(first: Path, second: Path) -> bool:
    if first.exists() and second.exists():
        return first.samefile(second)
    return os.path.realpath(first) == os.path.realpath(second)


def load_model_of_table(path: Path) -> Any:
    """Return the model in a file, which must be one of a table."""
    from inldl.files.model_file import load_model
    from inldl.tables import TableModel

    model = load_model(path)
    if not isinstance(model, TableModel):
        raise ValueError(
            f"{path} holds a {type(model).__name__}, which has no column names; use it from "
            "Python, or make a model with `inldl fit`."
        )
    return model


_FITTING = ("method", "most_rows", "n_jobs", "weight", "group", "unit", "time", "place", "votes",
            "ratios", "dates")  # fmt: skip


def scale_for(model: Any, file: Any, scale: str, context: typer.Context) -> str:
    """Return the scale of a table that a model completes, and refuse one that is in doubt.

    Refuse other labels than those of the model, and options that are for fitting.
    """
    from inldl.tables.marks import notes_on_signs

    for each in context.command.params:
        source = context.get_parameter_source(each.name or "")
        if each.name in _FITTING and source is not None and source.name == "COMMANDLINE":
            raise ValueError(
                f"{each.opts[0]} is for fitting, but --model is already fitted; leave out one of "
                "them."
            )
    if list(model.label_names_) != list(file.labels):
        raise ValueError(
            f"The model was fitted to the labels {', '.join(model.label_names_)}; leave --labels "
            "out to use these."
        )
    notes_on_signs(file, file.pieces(), getattr(model, "scale_", scale))
    for note in file.notes:
        say(note)
    if scale != "auto":
        return scale
    scale, note = file.find_scale()
    known = getattr(model, "scale_", scale)
    if scale != known:
        raise ValueError(
            f"{note[:-1]}, but the model was fitted to a table with --scale {known}; give "
            f"--scale {scale} or --scale {known} to say which it is."
        )
    say(note)
    return scale
