"""Edits, windows and files, as the page asks for them."""

import json

import pytest

from inldl.tables import TableFile
from inldl_studio.changing import Change
from inldl_studio.grid import write_grid
from inldl_studio.workspace import Changed, Workspace

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
    body = {"run": table["run"], "cells": [[row, label, value]]}
    return studio.ask("PUT", f"tables/{table['id']}/edits", {**body, "revision": now["revision"]})


def test_edits_come_and_go(studio, table):
    assert edit(studio, table, 1, "b", "0,2")[1]["edits"] == [[1, "b", 0.2]]
    assert edit(studio, table, 1, "b", " 0.3 ")[1]["edits"] == [[1, "b", 0.3]]
    rows = studio.good("GET", f"tables/{table['id']}/runs/{table['run']}/rows?only=edited")
    assert [row["row"] for row in rows["rows"]] == [1]
    assert edit(studio, table, 1, "b", "")[1]["edits"] == []
    edit(studio, table, 1, "b", "0.3")
    assert studio.good("DELETE", f"tables/{table['id']}/edits")["edits"] == []


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


def test_other_ways_to_read_the_file_keep_what_still_fits(studio, table):
    """Roles and edits stay; edits go only if other lines are rows, and that can be undone."""
    edit(studio, table, 1, "b", "0.3")
    now = studio.set(table, roles={"a": "label", "name": "id"})
    now = studio.set(table, decimal=".", na="s")
    assert now["settings"]["roles"] == {"a": "label", "name": "id"}
    assert now["edits"] == [[1, "b", 0.3]]
    assert studio.set(table, skip_rows=1)["edits"] == []
    assert step(studio, table, "undo")["edits"] == [[1, "b", 0.3]]


def step(studio, table, which):
    return studio.good("POST", f"tables/{table['id']}/changes", {"step": which})


def put(studio, table, cells, **more):
    path = f"tables/{table['id']}"
    body = {"run": table["run"], "cells": cells, "what": "Edited"}
    body["revision"] = studio.good("GET", path)["revision"]
    return studio.ask("PUT", f"{path}/edits", {**body, **more})


def test_changes_are_undone_and_done_again(studio, table):
    edit(studio, table, 1, "b", "0.3")
    put(studio, table, [[1, "b", "0.2"], [2, "a", "0.5"]], what="Pasted")
    assert step(studio, table, "undo")["edits"] == [[1, "b", 0.3]]
    assert step(studio, table, "undo")["edits"] == []
    status, answer = studio.ask("POST", f"tables/{table['id']}/changes", {"step": "undo"})
    assert (status, answer["error"]) == (400, "There is nothing to undo.")
    assert step(studio, table, "redo")["edits"] == [[1, "b", 0.3]]
    now = step(studio, table, "redo")
    assert now["edits"] == [[1, "b", 0.2], [2, "a", 0.5]]
    assert (now["done"], now["undone"]) == (2, 0)
    step(studio, table, "undo")
    edit(studio, table, 0, "a", "0.25")  # the one that was undone is not done again
    assert studio.ask("POST", f"tables/{table['id']}/changes", {"step": "redo"})[0] == 400
    changes = studio.good("GET", f"tables/{table['id']}/changes")["changes"]
    assert [(each["what"], each["size"], each["undone"]) for each in changes[:3]] == [
        ("Edited", 1, False),
        ("Undid: Pasted", 2, False),
        ("Did again: Pasted", 2, False),
    ]
    assert len(changes) == 8
    assert [each["undone"] for each in changes[-2:]] == [True, False]


def test_changes_outlast_the_studio_and_half_a_line(studio, table):
    edit(studio, table, 1, "b", "0.3")
    folder = studio.workspace.folder
    with (folder / "tables" / table["id"] / "changes.jsonl").open("a") as file:
        file.write('{"what": "Typ')  # the machine went off
    again = Workspace(folder)
    assert len(again.changes(table["id"])) == 1
    assert again.step(table["id"], back=True)["edits"] == []
    assert again.step(table["id"], back=False)["edits"] == [[1, "b", 0.3]]
    edit(studio, table, 1, "b", "0.2")
    assert len(again.changes(table["id"])) == 4


def test_the_list_of_changes_is_a_file(studio, table):
    edit(studio, table, 1, "b", "0.3")
    put(studio, table, [[0, "a", None]], what="=1+1")
    path = f"{studio.prefix}/api/tables/{table['id']}/changes.csv"
    status, headers, content = studio.raw("GET", path, headers={"Host": studio.host})
    assert status == 200
    assert headers["content-disposition"] == 'attachment; filename="t-changes.csv"'
    lines = [line.split(",")[1:] for line in content.decode().splitlines()]
    assert lines == [
        ["who", "what", "row", "label", "before", "after", "undone"],
        ["", "Edited", "2", "b", "as in the file", "0.3", ""],
        ["", "'=1+1", "1", "a", "as in the file", "missing", ""],
    ]


