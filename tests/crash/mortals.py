"""Devices with a will: some of them are mourned at once, some late, some never; some of their sessions expire."""

from __future__ import annotations

import struct
from random import Random

import wire
from wire import Packet

from .books import Books, Message
from .device import Device
from .plan import LONG_S, Mortality

WITH_WILL = wire.packet(0xE0, b"\x04")
_WILL_DELAY, _SESSION_EXPIRY = b"\x18", b"\x11"


class Mortal(Device):
    """One client id, each of whose connections has a will of its own.

    A will goes out once its delay has passed and its client has not come back, and when its session ends. So the one
    of a connection that ended without a word must come in the end, if nobody came back and the delay is short; the one
    of a connection that a later one took up may have come; the one of a long delay must not, while its session stays.
    """

    def __init__(self, plan: Mortality, books: Books) -> None:
        super().__init__(plan.name, plan.version, books, expiry_s=plan.expiry_s)
        self.plan = plan
        self._serial = 0
        # What goes out if nothing else happens: of the connection that stands, or of the last one.
        self._will: Message | None = None
        self._payload = b""
        self._marked: Message | None = None
        self._is_taken_in = False

    def connect(self, url: str, *, clean: bool = False) -> None:
        """Comes with a new will; the one before is settled by that."""
        plan = self.plan
        payload = b"%s:%d:will" % (self.name.encode(), self._serial)
        if not plan.is_patient:
            # One that must never come is not written down: whoever gets it got what nobody sent.
            self._will = self.books.send(self.name, self._serial, self.topic, plan.qos, payload, retain=False)
        self._payload = payload
        self._is_taken_in, self._marked = False, None
        self._serial += 1
        super().connect(url, clean=clean)

    @property
    def topic(self) -> str:
        """Where its wills go."""
        return f"w/{self.name}"

    def act(self, random: Random, url: str) -> None:
        """Something that such a client may do now."""
        chance = random.random()
        if self.line is None:
            if chance < 0.01:
                self.connect(url)
        elif self.is_there:
            if chance < 0.004:
                self.vanish()
            elif chance < 0.006:
                self.leave()
            elif chance < 0.008 and self.plan.version == 5:
                self._send(WITH_WILL)
                self.vanish()

    def leave(self) -> None:
        """Says goodbye: its will is gone, unless the broker does not hear it."""
        super().leave()
        self._will = None

    def die(self) -> None:
        """Vanishes for good: the will of its last connection must come now, if the broker had taken that in."""
        self.vanish()
        if self._will and self._is_taken_in:
            self.books.tell(f"{self.name} is dead: {self._will} is owed")
            self.books.take(self._will)

    def _connect(self) -> bytes:
        plan = self.plan
        return wire.connect(
            self.name,
            version=plan.version,
            clean=self._is_clean,
            properties=_SESSION_EXPIRY + struct.pack("!I", plan.expiry_s) if plan.version == 5 else b"",
            will=(self.topic, self._payload, plan.qos, False),
            will_properties=_WILL_DELAY + struct.pack("!I", plan.will_delay_s) if plan.version == 5 else b"",
        )

    def _begin(self, packet: Packet) -> None:
        super()._begin(packet)
        # Nobody can know from outside whether it was away for longer than that.
        self.is_promised = self.plan.expiry_s >= LONG_S
        if self.plan.expiry_s:
            self._is_taken_in = True
        else:
            # The CONNACK of a session that is not kept does not wait for the disk; this answer does.
            self._send(self._mark())

    def _mark(self) -> bytes:
        payload = b"%s:%d:mark" % (self.name.encode(), self._serial)
        self._marked = self.books.send(self.name, self._serial, self.topic, 1, payload, retain=False)
        self._serial += 1
        return wire.publish(self.topic, payload, qos=1, version=self.plan.version)

    def _resume(self, *, is_present: bool) -> None:
        """There is nothing to go on with."""

    def _handle(self, packet: Packet) -> bool:
        if packet.kind != wire.PUBACK or self._marked is None:
            return False
        self.books.take(self._marked)
        self._is_taken_in, self._marked = True, None
        return True
