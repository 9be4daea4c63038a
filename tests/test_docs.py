"""The pages of the documentation: their Python runs, their commands, options and images exist."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
COMMANDS = ("datasets", "methods", "bench", "report", "reproduce")


@pytest.mark.parametrize("page", sorted(set(PAGES) - {"your_own_method.md"}))
def test_python_runs(page, tmp_path, monkeypatch, capsys):
    """The page about one's own method has tests of its own."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGES[page], flags=re.DOTALL)
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert blocks
    assert "0." in capsys.readouterr().out


@pytest.fixture(scope="module")
def options():
    """Return the options of each command."""
    from inldl.cli._app import app

    helped = {}
    for command in COMMANDS:
        done = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"})
        assert done.exit_code == 0
        helped[command] = set(re.findall(r"--\w+", done.output))
    return helped


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_options_exist(page, options):
    text = PAGES[page]
    assert set(re.findall(r"^inldl (\w+)", text, flags=re.MULTILINE)) <= set(options)
    lines = [
        line for line in text.splitlines() if "`" in line or line.startswith(("inldl", "   "))
    ]
    said = {option for line in lines for option in re.findall(r"(?<![\w-])--\w+", line)}
    assert said <= set().union(*options.values())


@pytest.mark.parametrize("page", PAGES)
def test_images_and_links_exist(page):
    for target in re.findall(r"\]\(([^)#]+)\)", PAGES[page]):
        assert "://" in target or (DOCS / target).exists(), target
