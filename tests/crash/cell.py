"""One cell of the matrix: one broker, one fault, one QoS, and what keeps the messages.

A publisher sends at a steady rate. A kept session that is away, or a stream, is to have every message that was
acknowledged. The fault comes, lasts for a while and goes; it comes again, and the process is killed while it lasts.
Then the broker is started on a disk without faults, the publisher sends again what was not acknowledged, and what is
kept is counted. A kill and a power cut happen once, under traffic. QoS 0 promises nothing: what is counted is what
arrives meanwhile.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from .books import Books, Keeping, Message, identity
from .loop import Loop
from .machine import read_stream
from .plan import Publishing, Subscribing
from .power import PowerCut
from .publisher import Publisher
from .subjects import STREAM, Running, Subject
from .subscribers import Subscriber

FAULTS = ("kill", "power cut", "full disk", "slow disk", "read-only disk", "failing fsync")
_FILES = {"full disk": "full", "slow disk": "slow", "read-only disk": "read-only", "failing fsync": "fsync"}
_ENDING = ("read-only disk", "failing fsync")
"""Faults that a broker must not live through: it could not say any more what is on the disk."""
SLOW_MS = 200
RATE, PAYLOAD = 500, b"x" * 100
SETTLE_S, QUIET_S, WRITTEN_BACK_S = 30.0, 1.0, 5.0


@dataclass
class Figures:
    """What came of a cell; counts of messages.

    Attributes:
        there: Different ones that arrived, or are kept.
        missing: Were acknowledged and are not there.
        repeated: Are there once more; of QoS 2 that is a broken promise.
        meanwhile: Acknowledged, at QoS 0 arrived, while the fault lasted.
        longest_wait_s: Between two acknowledgements (arrivals) from the beginning of the fault to the end of it.
        broker: What became of the process.
        died: Why the cell could not be lived through to its end; empty: it was.
        notes: What clients found, and the broker's last errors.
    """

    subject: str
    fault: str
    kept_by: str
    qos: int
    sent: int = 0
    acknowledged: int = 0
    there: int = 0
    missing: int = 0
    repeated: int = 0
    meanwhile: int = 0
    longest_wait_s: float = 0.0
    resumed_s: float | None = None
    broker: str = ""
    died: str = ""
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As one object."""
        return asdict(self)


