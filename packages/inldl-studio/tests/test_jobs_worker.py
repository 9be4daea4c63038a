"""What a process that works tells about how far it is."""

import json
from io import StringIO

from inldl.progress import listening, report
from inldl_studio.jobs import ProgressLines


def test_a_fit_reports_its_parts_and_how_much_of_them_is_done(monkeypatch):
    monkeypatch.setattr("inldl_studio.jobs.OFTEN", 0)
    out = StringIO()
    with listening(ProgressLines(out).detail):
        report("a kernel")
        report("a half", 0.5)
        report("a forest")
    said = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(each["detail"], each["share"]) for each in said] == [
        ("a kernel", None),
        ("a half", 0.5),
        ("a forest", None),
    ]
