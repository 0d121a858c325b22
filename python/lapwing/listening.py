"""Sockets at every address that a ``HOST:PORT`` stands for, as listeners of MQTT do it (``crates/transport``).

A client that tries another one of them would meet nobody, or somebody else.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Sequence
from typing import NamedTuple

from lapwing.host_port import join_host_port, split_host_port

_ANY_PORT_TRIES = 16
"""How often a port is looked for that is free at every address of a host."""
_NOT_HERE = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})
"""This machine has no such address: a name stands for one of IPv6 where that is switched off, for example."""


class Address(NamedTuple):
    """One address that a host stands for; IPv6 with its scope.

    Attributes:
        family: IPv4 or IPv6.
        target: What a socket of this family is bound to; its port may be 0.
    """

    family: socket.AddressFamily
    target: tuple[str, int] | tuple[str, int, int, int]

    def at(self, port: int) -> Address:
        """The same with another port."""
        host, _, *scope = self.target
        return Address(self.family, (host, port, *scope))  # type: ignore[arg-type]


def addresses_of(host: str, port: int) -> list[Address]:
    """Every address of ``host``, each once.

    ``localhost`` is both of loopback, whatever the resolver knows (RFC 6761, 6.3).

    Raises:
        OSError: the host stands for none.
    """
    is_localhost = host.lower().rstrip(".") == "localhost"
    found: list[Address] = []
    try:
        for family, _, _, _, target in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE):
            found.append(Address(family, target))  # type: ignore[arg-type]
    except OSError:
        if not is_localhost:
            raise
    if is_localhost:
        found.append(Address(socket.AF_INET, ("127.0.0.1", port)))
        found.append(Address(socket.AF_INET6, ("::1", port, 0, 0)))
    return list(dict.fromkeys(found))


def bind_every(address: str, prepare: Callable[[socket.socket], None] = lambda _: None) -> list[socket.socket]:
    """Sockets bound, and not listening yet, at every address of ``HOST:PORT`` that this machine has, all at one port.

    Args:
        address: Port 0 lets the system choose.
        prepare: Sets what belongs to each socket before it is bound.

    Raises:
        OSError: an address cannot be bound, or there is none.
    """
    addresses = addresses_of(*split_host_port(address))
    for attempt in range(1, _ANY_PORT_TRIES + 1):
        try:
            return _bind_each(addresses, prepare)
        except OSError as error:
            # The port that the system chose for the first address may be taken at another one.
            is_any_port = len(addresses) > 1 and addresses[0].target[1] == 0
            if error.errno != errno.EADDRINUSE or not is_any_port or attempt == _ANY_PORT_TRIES:
                raise
    raise AssertionError("unreachable")  # the last attempt returns or raises


def shown_address(address: str, bound: Sequence[socket.socket]) -> str:
    """``HOST:PORT`` for a client, with the real port: the name where there are several addresses, else the address."""
    host, port = bound[0].getsockname()[:2]
    return join_host_port(split_host_port(address)[0] if len(bound) > 1 else host, port)


def _bind_each(addresses: Sequence[Address], prepare: Callable[[socket.socket], None]) -> list[socket.socket]:
    bound: list[socket.socket] = []
    missing = OSError(errno.EADDRNOTAVAIL, "the host stands for no address of this machine")
    try:
        for address in addresses:
            port = bound[0].getsockname()[1] if bound else address.target[1]
            try:
                bound.append(_bind_one(address.at(port), prepare))
            except OSError as error:
                if error.errno not in _NOT_HERE:
                    raise
                missing = error
    except OSError:
        close_all(bound)
        raise
    if not bound:
        raise missing
    return bound


def _bind_one(address: Address, prepare: Callable[[socket.socket], None]) -> socket.socket:
    made = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        prepare(made)
        made.bind(address.target)
    except OSError:
        made.close()
        raise
    return made


def close_all(sockets: Sequence[socket.socket]) -> None:
    """Closes each of them."""
    for one in sockets:
        one.close()
