"""A client that publishes: what it has not seen acknowledged goes again when it is back."""

from __future__ import annotations

from dataclasses import dataclass

from lapwing.lab.cluster_demo import packets
from lapwing.lab.cluster_demo.books import Books
from lapwing.lab.cluster_demo.packets import PUBACK, PUBCOMP, PUBREC, PUBREL, REFUSED, Packet

WINDOW = 16
"""Messages unacknowledged at a time."""

_ANSWERS = {1: (PUBACK,), 2: (PUBREC, PUBCOMP)}
"""By QoS."""


@dataclass(slots=True)
class _Flight:
    payload: bytes
    is_released: bool = False


class Sender:
    """Publishes on its topic; a session that stays, with QoS 1 or 2.

    Attributes:
        client_id: Its name.
        refused: Messages that the broker did not take.
    """

    def __init__(self, number: int, qos: int, books: Books) -> None:
        self.client_id = f"publisher-{number}"
        self.refused = 0
        self._number, self._qos, self._books = number, qos, books
        self._topic = f"demo/{number}"
        # By packet id, in the order in which they were sent.
        self._flights: dict[int, _Flight] = {}
        self._last_id = 0
        self._is_promised = False

    is_ready = True
    """There is nothing that it has to ask for."""

    @property
    def in_flight(self) -> int:
        """Messages that the broker has not answered for good."""
        return len(self._flights)

    def publish(self) -> bytes:
        """The next message; nothing while too many are unacknowledged."""
        if len(self._flights) >= WINDOW:
            return b""
        self._last_id = self._last_id % 65_535 + 1
        flight = self._flights[self._last_id] = _Flight(self._books.publish(self._number))
        return self._bytes(self._last_id, flight)

    def resume(self, *, is_present: bool) -> bytes:
        """What goes out first on a new connection."""
        if self._is_promised and not is_present:
            self._books.lose_session()
            # What has its PUBREC was taken; all else is new to who knows nothing of it.
            self._flights = {number: flight for number, flight in self._flights.items() if not flight.is_released}
        self._is_promised = True
        return b"".join(self._bytes(number, flight, dup=is_present) for number, flight in self._flights.items())

    def take(self, packet: Packet) -> bytes:
        """Answers a packet.

        Raises:
            ValueError: it cannot be here.
        """
        flight = self._flights.get(packet.packet_id) if packet.kind in _ANSWERS[self._qos] else None
        if flight is None or (packet.kind == PUBCOMP and not flight.is_released):
            raise ValueError(f"{self.client_id} got a packet of type {packet.kind} that it did not wait for")
        is_refused = packet.reason >= REFUSED
        if not flight.is_released and is_refused:
            self.refused += 1
        elif not flight.is_released:
            self._books.acknowledge(flight.payload)
        if packet.kind == PUBREC and not is_refused:
            flight.is_released = True
            return packets.answer(PUBREL, packet.packet_id)
        del self._flights[packet.packet_id]
        return b""

    def _bytes(self, number: int, flight: _Flight, *, dup: bool = False) -> bytes:
        if flight.is_released:
            return packets.answer(PUBREL, number)
        return packets.publish(self._topic, flight.payload, qos=self._qos, packet_id=number, dup=dup)