class _Clock(Books):
    """Books that know when what was promised came."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def take(self, message: Message) -> None:
        """See `Books`."""
        if message.taken_at is None:
            self.times.append(time.monotonic())
        super().take(message)

    def deliver(self, keeping: Keeping, topic: str, payload: bytes, qos: int) -> None:
        """See `Books`; at QoS 0 nothing else tells."""
        if qos == 0:
            self.times.append(time.monotonic())
        super().deliver(keeping, topic, payload, qos)


class Cell:
    """Runs once; the session is `age_s` old when the first message is sent."""

    def __init__(
        self,
        of: Subject,
        fault: str,
        qos: int,
        kept_by: str,
        folder: Path,
        faults: Path,
        power_cut: Path,
        pace: float,
        age_s: float = 0.0,
    ) -> None:
        self.figures = Figures(of.name, fault, kept_by, qos)
        self._fault, self._qos, self._kept_by, self._pace = fault, qos, kept_by, pace
        self._age_s = age_s
        self._running = Running(of, folder)
        self._switches, self._faults = folder / "faults", faults
        self._switches.mkdir()
        data = self._running.data
        self._power = PowerCut(power_cut, folder / "power", data, written_back_s=WRITTEN_BACK_S)
        self._books, self._loop = _Clock(), Loop()
        self._topic = "s/a" if kept_by == "stream" else "t/a"
        self._publisher = Publisher(Publishing("writer", 4, True, (), (qos,), False, 50, 1_000, 0), self._books)
        keeping = self._books.keep("sleeper", is_ordered=False)
        reading = Subscribing("sleeper", 4, (), qos, 3_600 if qos else 0, False, 65_535)
        self._subscriber = Subscriber(reading, self._books, keeping)
        self._loop.devices += [self._publisher, self._subscriber]
        self._stream: dict[tuple[str, int], int] = {}
        self._end: Message | None = None
        self._next_at = 0.0
        self._is_listening = self._is_silent = False

    def run(self) -> Figures:
        """Lives through it."""
        try:
            self._start()
            self._subscribe()
            self._publish_for(1.0)
            self._suffer()
            self._recover()
        except (AssertionError, OSError) as error:
            # That a broker does not start, answer or stay is a figure too; anything else is a fault of the matrix.
            self.figures.died = f"{type(error).__name__}: {error}"
        finally:
            for device in self._loop.devices:
                device.vanish()
            self._running.kill()
        self._count()
        return self.figures

    def _start(self) -> None:
        if self._fault == "power cut":
            variables = self._power.prepare()
        else:
            names = {"LAPWING_FAULTS": str(self._switches), "LAPWING_FAULTS_OF": str(self._running.data)}
            variables = {"LD_PRELOAD": str(self._faults), **names}
        self._running.start(variables)

    def _subscribe(self) -> None:
        subscriber = self._subscriber
        self._connect()
        if self._qos == 0:
            self._loop.until(SETTLE_S, "a subscriber", lambda: self._is_listening, self._listen)
        elif self._kept_by == "session":
            subscriber.connect(self._running.url)
            self._loop.until(SETTLE_S, "the subscriber's CONNACK", lambda: subscriber.is_there)
            subscriber.subscribe(self._topic)
            self._loop.until(SETTLE_S, "the SUBACK", lambda: not subscriber.is_waiting)
            subscriber.leave()
            old_at = time.monotonic() + self._age_s
            self._loop.until(self._age_s + SETTLE_S, "age", lambda: time.monotonic() >= old_at)

    def _listen(self) -> None:
        """QoS 0 goes to those who are there: one who comes back after each end."""
        subscriber = self._subscriber
        if subscriber.line is None:
            self._is_listening = False
            subscriber.connect(self._running.url)
        elif subscriber.is_there and not self._is_listening and not subscriber.is_waiting:
            subscriber.subscribe(self._topic)
            self._is_listening = True

    def _connect(self) -> None:
        publisher = self._publisher
        publisher.connect(self._running.url)
        self._loop.until(SETTLE_S, "the publisher's CONNACK", lambda: publisher.is_there)

    def _publish_for(self, seconds: float) -> None:
        """At the steady rate, as far as acknowledgements allow; a publisher that was cut off comes back."""
        self._next_at = time.monotonic()
        deadline = self._next_at + seconds * self._pace
        self._loop.until(SETTLE_S, "time", lambda: time.monotonic() >= deadline, self._publish)

    def _publish(self) -> None:
        if not self._running.has_ended:
            if self._publisher.line is None:
                self._publisher.connect(self._running.url)
            if self._qos == 0:
                self._listen()
        now = time.monotonic()
        while self._next_at < now:
            self._next_at += 1 / RATE
            if self._publisher.may_publish:
                self._publisher.publish(self._topic, PAYLOAD, self._qos)

    def _suffer(self) -> None:
        if self._fault not in _FILES:
            began, before = time.monotonic(), len(self._books.times)
            self._go_down()
            self._start()
            self._connect()
            self._publish_for(1.0)
            self._measure(began, before)
            return
        self._have_fault(2.0)
        self._resume()
        if not self._running.has_ended and not self._is_silent:
            self._have_fault(1.0, is_measured=False)
        self._go_down()
        (self._switches / _FILES[self._fault]).unlink(missing_ok=True)
        self._start()

    def _have_fault(self, seconds: float, *, is_measured: bool = True) -> None:
        began, before = time.monotonic(), len(self._books.times)
        (self._switches / _FILES[self._fault]).write_text(str(SLOW_MS))
        self._publish_for(seconds)
        if self._kept_by == "stream" and not self._qos and self._fault in _ENDING:
            # Nothing is acknowledged, so only the end tells that the log has met the fault; a disk may take its time.
            self._publish_until_it_ends()
        if is_measured:
            self._measure(began, before)

    def _publish_until_it_ends(self) -> None:
        try:
            self._loop.until(SETTLE_S, "the broker's end", lambda: self._running.has_ended, self._publish)
        except TimeoutError as error:
            self.figures.notes.append(f"while the fault lasted: {error}")

    def _resume(self) -> None:
        """The fault goes; how long until something is acknowledged again?"""
        if self._running.has_ended:
            return
        (self._switches / _FILES[self._fault]).unlink()
        gone, before = time.monotonic(), len(self._books.times)
        self._publish_for(1.0)
        # A broker that stops says nothing more while it is about to.
        has_gone_on = lambda: len(self._books.times) > before or self._running.has_ended  # noqa: E731
        try:
            self._loop.until(SETTLE_S, "acknowledgements, or an end", has_gone_on, self._publish)
        except TimeoutError as error:
            # What it has acknowledged is counted all the same, after a start on a good disk.
            self._is_silent = True
            self.figures.notes.append(f"after the fault: {error}")
        if len(self._books.times) > before:
            self.figures.resumed_s = round(self._books.times[before] - gone, 3)

    def _measure(self, began: float, before: int) -> None:
        times = [began, *self._books.times[before:], time.monotonic()]
        waits = [later - earlier for earlier, later in pairwise(times)]
        self.figures.meanwhile = len(times) - 2
        self.figures.longest_wait_s = round(max(waits), 3)

    def _go_down(self) -> None:
        ended = self._running.has_ended
        code = self._running.kill()
        self._loop.hear_last_words(SETTLE_S)
        if self._fault == "power cut":
            self._power.cut(Random(1))
            self.figures.broker = "lost its power"
        elif self._is_silent:
            self.figures.broker = "fell silent"
        elif ended:
            self.figures.broker = f"stopped, exit code {code}"
        else:
            self.figures.broker = "was killed" if self._fault == "kill" else "went on"

    def _recover(self) -> None:
        """Everybody comes back, and what has to be acknowledged is."""
        if self._publisher.line is None:
            self._connect()
        try:
            self._loop.until(SETTLE_S, "all acknowledgements", lambda: self._publisher.is_settled)
        except TimeoutError as error:
            self.figures.notes.append(f"after the start: {error}")
        if self._kept_by == "stream":
            for _, payload in read_stream(self._running.http, STREAM):
                self._stream[identity(payload)] = self._stream.get(identity(payload), 0) + 1
        elif self._qos:
            self._drain()

    def _drain(self) -> None:
        """The session takes what waits for it, up to a last message behind all others, and what comes soon after it.

        That one is of their topic and QoS: order is promised for nothing else, and a broker may have a queue for each
        subscription. Not every broker keeps to the order either. Whose session is gone subscribes anew.
        """
        subscriber = self._subscriber
        subscriber.connect(self._running.url)
        self._loop.until(SETTLE_S, "the subscriber's CONNACK", lambda: subscriber.is_there)
        subscriber.subscribe(self._topic)
        self._loop.until(SETTLE_S, "the SUBACK", lambda: not subscriber.is_waiting)
        end = self._end = self._publisher.publish(self._topic, b"end", self._qos)
        seen = subscriber.keeping.seen
        self._loop.until(SETTLE_S, "what waits", lambda: (end.publisher, end.serial) in seen)
        self._loop.until_quiet(QUIET_S, SETTLE_S, lambda: len(seen))

    def _count(self) -> None:
        figures, messages = self.figures, [one for one in self._books.messages.values() if one is not self._end]
        figures.sent, figures.acknowledged = len(messages), sum(one.taken_at is not None for one in messages)
        figures.notes += self._books.findings + [word for word in self._running.words if word.startswith("error: ")]
        found = self._stream if self._kept_by == "stream" else self._subscriber.keeping.seen
        figures.there = sum((one.publisher, one.serial) in found for one in messages)
        figures.repeated = sum(found.get((one.publisher, one.serial), 1) - 1 for one in messages)
        kept = [one for one in messages if one.taken_at is not None]
        figures.missing = sum((one.publisher, one.serial) not in found for one in kept)
