"""A client that subscribes: its session stays with the brokers while it is away."""

from __future__ import annotations

from lapwing.lab.cluster_demo import packets
from lapwing.lab.cluster_demo.books import Books
from lapwing.lab.cluster_demo.packets import PUBACK, PUBCOMP, PUBLISH, PUBREC, PUBREL, REFUSED, SUBACK, Packet


class Receiver:
    """Hears the publisher of its number, with QoS 2 at most.

    Attributes:
        client_id: Its name.
        is_ready: Its subscription is granted.
    """

    def __init__(self, number: int, books: Books) -> None:
        self.client_id = f"subscriber-{number}"
        self.is_ready = False
        self._number, self._books = number, books
        # Packet ids of QoS 2 whose PUBREL has not come: what comes under one of them is a repeat, and goes nowhere.
        self._unreleased: set[int] = set()
        self._is_promised = False

    def resume(self, *, is_present: bool) -> bytes:
        """What goes out first on a new connection."""
        if is_present:
            return b""
        if self._is_promised:
            self._books.lose_session()
        self._is_promised = True
        self.is_ready = False
        self._unreleased.clear()
        return packets.subscribe(f"demo/{self._number}", qos=2)

    def take(self, packet: Packet) -> bytes:
        """Answers a packet.

        Raises:
            ValueError: it cannot be here.
        """
        if packet.kind == PUBLISH and packet.qos:
            return self._delivered(packet)
        if packet.kind == PUBREL:
            self._unreleased.discard(packet.packet_id)
            return packets.answer(PUBCOMP, packet.packet_id)
        if packet.kind == SUBACK and packet.reason < REFUSED:
            self.is_ready = True
            return b""
        raise ValueError(f"{self.client_id} got a packet of type {packet.kind} that it did not wait for")

    def _delivered(self, packet: Packet) -> bytes:
        is_repeat = packet.qos == 2 and packet.packet_id in self._unreleased
        if not is_repeat:
            self._books.deliver(packet.payload, self._number)
        if packet.qos == 1:
            return packets.answer(PUBACK, packet.packet_id)
        self._unreleased.add(packet.packet_id)
        return packets.answer(PUBREC, packet.packet_id)
