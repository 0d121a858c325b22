"""`/v1/groups`: who may, which bodies are taken, what is refused and how. Groups themselves: tests/groups."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote, urlsplit

import pytest
from served_node import RULE, MadeAuthority, ask, basic, served
from web import TIMEOUT_S, Response

from lapwing.cli.group_api import GroupApi
from lapwing.config.groups import GroupConfig
from lapwing.config.one_group import parse_group
from lapwing.http.body import BODY_BYTES_MAX
from lapwing.http.server import HttpServer
from lapwing.json_answer import JsonAnswer

PASSWORDS = {"alice": b"a", "root": b"r"}
RIGHTS: dict[str | None, set[tuple[str, str]]] = {"root": {("admin", "*")}, "alice": {("stream", "readings")}}

MORE = "the table has more than 20,000 values"


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with served(None) as server:
        yield server


def put(server: HttpServer, name: str, document: object) -> Response:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return ask(f"{server.url}/v1/groups/{name}", method="PUT", body=body)


def test_a_table_comes_changes_and_goes(server: HttpServer) -> None:
    """Is a new table 201, another one 200, each with what is in force, and is it gone after DELETE?"""
    first = put(server, "alarms", {"strategy": "lef", "filters": ["alarms/#"], "behind": "2s"})
    assert first.status_code == 201
    assert first.json()["settings"]["behind"] == "2s"
    assert first.json()["settings"]["strategy"] == "lef"
    second = put(server, "alarms", {"filters": ["alarms/#"]})
    assert second.status_code == 200
    assert second.json()["settings"]["strategy"] == "auto", "PUT replaces: what it does not name is the default"
    assert ask(f"{server.url}/v1/groups").json()["settings"]["alarms"] == second.json()["settings"]
    one = ask(f"{server.url}/v1/groups/alarms").json()
    assert (one["name"], one["groups"], one["settings"]) == ("alarms", [], second.json()["settings"])
    assert ask(f"{server.url}/v1/groups/alarms", method="DELETE").status_code == 204
    gone = ask(f"{server.url}/v1/groups/alarms", method="DELETE")
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "group_unknown")


def test_groups_come_in_pages() -> None:
    """Is each group on one page, also where names and filters begin alike, and are the tables with the first?"""
    places = [(name, filter_) for name in ("a", "a-", "a b", "b") for filter_ in ("#", "a", "a/#", "a/b", "+/a")]
    with served(None, groups=[{"name": name, "filter": filter_} for name, filter_ in places]) as server:
        put(server, "a", {"workers": 4})
        url, after, seen, tables = f"{server.url}/v1/groups?limit=3", "", [], []
        while after is not None:
            page = ask(f"{url}&after={quote(after, safe='')}" if seen else url).json()
            assert page["matching"] == len(places)
            assert len(page["groups"]) <= 3
            seen += [(group["name"], group["filter"]) for group in page["groups"]]
            tables.append(list(page["settings"]))
            after = page["next"]
        assert seen == sorted(places)
        assert tables == [["a"], *[[]] * (len(tables) - 1)]
        assert GroupApi(server.url).groups() == [{"name": name, "filter": filter_} for name, filter_ in sorted(places)]
        assert ask(f"{server.url}/v1/groups?after=zz").json()["groups"] == []
        assert ask(f"{server.url}/v1/groups?limit=0").status_code == 400
        assert ask(f"{server.url}/v1/groups?page=1").status_code == 400


def test_what_clients_have_named_is_written_beside_what_answers(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of long names was a second in which /healthz did not answer."""
    render = JsonAnswer.render
    threads: list[str] = []

    def noting(answer: JsonAnswer, content: object) -> bytes:
        threads.append(threading.current_thread().name)
        return render(answer, content)

    monkeypatch.setattr(JsonAnswer, "render", noting)
    for path in ("groups", "sessions", "clients", "queues", "bans"):
        assert ask(f"{server.url}/v1/{path}").status_code == 200
    assert len(threads) == 5
    assert "lapwing-http" not in threads


