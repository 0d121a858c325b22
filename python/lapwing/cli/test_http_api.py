"""A broker closes a kept connection when nothing is asked for a while: does a command go on all the same?"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from lapwing.cli import http_api as room
from lapwing.cli.http_api import HttpApi
from lapwing.errors import ConnectError, StreamError
from lapwing.https import NO_FILES

TIMEOUT_S = 30.0
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Server:
    """Answers as often on each connection as a test says, and closes it then without a word."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(TIMEOUT_S)
        self._thread = ThreadPoolExecutor(1)
        self.api = HttpApi(
            f"http://127.0.0.1:{self._listener.getsockname()[1]}", None, NO_FILES, kinds={}, other=StreamError
        )

    def serve(self, *answers: int) -> Future[list[str]]:
        """The methods it was asked with, one connection after the other."""
        return self._thread.submit(lambda: [method for count in answers for method in self._connection(count)])

    def _connection(self, answers: int) -> Iterator[str]:
        stream, _ = self._listener.accept()
        stream.settimeout(TIMEOUT_S)
        with stream, stream.makefile("rb") as lines:
            for _ in range(answers):
                yield lines.readline().split()[0].decode()
                while lines.readline().strip():
                    pass
                stream.sendall(ANSWER)

    def close(self) -> None:
        self._listener.close()
        self._thread.shutdown()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """One for each test; nobody else connects to it to see what it speaks."""
    monkeypatch.setattr(room, "wrong_port", lambda *_: None)
    server = Server()
    yield server
    server.close()


def test_a_get_is_asked_again(server: Server) -> None:
    asked = server.serve(2, 1)
    assert [server.api.request("GET", "/")[1] for _ in range(3)] == [b"ok"] * 3
    assert asked.result(TIMEOUT_S) == ["GET"] * 3


def test_a_new_connection_that_ends_is_an_error(server: Server) -> None:
    """Nothing says that a third attempt would do better."""
    asked = server.serve(1, 0, 1)
    server.api.request("GET", "/")
    with pytest.raises(ConnectError):
        server.api.request("GET", "/")
    server.api.request("GET", "/")
    assert asked.result(TIMEOUT_S) == ["GET"] * 2


def test_what_changes_something_is_not_repeated(server: Server) -> None:
    """It may have been carried out before the connection ended."""
    asked = server.serve(1, 1)
    server.api.request("GET", "/")
    with pytest.raises(ConnectError):
        server.api.request("DELETE", "/")
    server.api.request("DELETE", "/")
    assert asked.result(TIMEOUT_S) == ["GET", "DELETE"]
