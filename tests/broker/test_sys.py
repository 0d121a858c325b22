"""The `$SYS` tree: its topics are those of its page, its values are true, and only who asks for it gets it."""

from __future__ import annotations

import re
from pathlib import Path

from wire import PUBACK, PUBLISH, SUBACK, Wire, name_on, publish, subscribe

import lapwing

PAGE = (Path(__file__).parent.parent.parent / "docs" / "sys.md").read_text()
AT_ONCE = "20ms"


def described() -> set[str]:
    """The topics of docs/sys.md."""
    topics = set(re.findall(r"^\| `(\$SYS/[^`]+)` \|", PAGE, re.MULTILINE))
    loads = {topic for topic in topics if "/load/" in topic}
    return topics - loads | {f"{load}/{span}" for load in loads for span in ("1min", "5min", "15min")}


def asked(wire: Wire, *topics: str) -> dict[str, str]:
    """Subscribes; returns what came before the SUBACK, as it may."""
    wire.send(subscribe(*topics))
    seen: dict[str, str] = {}
    while (found := wire.receive()) is not None and found.kind == PUBLISH:
        seen[found.topic] = found.payload.decode()
    assert found is not None
    assert found.kind == SUBACK
    return seen


def values(wire: Wire, enough: set[str]) -> dict[str, str]:
    """What comes, until all of these topics have."""
    seen: dict[str, str] = {}
    while not enough <= seen.keys():
        found = wire.expect(PUBLISH)
        seen[found.topic] = found.payload.decode()
    return seen


def test_the_tree_is_that_of_its_page() -> None:
    with lapwing.Broker(shards=2) as broker, Wire.client(broker.url, "reader") as wire:
        wire.subscribe("$SYS/#")
        seen = values(wire, described())
        assert seen.keys() == described()
        assert seen["$SYS/broker/version"] == f"lapwing {lapwing.__version__}"
        assert re.fullmatch(r"\d+ seconds", seen["$SYS/broker/uptime"])


def test_values_follow_what_happens() -> None:
    """From clients on both shards; those of the tree itself are among what is sent."""
    with (
        lapwing.Broker(shards=2, sys_interval=AT_ONCE) as broker,
        Wire.client(broker.url, name_on(0, 2, "a")) as reader,
        Wire.client(broker.url, name_on(1, 2, "b")) as writer,
    ):
        asked(reader, "$SYS/broker/publish/messages/received", "$SYS/broker/retained messages/count", "$share/g/x")
        for n in range(5):
            writer.send(publish(f"r/{n}", b"x", qos=1, packet_id=n + 1, retain=True))
            writer.expect(PUBACK)
        wanted = {"$SYS/broker/publish/messages/received": "5", "$SYS/broker/retained messages/count": "5"}
        seen: dict[str, str] = {}
        while seen != wanted:
            found = reader.expect(PUBLISH)
            seen[found.topic] = found.payload.decode()
        with Wire.client(broker.url, "late") as late:
            latest = asked(late, "$SYS/broker/clients/maximum", "$SYS/broker/shared_subscriptions/count")
            expected = {"$SYS/broker/clients/maximum": "3", "$SYS/broker/shared_subscriptions/count": "1"}
            while latest != expected:
                found = late.expect(PUBLISH)
                latest[found.topic] = found.payload.decode()


def test_only_who_asks_gets_it() -> None:
    with (
        lapwing.Broker(shards=2, sys_interval=AT_ONCE) as broker,
        Wire.client(broker.url, "everything") as wire,
        Wire.client(broker.url, "other") as other,
    ):
        wire.subscribe("#", "+/broker/uptime")
        asked(other, "$SYS/broker/bytes/sent")
        for _ in range(3):
            other.expect(PUBLISH)
        assert wire.round_trip() == []


def test_it_can_be_switched_off() -> None:
    with lapwing.Broker(shards=1, sys_interval=0) as broker, Wire.client(broker.url, "reader") as wire:
        wire.subscribe("$SYS/#")
        assert wire.round_trip() == []


def test_it_is_there_when_no_retained_message_may_be() -> None:
    limits = {"retained_messages_max": 0, "retained_bytes_max": 0}
    with lapwing.Broker(shards=1, limits=limits) as broker, Wire.client(broker.url, "reader") as wire:
        wire.subscribe("$SYS/broker/version")
        assert wire.expect(PUBLISH).retain
        assert broker.metrics()["lapwing_retained_messages"] == 0
