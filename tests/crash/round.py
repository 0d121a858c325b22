"""One round: a plan is lived, crash by crash; then everything that was promised has to come."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from .books import Books, Interest, Message
from .device import Device
from .loop import Loop
from .machine import Machine, has_session, read_retained, read_stream
from .mortals import Mortal
from .plan import GROUP, HOLD, LONG_S, RETAINED, STREAM, Life, Plan, Publishing
from .power import PowerCut
from .publisher import Publisher
from .subscribers import Member, Sleeper, Subscriber, Taker

LIFE_S, SETTLE_S, LAST_WORDS_S = 120.0, 120.0, 10.0
"""At most: each wait ends when what it is for has come."""
_STREAMED, _GROUPED = "t/", "g/#"


@dataclass
class Outcome:
    """What became of a round; `findings` is empty when everything was as promised."""

    seed: int
    shards: int
    crashes: int = 0
    sent: int = 0
    acknowledged: int = 0
    delivered: int = 0
    lost_changes: int = 0
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)
    folder: str = ""

    def to_json(self) -> dict[str, Any]:
        """As one object."""
        return asdict(self)


class Round:
    """A plan, the broker and its clients.

    Args:
        folder: New, empty; stays as the round leaves it.
        power: What takes back unsynced changes, where a life ends with the machine's.
        groups: Groups and the hold keep their messages over a crash.
        patience_s: So long what is promised may be on its way.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        power: PowerCut | None = None,
        *,
        groups: bool = True,
        patience_s: float = SETTLE_S,
    ) -> None:
        self.plan = plan
        self._patience_s = patience_s
        self.books = Books()
        self._machine = Machine(folder, plan.settings(), power)
        self._random = Random(plan.seed ^ 0x5EED)
        self._outcome = Outcome(plan.seed, plan.shards)
        wanted = [one for one in plan.publishers if groups or not one.topics[0].startswith(("g/", "h/"))]
        self._publishers = [Publisher(each, self.books) for each in wanted]
        self._subscribers: list[Subscriber] = [
            Sleeper(each, self.books, self.books.keep(each.name)) for each in plan.subscribers
        ]
        if groups:
            crew = self.books.keep(f"group {GROUP}", is_ordered=False)
            # Declared in the configuration: it is there before anybody.
            crew.interests.append(Interest(_GROUPED, 2, asked_at=0, granted_at=0))
            self._subscribers += [Member(each, self.books, crew) for each in plan.members]
            # Who cancels and subscribes again in the midst of what a kill takes sees its order broken: that is said.
            held = self.books.keep(f"hold {HOLD}", is_ordered=False)
            held.interests.append(Interest(HOLD, 2, asked_at=0, granted_at=0))
            self._subscribers.append(Taker(plan.taker, self.books, held))
        # A will was written before all that its client sent, and comes behind it.
        self._heir = Sleeper(plan.heir, self.books, self.books.keep(plan.heir.name, is_ordered=False))
        self._subscribers.append(self._heir)
        self._mortals = [Mortal(each, self.books) for each in plan.mortals]
        self._loop = Loop()
        self._loop.devices += [*self._publishers, *self._subscribers, *self._mortals]
        self._url = self._http = ""

    def run(self) -> Outcome:
        """Lives the plan."""
        began = time.monotonic()
        try:
            self._live_and_settle()
        except Exception as error:
            # Whatever it is, the round has not shown what it should: it fails, and its data is kept.
            self.books.find(f"{type(error).__name__}: {error}")
            self.books.tell(traceback.format_exc())
        finally:
            for device in self._loop.devices:
                device.vanish()
        outcome, books = self._outcome, self.books
        outcome.sent, outcome.acknowledged, outcome.delivered = books.sent, books.taken, books.delivered
        outcome.findings, outcome.seconds = books.findings, round(time.monotonic() - began, 2)
        return outcome

    def _live_and_settle(self) -> None:
        try:
            for life in self.plan.lives:
                self._start()
                self._work(life)
                self._crash(power=life.power)
                time.sleep(life.down_s)
            self._start()
            self._settle()
        finally:
            if self._machine.is_up:
                self._crash(power=False)

    def _start(self) -> None:
        running = self._machine.start()
        self._url, self._http = running.url, running.http
        self.books.tell(f"the broker is up at {self._url}")
        self._compare()

    def _compare(self) -> None:
        """What is there before anybody comes back."""
        books = self.books
        must = {topic for topic, allowed in books.retained_allowed().items() if b"" not in allowed}
        books.check_retained(read_retained(self._url, RETAINED, must, self._patience_s))
        books.check_stream(read_stream(self._http, STREAM), _STREAMED)

    def _crash(self, *, power: bool) -> None:
        self.books.tell("the power goes" if power else "the broker is killed")
        words = self._machine.go_down(self._random, power=power)
        self._outcome.crashes += 1
        if self._machine.power:
            self._outcome.lost_changes += self._machine.power.lost_changes
        for word in words:
            self.books.find(f"the broker said: {word}")
        self._loop.hear_last_words(LAST_WORDS_S)

    def _work(self, life: Life) -> None:
        target = self.books.sent + life.messages
        self._loop.until(LIFE_S, f"{life.messages} messages sent", lambda: self.books.sent >= target, self._act)
        deadline = time.monotonic() + life.delay_s
        self._loop.until(LIFE_S, "the crash", lambda: time.monotonic() >= deadline, self._act)

    def _act(self) -> None:
        for device in (*self._publishers, *self._subscribers, *self._mortals):
            device.act(self._random, self._url)

    def _wait(self, what: str, is_so: Callable[[], bool]) -> None:
        self._loop.until(SETTLE_S, what, is_so)

    def _settle(self) -> None:
        """Everybody comes back and stays until there is nothing more to come."""
        for device in self._publishers:
            self._wait(f"{device.name} to come back", lambda one=device: self._is_back(one))
        self._wait("all acknowledgements", lambda: all(one.is_settled for one in self._publishers))
        for device in self._subscribers:
            self._wait(f"{device.name} to come back", lambda one=device: self._is_back(one))
        self._bury()
        self._end_queues()
        self._compare()
        self.books.check_arrived()

    def _bury(self) -> None:
        """All mortals die: their last wills come, and the sessions end that expire. What does not is a finding."""
        for mortal in self._mortals:
            mortal.die()
        self._drain([self._heir])
        for mortal in self._mortals:
            if mortal.plan.expiry_s < LONG_S:
                self._wait(f"the end of {mortal.name}'s session", lambda one=mortal: not self._has_session(one))

    def _has_session(self, mortal: Mortal) -> bool:
        return has_session(self._http, mortal.name)

    def _is_back(self, device: Device) -> bool:
        if device.line is None:
            if isinstance(device, Subscriber):
                device.come_back(self._url)
            else:
                device.connect(self._url)
        return device.is_there

    def _end_queues(self) -> None:
        """A last message to each session: behind it there is nothing. A group has none, so it is waited for."""
        last = Publisher(Publishing("last", 5, True, (), (1,), False, 100, 100, 0), self.books)
        self._loop.devices.append(last)
        self._wait("a last publisher", lambda: self._is_back(last))
        sleepers = [one for one in self._subscribers if isinstance(one, Sleeper)]
        for one in sleepers:
            self._wait(f"{one.name}'s SUBACK", lambda one=one: not one.is_waiting)
            one.subscribe(f"own/{one.name}")
            self._wait(f"{one.name}'s SUBACK", lambda one=one: not one.is_waiting)
        ends = [(one, last.publish(f"own/{one.name}", b"end", 1)) for one in sleepers]
        self._wait("what waits for sessions", lambda: self._has_drained(ends))
        members = [one for one in self._subscribers if isinstance(one, Member)]
        for one in members:
            self._wait(f"{one.name} to join", lambda one=one: self._has_joined(one))
        if members:
            self._drain(members)
        for taker in [one for one in self._subscribers if isinstance(one, Taker)]:
            self._wait("the taker's last answer", lambda one=taker: not one.is_waiting)
            taker.join()
            self._drain([taker])

    def _has_joined(self, member: Member) -> bool:
        if not member.has_joined:
            member.join()
        return member.has_joined

    def _has_drained(self, ends: list[tuple[Sleeper, Message]]) -> bool:
        for one in self._subscribers:
            one.answer_all()
        return all((end.publisher, end.serial) in one.keeping.seen for one, end in ends)

    def _drain(self, takers: Sequence[Subscriber]) -> None:
        """What does not come is a finding of the books, not a time that was over."""
        keeping = takers[0].keeping
        deadline = time.monotonic() + self._patience_s
        while self.books.owed(keeping) and time.monotonic() < deadline:
            for taker in takers:
                taker.answer_all()
            self._loop.pump()
