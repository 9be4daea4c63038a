"""The page about comparing methods: its Python runs, and its commands exist."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

PAGE = (Path(__file__).parents[1] / "docs" / "comparing_methods.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, flags=re.DOTALL)


def test_python_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, "comparing_methods.md", "exec"), {})
    assert "0." in capsys.readouterr().out
    assert (tmp_path / "ranks.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("command", sorted(set(re.findall(r"inldl (\w+)", PAGE))))
def test_commands_exist(command):
    from inldl.cli._app import app

    assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0


def test_options_exist():
    from inldl.cli._app import app

    said = set(re.findall(r"--\w+", PAGE))
    helped = "".join(
        CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200"}).output
        for name in ("bench", "reproduce")
    )
    assert said <= set(re.findall(r"--\w+", helped))
