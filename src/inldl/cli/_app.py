"""The commands, their options and their help."""

import typer

from inldl import __version__
from inldl.cli import _experiments

app = typer.Typer(
    name="inldl",
    help="Learn from label distributions of which many degrees are missing.",
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


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None: ...


for command in (
    _experiments.datasets,
    _experiments.methods,
    _experiments.bench,
    _experiments.report,
    _experiments.reproduce,
):
    app.command()(command)