def test_the_cli_follows_the_pages() -> None:
    groups = [{"name": f"g{number:04}", "filter": "#"} for number in range(1_001)]
    with served(None, groups=groups) as server:
        assert GroupApi(server.url).groups() == groups


def test_a_pattern_is_a_name(server: HttpServer) -> None:
    assert put(server, "alarm-%2A", {"workers": 4}).status_code == 201
    assert ask(f"{server.url}/v1/groups/alarm-*").json()["settings"]["workers"] == 4
    assert "known: alarm-*" in ask(f"{server.url}/v1/groups/other").json()["error"]["remedy"]


@pytest.mark.parametrize(
    ("name", "body", "status", "code", "said"),
    [
        ("a", b"{", 400, "bad_body", "is not JSON"),
        ("a", b"[1]", 400, "bad_body", "is not a JSON object"),
        ("a", b"\xff", 400, "bad_body", "is not JSON"),
        ("a", b"", 400, "bad_body", "is not JSON"),
        ("a", b"[" * 100_000, 400, "bad_body", "is not JSON"),
        ("a", b'{"a": "' + b"x" * BODY_BYTES_MAX + b'"}', 413, "body_too_large", "more than 1048576 bytes"),
        ("a", b"x" * (7 << 20), 413, "body_too_large", "more than 1048576 bytes"),
        ("a", b'{"strategy": "fastest"}', 400, "group_settings", "there are auto, lef, peak-ewma"),
        ("a", b'{"strategi": "lef"}', 400, "group_settings", "did you mean groups.a.strategy?"),
        ("a", b'{"parameters": {"window": NaN}}', 400, "group_settings", "window must be 1 to 1000"),
        (
            "a",
            json.dumps({f"k{n}": 1 for n in range(60_000)}).encode(),
            400,
            "group_settings",
            "the table has 60,000 keys",
        ),
        ("a", json.dumps({"parameters": dict.fromkeys(map(str, range(60_000)))}).encode(), 400, "group_settings", MORE),
        ("a", json.dumps({"parameters": dict.fromkeys(map(str, range(21)))}).encode(), 400, "group_settings", "21 are"),
        ("a", json.dumps({"filters": ["#"] * 60_000}).encode(), 400, "group_settings", MORE),
        ("a", json.dumps({"rules": [{"topics": ["#"] * 20_000}]}).encode(), 400, "group_settings", MORE),
        ("a", json.dumps({"rules": [{}] * 1_001}).encode(), 400, "group_settings", "at most 1000 items"),
        ("a*", b'{"filters": ["x"]}', 400, "group_settings", "declare durable groups under a name without *"),
        ("a+", b"{}", 400, "group_settings", "use 1 to 256 bytes"),
    ],
)
def test_wrong_bodies(server: HttpServer, name: str, body: bytes, status: int, code: str, said: str) -> None:
    """Is each refused with its code, and does nothing of it stay?"""
    answer = put(server, name, body)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, code)
    assert said in error["message"]
    assert ask(f"{server.url}/v1/groups").json()["settings"] == {}


