"""What a terminal shows of work that lasts."""

import io

from inldl.cli import working
from inldl.progress import report


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal(monkeypatch):
    """Have a terminal of 80 columns take what goes to standard error, and return it."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    return shown


def test_a_part_whose_share_is_known_has_a_bar(monkeypatch):
    shown = terminal(monkeypatch)
    with working("Learning"):
        report("30 landmarks")
        report("sweep 1 over 10 rows", 0.5)
    assert "Learning: 30 landmarks" in shown.getvalue()
    assert "sweep 1 over 10 rows" in shown.getvalue()


def test_a_long_text_leaves_room_for_the_bar_and_the_time(monkeypatch):
    shown = terminal(monkeypatch)
    with working("Learning from a_table_of_a_survey.csv"):
        report("a member is for fewer rows than there are here, so it was left out")
    last = [line for line in shown.getvalue().splitlines() if "csv: a" in line][-1]
    assert "0:00:00" in last
    assert "\N{HORIZONTAL ELLIPSIS}" in last


def test_without_a_terminal_a_line_is_shown_after_a_long_silence(monkeypatch):
    shown, now = io.StringIO(), [0.0]
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with working("Learning"):
        for seconds, share in [(5, 0.1), (21, 0.2), (30, 0.3), (50, None)]:
            now[0] = seconds
            report(f"part {seconds}", share)
    assert shown.getvalue().splitlines() == ["Learning: part 21 (20%)", "Learning: part 50"]
