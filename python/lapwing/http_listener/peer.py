"""Who is at the other end of a connection: one address, whatever the listener is bound to."""

from __future__ import annotations

import asyncio
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network


def peer_of(transport: asyncio.BaseTransport) -> tuple[str, int] | None:
    """Address and port, as the kernel named them when the connection came; it forgets those of one that is reset."""
    peer = transport.get_extra_info("peername")
    return (plain_address(str(peer[0])), int(peer[1])) if isinstance(peer, tuple) else None


def plain_address(text: str) -> str:
    """The address; IPv4 as IPv4, which a listener at ``[::]`` sees as ``::ffff:192.0.2.1``."""
    ip = _parsed(text)
    return text if ip is None else str(ip)


def network_of(address: str) -> str:
    """What counts as one address: of IPv6 a /64, which one household can walk through."""
    ip = _parsed(address)
    if ip is None:
        return address
    return str(ip_network((int(ip), 64), strict=False)) if isinstance(ip, IPv6Address) else str(ip)


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        ip = ip_address(text)
    except ValueError:
        return None
    return (isinstance(ip, IPv6Address) and ip.ipv4_mapped) or ip
