"""Is a bridge's listener there for programs of this machine, and closed to pages of the web?"""

from __future__ import annotations

import errno
import http.client
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from lapwing.bridge.metrics_server import MetricsServer
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
