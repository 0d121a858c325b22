"""All members' links where there is no ``tun`` device, a process: one port per member, bytes held back both ways.

``python -m lapwing.lab.dispatch.proxy ORDER``; ORDER is JSON with the fields of ``Order``. Says "ready" on standard
output, reads the trace's start in nanoseconds from standard input, and at its end prints a line of JSON.

The kernel on either side sees only the way to the proxy, next to nothing. A broker that is told so by a PROXY header
(version 1) can know; to one that is not, members look nearer than they are.
"""

from __future__ import annotations

import json
import selectors
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from lapwing.lab.dispatch.day import Steps
from lapwing.lab.dispatch.delay import Delays
from lapwing.lab.dispatch.tun import far

_READ_BYTES = 1 << 16
_HOST = "127.0.0.1"

Piece: TypeAlias = "tuple[_Leg, bytes]"
"""Bytes for the other side of a leg; none: the side that sent has closed."""


@dataclass(frozen=True)
class Order:
    """What the proxy is told.

    Attributes:
        broker: Host and port.
        first_port: Member N connects to this port + N.
        says_who: Each connection to the broker begins with a PROXY header.
        trips: Per member: when its round trip changes, and to what, in milliseconds.
    """

    broker: tuple[str, int]
    first_port: int
    says_who: bool
    trips: list[tuple[list[float], list[float]]]
    seed: int


class _Leg:
    """One side of a connection through the proxy."""

    def __init__(self, stream: socket.socket, link: int, *, is_broker: bool) -> None:
        self.stream, self.link, self.is_broker = stream, link, is_broker
        self.other = self
        self.is_shut = False
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class Proxy:
    """The ports, and the connections through them."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._delays: Delays[Piece] = Delays([Steps(*trip) for trip in order.trips], order.seed)
        self._selector = selectors.SelectSelector()  # its time-outs are in microseconds, those of epoll are not
        for link in range(len(order.trips)):
            listener = socket.create_server((_HOST, order.first_port + link))
            self._selector.register(listener, selectors.EVENT_READ, link)
        self._selector.register(sys.stdin.buffer, selectors.EVENT_READ, None)

    def run(self) -> None:
        """Until standard input ends."""
        while True:
            for key, _ in self._selector.select(self._delays.wait_s()):
                if key.data is None:
                    line = sys.stdin.buffer.readline()
                    if not line:
                        return
                    self._delays.start(int(line))
                elif isinstance(key.data, _Leg):
                    self._take(key.data)
                else:
                    self._accept(key.fileobj, key.data)
            for leg, data in self._delays.due():
                self._give(leg.other, data)

    def _accept(self, listener: object, link: int) -> None:
        assert isinstance(listener, socket.socket)
        stream, (host, port) = listener.accept()
        member = _Leg(stream, link, is_broker=False)
        to_host, to_port = self._order.broker
        broker = _Leg(socket.create_connection((to_host, to_port)), link, is_broker=True)
        member.other, broker.other = broker, member
        if self._order.says_who:
            broker.stream.sendall(f"PROXY TCP4 {far(link)} {host} {port} {to_port}\r\n".encode())
        for leg in (member, broker):
            self._selector.register(leg.stream, selectors.EVENT_READ, leg)

    def _take(self, leg: _Leg) -> None:
        data = b""
        with suppress(ConnectionError):
            data = leg.stream.recv(_READ_BYTES)
        if not data:
            self._selector.unregister(leg.stream)
        self._delays.push(leg.link, leg.is_broker, (leg, data))

    def _give(self, leg: _Leg, data: bytes) -> None:
        with suppress(OSError):  # it has gone; its own end comes as a piece of its own
            if data:
                leg.stream.sendall(data)
            else:
                leg.is_shut = True
                leg.stream.shutdown(socket.SHUT_WR)
        if leg.is_shut and leg.other.is_shut:
            leg.stream.close()
            leg.other.stream.close()

    def report_json(self) -> str:
        """What it carried."""
        return self._delays.report_json()


def main() -> None:
    """The links from first to last byte."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the experiment decides when links end
    proxy = Proxy(Order(**json.loads(sys.argv[1])))
    print("ready", flush=True)  # noqa: T201 (this is its protocol)
    proxy.run()
    print(proxy.report_json(), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
