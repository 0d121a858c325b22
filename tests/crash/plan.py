"""A plan: everything about a round that does not depend on time, drawn from one seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

STREAM, GROUP, HOLD, WILLS, RETAINED = "all", "crew", "h/#", "w/#", "r/#"
LONG_S = 3_600
"""Longer than any round lasts."""
_KIB = 1 << 10


@dataclass(frozen=True)
class Publishing:
    """One publisher.

    Attributes:
        is_kept: Its session outlives its connections: after a crash it sends again what was not acknowledged. One
            that is not begins anew, and what was under way is given up.
        topics: Where it publishes, in turn by chance.
        levels: Its QoS, by chance. Where messages are retained there is one: of two, a repetition at QoS 1 may come
            behind a later message at QoS 2, which is not taken again, and be the last.
        retains: Its messages are retained; now and then it clears a topic.
        window: Messages that it has unacknowledged at most.
        packet_ids: Packet ids that it uses; few are soon used again.
        payload_bytes: Longest payload.
    """

    name: str
    version: int
    is_kept: bool
    topics: tuple[str, ...]
    levels: tuple[int, ...]
    retains: bool
    window: int
    packet_ids: int
    payload_bytes: int


@dataclass(frozen=True)
class Subscribing:
    """One subscriber with a session that outlives its connections.

    Attributes:
        filters: What it may subscribe to; no topic matches two of them.
        qos: The most that it takes.
        expiry_s: How long its session stays.
        is_lazy: It leaves messages unacknowledged for a while.
        window: Its Receive Maximum.
    """

    name: str
    version: int
    filters: tuple[str, ...]
    qos: int
    expiry_s: int
    is_lazy: bool
    window: int


@dataclass(frozen=True)
class Mortality:
    """One client with a will.

    Attributes:
        qos: Its wills'.
        will_delay_s: Its wills'; none in 3.1.1.
        expiry_s: How long its session stays; 0: it ends with its connection.
    """

    name: str
    version: int
    qos: int
    will_delay_s: int
    expiry_s: int

    @property
    def is_patient(self) -> bool:
        """Neither delay nor session ends in a round: its wills must not come."""
        return min(self.will_delay_s, self.expiry_s) >= LONG_S


@dataclass(frozen=True)
class Life:
    """One run of the broker, which ends with a crash.

    Attributes:
        messages: It goes down some time after so many were sent in it,
        delay_s: to be exact, so much later.
        power: The system goes down with it, and what was not synced is lost.
        down_s: So long it stays down; sessions expire and wills fall due meanwhile.
    """

    messages: int
    delay_s: float
    power: bool
    down_s: float


@dataclass(frozen=True)
class Plan:
    """One round.

    Attributes:
        partitions: Of the stream; none: there is no stream.
    """

    seed: int
    shards: int
    segment_bytes: int
    snapshot_bytes: int
    queue_memory_bytes: int
    partitions: int
    publishers: tuple[Publishing, ...]
    subscribers: tuple[Subscribing, ...]
    members: tuple[Subscribing, ...]
    taker: Subscribing
    heir: Subscribing
    mortals: tuple[Mortality, ...]
    lives: tuple[Life, ...]
    durability: str = "disk"

    def settings(self) -> str:
        """The broker's configuration file; addresses and the folder come by flags."""
        return f"""\
[broker]
shards = {self.shards}
durability = "{self.durability}"
pin = false

[limits]
log_segment_bytes = {self.segment_bytes}
log_snapshot_bytes = {self.snapshot_bytes}
queue_messages_max = 1000000
queue_bytes_max = "1GiB"
queue_memory_bytes = {self.queue_memory_bytes}

{self._stream()}
[groups."{GROUP}"]
filters = ["g/#"]
queue_bytes_max = "1GiB"
parameters = {{ stall_ms = 0 }}

[hold."{HOLD}"]
messages = 1000000
bytes = "1GiB"
"""

    def _stream(self) -> str:
        if not self.partitions:
            return ""
        return f"""\
[streams.{STREAM}]
filter = "t/#"
partitions = {self.partitions}
segment_bytes = "64KiB"
"""


