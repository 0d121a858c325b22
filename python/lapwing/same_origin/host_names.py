"""What a listener is called, and who asks in somebody else's name: what a web page can do, decided from the headers.

A page that bends its own DNS name to this machine (DNS rebinding) is of one origin with us in its browser's eyes, and
reads every answer; but its requests say that name in ``Host``. So ``Host`` must be a name of ours. A page that does not
hide can still send requests, without reading what comes back; browsers name such a page in ``Origin``, and say
``Sec-Fetch-Site``. Programs send neither.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

_AUTHORITY = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[^\s:/?#@\[\]]+))(?::[0-9]*)?", re.IGNORECASE)
_PORTS = {"http": ":80", "https": ":443"}
_OWN_SITES = frozenset({"same-origin", "none"})
"""``Sec-Fetch-Site`` of our own page, and of a person at the browser's address line. ``same-site`` is another port of
this machine, or another name of its domain: no less foreign."""


@dataclass(frozen=True)
class HostNames:
    """The names of one listener.

    Attributes:
        configured: The host of its address as it is configured.
        further: Names and addresses set beside it, in lower case; ``*`` takes every one.
    """

    configured: str
    further: Sequence[str] = ()

    def includes(self, host: str, local: str) -> bool:
        """Whether ``host``, as it stands in the header, is one of them.

        Args:
            host: The header's value; its port does not matter, for tunnels and containers change it.
            local: The address of this machine at which the connection came in.
        """
        match = _AUTHORITY.fullmatch(host)
        if match is None:
            return False
        name = (match["v6"] or match["name"]).lower()
        address, reached, bound = _address(name), _address(local), _address(self.configured)
        if _is_unspecified(address):
            return False
        if "*" in self.further or name == self.configured.lower() or str(address or name) in self.further:
            return True
        is_loopback = name == "localhost" or (address is not None and address.is_loopback)
        if _is_unspecified(bound):
            # Rebinding needs a name, for only a name can be bent: who says an address says the one that was reached.
            # So all of them are taken where the machine has many, and some translate theirs (containers, pods).
            return is_loopback or address is not None
        if is_loopback:
            return reached is not None and reached.is_loopback
        return address is not None and address == reached


def is_foreign(host: str, origins: Sequence[str], sites: Sequence[str]) -> bool:
    """Whether a page of another origin than ``host`` sent the request.

    Args:
        host: The header ``Host``, which is one of ours.
        origins: The values of ``Origin``.
        sites: The values of ``Sec-Fetch-Site``.
    """
    if any(site.lower() not in _OWN_SITES for site in sites):
        return True
    return len(origins) > 1 or any(not _is_of(host, origin) for origin in origins)


def only_looks(method: str, origins: Sequence[str]) -> bool:
    """Whether a foreign request is what a browser sends for a link or an image, which may be shown and change nothing.

    Scripts that send more, or want to read the answer, are named in ``Origin``.
    """
    return method in ("GET", "HEAD") and not origins


def _is_of(host: str, origin: str) -> bool:
    """Whether the page's host and port are ours; its scheme is not looked at: something in front may speak TLS."""
    scheme, separator, authority = origin.lower().partition("://")
    default = _PORTS.get(scheme, "")
    return bool(separator) and authority.removesuffix(default) == host.lower().removesuffix(default)


def _address(name: str) -> IPv4Address | IPv6Address | None:
    """The address that a name is, if it is one; of IPv4 in IPv6 the IPv4."""
    try:
        address = ip_address(name)
    except ValueError:
        return None
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address


def _is_unspecified(address: IPv4Address | IPv6Address | None) -> bool:
    """Nobody has 0.0.0.0; but systems take it for loopback and browsers do not, so a page comes that way unmarked."""
    return address is not None and address.is_unspecified
