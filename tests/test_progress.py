"""Whoever started a fit hears of its parts."""

import pickle

from inldl import AutoInLDL
from inldl.datasets import make_distributions
from inldl.progress import RowCounter, heard_by, tell


def test_lines_reach_the_innermost_listener():
    outer, inner = [], []
    with heard_by(outer.append):
        tell("one")
        with heard_by(inner.append):
            tell("two")
        with heard_by(None):
            tell("nobody")
        tell("three")
    tell("nobody")
    assert (outer, inner) == (["one", "three"], ["two"])


def test_auto_tells_its_parts():
    told = []
    X, y = make_distributions(40, random_state=0)
    with heard_by(lambda *what: told.append(what)):
        AutoInLDL(members="kernel-ridge", random_state=0).fit(X, y)
    assert told[0] == ("choosing a kernel", 0.0)
    assert "kernel of scale" in told[1][0]
    assert told[2] == ("fitting kernel-ridge to 40 rows", 0.5)
    assert told[3][0].startswith("kernel-ridge: held-out error")


def test_rows_of_a_sweep_are_counted():
    told = []
    with heard_by(lambda text, share: told.append((text, share))):
        counter = RowCounter(1000)
    for sweep in ("first", "second"):
        counter.start(sweep)
        for n_rows in (400, 4, 596):  # less than a percent more is not worth telling
            counter(n_rows)
    shares = [0.4, 1.0]
    assert told == [("first", s) for s in shares] + [("second", s) for s in shares]


def test_nobody_listens_on_another_machine():
    told = []
    with heard_by(lambda *what: told.append(what)):
        pickle.loads(pickle.dumps(RowCounter(10)))(10)
    assert told == []
