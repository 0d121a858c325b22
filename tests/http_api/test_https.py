"""HTTP over TLS: who is served, what a handshake may cost, and new certificates without a restart."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
import trustme
from served_node import ask, reload, served, strangers

from lapwing.cli.stream_api import StreamApi
from lapwing.config import Config
from lapwing.errors import ConfigError, ConnectError
from lapwing.http.server import HttpServer
from lapwing.pipeline.source.address import StreamAddress
from lapwing.pipeline.source.client import StreamClient


class Files:
    """An authority with a certificate for localhost, as files."""

    def __init__(self, folder: Path) -> None:
        self.authority = trustme.CA()
        self.ca, self.certificate, self.key = folder / "ca.pem", folder / "server.pem", folder / "server.key"
        self.authority.cert_pem.write_to_path(self.ca)
        self.renew()

    def renew(self) -> bytes:
        """Writes another certificate; gives it as it is sent."""
        made = self.authority.issue_cert("localhost", "127.0.0.1")
        made.private_key_pem.write_to_path(self.key)
        self.certificate.write_bytes(b"".join(pem.bytes() for pem in made.cert_chain_pems))
        return ssl.PEM_cert_to_DER_cert(made.cert_chain_pems[0].bytes().decode())

    def settings(self) -> dict[str, str]:
        return {"certificate": str(self.certificate), "key": str(self.key)}

    def trusting(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.ca))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def port(server: HttpServer) -> int:
    return int(server.url.rpartition(":")[2])


def shown(server: HttpServer, files: Files) -> bytes | None:
    """The certificate of a new connection."""
    with (
        socket.create_connection(("127.0.0.1", port(server)), timeout=30) as plain,
        files.trusting().wrap_socket(plain, server_hostname="localhost") as secure,
    ):
        return secure.getpeercert(binary_form=True)


def test_streams_are_served_over_tls(files: Files) -> None:
    with served(None, "readings", **files.settings()) as server:
        assert server.url.startswith("https://127.0.0.1:")
        for _ in range(20):  # a request may come with the handshake's last bytes, or after them
            read = ask(f"{server.url}/v1/streams/readings/0", tls=files.trusting())
            assert (read.status_code, read.text) == (200, "messages of readings")


def test_our_own_clients_check_the_certificate(files: Files, tmp_path: Path) -> None:
    with served(None, "readings", **files.settings()) as server:
        assert [stream["name"] for stream in StreamApi(server.url, ca=str(files.ca)).streams()] == ["readings"]
        with StreamClient(StreamAddress.parse(server.url), ca=str(files.ca)) as client:
            assert client.state().uuid == "uuid of readings"
        with pytest.raises(ConnectError, match="not trusted"):
            StreamApi(server.url).streams()
        with StreamClient(StreamAddress.parse(server.url), retry_s=60) as client, pytest.raises(ConnectError):
            client.state()
        with pytest.raises(ConfigError, match="authorities"):
            StreamApi(server.url, ca=str(tmp_path / "none.pem"))


def test_a_client_certificate_is_needed_where_one_is_asked_for(files: Files) -> None:
    with served(None, "readings", client_ca=str(files.ca), **files.settings()) as server:
        with pytest.raises((ssl.SSLError, OSError)):
            ask(f"{server.url}/v1/streams", tls=files.trusting())
        known = files.trusting()
        files.authority.issue_cert("client").configure_cert(known)
        assert ask(f"{server.url}/v1/streams", tls=known).status_code == 200


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_no_connection_outlives_its_clients_certificate(
    files: Files, version: ssl.TLSVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor the files that it was verified by; and is a session that was begun before no way around it?"""
    known = files.trusting()
    known.minimum_version = known.maximum_version = version
    files.authority.issue_cert("client").configure_cert(known)
    with served(None, "readings", client_ca=str(files.ca), **files.settings()) as server:

        def come(session: ssl.SSLSession | None = None) -> ssl.SSLSocket:
            plain = socket.create_connection(("127.0.0.1", port(server)), timeout=30)
            return known.wrap_socket(plain, server_hostname="localhost", session=session)

        with come() as kept:
            assert _asked(kept).startswith(b"HTTP/1.1 200 ")
            reload(server)
            assert _asked(kept) == b""
            with come() as renewed:
                assert _asked(renewed).startswith(b"HTTP/1.1 200 ")
                monkeypatch.setattr("lapwing.http.tls.time", SimpleNamespace(time=lambda: 1e12))
                assert _asked(renewed) == b""
                with come(renewed.session) as resumed:
                    assert resumed.session_reused
                    assert _asked(resumed) == b""


def _asked(peer: ssl.SSLSocket) -> bytes:
    """What is answered to a request; nothing where the connection is closed instead."""
    answer = b""
    with suppress(ConnectionError, ssl.SSLError):
        peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while not answer.endswith(b"}") and (piece := peer.recv(4096)):
            answer += piece
    return answer


