"""How members reach the broker: through a ``tun`` device, through a proxy, or directly."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeAlias

from lapwing.errors import ConfigError
from lapwing.lab.dispatch import tun
from lapwing.lab.dispatch.processes import Process
from lapwing.lab.dispatch.proxy import Order as ProxyOrder
from lapwing.lab.dispatch.trace import Trace
from lapwing.lab.dispatch.tun_link import Order as TunOrder

Kind: TypeAlias = Literal["tun", "proxy"]
KINDS = ("auto", "tun", "proxy")
_JITTER_SEED = 9
_PROXY_PORT = 21_000


@dataclass(frozen=True)
class Links:
    """Where a broker listens, and where its members find it.

    Attributes:
        host: The address for a broker to listen at.
        source: What members bind to; empty: nothing.
        device: The ``tun`` device; None: a proxy.
    """

    kind: Kind
    host: str
    source: str
    device: int | None

    def process(self, trace: Trace, port: int, *, says_who: bool) -> Process:
        """The process that holds back, for a broker at ``port``.

        Args:
            says_who: The broker expects a PROXY header, where there is a proxy.
        """
        trips = [(list(day.round_trip_ms.at_ms), list(day.round_trip_ms.values)) for day in trace.days]
        if self.device is not None:
            return Process("dispatch.tun_link", TunOrder(self.device, trips, _JITTER_SEED), [self.device])
        return Process("dispatch.proxy", ProxyOrder((self.host, port), _PROXY_PORT, says_who, trips, _JITTER_SEED))

    def address(self, number: int, port: int) -> tuple[str, int]:
        """Where member ``number`` connects to reach the broker at ``port``."""
        return (tun.near(number), port) if self.device is not None else (self.host, _PROXY_PORT + number)


@contextmanager
def open_links(kind: str, tell: Callable[[str], None]) -> Iterator[Links]:
    """The links of that kind; ``auto`` takes the proxy, and says so, where there can be no device.

    With a device this thread is in a network of its own meanwhile: see `tun.own_network`.

    Raises:
        ConfigError: no such kind.
        LapwingError: the kernel does not allow a device.
    """
    if kind not in KINDS:
        raise ConfigError(f"no link is named {kind!r}", remedy=f"take one of: {', '.join(KINDS)}")
    if kind == "auto" and not tun.is_available():
        tell("no tun device here: a proxy holds bytes back instead, and the broker's kernel sees the near leg only")
        kind = "proxy"
    if kind == "proxy":
        yield Links("proxy", "127.0.0.1", "", None)
        return
    with tun.own_network() as device:
        os.set_inheritable(device, False)
        yield Links("tun", tun.HOST, tun.HOST, device)
