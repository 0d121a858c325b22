"""One connection of a device to the broker."""

from __future__ import annotations

import wire
from wire import Packet


class Line(wire.Wire):
    """A connection that never waits."""

    def __init__(self, url: str, version: int) -> None:
        super().__init__(url, version)
        self.socket.setblocking(False)
        self.is_over = False
        self._out = bytearray()

    def send(self, *packets: bytes) -> None:
        """Now, or when the other side takes it."""
        self._out += b"".join(packets)
        self.flush()

    def flush(self) -> None:
        """Gives the socket what it takes."""
        try:
            while self._out:
                del self._out[: self.socket.send(self._out)]
        except BlockingIOError:
            return
        except OSError:
            # Nobody takes it any more; what was said before may still be there to be read.
            self._out.clear()

    @property
    def waits(self) -> bool:
        """Whether something has still to be sent."""
        return bool(self._out)

    def arrivals(self) -> list[Packet]:
        """All packets that are there."""
        try:
            while more := self.socket.recv(1 << 18):
                self._bytes += more
            self.is_over = True
        except BlockingIOError:
            pass
        except OSError:
            self.is_over = True
        packets = []
        while (packet := self._take()) is not None:
            packets.append(packet)
        return packets
