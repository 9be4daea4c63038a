"""Edits, windows and files, as the page asks for them."""

import pytest

from inldl.tables import TableFile
from inldl_studio.grid import write_grid

TABLE = b"name,a,b,c\nx,0.25,0.25,0.5\ny,0.5,,\nz,,0.1,\n"
BAD = "0" * 16


@pytest.fixture
def table(studio):
    """Return a table with a run that has rows, as looking at it makes one."""
    made = studio.add("t.csv", TABLE)
    place = studio.workspace
    run = place.new_run(made["id"], "inspect", settings=made["settings"], edits=[])
    file = TableFile(place.file_of(made["id"]), ["a", "b", "c"])
    write_grid(place.run_folder(made["id"], run["id"]), file, "fraction")
    place.write_run({**run, "status": "done"})
    yield studio.good("GET", f"tables/{made['id']}") | {"run": run["id"]}
    studio.good("DELETE", f"tables/{made['id']}")


def edit(studio, table, row, label, value):
    now = studio.good("GET", f"tables/{table['id']}")
    body = {"run": table["run"], "row": row, "label": label, "value": value}
    return studio.ask("PUT", f"tables/{table['id']}/edits", {**body, "revision": now["revision"]})


def test_edits_come_and_go(studio, table):
    assert edit(studio, table, 1, "b", "0,2")[1]["edits"] == [[1, "b", 0.2]]
    assert edit(studio, table, 1, "b", " 0.3 ")[1]["edits"] == [[1, "b", 0.3]]
    rows = studio.good("GET", f"tables/{table['id']}/runs/{table['run']}/rows?only=edited")
    assert [row["row"] for row in rows["rows"]] == [1]
    assert edit(studio, table, 1, "b", "")[1]["edits"] == []
    edit(studio, table, 1, "b", "0.3")
    revision = studio.good("GET", f"tables/{table['id']}")["revision"]
    path = f"tables/{table['id']}/edits?revision={revision}"
    assert studio.good("DELETE", path)["edits"] == []


@pytest.mark.parametrize(
    ("row", "label", "value", "problem"),
    [
        (1, "b", "x", "not a share"),
        (1, "b", "-1", "not a share"),
        (1, "b", "nan", "not a share"),
        (1, "b", "1e999", "not a share"),
        (1, "b", "0.6", "the other known shares of the row leave 0.5"),
        (0, "a", "0.3", "leave 0.25"),
        (3, "b", "0.1", "no such row"),
        (-1, "b", "0.1", "no such row"),
        ("1", "b", "0.1", "no such row"),
        (1, "name", "0.1", "no such label"),
        (1, None, "0.1", "no such label"),
    ],
)
def test_edits_that_cannot_be(studio, table, row, label, value, problem):
    status, answer = edit(studio, table, row, label, value)
    assert status == 400
    assert problem in answer["error"]


def test_edits_of_a_row_count_together(studio, table):
    assert edit(studio, table, 2, "a", "0.5")[0] == 200
    assert "leave 0.4" in edit(studio, table, 2, "c", "0.45")[1]["error"]
    assert edit(studio, table, 2, "c", "0.4")[0] == 200


def test_other_ways_to_read_the_file_undo_edits(studio, table):
    edit(studio, table, 1, "b", "0.3")
    assert studio.set(table, decimal=".")["edits"] == []


def test_windows_are_asked_for_with_numbers(studio, table):
    base = f"tables/{table['id']}/runs/{table['run']}/rows"
    found = studio.good("GET", f"{base}?first=1&count=1&sort=a&down=1")
    assert [row["row"] for row in found["rows"]] == [0]
    assert found["total"] == 3
    for query in ("first=x", "count=x", "sort=nothing"):
        assert studio.ask("GET", f"{base}?{query}")[0] == 400
    assert studio.good("GET", f"{base}?first=-5&count=-1")["rows"] == []


def test_files_and_pictures_that_are_not_there(studio, table):
    base = f"tables/{table['id']}/runs"
    for path in (f"{BAD}/rows", f"{table['run']}/files/table", f"{table['run']}/figures/0/wide"):
        assert studio.ask("GET", f"{base}/{path}")[0] == 404


def test_second_files_are_kept_beside_the_table(studio, table):
    other = studio.good("POST", f"tables/{table['id']}/others?name=..%2fnew.csv", TABLE)
    path = studio.workspace.other(table["id"], other["id"])
    assert path.name == "new.csv"
    assert path.read_bytes() == TABLE
    assert studio.ask("POST", f"tables/{BAD}/others?name=new.csv", TABLE)[0] == 404


def test_answers_of_a_file_become_edits(studio, table):
    place = studio.workspace
    run = place.new_run(table["id"], "answers", settings=table["settings"], edits=[])
    folder = place.run_folder(table["id"], run["id"])
    (folder / "result.json").write_text('{"files": {}, "answers": [[1, "b", 0.1], [2, "a", 0.2]]}')
    edit(studio, table, 1, "b", "0.3")
    edit(studio, table, 1, "c", "0.2")
    now = studio.good("GET", f"tables/{table['id']}")
    body = {"answers": run["id"], "revision": now["revision"]}
    after = studio.good("PUT", f"tables/{table['id']}/edits", body)
    assert sorted(after["edits"]) == [[1, "b", 0.1], [1, "c", 0.2], [2, "a", 0.2]]
    status, _ = studio.ask("PUT", f"tables/{table['id']}/edits", {**body, "answers": "../x"})
    assert status == 404


def test_rows_of_ratios_are_not_edited(studio, table):
    studio.set(table, ratios=True)
    assert "Only ratios" in edit(studio, table, 1, "b", "0.1")[1]["error"]
    assert edit(studio, table, 0, "a", "0.2")[0] == 200
    studio.set(table, ratios=False)


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        ({"budget": 0}, "Ask for 1 to 10,000"),
        ({"budget": 5, "row_cost": "-1"}, "'-1' is not a price"),
        ({"budget": 5, "cell_cost": "x"}, "'x' is not a price"),
        ({"budget": 5, "row_cost": "inf"}, "'inf' is not a price"),
    ],
)
def test_questions_that_cannot_be_asked(wanted, problem):
    from inldl_studio.desk import _asked

    with pytest.raises(ValueError, match=problem):
        _asked(wanted)


def test_questions_as_options():
    from inldl_studio.desk import _asked

    assert _asked({"budget": "20", "by": "row", "row_cost": "3", "cell_cost": ""}) == {
        "budget": 20.0,
        "by": "row",
        "row_cost": 3.0,
    }
