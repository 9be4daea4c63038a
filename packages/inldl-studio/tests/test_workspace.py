"""What is kept on disk, and what is removed."""

import json

import pytest

from inldl_studio.jobs import Jobs
from inldl_studio.settings import DEFAULTS
from inldl_studio.workspace import Changed, NotFound, Workspace, data_folder, file_name


@pytest.fixture
def place(tmp_path):
    return Workspace(tmp_path / "work")


def added(place, name="a.csv"):
    folder = place.incoming()
    (folder / name).write_text("a,b\n1,2\n")
    return place.add(folder, name, 8, "digest")


def test_what_is_kept_is_found_again(place):
    table = added(place)
    run = place.new_run(table["id"], "look", settings={}, edits=[])
    place.write_run({**run, "status": "done"})
    again = Workspace(place.folder)
    assert again.tables() == [place.table(table["id"])]
    assert again.table(table["id"])["runs"] == {"look": run["id"]}
    assert again.runs(table["id"])[0]["status"] == "done"
    assert again.file_of(table["id"]).read_text() == "a,b\n1,2\n"


def test_files_that_were_on_their_way_are_gone(place):
    (place.incoming() / "half.csv").write_text("a")
    with Workspace(place.folder).alone():
        assert list((place.folder / "incoming").iterdir()) == []


def test_changes_need_the_newest_revision(place):
    table = added(place)
    place.change(table["id"], 1, edits=[[0, "a", 1.0]])
    with pytest.raises(Changed, match="changed elsewhere"):
        place.change(table["id"], 1, edits=[])
    assert place.table(table["id"])["edits"] == [[0, "a", 1.0]]


@pytest.mark.parametrize("name", ["", "..", "../x", "0" * 15, "0" * 17, "G" * 16, None, 3])
def test_only_ids_are_looked_up(place, name):
    with pytest.raises(NotFound):
        place.table(name)
    with pytest.raises(NotFound):
        place.run_folder(added(place)["id"], name)


def test_nothing_of_others_is_touched(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "mine.csv").write_text("x")
    with pytest.raises(ValueError, match="holds other files; name an empty folder"):
        Workspace(tmp_path)
    assert (tmp_path / "tables" / "mine.csv").read_text() == "x"


def test_removing_everything_leaves_what_is_not_ours(place):
    added(place)
    (place.folder / "notes.txt").write_text("x")
    place.remove_all()
    assert [path.name for path in place.folder.iterdir()] == ["notes.txt"]


def test_nobody_else_may_read_the_tables(place):
    assert (place.folder / "tables").stat().st_mode & 0o077 == 0


def test_the_folder_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("INLDL_STUDIO", str(tmp_path))
    assert data_folder() == tmp_path


def test_a_long_name_keeps_its_ending():
    assert file_name("x" * 300 + ".csv").endswith(".csv")
    assert len(file_name("x" * 300 + ".csv")) <= 80


def test_two_studios_do_not_share_a_folder(place):
    with place.alone(), pytest.raises(ValueError, match="Another studio works in"):
        Workspace(place.folder).alone().__enter__()
    with Workspace(place.folder).alone():
        assert place.tables() == []


def test_a_table_that_was_kept_before_has_settings_that_are_new(place):
    table = added(place)
    path = place.folder / "tables" / table["id"] / "table.json"
    path.write_text(json.dumps({**table, "settings": {"roles": {"a": "label"}}}))
    expected = {**DEFAULTS, "roles": {"a": "label"}}
    assert place.table(table["id"])["settings"] == expected
    assert place.tables()[0]["settings"] == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("☃.csv", "table.csv"),
        ("☃☃.csv.gz", "table.csv.gz"),
        ("☃", "table"),
    ],
)
def test_a_name_of_signs_keeps_its_ending(name, expected):
    assert file_name(name) == expected


@pytest.mark.parametrize("content", ["", "{", "[]", "1", "{}", '{"id": 1}', "[" * 100_000, "\x00"])
def test_damaged_runs_and_tables_do_not_keep_others_from_being_shown(place, content):
    table, damaged = added(place), added(place, "b.csv")
    good = place.new_run(table["id"], "look", settings={}, edits=[])
    bad = place.new_run(table["id"], "look", settings={}, edits=[])
    (place.run_folder(table["id"], bad["id"]) / "run.json").write_text(content)
    (place.folder / "tables" / damaged["id"] / "table.json").write_text(content)
    again = Workspace(place.folder)
    assert [each["id"] for each in again.tables()] == [table["id"]]
    assert [each["id"] for each in again.runs(table["id"])] == [good["id"]]
    Jobs(again).close()


def test_a_run_is_newer_than_those_before_it_after_the_clock_was_set_back(place, monkeypatch):
    table = added(place)
    old = place.new_run(table["id"], "look", settings={}, edits=[])
    monkeypatch.setattr("time.time", lambda: old["started"] - 3600)
    new = place.new_run(table["id"], "look", settings={}, edits=[])
    assert [each["id"] for each in place.runs(table["id"])] == [new["id"], old["id"]]


def test_a_full_disk_leaves_no_half_of_a_table(place, monkeypatch):
    def full(path, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("inldl_studio.workspace.write_text", full)
    with pytest.raises(OSError, match="No space left"):
        added(place)
    assert list((place.folder / "tables").iterdir()) == []
    assert list((place.folder / "incoming").iterdir()) == []
