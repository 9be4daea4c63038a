"""What a terminal shows of work that lasts."""

import io

from inldl.cli._progress import working


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_part_whose_share_is_known_has_a_bar(monkeypatch):
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setenv("COLUMNS", "100")
    with working("Learning") as tell:
        tell("30 landmarks")
        tell("sweep 1 over 10 rows", 0.5)
    assert "Learning: 30 landmarks" in shown.getvalue()
    assert "sweep 1 over 10 rows" in shown.getvalue()


def test_without_a_terminal_nothing_is_shown(monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with working("Learning") as tell:
        assert tell is None
