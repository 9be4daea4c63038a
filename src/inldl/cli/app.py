"""The commands, their options and their help."""

from inspect import getdoc
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperCommand, TyperGroup

from inldl import __version__
from inldl.cli import experiments, interrupted, tables
from inldl.cli import options as o
from inldl.specs import import_distribution

_START = "A table to start with; the studio works on a copy of it."
_PORT = "The port to listen on; any free one by default."
_QUIET = "Do not open a browser; open the address that is printed yourself."
_KEPT = "Where to keep the work; by default in INLDL_STUDIO, or where programs keep data."
_LARGEST = "The largest file to accept, in megabytes."
_SHARE = 'Let people in your network work on the same tables, each with an address: "Ada,Emmy".'
EXAMPLES = 5  # that stand above the options
_FORGET = "Remove all tables and results of the studio, and exit."


class _PlainHelp:
    """Lists the option --help without the type of a value that it does not take."""

    def get_help_option(self, ctx):
        option = super().get_help_option(ctx)
        option.metavar = ""
        return option


class _Group(_PlainHelp, TyperGroup):
    """A group of commands."""


app = typer.Typer(
    name="inldl",
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"inldl {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, metavar="", help="Print the version."
    ),
) -> None:
    """Learn from label distributions with missing degrees.

    **Examples**

    Fill in the missing shares of a table, and see how good they are:

        inldl complete survey.csv --labels "joy,anger,fear" -o whole.csv --page whole.html

    Learn from a table, predict new rows, and test the model on rows with known shares:

        inldl fit survey.csv --labels "joy,anger,fear" -o survey.inldl
        inldl predict survey.inldl new.csv -o predicted.csv --uncertainty 0.9
        inldl evaluate survey.inldl test.csv

    Look at a table first, and find the method that suits it:

        inldl inspect survey.csv --labels "emo_*" --page inspection.html
        inldl compare survey.csv --labels "emo_*"

    List the missing shares that are worth asking for next:

        inldl ask survey.csv --labels "emo_*" --budget 50 -o ask.csv

    Find out which suppressed cells of a table can be worked out:

        inldl audit counts.csv --labels "age_*" --total persons --column-totals last-row

    Do all of this in the browser:

        inldl studio survey.csv

    Use a model without inldl:

        inldl model info survey.inldl
        inldl export survey.inldl survey.onnx

    Compare methods on public data, and repeat the experiments of the paper:

        inldl bench --datasets SJAFFE --methods winldl,auto --rates 0.5 -o run.sqlite
        inldl report run.sqlite -o report.html
        inldl reproduce --quick
    """


_about, _, _examples = (getdoc(_options) or "").partition("\n\n")
app.callback(help=_about, epilog=_examples)(_options)


class _Command(_PlainHelp, TyperCommand):
    """A command that says so if it is interrupted.

    Its help looks up names only when it is printed: they take time to import.
    """

    def invoke(self, ctx):
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            interrupted()

    def format_help(self, ctx, formatter):
        for option in self.params:
            if "{" in (getattr(option, "help", None) or ""):
                from inldl.datasets import MECHANISMS

                names = {"mechanisms": ", ".join(MECHANISMS), "recipes": experiments.recipes()}
                option.help = option.help.format(**names)
        super().format_help(ctx, formatter)


def _help(command):
    """Return the help of a command with the first examples, and the others, which stand below."""
    parts = (getdoc(command) or "").split("\n\n")  # with PYTHONOPTIMIZE=2 there is none
    examples = [part for part in parts if part.strip().startswith("inldl ")]
    lines = [f"    {line.strip()}" for part in examples for line in part.splitlines()]
    texts = [part for part in parts if part not in examples]
    shown = [
        ["**Examples**", "\n".join(lines[:EXAMPLES])],
        ["\n**More**", "\n".join(lines[EXAMPLES:])],
    ]
    first, more = ("\n\n".join(each) if each[1] else "" for each in shown)
    return {"help": "\n\n".join([*texts, first]).rstrip(), "epilog": more or None}


def _add(command, group, panel=None):
    options = {"rich_help_panel": panel, "cls": _Command, **_help(command)}
    group.command(**options)(o.with_options(command))


def studio(
    table: Annotated[Path | None, typer.Argument(help=_START, metavar="[TABLE]")] = None,
    port: Annotated[int, typer.Option(help=_PORT, min=0, max=65535, show_default=False)] = 0,
    no_browser: Annotated[bool, o.flag("--no-browser", help=_QUIET)] = False,
    folder: Annotated[Path | None, typer.Option(help=_KEPT)] = None,
    largest: Annotated[int, typer.Option(help=_LARGEST, min=1)] = 1024,
    share: Annotated[str | None, typer.Option(help=_SHARE)] = None,
    forget: Annotated[bool, o.flag("--forget", help=_FORGET)] = False,
) -> None:
    """Work on a table in the browser: look at it, complete it, correct it, download it.

    The page is served on this machine alone, to whoever has its address, unless you --share it.
    Your file stays as it is.

        inldl studio
        inldl studio survey.csv
        inldl studio survey.csv --port 8000 --no-browser
        inldl studio survey.csv --share "Ada,Emmy"
        inldl studio --forget
    """
    page = import_distribution("inldl-studio", "inldl studio")
    if forget:
        page.forget(folder)
        return
    how = {"folder": folder, "largest": largest * 2**20, "share": share}
    page.serve(table, port=port, browser=not no_browser, **how)


TABLES = "For a table with holes"
for command in (*tables.COMMANDS, studio):
    _add(command, app, TABLES)
for research in experiments.COMMANDS:
    _add(research, app, "For research")
model = typer.Typer(
    cls=_Group, no_args_is_help=True, help="Show what a model file holds: `inldl model info`."
)
_add(tables.info, model)
model.callback()(lambda: None)
app.add_typer(model, name="model", rich_help_panel=TABLES)