def test_a_share_that_somebody_else_has_changed_is_shown_first(studio, table):
    """Two pages that have seen the same; other cells are no conflict."""
    seen = studio.good("GET", f"tables/{table['id']}")["revision"]
    assert put(studio, table, [[1, "b", "0.3"]], revision=seen)[0] == 200
    assert put(studio, table, [[1, "c", "0.1"]], revision=seen)[0] == 200
    status, answer = put(studio, table, [[1, "b", "0.2"]], revision=seen)
    assert status == 409
    assert answer["error"] == ("Another tab has changed 'b' of row 2 meanwhile; there is 0.3 now.")
    assert put(studio, table, [[1, "b", "0.3"]], revision=seen)[0] == 200  # the same number
    status, now = put(studio, table, [[1, "b", "0.2"]], revision=seen, over=True)
    assert status == 200
    assert sorted(now["edits"]) == [[1, "b", 0.2], [1, "c", 0.1]]


def test_rows_with_another_sum_are_named_before_work_begins(studio, table):
    """The last known share of a row may be changed, and then another one of it has to."""
    status, now = edit(studio, table, 0, "a", "0.1")
    assert (status, now["off"]) == (200, {"0": pytest.approx(0.85)})
    studio.set(table, roles={"a": "label", "b": "label", "c": "label"})
    status, answer = studio.ask("POST", f"tables/{table['id']}/runs", {"kind": "complete"})
    assert status == 400
    assert answer["error"].startswith("With what was edited, row 1 sums to 0.85; change one")
    assert edit(studio, table, 0, "b", "0.4")[1]["off"] == {}


def area(studio, table, action, columns, rows=(0, 2), **more):
    found = {"top": rows[0], "bottom": rows[1], "columns": columns, "total": 3, **more}
    body = {"run": table["run"], "area": found, "action": action, "query": {"sort": "a"}}
    body["revision"] = studio.good("GET", f"tables/{table['id']}")["revision"]
    return body | ({"texts": more["texts"]} if "texts" in more else {})


def test_a_rectangle_is_changed_and_copied_by_the_studio(studio, table):
    """Rows are those of the order on the page; what it has never fetched counts, too."""
    path, labels = f"tables/{table['id']}", [["label", "a"], ["label", "b"]]
    now = studio.good("PUT", f"{path}/edits", area(studio, table, "missing", labels))
    assert now["changed"] == 4  # of six, two are missing already
    shown = [["number", "#"], ["other", "name"], *labels]
    copied = studio.good("POST", f"{path}/copied", area(studio, table, "", shown, (0, 1)))
    assert copied["text"] == "1\tx\t\t\n2\ty\t\t"
    now = studio.good("PUT", f"{path}/edits", area(studio, table, "take back", labels))
    assert (now["changed"], now["edits"]) == (4, [])
    texts = [["0.1", "9"], ["0.2"]]
    body = area(studio, table, "paste", labels[:1], texts=texts)
    assert studio.good("PUT", f"{path}/edits", body)["edits"] == [[0, "a", 0.1], [1, "a", 0.2]]
    body = area(studio, table, "paste", labels[1:], (1, 2), texts=[[" 0.05"]])
    assert studio.good("PUT", f"{path}/edits", body)["changed"] == 2
    status, answer = studio.ask("PUT", f"{path}/edits", area(studio, table, "fill", labels, row=2))
    assert (status, answer["error"][:26]) == (409, "Other rows are shown now; ")


def test_too_many_cells_are_refused_before_anything_is_changed(studio, table, monkeypatch):
    monkeypatch.setattr("inldl_studio.choosing.MOST_CHANGED", 3)
    body = area(studio, table, "missing", [["label", "a"], ["label", "b"]])
    status, answer = studio.ask("PUT", f"tables/{table['id']}/edits", body)
    assert status == 400
    assert answer["error"] == (
        "This would change 4 cells, and no more than 3 can be changed at once; choose fewer rows. "
        "Nothing was changed."
    )


def test_each_person_undoes_what_that_person_did(studio, table):
    """What somebody else has changed since then stays; steps are changes with a name, too."""
    place = studio.workspace

    def change(who, cells):
        change = Change(who, {"over": True}, cells)
        place.change_cells(table["id"], change)

    change("Ada", [[1, "b", "0.1"], [1, "c", "0.2"]])
    change("Emmy", [[2, "a", "0.3"]])
    assert place.step(table["id"], True, "Ada")["edits"] == [[2, "a", 0.3, "Emmy"]]
    assert len(place.step(table["id"], False, "Ada")["edits"]) == 3
    change("Emmy", [[1, "b", "0.15"]])
    with pytest.raises(Changed, match="Emmy has changed 'b' of row 2 since then"):
        place.step(table["id"], True, "Ada")
    after = place.step(table["id"], True, "Ada", over=True)["edits"]
    assert sorted(after) == [[1, "b", 0.15, "Emmy"], [2, "a", 0.3, "Emmy"]]
    with pytest.raises(ValueError, match="nothing to undo"):
        place.step(table["id"], True, "Ada")
    told = [(each["who"], each["what"]) for each in place.changes(table["id"])]
    assert told[-1] == ("Ada", "Undid: Edited")


