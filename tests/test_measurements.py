"""Studies of `make measurements`: what they keep, what pages show of it, and that they run."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture(scope="module")
def measure():
    """Return the module of `make measurements`."""
    places = list(sys.path)
    sys.path.insert(0, str(BENCHMARKS))
    yield importlib.import_module("measure")
    sys.path[:] = places


@pytest.fixture
def study(measure, monkeypatch, tmp_path):
    """Return the name of a study that takes no time, and the folder of its store."""
    (tmp_path / "two_rows.py").write_text(
        "import argparse, kept\n"
        "def options(words=None):\n"
        "    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--out')\n"
        "    return parser.parse_args(words)\n"
        "def measured(given):\n"
        "    return kept.resumed(given.out, ['n'], [(1,), (2,)], lambda n: {'double': 2 * n})\n"
        "def results(rows):\n"
        "    lines = [[str(row['n']), str(row['double'])] for row in rows]\n"
        "    return kept.Results({'doubles': kept.Table(['n', 'double'], lines)}, {'most': '4'})\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(measure, "STORES", tmp_path / "stores")
    monkeypatch.setattr(measure, "RUNS", tmp_path / "runs")
    found = measure.Study("two_rows", ("page.md",), 1, words="--out {out}", seeds="none")
    monkeypatch.setitem(measure.STUDIES, "doubles", found)
    return "doubles"


def test_a_store_says_what_was_found_and_how(measure, study, tmp_path):
    path = measure.keep(measure.run(study), tmp_path / "stores")
    store = json.loads(path.read_text("utf-8"))
    assert list(store) == sorted(store)
    assert store["tables"]["doubles"]["rows"] == [["1", "2"], ["2", "4"]]
    assert store["tables"]["doubles"]["align"] == "lr"
    assert store["facts"] == {"most": "4"}
    told = "command", "commit", "date", "inldl", "machine", "seeds", "versions", "cpu_seconds"
    assert all(store[each] for each in told)
    assert "numpy" in store["versions"]
    assert list(path.parent.iterdir()) == [path]


def test_a_stopped_run_goes_on_where_it_was(measure, study, tmp_path):
    first = measure.run(study)
    [rows] = (tmp_path / "runs").glob("*/rows")
    lines = rows.read_text().splitlines()
    rows.write_text(lines[0].replace('"double": 2', '"double": 5') + "\n")
    again = measure.run(study)
    assert first["tables"]["doubles"]["rows"][0] == ["1", "2"]
    assert again["tables"]["doubles"]["rows"] == [["1", "5"], ["2", "4"]]


def test_a_change_of_the_script_starts_again(measure, study, tmp_path):
    before = measure.code_of(measure.STUDIES[study])
    assert before == measure.code_of(measure.STUDIES[study])
    other = measure.Study("two_rows", (), 1, words="--out {out} ")
    assert measure.code_of(other) != before


def test_pages_show_the_tables_they_name(measure, study, tmp_path):
    measure.keep(measure.run(study), tmp_path / "stores")
    stores = measure.stores(tmp_path / "stores")
    page = tmp_path / "page.md"
    page.write_text("One\n\n<!-- table doubles.doubles -->\n<!-- end -->\n\nTwo\n")
    assert measure.write(stores, [page], check=True) == ["page.md"]
    assert measure.write(stores, [page]) == ["page.md"]
    assert "\n| n | double |\n|---|---:|\n| 1 | 2 |\n| 2 | 4 |\n" in page.read_text()
    assert page.read_text().endswith("<!-- end -->\n\nTwo\n")
    assert measure.write(stores, [page], check=True) == []
    page.write_text(page.read_text().replace("| 4 |", "| 5 |"))
    assert measure.write(stores, [page], check=True) == ["page.md"]


def test_a_table_that_is_not_stored_is_refused(measure):
    with pytest.raises(SystemExit, match=r"no table doubles\.halves"):
        measure.filled("<!-- table doubles.halves -->\n<!-- end -->\n", {})


def test_what_is_missing_is_said_and_the_old_store_stays(measure, study, tmp_path, capsys):
    path = measure.keep(measure.run(study), tmp_path / "stores")
    old = path.read_bytes()
    measure.STUDIES[study] = measure.Study("two_rows", (), 1, needs=("no_such_package",))
    measure.run_one(study, quick=False)
    said = "doubles was not run: no_such_package is not installed (pip install no_such_package)."
    assert capsys.readouterr().out.strip() == said
    assert path.read_bytes() == old


def test_studies_name_scripts_and_pages(measure):
    for name, study in measure.STUDIES.items():
        folder = BENCHMARKS / "peers" if name == "peers" else BENCHMARKS
        text = (folder / f"{study.script}.py").read_text("utf-8")
        assert all(f"def {each}(" in text for each in ("options", "measured", "results")), name
        assert all((ROOT / "docs" / page).exists() for page in study.pages), name
        assert study.seeds, name


def test_stores_are_of_studies(measure):
    assert measure.stores().keys() <= measure.STUDIES.keys()


def test_pages_equal_what_is_stored(measure):
    assert measure.write(measure.stores(), check=True) == []


def studies():
    """Return the names of all studies, without importing the module."""
    text = (BENCHMARKS / "measure.py").read_text("utf-8")
    body = text.partition("STUDIES = {\n")[2].partition("\n}")[0]
    return [line.split('"')[1] for line in body.splitlines() if line.startswith('    "')]


@pytest.mark.slow
@pytest.mark.parametrize("name", studies())
def test_the_quick_form_of_every_study_runs(name):
    command = [sys.executable, str(BENCHMARKS / "measure.py"), "--quick", name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    last = done.stdout.strip().splitlines()[-1]
    if "was not run" in last:
        pytest.skip(last)
    assert last.startswith(f"{name}: ")
    assert " 0 tables" not in last
