"""What was sent, acknowledged and delivered, in the order in which it happened; and what of it is not as promised."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

SHOWN = 8
"""Messages named in one finding."""


@dataclass(slots=True)
class Message:
    """One PUBLISH. Its times count what happened before it.

    Attributes:
        sent_at: Before its first bytes left.
        taken_at: When its PUBACK or PUBREC came.
    """

    publisher: str
    serial: int
    topic: str
    qos: int
    payload: bytes
    retain: bool
    sent_at: int
    taken_at: int | None = None

    def __str__(self) -> str:
        return f"{self.publisher}:{self.serial} ({self.topic}, QoS {self.qos})"


@dataclass(slots=True)
class Interest:
    """One subscription, from the SUBSCRIBE to the UNSUBACK."""

    filter: str
    qos: int
    asked_at: int
    granted_at: int | None = None
    cancelled_at: int | None = None
    ended_at: int | None = None

    def matches(self, topic: str) -> bool:
        """Filters here are a topic, or a topic with `#` or `+` as its last level."""
        if self.filter.endswith("/#"):
            return topic.startswith(self.filter[:-1])
        if self.filter.endswith("/+"):
            return topic.startswith(self.filter[:-1]) and "/" not in topic[len(self.filter) - 1 :]
        return topic == self.filter

    def owes(self, message: Message) -> bool:
        """Whether it has been there since before a message was sent: once acknowledged, it has to arrive."""
        granted = self.granted_at is not None and self.granted_at < message.sent_at
        return granted and self.cancelled_at is None and self.matches(message.topic)

    def allows(self, message: Message) -> bool:
        """Whether a message may arrive."""
        came_before = message.taken_at is not None and message.taken_at < self.asked_at
        came_after = self.ended_at is not None and self.ended_at < message.sent_at
        return not came_before and not came_after and self.matches(message.topic)


@dataclass
class Keeping:
    """What one session, or one group, was promised and has been given since it began.

    Attributes:
        cleared: By topic, how many messages without payload it was given: they have no number to know them by.
    """

    name: str
    is_ordered: bool = True
    interests: list[Interest] = field(default_factory=list)
    seen: dict[tuple[str, int], int] = field(default_factory=dict)
    last: dict[tuple[str, str, int], int] = field(default_factory=dict)
    cleared: Counter[str] = field(default_factory=Counter)

    def begin_anew(self) -> None:
        """It is another one with the old name: nothing is owed, nothing was seen."""
        self.interests, self.seen, self.last, self.cleared = [], {}, {}, Counter()


class Books:
    """Everything that happened in a round.

    Args:
        excused: Reason codes with which the broker may send a client away, or not take it in.
    """

    def __init__(self, excused: frozenset[int] = frozenset()) -> None:
        self.excused = excused
        self.now = 0
        self._began = time.monotonic()
        self.messages: dict[tuple[str, int], Message] = {}
        self.keepings: list[Keeping] = []
        self.findings: list[str] = []
        self.story: list[str] = []
        self.delivered = 0

    @property
    def sent(self) -> int:
        """Messages."""
        return len(self.messages)

    @property
    def taken(self) -> int:
        """Messages that were acknowledged."""
        return sum(message.taken_at is not None for message in self.messages.values())

    def tick(self) -> int:
        """The next moment."""
        self.now += 1
        return self.now

    def tell(self, what: str) -> None:
        """Writes down what may help to understand a finding."""
        self.story.append(f"{self.now} {time.monotonic() - self._began:.3f} {what}")

    def find(self, what: str) -> None:
        """Writes down what is not as promised."""
        self.findings.append(what)
        self.tell(f"FOUND {what}")

    def keep(self, name: str, *, is_ordered: bool = True) -> Keeping:
        """A session or group to be looked after."""
        keeping = Keeping(name, is_ordered)
        self.keepings.append(keeping)
        return keeping

    def send(self, publisher: str, serial: int, topic: str, qos: int, payload: bytes, *, retain: bool) -> Message:
        """A message, right before it is sent for the first time."""
        message = Message(publisher, serial, topic, qos, payload, retain, self.tick())
        self.messages[publisher, serial] = message
        return message

    def take(self, message: Message) -> None:
        """The broker has said that it has it."""
        if message.taken_at is None:
            message.taken_at = self.tick()

    def deliver(self, keeping: Keeping, topic: str, payload: bytes, qos: int) -> None:
        """A message has arrived, and was not recognised by its packet id as one that had arrived before."""
        self.delivered += 1
        if not payload:
            self._count_clearing(keeping, topic, qos)
            return
        message = self.messages.get(identity(payload))
        if message is None or (message.topic, message.payload) != (topic, payload):
            self.find(f"{keeping.name} got {payload[:60]!r} on {topic}, which nobody sent")
            return
        allowing = [interest for interest in keeping.interests if interest.allows(message)]
        if not allowing:
            self.find(f"{keeping.name} got {message} without a subscription")
        self._count(keeping, message, qos)

    def _count_clearing(self, keeping: Keeping, topic: str, qos: int) -> None:
        keeping.cleared[topic] = times = keeping.cleared[topic] + 1
        sent = [message for message in self.messages.values() if not message.payload and message.topic == topic]
        allowed = sum(any(interest.allows(message) for interest in keeping.interests) for message in sent)
        if times > allowed and qos != 1:
            self.find(f"{keeping.name} got {times} messages without payload on {topic} at QoS {qos}, of {allowed}")

    def _count(self, keeping: Keeping, message: Message, qos: int) -> None:
        key = (message.publisher, message.serial)
        keeping.seen[key] = times = keeping.seen.get(key, 0) + 1
        if times > 1:
            if qos != 1:
                self.find(f"{keeping.name} got {message} {times} times at QoS {qos}")
            return
        lane = (message.publisher, message.topic, message.qos)
        before = keeping.last.get(lane, -1)
        # What was sent before the subscription may be sent again behind what came after it.
        is_whole = any(interest.owes(message) for interest in keeping.interests)
        if keeping.is_ordered and is_whole and before > message.serial:
            self.find(f"{keeping.name} got {message} behind number {before}")
        keeping.last[lane] = max(before, message.serial)

    def owed(self, keeping: Keeping) -> list[Message]:
        """Acknowledged messages that have not arrived there."""
        waiting = (message for message in self.messages.values() if message.taken_at is not None and message.qos)
        owed = [message for message in waiting if any(interest.owes(message) for interest in keeping.interests)]
        unseen = [one for one in owed if one.payload and (one.publisher, one.serial) not in keeping.seen]
        clearing = Counter(message.topic for message in owed if not message.payload) - keeping.cleared
        return unseen + [one for one in owed if not one.payload and clearing[one.topic]]

    def promised_since(self, since: int) -> list[Message]:
        """What was sent after a moment and acknowledged, and is to reach somebody or to be retained."""
        late = [one for one in self.messages.values() if one.sent_at > since and one.taken_at is not None and one.qos]
        interests = [interest for keeping in self.keepings for interest in keeping.interests]
        return [one for one in late if one.retain or any(interest.owes(one) for interest in interests)]

    def check_arrived(self) -> None:
        """Finds what every session and group still has to get; nothing is on its way any more."""
        for keeping in self.keepings:
            if missing := self.owed(keeping):
                self.find(f"{keeping.name} never got {len(missing)} acknowledged messages: {listed(missing)}")

    def retained_allowed(self) -> dict[str, set[bytes]]:
        """For each topic what may be retained: the last message acknowledged, or a later one that was not."""
        allowed: dict[str, set[bytes]] = {}
        for message in self.messages.values():
            if message.retain and message.taken_at is not None:
                allowed[message.topic] = {message.payload}
            elif message.retain:
                allowed.setdefault(message.topic, {b""}).add(message.payload)
        return allowed

    def check_retained(self, found: dict[str, bytes]) -> None:
        """Compares with what a new subscriber was given."""
        for topic, allowed in self.retained_allowed().items():
            value = found.get(topic, b"")
            if value not in allowed:
                wanted = ", ".join(sorted(str(one[:30] or "nothing") for one in allowed))
                self.find(f"retained on {topic}: {value[:30] or 'nothing'!r}; to be expected: {wanted}")

    def check_stream(self, rows: list[tuple[str, bytes]], topics: str) -> None:
        """Compares with what a stream has of one kind of topics: (client id, payload) in the order of offsets."""
        found, last = set(), {}
        for client_id, payload in rows:
            key = identity(payload)
            message = self.messages.get(key)
            if message is None or message.publisher != client_id or message.payload != payload:
                self.find(f"the stream has {payload[:60]!r} of {client_id}, which nobody sent")
                continue
            lane = (client_id, message.topic, message.qos)
            if key not in found and last.get(lane, -1) > message.serial:
                self.find(f"the stream has {message} behind number {last[lane]}")
            found.add(key)
            last[lane] = max(last.get(lane, -1), message.serial)
        kept = (m for m in self.messages.values() if m.topic.startswith(topics) and m.qos and m.taken_at is not None)
        if missing := [message for message in kept if (message.publisher, message.serial) not in found]:
            self.find(f"the stream has not {len(missing)} acknowledged messages: {listed(missing)}")


def identity(payload: bytes) -> tuple[str, int]:
    """Publisher and serial number that a payload begins with; of nobody if there are none."""
    name, _, rest = payload.partition(b":")
    number = rest.partition(b":")[0]
    return (name.decode(errors="replace"), int(number)) if number.isdigit() else ("", -1)


def listed(messages: list[Message]) -> str:
    """The first few."""
    return ", ".join(map(str, messages[:SHOWN])) + (" ..." if len(messages) > SHOWN else "")
