"""Do the events of one client lie in one partition of Kafka, in their order, with the client as their key?"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from commands import RunningBroker
from confluent_kafka import Message
from conftest import StartBridge, to_kafka
from kafka_server import TIMEOUT_S, headers_of, open_topic, without_repeats
from shared_kafka import SharedKafka

from lapwing import Client

FILTER = "$lapwing/events/+/+"
KINDS = ["connected", "subscribed", "published", "unsubscribed", "disconnected"]
CLIENTS = {f"device/{number}": f"device_{number}".encode() for number in range(6)}
"""By client id what stands for it in the topic."""
ROUNDS = 4


@pytest.fixture
def telling(tmp_path: Path) -> Iterator[RunningBroker]:
    """A broker that tells all events, to a durable group as docs/events.md has it."""
    group = f'groups.bridge={{filters = ["{FILTER}"], strategy = "key-ordered"}}'
    settings = (group, "events.clients=true", "events.published=true", "broker.shards=2")
    flags = [word for setting in settings for word in ("--set", setting)]
    with RunningBroker(tmp_path / "data", *flags) as running:
        yield running.wait_until_ready()


def test_events_keep_the_order_of_each_client(
    telling: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge
) -> None:
    """Two members, four partitions, clients on two shards that live at the same time."""
    topic = kafka.new_topic("events", partitions=4)
    rule = to_kafka(topic, name="events", filter=FILTER, key="{2}")
    start_bridge(telling.url, kafka.bootstrap, rule, "bridge.members=2")
    for _ in range(ROUNDS):
        live_and_go(telling.url)
    records = events_by_key(kafka.bootstrap, topic, len(KINDS) * ROUNDS)
    for client_id, level in CLIENTS.items():
        mine = records[level]
        told = [json.loads(record.value() or b"") for record in mine]
        assert [event["event"] for event in told] == KINDS * ROUNDS
        assert {event["client_id"] for event in told} == {client_id}
        assert sorted(event["at_us"] for event in told) == [event["at_us"] for event in told]
        assert len({record.partition() for record in mine}) == 1
        topics = [headers_of(record)["lapwing-topic"] for record in mine[: len(KINDS)]]
        assert topics == [f"$lapwing/events/{kind}/{level.decode()}" for kind in KINDS]


def live_and_go(url: str) -> None:
    """Every client does everything once; all of them are there before the first one goes."""
    with ExitStack() as there:
        clients = [there.enter_context(Client(url, client_id=client_id)) for client_id in CLIENTS]
        for client in clients:
            client.subscribe("a/b", qos=1)
        for client in clients:
            client.publish("c/d", b"x", qos=1)
            client.flush()
        for client in clients:
            client.unsubscribe("a/b")


def events_by_key(bootstrap: str, topic: str, count: int) -> dict[bytes, list[Message]]:
    """Records by key, once each client has so many; what was carried twice counts once."""
    found: dict[bytes, list[Message]] = defaultdict(list)
    seen: set[tuple[bytes, bytes]] = set()
    reader = open_topic(bootstrap, topic)
    deadline = time.monotonic() + TIMEOUT_S
    while any(len(found[level]) < count for level in CLIENTS.values()):
        assert time.monotonic() < deadline, {key: len(records) for key, records in found.items()}
        records = [record for record in reader.consume(1000, 0.2) if record.error() is None]
        for record in without_repeats(records, seen):
            found[record.key() or b""].append(record)
    reader.close()
    return found
