"""All members' links, a process: every packet that enters the ``tun`` device leaves it again after its way.

``python -m lapwing.lab.dispatch.tun_link ORDER``; ORDER is JSON with the fields of ``Order``. Says "ready" on standard
output, reads the trace's start in nanoseconds from standard input, and at its end prints a line of JSON: packets, and
how late it was.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass

from lapwing.lab.dispatch.day import Steps
from lapwing.lab.dispatch.delay import Delays
from lapwing.lab.dispatch.tun import HOST, far, near

_PACKET_BYTES = 1 << 16
_SOURCE, _END = 12, 20
"""Where both addresses stand in a packet of IP version 4."""


@dataclass(frozen=True)
class Order:
    """What the link is told.

    Attributes:
        device: File descriptor of the device.
        trips: Per member: when its round trip changes, and to what, in milliseconds.
    """

    device: int
    trips: list[tuple[list[float], list[float]]]
    seed: int


class Link:
    """The device's other end."""

    def __init__(self, order: Order) -> None:
        self._device = order.device
        self._delays: Delays[bytes] = Delays([Steps(*trip) for trip in order.trips], order.seed)
        host = socket.inet_aton(HOST)
        ends = [(socket.inet_aton(near(number)), socket.inet_aton(far(number))) for number in range(len(order.trips))]
        # Addresses as they come -> the link, whether it is the broker's answer, addresses as they go on.
        self._ways = {host + here: (number, False, there + host) for number, (here, there) in enumerate(ends)}
        self._ways |= {host + there: (number, True, here + host) for number, (here, there) in enumerate(ends)}

    def run(self) -> None:
        """Until standard input ends."""
        stdin = sys.stdin.fileno()
        while True:
            readable, _, _ = select.select([self._device, stdin], [], [], self._delays.wait_s())
            if self._device in readable:
                self._take()
            for packet in self._delays.due():
                os.write(self._device, packet)
            if stdin in readable:
                line = sys.stdin.buffer.readline()
                if not line:
                    return
                self._delays.start(int(line))

    def _take(self) -> None:
        """Takes every packet that waits; what belongs to no link (the kernel's own, IP version 6) goes nowhere."""
        with suppress(BlockingIOError):
            while True:
                packet = os.read(self._device, _PACKET_BYTES)
                way = self._ways.get(packet[_SOURCE:_END])
                if way is not None:
                    number, is_back, addresses = way
                    self._delays.push(number, is_back, packet[:_SOURCE] + addresses + packet[_END:])

    def report_json(self) -> str:
        """What it carried."""
        return self._delays.report_json()


def main() -> None:
    """The links from first to last packet."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the experiment decides when links end
    link = Link(Order(**json.loads(sys.argv[1])))
    print("ready", flush=True)  # noqa: T201 (this is its protocol)
    link.run()
    print(link.report_json(), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
