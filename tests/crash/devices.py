"""Clients with a memory: what they have not seen finished they take up again when they come back."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable
from random import Random

import wire
from wire import CONNACK, DISCONNECT, PUBACK, PUBCOMP, PUBLISH, PUBREC, PUBREL, SUBACK, UNSUBACK, Packet

from .books import Books, Interest, Keeping, Message
from .line import Line
from .plan import Publishing, Subscribing

KEPT_S = 3_600
PACKET_IDENTIFIER_NOT_FOUND = 0x92


class Device(ABC):
    """One client id.

    Attributes:
        line: Its connection.
        is_there: The broker has taken it in.
        is_promised: The broker has said that it has the session, which outlives connections.
    """

    def __init__(self, name: str, version: int, books: Books, *, expiry_s: int, window: int = 65_535) -> None:
        self.name = name
        self.books = books
        self.line: Line | None = None
        self.is_there = False
        self.is_promised = False
        self._version = version
        self._expiry_s = expiry_s
        self._window = window
        self._is_clean = False

    def connect(self, url: str, *, clean: bool = False) -> None:
        """Begins to; a broker that is not there is tried again later."""
        try:
            self.line = Line(url, self._version)
        except OSError:
            return
        self._is_clean = clean or not self._expiry_s
        properties = b"\x11" + struct.pack("!I", self._expiry_s) + b"\x21" + struct.pack("!H", self._window)
        if self._version != 5:
            properties = b""
        self.line.send(wire.connect(self.name, version=self._version, clean=self._is_clean, properties=properties))

    def leave(self) -> None:
        """Says goodbye."""
        if self.line:
            self.line.send(wire.DISCONNECT_NORMAL)
            self.vanish()

    def vanish(self) -> None:
        """Ends the connection without a word."""
        if self.line:
            self.line.close()
        self.line, self.is_there = None, False

    def pump(self) -> None:
        """Takes what has come, and answers."""
        if not self.line:
            return
        line = self.line
        for packet in line.arrivals():
            self._receive(packet)
        if line is self.line and line.is_over:
            self.vanish()

    def _receive(self, packet: Packet) -> None:
        if packet.kind == CONNACK:
            self._begin(packet)
        elif packet.kind == DISCONNECT:
            self.books.find(f"{self.name} was sent away: 0x{packet.reason:02x}")
        elif not self._handle(packet):
            self.books.find(f"{self.name} got a packet of type {packet.kind}")

    def _begin(self, packet: Packet) -> None:
        is_present = bool(packet.body[0] & 1)
        self.books.tell(f"{self.name} is there, session present: {is_present}")
        if packet.reason:
            self.books.find(f"{self.name} was refused: 0x{packet.reason:02x}")
            return
        if is_present and self._is_clean:
            self.books.find(f"{self.name} began anew and has a session")
        if self.is_promised and not is_present and not self._is_clean:
            self.books.find(f"the session of {self.name} is gone")
        self.is_there, self.is_promised = True, bool(self._expiry_s)
        self._resume(is_present=is_present)

    def _send(self, *packets: bytes) -> None:
        if self.line:
            self.line.send(*packets)

    @abstractmethod
    def _resume(self, *, is_present: bool) -> None:
        """Goes on from what it remembers, or forgets it."""

    @abstractmethod
    def _handle(self, packet: Packet) -> bool:
        """Whether it is a packet that may come."""


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


class Subscriber(Device):
    """A session that stays while its client comes and goes."""

    def __init__(self, plan: Subscribing, books: Books, keeping: Keeping) -> None:
        super().__init__(plan.name, plan.version, books, expiry_s=plan.expiry_s, window=plan.window)
        self.plan = plan
        self.keeping = keeping
        self._have: set[int] = set()
        self._answers: list[bytes] = []
        self._pending: tuple[int, Interest] | None = None
        self._last_id = 0
        # A clean start was asked for and not confirmed: there may be the old session, or none.
        self._is_doubtful = False

    @property
    def is_waiting(self) -> bool:
        """Whether a SUBACK or UNSUBACK has still to come."""
        return self._pending is not None

    def begin_anew(self, url: str) -> None:
        """A clean start: what was promised is over, from the moment it is asked for."""
        self.keeping.begin_anew()
        self.books.tell(f"{self.name} begins anew")
        self.is_promised, self._is_doubtful = False, True
        self.connect(url, clean=True)

    def come_back(self, url: str) -> None:
        """Goes on with its session, if it can know that it has one."""
        if self._is_doubtful:
            self.begin_anew(url)
        else:
            self.connect(url)

    def subscribe(self, filter_: str) -> None:
        """Asks for it."""
        interest = Interest(filter_, self.plan.qos, self.books.tick())
        self.books.tell(f"{self.name} subscribes to {filter_}")
        self.keeping.interests.append(interest)
        self._ask(interest, self._subscribing(filter_))

    def unsubscribe(self, interest: Interest) -> None:
        """Gives it up: from now on nothing is owed."""
        interest.cancelled_at = self.books.tick()
        self.books.tell(f"{self.name} unsubscribes from {interest.filter}")
        self._ask(interest, lambda number: wire.unsubscribe(interest.filter, packet_id=number, version=self._version))

    def answer_all(self) -> None:
        """Acknowledges everything that has come."""
        self._send(*self._answers)
        self._answers.clear()

    def pump(self) -> None:
        """Takes what has come; a lazy one answers later."""
        super().pump()
        if not self.plan.is_lazy:
            self.answer_all()

    def vanish(self) -> None:
        """Ends the connection; what was not answered will come again."""
        super().vanish()
        self._answers.clear()
        self._pending = None

    def _subscribing(self, filter_: str) -> Callable[[int], bytes]:
        return lambda number: wire.subscribe((filter_, self.plan.qos), packet_id=number, version=self._version)

    def _ask(self, interest: Interest, packet: Callable[[int], bytes]) -> None:
        self._last_id = self._last_id % 65_535 + 1
        self._pending = (self._last_id, interest)
        self._send(packet(self._last_id))

    def _resume(self, *, is_present: bool) -> None:
        self._is_doubtful = False
        if not is_present:
            self._have.clear()

    def _handle(self, packet: Packet) -> bool:
        if packet.kind == PUBLISH:
            self._arrive(packet)
        elif packet.kind == PUBREL:
            self._have.discard(packet.packet_id)
            self._answers.append(wire.ack(PUBCOMP, packet.packet_id))
        elif packet.kind in (SUBACK, UNSUBACK):
            self._granted(packet)
        else:
            return False
        return True

    def _granted(self, packet: Packet) -> None:
        if self._pending is None or self._pending[0] != packet.packet_id:
            self.books.find(f"{self.name} got an answer to nothing")
            return
        interest, self._pending = self._pending[1], None
        if packet.kind == UNSUBACK:
            interest.ended_at = self.books.tick()
        elif packet.body[-1] != interest.qos:
            self.books.find(f"{self.name} was granted 0x{packet.body[-1]:02x} for {interest.filter}")
        else:
            interest.granted_at = self.books.tick()

    def _arrive(self, packet: Packet) -> None:
        if packet.qos:
            self._answers.append(wire.ack(PUBREC if packet.qos == 2 else PUBACK, packet.packet_id))
        if packet.qos == 2:
            if packet.packet_id in self._have:
                return
            self._have.add(packet.packet_id)
        self.books.deliver(self.keeping, packet.topic, packet.payload, packet.qos)


class Sleeper(Subscriber):
    """Subscribes, goes, comes back, and now and then begins anew."""

    def act(self, random: Random, url: str) -> None:
        """Something that a subscriber may do now."""
        chance = random.random()
        if self.line is None:
            if chance < 0.003 and self.plan.version == 5:
                # In 3.1.1 a session that begins anew ends with its connection.
                self.begin_anew(url)
            elif chance < 0.05:
                self.come_back(url)
        elif self.is_there:
            if chance < 0.003:
                self.vanish()
            elif chance < 0.006:
                self.leave()
            elif chance < 0.05 and not self.is_waiting:
                self._change(random)
            elif chance < 0.2:
                self.answer_all()

    def _change(self, random: Random) -> None:
        active = [one for one in self.keeping.interests if one.granted_at is not None and one.cancelled_at is None]
        names = {interest.filter for interest in active}
        missing = [one for one in self.plan.filters if one not in names]
        if missing:
            self.subscribe(random.choice(missing))
        elif random.random() < 0.1:
            self.unsubscribe(random.choice(active))


class Member(Subscriber):
    """A member of the group; its messages are the group's."""

    has_joined = False

    def act(self, random: Random, url: str) -> None:
        """Something that a member may do now."""
        chance = random.random()
        if self.line is None:
            if chance < 0.05:
                self.come_back(url)
        elif self.is_there:
            if not self.has_joined:
                self.join()
            elif chance < 0.003:
                self.vanish()
            elif chance < 0.005:
                self.leave()
            elif chance < 0.2:
                self.answer_all()

    def join(self) -> None:
        """Subscribes, once: the session stays."""
        if not self.is_waiting:
            (filter_,) = self.plan.filters
            self._ask(Interest("", self.plan.qos, 0), self._subscribing(filter_))

    def _granted(self, packet: Packet) -> None:
        super()._granted(packet)
        self.has_joined = True
