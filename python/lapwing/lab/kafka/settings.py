"""What a local Kafka server is told: its ``server.properties``, as a pure function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_SCRAM = "SCRAM-SHA-512"


@dataclass(frozen=True)
class Ports:
    """Ports of one server on loopback; None: no such listener."""

    plain: int
    controller: int
    sasl: int | None = None
    tls: int | None = None


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
    data: Path, ports: Ports, guard: Guard | None = None, more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The settings of one node that is broker and controller.

    Args:
        data: Folder of its log.
        ports: Where it listens.
        guard: Of the listeners for SASL and for TLS.
        more: Settings that go before these.
    """
    guard = guard or Guard()
    listeners = {"PLAINTEXT": (ports.plain, "PLAINTEXT"), "CONTROLLER": (ports.controller, "PLAINTEXT")}
    if ports.sasl is not None:
        listeners["USERS"] = (ports.sasl, "SASL_PLAINTEXT" if guard.keystore is None else "SASL_SSL")
    if ports.tls is not None:
        listeners["TLS"] = (ports.tls, "SSL")
    urls = {name: f"{name}://127.0.0.1:{port}" for name, (port, _) in listeners.items()}
    properties = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{ports.controller}",
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
        **_ONE_NODE,
    }
    return properties | _sasl_properties(guard.users) | _tls_properties(guard) | dict(more or {})


_ONE_NODE = dict.fromkeys(
    (
        "offsets.topic.num.partitions",
        "offsets.topic.replication.factor",
        "transaction.state.log.num.partitions",
        "transaction.state.log.replication.factor",
        "transaction.state.log.min.isr",
        "share.coordinator.state.topic.num.partitions",
        "share.coordinator.state.topic.replication.factor",
        "share.coordinator.state.topic.min.isr",
    ),
    "1",
)
"""Kafka's own topics: three copies are its default, and one node could not make them."""


def _sasl_properties(users: Mapping[str, str]) -> dict[str, str]:
    if not users:
        return {}
    known = " ".join(f'user_{name}="{password}"' for name, password in users.items())
    modules, listener = "org.apache.kafka.common.security", "listener.name.users"
    return {
        "sasl.enabled.mechanisms": f"PLAIN,{_SCRAM}",
        f"{listener}.plain.sasl.jaas.config": f"{modules}.plain.PlainLoginModule required {known};",
        f"{listener}.{_SCRAM.lower()}.sasl.jaas.config": f"{modules}.scram.ScramLoginModule required;",
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
    """As a properties file has it: backslashes doubled."""
    return "".join(f"{name}={value.replace(chr(92), chr(92) * 2)}\n" for name, value in properties.items())