def test_settings_are_kept_while_others_edit_cells(studio, table):
    """A page that has not seen an edit may change settings; one that has not seen settings not."""
    seen = studio.good("GET", f"tables/{table['id']}")["settings_revision"]
    edit(studio, table, 1, "b", "0.3")
    path = f"tables/{table['id']}/settings"
    body = {"settings_revision": seen, "settings": {"method": "ridge"}}
    assert studio.ask("PUT", path, body)[0] == 200
    assert studio.ask("PUT", path, {**body, "settings": {"method": "knn"}})[0] == 409


@pytest.mark.parametrize(
    "body",
    [
        {"cells": 1}, {"cells": [1]}, {"cells": [[1, "b"]]}, {"cells": [[True, "b", "1"]]},
        {"cells": [[1, ["b"], "1"]]}, {"cells": [[1, "b", {}]]},
        {"cells": [[1, "b", "0.1"]] * 10_001}, {"answers": {}}, {"answers": []},
        {"area": 1}, {"area": {}}, {"area": {"top": 0, "bottom": 1, "columns": [["label", "x"]]}},
        {"area": {"top": 0, "bottom": 0, "columns": [["label", "a"]], "total": 3}, "action": []},
        {"run": [], "cells": []}, {"run": None, "cells": []},
    ],
)  # fmt: skip
def test_odd_requests_are_refused_in_a_sentence(studio, table, body, capfd):
    status, answer = studio.ask(
        "PUT", f"tables/{table['id']}/edits", {"run": table["run"], **body}
    )
    assert status in (400, 404)
    assert answer["error"].endswith(".")
    for path, asked in (
        ("PUT settings", {"settings": body}), ("PUT settings", {"settings": {"roles": body}}),
        ("PUT settings", {"settings": {"method": body}}), ("PUT settings", {"settings": [body]}),
        ("PUT settings", {"settings": {"roles": {"a": body}}}), ("POST runs", {"kind": body}),
        ("POST runs", {"kind": "ask", "budget": body}),
        ("POST runs", {"kind": "predict", "other": body}),
        ("POST runs", {"kind": "export", "run": body, "key": body, "suffix": body}),
        ("POST changes", {"step": body}),
    ):  # fmt: skip
        method, place = path.split()
        status, answer = studio.ask(
            method, f"tables/{table['id']}/{place}", {**asked, "revision": 1}
        )
        assert status in (400, 404, 409), (path, asked, answer)
    assert "Traceback" not in capfd.readouterr().err


def test_a_table_that_was_not_completed_has_no_script(studio, table):
    status, answer = studio.ask("GET", f"tables/{table['id']}/commands.txt")
    assert (status, answer["error"]) == (400, "Complete the table first.")


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


def handed_in(studio, table, content):
    place = studio.workspace
    run = place.new_run(table["id"], "answers", settings=table["settings"], edits=[])
    folder = place.run_folder(table["id"], run["id"])
    (folder / "result.json").write_text(json.dumps({"files": {}, "answers": content}))
    body = {"answers": run["id"]}
    body["revision"] = studio.good("GET", f"tables/{table['id']}")["revision"]
    return studio.good("PUT", f"tables/{table['id']}/edits", body), body


def test_answers_of_files_become_edits_with_names(studio, table):
    """Where two people have answered, the table has the mean, and both answers are kept."""
    edit(studio, table, 1, "c", "0.2")
    after, body = handed_in(studio, table, [[1, "b", 0.1, "Ada"], [2, "a", 0.2, "Ada"]])
    assert after["changed"] == 2
    edits = [[1, "b", 0.1, "Ada"], [1, "c", 0.2], [2, "a", 0.2, "Ada"]]
    assert sorted(after["edits"]) == edits
    after, _ = handed_in(studio, table, [[1, "b", 0.2, "Emmy"]])
    assert [edit for edit in after["edits"] if edit[:2] == [1, "b"]] == [
        [1, "b", pytest.approx(0.15), "Ada, Emmy"]
    ]
    found = studio.good("GET", f"tables/{table['id']}/answers")
    assert found["people"] == {"Ada": 2, "Emmy": 1}
    assert (found["cells"], found["agree"]) == (1, 0)
    status, _ = studio.ask("PUT", f"tables/{table['id']}/edits", {**body, "answers": "../x"})
    assert status == 404


def test_answers_on_the_page_have_the_name_that_was_given(studio, table):
    path = f"tables/{table['id']}"
    body = {"run": table["run"], "cells": [[1, "b", "0,1"]], "answer": True, "by": "Emmy"}
    body["revision"] = studio.good("GET", path)["revision"]
    assert studio.good("PUT", f"{path}/edits", body)["edits"] == [[1, "b", 0.1, "Emmy"]]
    body["revision"] = studio.good("GET", path)["revision"]
    body["cells"] = [[1, "b", ""]]
    assert studio.good("PUT", f"{path}/edits", body)["edits"] == []
    assert studio.good("GET", f"{path}/answers")["people"] == {}


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
        "people": [],
        "twice": 0,
        "by": "row",
        "row_cost": 3.0,
    }
