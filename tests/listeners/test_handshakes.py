"""Handshakes of TLS as clients meet them: coming back, keys that are dear, certificates that were taken back."""

from __future__ import annotations

import datetime
import ssl
from pathlib import Path

import pytest
import wire
from authority import Authority
from carriers import SecureWebWire, StreamWire, greet, tcp, tls
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from wire import until

import lapwing
from lapwing.errors import ConfigError

REFUSED = 'lapwing_handshakes_refused_total{limit="handshakes_per_address_max"}'
RESUMED = 'lapwing_handshakes_total{kind="resumed"}'


def revoke(authority: Authority, *certificates: x509.Certificate, days: int = 30) -> str:
    """Writes the authority's list of what it has revoked; its file."""
    ca = x509.load_pem_x509_certificate(authority.ca.cert_pem.bytes())
    key = serialization.load_pem_private_key(authority.ca.private_key_pem.bytes(), None)
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateRevocationListBuilder(ca.subject)
    builder = builder.last_update(now - datetime.timedelta(days=60)).next_update(now + datetime.timedelta(days=days))
    # What RFC 5280 asks of every list (5.2.1, 5.2.3), and rustls too.
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())  # type: ignore[arg-type]
    builder = builder.add_extension(issuer, critical=False).add_extension(x509.CRLNumber(1), critical=False)
    for certificate in certificates:
        entry = x509.RevokedCertificateBuilder(certificate.serial_number, now)
        builder = builder.add_revoked_certificate(entry.build())
    file = authority.folder / "list.pem"
    signed = builder.sign(key, hashes.SHA256())  # type: ignore[arg-type]
    file.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    return str(file)


def device(authority: Authority, name: str) -> tuple[x509.Certificate, ssl.SSLContext]:
    """A client's certificate, and what that client needs."""
    issued = authority.ca.issue_cert(f"{name}.example", common_name=name)
    context = authority.client()
    issued.configure_cert(context)
    return x509.load_pem_x509_certificate(issued.cert_chain_pems[0].bytes()), context


@pytest.mark.parametrize("asks", ["none", "optional"])
def test_a_client_comes_back(authority, asks):
    """Does OpenSSL resume its session, and not where certificates count?"""
    settings = {} if asks == "none" else {"client_ca": authority.ca_file, "client_certificate": asks}
    listener = {"url": "tls://127.0.0.1:0", **authority.listener, **settings}
    context = authority.client()
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # here it has its session at once, not with a later record
    with lapwing.Broker(listeners=[listener], shards=1) as broker:
        first = tls(broker.url, context)
        session = first.session
        first.close()
        again = context.wrap_socket(tcp(broker.url), server_hostname="localhost", session=session)
        with StreamWire(again) as client:
            assert greet(client, "c").reason == 0
            assert again.session_reused is (asks == "none")
        assert broker.metrics()[RESUMED] == (asks == "none")


def test_half_handshakes_give_way(authority):
    """Does the oldest of those that are too many go for a client, a WebSocket's as well, and is it told?"""
    listener = {"url": "wss://127.0.0.1:0/mqtt", **authority.listener}
    with lapwing.Broker(listeners=[listener], shards=1, limits={"handshakes_per_address_max": 2}) as broker:
        with StreamWire(tcp(broker.url)) as oldest, StreamWire(tcp(broker.url)):
            until(lambda: broker.metrics()["lapwing_handshakes_open"] == 2)
            with SecureWebWire(broker.url, authority.client()) as client:
                assert greet(client, "c").reason == 0
            oldest.expect_end()
            assert broker.metrics()[REFUSED] == 1
            assert any("handshakes_per_address_max = 2" in line for line in broker.notices())
        until(lambda: broker.metrics()["lapwing_handshakes_open"] == 0)


def test_a_dear_key_is_named(authority):
    """Is an RSA key of 4096 bits told at the start, with its file, and a smaller one not?"""
    for bits, is_told in ((2048, False), (4096, True)):
        key = rsa.generate_private_key(65537, bits)
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
        now = datetime.datetime.now(datetime.UTC)
        builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        signed = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(1)).sign(key, hashes.SHA256())
        (authority.folder / "server.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
        file = Path(str(authority.listener["key"]))
        file.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
        with lapwing.Broker(listeners=[{"url": "tls://127.0.0.1:0", **authority.listener}], shards=1) as broker:
            told = [line for line in broker.notices() if "RSA of 4096 bits" in line and str(file) in line]
            assert bool(told) is is_told


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("several", [False, True])
def test_who_is_revoked_is_sent_away(authority, version, several):
    """Does a connection end when its certificate is on the list that is read again, and nobody else's?"""
    (_, one), (taken_back, two) = device(authority, "one"), device(authority, "two")
    crl = revoke(authority)
    listener = {
        "url": "tls://127.0.0.1:0",
        **authority.listener,
        "client_ca": authority.ca_file,
        "client_certificate": "required",
        "identity": "certificate-cn",
        "crl": [crl] if several else crl,
    }
    with lapwing.Broker(listeners=[listener], shards=2) as broker:
        clients = [StreamWire(tls(broker.url, context), version) for context in (one, two)]
        for number, client in enumerate(clients):
            assert greet(client, f"c{number}").reason == 0
        revoke(authority, taken_back)
        assert broker.reload() == 1
        if version == 5:
            assert clients[1].expect(wire.DISCONNECT).reason == 0x87
        clients[1].expect_end()
        assert broker.metrics()['lapwing_certificates_lapsed_total{reason="revoked"}'] == 1
        clients[0].send(wire.PING)
        clients[0].expect(wire.PINGRESP)
        revoke(authority, days=-1)
        with pytest.raises(ConfigError, match=r"list\.pem.*was to be replaced"):
            broker.reload()
        for client in clients:
            client.close()
