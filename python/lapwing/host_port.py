"""``HOST:PORT`` in two parts and back; a module of its own, so that commands need not load the configuration for it."""

from __future__ import annotations

from urllib.parse import urlsplit

_PORT_LARGEST = 65_535


def split_host_port(address: str) -> tuple[str, int]:
    """``"127.0.0.1:1883"`` or ``"[::1]:1883"`` -> host and port.

    Raises:
        ValueError: a part is missing, or the port is not 0..65535.
    """
    try:
        parts = urlsplit(f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not is_host(host) or port is None or parts.path or parts.query or parts.username is not None:
        raise ValueError(f'must be HOST:PORT (0..{_PORT_LARGEST}), as in "127.0.0.1:1883" or "[::1]:1883"')
    return host, port


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
