"""One ``[[listeners]]`` table: where clients connect, what is spoken below MQTT, whom it takes.

Files (certificates, keys) are not opened here: the broker reads them when it starts and again when it is told to
reload, and names the one that is wrong.
"""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from lapwing.config.addresses import is_local, parse_listen_url, speaks_sn
from lapwing.config.http import parse_http_host
from lapwing.config.limits import PACKET_BYTES_MAX
from lapwing.config.listener_fit import ONLY_SN, unfit
from lapwing.config.predefined import PredefinedTopic
from lapwing.config.revocation import RevocationLists
from lapwing.config.several import refuse_all
from lapwing.config.units import Duration, Seconds, Size
from lapwing.host_port import join_host_port, split_host_port

_U32 = 2**32 - 1

_ORIGIN = re.compile(r"\*|[Nn][Uu][Ll][Ll]|[A-Za-z][A-Za-z0-9+.-]*://[^/?#@\s]+")


def parse_network(text: str) -> str:
    """A range of addresses in CIDR notation, or one address.

    Raises:
        ValueError: neither of them.
    """
    try:
        ip_network(text, strict=False)
    except ValueError:
        raise ValueError('must be a network such as "10.0.0.0/8", or one IP address') from None
    return text


def parse_origin(text: str) -> str:
    """What a browser sends as ``Origin``: scheme and authority, or ``*``.

    Raises:
        ValueError: something else, such as a whole address.
    """
    if not _ORIGIN.fullmatch(text):
        raise ValueError('must be an origin without a path, as in "https://dash.example", or "*"')
    return text


def parse_web_path(text: str) -> str:
    """The path of a WebSocket.

    Raises:
        ValueError: does not begin with a slash, or has a query.
    """
    if not re.fullmatch(r"/[^\s?#]*", text):
        raise ValueError('must begin with "/" and have neither blanks nor a query, as in "/mqtt"')
    return text


def parse_mode(text: str) -> str:
    """Permission bits in octal.

    Raises:
        ValueError: anything else.
    """
    if not re.fullmatch(r"0?[0-7]{3}", text):
        raise ValueError('must be permission bits in octal, as in "0660"')
    return text


def parse_socket_address(text: str) -> str:
    """An IP address with a port, as in ``239.1.1.1:1884`` or ``[ff02::1]:1884``.

    Raises:
        ValueError: anything else; names are not resolved.
    """
    host, port = split_host_port(text)
    try:
        zone = getattr(ip_address(host), "scope_id", None)
    except ValueError:
        zone = ""
    if zone is not None and not re.fullmatch("[0-9]+", zone):  # the node is told numbers of interfaces, and no names
        raise ValueError('must be an IP address with a port, as in "239.1.1.1:1884"')
    return join_host_port(host, port)


