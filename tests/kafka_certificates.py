"""Certificates as Kafka and its clients take them: PEM with keys in PKCS #8."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

KEY_PASSWORD = "open-sesame"


@dataclass(frozen=True)
class KafkaCertificates:
    """Files in PEM, made for one test run.

    Attributes:
        ca: The authority of all of them.
        other_ca: One that has signed nothing here.
        keystore: The server's key and certificate, for 127.0.0.1 and no other name.
        client: A client's certificate.
        client_key: Its key, which `KEY_PASSWORD` opens.
        client_keystore: Both in one file, the key open: as a Java client takes them.
    """

    ca: Path
    other_ca: Path
    keystore: Path
    client: Path
    client_key: Path
    client_keystore: Path

    @classmethod
    def make(cls, folder: Path, *, name: str = "127.0.0.1") -> KafkaCertificates:
        """New ones, in `folder`; the server's is for `name`."""
        authority = trustme.CA()
        made = cls.of(folder)
        authority.cert_pem.write_to_path(str(made.ca))
        trustme.CA().cert_pem.write_to_path(str(made.other_ca))
        made.keystore.write_bytes(_both(authority.issue_cert(name)))
        client = authority.issue_cert("bridge.example")
        made.client.write_bytes(_chain(client))
        made.client_key.write_bytes(_key(client, BestAvailableEncryption(KEY_PASSWORD.encode())))
        made.client_keystore.write_bytes(_both(client))
        return made

    @classmethod
    def of(cls, folder: Path) -> KafkaCertificates:
        """Those that `make` made there."""
        names = ("ca.pem", "other-ca.pem", "server.pem", "client.pem", "client.key", "client-both.pem")
        return cls(*(folder / each for each in names))


def _both(certificate: trustme.LeafCert) -> bytes:
    return _key(certificate, NoEncryption()) + _chain(certificate)


def _chain(certificate: trustme.LeafCert) -> bytes:
    return b"".join(part.bytes() for part in certificate.cert_chain_pems)


def _key(certificate: trustme.LeafCert, lock: KeySerializationEncryption) -> bytes:
    key = load_pem_private_key(certificate.private_key_pem.bytes(), None)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock)
