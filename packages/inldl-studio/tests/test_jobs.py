"""Work in processes of its own: it can be stopped, and may die."""

import os
import signal
import time

import pytest

from budget_survey import LABELS, budget_survey
from inldl_studio import jobs as jobs_module
from inldl_studio.jobs import Jobs, _died
from inldl_studio.workspace import Workspace
from studio_client import running_studio

ROLES = {**dict.fromkeys(LABELS.split(","), "label"), "key": "id"}
# A process that reads its task, and then does what the task says.
SCRIPT = """
import json, os, sys, time
task = json.loads(sys.stdin.readline())
print(json.dumps({"text": "Working", "share": 0.5, "step": 1, "steps": 2}), flush=True)
if task["how"] == "waits":
    sys.stdin.read()
if task["how"] == "dies":
    os._exit(3)
if task["how"] == "babbles":
    print("not JSON", flush=True)
print(json.dumps({"status": "done", "error": ""}), flush=True)
"""


@pytest.fixture
def place(tmp_path):
    return Workspace(tmp_path / "work")


@pytest.fixture
def table(place):
    folder = place.incoming()
    (folder / "a.csv").write_text("a,b\n1,2\n")
    return place.add(folder, "a.csv", 8)["id"]


@pytest.fixture
def jobs(place, monkeypatch):
    monkeypatch.setattr(jobs_module, "_CODE", SCRIPT)
    made = Jobs(place)
    yield made
    made.close()


def start(jobs, table, kind, how):
    return jobs.start(table, kind, {"how": how, "settings": {}, "edits": []})


def until(condition):
    while not condition():
        time.sleep(0.01)


def test_work_says_how_far_it_is_and_ends(jobs, place, table):
    run = start(jobs, table, "look", "ends")
    until(lambda: jobs.state(table, run["id"])["status"] != "running")
    assert jobs.state(table, run["id"])["status"] == "done"
    assert place.table(table)["runs"] == {"look": run["id"]}
    assert jobs.running(table) == []


def test_the_same_work_is_not_done_twice_at_once(jobs, table):
    run = start(jobs, table, "look", "waits")
    assert start(jobs, table, "look", "waits")["id"] == run["id"]
    with pytest.raises(jobs_module.Busy, match="already running"):
        start(jobs, table, "look", "ends")
    other = start(jobs, table, "inspect", "waits")
    assert other["id"] != run["id"]
    until(lambda: jobs.state(table, run["id"])["progress"]["share"] == 0.5)
    assert len(jobs.running(table)) == 2
    jobs.stop(table, run["id"])
    assert jobs.state(table, run["id"])["status"] == "stopped"
    assert [each["id"] for each in jobs.running(table)] == [other["id"]]


def test_there_is_an_end_to_what_is_done_at_once(jobs, table):
    for kind in "abcd":
        start(jobs, table, kind, "waits")
    with pytest.raises(jobs_module.Busy, match="4 tasks are already running"):
        start(jobs, table, "e", "waits")


@pytest.mark.parametrize("how", ["dies", "babbles"])
def test_a_process_that_dies_says_so_and_can_be_started_again(jobs, table, how):
    run = start(jobs, table, "look", how)
    until(lambda: jobs.state(table, run["id"])["status"] != "running")
    state = jobs.state(table, run["id"])
    assert state["status"] == "died"
    assert "ended unexpectedly" in state["error"]
    assert "start it again" in state["error"]
    again = start(jobs, table, "look", "ends")
    until(lambda: jobs.state(table, again["id"])["status"] == "done")


def test_a_killed_process_is_named():
    assert "SIGKILL; perhaps there was not enough memory" in _died(-9)
    assert "SIGSEGV" in _died(-signal.SIGSEGV)
    assert "code 3" in _died(3)


def test_work_that_was_going_on_when_the_studio_ended(place, table):
    run = place.new_run(table, "look", settings={}, edits=[])
    half = place.run_folder(table, run["id"]) / "half.bin"
    half.write_text("x")
    state = Jobs(place).state(table, run["id"])
    assert state["status"] == "failed"
    assert "start it again" in state["error"]
    assert not half.exists()


def test_closing_keeps_what_was_done(jobs, place, table):
    run = start(jobs, table, "look", "waits")
    jobs.close()
    assert place.run(table, run["id"])["status"] == "stopped"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_real_process_from_file_to_result(tmp_path):
    """Killed in the middle, started again, stopped, and done; then found by a new studio."""
    content = budget_survey(40).to_csv(index=False).encode()
    with running_studio(tmp_path / "work") as studio:
        table = studio.add("survey.csv", content)
        assert studio.run(table, "look")["status"] == "done"
        studio.set(table, roles=ROLES, method="winldl")
        run = studio.good("POST", f"tables/{table['id']}/runs", {"kind": "complete"})
        os.kill(studio.jobs._running[run["id"]].process.pid, signal.SIGKILL)
        assert "SIGKILL" in studio.ended(table, run)["error"]
        run = studio.good("POST", f"tables/{table['id']}/runs", {"kind": "complete"})
        stopped = studio.good("DELETE", f"tables/{table['id']}/runs/{run['id']}")
        assert stopped["status"] == "stopped"
        done = studio.run(table, "complete")
        assert done["status"] == "done", done
    with running_studio(tmp_path / "work") as studio:
        found = studio.good("GET", f"tables/{table['id']}")
        assert found["runs"]["complete"] == done["id"]
        path = f"{studio.prefix}/api/tables/{table['id']}/runs/{done['id']}/files/table"
        status, headers, completed = studio.raw("GET", path)
        assert status == 200
        assert headers["content-disposition"] == 'attachment; filename="survey-completed.csv"'
        assert completed.count(b"\n") == content.count(b"\n")
        assert studio.workspace.file_of(table["id"]).read_bytes() == content


def test_a_result_for_which_there_is_no_room_has_failed(jobs, place, table, monkeypatch):
    def full(run):
        raise OSError(28, "No space left on device")

    run = start(jobs, table, "look", "waits")
    monkeypatch.setattr(place, "write_run", full)
    jobs.stop(table, run["id"])
    found = jobs.state(table, run["id"])
    assert found["status"] == "failed"
    assert found["error"].startswith("The result could not be kept (No space left on device)")


def test_what_was_unpacked_goes_with_a_run_that_is_stopped(jobs, place, table):
    run = start(jobs, table, "look", "waits")
    own = place.run_folder(table, run["id"]) / "temporary"
    own.mkdir()
    (own / "unpacked.csv").write_text("a,b\n")
    jobs.stop(table, run["id"])
    assert not own.exists()
