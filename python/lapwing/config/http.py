"""The table ``[http]``, and whether HTTP may be offered where ``broker.http`` says.

Beyond loopback it needs identities and TLS: streams hold what devices say, and a password in the clear is everybody's.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from lapwing.config.addresses import is_loopback
from lapwing.config.off import OptionalFile
from lapwing.config.revocation import RevocationLists
from lapwing.config.units import Duration
from lapwing.host_port import split_host_port


def parse_http_host(text: str) -> str:
    """A name or address as it stands in ``Host``, without a port: in lower case, IPv6 without brackets; or ``*``.

    Raises:
        ValueError: something else, such as a whole URL.
    """
    name = text.lower()
    try:
        return str(ip_address(name.removeprefix("[").removesuffix("]")))
    except ValueError:
        pass
    if name != "*" and not _HOST.fullmatch(name):
        raise ValueError('must be a name or address without scheme and port, as in "broker.example", or "*"')
    return name


_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")


class HttpSection(BaseModel):
    """The HTTP listener: its limits, and its TLS."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    certificate: OptionalFile = None
    """Certificate with its chain, in PEM: HTTPS in place of HTTP. Read again at SIGHUP, with those below."""

    key: OptionalFile = None
    """Its private key, in PEM, not encrypted; off: it is in the certificate's file."""

    client_ca: OptionalFile = None
    """Authorities, in PEM: clients must show a certificate of theirs, beside a user or token."""

    crl: RevocationLists = []
    """Revocation lists (CRL) of those authorities, a PEM file or several; read again at SIGHUP."""

    plain: bool = False
    """Allow HTTP without TLS beyond loopback: something in front of it must encrypt."""

    hosts: list[Annotated[str, AfterValidator(parse_http_host)]] = Field(default=[], max_length=256)
    """Names that requests may call this listener by in Host, beside those of loopback on loopback and the addresses it
    is bound to; others are answered 421. "*": any name, where something in front looks at it."""

    open: bool = False
    """Without auth.users, where hooks or client certificates guard MQTT: true lets everybody who can connect do
    everything over HTTP, false leaves health and metrics."""

    failures_max: int = Field(default=20, ge=1, le=65_535)
    """Failed attempts of one address within a minute; after that its credentials are answered 429 unseen, but for those
    that were right from there."""

    connections_max: int = Field(default=256, ge=1, le=65_536)
    """Connections; where all are taken, those that ask for or take nothing make room. Eight more are for /healthz and
    /readyz."""

    reads_max: int = Field(default=8, ge=1, le=1_024)
    """Stream reads at one time, each at most 64 MiB in memory; more are answered 503 with Retry-After."""

    reads_per_identity_max: int = Field(default=6, ge=1, le=1_024)
    """Stream reads of one identity at one time, so that others have some; more are answered 503 with Retry-After."""

    read_timeout: Duration = Field(default=300_000, ge=100, serialization_alias="read_timeout_ms")
    """A stream read that is not taken whole within this is cut off: a slow reader asks for fewer `bytes`."""

    write_timeout: Duration = Field(default=30_000, ge=100, serialization_alias="write_timeout_ms")
    """Who takes less than 256 KiB of an answer in this time, and not all that is left, is cut off."""

    keep_alive: Duration = Field(default=15_000, ge=1_000, serialization_alias="keep_alive_ms")
    """A connection that sends no whole request, or has not shaken hands, for this long is closed."""

    @model_validator(mode="after")
    def _files_belong_together(self) -> Self:
        if self.certificate is None and (self.key or self.client_ca):
            raise ValueError("key and client_ca need a certificate: give certificate too")
        if self.client_ca is None and self.crl:
            raise ValueError("crl is set but no certificate is asked for: set client_ca")
        return self


def is_open(address: str | None) -> bool:
    """Whether other machines can reach that HTTP address."""
    return address is not None and not is_loopback(split_host_port(address)[0])


def http_problem(address: str | None, http: HttpSection, *, knows_somebody: bool) -> str:
    """What is missing for HTTP at that address; empty: nothing."""
    if not is_open(address):
        return ""
    if not knows_somebody:
        return (
            "no HTTP beyond loopback without users: set auth.users (or auth.jwt, auth.http), or use 127.0.0.1, [::1] or"
            " localhost"
        )
    if http.certificate is None and not http.plain:
        return (
            "no HTTP beyond loopback without TLS: set http.certificate and http.key, or http.plain = true where"
            " something in front encrypts"
        )
    return ""
