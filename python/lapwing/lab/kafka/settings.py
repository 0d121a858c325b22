"""What a local Kafka server is told: its ``server.properties``, as a pure function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ports:
    """Ports of one server on loopback."""

    plain: int
    controller: int
    sasl: int | None = None


@dataclass(frozen=True)
class Sasl:
    """A second listener, for users with passwords.

    Attributes:
        users: Name -> password, for the mechanism PLAIN.
        keystore: Key and certificate in one PEM file: the listener speaks TLS; None: it does not.
    """

    users: Mapping[str, str]
    keystore: Path | None = None

    @property
    def protocol(self) -> str:
        """As Kafka names it."""
        return "SASL_PLAINTEXT" if self.keystore is None else "SASL_SSL"


def server_properties(
    data: Path, ports: Ports, sasl: Sasl | None = None, more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The settings of one node that is broker and controller.

    Args:
        data: Folder of its log.
        ports: Where it listens.
        sasl: The second listener; whoever comes through it may do what an ACL permits, and nothing else.
        more: Settings that go before these.
    """
    listeners = {"PLAINTEXT": ports.plain, "CONTROLLER": ports.controller}
    if sasl is not None and ports.sasl is not None:
        listeners["USERS"] = ports.sasl
    urls = {name: f"{name}://127.0.0.1:{port}" for name, port in listeners.items()}
    properties = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{ports.controller}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "listeners": ",".join(urls.values()),
        "advertised.listeners": ",".join(url for name, url in urls.items() if name != "CONTROLLER"),
        "listener.security.protocol.map": ",".join(
            f"{name}:{sasl.protocol if sasl is not None and name == 'USERS' else 'PLAINTEXT'}" for name in listeners
        ),
        "log.dirs": str(data),
        "num.network.threads": "2",
        "num.io.threads": "4",
        "group.initial.rebalance.delay.ms": "0",
        # After a crash the controller, itself, waits for so long before it lets the broker in again.
        "broker.session.timeout.ms": "2000",
        "broker.heartbeat.interval.ms": "300",
        **_ONE_NODE,
    }
    if sasl is not None:
        properties |= _sasl_properties(sasl)
    return properties | dict(more or {})


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


def _sasl_properties(sasl: Sasl) -> dict[str, str]:
    users = " ".join(f'user_{name}="{password}"' for name, password in sasl.users.items())
    listener = "listener.name.users"
    properties = {
        "sasl.enabled.mechanisms": "PLAIN",
        f"{listener}.plain.sasl.jaas.config": (
            f"org.apache.kafka.common.security.plain.PlainLoginModule required {users};"
        ),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        # The plain listener and the controller have no names; it is loopback, and tests need somebody in charge.
        "super.users": "User:ANONYMOUS",
        "allow.everyone.if.no.acl.found": "false",
    }
    if sasl.keystore is not None:
        properties |= {
            f"{listener}.ssl.keystore.type": "PEM",
            f"{listener}.ssl.keystore.location": str(sasl.keystore),
        }
    return properties


def as_text(properties: Mapping[str, str]) -> str:
    """As a properties file has it: backslashes doubled."""
    return "".join(f"{name}={value.replace(chr(92), chr(92) * 2)}\n" for name, value in properties.items())
