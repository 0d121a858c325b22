"""Is a port on which something else is spoken said to be that, with the remedy?"""

from __future__ import annotations

import os
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import trustme

from lapwing.cli.stream_api import StreamApi
from lapwing.errors import ConfigError, ConnectError
from lapwing.https import open_connection
from lapwing.pipeline.source.address import StreamAddress
from lapwing.pipeline.source.client import StreamClient

Answer = Callable[[socket.socket], None]


@contextmanager
def serving(answer: Answer) -> Iterator[int]:
    """The port of a server that answers every connection so, until the end."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    taken, _ = listener.accept()
                except OSError:
                    return
                taken.settimeout(30)
                with taken, suppress(OSError):
                    answer(taken)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield int(listener.getsockname()[1])
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def plain_http(taken: socket.socket) -> None:
    taken.recv(4096)
    taken.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def plain_mqtt(taken: socket.socket) -> None:
    """A broker that reads no CONNECT says nothing."""
    taken.recv(4096)


@pytest.fixture(scope="module")
def over_tls(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)

    def answer(taken: socket.socket) -> None:
        with context.wrap_socket(taken, server_side=True) as secure:
            secure.recv(4096)

    return answer


def asked(scheme: str, port: int) -> list[str]:
    """What both clients say of the port."""
    url = f"{scheme}://127.0.0.1:{port}"
    told = []
    with pytest.raises(ConnectError) as caught:
        StreamApi(url).streams()
    told.append(str(caught.value))
    with pytest.raises(ConnectError) as caught, StreamClient(StreamAddress.parse(url)) as client:
        client.state()
    return [*told, str(caught.value)]


def test_https_where_http_is_spoken() -> None:
    with serving(plain_http) as port:
        for told in asked("https", port):
            assert "speaks no TLS" in told
            assert f"give http://127.0.0.1:{port}" in told


def test_http_where_https_is_spoken(over_tls: Answer) -> None:
    with serving(over_tls) as port:
        for told in asked("http", port):
            assert "speaks TLS" in told
            assert f"give https://127.0.0.1:{port}" in told


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_either_where_mqtt_is_spoken(scheme: str) -> None:
    with serving(plain_mqtt) as port:
        for told in asked(scheme, port):
            assert "does not answer" in told
            assert "MQTT has another" in told


def test_an_alert_is_tls_too() -> None:
    """Of a server that wants a certificate, say."""

    def alert(taken: socket.socket) -> None:
        taken.recv(4096)
        taken.sendall(bytes.fromhex("15030300020228"))

    with serving(alert) as port:
        assert all(f"give https://127.0.0.1:{port}" in told for told in asked("http", port))


def test_nobody_there_is_no_wrong_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    assert all("speaks" not in told and "MQTT" not in told for told in asked("http", port))


def test_authorities_may_come_out_of_a_pipe_and_out_of_no_device(tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    os.mkfifo(authority)
    writer = threading.Thread(target=authority.write_bytes, args=(trustme.CA().cert_pem.bytes(),))
    writer.start()
    for _ in range(2):  # it is read once, and for both
        open_connection("https", "127.0.0.1", 1, timeout_s=1.0, ca=str(authority))
    writer.join()
    with pytest.raises(ConfigError, match="it is a device, and no file"):
        open_connection("https", "127.0.0.1", 1, timeout_s=1.0, ca="/dev/zero")
