"""The end of a round: everybody comes back, and what was promised has to come."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from .books import Message
from .crew import Crew
from .device import Device
from .machine import has_session
from .mortals import Mortal
from .plan import LONG_S, Publishing
from .publisher import Publisher
from .subscribers import Member, Regular, Sleeper, Subscriber, Taker

SETTLE_S = 120.0
"""At most, for each step."""


class Settling:
    """What a crew does when nothing fails any more.

    Args:
        may_move: The broker may send everybody away all the same, and be elsewhere: they come back.
    """

    def __init__(self, crew: Crew, *, may_move: bool = False) -> None:
        self._crew, self._books, self._loop = crew, crew.books, crew.loop
        self._may_move = may_move
        self._staying: list[Device] = []

    def settle(self) -> None:
        """Until there is nothing more to come; what did not is in the books.

        Raises:
            TimeoutError: somebody does not come back, or is not answered.
        """
        crew = self._crew
        for device in crew.publishers:
            self._await_back(device)
        self._wait("all acknowledgements", lambda: all(one.is_settled for one in crew.publishers))
        for device in crew.subscribers:
            self._await_back(device)
        self._bury()
        self._end_queues()
        crew.compare()
        self._books.check_arrived()

    def _wait(self, what: str, is_so: Callable[[], bool]) -> None:
        self._loop.until(SETTLE_S, what, is_so, self._stay)

    def _stay(self) -> None:
        if self._may_move:
            for device in self._staying:
                self._crew.is_back(device)

    def _await_back(self, device: Device) -> None:
        self._wait(f"{device.name} to come back", lambda: self._crew.is_back(device))
        self._staying.append(device)

    def _bury(self) -> None:
        """All mortals die: their last wills come, and the sessions end that expire. What does not is a finding."""
        for mortal in self._crew.mortals:
            mortal.die()
        self._drain([self._crew.heir])
        for mortal in self._crew.mortals:
            if mortal.plan.expiry_s < LONG_S:
                self._wait(f"the end of {mortal.name}'s session", lambda one=mortal: not self._has_session(one))

    def _has_session(self, mortal: Mortal) -> bool:
        with self._crew.place.inside():
            return has_session(self._crew.place.http, mortal.name)

    def _end_queues(self) -> None:
        """A last message to each session: behind it there is nothing. A group has none, so it is waited for."""
        last = Publisher(Publishing("last", 5, True, (), (1,), False, 100, 100, 0), self._books)
        self._loop.devices.append(last)
        self._await_back(last)
        sleepers = [one for one in self._crew.subscribers if isinstance(one, Sleeper)]
        for one in sleepers:
            self._wait(f"{one.name}'s SUBACK", lambda one=one: not one.is_waiting)
            self._wait(f"{one.name}'s last SUBACK", lambda one=one: self._has_subscribed(one))
        ends = [(one, last.publish(_own(one), b"end", 1)) for one in sleepers]
        self._wait("what waits for sessions", lambda: self._has_drained(ends))
        members = [one for one in self._crew.subscribers if isinstance(one, Member)]
        for one in members:
            self._wait(f"{one.name} to join", lambda one=one: self._has_joined(one))
        if members:
            self._drain(members)
        for taker in [one for one in self._crew.subscribers if isinstance(one, Taker)]:
            self._wait("the taker's last answer", lambda one=taker: not one.is_waiting)
            taker.has_joined = False
            self._wait("the taker to join", lambda one=taker: self._has_joined(one))
            self._drain([taker])

    def _has_subscribed(self, sleeper: Sleeper) -> bool:
        filter_ = _own(sleeper)
        if any(one.filter == filter_ and one.granted_at is not None for one in sleeper.keeping.interests):
            return True
        if sleeper.is_there and not sleeper.is_waiting:
            sleeper.subscribe(filter_)
        return False

    def _has_joined(self, one: Regular) -> bool:
        if one.is_there and not one.has_joined:
            one.join()
        return one.has_joined

    def _has_drained(self, ends: list[tuple[Sleeper, Message]]) -> bool:
        for one in self._crew.subscribers:
            one.answer_all()
        return all((end.publisher, end.serial) in one.keeping.seen for one, end in ends)

    def _drain(self, takers: Sequence[Subscriber]) -> None:
        """What does not come is a finding of the books, not a time that was over."""
        keeping = takers[0].keeping
        deadline = time.monotonic() + self._crew.patience_s
        while self._books.owed(keeping) and time.monotonic() < deadline:
            self._stay()
            for taker in takers:
                taker.answer_all()
            self._loop.pump()


def _own(sleeper: Sleeper) -> str:
    """A topic that only it has a filter for."""
    return f"own/{sleeper.name}"
