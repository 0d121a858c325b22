"""Certificates that live as long as a test run: an authority, and a server's for localhost and 127.0.0.1."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path

import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


@dataclass(frozen=True)
class Certificates:
    """Files in PEM."""

    authority: Path
    chain: Path
    key: Path

    @classmethod
    def make(cls, folder: Path) -> Certificates:
        """New ones, in `folder`."""
        authority = trustme.CA()
        server = authority.issue_cert("localhost", "127.0.0.1", "::1")
        made = cls(folder / "ca.pem", folder / "server.pem", folder / "server.key")
        authority.cert_pem.write_to_path(str(made.authority))
        made.chain.write_bytes(b"".join(part.bytes() for part in server.cert_chain_pems))
        server.private_key_pem.write_to_path(str(made.key))
        return made

    def pin(self) -> str:
        """The hash of the server's public key, as browsers take it."""
        key = x509.load_pem_x509_certificate(self.chain.read_bytes()).public_key()
        public = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return base64.b64encode(hashlib.sha256(public).digest()).decode()
