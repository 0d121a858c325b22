"""Devices that subscribe."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from random import Random

import wire
from wire import PUBACK, PUBCOMP, PUBLISH, PUBREC, PUBREL, SUBACK, UNSUBACK, Packet

from .books import Books, Interest, Keeping
from .device import Device
from .plan import Subscribing


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
        if packet.retain:
            # From before it subscribed: what is retained has a check of its own.
            return
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


class Regular(Subscriber, ABC):
    """Has one filter and keeps its session: it comes, goes, and answers when it likes; others count what it is owed.

    Attributes:
        has_joined: What it asked for was granted, since this was last unset.
    """

    has_joined = False

    def act(self, random: Random, url: str) -> None:
        """Something that a client may do now."""
        chance = random.random()
        if self.line is None:
            if chance < 0.05:
                self.come_back(url)
        elif self.is_there and not self._changes(random):
            if chance < 0.003:
                self.vanish()
            elif chance < 0.005:
                self.leave()
            elif chance < 0.2:
                self.answer_all()

    def join(self) -> None:
        """Subscribes, whether it had or not."""
        self._say(self._subscribing(self.filter))

    @property
    def filter(self) -> str:
        """The only one."""
        (filter_,) = self.plan.filters
        return filter_

    def _say(self, packet: Callable[[int], bytes]) -> None:
        if not self.is_waiting:
            self._ask(Interest("", self.plan.qos, 0), packet)

    def _granted(self, packet: Packet) -> None:
        super()._granted(packet)
        self.has_joined = True

    @abstractmethod
    def _changes(self, random: Random) -> bool:
        """Whether it was its subscription's turn."""


class Member(Regular):
    """A member of the group; its messages are the group's."""

    def _changes(self, random: Random) -> bool:
        if not self.has_joined:
            self.join()
        return not self.has_joined


class Taker(Regular):
    """Alone takes what waits in the hold: it subscribes and cancels as it likes, and has to get everything."""

    def _changes(self, random: Random) -> bool:
        chance = random.random()
        if chance < 0.0125:
            self.join()
        elif chance < 0.025:
            self._say(lambda number: wire.unsubscribe(self.filter, packet_id=number, version=self._version))
        return chance < 0.025
