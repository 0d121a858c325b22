"""Is a port on which something else is spoken said to be that, with the remedy?"""

from __future__ import annotations

import os
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives import serialization

from lapwing.cli.stream_api import StreamApi
from lapwing.errors import ConfigError, ConnectError
from lapwing.https import NO_FILES, TlsFiles, open_connection
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


def asked(scheme: str, port: int, tls: TlsFiles = NO_FILES) -> list[str]:
    """What both clients say of the port."""
    url = f"{scheme}://127.0.0.1:{port}"
    told = []
    with pytest.raises(ConnectError) as caught:
        StreamApi(url, tls=tls).streams()
    told.append(str(caught.value))
    with pytest.raises(ConnectError) as caught, StreamClient(StreamAddress.parse(url), tls=tls) as client:
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
        open_connection("https", "127.0.0.1", 1, timeout_s=1.0, tls=TlsFiles(str(authority)))
    writer.join()
    with pytest.raises(ConfigError, match="it is a device, and no file"):
        open_connection("https", "127.0.0.1", 1, timeout_s=1.0, tls=TlsFiles("/dev/zero"))


def test_a_certificate_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """A key behind a pass phrase is asked of nobody."""
    issued = trustme.CA().issue_cert("client")
    names = ("whole.pem", "chain.pem", "other.key", "sealed.key")
    whole, chain, other, sealed = (str(tmp_path / name) for name in names)
    issued.private_key_and_cert_chain_pem.write_to_path(whole)
    issued.cert_chain_pems[0].write_to_path(chain)
    trustme.CA().issue_cert("other").private_key_pem.write_to_path(other)
    locked = serialization.BestAvailableEncryption(b"horse")
    key = serialization.load_pem_private_key(issued.private_key_pem.bytes(), None)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked)
    Path(sealed).write_bytes(pem)
    for tls, said in [
        (TlsFiles(certificate=whole), ""),
        (TlsFiles(certificate=chain), rf"no private key that can be read.*\({chain}\)"),
        (TlsFiles(certificate=chain, key=sealed), rf"\({sealed}\).*without a pass phrase"),
        (TlsFiles(certificate=chain, key=other), rf"the key is not that of the certificate {chain} \({other}\)"),
        (
            TlsFiles(certificate=chain, key="/nowhere.key"),
            r"cannot be read: No such file or directory \(/nowhere.key\)",
        ),
        (TlsFiles(certificate="/nowhere.pem"), r"\(/nowhere.pem\)"),
        (TlsFiles(certificate=chain, key="/dev/zero"), "it is a device"),
        (TlsFiles(key=other), "without a certificate"),
    ]:
        with pytest.raises(ConfigError, match=said) if said else nullcontext():
            open_connection("https", "127.0.0.1", 1, timeout_s=1.0, tls=tls)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_broker_that_asks_for_a_certificate_is_no_wrong_port(tmp_path: Path, version: ssl.TLSVersion) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = context.maximum_version = version
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    ca = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca))

    def answer(taken: socket.socket) -> None:
        with context.wrap_socket(taken, server_side=True):
            pass

    with serving(answer) as port:
        for told in asked("https", port, TlsFiles(str(ca))):
            assert "give a client's certificate that the broker trusts (cert, key)" in told
