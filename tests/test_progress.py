"""Long pieces of work report how far they are to whoever listens."""

from threading import Thread

from inldl import AutoInLDL
from inldl.datasets import make_distributions
from inldl.progress import listening, report, reporter


def kept(reports):
    """Return a listener that keeps what is reported."""
    return lambda text, share=None: reports.append((text, share))


def test_reports_reach_the_innermost_listener():
    outer, inner = [], []
    with listening(kept(outer)):
        report("one")
        with listening(kept(inner)):
            report("two")
        with listening(None) as outside:
            report("nobody")
            outside("for the outer one", 0.5)
        report("three")
    report("nobody")
    assert outer == [("one", None), ("for the outer one", 0.5), ("three", None)]
    assert inner == [("two", None)]


def test_a_reporter_reports_from_other_threads():
    reports = []
    with listening(kept(reports)):
        thread = Thread(target=reporter(), args=["elsewhere", 1.0])
        lost = Thread(target=report, args=["lost"])
    for each in (thread, lost):
        each.start()
        each.join()
    assert reports == [("elsewhere", 1.0)]


def test_a_report_can_be_printed_as_well(capsys):
    reports = []
    with listening(kept(reports)):
        report("a kernel", printed="Method 1.0 s: a kernel")
        report("a sweep", 0.5)
    assert capsys.readouterr().out == "Method 1.0 s: a kernel\n"
    assert reports == [("a kernel", None), ("a sweep", 0.5)]


def test_auto_reports_its_parts():
    told = []
    X, y = make_distributions(40, random_state=0)
    with listening(kept(told)):
        AutoInLDL(members="kernel-ridge", random_state=0).fit(X, y)
    assert told[0] == ("choosing a kernel", 0.0)
    assert "kernel of scale" in told[1][0]
    assert told[2] == ("fitting kernel-ridge to 40 rows", 0.5)
    assert told[3][0].startswith("kernel-ridge: held-out error")
