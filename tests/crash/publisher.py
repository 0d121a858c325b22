"""A device that publishes."""

from __future__ import annotations

from random import Random

import wire
from wire import PUBACK, PUBCOMP, PUBREC, PUBREL, Packet

from .books import Books, Message
from .device import Device
from .plan import Publishing

KEPT_S = 3_600
PACKET_IDENTIFIER_NOT_FOUND = 0x92


class Publisher(Device):
    """Sends numbered messages; a kept one until each is acknowledged."""

    def __init__(self, plan: Publishing, books: Books) -> None:
        super().__init__(plan.name, plan.version, books, expiry_s=KEPT_S if plan.is_kept else 0)
        self.plan = plan
        self._serial = 0
        self._last_id = 0
        # By packet id, in the order in which they were sent: the message, and whether its PUBREC has come.
        self._flights: dict[int, tuple[Message, bool]] = {}

    @property
    def is_settled(self) -> bool:
        """Whether nothing has still to be acknowledged."""
        return not self._flights

    @property
    def may_publish(self) -> bool:
        """Whether it is there, and not too much is unacknowledged."""
        return self.is_there and len(self._flights) < min(self.plan.window, self.plan.packet_ids)

    def act(self, random: Random, url: str) -> None:
        """Something that a publisher may do now."""
        if self.line is None:
            if random.random() < 0.2:
                self.connect(url)
        elif self.is_there:
            chance = random.random()
            if chance < 0.001:
                self.vanish()
            elif chance < 0.002:
                self.leave()
            else:
                for _ in range(random.choice((0, 0, 1, 3, 10))):
                    self._publish(random)

    def publish(self, topic: str, payload: bytes, qos: int, *, retain: bool = False) -> Message:
        """One message; `payload` comes behind its number. A retained one without payload clears the topic."""
        stamped = b"%s:%d:%s" % (self.name.encode(), self._serial, payload) if payload or not retain else b""
        message = self.books.send(self.name, self._serial, topic, qos, stamped, retain=retain)
        self._serial += 1
        packet_id = self._free_id() if qos else 0
        if qos:
            self._flights[packet_id] = (message, False)
        self._send(self._bytes(message, packet_id))
        return message

    def _publish(self, random: Random) -> None:
        plan, qos = self.plan, random.choice(self.plan.levels)
        if not self.may_publish:
            return
        is_clear = plan.retains and random.random() < 0.2
        payload = b"" if is_clear else b"x" * random.randint(1, plan.payload_bytes)
        self.publish(random.choice(plan.topics), payload, qos, retain=plan.retains)

    def _free_id(self) -> int:
        ids = self.plan.packet_ids
        while (packet_id := self._last_id % ids + 1) in self._flights:
            self._last_id = packet_id
        self._last_id = packet_id
        return packet_id

    def _bytes(self, message: Message, packet_id: int, *, dup: bool = False) -> bytes:
        topic, payload, qos, retain = message.topic, message.payload, message.qos, message.retain
        return wire.publish(topic, payload, qos=qos, packet_id=packet_id, retain=retain, dup=dup, version=self._version)

    def _resume(self, *, is_present: bool) -> None:
        if not is_present:
            self._flights.clear()
        for packet_id, (message, is_released) in self._flights.items():
            self._send(wire.ack(PUBREL, packet_id) if is_released else self._bytes(message, packet_id, dup=True))

    def _handle(self, packet: Packet) -> bool:
        if packet.kind not in (PUBACK, PUBREC, PUBCOMP):
            return False
        message, is_released = self._flights.get(packet.packet_id, (None, False))
        if message is None or (message.qos == 1) != (packet.kind == PUBACK):
            self.books.find(f"{self.name}: packet of type {packet.kind} for packet id {packet.packet_id}, not in use")
        elif packet.reason >= 0x80 and not (is_released and packet.reason == PACKET_IDENTIFIER_NOT_FOUND):
            self.books.find(f"{message} was refused: 0x{packet.reason:02x}")
        else:
            self._go_on(packet, message, is_released=is_released)
        return True

    def _go_on(self, packet: Packet, message: Message, *, is_released: bool) -> None:
        if packet.kind == PUBREC:
            self.books.take(message)
            self._flights[packet.packet_id] = (message, True)
            self._send(wire.ack(PUBREL, packet.packet_id))
            return
        if packet.kind == PUBCOMP and not is_released:
            self.books.find(f"{message} has a PUBCOMP before its PUBREC")
        self.books.take(message)
        del self._flights[packet.packet_id]
