"""A signal that comes while compiled code runs ends a command as any other does."""

import pytest

from inldl.cli import app as cli_app
from inldl.cli import main


@pytest.mark.parametrize(
    ("cause", "code", "said"),
    [(KeyboardInterrupt(), 130, "inldl: interrupted\n"), (SystemExit(143), 143, "")],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_a_signal_inside_a_kernel(cause, code, said, monkeypatch, capsys):
    """numba returns to Python with a SystemError in place of what the handler raised."""

    def ends():
        raise SystemError("returned a result with an exception set") from cause

    monkeypatch.setattr(cli_app, "app", ends)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    assert capsys.readouterr().err == said


def test_a_signal_while_a_kernel_is_compiled(monkeypatch, capsys):
    """numba wraps what the handler raised several times."""

    def ends():
        try:
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as error:
                raise TypeError("of the compiler") from error
        except TypeError:
            raise ValueError("Failed in nopython mode pipeline")  # noqa: B904

    monkeypatch.setattr(cli_app, "app", ends)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "inldl: interrupted\n"


def test_another_system_error_is_shown(monkeypatch):
    def fails():
        raise SystemError("bad argument")

    monkeypatch.setattr(cli_app, "app", fails)
    with pytest.raises(SystemError, match="bad argument"):
        main()
