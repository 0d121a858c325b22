"""What a local Kafka server is told: its ``server.properties``, as a pure function."""

from __future__ import annotations

import uuid
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_SCRAM = "SCRAM-SHA-512"


@dataclass(frozen=True)
class Ports:
    """Ports of one server on loopback; None: no such listener."""

    plain: int
    sasl: int | None = None
    sasl_tls: int | None = None
    tls: int | None = None


@dataclass(frozen=True)
class Seat:
    """A node's place in its cluster; every node is broker and controller.

    Attributes:
        node: Its number.
        controllers: Ports of all controllers on loopback, by node: its own, too.
        cluster: As `new_cluster` makes one; the same for all nodes.
    """

    node: int
    controllers: Mapping[int, int]
    cluster: str


def new_cluster() -> str:
    """The id of a cluster that there was not before."""
    return urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "a")


@dataclass(frozen=True)
class Guard:
    """Who may come in where somebody is asked who he is.

    Attributes:
        users: Name -> password, for the mechanisms PLAIN and SCRAM-SHA-512; what they may do is a matter of ACLs.
        keystore: Key (PKCS #8) and certificate in one PEM file: these listeners speak TLS; None: they do not.
        client_ca: The listener without passwords takes clients whose certificates these authorities have signed (PEM),
            and nobody else; None: it takes everybody.
    """

    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    keystore: Path | None = None
    client_ca: Path | None = None


def server_properties(
    data: Path, seat: Seat, ports: Ports, guard: Guard | None = None, more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The settings of one node.

    Args:
        data: Folder of its log.
        seat: Which node it is, and where the others are.
        ports: Where it listens.
        guard: Of the listeners for SASL and for TLS.
        more: Settings that go before these.
    """
    guard = guard or Guard()
    listeners = _listeners(ports, seat)
    urls = {name: f"{name}://127.0.0.1:{port}" for name, (port, _) in listeners.items()}
    properties = {
        "process.roles": "broker,controller",
        "node.id": str(seat.node),
        "controller.quorum.voters": ",".join(f"{node}@127.0.0.1:{port}" for node, port in seat.controllers.items()),
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "listeners": ",".join(urls.values()),
        "advertised.listeners": ",".join(url for name, url in urls.items() if name != "CONTROLLER"),
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, (_, protocol) in listeners.items()),
        "log.dirs": str(data),
        "num.network.threads": "2",
        "num.io.threads": "4",
        "group.initial.rebalance.delay.ms": "0",
        # After a crash the controller, itself, waits for so long before it lets the broker in again.
        "broker.session.timeout.ms": "2000",
        "broker.heartbeat.interval.ms": "300",
        **_own_topics(len(seat.controllers)),
    }
    return properties | _sasl_properties(guard.users) | _tls_properties(guard) | dict(more or {})


def _listeners(ports: Ports, seat: Seat) -> dict[str, tuple[int, str]]:
    """Port and protocol by a listener's name."""
    listeners = {"PLAINTEXT": (ports.plain, "PLAINTEXT"), "CONTROLLER": (seat.controllers[seat.node], "PLAINTEXT")}
    if ports.sasl is not None:
        listeners["USERS"] = (ports.sasl, "SASL_PLAINTEXT")
    if ports.sasl_tls is not None:
        listeners["USERSTLS"] = (ports.sasl_tls, "SASL_SSL")
    if ports.tls is not None:
        listeners["TLS"] = (ports.tls, "SSL")
    return listeners


def _own_topics(nodes: int) -> dict[str, str]:
    """Of Kafka's own topics: three copies are its default, and fewer nodes could not make them."""
    topics = ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")
    copies = {f"{topic}.replication.factor": str(min(nodes, 3)) for topic in topics}
    single = [f"{topic}.num.partitions" for topic in topics] + [f"{topic}.min.isr" for topic in topics[1:]]
    return copies | dict.fromkeys(single, "1")


def _sasl_properties(users: Mapping[str, str]) -> dict[str, str]:
    if not users:
        return {}
    known = " ".join(f'user_{name}="{password}"' for name, password in users.items())
    modules = "org.apache.kafka.common.security"
    logins: dict[str, str] = {}
    for listener in ("listener.name.users", "listener.name.userstls"):
        logins[f"{listener}.plain.sasl.jaas.config"] = f"{modules}.plain.PlainLoginModule required {known};"
        logins[f"{listener}.{_SCRAM.lower()}.sasl.jaas.config"] = f"{modules}.scram.ScramLoginModule required;"
    return {
        "sasl.enabled.mechanisms": f"PLAIN,{_SCRAM}",
        **logins,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        # The plain listener and the controller have no names; it is loopback, and tests need somebody in charge.
        "super.users": "User:ANONYMOUS",
        "allow.everyone.if.no.acl.found": "false",
    }


def _tls_properties(guard: Guard) -> dict[str, str]:
    properties: dict[str, str] = {}
    if guard.keystore is not None:
        properties |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(guard.keystore)}
    if guard.client_ca is not None:
        properties |= {
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(guard.client_ca),
            "listener.name.tls.ssl.client.auth": "required",
        }
    return properties


def scram_credentials(users: Mapping[str, str]) -> list[str]:
    """The users as arguments of Kafka's storage tool: SCRAM's are in the cluster's metadata, not in its settings."""
    words = [f"{_SCRAM}=[name={name},password={password}]" for name, password in users.items()]
    return [word for credential in words for word in ("--add-scram", credential)]


def as_text(properties: Mapping[str, str]) -> str:
    """As a properties file has it, which Java reads as Latin-1: backslashes doubled, other scripts escaped."""
    return "".join(f"{name}={_escaped(value)}\n" for name, value in properties.items())


def _escaped(value: str) -> str:
    doubled = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    units = doubled.encode("utf-16-be")
    codes = [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]
    return "".join(chr(code) if 0x20 <= code < 0x7F else f"\\u{code:04x}" for code in codes)
