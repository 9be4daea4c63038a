"""Whoever started a fit hears of its parts."""

from inldl import AutoInLDL
from inldl.datasets import make_distributions
from inldl.estimators._listening import heard_by, tell


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
    with heard_by(told.append):
        AutoInLDL(members="kernel-ridge", random_state=0).fit(X, y)
    assert "kernel of scale" in told[0]
    assert told[1].startswith("kernel-ridge: held-out error")
