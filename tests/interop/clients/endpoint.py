"""Where a client connects to, and as whom."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SCHEMES = ("tcp", "tls", "ws", "wss")


@dataclass(frozen=True)
class Endpoint:
    """A listener of the broker. The host is a name, because not every client checks a certificate's addresses."""

    scheme: str
    port: int
    ca: Path | None = None
    user: str | None = None
    password: str | None = None
    host: str = "localhost"
    path: str = "/mqtt"

    @property
    def url(self) -> str:
        """`tcp://localhost:1883`, `wss://localhost:8443/mqtt`."""
        path = self.path if self.scheme in ("ws", "wss") else ""
        return f"{self.scheme}://{self.host}:{self.port}{path}"


Endpoints = dict[str, Endpoint]
"""The broker's listeners by scheme."""
