"""All clients of a round: who they are, what they do, and what they find when the broker is back."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from random import Random
from typing import Protocol

from .books import Books, Interest
from .device import Device
from .loop import Loop
from .machine import read_retained, read_stream
from .mortals import Mortal
from .plan import GROUP, HOLD, RETAINED, STREAM, Plan
from .publisher import Publisher
from .subscribers import Member, Sleeper, Subscriber, Taker

LIFE_S, PATIENCE_S, LAST_WORDS_S = 120.0, 120.0, 10.0
"""At most: each wait ends when what it is for has come."""
_STREAMED, _GROUPED = "t/", "g/#"


class Place(Protocol):
    """Where the broker is, or the one of several that serves."""

    @property
    def url(self) -> str:
        """For MQTT."""

    @property
    def http(self) -> str:
        """For HTTP."""

    def inside(self) -> AbstractContextManager[None]:
        """In this block these addresses are reached."""


class Crew:
    """The clients of a plan, and the books of them all.

    Args:
        place: Asked for each time: in a cluster it moves.
        groups: Groups and the hold keep their messages over a crash.
        patience_s: So long what is promised may be on its way.
    """

    def __init__(
        self,
        plan: Plan,
        place: Place,
        *,
        books: Books | None = None,
        groups: bool = True,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.plan = plan
        self.place = place
        self.patience_s = patience_s
        self.books = books or Books()
        self._random = Random(plan.seed ^ 0x5EED)
        wanted = [one for one in plan.publishers if groups or not one.topics[0].startswith(("g/", "h/"))]
        self.publishers = [Publisher(each, self.books) for each in wanted]
        self.subscribers: list[Subscriber] = [
            Sleeper(each, self.books, self.books.keep(each.name)) for each in plan.subscribers
        ]
        if groups:
            crew = self.books.keep(f"group {GROUP}", is_ordered=False)
            # Declared in the configuration: it is there before anybody.
            crew.interests.append(Interest(_GROUPED, 2, asked_at=0, granted_at=0))
            self.subscribers += [Member(each, self.books, crew) for each in plan.members]
            # Who cancels and subscribes again in the midst of what a kill takes sees its order broken: that is said.
            held = self.books.keep(f"hold {HOLD}", is_ordered=False)
            held.interests.append(Interest(HOLD, 2, asked_at=0, granted_at=0))
            self.subscribers.append(Taker(plan.taker, self.books, held))
        # A will was written before all that its client sent, and comes behind it.
        self.heir = Sleeper(plan.heir, self.books, self.books.keep(plan.heir.name, is_ordered=False))
        self.subscribers.append(self.heir)
        self.mortals = [Mortal(each, self.books) for each in plan.mortals]
        self.loop = Loop()
        self.loop.devices += [*self.publishers, *self.subscribers, *self.mortals]

    def work(self, messages: int, then_s: float) -> None:
        """Until so many messages are sent, and so long has passed.

        Raises:
            TimeoutError: it takes longer than `LIFE_S`.
        """
        target = self.books.sent + messages
        self.loop.until(LIFE_S, f"{messages} messages sent", lambda: self.books.sent >= target, self.act)
        deadline = time.monotonic() + then_s
        self.loop.until(LIFE_S, "the crash", lambda: time.monotonic() >= deadline, self.act)

    def wait(self, what: str, is_so: Callable[[], bool]) -> None:
        """Until it is so; everybody does as before, but sends no new messages: there would be no end of them.

        Raises:
            TimeoutError: it is not so within `LIFE_S`.
        """
        self.loop.until(LIFE_S, what, is_so, self._act_silently)

    def act(self) -> None:
        """Everybody may do something now."""
        self._act([*self.publishers, *self.subscribers, *self.mortals])

    def _act_silently(self) -> None:
        away = [one for one in self.publishers if one.line is None]
        self._act([*away, *self.subscribers, *self.mortals])

    def _act(self, devices: list[Publisher | Subscriber | Mortal]) -> None:
        url = self.place.url
        with self.place.inside():
            for device in devices:
                device.act(self._random, url)

    def compare(self) -> None:
        """What is there, for whom nobody has to come back."""
        books = self.books
        must = {topic for topic, allowed in books.retained_allowed().items() if b"" not in allowed}
        with self.place.inside():
            books.check_retained(read_retained(self.place.url, RETAINED, must, self.patience_s))
            if self.plan.partitions:
                books.check_stream(read_stream(self.place.http, STREAM), _STREAMED)

    def hear_last_words(self) -> None:
        """What the broker had said before it went may still lie in the sockets."""
        self.loop.hear_last_words(LAST_WORDS_S)

    def is_back(self, device: Device) -> bool:
        """Lets it come back where it is away; whether the broker has taken it in."""
        if device.line is None:
            come_back = device.come_back if isinstance(device, Subscriber) else device.connect
            with self.place.inside():
                come_back(self.place.url)
        return device.is_there

    def vanish(self) -> None:
        """All of them, for good."""
        for device in self.loop.devices:
            device.vanish()
