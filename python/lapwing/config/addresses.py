"""Where the broker may listen: loopback only, until listeners know who they talk to.

Neither MQTT nor HTTP has authentication yet, so an address that another machine can reach is refused here,
in one place, before any socket is opened.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

_PORT_LARGEST = 65_535


def parse_listen_url(url: str) -> str:
    """``tcp://HOST:PORT``, checked; port 0 lets the system choose.

    Raises:
        ValueError: another scheme, no port, or an address beyond loopback.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in ("tcp", "mqtt"):
        raise ValueError('must be a URL of the form "tcp://HOST:PORT", as in "tcp://127.0.0.1:1883"')
    host, port = split_host_port(rest.rstrip("/"))
    if not is_loopback(host):
        raise ValueError(
            "no open listener beyond loopback without authentication: listen on 127.0.0.1, [::1] or localhost"
        )
    return f"tcp://{join_host_port(host, port)}"


def parse_http_address(address: str) -> str | None:
    """``HOST:PORT``, checked; ``"off"`` or nothing means no HTTP at all (None).

    Raises:
        ValueError: not HOST:PORT.
    """
    if address in ("", "off"):
        return None
    host, port = split_host_port(address.removeprefix("http://").removeprefix("https://").rstrip("/"))
    return join_host_port(host, port)


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
    if not host or port is None or parts.path or parts.query or parts.username is not None:
        raise ValueError(f'must be HOST:PORT (0..{_PORT_LARGEST}), as in "127.0.0.1:1883" or "[::1]:1883"')
    return host, port


def join_host_port(host: str, port: int) -> str:
    """The inverse of ``split_host_port``; brackets around IPv6."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_loopback(host: str) -> bool:
    """True for 127.0.0.0/8, ::1 and ``localhost``; other names are not resolved: their meaning can change."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
