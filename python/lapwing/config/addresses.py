"""How listeners are named, ``tcp://HOST:PORT``, ``wss://HOST:PORT/PATH``, ``unix:///PATH``; and HTTP's ``HOST:PORT``.

Who may come in where other machines can reach it is not decided here: see ``lapwing.config.openness`` for MQTT and
``lapwing.config.http`` for HTTP.
"""

from __future__ import annotations

from ipaddress import ip_address

from lapwing.host_port import join_host_port, split_host_port

_SCHEMES = {
    "tcp": "tcp", "mqtt": "tcp", "tls": "tls", "mqtts": "tls", "ssl": "tls", "ws": "ws", "wss": "wss",
    "sn": "sn", "mqtt-sn": "sn", "sns": "sns", "mqtt-sns": "sns",
}  # fmt: skip
_FORM = (
    'must be a URL of the form "tcp://HOST:PORT", as in "tcp://127.0.0.1:1883", with tcp, tls, ws, wss, sn, sns or unix'
)


def parse_listen_url(url: str) -> str:
    """A listener's URL, checked, with one name for each scheme; port 0 lets the system choose.

    Raises:
        ValueError: another scheme, no port, a path where none belongs.
    """
    scheme, separator, rest = url.partition("://")
    if separator and scheme == "unix":
        if not rest.startswith("/") or rest.endswith("/") or "\0" in rest:
            raise ValueError('must name the whole path of the socket, as in "unix:///run/lapwing.sock"')
        return url
    if not separator or scheme not in _SCHEMES or "#" in rest:
        raise ValueError(_FORM)
    address, slash, path = rest.partition("/")
    if path and scheme not in ("ws", "wss"):
        raise ValueError("only ws and wss have a path")
    return f"{_SCHEMES[scheme]}://{join_host_port(*split_host_port(address))}{slash if path else ''}{path}"


def scheme_of(url: str) -> str:
    """``tcp``, ``tls``, ``ws``, ``wss``, ``sn``, ``sns`` or ``unix`` of a checked URL."""
    return url.partition("://")[0]


def has_tls(url: str) -> bool:
    """Whether a checked URL is one of TLS or DTLS, so that its listener has a certificate."""
    return scheme_of(url) in ("tls", "wss", "sns")


def speaks_sn(url: str) -> bool:
    """Whether a checked URL is one of MQTT-SN."""
    return scheme_of(url) in ("sn", "sns")


def is_local(url: str) -> bool:
    """Whether only this machine can connect to a checked URL: a Unix socket, or an address of loopback."""
    scheme, _, rest = url.partition("://")
    return scheme == "unix" or is_loopback(split_host_port(rest.partition("/")[0])[0])


def parse_http_address(address: str) -> str | None:
    """``HOST:PORT``, checked; ``"off"`` or nothing means no HTTP at all (None).

    Raises:
        ValueError: not HOST:PORT.
    """
    if address in ("", "off"):
        return None
    host, port = split_host_port(address.removeprefix("http://").removeprefix("https://").rstrip("/"))
    return join_host_port(host, port)


def is_loopback(host: str) -> bool:
    """True for 127.0.0.0/8, ::1 and ``localhost``; other names are not resolved: their meaning can change."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
