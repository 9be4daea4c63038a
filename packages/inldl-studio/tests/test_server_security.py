"""Nobody but the page that was opened with the address gets an answer."""

import json
import socket
from urllib.parse import urlsplit

import pytest

from inldl_studio.app import HEADERS
from inldl_studio.server import new_token, people_of
from studio_client import running_studio


def refused(answer):
    status, headers, content = answer
    assert status == 403
    assert headers["content-type"].startswith("text/plain")
    return content.decode()


@pytest.mark.parametrize(
    "path",
    ["/", "/api/state", "/assets/main.js", "//", "/x", "/%2e%2e/", "/wrong-token/api/state"],
)
def test_without_the_token_there_is_nothing(studio, path):
    assert "not complete" in refused(studio.raw("GET", path))


def test_a_token_that_differs_in_one_sign_is_refused(studio):
    token = studio.prefix[1:]
    for wrong in (token[:-1], token + "x", token[:-1] + ("a" if token[-1] != "a" else "b")):
        refused(studio.raw("GET", f"/{wrong}/api/state"))
    assert studio.raw("GET", f"/{token}/api/state")[0] == 200


def test_tokens_cannot_be_guessed():
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert min(map(len, tokens)) >= 32


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost:1", "[::1]:{port}", ""]
)
def test_a_foreign_host_is_refused(studio, host):
    """A name that a stranger lets point to this machine is not ours (DNS rebinding)."""
    port = studio.host.partition(":")[2]
    headers = {"Host": host.format(port=port)}
    assert "another page" in refused(studio.raw("GET", f"{studio.prefix}/", headers=headers))


def test_two_hosts_are_refused(studio):
    address = studio.host.split(":")
    with socket.create_connection((address[0], int(address[1]))) as connection:
        lines = [f"GET {studio.prefix}/ HTTP/1.1", f"Host: {studio.host}", "Host: evil.example"]
        connection.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode())
        answer = connection.makefile("rb").read()
    assert answer.startswith((b"HTTP/1.1 403", b"HTTP/1.1 400"))


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://{host}", "http://localhost:1"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_a_foreign_origin_is_refused(studio, method, origin):
    headers = {"Origin": origin.format(host=studio.host)}
    path = f"{studio.prefix}/api/tables?name=a.csv"
    refused(studio.raw(method, path, b"a,b\n", headers))


def test_what_changes_something_needs_our_origin(studio):
    path = f"{studio.prefix}/api/tables?name=a.csv"
    refused(studio.raw("POST", path, b"a,b\n1,2\n"))
    refused(studio.raw("GET", path, headers={"Sec-Fetch-Site": "cross-site"}))
    assert studio.workspace.tables() == []


def test_all_answers_have_the_headers(studio):
    for path in ("/nothing", f"{studio.prefix}/", f"{studio.prefix}/api/state"):
        _, headers, _ = studio.raw("GET", path)
        assert {name: headers[name] for name in HEADERS} == HEADERS
        assert "set-cookie" not in headers
        assert "server" not in headers
    assert "unsafe" not in HEADERS["content-security-policy"]


def test_the_page_has_no_inline_script_or_style(studio):
    _, _, page = studio.raw("GET", f"{studio.prefix}/")
    text = page.decode()
    assert "<style" not in text
    assert text.count("<script") == text.count("<script src=") + text.count(
        '<script type="module" src='
    )
    assert "style=" not in text
    assert "http:" not in text.replace("http-equiv", "")


def test_an_address_for_the_browser_works_once(studio):
    """Its command line is no secret; whoever comes second gets nothing."""
    path = urlsplit(studio.once()).path
    status, headers, _ = studio.raw("GET", path)
    assert (status, headers["location"]) == (303, f"{studio.prefix}/")
    assert "not complete" in refused(studio.raw("GET", path))
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert "another page" in refused(
        studio.raw("GET", urlsplit(studio.once()).path, headers=foreign)
    )


def test_people_who_share_have_an_address_each(tmp_path):
    with running_studio(tmp_path / "work", people=["Ada", "Emmy"]) as studio:
        assert list(studio.addresses) == ["Ada", "Emmy"]
        hosts = {urlsplit(address).netloc for address in studio.addresses.values()}
        assert len(hosts) == 1
        for name, address in studio.addresses.items():
            path = f"{urlsplit(address).path}api/state"
            status, _, content = studio.raw("GET", path)
            assert (status, json.loads(content)["person"]) == (200, name)
        refused(studio.raw("GET", "/wrong/api/state"))


@pytest.mark.parametrize("names", ["", "Ada,", "Ada,Ada"])
def test_people_have_names(names):
    with pytest.raises(ValueError, match="is no list of people"):
        people_of(names)