def test_new_files_count_for_new_connections_and_wrong_ones_for_none(files: Files) -> None:
    with served(None, "readings", **files.settings()) as server:
        first = shown(server, files)
        renewed = files.renew()
        assert shown(server, files) == first, "not before it is told"
        reload(server)
        assert shown(server, files) == renewed != first
        files.certificate.write_text("no certificate")
        with pytest.raises(ConfigError, match=str(files.certificate)):
            reload(server)
        with files.key.open("wb") as sparse:  # OpenSSL would read it to its end
            sparse.truncate(1 << 30)
        with pytest.raises(ConfigError, match="more than 4194304 bytes"):
            reload(server)
        assert shown(server, files) == renewed


def test_a_handshake_counts_as_a_connection(files: Files) -> None:
    """Three have said nothing yet: do those that have waited longest make room for two more?"""
    with served(None, "readings", connections_max=3, keep_alive="10m", **files.settings()) as server:
        silent = [_connected(server) for _ in range(5)]
        assert [_end(each) for each in silent[:2]] == [b""] * 2
        text = ask(f"{server.url}/metrics", tls=files.trusting()).text
        assert "lapwing_http_connections_refused_total 3\n" in text
        assert _end(silent[2]) == b""


def test_half_handshakes_keep_nobody_out(files: Files) -> None:
    """More of them than there are places: is everybody served, and health where each address has one?"""
    hello, places = b"\x16\x03\x01", 8
    with served(None, "readings", connections_max=places, keep_alive="10m", **files.settings()) as server:
        with strangers(server, 4 * places, hello):
            for path in ("/healthz", "/v1/streams/readings/0"):
                assert ask(server.url + path, tls=files.trusting()).status_code == 200, path
        with strangers(server, 4 * places, hello, spread=True):
            assert ask(f"{server.url}/healthz", tls=files.trusting()).status_code == 200
            assert ask(f"{server.url}/v1/streams", tls=files.trusting()).status_code == 503


def _connected(server: HttpServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port(server)), timeout=30)


def test_a_handshake_has_its_time(files: Files) -> None:
    with served(None, "readings", keep_alive="1s", **files.settings()) as server:
        assert [_end(each) for each in [_connected(server) for _ in range(3)]] == [b""] * 3
        text = ask(f"{server.url}/metrics", tls=files.trusting()).text
        assert "lapwing_http_handshakes_failed_total 3" in text
        with socket.create_connection(("127.0.0.1", port(server)), timeout=30) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"alive" not in _end(plain)


def _end(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1024)
    except ConnectionResetError:
        return b""


def test_a_stop_does_not_wait_for_a_handshake(files: Files) -> None:
    with served(None, "readings", **files.settings()) as server:
        silent = socket.create_connection(("127.0.0.1", port(server)), timeout=30)
        ask(f"{server.url}/healthz", tls=files.trusting())  # the silent one was accepted before this one
        stopped = threading.Thread(target=server.stop)
        stopped.start()
        assert _end(silent) == b""
        stopped.join(30)
        assert not stopped.is_alive()
        silent.close()


@pytest.mark.parametrize(
    ("broken", "named"), [("certificate", "server.pem"), ("key", "server.pem"), ("client_ca", "none.pem")]
)
def test_files_that_cannot_be_used_stop_the_start(files: Files, tmp_path: Path, broken: str, named: str) -> None:
    other = trustme.CA().issue_cert("localhost").private_key_pem
    other.write_to_path(tmp_path / "other.key")
    wrong = {"certificate": tmp_path / "no" / "server.pem", "key": tmp_path / "other.key"}
    settings = {**files.settings(), broken: str(wrong.get(broken, tmp_path / "none.pem"))}
    with pytest.raises(ConfigError, match=named), served(None, "readings", **settings):
        pass


def test_an_encrypted_key_is_an_error_and_no_question(files: Files) -> None:
    from cryptography.hazmat.primitives import serialization as s

    plain = s.load_pem_private_key(files.key.read_bytes(), None)
    locked = plain.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.BestAvailableEncryption(b"x"))
    files.key.write_bytes(locked)
    with pytest.raises(ConfigError, match="not encrypted"), served(None, "readings", **files.settings()):
        pass


OPEN = [
    ({"http": "0.0.0.0:0"}, {}, "no HTTP beyond loopback without users"),
    ({"http": "10.1.2.3:80"}, {"plain": True}, "no HTTP beyond loopback without users"),
    ({"http": "127.0.0.1:0"}, {"key": "x"}, "need a certificate"),
]


@pytest.mark.parametrize(("broker", "http", "why"), OPEN)
def test_what_is_not_safe_is_refused_by_the_configuration(
    broker: dict[str, str], http: dict[str, object], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        Config(broker=broker, http=http)  # type: ignore[arg-type]