def plan(seed: int, *, power_cut: bool = False) -> Plan:
    """The plan of a seed; with `power_cut` most crashes are the machine's."""
    random = Random(seed)
    topics = tuple(f"t/{letter}" for letter in "abcd"[: random.randint(1, 4)])
    members_qos = random.choice((1, 1, 2))
    return Plan(
        seed,
        shards=random.choice((1, 2, 2)),
        segment_bytes=random.choice((64, 64, 128, 512)) * _KIB,
        snapshot_bytes=random.choice((1, 2, 8, 64)) * _KIB,
        queue_memory_bytes=random.choice((1, 64, 256 * 1024)) * _KIB,
        partitions=random.randint(1, 3),
        publishers=tuple(_publishers(random, topics)),
        subscribers=(
            *(_subscriber(random, f"sleeper-{n}", topics) for n in range(random.randint(2, 4))),
            *(_keeper(random, f"reader-{n}", RETAINED, random.choice((1, 2))) for n in range(random.randint(0, 3))),
        ),
        members=tuple(
            _keeper(random, f"member-{n}", f"$share/{GROUP}/g/#", members_qos) for n in range(random.randint(1, 3))
        ),
        taker=_keeper(random, "taker", HOLD, random.choice((1, 2))),
        heir=_keeper(random, "heir", WILLS, 2),
        mortals=tuple(_mortal(random, f"mortal-{n}") for n in range(random.randint(1, 4))),
        lives=tuple(_life(random, power_cut=power_cut) for _ in range(random.choice((1, 2, 2, 3)))),
    )


def _publishers(random: Random, topics: tuple[str, ...]) -> list[Publishing]:
    own = [(f"writer-{n}", topics, False) for n in range(random.randint(1, 3))]
    # A retained topic has one publisher: what is its last message is then never in doubt.
    retained = [
        (f"keeper-{n}", tuple(f"r/{n}/{number}" for number in range(random.choice((1, 5, 20)))), True)
        for n in range(random.randint(1, 2))
    ]
    others = [("foreman", ("g/a", "g/b"), False), ("sender", ("h/a", "h/b"), False)]
    return [_publisher(random, *each) for each in (*own, *retained, *others)]


def _publisher(random: Random, name: str, topics: tuple[str, ...], retains: bool) -> Publishing:
    window = random.choice((1, 5, 20, 50))
    return Publishing(
        name,
        version=random.choice((4, 5)),
        is_kept=random.random() < 0.7,
        topics=topics,
        levels=(random.choice((1, 2)),) if retains else (0, 1, 1, 1, 2, 2, 2),
        retains=retains,
        window=window,
        packet_ids=random.choice((window, 2 * window, 65_535)),
        payload_bytes=random.choice((20, 200, 2_000)),
    )


def _subscriber(random: Random, name: str, topics: tuple[str, ...]) -> Subscribing:
    filters = random.choice((("t/#",), ("t/+",), topics))
    return Subscribing(
        name,
        version=random.choice((4, 5)),
        filters=filters,
        qos=random.choice((1, 2, 2)),
        expiry_s=LONG_S,
        is_lazy=random.random() < 0.5,
        window=random.choice((1, 10, 1_000)),
    )


def _keeper(random: Random, name: str, filter_: str, qos: int) -> Subscribing:
    return Subscribing(
        name,
        version=random.choice((4, 5)),
        filters=(filter_,),
        qos=qos,
        expiry_s=LONG_S,
        is_lazy=random.random() < 0.5,
        window=random.choice((1, 10, 1_000)),
    )


def _mortal(random: Random, name: str) -> Mortality:
    version = random.choice((4, 5, 5))
    return Mortality(
        name,
        version=version,
        qos=random.choice((1, 2)),
        will_delay_s=random.choice((0, 1, LONG_S)) if version == 5 else 0,
        expiry_s=random.choice((0, 1, LONG_S) if version == 5 else (0, LONG_S)),
    )


def _life(random: Random, *, power_cut: bool) -> Life:
    return Life(
        messages=random.choice((5, 50, 300, 800)) + random.randint(0, 200),
        delay_s=random.choice((0.0, random.uniform(0, 0.003), random.uniform(0, 0.1))),
        power=power_cut and random.random() < 0.7,
        down_s=random.choice((0.0, 0.0, 0.0, 1.5)),
    )
