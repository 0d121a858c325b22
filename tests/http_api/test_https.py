"""HTTP over TLS: who is served, what a handshake may cost, and new certificates without a restart."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from served_node import ask, reload, served, strangers

from lapwing.cli.stream_api import StreamApi
from lapwing.config import Config
from lapwing.errors import ConfigError, ConnectError
from lapwing.http.server import HttpServer
from lapwing.https import TlsFiles
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

    def revoke(self, *serials: int, days: int = 30) -> Path:
        """Writes the authority's list of what it has taken back, for so long; its file."""
        ca = x509.load_pem_x509_certificate(self.authority.cert_pem.bytes())
        key = serialization.load_pem_private_key(self.authority.private_key_pem.bytes(), None)
        now = datetime.now(UTC)
        builder = x509.CertificateRevocationListBuilder(ca.subject)
        builder = builder.last_update(now - timedelta(60)).next_update(now + timedelta(days))
        for serial in serials:
            builder = builder.add_revoked_certificate(x509.RevokedCertificateBuilder(serial, now).build())
        signed = builder.sign(key, hashes.SHA256())  # type: ignore[arg-type]
        (file := self.ca.parent / "list.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        return file

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
        assert [stream["name"] for stream in StreamApi(server.url, tls=TlsFiles(str(files.ca))).streams()] == [
            "readings"
        ]
        with StreamClient(StreamAddress.parse(server.url), tls=TlsFiles(str(files.ca))) as client:
            assert client.state().uuid == "uuid of readings"
        with pytest.raises(ConnectError, match="not trusted"):
            StreamApi(server.url).streams()
        with StreamClient(StreamAddress.parse(server.url), retry_s=60) as client, pytest.raises(ConnectError):
            client.state()
        with pytest.raises(ConfigError, match="authorities"):
            StreamApi(server.url, tls=TlsFiles(str(tmp_path / "none.pem")))


def test_a_client_certificate_is_needed_where_one_is_asked_for(files: Files) -> None:
    with served(None, "readings", client_ca=str(files.ca), **files.settings()) as server:
        with pytest.raises((ssl.SSLError, OSError)):
            ask(f"{server.url}/v1/streams", tls=files.trusting())
        known = files.trusting()
        files.authority.issue_cert("client").configure_cert(known)
        assert ask(f"{server.url}/v1/streams", tls=known).status_code == 200


def test_our_own_clients_show_their_certificate(files: Files, tmp_path: Path) -> None:
    own, key, stranger = (tmp_path / name for name in ("client.pem", "client.key", "stranger.pem"))
    made = files.authority.issue_cert("client")
    made.private_key_and_cert_chain_pem.write_to_path(own)
    made.private_key_pem.write_to_path(key)
    trustme.CA().issue_cert("client").private_key_and_cert_chain_pem.write_to_path(stranger)
    with served(None, "readings", client_ca=str(files.ca), **files.settings()) as server:
        address = StreamAddress.parse(server.url)
        for tls in (TlsFiles(str(files.ca), str(own)), TlsFiles(str(files.ca), str(own), str(key))):
            assert [stream["name"] for stream in StreamApi(server.url, tls=tls).streams()] == ["readings"]
            with StreamClient(address, tls=tls) as client:
                assert client.state().uuid == "uuid of readings"
        for tls in (TlsFiles(str(files.ca)), TlsFiles(str(files.ca), str(stranger))):
            with pytest.raises(ConnectError, match="client's certificate"):
                StreamApi(server.url, tls=tls).streams()
            with StreamClient(address, tls=tls) as client, pytest.raises(ConnectError, match="client's certificate"):
                client.state()


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


def test_who_is_revoked_does_not_come_in_and_goes(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists count as at listeners of MQTT: read again at a reload, and those that are over let nobody stay or come."""
    one, taken_back = (_device(files, name) for name in ("one", "two"))
    crl = files.revoke()
    with served(None, crl=str(crl), client_ca=str(files.ca), **files.settings()) as server:
        with _come(server, one) as kept, _come(server, taken_back) as goes:
            assert [_asked(peer)[:12] for peer in (kept, goes)] == [b"HTTP/1.1 200"] * 2
            files.revoke(taken_back.serial)
            reload(server)
            assert [_asked(peer) for peer in (kept, goes)] == [b""] * 2, "who comes again shows it again"
        assert _comes_in(server, one)
        assert not _comes_in(server, taken_back)
        files.revoke(days=-1)
        with pytest.raises(ConfigError, match=r"was to be replaced.*list\.pem"):
            reload(server)
        with _come(server, one) as peer:
            assert _asked(peer).startswith(b"HTTP/1.1 200")
            monkeypatch.setattr("lapwing.http.tls.time", SimpleNamespace(time=lambda: time.time() + 31 * 86_400))
            assert _asked(peer) == b"", "the list is over"


def test_whose_authority_has_no_list_is_not_trusted(files: Files) -> None:
    known, other = _device(files, "one"), trustme.CA()
    other.cert_pem.write_to_path(files.ca, append=True)
    unknown = Device(other.issue_cert("two"), files)
    with served(None, crl=[str(files.revoke())], client_ca=str(files.ca), **files.settings()) as server:
        assert _comes_in(server, known)
        assert not _comes_in(server, unknown)


@pytest.mark.parametrize("also", ["a certificate", "noise", "nothing"])
def test_a_file_of_lists_has_nothing_else(files: Files, also: str) -> None:
    """OpenSSL trusts each certificate that it finds there."""
    crl = files.revoke()
    if also == "a certificate":
        trustme.CA().cert_pem.write_to_path(crl, append=True)
    else:
        crl.write_text("" if also == "nothing" else "-----BEGIN X509 CRL-----\nAA==\n-----END X509 CRL-----\n")
    with (
        pytest.raises(ConfigError, match=r"http\.crl .*list\.pem"),
        served(None, crl=str(crl), client_ca=str(files.ca), **files.settings()),
    ):
        pass


class Device:
    """A client with a certificate."""

    def __init__(self, issued: trustme.LeafCert, files: Files) -> None:
        self.context = files.trusting()
        issued.configure_cert(self.context)
        self.serial = x509.load_pem_x509_certificate(issued.cert_chain_pems[0].bytes()).serial_number


def _device(files: Files, name: str) -> Device:
    return Device(files.authority.issue_cert(name), files)


def _come(server: HttpServer, device: Device) -> ssl.SSLSocket:
    plain = socket.create_connection(("127.0.0.1", port(server)), timeout=30)
    return device.context.wrap_socket(plain, server_hostname="localhost")


def _comes_in(server: HttpServer, device: Device) -> bool:
    """With TLS 1.3 a client hears after its handshake that it is refused."""
    try:
        with _come(server, device) as peer:
            return _asked(peer).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


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
        with pytest.raises(ConfigError, match="bytes, and 4194304 is the most"):
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
