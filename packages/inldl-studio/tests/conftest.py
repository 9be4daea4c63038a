"""A studio, and work that is done in this process: a new one takes its time."""

import json
from io import StringIO

import pytest

from budget_survey import LABELS, budget_survey
from inldl_studio.settings import DEFAULTS
from studio_client import running_studio


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """Return a client of a studio that takes files up to 1 MB."""
    with running_studio(tmp_path_factory.mktemp("studio") / "work") as client:
        yield client


@pytest.fixture
def survey(tmp_path):
    """Write a table with holes, and return its path."""
    path = tmp_path / "source" / "survey.csv"
    path.parent.mkdir()
    budget_survey(40).to_csv(path, index=False)
    return path


@pytest.fixture
def roles():
    """Return the roles of the columns of that table."""
    return {**dict.fromkeys(LABELS.split(","), "label"), "key": "id"}


@pytest.fixture
def work(tmp_path):
    """Return a function that does a task here: what it says at the end, and its result."""
    from inldl_studio.jobs import ProgressLines
    from inldl_studio.work import do

    def run(kind, path, settings=None, edits=(), **more):
        folder = tmp_path / f"{kind}-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        task = {"kind": kind, "folder": str(folder), "file": str(path), "edits": list(edits)}
        lines = ProgressLines(StringIO())
        do({**task, "settings": {**DEFAULTS, **(settings or {})}, **more}, lines)
        found = folder / "result.json"
        return lines.state, json.loads(found.read_text()) if found.exists() else None, folder

    return run


@pytest.fixture
def page(driver, studio):
    """Return the browser with the first page; nothing may be written to its console."""
    from studio_page import until

    driver.get(studio.address)
    until(driver, "document.querySelector('main').dataset.ready === 'home'")
    yield driver
    driver.get("about:blank")
    complaints = [each for each in driver.get_log("browser") if "status of" not in each["message"]]
    assert complaints == []