class ListenerConfig(BaseModel):
    """Where clients connect, what is spoken below MQTT, and whom it takes.

    There may be several, each with its own limits. ``broker.listen`` is the short form for listeners that have
    nothing but an address.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Annotated[str, AfterValidator(parse_listen_url)]
    """tcp://, tls://, ws://, wss://, sn://, sns:// with HOST:PORT (port 0: any free one), or unix:///PATH; required."""

    certificate: Path | None = None
    """tls, wss: the certificate and those between it and the root, a PEM file; read again on SIGHUP."""

    key: Path | None = None
    """tls, wss: the private key of the certificate, a PEM file without pass phrase; read again on SIGHUP."""

    client_ca: Path | None = None
    """tls, wss: the authorities that sign client certificates, a PEM file; read again on SIGHUP."""

    crl: RevocationLists = []
    """tls, wss: revocation lists (CRL) of those authorities, a PEM file or several; read again on SIGHUP."""

    client_certificate: Literal["none", "optional", "required"] = "none"
    """tls, wss: whether clients show a certificate."""

    psk: Path | None = None
    """sns: pre-shared keys, a file of lines IDENTITY:KEY, in hexadecimal: who has one is the user of that name; read
    again on SIGHUP."""

    identity: Literal["password", "certificate-cn", "certificate-san"] = "password"
    """What tells who a client is: user name and password, or a name in its certificate."""

    path: Annotated[str, AfterValidator(parse_web_path)] | None = None
    """ws, wss: the path of the upgrade; absent: that in the URL, else "/mqtt"."""

    origins: list[Annotated[str, AfterValidator(parse_origin)]] = Field(default=[], max_length=256)
    """ws, wss: origins of pages that may connect, beside those of the same host; "*" lets all."""

    hosts: list[Annotated[str, AfterValidator(parse_http_host)]] = Field(default=[], max_length=256)
    """ws, wss: names of this listener, beside that in the URL, as pages of the same host may call it where whoever
    connects is let in; "*": any name."""

    proxy_protocol_from: list[Annotated[str, AfterValidator(parse_network)]] = Field(default=[], max_length=256)
    """Networks of proxies: a connection from there must begin with a PROXY header (version 1 or 2)."""

    behind_proxy: bool = False
    """Clients come through a proxy or load balancer that does not say so: their distance is measured by probes."""

    anonymous: bool | None = None
    """Whether clients may come without naming themselves; absent: only where no other machine can connect."""

    connections_max: int = Field(default=0, ge=0, le=_U32)
    """Connections of this listener; 0: only limits.connections_max counts, of MQTT-SN half of it."""

    connects_per_address_per_s: int = Field(default=0, ge=0, le=1_000_000)
    """Connections that one address (of IPv6: one /64) may open each second; 0: any number."""

    packet_bytes_max: Annotated[Size, Field(ge=64, le=PACKET_BYTES_MAX)] | None = None
    """Largest packet a client of this listener may send; absent: limits.packet_bytes_max."""

    durability: Literal["disk", "memory"] | None = None
    """Where sessions that begin here are kept, to their end; absent: as broker.durability says."""

    mode: Annotated[str, AfterValidator(parse_mode)] | None = None
    """unix: permission bits of the socket, in octal; absent: "0660"."""

    gateway_id: int = Field(default=1, ge=0, le=255)
    """sn: GwId, by which clients tell gateways apart."""

    datagram_bytes_max: Annotated[Size, Field(ge=64, le=65_507)] = 1232
    """sn: largest datagram, either way; a message that needs a larger one is dropped and counted."""

    retry: Annotated[Duration, Field(ge=1)] = 10_000
    """sn: how long an answer is waited for before a message goes again (T_retry)."""

    retries_max: int = Field(default=3, ge=0, le=1000)
    """sn: how often a message goes again before its client is lost (N_retry)."""

    registrations_max: int = Field(default=256, ge=1, le=65_534)
    """sn: topics that one client may have ids for."""

    waiting_messages_max: int = Field(default=100, ge=1, le=1_000_000)
    """sn: QoS 0 messages that wait for one client while it sleeps; those of QoS 1 and 2 wait in its session."""

    wills_kept_max: int = Field(default=1000, ge=1, le=1_000_000)
    """sn: wills of clients that are gone while their sessions stay, for when they come back; the oldest goes first."""

    datagrams_per_turn_max: int = Field(default=256, ge=1, le=1_000_000)
    """sn: datagrams of one address that are taken up at a time; what comes beyond is dropped and counted."""

    publish_without_connect: Annotated[list[str], Field(max_length=1024)] | None = None
    """sn: topic filters that whoever sends to this listener may publish to without a connection (QoS -1); absent: all
    topics where no other machine can send, else none."""

    predefined: list[PredefinedTopic] = Field(default=[], max_length=65_534)
    """sn: topic ids that clients know beforehand: `{ id = 1, topic = "a/b" }`, for one client with `client = "ID"`."""

    advertise_to: Annotated[str, AfterValidator(parse_socket_address)] | None = None
    """sn: where ADVERTISE goes, an address of broadcast or multicast with a port; absent: nowhere."""

    advertise_every: Annotated[Seconds, Field(ge=1, le=65_535)] = 900
    """sn: how often ADVERTISE goes."""

    @model_validator(mode="after")
    def _fits_its_scheme(self) -> ListenerConfig:
        refuse_all(self, unfit(self))
        return self

    @property
    def takes_anonymous(self) -> bool:
        """Whether clients may come without naming themselves."""
        return is_local(self.url) if self.anonymous is None else self.anonymous


_NODE_NAMES = {"retry": "retry_ms", "advertise_every": "advertise_interval_s"}


def node_table(listener: ListenerConfig) -> dict[str, object]:
    """A listener as the node has it: what only MQTT-SN has is a table of its own there."""
    table = listener.model_dump(mode="json", exclude_none=True)
    own = {_NODE_NAMES.get(key, key): table.pop(key) for key in ONLY_SN if key in table}
    return {**table, "sn": own} if speaks_sn(listener.url) else table
