"""Commands of the packages beside this one, where these are not installed."""

import sys
from importlib import reload

import pytest

from inldl.cli import app

MISSING = (
    "inldl: inldl {} needs the package {package}: pip install {package} (in a clone of inldl: "
    "pip install ./packages/{package})\n"
)


@pytest.fixture
def alone(monkeypatch):
    """Read the commands as if there were no other packages, and again as it is afterwards."""
    with monkeypatch.context() as patch:
        for package in app.BESIDE:
            patch.setitem(sys.modules, package.replace("-", "_"), None)
        reload(app)
        yield
    reload(app)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("options", [[], ["--help"], ["--quick"], ["run.sqlite", "--out", "a b"]])
@pytest.mark.parametrize(
    ("package", "command"),
    [(package, name) for package in app.BESIDE for name in app.BESIDE[package]],
)
def test_a_command_says_which_package_it_needs(inldl, tmp_path, package, command, options):
    code, out, err = inldl(command, *options)
    if options == ["--help"]:
        assert (code, err) == (0, "")
        assert f"This command is in the package {package}." in out
    else:
        assert (code, out, err) == (1, "", MISSING.format(command, package=package))
    assert list(tmp_path.iterdir()) == []


def test_with_its_package_a_command_is_the_real_one(inldl):
    for names in app.BESIDE.values():
        for name in names:
            assert "is in the package" not in inldl(name, "--help")[1]
