"""The commands, their options and their help."""

import re
from inspect import getdoc

import typer
from typer.core import TyperCommand, TyperGroup

from inldl import __version__
from inldl.cli import interrupted, tables
from inldl.cli import options as o
from inldl.specs import import_distribution, import_object, is_installed

# The commands of the packages beside this one
BESIDE = {"inldl-studio": ["studio"], "inldl-paper": ["datasets", "bench", "report", "reproduce"]}
EXAMPLES = 5  # that stand above the options


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
            if help := getattr(option, "help", None):
                option.help = re.sub(r"\{([\w.:]+)\}", _names_in, help)
        super().format_help(ctx, formatter)


def _names_in(found):
    """Return the names of a list whose path stands in a help text."""
    return ", ".join(import_object(found[1]))


def _help(command):
    """Return the help of a command with the first examples, and the others, which stand below."""
    parts = (getdoc(command) or "").split("\n\n")  # with PYTHONOPTIMIZE=2 there is none
    examples = [part for part in parts if part.strip().startswith("inldl ")]
    lines = [f"    {line.strip()}" for part in examples for line in part.splitlines()]
    texts = [part for part in parts if part not in examples]
    shown = {"**Examples**\n": lines[:EXAMPLES], "\n**More**\n": lines[EXAMPLES:]}
    first, more = ("\n".join([title, *some]) if some else "" for title, some in shown.items())
    return {"help": "\n\n".join([*texts, first]).rstrip(), "epilog": more or None}


def _add(command, group, panel=None):
    options = {"rich_help_panel": panel, "cls": _Command, **_help(command)}
    group.command(**options)(o.with_options(command))


def methods() -> None:
    """List the methods that commands know by name."""
    from inldl.methods.registry import METHODS

    lines = []
    for name, method in METHODS.items():
        lacking = "" if method.installed else f" (needs the package {method.distribution})"
        lines.append((name, method.about + lacking))
    o.show_list(lines, "name", "what it is")


def _add_those_of(package, panel):
    """Add the commands of a package beside this one; without it, commands that name it."""
    if is_installed(package):
        for command in import_object(f"{package.replace('-', '_')}.command_line:COMMANDS"):
            _add(command, app, panel)
        return

    def absent(context: typer.Context) -> None:
        import_distribution(package, f"inldl {context.info_name}")

    about = {"help": f"This command is in the package {package}.", "rich_help_panel": panel}
    anything = {"ignore_unknown_options": True, "allow_extra_args": True}
    for name in BESIDE[package]:
        app.command(name, cls=_Command, context_settings=anything, **about)(absent)


TABLES = "For a table with holes"
for command in tables.COMMANDS:
    _add(command, app, TABLES)
_add_those_of("inldl-studio", TABLES)
_add(methods, app, "For research")
_add_those_of("inldl-paper", "For research")
model = typer.Typer(
    cls=_Group, no_args_is_help=True, help="Show what a model file holds: `inldl model info`."
)
_add(tables.info, model)
model.callback()(lambda: None)
app.add_typer(model, name="model", rich_help_panel=TABLES)
