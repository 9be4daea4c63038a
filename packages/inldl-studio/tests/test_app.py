"""What the page can ask for, and what a stranger or a mistake gets."""

import json

import pytest

from inldl_studio.app import MOST_JSON

TABLE = b"name,a,b\nx,0.25,0.75\ny,0.5,\nz,,0.1\n"
NOTHING = "0123456789abcdef"


@pytest.fixture
def table(studio):
    made = studio.add("table.csv", TABLE)
    yield made
    studio.ask("DELETE", f"tables/{made['id']}")


def test_the_first_page_and_its_parts(studio):
    status, headers, page = studio.raw("GET", f"{studio.prefix}/")
    assert status == 200
    assert headers["content-type"] == "text/html; charset=utf-8"
    for name in ("studio.css", "page.css", "page.js", "main.js", "icon.svg", "grid.js"):
        assert studio.raw("GET", f"{studio.prefix}/assets/{name}")[0] == 200
    assert studio.raw("GET", studio.prefix)[0] == 307
    assert b"main.js" in page


def test_the_state_says_what_can_be_chosen(studio):
    state = studio.good("GET", "state")
    assert ".csv" in state["suffixes"]
    assert "auto" in [method["name"] for method in state["methods"]]
    assert state["roles"]["label"]
    assert state["limit"] == 2**20


def test_a_table_comes_and_goes(studio, table):
    assert table["name"] == "table.csv"
    assert studio.workspace.file_of(table["id"]).read_bytes() == TABLE
    assert [each["id"] for each in studio.good("GET", "state")["tables"]] == [table["id"]]
    studio.good("DELETE", f"tables/{table['id']}")
    assert studio.ask("GET", f"tables/{table['id']}") == (
        404,
        {"error": "This table was removed."},
    )
    assert list((studio.workspace.folder / "tables").iterdir()) == []


@pytest.mark.parametrize(
    "path",
    [
        "tables/..%2f..%2fetc",
        "tables/../../etc/passwd",
        "tables/%2e%2e",
        "tables/{id}/runs/..%2f..",
        "tables/{id}/runs/../result",
        "tables/{id}/runs/{nothing}/files/..%2f..%2ftable.json",
        "tables/{id}/runs/{nothing}/figures/0/..%2f..%2fx",
        "tables/{id}/runs/{nothing}/rows",
        "../assets/../../../pyproject.toml",
        "../assets/..%2f..%2fwork.py",
        "../assets/work.py",
        "../assets/%2fetc%2fpasswd",
    ],
)
def test_no_path_reaches_the_file_system(studio, table, path):
    path = f"{studio.prefix}/api/" + path.format(id=table["id"], nothing=NOTHING)
    status, _, content = studio.raw("GET", path)
    assert status in (403, 404)
    assert b"root:" not in content
    assert b"build-system" not in content


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("..%2f..%2fevil.csv", "evil.csv"),
        ("C%3A%5Cdata%5Cevil.csv", "evil.csv"),
        ("%2fetc%2fcron.d%2fevil.csv", "evil.csv"),
        (".csv", "table.csv"),
        ("con.csv", "_con.csv"),
        ("a%00b%0a%3Cscript%3E.csv", "a_b_script_.csv"),
        ("Umfrage%20%C3%BC%202024.csv", "Umfrage_ü_2024.csv"),
    ],
)
def test_names_of_files_are_only_names(studio, name, kept):
    status, answer = studio.ask("POST", f"tables?name={name}", TABLE)
    if status == 200:
        folder = studio.workspace.folder / "tables" / answer["id"] / "file"
        assert [path.name for path in folder.iterdir()] == [kept]
        studio.good("DELETE", f"tables/{answer['id']}")
    else:
        assert name == ".csv"
        assert "known kind of table" in answer["error"]


def test_files_that_are_refused(studio):
    for name, content, status, told in (
        ("a.pdf", TABLE, 400, "known kind of table"),
        ("a.csv", b"", 400, "is empty"),
        ("a.csv", b"x" * (2**20 + 1), 413, "a.csv is larger than 1 MB"),
        ("", TABLE, 400, "known kind of table"),
    ):
        found, answer = studio.ask("POST", f"tables?name={name}", content)
        assert (found, told in answer["error"]) == (status, True), answer
    assert studio.workspace.tables() == []
    assert list((studio.workspace.folder / "incoming").iterdir()) == []


def test_a_file_of_unknown_size_is_cut_off(studio):
    """Without a Content-Length, the limit is found while the file comes."""
    pieces = (b"x" * 2**16 for _ in range(100))
    headers = {"Origin": f"http://{studio.host}", "Transfer-Encoding": "chunked"}
    try:
        status, _, content = studio.raw(
            "POST", f"{studio.prefix}/api/tables?name=a.csv", pieces, headers
        )
        assert status == 413
        assert "larger than 1 MB" in json.loads(content)["error"]
    except (BrokenPipeError, ConnectionResetError):
        pass  # it hung up while we were still sending
    assert studio.workspace.tables() == []


def test_settings_are_checked_and_kept(studio, table):
    path = f"tables/{table['id']}/settings"
    changed = studio.set(table, roles={"a": "label", "b": "label"}, scale="percent")
    assert changed["settings"]["scale"] == "percent"
    for settings in (
        {"scale": "miles"},
        {"roles": {"a": "king"}},
        {"roles": []},
        {"normalize": "yes"},
        {"na": "x" * 1000},
        {"nonsense": 1},
        {"roles": {"a": "weight", "b": "weight"}},
    ):
        body = {"settings_revision": changed["settings_revision"], "settings": settings}
        status, answer = studio.ask("PUT", path, body)
        assert status == 400
        assert answer["error"].count(".") == 1
    assert studio.good("GET", f"tables/{table['id']}")["settings"] == changed["settings"]


def test_another_tab_is_not_overwritten(studio, table):
    path = f"tables/{table['id']}/settings"
    seen = {"settings_revision": 1}
    studio.good("PUT", path, {**seen, "settings": {"scale": "percent"}})
    status, answer = studio.ask("PUT", path, {**seen, "settings": {"scale": "count"}})
    assert status == 409
    assert "settings of this table were changed elsewhere" in answer["error"]
    assert studio.good("GET", f"tables/{table['id']}")["settings"]["scale"] == "percent"


def test_work_that_cannot_start(studio, table):
    path = f"tables/{table['id']}/runs"
    for body, told in (
        ({"kind": "dance"}, "no such task"),
        ({"kind": "complete"}, "No column is marked as a label"),
        ({"kind": "ask", "budget": 5}, "Complete the table first"),
        ({"kind": "predict", "other": NOTHING}, "Complete the table first"),
        ({"kind": "export", "run": "../..", "key": "table", "suffix": ".csv"}, "no such table"),
    ):
        status, answer = studio.ask("POST", path, body)
        assert status in (400, 404)
        assert told in answer["error"]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b'"x"'])
def test_requests_that_are_no_json(studio, table, body):
    status, answer = studio.ask("POST", f"tables/{table['id']}/runs", body)
    assert status == 400
    assert answer["error"]


def test_a_request_that_is_too_long(studio, table):
    body = b" " * (MOST_JSON + 1)
    assert studio.ask("PUT", f"tables/{table['id']}/settings", body)[0] == 413
