"""The registry, `evaluate` and the price of using them."""

import dataclasses
import doctest
import inspect
import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from inldl import metrics
from inldl.metrics import METRICS, evaluate, registry

HIGHER = {"cosine", "intersection", "fidelity", "spearman", "kendall"}


def tables(n=30, labels=5):
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(labels), n), rng.dirichlet(np.ones(labels), n)
    p[rng.random(p.shape) < 0.3] = np.nan
    return p, q


def test_the_five_of_the_paper_come_first():
    assert list(METRICS)[:5] == ["cosine", "intersection", "chebyshev", "clark", "canberra"]
    assert len(METRICS) == 15


@pytest.mark.parametrize("name", METRICS)
def test_an_entry_describes_the_public_function(name):
    metric = METRICS[name]
    assert metric.name == metric.function.__name__ == name
    assert metric.function is getattr(metrics, name)
    assert name in metrics.__all__
    assert metric.higher_is_better == (name in HIGHER)
    assert metric.perfect == float(name in HIGHER)
    with pytest.raises(dataclasses.FrozenInstanceError):
        metric.perfect = 0.5


@pytest.mark.parametrize("name", METRICS)
def test_the_direction_points_to_the_better_prediction(name):
    p = [[0.6, 0.3, 0.1]]
    good, bad = ([[0.5, 0.35, 0.15]], [[0.15, 0.35, 0.5]])
    gain = METRICS[name].function(p, good) - METRICS[name].function(p, bad)
    assert (gain > 0) == METRICS[name].higher_is_better


@pytest.mark.parametrize("function", [evaluate, *(m.function for m in METRICS.values())])
def test_the_documentation_is_whole_and_its_examples_hold(function):
    doc = inspect.getdoc(function)
    heads = [doc.index(f"\n{h}\n---") for h in ("Parameters", "Returns", "Examples")]
    assert heads == sorted(heads)
    (example,) = doctest.DocTestFinder().find(function, function.__name__, module=False)
    results = doctest.DocTestRunner(verbose=False).run(example)
    assert results.attempted > 1
    assert results.failed == 0


@pytest.mark.parametrize("name", METRICS)
def test_functions_survive_pickling(name):
    function = METRICS[name].function
    assert pickle.loads(pickle.dumps(function)) is function


def test_evaluate_gives_every_mean_by_name():
    p, q = tables()
    assert evaluate(p, q) == {name: m.function(p, q) for name, m in METRICS.items()}


def test_evaluate_gives_the_chosen_in_the_order_asked_for():
    p, q = tables()
    chosen = evaluate(p, q, (name for name in ["kendall", "clark"]))
    assert list(chosen.items()) == [
        ("kendall", metrics.kendall(p, q)),
        ("clark", metrics.clark(p, q)),
    ]


def test_evaluate_checks_the_input_once(monkeypatch):
    calls = []
    real = registry.check_pair
    monkeypatch.setattr(registry, "check_pair", lambda *a, **k: calls.append(a) or real(*a, **k))
    evaluate(*tables())
    assert len(calls) == 1


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(
        ValueError, match=r"^'cosin' is not a metric: choose among cosine, inter.*, kendall\b.*\.$"
    ):
        evaluate(*tables(), ["clark", "cosin"])


@pytest.mark.parametrize("name", METRICS)
def test_memory_does_not_grow_with_the_square_of_the_labels(name):
    p, q = tables(n=200, labels=68)
    METRICS[name].function(p, q)
    tracemalloc.start()
    METRICS[name].function(p, q)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12 * p.nbytes


def test_importing_the_metrics_is_light():
    heavy = "{'polars', 'matplotlib', 'dask', 'numba'}"  # scikit-learn imports pandas
    code = f"import sys, inldl.metrics; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
