"""Can a web page that somebody opens on this machine reach the broker through the browser?"""

from __future__ import annotations

import http.client
import json
import socket
from urllib.parse import urlsplit

import pytest
from served_node import ask, served
from web import TIMEOUT_S, Response

from lapwing import Broker
from lapwing.http.server import HttpServer

EVIL = "evil.example"
PATHS = [
    ("GET", "/v1/streams"),
    ("GET", "/v1/streams/readings/0"),
    ("GET", "/v1/sessions"),
    ("PUT", "/v1/groups/a"),
    ("DELETE", "/v1/sessions/a"),
    ("GET", "/metrics"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/nowhere"),
]
CROSS_SITE = [
    {"Origin": f"http://{EVIL}"},
    {"Origin": "null"},
    {"Origin": "http://localhost:3000"},
]
LINKS = [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}]


def code(answer: Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_page_that_bends_its_name_to_us_gets_nothing() -> None:
    with served(None, "readings") as server:
        port = urlsplit(server.url).port
        for method, path in PATHS:
            for host in (f"{EVIL}:{port}", EVIL, f"0.0.0.0:{port}", ""):
                answer = ask(server.url + path, {"Host": host, "Origin": f"http://{host}"}, method=method)
                assert code(answer) == (421, "misdirected"), (method, path, host)
                assert "http.hosts" in answer.json()["error"]["remedy"]


@pytest.mark.parametrize("headers", CROSS_SITE)
def test_a_page_of_another_site_gets_nothing(headers: dict[str, str]) -> None:
    with served(None, "readings") as server:
        for method, path in PATHS:
            assert code(ask(server.url + path, headers, method=method)) == (403, "cross_site"), (method, path)


@pytest.mark.parametrize("headers", LINKS)
def test_a_link_of_another_site_is_shown_to_a_person_and_changes_nothing(headers: dict[str, str]) -> None:
    with served(None, "readings") as server:
        for method, path in PATHS:
            answer = ask(server.url + path, headers, method=method)
            if method == "GET":
                assert answer.status_code == ask(server.url + path).status_code, path
                assert answer.headers["cross-origin-resource-policy"] == "same-origin"
            else:
                assert code(answer) == (403, "cross_site"), (method, path)


def test_ways_to_say_it_twice_are_none() -> None:
    """Two Hosts, a whole URL in the request's line: does the name that counts for us count for the browser too?"""
    with served(None, "readings") as server:
        local = server.url.removeprefix("http://")
        assert _raw(server, f"GET /v1/streams HTTP/1.1\r\nHost: {local}\r\nHost: {EVIL}\r\n\r\n").startswith(
            b"HTTP/1.1 4"
        )
        whole = _raw(server, f"GET http://{local}/v1/streams HTTP/1.1\r\nHost: {EVIL}\r\nConnection: close\r\n\r\n")
        assert whole.startswith(b"HTTP/1.1 421 ")


def test_every_address_of_a_name_is_listened_at() -> None:
    """``localhost`` is two addresses: does a client that tries the other one meet us too, and on the same port?"""
    with served(None, "readings", address="localhost:0") as server:
        port = urlsplit(server.url).port
        for host in ("127.0.0.1", "[::1]") if _has_ipv6() else ("127.0.0.1",):
            assert ask(f"http://{host}:{port}/v1/streams").status_code == 200, host
        assert server.url == f"http://{'localhost' if _has_ipv6() else '127.0.0.1'}:{port}"


def test_programs_and_our_own_page_are_served() -> None:
    with served(None, "readings") as server:
        port = urlsplit(server.url).port
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", "localhost", "127.0.0.2:1", "[::1]:9"):
            assert ask(f"{server.url}/v1/streams", {"Host": host}).status_code == 200, host
        own = {"Origin": server.url, "Sec-Fetch-Site": "same-origin"}
        assert ask(f"{server.url}/v1/streams", own).status_code == 200
        assert ask(f"{server.url}/metrics", {"Sec-Fetch-Site": "none"}).status_code == 200
        # As a load balancer asks that speaks HTTP/1.0; no browser leaves Host out.
        assert _raw(server, "GET /healthz HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 ")


def test_an_orchestrator_asks_a_pod_by_its_address() -> None:
    """Bound to all addresses: is every address a name of ours, and no name one?"""
    with served(None, address="0.0.0.0:0", users="users.toml", plain=True) as server:
        url = server.url.replace("0.0.0.0", "127.0.0.1")
        for host in ("10.1.2.3:8080", "[fd00::7]:8080", "localhost"):
            assert ask(f"{url}/healthz", {"Host": host}).status_code == 200, host
        for host in (EVIL, "10.1.2.3.evil.example", "0.0.0.0:8080"):
            assert code(ask(f"{url}/healthz", {"Host": host})) == (421, "misdirected"), host


def test_a_name_that_is_set_is_ours() -> None:
    with served(None, "readings", hosts=["Broker.example"]) as server:
        assert ask(f"{server.url}/v1/streams", {"Host": "broker.example:8443"}).status_code == 200
        assert code(ask(f"{server.url}/v1/streams", {"Host": "a.broker.example"})) == (421, "misdirected")


def test_refusals_are_counted_by_reason_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    with served(None, "readings") as server:
        for _ in range(20):
            ask(f"{server.url}/v1/streams", {"Host": "evil\u00e9\x1b[31m.example".encode("latin-1")})  # type: ignore[dict-item]
        ask(f"{server.url}/v1/streams", {"Origin": f"http://{EVIL}"})
        counted = ask(f"{server.url}/metrics").text
    assert 'lapwing_http_refused_total{reason="misdirected"} 20\n' in counted
    assert 'lapwing_http_refused_total{reason="cross_site"} 1\n' in counted
    assert 'lapwing_http_requests_total{route="unknown",status="421"} 20\n' in counted
    told = [record.getMessage() for record in caplog.records if record.name == "lapwing.same_origin.host_check"]
    assert ["misdirected" if "http.hosts" in line else "cross_site" for line in told] == ["misdirected", "cross_site"]
    assert all(line.isascii() and line.isprintable() for line in told), told


def test_no_browser_guesses_what_an_answer_is() -> None:
    """Has every answer `nosniff`: what was asked for, refusals of every kind, and what is no HTTP at all?"""
    with served(None, "readings") as server:
        for path in ("/healthz", "/v1/streams/readings/0", "/nowhere", "/v1/streams/nothing"):
            assert ask(server.url + path).headers["x-content-type-options"] == "nosniff", path
        assert ask(server.url + "/healthz", {"Host": EVIL}).headers["x-content-type-options"] == "nosniff"
        assert ask(server.url + "/healthz", method="POST").headers["x-content-type-options"] == "nosniff"
        assert b"x-content-type-options: nosniff" in _raw(server, "nonsense\r\n\r\n").lower()


@pytest.mark.lapwing(streams={"readings": "#"}, http="127.0.0.1:0")
def test_a_cross_site_get_moves_no_reader_and_uses_up_no_name(lapwing_broker: Broker) -> None:
    """An image of another site's page, at a real broker: is what it remembers of readers what it was?"""
    url = f"{lapwing_broker.http_url}/v1/streams/readings"
    for number in range(70):
        # Of what lies after the question mark `ask` sends nothing.
        assert _get(f"{url}/0?from=0&reader=evil{number}", {"Sec-Fetch-Site": "cross-site"}) == 200
    assert json.loads(ask(url).content)["readers"] == []
    assert "lapwing_http_readers_ignored_total 70\n" in ask(f"{lapwing_broker.http_url}/metrics").text
    assert _get(f"{url}/0?from=0&reader=spark", {}) == 200


def _get(url: str, headers: dict[str, str]) -> int:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", f"{parts.path}?{parts.query}", headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


def _has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def _raw(server: HttpServer, text: str) -> bytes:
    """Everything that is answered to these bytes, until the other side has closed."""
    parts = urlsplit(server.url)
    with socket.create_connection((str(parts.hostname), parts.port), timeout=TIMEOUT_S) as peer:
        peer.sendall(text.encode())
        return peer.makefile("rb").read()
