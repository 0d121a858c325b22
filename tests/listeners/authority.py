"""Certificates made for one test: an authority, the files of a server, what its clients need."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

import trustme


@dataclass(frozen=True)
class Authority:
    """An authority of this test's own, with the files of a server."""

    ca: trustme.CA
    folder: Path

    @property
    def listener(self) -> dict[str, object]:
        """The keys of a listener with TLS."""
        return {"certificate": str(self.folder / "server.pem"), "key": str(self.folder / "server.key")}

    @property
    def ca_file(self) -> str:
        return str(self.folder / "ca.pem")

    def renew(self, ca: trustme.CA | None = None) -> None:
        """Writes a new certificate of the server, with a new key."""
        issued = (ca or self.ca).issue_cert("localhost", "127.0.0.1", common_name="broker")
        chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
        (self.folder / "server.pem").write_bytes(chain)
        (self.folder / "server.key").write_bytes(issued.private_key_pem.bytes())

    def client(self, name: str | None = None, *, san: str = "client.example") -> ssl.SSLContext:
        """What a client needs that trusts this authority, with a certificate if it has a name."""
        context = ssl.create_default_context()
        self.ca.configure_trust(context)
        if name is not None:
            self.ca.issue_cert(san, common_name=name).configure_cert(context)
        return context


def make_authority(folder: Path) -> Authority:
    """An authority with its files in `folder`."""
    folder.mkdir(exist_ok=True)
    authority = Authority(trustme.CA(), folder)
    (folder / "ca.pem").write_bytes(authority.ca.cert_pem.bytes())
    authority.renew()
    return authority
