"""``HOST:PORT`` in two parts and back; a module of its own, so that commands need not load the configuration for it."""

from __future__ import annotations

import re
from ipaddress import IPv6Address

_PORT_LARGEST = 65_535
_ADDRESS = re.compile(r"(?:\[(?P<ipv6>[^\[\]]+)\]|(?P<name>[^\[\]:/?#@\\]+)):(?P<port>[0-9]{1,5})")


def split_host_port(address: str) -> tuple[str, int]:
    """``"127.0.0.1:1883"`` or ``"[::1]:1883"`` -> host, a name in lower case, and port.

    Raises:
        ValueError: a part is missing or is none, or the port is not 0..65535.
    """
    match = _ADDRESS.fullmatch(address)
    if match is not None and int(match["port"]) <= _PORT_LARGEST:
        host = match["ipv6"] or match["name"].lower()
        if _is_ipv6(host) if match["ipv6"] else is_host(host):
            return host, int(match["port"])
    raise ValueError(f'must be HOST:PORT (0..{_PORT_LARGEST}), as in "127.0.0.1:1883" or "[::1]:1883"')


def _is_ipv6(host: str) -> bool:
    """With a zone behind ``%``, or without one."""
    try:
        IPv6Address(host)
    except ValueError:
        return False
    return host.isprintable() and " " not in host


def is_host(host: str) -> bool:
    """Whether it can be the name or the address of a machine.

    What cannot (an empty label, one of more than 63 characters, a blank) is no unknown name to who looks it up, but an
    error of another kind.
    """
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return all(character.isprintable() and not character.isspace() for character in host)


def join_host_port(host: str, port: int) -> str:
    """The inverse of ``split_host_port``; brackets around IPv6."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
