"""Is a bridge's listener there for programs of this machine, and closed to pages of the web?"""

from __future__ import annotations

import errno
import http.client
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from lapwing.bridge.metrics_server import _CONNECTIONS_MAX, MetricsServer
from lapwing.listening import addresses_of

TIMEOUT_S = 30


@pytest.fixture
def server() -> Iterator[MetricsServer]:
    server = MetricsServer("127.0.0.1:0", lambda: ())
    server.start()
    yield server
    server.stop()


def ask(server: MetricsServer, path: str, **headers: str) -> tuple[int, str, str | None]:
    """Status, body and whether a browser may guess; ``Sec_Fetch_Site`` stands for ``Sec-Fetch-Site``."""
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.getheader("X-Content-Type-Options")
    finally:
        connection.close()


def test_every_address_of_a_name_is_listened_at() -> None:
    server = MetricsServer("localhost:0", lambda: ())
    server.start()
    try:
        port = urlsplit(server.url).port
        for address in addresses_of("localhost", port or 0):
            try:
                socket.create_connection(address.target[:2], timeout=TIMEOUT_S).close()
            except OSError as error:
                assert error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT), address  # noqa: PT017
    finally:
        server.stop()


def test_a_page_of_the_web_gets_nothing_and_is_counted(server: MetricsServer) -> None:
    for path in ("/metrics", "/healthz", "/nowhere"):
        for host in ("evil.example", "evil.example:9180", "0.0.0.0:9180", "10.0.0.7"):
            status, body, guessing = ask(server, path, Host=host)
            assert (status, guessing) == (421, "nosniff"), (path, host)
            assert "bridge.metrics" in body
        assert ask(server, path, Origin="http://evil.example")[0] == 403
    text = ask(server, "/metrics")[1]
    assert 'lapwing_bridge_http_refused_total{reason="misdirected"} 12\n' in text
    assert 'lapwing_bridge_http_refused_total{reason="cross_site"} 3\n' in text


def test_programs_of_this_machine_are_served(server: MetricsServer) -> None:
    for host in (server.url.removeprefix("http://"), "localhost:1", "127.0.0.1", "[::1]"):
        status, _, guessing = ask(server, "/metrics", Host=host)
        assert (status, guessing) == (200, "nosniff"), host
    assert ask(server, "/healthz")[:2] == (200, '{"status":"alive"}')


def test_who_asks_nothing_keeps_nobody_out(server: MetricsServer) -> None:
    """Three times as many as there are places have said nothing, or half of it; one of them says what is no HTTP."""
    parts = urlsplit(server.url)
    with ExitStack() as stack:
        for number in range(3 * _CONNECTIONS_MAX):
            peer = socket.create_connection((str(parts.hostname), parts.port), TIMEOUT_S)
            stack.enter_context(peer).sendall(b"G" if number % 2 else b"")
        peer.sendall(b" / / /\r\n\r\n")
        assert peer.makefile("rb").read().startswith(b"HTTP/1.1 400")
        assert ask(server, "/healthz")[0] == 200
        status, text, _ = ask(server, "/metrics")
    assert status == 200
    assert f'{{reason="too_many_connections"}} {2 * _CONNECTIONS_MAX + 1}\n' in text
    assert '{reason="no_http"} 1\n' in text


def test_health_has_places_of_its_own(server: MetricsServer) -> None:
    parts = urlsplit(server.url)
    with ExitStack() as stack:
        for number in range(_CONNECTIONS_MAX):
            source = (f"127.0.1.{number + 1}", 0)
            stack.enter_context(socket.create_connection((str(parts.hostname), parts.port), TIMEOUT_S, source))
        assert ask(server, "/healthz")[0] == 200
        status, text, _ = ask(server, "/metrics")
        assert status == 503
        assert "too_many_connections" in text


def test_a_request_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lapwing.bridge.metrics_server._KEEP_ALIVE_S", 0.1)
    server = MetricsServer("127.0.0.1:0", lambda: ())
    server.start()
    try:
        parts = urlsplit(server.url)
        with socket.create_connection((str(parts.hostname), parts.port), TIMEOUT_S) as silent:
            assert silent.recv(1) == b""
        assert '{reason="late"} 1\n' in ask(server, "/metrics")[1]
    finally:
        server.stop()