def test_a_table_that_is_looked_at_for_long_holds_up_nobody(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A PUT of 60,000 wrong parameters was three seconds in which /healthz did not answer."""
    under_way, gate = threading.Event(), threading.Event()

    def looked_at(name: str, table: Mapping[str, object], place: str) -> GroupConfig:
        under_way.set()
        assert gate.wait(TIMEOUT_S)
        return parse_group(name, table, place)

    monkeypatch.setattr("lapwing.http.groups.parse_group", looked_at)
    with ThreadPoolExecutor(1) as pool:
        changed = pool.submit(put, server, "a", {})
        assert under_way.wait(TIMEOUT_S)
        assert ask(f"{server.url}/healthz").status_code == 200
        gate.set()
        assert changed.result().status_code == 201


def test_every_problem_is_named(server: HttpServer) -> None:
    problems = put(server, "a", {"workers": 0, "overflow": "x", "y": 1}).json()["error"]["problems"]
    assert len(problems) == 3


def test_other_paths_and_methods_take_no_body(server: HttpServer) -> None:
    assert ask(f"{server.url}/v1/groups", method="PUT", body=b"{}").status_code == 413
    assert ask(f"{server.url}/v1/groups/a", method="DELETE", body=b"{}").status_code == 413
    assert ask(f"{server.url}/v1/groups/a", method="POST").status_code == 405


def test_a_body_that_does_not_come(server: HttpServer) -> None:
    """Is a client cut off that announces a body and sends a part of it?"""
    with served(None, keep_alive="1s") as hasty:
        parts = urlsplit(hasty.url)
        with socket.create_connection((str(parts.hostname), parts.port), timeout=TIMEOUT_S) as client:
            client.sendall(b"PUT /v1/groups/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
            answer = b""
            while piece := client.recv(4096):
                answer += piece
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"code":"body_late"' in answer


@pytest.mark.parametrize("announced", [BODY_BYTES_MAX + 1, 1 << 63, 10**19])
def test_a_body_that_is_announced_too_large_is_not_waited_for(server: HttpServer, announced: int) -> None:
    """Is who announces more than is taken answered at the head, whatever follows?"""
    parts = urlsplit(server.url)
    with socket.create_connection((str(parts.hostname), parts.port), timeout=TIMEOUT_S) as client:
        client.sendall(f"PUT /v1/groups/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: {announced}\r\n\r\n".encode())
        answer = b""
        while piece := client.recv(4096):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"code":"body_too_large"' in answer


def test_nobody_undoes_what_somebody_else_has_changed(server: HttpServer) -> None:
    """Is a change made only while the settings have the tag that its author knows?"""
    url = f"{server.url}/v1/groups/a"

    def change(method: str, document: object, **condition: str) -> Response:
        headers = {name.replace("_", "-"): value for name, value in condition.items()}
        return ask(url, headers, method=method, body=None if document is None else json.dumps(document).encode())

    assert change("PUT", {}, If_Match="*").status_code == 412, "there is none"
    created = change("PUT", {"workers": 2}, If_None_Match="*")
    assert created.status_code == 201
    tag = created.headers["etag"]
    assert ask(url).headers["etag"] == tag
    refused = change("PUT", {"workers": 9}, If_None_Match="*")
    assert (refused.status_code, refused.json()["error"]["code"]) == (412, "group_changed")
    changed = change("PUT", {"workers": 3}, If_Match=f'"other", {tag}')
    assert (changed.status_code, changed.json()["settings"]["workers"]) == (200, 3)
    assert changed.headers["etag"] != tag
    for method, document in (("PUT", {"workers": 9}), ("DELETE", None)):
        assert change(method, document, If_Match=tag).status_code == 412
    assert ask(url).json()["settings"]["workers"] == 3
    assert change("PUT", {"workers": 2}, If_Match="*").headers["etag"] == tag, "the same settings, the same tag"
    assert change("DELETE", None, If_Match=tag).status_code == 204
    assert "etag" not in ask(f"{server.url}/v1/groups/a").headers


def test_of_two_who_change_the_same_one_wins(server: HttpServer) -> None:
    """At the same time: is one of them told, whoever it is?"""
    tag = put(server, "a", {"workers": 1}).headers["etag"]

    def change(workers: int) -> int:
        body = json.dumps({"workers": workers}).encode()
        return ask(f"{server.url}/v1/groups/a", {"If-Match": tag}, method="PUT", body=body).status_code

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(change, range(2, 10))) == [200] + [412] * 7


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_only_who_administers(method: str) -> None:
    """Is everybody else refused, before the body is read and whatever there is?"""
    with served(MadeAuthority(PASSWORDS, rights=RIGHTS), rules=(RULE,)) as server:
        for path in ("/v1/groups/a", "/v1/groups")[: 2 if method == "GET" else 1]:
            body = b"{" if method == "PUT" else None
            assert ask(server.url + path, method=method, body=body).status_code == 401
            refused = ask(server.url + path, basic("alice", "a"), method=method, body=body)
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
            allowed = ask(server.url + path, basic("root", "r"), method=method, body=body)
            assert allowed.status_code == {"PUT": 400, "DELETE": 404}.get(method, 404 if path.endswith("/a") else 200)
